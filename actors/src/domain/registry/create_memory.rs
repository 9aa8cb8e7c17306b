//! Create: an empty memory, under a name that is unique among its owner's.

use memlog_events::{
    event::{ByV1, Content, Facts, MemoryCreatedContentV1, MemoryCreatedV1},
    ids::{AgentId, Digest, KeyPath, Slot, StreamId},
};

use super::{Named, Registry, name_digest, owner_digest};
use crate::domain::{Command, Decision, Fact, Inputs, Place, Rejection};

/// Creates a memory.
#[derive(Clone, PartialEq, Debug)]
pub struct CreateMemory {
    /// Its name.
    pub name: String,
    /// One line.
    pub description: Option<String>,
    /// The user whose it will be; none is the account.
    pub user: Option<String>,
    /// Whether one of that name is the answer, and not a refusal.
    pub adopt: bool,
    /// Who creates it.
    pub by: ByV1,
}

impl Command<Registry> for CreateMemory {
    type Answer = Named;

    fn decide(&self, state: &Registry, place: &Place, inputs: &mut dyn Inputs) -> Result<Decision<Named>, Rejection> {
        state.is_open()?;
        let owner = owner_digest(self.user.as_ref(), place, inputs);
        let name = name_digest(&self.name, place, inputs);
        match state.memory_names.get(&(owner, name)) {
            Some(known) if self.adopt => return Ok(Decision::nothing(Named(known.0))),
            Some(known) => return Err(Rejection::NameTaken(known.0)),
            None => {}
        }
        let new = NewMemory { owner, agent: None, name_digest: Some(name) };
        let content = MemoryCreatedContentV1 {
            name: Some(self.name.clone()),
            description: self.description.clone(),
            user_id: self.user.clone(),
            by: self.by.clone(),
        };
        let (memory, fact) = new.fact(content, place, inputs);
        Ok(Decision::of(vec![fact], Named(memory.0)))
    }
}

/// A memory that is to be.
pub(super) struct NewMemory {
    pub(super) owner: Option<Digest>,
    pub(super) agent: Option<AgentId>,
    pub(super) name_digest: Option<Digest>,
}

impl NewMemory {
    pub(super) fn fact(
        self,
        content: MemoryCreatedContentV1,
        place: &Place,
        inputs: &mut dyn Inputs,
    ) -> (StreamId, Fact) {
        let Self { owner, agent, name_digest } = self;
        let (memory, slot) = (StreamId(inputs.uuid()), inputs.slot());
        let keys = KeyPath { scope: place.scope_slot, stream: slot, subject: Slot::NONE };
        let facts = Facts::MemoryCreated(MemoryCreatedV1 { memory, slot, owner, agent, name_digest });
        (memory, Fact { facts, content: Some((Content::MemoryCreated(content), keys)) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::testing::{create_memory, registry};

    // Two agents that start at once and both want "company" must end up with one.
    #[test]
    fn a_name_is_one_of_its_owners_own() {
        let mut given = registry();
        let company = given.do_(create_memory(None, "company"));
        assert_eq!(given.try_(create_memory(None, "company")).expect_err("refused"), Rejection::NameTaken(company.0));
        let adopted = given.do_(CreateMemory { adopt: true, ..create_memory(None, "company") });
        assert_eq!(adopted, company);
        assert_ne!(given.do_(create_memory(Some("ann"), "company")), company);
        assert_ne!(given.do_(create_memory(None, "Company")), company);
        assert_eq!(given.state.memories.len(), 3);
    }
}
