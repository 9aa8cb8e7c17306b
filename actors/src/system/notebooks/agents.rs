//! `agent.create`, `agent.get`, `agent.update`, `agent.delete`, `agent.list`.

use memlog_events::ids::{AgentId, StreamId};
use uuid::Uuid;

use super::{
    super::{
        System,
        command::{Before, Begun, refused},
        cursor::Cursor,
        lookup::{by, gone, uuid},
        validate,
    },
    memories::{next, spot},
    room::{Asked, Room, unread},
};
use crate::{
    api::{
        Answer, Context, Done, Error,
        agent::{Agent, Attachment, Create, Delete, Get, List, Listed, OneAgent, Update},
        error::Kind,
    },
    domain::{
        Rejection,
        registry::{Attachments, CreateAgent, DeleteAgent, Named, UpdateAgent},
    },
    entity::Failure,
    limits::ATTACHED_MAX,
    view::notebook::{self as view, Roster},
};

/// The memories that an agent is to attach, as far as ids can say it.
fn attachments(asked: &[Attachment]) -> Result<Attachments, Error> {
    if asked.len() > ATTACHED_MAX {
        return Err(Error::past_limit("memories", ATTACHED_MAX as u64, "memories"));
    }
    let mut memories: Attachments = Vec::with_capacity(asked.len());
    for (at, Attachment { memory, writes }) in asked.iter().enumerate() {
        validate::id(&format!("memories[{at}].memory"), memory)?;
        let id = uuid(memory)
            .map(StreamId)
            .ok_or_else(|| Asked::Id(memory).missing("memory").with("memory", memory.as_str()))?;
        if memories.iter().any(|(other, _)| *other == id) {
            return Err(Error::invalid("memories", "memories names one memory twice"));
        }
        memories.push((id, *writes));
    }
    Ok(memories)
}

/// A refusal that is about what is to be attached.
fn not_attached(failure: Failure) -> Error {
    match failure {
        Failure::Rejected(Rejection::NoMemory) => {
            Error::new(Kind::NotFound, "no such memory").with("field", "memories")
        }
        Failure::Rejected(Rejection::OwnMemory(_)) => {
            Error::invalid("memories", "an agent reads and writes its own memory without attaching it")
        }
        other => refused(other),
    }
}

impl System {
    /// `agent.create`
    pub async fn agent_create(&self, context: &Context, request: Create) -> Result<Answer<OneAgent>, Error> {
        validate::context(&self.inner, context)?;
        self.new_agent(context, request, false).await
    }

    async fn new_agent(&self, context: &Context, request: Create, adopt: bool) -> Result<Answer<OneAgent>, Error> {
        validate::agent(&request.name)?;
        validate::instructions(request.instructions.as_deref())?;
        let memories = attachments(request.memories.as_deref().unwrap_or_default())?;
        let once = match self.begin::<Named>(context).await? {
            Begun::Before(before) => return self.agent_replayed(context, &before, request.name).await,
            Begun::Now(once) => once,
        };
        match self.room(context).await? {
            Some(room) => room.acting.is_nobodys_agent()?,
            // Refused before anything is created: where there is no registry there is no memory.
            None if !memories.is_empty() => return Err(not_attached(Failure::Rejected(Rejection::NoMemory))),
            None => {}
        }
        let room = self.open_room(context).await?;
        let Create { name, instructions, .. } = request;
        let user = room.acting.user.clone();
        let command = CreateAgent { name, instructions, memories, user, adopt, by: by(context) };
        let made = self.inner.registries.execute(room.place, command, once.key).await.map_err(not_attached)?;
        let agent = self.agent_now(&room, made.answer.0).await?;
        Ok(Answer::fresh(OneAgent { agent }))
    }

    async fn agent_now(&self, room: &Room, id: Uuid) -> Result<Agent, Error> {
        let roster = self.roster(&room.place).await?;
        let agent = roster.read(|roster| roster.agent(AgentId(id)).cloned());
        // Deleted again by somebody else already.
        self.shown_agent(&room.place, &agent.ok_or_else(gone)?)
    }

    /// The agent of a replayed reply: as it was then, or by its name alone if that one is gone.
    async fn agent_replayed(
        &self,
        context: &Context,
        before: &Before<Named>,
        name: String,
    ) -> Result<Answer<OneAgent>, Error> {
        let room = self.room_before(context).await?;
        let id = before.answer.0;
        let past: Roster = self.inner.shelf.past(room.place.key, before.at).await.map_err(unread)?;
        let agent = match past.agent(AgentId(id)) {
            Some(agent) => self.shown_agent(&room.place, agent)?,
            None => Agent {
                id: id.to_string(),
                name,
                instructions: None,
                memory_id: past.own_memory(AgentId(id)).map(|memory| memory.to_string()).unwrap_or_default(),
                memories: Vec::new(),
                user_id: room.acting.user.clone(),
                created_at: before.time.into(),
                updated_at: before.time.into(),
            },
        };
        Ok(Answer { reply: OneAgent { agent }, replayed: true })
    }

    /// `agent.get`
    pub async fn agent_get(&self, context: &Context, request: Get) -> Result<Answer<OneAgent>, Error> {
        validate::context(&self.inner, context)?;
        let asked = Asked::agent(request.id.as_ref(), request.name.as_ref())?;
        let moment = self.moment(request.as_of)?;
        if request.create_if_missing == Some(true) {
            let Asked::Name(name) = asked else {
                return Err(Error::invalid("id", "create_if_missing goes with a name"));
            };
            // An agent finds what is there and creates nothing.
            if request.as_of.is_none() && context.caller.agent.is_none() {
                let Get { instructions, memories, .. } = request.clone();
                let create = Create { name: name.to_owned(), instructions, memories };
                return self.new_agent(context, create, true).await;
            }
        }
        let room = self.room(context).await?.ok_or_else(|| asked.missing("agent"))?;
        let agent = self.agent_at(&room, asked, moment).await?;
        let agent = self.shown_agent(&room.place, &agent)?;
        Ok(Answer::fresh(OneAgent { agent }))
    }

    /// The agent that is meant, as it was then, if it is still there.
    pub(super) async fn agent_at(
        &self,
        room: &Room,
        asked: Asked<'_>,
        moment: super::super::past::Moment,
    ) -> Result<view::Agent, Error> {
        let Some(past) = self.past_roster(&room.place, moment).await? else {
            return room.roster.read(|roster| room.acting.agent(roster, asked));
        };
        // One that was deleted since is in no roster of the past.
        room.acting.agent(&past, asked)
    }

    /// `agent.update`
    pub async fn agent_update(&self, context: &Context, request: Update) -> Result<Answer<OneAgent>, Error> {
        validate::context(&self.inner, context)?;
        request.name.as_deref().map(validate::agent).transpose()?;
        validate::instructions(request.instructions.as_deref())?;
        let memories = request.memories.as_deref().map(attachments).transpose()?;
        let asked = Asked::by_id("id", &request.id)?;
        let once = match self.begin::<Named>(context).await? {
            Begun::Before(before) => {
                return self.agent_replayed(context, &before, request.name.unwrap_or_default()).await;
            }
            Begun::Now(once) => once,
        };
        let (room, agent) = self.changeable(context, asked, false).await?;
        let Update { name, instructions, .. } = request.clone();
        let command = UpdateAgent { agent: agent.id, name, instructions, memories, by: by(context) };
        match self.inner.registries.execute(room.place, command, once.key).await {
            Ok(_) => {}
            Err(Failure::Rejected(Rejection::NoAgent)) => return Err(asked.missing("agent")),
            Err(failure) => return Err(not_attached(failure)),
        }
        let agent = self.agent_now(&room, agent.id.0).await?;
        Ok(Answer::fresh(OneAgent { agent }))
    }

    /// An agent is changed by whose it is; the account may also delete a user's, as it may a user's memory.
    async fn changeable(
        &self,
        context: &Context,
        asked: Asked<'_>,
        deletes: bool,
    ) -> Result<(Room, view::Agent), Error> {
        let room = self.room(context).await?.ok_or_else(|| asked.missing("agent"))?;
        room.acting.is_nobodys_agent()?;
        let agent = room.roster.read(|roster| room.acting.agent(roster, asked))?;
        let by_account = deletes && room.acting.user.is_none();
        if agent.user != room.acting.user && !by_account {
            return Err(Error::new(Kind::Permission, "the agent is not of this caller's scope"));
        }
        Ok((room, agent))
    }

    /// `agent.delete`
    pub async fn agent_delete(&self, context: &Context, request: Delete) -> Result<Answer<Done>, Error> {
        validate::context(&self.inner, context)?;
        let asked = Asked::by_id("id", &request.id)?;
        let once = match self.begin::<Named>(context).await? {
            Begun::Before(_) => return Ok(Answer { reply: Done {}, replayed: true }),
            Begun::Now(once) => once,
        };
        let (room, agent) = self.changeable(context, asked, true).await?;
        let command = DeleteAgent { agent: agent.id, by: by(context) };
        match self.inner.registries.execute(room.place, command, once.key).await {
            Ok(_) => Ok(Answer::fresh(Done {})),
            Err(Failure::Rejected(Rejection::NoAgent)) => Err(asked.missing("agent")),
            Err(Failure::Rejected(Rejection::AttachedBy(agents))) => {
                let own = room.roster.read(|roster| roster.memory(agent.memory).cloned()).ok_or_else(gone)?;
                // Not as its own: others attach it.
                Err(self.still_attached(&room, &view::Memory { agent: None, ..own }, &agents).await?)
            }
            Err(failure) => Err(refused(failure)),
        }
    }

    /// `agent.list`
    pub async fn agent_list(&self, context: &Context, request: List) -> Result<Answer<Listed>, Error> {
        validate::context(&self.inner, context)?;
        let limit = validate::page(request.limit)?;
        let cursor = request.cursor.as_deref().map(Cursor::parse).transpose()?;
        let moment = self.moment_of(cursor.as_ref(), request.as_of)?;
        let Some(room) = self.room(context).await? else {
            return Ok(Answer::fresh(Listed { agents: Vec::new(), cursor: None }));
        };
        let past = self.past_roster(&room.place, moment).await?;
        let mut owners = vec![None];
        owners.extend(room.acting.user.clone().map(Some));
        let mut page: Vec<view::Agent> = room.roster.read(|now| {
            let itself = |agent: &view::Agent| room.acting.agent.as_ref().is_none_or(|acting| acting.id == agent.id);
            let roster = past.as_ref().unwrap_or(now);
            let page = roster.agents(Some(&owners), spot(cursor.as_ref()), limit + 1, itself);
            page.into_iter().cloned().collect()
        });
        let more = page.len() > limit;
        page.truncate(limit);
        let cursor = next(moment, more, page.last().map(|agent| (agent.created_at, agent.id.0)));
        let agents = page.iter().map(|agent| self.shown_agent(&room.place, agent)).collect::<Result<_, _>>()?;
        Ok(Answer::fresh(Listed { agents, cursor }))
    }
}
