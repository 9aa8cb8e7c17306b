//! Create: an agent with a memory of its own, under a name that is unique among its owner's.

use memlog_events::{
    event::{AgentCreatedContentV1, AgentCreatedV1, ByV1, Content, Facts, MemoryCreatedContentV1},
    ids::{AgentId, KeyPath, Slot},
};

use super::{Attachments, Named, Registry, attach::attached, create_memory::NewMemory, name_digest, owner_digest};
use crate::domain::{Command, Decision, Fact, Inputs, Place, Rejection};

/// Creates an agent.
#[derive(Clone, PartialEq, Debug)]
pub struct CreateAgent {
    /// Its name.
    pub name: String,
    /// What it is told to do.
    pub instructions: Option<String>,
    /// What it attaches, in order.
    pub memories: Attachments,
    /// The user whose it will be; none is the account.
    pub user: Option<String>,
    /// Whether one of that name is the answer, and not a refusal.
    pub adopt: bool,
    /// Who creates it.
    pub by: ByV1,
}

impl Command<Registry> for CreateAgent {
    type Answer = Named;

    fn decide(&self, state: &Registry, place: &Place, inputs: &mut dyn Inputs) -> Result<Decision<Named>, Rejection> {
        state.is_open()?;
        let owner = owner_digest(self.user.as_ref(), place, inputs);
        let name_digest = name_digest(&self.name, place, inputs);
        match state.agent_names.get(&(owner, name_digest)) {
            Some(known) if self.adopt => return Ok(Decision::nothing(Named(known.0))),
            Some(known) => return Err(Rejection::NameTaken(known.0)),
            None => {}
        }
        state.may_attach(owner, None, &self.memories)?;
        let (agent, slot) = (AgentId(inputs.uuid()), inputs.slot());
        let own =
            MemoryCreatedContentV1 { name: None, description: None, user_id: self.user.clone(), by: self.by.clone() };
        let new = NewMemory { owner, agent: Some(agent), name_digest: None };
        let (memory, own) = new.fact(own, place, inputs);
        let content = AgentCreatedContentV1 {
            name: self.name.clone(),
            instructions: self.instructions.clone(),
            user_id: self.user.clone(),
            by: self.by.clone(),
        };
        let keys = KeyPath { scope: place.scope_slot, stream: slot, subject: Slot::NONE };
        let facts = Facts::AgentCreated(AgentCreatedV1 { agent, slot, owner, name_digest, memory });
        let created = Fact { facts, content: Some((Content::AgentCreated(content), keys)) };
        let attached = attached((agent, slot), &Vec::new(), &self.memories, &self.by, place);
        let events = [own, created].into_iter().chain(attached).collect();
        Ok(Decision::of(events, Named(agent.0)))
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::domain::testing::{create_agent, create_memory, registry};

    #[test]
    fn an_agent_comes_with_a_memory_of_its_own() {
        let mut given = registry();
        let agent = given.do_(create_agent(None, "support", &[]));
        assert_eq!(given.names(), ["registry_created", "memory_created", "agent_created"]);
        let own = given.state.agents[&AgentId(agent.0)].memory;
        assert_eq!(given.state.memories[&own].agent, Some(AgentId(agent.0)));
        let taken = given.try_(create_agent(None, "support", &[])).expect_err("refused");
        assert_eq!(taken, Rejection::NameTaken(agent.0));
        assert_ne!(given.do_(create_agent(Some("ann"), "support", &[])), agent);
        assert_eq!(given.do_(CreateAgent { adopt: true, ..create_agent(None, "support", &[]) }), agent);
    }

    // Whose agent may read and write what: the account's memories are everyone's to read, a user's are hers alone.
    #[test]
    fn what_may_be_attached_depends_on_whose_it_is() {
        let mut given = registry();
        let company = given.do_(create_memory(None, "company")).0;
        let anns = given.do_(create_memory(Some("ann"), "diary")).0;
        let nowhere = Uuid::from_u128(1);
        for (owner, memory, writes, expected) in [
            (None, company, true, None),
            (Some("ann"), company, false, None),
            (Some("ann"), company, true, Some(Rejection::NotYours)),
            (Some("ann"), anns, true, None),
            (Some("bob"), anns, false, Some(Rejection::NoMemory)),
            (None, anns, false, Some(Rejection::NotYours)),
            (None, nowhere, false, Some(Rejection::NoMemory)),
        ] {
            let name = format!("{owner:?} {memory} {writes}");
            let refused = given.try_(create_agent(owner, &name, &[(memory, writes)])).err();
            assert_eq!(refused, expected, "{name}");
        }
    }
}
