//! Delete a message: it is gone for real, and with it the memories that rest on it alone.

use memlog_events::{
    batch::Outcome,
    event::{ByV1, Facts, ForgotV1, MessageDeletedV1},
    ids::{MessageId, Micros, RecordId},
};

use super::{Thread, image};
use crate::domain::{
    Answered, Command, Decision, Fact, Inputs, Place, Rejection, by_alone,
    record::{HoldsRecords, summary_erased},
};

/// Deletes one message.
#[derive(Clone, PartialEq, Debug)]
pub struct DeleteMessage {
    /// The message.
    pub message: MessageId,
    /// Whether memories made from it alone go with it.
    pub cascade: bool,
    /// Who asks.
    pub by: ByV1,
}

/// The message that went, and the records that went with it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MessageDeleted {
    /// The message; none if it was not there.
    pub message: Option<MessageId>,
    /// The records.
    pub records: Vec<RecordId>,
}

impl Answered for MessageDeleted {
    fn outcome(&self) -> Outcome {
        let ids = self.message.iter().map(|id| id.0).chain(self.records.iter().map(|id| id.0)).collect();
        Outcome { ids, numbers: vec![3, u64::from(self.message.is_some())] }
    }

    fn from_outcome(outcome: &Outcome) -> Option<Self> {
        let ids = outcome.ids.as_slice();
        let (message, records) = match (outcome.numbers.as_slice(), ids) {
            ([3, 1], [message, records @ ..]) => (Some(MessageId(*message)), records),
            ([3, 0], []) => (None, ids),
            _ => return None,
        };
        Some(Self { message, records: records.iter().map(|id| RecordId(*id)).collect() })
    }
}

impl Thread {
    /// The records that rest on this message alone: of others only what else they were made from is left.
    pub fn made_from_alone(&self, message: MessageId, now: Micros) -> Vec<RecordId> {
        let alone = self.records.records.iter().filter(|(_, record)| record.sources == [message]);
        alone.map(|(id, _)| *id).filter(|id| self.records.is_alive(*id, now)).collect()
    }
}

impl Command<Thread> for DeleteMessage {
    type Answer = MessageDeleted;

    fn decide(
        &self,
        state: &Thread,
        place: &Place,
        inputs: &mut dyn Inputs,
    ) -> Result<Decision<MessageDeleted>, Rejection> {
        let stream_slot = state.slot.filter(|_| !state.deleted).ok_or(Rejection::Gone)?;
        let message = state.living(self.message, inputs.now()).ok_or(Rejection::NoMessage)?;
        let slot = message.slot.ok_or(Rejection::NoMessage)?;
        let records = if self.cascade { state.made_from_alone(self.message, inputs.now()) } else { Vec::new() };
        let by = || by_alone(&self.by, place, stream_slot);
        let mut events = Vec::new();
        let mut unlinked = std::collections::BTreeSet::new();
        for record in &records {
            // A link between two of them goes with the first.
            let relations = state.records.relations_of(&[*record]);
            let relations = relations.into_iter().filter(|relation| unlinked.insert(relation.0)).collect();
            let slot = state.records.records[record].slot;
            let forgot = ForgotV1 { record: *record, slot, messages: Vec::new(), relations };
            events.push(Fact { facts: Facts::Forgot(forgot), content: by() });
        }
        events.extend(image::deleted(state.images_of(&[self.message])));
        let messages = vec![(self.message, slot)];
        events.push(Fact { facts: Facts::MessageDeleted(MessageDeletedV1 { messages }), content: by() });
        events.extend(summary_erased(state));
        Ok(Decision::of(events, MessageDeleted { message: Some(self.message), records }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{
        record::{NewRecord, Remember},
        testing::*,
    };

    fn story() -> (Story<Thread>, Vec<MessageId>, RecordId, RecordId) {
        let mut given = Story::<Thread>::new();
        let said = given.do_(ingest("trip", &["I moved to Lisbon", "and I have a cat"])).messages;
        let from = |text: &str, sources: &[MessageId]| Remember {
            open: None,
            record: NewRecord { sources: sources.to_vec(), ..record(text) },
        };
        let alone = given.do_(from("Lives in Lisbon", &said[..1])).record;
        let both = given.do_(from("Moved to Lisbon with a cat", &said)).record;
        (given, said, alone, both)
    }

    #[test]
    fn what_was_made_from_it_alone_goes_with_it() {
        let (mut given, said, alone, both) = story();
        let deleted = given.do_(DeleteMessage { message: said[0], cascade: true, by: ByV1::default() });
        assert_eq!(deleted.records, [alone]);
        assert_eq!(given.state.records.records[&both].sources, said[1..]);
        assert_eq!(MessageDeleted::from_outcome(&deleted.outcome()), Some(deleted));
        // It keeps its place: sent again, the conversation restores nothing.
        assert_eq!(given.do_(ingest("trip", &["I moved to Lisbon", "and I have a cat"])).accepted, 0);
    }

    #[test]
    fn without_cascade_the_memories_stay() {
        let (mut given, said, alone, _) = story();
        let deleted = given.do_(DeleteMessage { message: said[0], cascade: false, by: ByV1::default() });
        assert!(deleted.records.is_empty() && given.state.records.records.contains_key(&alone));
        let again = given.try_(DeleteMessage { message: said[0], cascade: false, by: ByV1::default() });
        assert_eq!(again.expect_err("refused"), Rejection::NoMessage);
    }
}
