//! Supersede: a new record takes an old one's place; the old one stays, invalid.

use memlog_events::{
    code::LinkCode,
    event::{ByV1, Content, Facts, LinkedContentV1, LinkedV1, SupersededV1},
    ids::{KeyPath, RecordId, RelationId},
};

use super::{HoldsRecords, NewRecord, Stored, author};
use crate::domain::{Command, Decision, Fact, Inputs, Place, Rejection, by_alone};

/// Saves `record` in `old`'s place.
#[derive(Clone, PartialEq, Debug)]
pub struct Supersede {
    /// The record that no longer holds.
    pub old: RecordId,
    /// Its successor; speaker and session are the old one's.
    pub record: NewRecord,
}

impl<A: HoldsRecords> Command<A> for Supersede {
    type Answer = Stored;

    fn decide(&self, state: &A, place: &Place, inputs: &mut dyn Inputs) -> Result<Decision<Stored>, Rejection> {
        let stream_slot = open_slot(state)?;
        let old = holds(state, self.old, inputs)?;
        let by = author(&self.record.content).clone();
        let new = NewRecord { speaker: old.speaker, ..self.record.clone() };
        let (record, saved, claim) = new.saved(stream_slot, place, inputs);
        let mut decision = Decision::of(vec![saved], Stored { record, duplicate: None });
        decision.claims.extend(claim);
        decision.events.extend(replaced(self.old, record, &by, stream_slot, place, inputs));
        Ok(decision)
    }
}

/// Sets a record invalid because one of another stream took its place: the second half of a correction across threads.
#[derive(Clone, PartialEq, Debug)]
pub struct Invalidate {
    /// The record that no longer holds.
    pub old: RecordId,
    /// Its successor.
    pub new: RecordId,
    /// Who says so.
    pub by: ByV1,
}

impl<A: HoldsRecords> Command<A> for Invalidate {
    type Answer = ();

    fn decide(&self, state: &A, place: &Place, inputs: &mut dyn Inputs) -> Result<Decision<()>, Rejection> {
        let stream_slot = open_slot(state)?;
        holds(state, self.old, inputs)?;
        Ok(Decision::of(vec![superseded(self.old, self.new, &self.by, stream_slot, place)], ()))
    }
}

fn open_slot<A: HoldsRecords>(state: &A) -> Result<memlog_events::ids::Slot, Rejection> {
    if state.is_open() { Ok(state.stream_slot()) } else { Err(Rejection::Gone) }
}

fn holds<'a, A: HoldsRecords>(
    state: &'a A,
    id: RecordId,
    inputs: &dyn Inputs,
) -> Result<&'a super::RecordState, Rejection> {
    let records = state.records();
    if !records.is_alive(id, inputs.now()) {
        return Err(Rejection::NoRecord);
    }
    let record = &records.records[&id];
    if records.is_valid(id, inputs.now()) { Ok(record) } else { Err(Rejection::Superseded(record.superseded_by)) }
}

fn superseded(old: RecordId, new: RecordId, by: &ByV1, stream_slot: memlog_events::ids::Slot, place: &Place) -> Fact {
    Fact { facts: Facts::Superseded(SupersededV1 { old, new }), content: by_alone(by, place, stream_slot) }
}

/// The two events by which `new` of this stream takes `old`'s place: it is linked, and the old one set invalid, so that it
/// stays so when its successor is forgotten.
pub(crate) fn replaced(
    old: RecordId,
    new: RecordId,
    by: &ByV1,
    stream_slot: memlog_events::ids::Slot,
    place: &Place,
    inputs: &mut dyn Inputs,
) -> [Fact; 2] {
    let slot = inputs.slot();
    let link = LinkedV1 {
        relation: RelationId(inputs.uuid()),
        slot,
        link: LinkCode::SUPERSEDES,
        source: new,
        target: old,
        timestamp: None,
    };
    let words =
        LinkedContentV1 { label: None, opposite: None, metadata: "{}".to_owned(), given_id: None, by: by.clone() };
    let keys = KeyPath { scope: place.scope_slot, stream: stream_slot, subject: slot };
    let linked = Fact { facts: Facts::Linked(link), content: Some((Content::Linked(words), keys)) };
    [linked, superseded(old, new, by, stream_slot, place)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{profile::Profile, record::Remember, testing::*};

    #[test]
    fn the_old_record_stays_and_is_invalid() {
        let mut given = Story::<Profile>::new();
        given.do_(create_profile());
        let old = given.do_(Remember { open: None, record: record("Lives in Porto") }).record;
        let new = given.do_(Supersede { old, record: record("Lives in Lisbon") }).record;
        assert_eq!(given.names()[2..], ["saved", "linked", "superseded"]);
        assert!(!given.state.records().is_valid(old, given.now()) && given.state.records().is_valid(new, given.now()));
    }

    // Superseding twice would fork the story: the caller is told who took its place.
    #[test]
    fn what_no_longer_holds_is_not_superseded_again() {
        let mut given = Story::<Profile>::new();
        given.do_(create_profile());
        let old = given.do_(Remember { open: None, record: record("Lives in Porto") }).record;
        let new = given.do_(Supersede { old, record: record("Lives in Lisbon") }).record;
        let refused = given.try_(Supersede { old, record: record("Lives in Faro") });
        assert_eq!(refused.expect_err("refused"), Rejection::Superseded(Some(new)));
    }
}
