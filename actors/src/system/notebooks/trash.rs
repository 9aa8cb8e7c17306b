//! `trash.list`, `trash.restore`, `trash.purge`: the caller's own scope.

use memlog_events::ids::StreamId;

use super::{
    super::{
        System,
        command::{Begun, refused},
        cursor::Cursor,
        lookup::{by, uuid},
        validate,
    },
    memories::{next, spot},
    room::{Asked, Room},
    shown::trashed,
};
use crate::{
    api::{
        Answer, Context, Done, Error,
        memory::OneMemory,
        trash::{List, Listed, Purge, Restore},
    },
    domain::{
        Rejection,
        registry::{self, Named},
    },
    entity::Failure,
    view::notebook::{Memory, Trashed},
};

fn missing(id: &str) -> Error {
    Asked::Id(id).missing("thing in the trash")
}

impl System {
    /// `trash.list`
    pub async fn trash_list(&self, context: &Context, request: List) -> Result<Answer<Listed>, Error> {
        validate::context(&self.inner, context)?;
        let limit = validate::page(request.limit)?;
        let cursor = request.cursor.as_deref().map(Cursor::parse).transpose()?;
        let moment = self.moment_of(cursor.as_ref(), request.as_of)?;
        let Some(room) = self.room(context).await? else {
            return Ok(Answer::fresh(Listed { items: Vec::new(), cursor: None }));
        };
        room.acting.is_nobodys_agent()?;
        let past = self.past_roster(&room.place, moment).await?;
        let now = self.now();
        let mut page: Vec<(Memory, Trashed)> = room.roster.read(|present| {
            let roster = past.as_ref().unwrap_or(present);
            let page = roster.trash(&room.acting.user, spot(cursor.as_ref()), limit + 1, now);
            page.into_iter().map(|(memory, trashed)| (memory.clone(), trashed)).collect()
        });
        let more = page.len() > limit;
        page.truncate(limit);
        let cursor = next(moment, more, page.last().map(|(memory, trashed)| (trashed.at, memory.id.0)));
        let items = page.iter().map(|(memory, it)| trashed(memory, it.at, it.until)).collect();
        Ok(Answer::fresh(Listed { items, cursor }))
    }

    /// What is meant, in the trash of whoever acts.
    async fn thrown_away(&self, context: &Context, id: &str) -> Result<(Room, StreamId), Error> {
        let room = self.room(context).await?.ok_or_else(|| missing(id))?;
        room.acting.is_nobodys_agent()?;
        let now = self.now();
        let found = room.roster.read(|roster| {
            let (memory, _) = roster.in_trash(StreamId(uuid(id)?), now)?;
            (memory.user == room.acting.user).then_some(memory.id)
        });
        Ok((room, found.ok_or_else(|| missing(id))?))
    }

    /// `trash.restore`
    pub async fn trash_restore(&self, context: &Context, request: Restore) -> Result<Answer<OneMemory>, Error> {
        validate::context(&self.inner, context)?;
        validate::id("id", &request.id)?;
        let once = match self.begin::<Named>(context).await? {
            Begun::Before(before) => {
                let room = self.room_before(context).await?;
                let memory = self.memory_before(&room, before.answer.0, &before, None).await?;
                return Ok(Answer { reply: OneMemory { memory }, replayed: true });
            }
            Begun::Now(once) => once,
        };
        let (room, memory) = self.thrown_away(context, &request.id).await?;
        let command = registry::Restore { memory, by: by(context) };
        match self.inner.registries.execute(room.place, command, once.key).await {
            Ok(_) => {}
            Err(Failure::Rejected(Rejection::NoMemory)) => return Err(missing(&request.id)),
            Err(failure) => return Err(refused(failure)),
        }
        let memory = self.memory_now(&room, memory.0).await?;
        Ok(Answer::fresh(OneMemory { memory }))
    }

    /// `trash.purge`
    pub async fn trash_purge(&self, context: &Context, request: Purge) -> Result<Answer<Done>, Error> {
        validate::context(&self.inner, context)?;
        validate::id("id", &request.id)?;
        let once = match self.begin::<Named>(context).await? {
            Begun::Before(_) => return Ok(Answer { reply: Done {}, replayed: true }),
            Begun::Now(once) => once,
        };
        let (room, memory) = self.thrown_away(context, &request.id).await?;
        let command = registry::Purge { memory, by: by(context) };
        match self.inner.registries.execute(room.place, command, once.key).await {
            Ok(_) => {}
            Err(Failure::Rejected(Rejection::NoMemory)) => return Err(missing(&request.id)),
            Err(failure) => return Err(refused(failure)),
        }
        // What it said leaves the views now, and not when somebody next reads.
        self.inner.shelf.forget(room.notebook(memory).key);
        self.roster(&room.place).await?;
        Ok(Answer::fresh(Done {}))
    }
}
