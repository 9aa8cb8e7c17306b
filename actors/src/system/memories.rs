//! `profile.memories`, `profile.memory`, `profile.history`.

use memlog_events::ids::{Micros, Position};

use super::{
    System,
    audit::Filter,
    cursor::Cursor,
    lookup::uuid,
    past::Moment,
    records::{Shown, is_record},
    validate,
};
use crate::{
    api::{
        Answer, Context, Error,
        profile::{Happened, History, HistoryOf, Memories, MemoriesPage, Memory, OneMemory},
        record::{ItemType, Status},
    },
    view::catalog::ListFilter,
};

impl System {
    /// `profile.memories`
    pub async fn profile_memories(&self, context: &Context, request: Memories) -> Result<Answer<MemoriesPage>, Error> {
        validate::context(&self.inner, context)?;
        validate::profile(&request.profile)?;
        request.session_id.as_deref().map_or(Ok(()), |id| validate::id("session_id", id))?;
        let limit = validate::page(request.limit)?;
        let cursor = request.cursor.as_deref().map(Cursor::parse).transpose()?;
        let moment = match &cursor {
            Some(cursor) => self.moment_at(Position(cursor.seq)),
            None => self.moment(request.as_of)?,
        };
        let after = cursor.as_ref().and_then(|cursor| Some((Micros(cursor.micros), uuid(&cursor.id)?)));
        let place = self.inner.profile(context, &request.profile)?;
        // Before the views are read: what is committed after it is not promised to be in the page.
        let seq = self.position_of(moment).0;
        let seen = self.views_at(place, moment).await?;
        let now = self.now();
        seen.read(|state| {
            let thread = request.session_id.as_deref().map(|id| state.catalog.session(id));
            if thread == Some(None) {
                return Ok(Answer::fresh(MemoriesPage { memories: Vec::new(), cursor: None }));
            }
            let filter = ListFilter {
                thread: thread.flatten(),
                item: request.record_type.map(ItemType::from),
                status: Some(request.status.unwrap_or(Status::Valid)),
            };
            let (docs, more) = state.catalog.page(filter, after, limit, now);
            let last = docs.last().and_then(|doc| state.catalog.doc(*doc));
            let cursor = last.filter(|_| more).map(|it| {
                let cursor = Cursor { seq, micros: it.created_at.0, id: it.id.to_string() };
                cursor.to_string()
            });
            let memories = self.records(&place, state, &docs, Shown::WithoutContent, now)?;
            let memories = memories.into_iter().map(|(_, memory)| memory).collect();
            Ok(Answer::fresh(MemoriesPage { memories, cursor }))
        })
    }

    /// `profile.memory`
    pub async fn profile_memory(&self, context: &Context, request: Memory) -> Result<Answer<OneMemory>, Error> {
        validate::context(&self.inner, context)?;
        validate::profile(&request.profile)?;
        validate::id("memory_id", &request.memory_id)?;
        let moment = self.moment(request.as_of)?;
        let place = self.inner.profile(context, &request.profile)?;
        let seen = self.views_at(place, moment).await?;
        let now = self.now();
        let missing = || Error::not_found("memory_id", &request.memory_id);
        seen.read(|state| {
            let doc = state.catalog.find(&request.memory_id).ok_or_else(missing)?;
            state.catalog.visible(doc, now).filter(|it| is_record(it)).ok_or_else(missing)?;
            let memory = self.record(&place, state, doc, Shown::WithContent, now)?.ok_or_else(missing)?;
            Ok(Answer::fresh(OneMemory { memory }))
        })
    }

    /// `profile.history`
    pub async fn profile_history(&self, context: &Context, request: History) -> Result<Answer<HistoryOf>, Error> {
        validate::context(&self.inner, context)?;
        validate::profile(&request.profile)?;
        validate::id("memory_id", &request.memory_id)?;
        let moment = self.moment(request.as_of)?;
        let place = self.inner.profile(context, &request.profile)?;
        let until = match moment {
            Moment::Now => None,
            Moment::Past(position) => Some(position),
        };
        let filter = Filter { record_id: Some(request.memory_id.clone()), until, ..Filter::default() };
        let events = self.profile_events(place, filter, usize::MAX).await?;
        if events.is_empty() {
            return Err(Error::not_found("memory_id", &request.memory_id));
        }
        let seen = self.views_at(place, moment).await?;
        let now = self.now();
        let speaker = seen.read(|state| {
            let doc = state.catalog.find(&request.memory_id)?;
            let it = state.catalog.visible(doc, now)?;
            it.speaker.and_then(|id| state.catalog.speaker_name(id)).map(str::to_owned)
        });
        let events = events.into_iter().map(|event| Happened { event, speaker: speaker.clone() }).collect();
        Ok(Answer::fresh(HistoryOf { events }))
    }
}
