//! The registry: one a namespace. Which memories (named notebooks) and agents there are, whose they are and what they are
//! called, which agent attaches which memory, and what lies in the trash. Entries are the notebooks' own.
//!
//! Whose a thing is never changes, so who may ask for a command is settled before it gets here; what can change under way, a name
//! taken, an attachment, the trash, is decided here. An account's things have no owner.

mod agents;
mod attach;
mod create_agent;
mod create_memory;
mod delete_agent;
mod open;
mod purge;
mod restore;
mod trash;
mod update_agent;
mod update_memory;

use std::collections::BTreeMap;

use memlog_events::{
    batch::Outcome,
    code::StreamKind,
    event::{ByV1, Facts},
    ids::{AgentId, Digest, Micros, Slot, StreamId},
};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

pub use agents::Agent;
pub use attach::Attachments;
pub use create_agent::CreateAgent;
pub use create_memory::CreateMemory;
pub use delete_agent::DeleteAgent;
pub use open::Open;
pub use purge::{Purge, PurgeDue, Purged};
pub use restore::Restore;
pub use trash::{Trash, Trashed};
pub use update_agent::UpdateAgent;
pub use update_memory::UpdateMemory;

use super::{Aggregate, Answered, Fact, Inputs, Place, Rejection};

/// A namespace's registry as decisions see it.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Registry {
    /// Its slot once it began.
    pub slot: Option<Slot>,
    /// All that are not purged.
    pub memories: BTreeMap<StreamId, Memory>,
    /// All that are not deleted.
    pub agents: BTreeMap<AgentId, Agent>,
    memory_names: BTreeMap<Owned, StreamId>,
    agent_names: BTreeMap<Owned, AgentId>,
}

/// A unique name: the digests of whose it is, and of the name.
type Owned = (Option<Digest>, Digest);

/// A memory.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Memory {
    /// Its slot.
    pub slot: Slot,
    /// The user whose it is.
    pub owner: Option<Digest>,
    /// The agent whose own it is.
    pub agent: Option<AgentId>,
    /// Its name.
    pub name: Option<Digest>,
    /// The ticket of its time in the trash, and when that is over.
    pub trashed: Option<(Slot, Micros)>,
}

impl Aggregate for Registry {
    const KIND: StreamKind = StreamKind::REGISTRY;
    const SNAPSHOT_LAYOUT: u16 = 1;

    fn evolve(&mut self, facts: &Facts, _: Micros) {
        match facts {
            Facts::RegistryCreated(e) => self.slot = Some(e.slot),
            Facts::MemoryCreated(e) => {
                let (slot, owner, name) = (e.slot, e.owner, e.name_digest);
                self.memories.insert(e.memory, Memory { slot, owner, agent: e.agent, name, trashed: None });
                self.take_name(e.memory);
            }
            Facts::MemoryUpdated(e) => {
                if e.name_digest.is_some() {
                    self.leave_name(e.memory);
                    self.change(e.memory, |memory| memory.name = e.name_digest);
                    self.take_name(e.memory);
                }
            }
            Facts::Trashed(e) => {
                self.leave_name(e.memory);
                self.change(e.memory, |memory| memory.trashed = Some((e.ticket, e.expires_at)));
            }
            Facts::Restored(e) => {
                self.change(e.memory, |memory| memory.trashed = None);
                self.take_name(e.memory);
            }
            Facts::Purged(e) => {
                // One that is purged again in a restored copy was in no trash there: its name and its agents still know it.
                if self.memories.get(&e.memory).is_some_and(|memory| memory.trashed.is_none()) {
                    self.leave_name(e.memory);
                    for agent in self.agents.values_mut() {
                        agent.attached.retain(|(memory, _)| *memory != e.memory);
                    }
                }
                self.memories.remove(&e.memory);
            }
            other => self.evolve_agents(other),
        }
    }
}

impl Registry {
    fn change(&mut self, memory: StreamId, change: impl FnOnce(&mut Memory)) {
        if let Some(memory) = self.memories.get_mut(&memory) {
            change(memory);
        }
    }

    fn owned_name(&self, memory: StreamId) -> Option<Owned> {
        let memory = self.memories.get(&memory)?;
        Some((memory.owner, memory.name?))
    }

    fn take_name(&mut self, memory: StreamId) {
        if let Some(name) = self.owned_name(memory) {
            self.memory_names.insert(name, memory);
        }
    }

    fn leave_name(&mut self, memory: StreamId) {
        if let Some(name) = self.owned_name(memory) {
            self.memory_names.remove(&name);
        }
    }

    /// A memory that is there and not in the trash.
    fn memory(&self, memory: StreamId) -> Result<&Memory, Rejection> {
        self.memories.get(&memory).filter(|memory| memory.trashed.is_none()).ok_or(Rejection::NoMemory)
    }

    /// A memory in the trash whose time there is not over, with its ticket.
    fn in_trash(&self, memory: StreamId, now: Micros) -> Result<(&Memory, Slot), Rejection> {
        let found = self.memories.get(&memory).ok_or(Rejection::NoMemory)?;
        let (ticket, _) = found.trashed.filter(|(_, until)| *until > now).ok_or(Rejection::NoMemory)?;
        Ok((found, ticket))
    }

    fn is_open(&self) -> Result<(), Rejection> {
        self.slot.map(drop).ok_or(Rejection::Gone)
    }
}

/// The id of what a command made, found or changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Named(pub Uuid);

impl Answered for Named {
    fn outcome(&self) -> Outcome {
        Outcome { ids: vec![self.0], numbers: Vec::new() }
    }

    fn from_outcome(outcome: &Outcome) -> Option<Self> {
        match outcome.ids.as_slice() {
            [id] => Some(Self(*id)),
            _ => None,
        }
    }
}

/// The digest of a user.
fn owner_digest(user: Option<&String>, place: &Place, inputs: &dyn Inputs) -> Option<Digest> {
    user.map(|user| inputs.digest(place.scope_slot, &[b"owner", user.as_bytes()]))
}

/// The digest of a memory's or an agent's name.
fn name_digest(name: &str, place: &Place, inputs: &dyn Inputs) -> Digest {
    inputs.digest(place.scope_slot, &[b"name", name.as_bytes()])
}

/// An event that has nothing to say but who did it, sealed by the slot of what it is about.
fn told(facts: Facts, by: &ByV1, place: &Place, slot: Slot) -> Fact {
    Fact { facts, content: super::by_alone(by, place, slot) }
}
