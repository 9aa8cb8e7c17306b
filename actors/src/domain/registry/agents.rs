//! Agents: what is known of each, and how events change it.

use memlog_events::{
    event::Facts,
    ids::{AgentId, Digest, Slot, StreamId},
};
use serde::{Deserialize, Serialize};

use super::Registry;
use crate::domain::Rejection;

/// An agent.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Agent {
    /// Its slot.
    pub slot: Slot,
    /// The user whose it is.
    pub owner: Option<Digest>,
    /// Its name.
    pub name: Digest,
    /// Its own memory.
    pub memory: StreamId,
    /// What it attaches besides, in order, and whether it may write it.
    pub attached: Vec<(StreamId, bool)>,
}

impl Registry {
    pub(super) fn evolve_agents(&mut self, facts: &Facts) {
        match facts {
            Facts::AgentCreated(e) => {
                let (slot, owner, name, attached) = (e.slot, e.owner, e.name_digest, Vec::new());
                self.agents.insert(e.agent, Agent { slot, owner, name, memory: e.memory, attached });
                self.agent_names.insert((owner, name), e.agent);
            }
            Facts::AgentUpdated(e) => {
                if let (Some(agent), Some(name)) = (self.agents.get_mut(&e.agent), e.name_digest) {
                    self.agent_names.remove(&(agent.owner, agent.name));
                    agent.name = name;
                    self.agent_names.insert((agent.owner, name), e.agent);
                }
            }
            Facts::Attached(e) => {
                if let Some(agent) = self.agents.get_mut(&e.agent) {
                    agent.attached.clone_from(&e.memories);
                }
            }
            Facts::AgentDeleted(e) => {
                if let Some(agent) = self.agents.remove(&e.agent) {
                    self.agent_names.remove(&(agent.owner, agent.name));
                    // If it is restored it is a memory like any other.
                    self.change(agent.memory, |memory| memory.agent = None);
                }
            }
            _ => {}
        }
    }

    pub(super) fn agent(&self, agent: AgentId) -> Result<&Agent, Rejection> {
        self.agents.get(&agent).ok_or(Rejection::NoAgent)
    }

    /// Refuses what some agent attaches.
    pub(super) fn unattached(&self, memory: StreamId) -> Result<(), Rejection> {
        let attaches = |agent: &Agent| agent.attached.iter().any(|(attached, _)| *attached == memory);
        let agents: Vec<_> = self.agents.iter().filter(|(_, agent)| attaches(agent)).map(|(id, _)| *id).collect();
        if agents.is_empty() { Ok(()) } else { Err(Rejection::AttachedBy(agents)) }
    }
}
