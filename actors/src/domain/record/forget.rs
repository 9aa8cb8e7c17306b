//! Forget: a record, the messages it was made from with their images, and its links are gone for real.

use memlog_events::{
    batch::Outcome,
    event::{ByV1, Facts, ForgotV1, ImageDeletedV1},
    ids::RecordId,
};

use super::{HoldsRecords, summary_erased};
use crate::domain::{Answered, Command, Decision, Fact, Inputs, Place, Rejection, by_alone};

/// Forgets one record.
#[derive(Clone, PartialEq, Debug)]
pub struct Forget {
    /// The record.
    pub record: RecordId,
    /// Whether it is known to hold, by what its own stream does not know, too.
    pub holds: bool,
    /// Who asks.
    pub by: ByV1,
}

/// The record that was forgotten.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Forgotten {
    /// The record.
    pub record: RecordId,
    /// Whether it held until then: a repeat is told the same, though another command came between the look at it and its end. None if
    /// nobody asked.
    pub held: Option<bool>,
}

impl Answered for Forgotten {
    fn outcome(&self) -> Outcome {
        Outcome { ids: vec![self.record.0], numbers: self.held.map(u64::from).into_iter().collect() }
    }

    fn from_outcome(outcome: &Outcome) -> Option<Self> {
        let held = outcome.numbers.first().map(|held| *held == 1);
        outcome.ids.first().map(|id| Self { record: RecordId(*id), held })
    }
}

impl<A: HoldsRecords> Command<A> for Forget {
    type Answer = Forgotten;

    fn decide(&self, state: &A, place: &Place, inputs: &mut dyn Inputs) -> Result<Decision<Forgotten>, Rejection> {
        if !state.is_open() {
            return Err(Rejection::Gone);
        }
        let records = state.records();
        if !records.is_alive(self.record, inputs.now()) {
            return Err(Rejection::NoRecord);
        }
        let record = &records.records[&self.record];
        let messages = record.sources.iter().filter_map(|id| Some((*id, state.message_slot(*id)?))).collect();
        let relations = records.relations_of(&[self.record]);
        let forgot = ForgotV1 { record: self.record, slot: record.slot, messages, relations };
        let fact = Fact { facts: Facts::Forgot(forgot), content: by_alone(&self.by, place, state.stream_slot()) };
        // A message takes its images along.
        let images = state.images_of(&record.sources);
        let images = Some(ImageDeletedV1 { images }).filter(|gone| !gone.images.is_empty());
        let images = images.map(|gone| Fact { facts: Facts::ImageDeleted(gone), content: None });
        let events = images.into_iter().chain([fact]).chain(summary_erased(state)).collect();
        let held = self.holds && records.is_valid(self.record, inputs.now());
        Ok(Decision::of(events, Forgotten { record: self.record, held: Some(held) }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{profile::Profile, record::*, testing::*, thread::Thread};

    #[test]
    fn a_record_goes_with_its_links_and_its_predecessor_stays_invalid() {
        let mut given = Story::<Profile>::new();
        given.do_(create_profile());
        let old = given.do_(Remember { open: None, record: record("Lives in Porto") }).record;
        let new = given.do_(Supersede { old, record: record("Lives in Lisbon") }).record;
        given.do_(Forget { record: new, holds: true, by: ByV1::default() });
        let records = given.state.records();
        assert!(records.relations.is_empty() && !records.records.contains_key(&new));
        assert!(!records.is_valid(old, given.now()));
    }

    // Between the look at it and its turn another command may have superseded it.
    #[test]
    fn what_was_superseded_meanwhile_did_not_hold() {
        let mut given = Story::<Profile>::new();
        given.do_(create_profile());
        let old = given.do_(Remember { open: None, record: record("Lives in Porto") }).record;
        let new = given.do_(Supersede { old, record: record("Lives in Lisbon") }).record;
        let told = given.do_(Forget { record: old, holds: true, by: ByV1::default() });
        assert_eq!(Forgotten::from_outcome(&told.outcome()), Some(Forgotten { record: old, held: Some(false) }));
        let told = given.do_(Forget { record: new, holds: true, by: ByV1::default() });
        assert_eq!(Forgotten::from_outcome(&told.outcome()), Some(Forgotten { record: new, held: Some(true) }));
    }

    // Two records of one message: forgetting one takes the message, and the other loses that source and stays.
    #[test]
    fn source_messages_go_and_the_other_record_stays() {
        let mut given = Story::<Thread>::new();
        let message = given.do_(ingest("trip", &["I moved to Lisbon and I have a cat"])).messages[0];
        let from = |text| Remember { open: None, record: NewRecord { sources: vec![message], ..record(text) } };
        let one = given.do_(from("Lives in Lisbon")).record;
        let other = given.do_(from("Has a cat")).record;
        given.do_(Forget { record: one, holds: true, by: ByV1::default() });
        assert_eq!(given.last().facts.erases().len(), 2);
        assert_eq!(given.state.message_slot(message), None);
        assert!(given.state.records().records[&other].sources.is_empty());
    }

    #[test]
    fn what_is_not_there_cannot_be_forgotten_twice() {
        let mut given = Story::<Profile>::new();
        given.do_(create_profile());
        let id = given.do_(Remember { open: None, record: record("x") }).record;
        given.do_(Forget { record: id, holds: true, by: ByV1::default() });
        assert_eq!(
            given.try_(Forget { record: id, holds: true, by: ByV1::default() }).expect_err("refused"),
            Rejection::NoRecord
        );
    }
}
