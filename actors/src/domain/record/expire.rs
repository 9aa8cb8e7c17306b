//! Expire: what the clock has made unreachable is erased.

use memlog_events::event::{ExpiredV1, Facts};

use super::{HoldsRecords, summary_erased};
use crate::domain::{Command, Decision, Fact, Inputs, Place, Rejection};

/// Erases every record and message of the stream whose time is over.
#[derive(Clone, PartialEq, Debug)]
pub struct Expire;

impl<A: HoldsRecords> Command<A> for Expire {
    type Answer = ();

    fn decide(&self, state: &A, _: &Place, inputs: &mut dyn Inputs) -> Result<Decision<()>, Rejection> {
        if !state.is_open() {
            return Err(Rejection::Gone);
        }
        let now = inputs.now();
        let over = |record: &super::RecordState| record.expires_at.is_some_and(|at| at <= now);
        let due = state.records().records.iter().filter(|(_, record)| over(record));
        let records: Vec<_> = due.map(|(id, record)| (*id, record.slot)).collect();
        let messages = state.expired_messages(now);
        if records.is_empty() && messages.is_empty() {
            return Ok(Decision::nothing(()));
        }
        let ids: Vec<_> = records.iter().map(|record| record.0).collect();
        let relations = state.records().relations_of(&ids);
        let expired = ExpiredV1 { records, messages, relations };
        let fact = Fact { facts: Facts::Expired(expired), content: None };
        Ok(Decision::of(std::iter::once(fact).chain(summary_erased(state)).collect(), ()))
    }
}

#[cfg(test)]
mod tests {
    use memlog_events::ids::Micros;

    use super::*;
    use crate::domain::{profile::Profile, record::*, testing::*};

    #[test]
    fn only_what_is_due_goes() {
        let mut given = Story::<Profile>::new();
        given.do_(create_profile());
        let later = Some(Micros(given.now().0 + 1_000));
        let short = given
            .do_(Remember { open: None, record: NewRecord { expires_at: later, ..record("parking spot 7") } })
            .record;
        given.do_(Remember { open: None, record: record("Lives in Lisbon") });
        given.do_(Expire);
        assert_eq!(given.state.records().records.len(), 2);
        given.advance(1_000);
        assert!(!given.state.records().is_alive(short, given.now()));
        given.do_(Expire);
        assert_eq!(given.state.records().records.len(), 1);
        assert_eq!(given.last().facts.name(), "expired");
    }
}
