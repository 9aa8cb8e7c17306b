//! Remember: save one record, opening the thread if need be.

use memlog_events::{batch::Outcome, ids::RecordId};

use super::{HoldsRecords, NewRecord};
use crate::domain::{Answered, Command, Decision, Inputs, Place, Rejection, thread::Open};

/// Saves a record that is no duplicate (the gate before this command saw to that).
#[derive(Clone, PartialEq, Debug)]
pub struct Remember {
    /// Begins the thread if it has not begun; for a record of the profile itself, none.
    pub open: Option<Open>,
    /// The record.
    pub record: NewRecord,
}

/// The record that `Remember` or `Supersede` made, or the one that said it already.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stored {
    /// The record.
    pub record: RecordId,
    /// If it was there before: how alike the two statements are, in millionths.
    pub duplicate: Option<u32>,
}

/// The same statement, to the letter.
pub const LETTER_BY_LETTER: u32 = 1_000_000;

impl Stored {
    /// How alike the statement and a record that was there before are, from 0 to 1.
    pub fn similarity(&self) -> Option<f32> {
        self.duplicate.map(|millionths| millionths as f32 / LETTER_BY_LETTER as f32)
    }
}

impl Answered for Stored {
    fn outcome(&self) -> Outcome {
        let numbers = match self.duplicate {
            None => vec![0],
            Some(millionths) => vec![1, u64::from(millionths)],
        };
        Outcome { ids: vec![self.record.0], numbers }
    }

    fn from_outcome(outcome: &Outcome) -> Option<Self> {
        match (outcome.ids.as_slice(), outcome.numbers.as_slice()) {
            ([id], [0]) => Some(Self { record: RecordId(*id), duplicate: None }),
            // Written when only the letter counted.
            ([id], [1]) => Some(Self { record: RecordId(*id), duplicate: Some(LETTER_BY_LETTER) }),
            ([id], [1, millionths]) => {
                Some(Self { record: RecordId(*id), duplicate: Some(u32::try_from(*millionths).ok()?) })
            }
            _ => None,
        }
    }
}

impl<A: HoldsRecords> Command<A> for Remember {
    type Answer = Stored;

    fn decide(&self, state: &A, place: &Place, inputs: &mut dyn Inputs) -> Result<Decision<Stored>, Rejection> {
        let (mut decision, stream_slot) = if state.is_open() {
            (Decision::nothing(()), state.stream_slot())
        } else {
            // A stream is one incarnation: one that ended never begins again.
            let open = self.open.as_ref().filter(|_| !state.is_deleted());
            open.ok_or(Rejection::Gone)?.begin(place, inputs)
        };
        let (record, fact, claim) = self.record.clone().saved(stream_slot, place, inputs);
        decision.events.push(fact);
        decision.claims.extend(claim);
        let Decision { events, claims, listed, .. } = decision;
        Ok(Decision { events, claims, listed, answer: Stored { record, duplicate: None } })
    }
}

#[cfg(test)]
mod tests {
    use crate::domain::{
        Rejection,
        profile::Profile,
        testing::*,
        thread::{Delete, Thread},
    };

    use super::*;

    // A repeated command must hear what the first one heard, that of an older version included.
    #[test]
    fn the_answer_comes_back_whole() {
        let record = RecordId(uuid::Uuid::from_u128(5));
        for duplicate in [None, Some(0), Some(912_345), Some(LETTER_BY_LETTER)] {
            let stored = Stored { record, duplicate };
            assert_eq!(Stored::from_outcome(&stored.outcome()), Some(stored));
        }
        let old = Outcome { ids: vec![record.0], numbers: vec![1] };
        assert_eq!(Stored::from_outcome(&old).and_then(|stored| stored.similarity()), Some(1.0));
    }

    // Both kinds of stream save records by the same rule; only the key path differs.
    #[test]
    fn a_record_of_the_profile_is_sealed_below_the_profile_alone() {
        let mut given = Story::<Profile>::new();
        given.do_(create_profile());
        let stored = given.do_(Remember { open: None, record: record("Lives in Lisbon") });
        let (_, keys) = given.last().content.clone().expect("content");
        assert_eq!((keys.stream.0, keys.subject.0 > 0), (0, true));
        assert!(given.state.records().records.contains_key(&stored.record));
    }

    #[test]
    fn a_session_named_for_the_first_time_is_opened() {
        let mut given = Story::<Thread>::new();
        given.do_(Remember { open: Some(open("trip")), record: record("Lives in Lisbon") });
        assert_eq!(given.names(), ["thread_created", "saved"]);
    }

    // Its deletion was acknowledged: nothing may bring it back, or nobody could delete it any more.
    #[test]
    fn a_session_that_was_deleted_is_not_opened_again() {
        let mut given = Story::<Thread>::new();
        let remember = || Remember { open: Some(open("trip")), record: record("Lives in Lisbon") };
        given.do_(remember());
        given.do_(Delete);
        assert_eq!(given.try_(remember()).expect_err("refused"), Rejection::Gone);
    }

    #[test]
    fn a_stream_that_never_began_takes_nothing() {
        let mut given = Story::<Thread>::new();
        let refused = given.try_(Remember { open: None, record: record("x") });
        assert_eq!(refused.expect_err("refused"), Rejection::Gone);
    }
}
