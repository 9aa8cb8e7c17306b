//! Create: a thread begins by itself, with its owner and its settings.

use super::{Open, Thread};
use crate::domain::{Command, Decision, Inputs, Place, Rejection};

/// Begins the thread; its id is claimed, so that one that is taken is refused.
#[derive(Clone, PartialEq, Debug)]
pub struct Create(pub Open);

impl Command<Thread> for Create {
    type Answer = ();

    fn decide(&self, state: &Thread, place: &Place, inputs: &mut dyn Inputs) -> Result<Decision<()>, Rejection> {
        // A stream is one incarnation: this one began already, or ended.
        if state.slot.is_some() || state.deleted {
            return Err(Rejection::Gone);
        }
        Ok(self.0.begin(place, inputs).0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::testing::*;

    #[test]
    fn a_thread_begins_once() {
        let mut given = Story::<Thread>::new();
        given.do_(Create(open("trip")));
        assert_eq!(given.names(), ["thread_created"]);
        assert_eq!(given.try_(Create(open("trip"))).expect_err("refused"), Rejection::Gone);
    }
}
