//! Delete a record: it is gone for real; the messages that it was made from stay.

use memlog_events::{
    event::{ByV1, Facts, ForgotV1},
    ids::RecordId,
};

use super::{Forgotten, HoldsRecords, summary_erased};
use crate::domain::{Command, Decision, Fact, Inputs, Place, Rejection, by_alone};

/// Deletes one record.
#[derive(Clone, PartialEq, Debug)]
pub struct DeleteRecord {
    /// The record.
    pub record: RecordId,
    /// Who asks.
    pub by: ByV1,
}

impl<A: HoldsRecords> Command<A> for DeleteRecord {
    type Answer = Forgotten;

    fn decide(&self, state: &A, place: &Place, inputs: &mut dyn Inputs) -> Result<Decision<Forgotten>, Rejection> {
        if !state.is_open() {
            return Err(Rejection::Gone);
        }
        let records = state.records();
        if !records.is_alive(self.record, inputs.now()) {
            return Err(Rejection::NoRecord);
        }
        let relations = records.relations_of(&[self.record]);
        let slot = records.records[&self.record].slot;
        let forgot = ForgotV1 { record: self.record, slot, messages: Vec::new(), relations };
        let fact = Fact { facts: Facts::Forgot(forgot), content: by_alone(&self.by, place, state.stream_slot()) };
        let gone = Forgotten { record: self.record, held: None };
        Ok(Decision::of(std::iter::once(fact).chain(summary_erased(state)).collect(), gone))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{
        record::{NewRecord, Remember},
        testing::*,
        thread::Thread,
    };

    #[test]
    fn its_messages_stay() {
        let mut given = Story::<Thread>::new();
        let message = given.do_(ingest("trip", &["I live in Lisbon"])).messages[0];
        let new = NewRecord { sources: vec![message], ..record("Lives in Lisbon") };
        let id = given.do_(Remember { open: None, record: new }).record;
        given.do_(DeleteRecord { record: id, by: ByV1::default() });
        assert!(given.state.records.records.is_empty() && given.state.message_slot(message).is_some());
        let again = given.try_(DeleteRecord { record: id, by: ByV1::default() });
        assert_eq!(again.expect_err("refused"), Rejection::NoRecord);
    }
}
