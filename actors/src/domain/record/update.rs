//! Update: a record says something else, at another time, for longer, or does not hold any more. It stays the same record.

use memlog_events::{
    batch::Outcome,
    event::{ByV1, Content, Facts, SavedContentV1, StatusSetV1, UpdatedV1},
    ids::{KeyPath, Micros, RecordId},
};

use super::{HoldsRecords, summary_erased};
use crate::domain::{Answered, Command, Decision, Fact, Inputs, Place, Rejection, by_alone, text::normalised};

/// Changes one record.
#[derive(Clone, PartialEq, Debug)]
pub struct UpdateRecord {
    /// The record.
    pub record: RecordId,
    /// All that it says now, metadata included, if that changes.
    pub content: Option<SavedContentV1>,
    /// When what it tells happened, if that changes; none within clears it.
    pub timestamp: Option<Option<Micros>>,
    /// From when on it is unreachable, if that changes.
    pub expires_at: Option<Option<Micros>>,
    /// Whether it holds, if somebody says so now.
    pub valid: Option<bool>,
    /// Who changes it.
    pub by: ByV1,
}

/// The record that was changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Updated(pub RecordId);

impl Answered for Updated {
    fn outcome(&self) -> Outcome {
        Outcome { ids: vec![self.0.0], numbers: vec![6] }
    }

    fn from_outcome(outcome: &Outcome) -> Option<Self> {
        match (outcome.ids.as_slice(), outcome.numbers.as_slice()) {
            ([id], [6]) => Some(Self(RecordId(*id))),
            _ => None,
        }
    }
}

impl<A: HoldsRecords> Command<A> for UpdateRecord {
    type Answer = Updated;

    fn decide(&self, state: &A, place: &Place, inputs: &mut dyn Inputs) -> Result<Decision<Updated>, Rejection> {
        if !state.is_open() {
            return Err(Rejection::Gone);
        }
        let records = state.records();
        // Its time may be over without it being erased yet: what has expired is not refreshed.
        if !records.is_alive(self.record, inputs.now()) {
            return Err(Rejection::NoRecord);
        }
        let record = &records.records[&self.record];
        let by = || by_alone(&self.by, place, state.stream_slot());
        let mut events = Vec::new();
        if self.content.is_some() || self.timestamp.is_some() || self.expires_at.is_some() {
            let keys = KeyPath { scope: place.scope_slot, stream: state.stream_slot(), subject: record.slot };
            let said = |content: &SavedContentV1| {
                inputs.digest(place.scope_slot, &[b"statement", normalised(&content.content).as_bytes()])
            };
            let updated = UpdatedV1 {
                record: self.record,
                slot: record.slot,
                timestamp: self.timestamp.unwrap_or(record.timestamp),
                expires_at: self.expires_at.unwrap_or(record.expires_at),
                expires_before: record.expires_at,
                fingerprint: self.content.as_ref().map_or(record.fingerprint, said),
            };
            let content = match &self.content {
                Some(content) => Some((Content::Updated(content.clone()), keys)),
                None => by(),
            };
            events.push(Fact { facts: Facts::Updated(updated), content });
        }
        if let Some(valid) = self.valid {
            events.push(Fact { facts: Facts::StatusSet(StatusSetV1 { record: self.record, valid }), content: by() });
        }
        // A summary may repeat what is not said any more.
        events.extend(self.content.as_ref().and_then(|_| summary_erased(state)));
        Ok(Decision::of(events, Updated(self.record)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{
        record::{NewRecord, Remember, Supersede},
        testing::*,
        thread::Thread,
    };

    fn update(record: RecordId) -> UpdateRecord {
        UpdateRecord { record, content: None, timestamp: None, expires_at: None, valid: None, by: ByV1::default() }
    }

    fn story(new: NewRecord) -> (Story<Thread>, RecordId) {
        let mut given = Story::<Thread>::new();
        let id = given.do_(Remember { open: Some(open("trip")), record: new }).record;
        (given, id)
    }

    #[test]
    fn what_is_left_out_stays() {
        let timed = NewRecord { timestamp: Some(Micros(7)), expires_at: Some(Micros(i64::MAX)), ..record("x") };
        let (mut given, id) = story(timed.clone());
        given.do_(UpdateRecord { content: Some(record("y").content), ..update(id) });
        let state = &given.state.records.records[&id];
        assert_eq!((state.timestamp, state.expires_at), (timed.timestamp, timed.expires_at));
        given.do_(UpdateRecord { timestamp: Some(None), expires_at: Some(None), ..update(id) });
        let state = &given.state.records.records[&id];
        assert_eq!((state.timestamp, state.expires_at), (None, None));
        assert!(given.state.records.says(given.fingerprint("y"), None, given.now()));
        assert!(!given.state.records.says(given.fingerprint("x"), None, given.now()));
    }

    // Setting a record valid takes back what was set, and no link.
    #[test]
    fn the_status_is_set_and_taken_back() {
        let (mut given, old) = story(record("Lives in Porto"));
        given.do_(UpdateRecord { valid: Some(false), ..update(old) });
        assert!(!given.state.records.is_valid(old, given.now()));
        given.do_(UpdateRecord { valid: Some(true), ..update(old) });
        assert!(given.state.records.is_valid(old, given.now()));
        given.do_(Supersede { old, record: record("Lives in Lisbon") });
        given.do_(UpdateRecord { valid: Some(true), ..update(old) });
        assert!(!given.state.records.is_valid(old, given.now()), "the link still says so");
    }

    #[test]
    fn what_has_expired_cannot_be_refreshed() {
        let soon = Some(Micros(1_000_010));
        let (mut given, id) = story(NewRecord { expires_at: soon, ..record("parking spot 7") });
        given.advance(10);
        let refused = given.try_(UpdateRecord { expires_at: Some(None), ..update(id) });
        assert_eq!(refused.expect_err("refused"), Rejection::NoRecord);
    }
}
