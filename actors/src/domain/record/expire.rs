//! Expire: what the clock has made unreachable is erased.

use memlog_events::{
    event::{ExpiredV1, Facts, ImageDeletedV1},
    ids::Micros,
};

use super::{HoldsRecords, summary_erased};
use crate::domain::{Command, Decision, Fact, Inputs, Place, Rejection};

/// Erases every record, message and image of the stream whose time was over by then.
#[derive(Clone, PartialEq, Debug)]
pub struct Expire(pub Micros);

impl<A: HoldsRecords> Command<A> for Expire {
    type Answer = ();

    fn decide(&self, state: &A, _: &Place, inputs: &mut dyn Inputs) -> Result<Decision<()>, Rejection> {
        if !state.is_open() {
            return Err(Rejection::Gone);
        }
        let now = self.0.min(inputs.now());
        let over = |record: &super::RecordState| record.expires_at.is_some_and(|at| at <= now);
        let due = state.records().records.iter().filter(|(_, record)| over(record));
        let records: Vec<_> = due.map(|(id, record)| (*id, record.slot)).collect();
        let (messages, images) = (state.expired_messages(now), state.expired_images(now));
        let mut events = Vec::new();
        if !images.is_empty() {
            events.push(Fact { facts: Facts::ImageDeleted(ImageDeletedV1 { images }), content: None });
        }
        if !records.is_empty() || !messages.is_empty() {
            let ids: Vec<_> = records.iter().map(|record| record.0).collect();
            let relations = state.records().relations_of(&ids);
            let expired = ExpiredV1 { records, messages, relations };
            events.push(Fact { facts: Facts::Expired(expired), content: None });
            events.extend(summary_erased(state));
        }
        Ok(Decision::of(events, ()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{profile::Profile, record::*, testing::*};

    #[test]
    fn only_what_is_due_goes() {
        let mut given = Story::<Profile>::new();
        given.do_(create_profile());
        let later = Micros(given.now().0 + 1_000);
        let short = given
            .do_(Remember { open: None, record: NewRecord { expires_at: Some(later), ..record("parking spot 7") } })
            .record;
        given.do_(Remember { open: None, record: record("Lives in Lisbon") });
        given.do_(Expire(Micros(i64::MAX)));
        assert_eq!(given.state.records().records.len(), 2);
        given.advance(1_000);
        assert!(!given.state.records().is_alive(short, given.now()));
        given.do_(Expire(Micros(later.0 - 1)));
        assert_eq!(given.state.records().records.len(), 2, "the clock is not believed yet");
        given.do_(Expire(given.now()));
        assert_eq!(given.state.records().records.len(), 1);
        assert_eq!(given.last().facts.name(), "expired");
    }
}
