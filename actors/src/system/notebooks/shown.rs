//! Memories, entries and agents as clients see them.

use memlog_events::{
    event::{Content, EntrySavedContentV1},
    ids::{Digest, Micros, Slot, StreamKey, Version},
    log::Sealed,
};
use uuid::Uuid;

use super::{
    super::{
        System,
        command::Before,
        lookup::{broken, gone},
        past::Moment,
    },
    room::{Acting, Room, notebook},
};
use crate::{
    api::{
        Error,
        agent::{self, AttachedTo, Attachment},
        author,
        memory::{Entry, Memory},
        trash,
    },
    domain::{Place, notebook::Address},
    view::notebook::{self as view, Kept, Roster},
};

/// The agents that attach a memory, as far as whoever acts may see them.
pub(super) fn attached_to(roster: &Roster, memory: &view::Memory, acting: &Acting) -> Vec<AttachedTo> {
    let seen = roster.attached_to(memory.id).filter(|(agent, _)| acting.sees_agent(agent));
    seen.map(|(agent, writes)| AttachedTo { id: agent.id.to_string(), name: agent.name.clone(), writes }).collect()
}

/// A thing in the trash.
pub(super) fn trashed(memory: &view::Memory, deleted_at: Micros, expires_at: Micros) -> trash::Trashed {
    trash::Trashed {
        id: memory.id.to_string(),
        kind: if memory.was_own { trash::Kind::AgentMemory } else { trash::Kind::Memory },
        name: memory.name.clone(),
        deleted_at: deleted_at.into(),
        expires_at: expires_at.into(),
    }
}

/// An entry as lists show it.
pub(super) fn listed(entry: &view::Entry, content: Option<String>) -> Entry {
    Entry {
        name: entry.name.clone(),
        description: Some(entry.description.clone()),
        content,
        version: entry.version,
        updated_at: entry.updated_at.into(),
        updated_by: Some(entry.updated_by.clone()),
        user_id: entry.user.clone(),
    }
}

/// A version of an entry and what it says, if that is not forgotten.
pub(super) struct Told {
    pub(super) content: Option<String>,
    pub(super) description: Option<String>,
    pub(super) by: Option<String>,
}

impl System {
    /// A memory with its counts.
    pub(super) async fn shown_memory(
        &self,
        registry: &Place,
        memory: view::Memory,
        attached_to: Vec<AttachedTo>,
        moment: Moment,
    ) -> Result<Memory, Error> {
        let entries = self.entries_at(&notebook(registry, memory.id), moment).await?;
        let (entry_count, changed) = entries.read(|entries| (entries.count() as u64, entries.updated_at));
        Ok(Memory {
            id: memory.id.to_string(),
            name: memory.name,
            description: memory.description,
            user_id: memory.user,
            agent_id: memory.agent.map(|agent| agent.to_string()),
            attached_to,
            entry_count,
            created_at: memory.created_at.into(),
            updated_at: changed.map_or(memory.updated_at, |changed| changed.max(memory.updated_at)).into(),
        })
    }

    /// The memory of a reply to a command that was just carried out.
    pub(super) async fn memory_now(&self, room: &Room, id: Uuid) -> Result<Memory, Error> {
        let roster = self.roster(&room.place).await?;
        let found = roster.read(|roster| {
            let memory = roster.memory(memlog_events::ids::StreamId(id))?.clone();
            let attached = attached_to(roster, &memory, &room.acting);
            Some((memory, attached))
        });
        // Deleted again by somebody else already.
        let (memory, attached) = found.ok_or_else(gone)?;
        self.shown_memory(&room.place, memory, attached, Moment::Now).await
    }

    /// The memory of a replayed reply: as it was then, or what the client itself said of it if it is gone.
    pub(super) async fn memory_before<T>(
        &self,
        room: &Room,
        id: Uuid,
        before: &Before<T>,
        name: Option<String>,
    ) -> Result<Memory, Error> {
        let past: Roster = self.inner.shelf.past(room.place.key, before.at).await.map_err(super::room::unread)?;
        let moment = self.moment_at(before.at);
        if let Some(memory) = past.memory(memlog_events::ids::StreamId(id)) {
            let attached = attached_to(&past, memory, &room.acting);
            return self.shown_memory(&room.place, memory.clone(), attached, moment).await;
        }
        Ok(Memory {
            id: id.to_string(),
            name,
            description: None,
            user_id: room.acting.user.clone(),
            agent_id: None,
            attached_to: Vec::new(),
            entry_count: 0,
            created_at: before.time.into(),
            updated_at: before.time.into(),
        })
    }

    /// Where an entry is found.
    pub(super) fn address(&self, slot: Slot, user: Option<&String>, name: &str) -> Result<Address, Error> {
        let layer = self.layer(slot, user)?;
        Ok((layer, self.digest(slot, &[b"entry", name.as_bytes()])?))
    }

    /// A layer's digest.
    pub(super) fn layer(&self, slot: Slot, user: Option<&String>) -> Result<Option<Digest>, Error> {
        user.map(|user| self.digest(slot, &[b"layer", user.as_bytes()])).transpose()
    }

    fn digest(&self, slot: Slot, parts: &[&[u8]]) -> Result<Digest, Error> {
        self.inner.environment.log.digest_in(slot, parts).map_err(broken)?.ok_or_else(gone)
    }

    /// What an event of a notebook says; none if it was forgotten.
    pub(super) fn saved(&self, notebook: StreamKey, at: Version) -> Result<Option<EntrySavedContentV1>, Error> {
        let log = &self.inner.environment.log;
        let Some(event) = log.at(notebook, at).map_err(broken)? else { return Ok(None) };
        Ok(match log.open_content(&event).map_err(broken)? {
            Sealed::Open(Content::EntrySaved(content)) => Some(content),
            _ => None,
        })
    }

    /// What a version says.
    pub(super) fn told(&self, notebook: StreamKey, kept: &Kept) -> Result<Told, Error> {
        let Some(saved) = self.saved(notebook, kept.at)? else {
            return Ok(Told { content: None, description: None, by: None });
        };
        let description = match saved.description {
            Some(description) => Some(description),
            None => self.saved(notebook, kept.described)?.and_then(|saved| saved.description),
        };
        Ok(Told { content: Some(saved.content), description, by: Some(author(&saved.by)) })
    }

    /// An agent with its instructions.
    pub(super) fn shown_agent(&self, registry: &Place, agent: &view::Agent) -> Result<agent::Agent, Error> {
        let log = &self.inner.environment.log;
        let event = agent.instructions.map(|at| log.at(registry.key, at)).transpose().map_err(broken)?.flatten();
        let content = event.map(|event| log.open_content(&event)).transpose().map_err(broken)?;
        let instructions = match content {
            Some(Sealed::Open(Content::AgentCreated(content))) => content.instructions,
            Some(Sealed::Open(Content::AgentUpdated(content))) => content.instructions,
            _ => None,
        };
        let attachment = |(memory, writes): &(memlog_events::ids::StreamId, bool)| Attachment {
            memory: memory.to_string(),
            writes: *writes,
        };
        Ok(agent::Agent {
            id: agent.id.to_string(),
            name: agent.name.clone(),
            instructions,
            memory_id: agent.memory.to_string(),
            memories: agent.attached.iter().map(attachment).collect(),
            user_id: agent.user.clone(),
            created_at: agent.created_at.into(),
            updated_at: agent.updated_at.into(),
        })
    }
}
