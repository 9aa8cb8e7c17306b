//! Restore: a memory comes back from the trash with everything, under its old id and name.

use memlog_events::{
    event::{ByV1, Facts, RestoredV1},
    ids::StreamId,
};

use super::{Named, Registry, told};
use crate::domain::{Command, Decision, Inputs, Place, Rejection};

/// Takes a memory out of the trash.
#[derive(Clone, PartialEq, Debug)]
pub struct Restore {
    /// The memory.
    pub memory: StreamId,
    /// Who restores it.
    pub by: ByV1,
}

impl Command<Registry> for Restore {
    type Answer = Named;

    fn decide(&self, state: &Registry, place: &Place, inputs: &mut dyn Inputs) -> Result<Decision<Named>, Rejection> {
        let (memory, ticket) = state.in_trash(self.memory, inputs.now())?;
        if let Some(other) = state.owned_name(self.memory).and_then(|name| state.memory_names.get(&name)) {
            return Err(Rejection::NameTaken(other.0));
        }
        let facts = Facts::Restored(RestoredV1 { memory: self.memory, ticket });
        Ok(Decision::of(vec![told(facts, &self.by, place, memory.slot)], Named(self.memory.0)))
    }
}
