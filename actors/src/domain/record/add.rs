//! Add: save a record to a thread, with its status and perhaps a link, in one batch.

use memlog_events::{
    batch::Outcome,
    event::{Facts, StatusSetV1},
    ids::{RecordId, RelationId},
};

use super::{HoldsRecords, NewLink, NewRecord, author};
use crate::domain::{Answered, Command, Decision, Fact, Inputs, Place, Rejection, by_alone, thread::Thread};

/// Saves a record of a thread that has begun.
#[derive(Clone, PartialEq, Debug)]
pub struct Add {
    /// The record.
    pub record: NewRecord,
    /// Whether it holds.
    pub valid: bool,
    /// A link from it to a record of the thread.
    pub link: Option<NewLink>,
}

/// The record, and the link if there is one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Added {
    /// The record.
    pub record: RecordId,
    /// The link.
    pub relation: Option<RelationId>,
}

impl Answered for Added {
    fn outcome(&self) -> Outcome {
        let ids = std::iter::once(self.record.0).chain(self.relation.map(|id| id.0)).collect();
        Outcome { ids, numbers: vec![4] }
    }

    fn from_outcome(outcome: &Outcome) -> Option<Self> {
        match (outcome.ids.as_slice(), outcome.numbers.as_slice()) {
            ([record], [4]) => Some(Self { record: RecordId(*record), relation: None }),
            ([record, link], [4]) => Some(Self { record: RecordId(*record), relation: Some(RelationId(*link)) }),
            _ => None,
        }
    }
}

impl Command<Thread> for Add {
    type Answer = Added;

    fn decide(&self, state: &Thread, place: &Place, inputs: &mut dyn Inputs) -> Result<Decision<Added>, Rejection> {
        if !state.is_open() {
            return Err(Rejection::Gone);
        }
        if let Some(link) = &self.link
            && !state.records().is_alive(link.target, inputs.now())
        {
            return Err(Rejection::NoRecord);
        }
        let stream_slot = state.stream_slot();
        let (record, saved, claim) = self.record.clone().saved(stream_slot, place, inputs);
        let mut decision = Decision::of(vec![saved], ());
        decision.claims.extend(claim);
        if !self.valid {
            let facts = Facts::StatusSet(StatusSetV1 { record, valid: false });
            let by = author(&self.record.content);
            decision.events.push(Fact { facts, content: by_alone(by, place, stream_slot) });
        }
        // The new record has no links yet, so none can be in the way.
        let relation = self.link.as_ref().map(|link| link.linked(record, stream_slot, place, inputs, &mut decision));
        let Decision { events, claims, listed, .. } = decision;
        Ok(Decision { events, claims, listed, answer: Added { record, relation } })
    }
}

#[cfg(test)]
mod tests {
    use memlog_events::code::LinkCode;

    use super::*;
    use crate::domain::{record::link::tests::to, testing::*, thread::Create};

    #[test]
    fn a_record_comes_with_its_status_and_its_link() {
        let mut given = Story::<Thread>::new();
        given.do_(Create(open("trip")));
        let old = given.do_(Add { record: record("Lives in Porto"), valid: true, link: None }).record;
        let link = Some(to(old, LinkCode::SUPERSEDES));
        let new = given.do_(Add { record: record("Lives in Lisbon"), valid: true, link });
        assert_eq!(given.names()[2..], ["saved", "linked"]);
        assert!(new.relation.is_some() && !given.state.records.is_valid(old, given.now()));
        let draft = given.do_(Add { record: record("Lives in Faro"), valid: false, link: None }).record;
        assert!(!given.state.records.is_valid(draft, given.now()));
    }

    // All or nothing: a link that cannot be must not leave the record behind.
    #[test]
    fn a_link_to_nothing_saves_nothing() {
        let mut given = Story::<Thread>::new();
        given.do_(Create(open("trip")));
        let link = Some(to(RecordId(uuid::Uuid::from_u128(5)), LinkCode::SUPPORTS));
        let refused = given.try_(Add { record: record("x"), valid: true, link });
        assert_eq!(refused.expect_err("refused"), Rejection::NoRecord);
        assert_eq!(given.names(), ["thread_created"]);
    }
}
