//! Delete: the profile and everything in it is gone; one event, one overwritten slot.

use memlog_events::event::{Facts, ProfileDeletedV1};

use super::Profile;
use crate::domain::{Command, Decision, Fact, Inputs, Place, Rejection};

/// Deletes the profile; deleting it twice changes nothing.
#[derive(Clone, PartialEq, Debug)]
pub struct Delete;

impl Command<Profile> for Delete {
    type Answer = ();

    fn decide(&self, state: &Profile, _: &Place, _: &mut dyn Inputs) -> Result<Decision<()>, Rejection> {
        let Some(slot) = state.slot.filter(|_| !state.deleted) else {
            return Ok(Decision::nothing(()));
        };
        let facts = Facts::ProfileDeleted(ProfileDeletedV1 { slot });
        Ok(Decision::of(vec![Fact { facts, content: None }], ()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::testing::*;

    #[test]
    fn one_event_one_slot_and_only_once() {
        let mut given = Story::<Profile>::new();
        given.do_(create_profile());
        given.do_(Delete);
        given.do_(Delete);
        assert_eq!(given.names(), ["profile_created", "profile_deleted"]);
        assert_eq!(given.last().facts.erases(), [given.state.slot.expect("created")]);
    }
}
