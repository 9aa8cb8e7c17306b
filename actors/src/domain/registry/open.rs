//! Open: a namespace gets its registry, once.

use memlog_events::{
    batch::{Claim, Holder},
    event::{ByV1, Content, Facts, RegistryCreatedContentV1, RegistryCreatedV1},
    ids::{Digest, KeyPath, Slot},
};

use super::Registry;
use crate::domain::{Command, Decision, Fact, Inputs, Place, Rejection};

/// Begins the registry of this stream; its slot is the place's.
#[derive(Clone, PartialEq, Debug)]
pub struct Open {
    /// The namespace's token.
    pub namespace: String,
    /// Its keyed digest.
    pub namespace_digest: [u8; 16],
    /// The keyed digest that is claimed, so that there is one.
    pub claim: Digest,
    /// Who is the first to need it.
    pub by: ByV1,
}

impl Command<Registry> for Open {
    type Answer = ();

    fn decide(&self, state: &Registry, place: &Place, _: &mut dyn Inputs) -> Result<Decision<()>, Rejection> {
        if state.slot.is_some() {
            return Ok(Decision::nothing(()));
        }
        let slot = place.scope_slot;
        let keys = KeyPath { scope: slot, stream: Slot::NONE, subject: Slot::NONE };
        let facts = Facts::RegistryCreated(RegistryCreatedV1 { slot, namespace: self.namespace_digest });
        let content = RegistryCreatedContentV1 { namespace: self.namespace.clone(), by: self.by.clone() };
        let fact = Fact { facts, content: Some((Content::RegistryCreated(content), keys)) };
        let holder = Holder { stream: place.key, id: place.key.scope.0, keys };
        Ok(Decision { claims: vec![Claim::Take(self.claim, holder)], ..Decision::of(vec![fact], ()) })
    }
}
