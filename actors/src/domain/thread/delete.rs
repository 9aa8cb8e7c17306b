//! Delete: the thread and everything in it is gone; one event, one overwritten slot, whatever its size.

use memlog_events::event::{Facts, ThreadDeletedV1};

use super::Thread;
use crate::domain::{Command, Decision, Fact, Inputs, Place, Rejection};

/// Deletes the thread; deleting it twice changes nothing.
#[derive(Clone, PartialEq, Debug)]
pub struct Delete;

impl Command<Thread> for Delete {
    type Answer = ();

    fn decide(&self, state: &Thread, _: &Place, _: &mut dyn Inputs) -> Result<Decision<()>, Rejection> {
        let Some(slot) = state.slot.filter(|_| !state.deleted) else {
            return Ok(Decision::nothing(()));
        };
        let facts = Facts::ThreadDeleted(ThreadDeletedV1 { slot });
        Ok(Decision::of(vec![Fact { facts, content: None }], ()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::testing::*;

    #[test]
    fn nothing_enters_a_deleted_thread() {
        let mut given = Story::<Thread>::new();
        given.do_(ingest("trip", &["a"]));
        given.do_(Delete);
        given.do_(Delete);
        assert_eq!(given.try_(ingest("trip", &["a"])).expect_err("refused"), Rejection::Gone);
        assert_eq!(given.last().facts.erases().len(), 1);
    }
}
