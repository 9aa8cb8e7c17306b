//! Create: a profile begins, under a name that is unique in its namespace.

use memlog_events::{
    batch::{Claim, Holder, ListKind, Listing},
    event::{ByV1, Content, Facts, ProfileCreatedContentV1, ProfileCreatedV1},
    ids::{Digest, KeyPath, Slot},
};

use super::Profile;
use crate::domain::{Command, Decision, Fact, Inputs, Place, Rejection};

/// Creates the profile of this stream; its slot is the place's.
#[derive(Clone, PartialEq, Debug)]
pub struct Create {
    /// The namespace's token.
    pub namespace: String,
    /// Its keyed digest.
    pub namespace_digest: [u8; 16],
    /// The name.
    pub name: String,
    /// Its keyed digest, which is claimed.
    pub name_digest: Digest,
    /// Who creates it.
    pub by: ByV1,
}

impl Command<Profile> for Create {
    type Answer = ();

    fn decide(&self, state: &Profile, place: &Place, _: &mut dyn Inputs) -> Result<Decision<()>, Rejection> {
        if state.deleted {
            return Err(Rejection::Gone);
        }
        if state.slot.is_some() {
            return Ok(Decision::nothing(()));
        }
        let slot = place.scope_slot;
        let keys = KeyPath { scope: slot, stream: Slot::NONE, subject: Slot::NONE };
        let facts = ProfileCreatedV1 { slot, namespace: self.namespace_digest };
        let content =
            ProfileCreatedContentV1 { namespace: self.namespace.clone(), name: self.name.clone(), by: self.by.clone() };
        let id = place.key.scope.0;
        let fact =
            Fact { facts: Facts::ProfileCreated(facts), content: Some((Content::ProfileCreated(content), keys)) };
        Ok(Decision {
            events: vec![fact],
            claims: vec![Claim::Take(self.name_digest, Holder { stream: place.key, id, keys })],
            listed: vec![Listing {
                namespace: self.namespace_digest,
                kind: ListKind::Profiles,
                id,
                stream: place.key,
                keys,
            }],
            answer: (),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::testing::*;

    #[test]
    fn created_once() {
        let mut given = Story::<Profile>::new();
        given.do_(create_profile());
        given.do_(create_profile());
        assert_eq!(given.names(), ["profile_created"]);
    }

    // A stream is one incarnation: the name used again gets another stream.
    #[test]
    fn a_deleted_profile_is_not_created_again_in_its_stream() {
        let mut given = Story::<Profile>::new();
        given.do_(create_profile());
        given.do_(super::super::Delete);
        assert_eq!(given.try_(create_profile()).expect_err("refused"), Rejection::Gone);
    }
}
