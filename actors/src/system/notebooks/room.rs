//! Who acts, and what of a namespace's memories and agents is theirs to see, to read, to write and to change.

use std::sync::Arc;

use memlog_events::{
    ids::{AgentId, PARTITIONS, Partition, Scope, StreamId, StreamKey},
    log::Log,
};

use super::super::{
    Inner, System,
    command::refused,
    lookup::{RETRY_MS, broken, by, gone, place_of, uuid},
    past::Moment,
    validate,
};
use crate::{
    api::{Context, Error, error::Kind},
    domain::{Place, registry::Open},
    entity::Failure,
    view::notebook::{Agent, Entries, Memory, Roster, View},
};

/// A namespace's registry, and who acts in it.
pub(super) struct Room {
    pub(super) place: Place,
    pub(super) roster: Arc<View<Roster>>,
    pub(super) acting: Acting,
}

/// The user and the agent that a call acts for.
#[derive(Clone, Debug)]
pub(super) struct Acting {
    /// None is the account itself. A user's agent always acts for that user.
    pub(super) user: Option<String>,
    pub(super) agent: Option<Agent>,
}

/// How a request names a memory or an agent.
#[derive(Clone, Copy)]
pub(super) enum Asked<'a> {
    Id(&'a str),
    Name(&'a str),
}

impl<'a> Asked<'a> {
    /// A memory by `id` or by `name`, one of them.
    pub(super) fn memory(id: Option<&'a String>, name: Option<&'a String>) -> Result<Self, Error> {
        Self::of(id, name, validate::notebook)
    }

    /// An agent, in the same way.
    pub(super) fn agent(id: Option<&'a String>, name: Option<&'a String>) -> Result<Self, Error> {
        Self::of(id, name, validate::agent)
    }

    /// By an id alone, which the request has in this field.
    pub(super) fn by_id(field: &str, id: &'a str) -> Result<Self, Error> {
        validate::id(field, id)?;
        Ok(Self::Id(id))
    }

    fn of(
        id: Option<&'a String>,
        name: Option<&'a String>,
        check: impl FnOnce(&str) -> Result<(), Error>,
    ) -> Result<Self, Error> {
        match (id, name) {
            (Some(id), None) => Self::by_id("id", id),
            (None, Some(name)) => check(name).map(|()| Self::Name(name)),
            _ => Err(Error::invalid("id", "give either id or name")),
        }
    }

    pub(super) fn missing(self, what: &str) -> Error {
        let (field, asked) = match self {
            Self::Id(id) => ("id", id),
            Self::Name(name) => ("name", name),
        };
        Error::new(Kind::NotFound, format!("no such {what}: {asked}")).with(field, asked)
    }
}

fn forbidden(message: &str) -> Error {
    Error::new(Kind::Permission, message)
}

impl Acting {
    fn of(context: &Context, roster: &Roster) -> Result<Self, Error> {
        let user = context.caller.user.clone();
        let Some(id) = &context.caller.agent else { return Ok(Self { user, agent: None }) };
        let agent = uuid(id).and_then(|id| roster.agent(AgentId(id)));
        // Another user's agent is nobody.
        let agent = agent.filter(|agent| agent.user.is_none() || user.is_none() || agent.user == user);
        let agent = agent.ok_or_else(|| Error::not_found("agent", id))?.clone();
        Ok(Self { user: agent.user.clone().or(user), agent: Some(agent) })
    }

    /// Whose things are found: the account sees everyone's, a user the account's and the own.
    fn sees(&self, owner: Option<&String>) -> bool {
        owner.is_none() || self.user.is_none() || owner == self.user.as_ref()
    }

    /// Whose agents are shown beside a memory.
    pub(super) fn sees_agent(&self, agent: &Agent) -> bool {
        self.sees(agent.user.as_ref())
    }

    /// Whether an agent that acts reads a memory, and whether it writes it.
    fn attaches(&self, memory: StreamId) -> Option<bool> {
        let Some(agent) = &self.agent else { return Some(true) };
        if agent.memory == memory {
            return Some(true);
        }
        agent.attached.iter().find(|(id, _)| *id == memory).map(|(_, writes)| *writes)
    }

    /// Whether an agent that acts may know of a memory at all.
    pub(super) fn knows(&self, memory: StreamId) -> bool {
        self.attaches(memory).is_some()
    }

    /// The memory that is meant, if it is there for whoever acts.
    pub(super) fn memory(&self, roster: &Roster, asked: Asked<'_>) -> Result<Memory, Error> {
        let found = match asked {
            Asked::Id(id) => uuid(id).and_then(|id| roster.memory(StreamId(id))),
            Asked::Name(name) => {
                let own = self.user.as_deref().and_then(|user| roster.memory_named(Some(user), name));
                own.or_else(|| roster.memory_named(None, name))
            }
        };
        let found = found.filter(|memory| self.sees(memory.user.as_ref())).ok_or_else(|| asked.missing("memory"))?;
        if self.knows(found.id) { Ok(found.clone()) } else { Err(forbidden("the agent does not attach this memory")) }
    }

    /// The account lists users' memories, and reads in them only acting for the user.
    pub(super) fn may_read(&self, memory: &Memory) -> Result<(), Error> {
        if memory.user.is_none() || memory.user == self.user {
            return Ok(());
        }
        Err(forbidden("entries of a user's memory are read only acting for that user"))
    }

    /// Who reads may write, but for an agent, which needs it attached so or its own.
    pub(super) fn may_write(&self, memory: &Memory) -> Result<(), Error> {
        self.may_read(memory)?;
        match self.attaches(memory.id) {
            Some(true) => Ok(()),
            _ => Err(forbidden("the agent attaches this memory without writes")),
        }
    }

    /// Name, description and the trash are its owner's.
    pub(super) fn may_change(&self, memory: &Memory) -> Result<(), Error> {
        if memory.user != self.user {
            return Err(forbidden("the memory is not of this caller's scope"));
        }
        self.may_write(memory)
    }

    /// The account may delete what it may not change.
    pub(super) fn may_delete(&self, memory: &Memory) -> Result<(), Error> {
        if self.user.is_none() && self.agent.is_none() { Ok(()) } else { self.may_change(memory) }
    }

    /// What no agent does: create memories and agents, change them, look into the trash.
    pub(super) fn is_nobodys_agent(&self) -> Result<(), Error> {
        match self.agent {
            None => Ok(()),
            Some(_) => Err(forbidden("this is not an agent's to do")),
        }
    }

    /// The agent that is meant, if it is there for whoever acts.
    pub(super) fn agent(&self, roster: &Roster, asked: Asked<'_>) -> Result<Agent, Error> {
        let found = match asked {
            Asked::Id(id) => uuid(id).and_then(|id| roster.agent(AgentId(id))),
            Asked::Name(name) => {
                let own = self.user.as_deref().and_then(|user| roster.agent_named(Some(user), name));
                own.or_else(|| roster.agent_named(None, name))
            }
        };
        let found = found.filter(|agent| self.sees_agent(agent)).ok_or_else(|| asked.missing("agent"))?;
        match &self.agent {
            Some(acting) if acting.id != found.id => Err(forbidden("an agent looks after itself alone")),
            _ => Ok(found.clone()),
        }
    }

    /// The layers that are read of a memory, the one that comes first and is written before the other.
    pub(super) fn layers(&self, memory: &Memory) -> Vec<Option<String>> {
        match &self.user {
            Some(_) if memory.user.is_none() => vec![self.user.clone(), None],
            user => vec![user.clone()],
        }
    }
}

/// Registries are created at the same time more often than not; a few tries settle it.
const TRIES: usize = 4;

impl Inner {
    pub(in crate::system) fn find_registry(&self, context: &Context) -> Result<Option<Place>, Error> {
        let digest = registry_digest(&self.environment.log, context);
        Ok(self.environment.log.claim(digest).map_err(broken)?.as_ref().map(place_of))
    }

    pub(in crate::system) async fn open_registry(&self, context: &Context) -> Result<Place, Error> {
        let log = &self.environment.log;
        let claim = registry_digest(log, context);
        for _ in 0..TRIES {
            if let Some(place) = self.find_registry(context)? {
                return Ok(place);
            }
            let scope = Scope(self.environment.uuid());
            let partition = Partition(u16::from_be_bytes([claim.0[0], claim.0[1]]) % PARTITIONS);
            let scope_slot = *log.reserve(1).map_err(broken)?.first().ok_or_else(gone)?;
            let place = Place { key: StreamKey { partition, scope, stream: scope.own_stream() }, scope_slot };
            let (namespace, namespace_digest) = (context.namespace.clone(), self.namespace(context));
            let open = Open { namespace, namespace_digest, claim, by: by(context) };
            match self.registries.execute(place, open, None).await {
                Ok(_) => return Ok(place),
                Err(Failure::Taken(holder)) => return Ok(place_of(&holder)),
                Err(Failure::Rejected(_)) => {}
                Err(failure) => return Err(refused(failure)),
            }
        }
        Err(gone())
    }
}

fn registry_digest(log: &Log, context: &Context) -> memlog_events::ids::Digest {
    log.digest_names(&[b"registry", context.namespace.as_bytes()])
}

impl Room {
    /// The stream of a memory's entries.
    pub(super) fn notebook(&self, memory: StreamId) -> Place {
        notebook(&self.place, memory)
    }
}

/// The stream of a memory's entries.
pub(super) fn notebook(registry: &Place, memory: StreamId) -> Place {
    Place { key: StreamKey { stream: memory, ..registry.key }, scope_slot: registry.scope_slot }
}

/// A view that could not be folded.
pub(in crate::system) fn unread(error: String) -> Error {
    Error::unavailable(format!("the log could not be read: {error}"), RETRY_MS)
}

/// Entries at a moment.
pub(super) enum Seen {
    Present(Arc<View<Entries>>),
    Past(Entries),
}

impl Seen {
    pub(super) fn read<T>(&self, look: impl FnOnce(&Entries) -> T) -> T {
        match self {
            Self::Present(view) => view.read(look),
            Self::Past(entries) => look(entries),
        }
    }
}

impl System {
    /// The namespace's registry; none if nothing was ever created in it.
    pub(super) async fn room(&self, context: &Context) -> Result<Option<Room>, Error> {
        match self.inner.find_registry(context)? {
            Some(place) => self.room_at(context, place).await.map(Some),
            None => match &context.caller.agent {
                Some(agent) => Err(Error::not_found("agent", agent)),
                None => Ok(None),
            },
        }
    }

    /// The same, begun if it is not there yet.
    pub(super) async fn open_room(&self, context: &Context) -> Result<Room, Error> {
        match self.room(context).await? {
            Some(room) => Ok(room),
            None => self.room_at(context, self.inner.open_registry(context).await?).await,
        }
    }

    /// The room of a command that was carried out before. Whoever acted then may be gone, and hears the reply all the same.
    pub(super) async fn room_before(&self, context: &Context) -> Result<Room, Error> {
        let place = self.inner.find_registry(context)?.ok_or_else(gone)?;
        let roster = self.roster(&place).await?;
        let acting = roster.read(|roster| Acting::of(context, roster));
        let acting = acting.unwrap_or_else(|_| Acting { user: context.caller.user.clone(), agent: None });
        Ok(Room { place, roster, acting })
    }

    async fn room_at(&self, context: &Context, place: Place) -> Result<Room, Error> {
        let roster = self.roster(&place).await?;
        let acting = roster.read(|roster| Acting::of(context, roster))?;
        Ok(Room { place, roster, acting })
    }

    /// The registry's view, with everything that was acknowledged before this call.
    pub(super) async fn roster(&self, registry: &Place) -> Result<Arc<View<Roster>>, Error> {
        self.inner.shelf.roster(registry.key, self.now()).await.map_err(unread)
    }

    /// The registry as it was.
    pub(super) async fn past_roster(&self, registry: &Place, moment: Moment) -> Result<Option<Roster>, Error> {
        match moment {
            Moment::Now => Ok(None),
            Moment::Past(at) => self.inner.shelf.past(registry.key, at).await.map(Some).map_err(unread),
        }
    }

    /// A notebook's entries.
    pub(super) async fn entries_at(&self, notebook: &Place, moment: Moment) -> Result<Seen, Error> {
        let shelf = &self.inner.shelf;
        match moment {
            Moment::Now => shelf.entries(notebook.key, self.now()).await.map(Seen::Present),
            Moment::Past(at) => shelf.past(notebook.key, at).await.map(Seen::Past),
        }
        .map_err(unread)
    }

    /// The memory that is meant, as it was then. What is not there any more, or not whoever acts's, is not to be had of then either.
    pub(super) async fn memory_at(&self, room: &Room, asked: Asked<'_>, moment: Moment) -> Result<Memory, Error> {
        let Some(past) = self.past_roster(&room.place, moment).await? else {
            return room.roster.read(|roster| room.acting.memory(roster, asked));
        };
        let memory = room.acting.memory(&past, asked)?;
        match room.roster.read(|roster| roster.memory(memory.id).is_some()) {
            true => Ok(memory),
            false => Err(asked.missing("memory")),
        }
    }
}
