//! Update: an agent gets another name, other instructions, other memories.

use memlog_events::{
    event::{AgentUpdatedContentV1, AgentUpdatedV1, ByV1, Content, Facts},
    ids::{AgentId, KeyPath, Slot},
};

use super::{Attachments, Named, Registry, attach::attached, name_digest};
use crate::domain::{Command, Decision, Fact, Inputs, Place, Rejection};

/// Changes an agent; what is left out is kept.
#[derive(Clone, PartialEq, Debug)]
pub struct UpdateAgent {
    /// The agent.
    pub agent: AgentId,
    /// Its new name.
    pub name: Option<String>,
    /// Its new instructions; empty ones are none.
    pub instructions: Option<String>,
    /// All that it attaches from here on, in order.
    pub memories: Option<Attachments>,
    /// Who changes it.
    pub by: ByV1,
}

impl Command<Registry> for UpdateAgent {
    type Answer = Named;

    fn decide(&self, state: &Registry, place: &Place, inputs: &mut dyn Inputs) -> Result<Decision<Named>, Rejection> {
        let agent = state.agent(self.agent)?;
        let name = self.name.as_ref().map(|name| name_digest(name, place, inputs));
        let taken = name.and_then(|name| state.agent_names.get(&(agent.owner, name)));
        if let Some(other) = taken.filter(|other| **other != self.agent) {
            return Err(Rejection::NameTaken(other.0));
        }
        let mut events = Vec::new();
        if name.is_some() || self.instructions.is_some() {
            let keys = KeyPath { scope: place.scope_slot, stream: agent.slot, subject: Slot::NONE };
            let (text, instructions) = (self.name.clone(), self.instructions.clone());
            let content = AgentUpdatedContentV1 { name: text, instructions, by: self.by.clone() };
            let facts = Facts::AgentUpdated(AgentUpdatedV1 { agent: self.agent, name_digest: name });
            events.push(Fact { facts, content: Some((Content::AgentUpdated(content), keys)) });
        }
        if let Some(memories) = &self.memories {
            state.may_attach(agent.owner, Some(agent.memory), memories)?;
            events.extend(attached((self.agent, agent.slot), &agent.attached, memories, &self.by, place));
        }
        Ok(Decision::of(events, Named(self.agent.0)))
    }
}

#[cfg(test)]
mod tests {
    use memlog_events::ids::StreamId;

    use super::*;
    use crate::domain::testing::{create_agent, create_memory, registry};

    // An agent's list is replaced whole: order is precedence, and what is not named is detached.
    #[test]
    fn memories_are_replaced_in_order_and_its_own_is_none_of_them() {
        let mut given = registry();
        let [one, other] = ["one", "other"].map(|name| given.do_(create_memory(None, name)).0);
        let agent = AgentId(given.do_(create_agent(None, "support", &[(one, false), (other, true)])).0);
        let attach = |memories: &[(uuid::Uuid, bool)]| UpdateAgent {
            agent,
            name: None,
            instructions: None,
            memories: Some(memories.iter().map(|(id, writes)| (StreamId(*id), *writes)).collect()),
            by: ByV1::default(),
        };
        given.do_(attach(&[(other, true)]));
        let Facts::Attached(attached) = &given.last().facts else { panic!("{:?}", given.last()) };
        assert_eq!((attached.detached.as_slice(), attached.memories.len()), ([StreamId(one)].as_slice(), 1));
        let before = given.names().len();
        given.do_(attach(&[(other, true)]));
        assert_eq!(given.names().len(), before, "nothing changed");
        let own = given.state.agents[&agent].memory.0;
        let refused = given.try_(attach(&[(own, false)])).expect_err("refused");
        assert_eq!(refused, Rejection::OwnMemory(Some(agent)));
    }
}
