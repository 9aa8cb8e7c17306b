//! `memory.create`, `memory.get`, `memory.list`, `memory.update`, `memory.delete`.

use memlog_events::ids::{AgentId, Micros};
use uuid::Uuid;

use super::{
    super::{
        System,
        command::{Begun, refused},
        cursor::Cursor,
        lookup::{by, uuid},
        past::Moment,
        validate,
    },
    room::{Asked, Room},
    shown::{attached_to, trashed},
};
use crate::{
    api::{
        Answer, Context, Error,
        agent::AttachedTo,
        error::Kind,
        memory::{Create, Delete, Deleted, Get, List, Listed, OneMemory, Update},
        trash,
    },
    domain::{
        Rejection,
        registry::{CreateMemory, Named, Trash, Trashed, UpdateMemory},
    },
    entity::{Failure, Key},
    limits::LOGIN_CHARS_MAX,
    view::notebook::{Memory, Roster},
};

/// Whose things a list shows: none are all of them.
type Owners = Option<Vec<Option<String>>>;

/// Where a page of things in the order of their creation begins.
pub(super) fn spot(cursor: Option<&Cursor>) -> Option<(Micros, Uuid)> {
    cursor.and_then(|cursor| Some((Micros(cursor.micros), uuid(&cursor.id)?)))
}

/// Where the page after one begins, if there was one thing more than it shows.
pub(super) fn next(moment: Moment, more: bool, last: Option<(Micros, Uuid)>) -> Option<String> {
    let (micros, id) = last.filter(|_| more)?;
    Some(Cursor { seq: moment.pinned(), micros: micros.0, id: id.to_string() }.to_string())
}

impl System {
    /// `memory.create`
    pub async fn memory_create(&self, context: &Context, request: Create) -> Result<Answer<OneMemory>, Error> {
        validate::context(&self.inner, context)?;
        validate::notebook(&request.name)?;
        validate::description(request.description.as_deref())?;
        let Create { name, description } = request;
        self.create(context, name, description, false).await
    }

    async fn create(
        &self,
        context: &Context,
        name: String,
        description: Option<String>,
        adopt: bool,
    ) -> Result<Answer<OneMemory>, Error> {
        let once = match self.begin::<Named>(context).await? {
            Begun::Before(before) => {
                let room = self.room_before(context).await?;
                let memory = self.memory_before(&room, before.answer.0, &before, Some(name)).await?;
                return Ok(Answer { reply: OneMemory { memory }, replayed: true });
            }
            Begun::Now(once) => once,
        };
        if let Some(room) = self.room(context).await? {
            room.acting.is_nobodys_agent()?;
        }
        let room = self.open_room(context).await?;
        let user = room.acting.user.clone();
        let command = CreateMemory { name, description, user, adopt, by: by(context) };
        let made = self.inner.registries.execute(room.place, command, once.key).await.map_err(refused)?;
        let memory = self.memory_now(&room, made.answer.0).await?;
        Ok(Answer::fresh(OneMemory { memory }))
    }

    /// `memory.get`
    pub async fn memory_get(&self, context: &Context, request: Get) -> Result<Answer<OneMemory>, Error> {
        validate::context(&self.inner, context)?;
        let asked = Asked::memory(request.id.as_ref(), request.name.as_ref())?;
        validate::description(request.description.as_deref())?;
        let moment = self.moment(request.as_of)?;
        if request.create_if_missing == Some(true) {
            let Asked::Name(name) = asked else {
                return Err(Error::invalid("id", "create_if_missing goes with a name"));
            };
            validate::notebook(name)?;
            // An agent finds what is there and creates nothing.
            if request.as_of.is_none() && context.caller.agent.is_none() {
                return self.create(context, name.to_owned(), request.description, true).await;
            }
        }
        let room = self.room(context).await?.ok_or_else(|| asked.missing("memory"))?;
        let memory = self.memory_at(&room, asked, moment).await?;
        let past = self.past_roster(&room.place, moment).await?;
        let attach = |roster: &Roster| attached_to(roster, &memory, &room.acting);
        let attached = past.as_ref().map_or_else(|| room.roster.read(attach), attach);
        let memory = self.shown_memory(&room.place, memory, attached, moment).await?;
        Ok(Answer::fresh(OneMemory { memory }))
    }

    /// `memory.list`
    pub async fn memory_list(&self, context: &Context, request: List) -> Result<Answer<Listed>, Error> {
        validate::context(&self.inner, context)?;
        let limit = validate::page(request.limit)?;
        let cursor = request.cursor.as_deref().map(Cursor::parse).transpose()?;
        let moment = self.moment_of(cursor.as_ref(), request.as_of)?;
        let Some(room) = self.room(context).await? else {
            owners(context.caller.user.as_ref(), request.user_filter.as_deref())?;
            return Ok(Answer::fresh(Listed { memories: Vec::new(), cursor: None }));
        };
        let owners = owners(room.acting.user.as_ref(), request.user_filter.as_deref())?;
        let past = self.past_roster(&room.place, moment).await?;
        let rows = room.roster.read(|now| {
            let roster = past.as_ref().unwrap_or(now);
            // What is not there any more is not to be had of then either.
            let keep = |memory: &Memory| now.memory(memory.id).is_some() && room.acting.knows(memory.id);
            let page = roster.memories(owners.as_deref(), spot(cursor.as_ref()), limit + 1, keep);
            let row = |memory: &Memory| (memory.clone(), attached_to(roster, memory, &room.acting));
            page.into_iter().map(row).collect::<Vec<_>>()
        });
        self.listed(&room, rows, limit, moment).await.map(Answer::fresh)
    }

    async fn listed(
        &self,
        room: &Room,
        mut rows: Vec<(Memory, Vec<AttachedTo>)>,
        limit: usize,
        moment: Moment,
    ) -> Result<Listed, Error> {
        let more = rows.len() > limit;
        rows.truncate(limit);
        let cursor = next(moment, more, rows.last().map(|(memory, _)| (memory.created_at, memory.id.0)));
        let mut memories = Vec::with_capacity(rows.len());
        for (memory, attached) in rows {
            memories.push(self.shown_memory(&room.place, memory, attached, moment).await?);
        }
        Ok(Listed { memories, cursor })
    }

    /// `memory.update`
    pub async fn memory_update(&self, context: &Context, request: Update) -> Result<Answer<OneMemory>, Error> {
        validate::context(&self.inner, context)?;
        request.name.as_deref().map(validate::notebook).transpose()?;
        validate::change("description", request.description.as_deref())?;
        let asked = Asked::by_id("id", &request.id)?;
        let once = match self.begin::<Named>(context).await? {
            Begun::Before(before) => {
                let room = self.room_before(context).await?;
                let memory = self.memory_before(&room, before.answer.0, &before, request.name).await?;
                return Ok(Answer { reply: OneMemory { memory }, replayed: true });
            }
            Begun::Now(once) => once,
        };
        let room = self.room(context).await?.ok_or_else(|| asked.missing("memory"))?;
        let memory = room.roster.read(|roster| room.acting.memory(roster, asked))?;
        room.acting.may_change(&memory)?;
        let Update { name, description, .. } = request.clone();
        let command = UpdateMemory { memory: memory.id, name, description, by: by(context) };
        match self.inner.registries.execute(room.place, command, once.key).await {
            Ok(_) => {}
            Err(Failure::Rejected(Rejection::OwnMemory(_))) => {
                return Err(Error::invalid("name", "an agent's own memory takes no name"));
            }
            Err(Failure::Rejected(Rejection::NoMemory)) => return Err(asked.missing("memory")),
            Err(failure) => return Err(refused(failure)),
        }
        let memory = self.memory_now(&room, memory.id.0).await?;
        Ok(Answer::fresh(OneMemory { memory }))
    }

    /// `memory.delete`
    pub async fn memory_delete(&self, context: &Context, request: Delete) -> Result<Answer<Deleted>, Error> {
        validate::context(&self.inner, context)?;
        let asked = Asked::by_id("id", &request.id)?;
        let key = match self.begin::<Trashed>(context).await? {
            Begun::Before(before) => {
                let room = self.room_before(context).await?;
                let trash = trashed_before(&room, before.answer);
                return Ok(Answer { reply: Deleted { trash }, replayed: true });
            }
            Begun::Now(once) => once,
        };
        let room = self.room(context).await?.ok_or_else(|| asked.missing("memory"))?;
        let memory = room.roster.read(|roster| room.acting.memory(roster, asked))?;
        room.acting.may_delete(&memory)?;
        let gone = self.trash_memory(context, &room, &memory, key.key).await?;
        let trash = trashed(&memory, gone.deleted_at, gone.expires_at);
        Ok(Answer::fresh(Deleted { trash }))
    }

    async fn trash_memory(
        &self,
        context: &Context,
        room: &Room,
        memory: &Memory,
        key: Option<Key>,
    ) -> Result<Trashed, Error> {
        let command = Trash { memory: memory.id, by: by(context) };
        match self.inner.registries.execute(room.place, command, key).await {
            Ok(outcome) => Ok(outcome.answer),
            Err(Failure::Rejected(Rejection::AttachedBy(agents))) => {
                Err(self.still_attached(room, memory, &agents).await?)
            }
            Err(Failure::Rejected(Rejection::OwnMemory(agent))) => {
                let agents: Vec<_> = agent.into_iter().collect();
                Err(self.still_attached(room, memory, &agents).await?)
            }
            Err(Failure::Rejected(Rejection::NoMemory)) => Err(Asked::Id(&memory.id.to_string()).missing("memory")),
            Err(failure) => Err(refused(failure)),
        }
    }

    /// 409 with the agents that keep a memory from going, as far as whoever acts may see them.
    pub(super) async fn still_attached(
        &self,
        room: &Room,
        memory: &Memory,
        agents: &[AgentId],
    ) -> Result<Error, Error> {
        let roster = self.roster(&room.place).await?;
        let attached: Vec<AttachedTo> = roster.read(|roster| {
            let agents = agents.iter().filter_map(|id| roster.agent(*id)).filter(|it| room.acting.sees_agent(it));
            let writes = |agent: &crate::view::notebook::Agent| {
                agent.memory == memory.id || agent.attached.iter().any(|(id, writes)| *id == memory.id && *writes)
            };
            agents.map(|it| AttachedTo { id: it.id.to_string(), name: it.name.clone(), writes: writes(it) }).collect()
        });
        let message = match memory.agent {
            Some(_) => "an agent's own memory goes only with its agent",
            None => "agents attach the memory: take it out of their memories first",
        };
        let attached = serde_json::to_value(attached).map_err(super::super::lookup::broken)?;
        Ok(Error::new(Kind::Conflict, message).with("attached_to", attached))
    }
}

/// What went into the trash, as a replayed reply shows it: what was purged since has no name any more.
fn trashed_before(room: &Room, gone: Trashed) -> trash::Trashed {
    let shown = room.roster.read(|roster| {
        let memory = roster.any(memlog_events::ids::StreamId(gone.memory))?;
        Some(trashed(memory, gone.deleted_at, gone.expires_at))
    });
    shown.unwrap_or_else(|| trash::Trashed {
        id: gone.memory.to_string(),
        kind: trash::Kind::Memory,
        name: None,
        deleted_at: gone.deleted_at.into(),
        expires_at: gone.expires_at.into(),
    })
}

/// Whose memories a list shows: the caller's own and the account's, or those that the filter covers.
fn owners(user: Option<&String>, filter: Option<&str>) -> Result<Owners, Error> {
    let Some(filter) = filter else {
        return Ok(Some(user.map(|user| Some(user.clone())).into_iter().chain([None]).collect()));
    };
    let wanted = match filter {
        "none" => return Ok(Some(vec![None])),
        "all" => None,
        user => Some(user),
    };
    wanted.map_or(Ok(()), |user| validate::name("user_filter", user, LOGIN_CHARS_MAX))?;
    if user.is_some() && wanted != user.map(String::as_str) {
        return Err(Error::new(Kind::Permission, "another user's memories are not listed").with("field", "user_filter"));
    }
    Ok(wanted.map(|user| vec![Some(user.to_owned())]))
}
