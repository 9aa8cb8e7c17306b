//! What happens to a namespace's registry: its memories (named notebooks), its agents and what they attach, its trash.
//!
//! Everything about one memory, here and in its notebook's stream, is sealed by the memory's slot, and everything about one
//! agent by the agent's: either is erased by one event and one overwritten slot.

use serde::{Deserialize, Serialize};

use super::ByV1;
use crate::ids::{AgentId, Digest, Micros, Slot, StreamId};

/// `registry_created`, the first event of a namespace's registry, which is the own stream of the scope that its notebooks lie in.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RegistryCreatedV1 {
    /// The registry's slot.
    pub slot: Slot,
    /// Keyed digest of the namespace.
    pub namespace: [u8; 16],
}

/// Whose registry it is.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RegistryCreatedContentV1 {
    /// The namespace's token.
    pub namespace: String,
    /// Who was the first to need it.
    pub by: ByV1,
}

/// `memory_created`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct MemoryCreatedV1 {
    /// The memory, and the stream of its entries.
    pub memory: StreamId,
    /// Its slot.
    pub slot: Slot,
    /// Of the user whose it is; none is the account's. Keyed by the registry's slot.
    pub owner: Option<Digest>,
    /// The agent whose own memory it is.
    pub agent: Option<AgentId>,
    /// Of its name, which an agent's own has none of. Keyed by the registry's slot.
    pub name_digest: Option<Digest>,
}

/// What it is called.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct MemoryCreatedContentV1 {
    /// The name.
    pub name: Option<String>,
    /// One line.
    pub description: Option<String>,
    /// The user whose it is.
    pub user_id: Option<String>,
    /// Who created it.
    pub by: ByV1,
}

/// `memory_updated`: another name, another description, or both.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct MemoryUpdatedV1 {
    /// The memory.
    pub memory: StreamId,
    /// Of the new name, if it has one.
    pub name_digest: Option<Digest>,
}

/// What changed.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct MemoryUpdatedContentV1 {
    /// The new name; none keeps the old one.
    pub name: Option<String>,
    /// The new description, an empty one being none; none keeps the old one.
    pub description: Option<String>,
    /// Who changed it.
    pub by: ByV1,
}

/// `trashed`: out of sight with all that is in it, until it is restored or purged.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct TrashedV1 {
    /// The memory.
    pub memory: StreamId,
    /// A slot that lives as long as it lies in the trash: the expiry hangs on it.
    pub ticket: Slot,
    /// When it is purged.
    pub expires_at: Micros,
}

/// `restored`: back from the trash; erases `ticket`, so that nothing expires any more.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RestoredV1 {
    /// The memory.
    pub memory: StreamId,
    /// Of its time in the trash.
    pub ticket: Slot,
}

/// `purged`: gone for good, with every entry and every version; erases `slot` and `ticket`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PurgedV1 {
    /// The memory.
    pub memory: StreamId,
    /// Its slot.
    pub slot: Slot,
    /// Of its time in the trash.
    pub ticket: Slot,
}

/// `agent_created`; its own memory is created with it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct AgentCreatedV1 {
    /// The agent.
    pub agent: AgentId,
    /// Its slot.
    pub slot: Slot,
    /// Of the user whose it is; none is the account's. Keyed by the registry's slot.
    pub owner: Option<Digest>,
    /// Of its name. Keyed by the registry's slot.
    pub name_digest: Digest,
    /// Its own memory.
    pub memory: StreamId,
}

/// What it is called and told.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct AgentCreatedContentV1 {
    /// The name.
    pub name: String,
    /// What it is told to do.
    pub instructions: Option<String>,
    /// The user whose it is.
    pub user_id: Option<String>,
    /// Who created it.
    pub by: ByV1,
}

/// `agent_updated`: another name, other instructions, or both.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct AgentUpdatedV1 {
    /// The agent.
    pub agent: AgentId,
    /// Of the new name, if it has one.
    pub name_digest: Option<Digest>,
}

/// What changed.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct AgentUpdatedContentV1 {
    /// The new name; none keeps the old one.
    pub name: Option<String>,
    /// The new instructions, empty ones being none; none keeps the old ones.
    pub instructions: Option<String>,
    /// Who changed it.
    pub by: ByV1,
}

/// `attached`: these memories, in this order, are all that the agent attaches from here on, besides its own.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct AttachedV1 {
    /// The agent.
    pub agent: AgentId,
    /// The memories, and whether it may write them.
    pub memories: Vec<(StreamId, bool)>,
    /// Those that it attached before and does not any more.
    pub detached: Vec<StreamId>,
}

/// `agent_deleted`; erases `slot`. Its own memory is trashed with it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct AgentDeletedV1 {
    /// The agent.
    pub agent: AgentId,
    /// Its slot.
    pub slot: Slot,
}
