//! Update: a memory gets another name or another description.

use memlog_events::{
    event::{ByV1, Content, Facts, MemoryUpdatedContentV1, MemoryUpdatedV1},
    ids::{KeyPath, Slot, StreamId},
};

use super::{Named, Registry, name_digest};
use crate::domain::{Command, Decision, Fact, Inputs, Place, Rejection};

/// Changes a memory; what is left out is kept.
#[derive(Clone, PartialEq, Debug)]
pub struct UpdateMemory {
    /// The memory.
    pub memory: StreamId,
    /// Its new name.
    pub name: Option<String>,
    /// Its new description; an empty one is none.
    pub description: Option<String>,
    /// Who changes it.
    pub by: ByV1,
}

impl Command<Registry> for UpdateMemory {
    type Answer = Named;

    fn decide(&self, state: &Registry, place: &Place, inputs: &mut dyn Inputs) -> Result<Decision<Named>, Rejection> {
        let memory = state.memory(self.memory)?;
        let name = self.name.as_ref().map(|name| name_digest(name, place, inputs));
        if let Some(name) = name {
            if memory.agent.is_some() {
                return Err(Rejection::OwnMemory(memory.agent));
            }
            match state.memory_names.get(&(memory.owner, name)) {
                Some(other) if *other != self.memory => return Err(Rejection::NameTaken(other.0)),
                _ => {}
            }
        }
        if name.is_none() && self.description.is_none() {
            return Ok(Decision::nothing(Named(self.memory.0)));
        }
        let keys = KeyPath { scope: place.scope_slot, stream: memory.slot, subject: Slot::NONE };
        let (name_text, description) = (self.name.clone(), self.description.clone());
        let content = MemoryUpdatedContentV1 { name: name_text, description, by: self.by.clone() };
        let facts = Facts::MemoryUpdated(MemoryUpdatedV1 { memory: self.memory, name_digest: name });
        let fact = Fact { facts, content: Some((Content::MemoryUpdated(content), keys)) };
        Ok(Decision::of(vec![fact], Named(self.memory.0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::testing::{create_memory, registry};

    fn rename(memory: Named, name: &str) -> UpdateMemory {
        let (memory, name) = (StreamId(memory.0), Some(name.to_owned()));
        UpdateMemory { memory, name, description: None, by: ByV1::default() }
    }

    #[test]
    fn a_name_that_was_left_is_free_and_one_that_is_taken_is_not() {
        let mut given = registry();
        let one = given.do_(create_memory(None, "company"));
        let other = given.do_(create_memory(None, "handbook"));
        assert_eq!(given.try_(rename(one, "handbook")).expect_err("refused"), Rejection::NameTaken(other.0));
        given.do_(rename(one, "rules"));
        given.do_(rename(one, "rules"));
        assert_ne!(given.do_(create_memory(None, "company")), one);
    }
}
