//! Delete: an agent is gone; its own memory goes to the trash with it, and what it attached stays.

use memlog_events::{
    event::{AgentDeletedV1, ByV1, Facts},
    ids::{AgentId, Slot},
};

use super::{Named, Registry, told, trash::trashed};
use crate::domain::{Command, Decision, Inputs, Place, Rejection};

/// Deletes an agent.
#[derive(Clone, PartialEq, Debug)]
pub struct DeleteAgent {
    /// The agent.
    pub agent: AgentId,
    /// Who deletes it.
    pub by: ByV1,
}

impl Command<Registry> for DeleteAgent {
    type Answer = Named;

    fn decide(&self, state: &Registry, place: &Place, inputs: &mut dyn Inputs) -> Result<Decision<Named>, Rejection> {
        let agent = state.agent(self.agent)?;
        // Another agent may attach it.
        state.unattached(agent.memory)?;
        let (own, _) = trashed(state, agent.memory, &self.by, place, inputs)?;
        let facts = Facts::AgentDeleted(AgentDeletedV1 { agent: self.agent, slot: agent.slot });
        let deleted = told(facts, &self.by, place, Slot::NONE);
        Ok(Decision::of(vec![own, deleted], Named(self.agent.0)))
    }
}
