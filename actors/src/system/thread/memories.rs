//! `thread.add_memory`, `thread.update_memory`, `thread.delete_memory`.

use memlog_events::{event::SavedContentV1, ids::RecordId};

use super::{
    Here,
    answer::{Count, Counted, Under},
    links::words,
    no_thread,
    settings::retention,
    ttl::{Anchors, Ttl, checked, warnings},
};
use crate::{
    api::{
        Answer, Context, Error,
        record::{Record, Status},
        thread::{AddMemory, DeleteMemory, DeletedOne, MemoryAdded, MemoryUpdated, UpdateMemory},
    },
    domain::{
        Rejection,
        record::{self, Added, NewLink, NewRecord, Updated},
    },
    entity::Failure,
    port::RecordType,
    system::{
        System,
        command::{Before, Begun, Note, refused},
        lookup::{broken, by},
        past::Moment,
        records::as_asked,
        remember::type_code,
        validate,
    },
    view::{
        catalog::Doc,
        indexed::{content_of, saved},
    },
};

impl System {
    /// `thread.add_memory`
    pub async fn thread_add_memory(&self, context: &Context, request: AddMemory) -> Result<Answer<MemoryAdded>, Error> {
        validate::context(&self.inner, context)?;
        validate::profile(&request.profile)?;
        check_memory(&request)?;
        let once = match self.begin::<Under<Added>>(context).await? {
            Begun::Before(Before { answer, at, time, .. }) => {
                let memory = self.record_before(context, &request.profile, answer.inner.record, at, time).await?;
                let reply = told(&request, memory, &answer);
                return Ok(Answer { reply, replayed: true });
            }
            Begun::Now(once) => once,
        };
        let here = self.in_thread(context, &request.profile, &request.thread_id).await?;
        let target = match &request.memory_id_to_link {
            Some(id) => {
                let missing = || Error::not_found("memory_id_to_link", id);
                let doc = self.record_of(&here, id).ok_or_else(missing)?;
                Some(here.seen.read(|state| state.catalog.doc(doc).cloned()).ok_or_else(missing)?)
            }
            None => None,
        };
        let settings = here.read(|_, thread| thread.settings.clone()).ok_or_else(|| no_thread(&request.thread_id))?;
        let retention = retention(&settings);
        let link = match (&request.link_type, &target) {
            (Some(label), Some(target)) => {
                let (link, words) = words(context, "link_type", label, None, &request.link_id, &request.link_metadata)?;
                let timestamp = request.link_timestamp.map(|time| time.0);
                Some(NewLink { target: RecordId(target.id), link, timestamp, words })
            }
            _ => None,
        };
        let ttl = Ttl { days: request.ttl_days, anchor: request.ttl_anchor };
        let from = Anchors { created_at: self.now(), timestamp: request.timestamp.map(|time| time.0) };
        let record = NewRecord {
            record_type: type_code(request.memory_type.unwrap_or(RecordType::Memory)),
            speaker: self.speaker_for(&here.profile, request.speaker.as_deref()).await?,
            timestamp: request.timestamp.map(|time| time.0),
            expires_at: ttl.of_new(&retention, from)?,
            sources: Vec::new(),
            job: None,
            content: self.memory_content(context, &here, &request, target.as_ref())?,
        };
        let asked = [request.memory_id.as_deref(), request.link_id.as_deref()];
        let _ids = match self.with_ids(&here.profile, asked.into_iter().flatten()).await? {
            Ok(passes) => passes,
            Err(holder) => return Err(self.taken(&here, holder, &asked).await?),
        };
        let valid = request.status != Some(Status::Invalid);
        let command = Under { inner: record::Add { record, valid, link }, longest: retention.max_ttl_days };
        let added = match self.inner.threads.execute(here.place, command, once.key).await {
            Ok(outcome) => outcome.answer,
            Err(Failure::Rejected(Rejection::Gone)) => return Err(no_thread(&request.thread_id)),
            Err(Failure::Rejected(Rejection::NoRecord)) => {
                let asked = request.memory_id_to_link.as_deref().unwrap_or_default();
                return Err(Error::not_found("memory_id_to_link", asked));
            }
            Err(Failure::Taken(holder)) => return Err(self.taken(&here, holder.id, &asked).await?),
            Err(failure) => return Err(refused(failure)),
        };
        if valid && request.autonomous_linking.unwrap_or(self.inner.narrator.is_some()) {
            let but = target.map(|target| RecordId(target.id));
            self.relate(context, &here, added.inner.record, but, &request.content).await;
        }
        let memory = self.just_stored(&here.profile, added.inner.record).await?;
        Ok(Answer::fresh(told(&request, memory, &added)))
    }

    /// The owners are the request's, else the link's target's, else the thread's.
    fn memory_content(
        &self,
        context: &Context,
        here: &Here,
        request: &AddMemory,
        target: Option<&Doc>,
    ) -> Result<SavedContentV1, Error> {
        let (user, agent) = here.seen.read(|state| {
            let name = |number: Option<u32>| number.and_then(|it| state.catalog.name_of(it)).map(str::to_owned);
            let thread = state.catalog.thread(here.number);
            match target {
                Some(target) => (name(target.user), name(target.agent)),
                None => (
                    thread.and_then(|thread| thread.user_id.clone()),
                    thread.and_then(|thread| thread.agent_id.clone()),
                ),
            }
        });
        Ok(SavedContentV1 {
            content: request.content.clone(),
            summary: self.inner.extractor.line(&request.content),
            metadata: validate::metadata(request.metadata.as_ref())?,
            given_id: request.memory_id.clone(),
            user_id: request.user_id.clone().or(user),
            agent_id: request.agent_id.clone().or(agent),
            by: by(context),
        })
    }

    /// A record of this very thread by the id that clients use.
    pub(super) fn record_of(&self, here: &Here, id: &str) -> Option<u32> {
        let now = self.now();
        here.seen.read(|state| {
            let doc = state.catalog.find(id)?;
            let it = state.catalog.visible(doc, now)?;
            (it.item.is_record() && it.thread == Some(here.number)).then_some(doc)
        })
    }

    /// `thread.update_memory`
    pub async fn thread_update_memory(
        &self,
        context: &Context,
        request: UpdateMemory,
    ) -> Result<Answer<MemoryUpdated>, Error> {
        validate::context(&self.inner, context)?;
        validate::profile(&request.profile)?;
        validate::id("thread_id", &request.thread_id)?;
        validate::id("memory_id", &request.memory_id)?;
        request.content.as_deref().map_or(Ok(()), |text| validate::content("content", text))?;
        validate::metadata(request.metadata.as_ref())?;
        let timestamp = match request.timestamp {
            Some(given) => Some(validate::time("timestamp", given)?),
            None => None,
        };
        let ttl = Ttl { days: request.ttl_days, anchor: request.ttl_anchor };
        ttl.days.flatten().map(checked).transpose()?;
        let shown = |memory: Record, updated: &Under<Updated>| MemoryUpdated {
            memory_id: request.memory_id.clone(),
            memory,
            warnings: warnings(ttl.days.flatten(), updated.longest),
        };
        let once = match self.begin::<Under<Updated>>(context).await? {
            Begun::Before(Before { answer, at, time, .. }) => {
                let memory = self.record_before(context, &request.profile, answer.inner.0, at, time).await?;
                let memory = Record { id: as_asked(&request.memory_id, answer.inner.0), ..memory };
                return Ok(Answer { reply: shown(memory, &answer), replayed: true });
            }
            Begun::Now(once) => once,
        };
        let missing = || Error::not_found("memory_id", &request.memory_id);
        let found = self.in_thread(context, &request.profile, &request.thread_id).await?;
        let id = self.record_id(&found, &request.memory_id).ok_or_else(missing)?;
        let _edit = self.inner.edits.enter(id.0).await;
        let here = self.here(found.profile, &request.thread_id, Moment::Now).await?;
        let settings = here.read(|_, thread| thread.settings.clone()).ok_or_else(|| no_thread(&request.thread_id))?;
        let retention = retention(&settings);
        let (before, kept) = self.record_as_kept(&here, &request.memory_id)?.ok_or_else(missing)?;
        let from = Anchors { created_at: before.created_at, timestamp: timestamp.unwrap_or(before.timestamp) };
        let expires_at = ttl.of_old(&retention, from)?;
        let content = self.changed(context, &request, kept)?;
        let valid = request.status.map(|status| status == Status::Valid);
        let command = record::UpdateRecord { record: id, content, timestamp, expires_at, valid, by: by(context) };
        let command = Under { inner: command, longest: retention.max_ttl_days };
        let updated = match self.inner.threads.execute(here.place, command, once.key).await {
            Ok(outcome) => outcome.answer,
            Err(Failure::Rejected(Rejection::NoRecord | Rejection::Gone)) => return Err(missing()),
            Err(failure) => return Err(refused(failure)),
        };
        let memory = self.just_stored(&here.profile, id).await?;
        Ok(Answer::fresh(shown(memory, &updated)))
    }

    fn changed(
        &self,
        context: &Context,
        request: &UpdateMemory,
        kept: SavedContentV1,
    ) -> Result<Option<SavedContentV1>, Error> {
        if request.content.is_none() && request.metadata.is_none() {
            return Ok(None);
        }
        let mut now = SavedContentV1 { by: by(context), ..kept };
        if let Some(text) = &request.content {
            (now.content, now.summary) = (text.clone(), self.inner.extractor.line(text));
        }
        if let Some(fields) = &request.metadata {
            now.metadata = validate::metadata(Some(fields))?;
        }
        Ok(Some(now))
    }

    fn record_id(&self, here: &Here, id: &str) -> Option<RecordId> {
        let doc = self.record_of(here, id)?;
        here.seen.read(|state| state.catalog.doc(doc).map(|it| RecordId(it.id)))
    }

    fn record_as_kept(&self, here: &Here, id: &str) -> Result<Option<(Doc, SavedContentV1)>, Error> {
        let Some(doc) = self.record_of(here, id) else { return Ok(None) };
        here.seen.read(|state| {
            let Some(it) = state.catalog.doc(doc) else { return Ok(None) };
            let log = &self.inner.environment.log;
            let content = content_of(log, &here.profile, &state.catalog, it).map_err(broken)?;
            Ok(content.as_ref().and_then(saved).map(|saved| (it.clone(), saved.clone())))
        })
    }

    /// `thread.delete_memory`
    pub async fn thread_delete_memory(
        &self,
        context: &Context,
        request: DeleteMemory,
    ) -> Result<Answer<DeletedOne>, Error> {
        validate::context(&self.inner, context)?;
        validate::profile(&request.profile)?;
        validate::id("thread_id", &request.thread_id)?;
        validate::id("memory_id", &request.memory_id)?;
        let shown = |count: Count| DeletedOne { deleted: count.0 };
        let once = match self.begin::<Count>(context).await? {
            Begun::Before(Before { answer, .. }) => return Ok(Answer { reply: shown(answer), replayed: true }),
            Begun::Now(once) => once,
        };
        let here = self.in_thread(context, &request.profile, &request.thread_id).await?;
        self.extracted_before_deleting(&here).await?;
        let outcome = match self.record_id(&here, &request.memory_id) {
            Some(record) => {
                let command = Counted(record::DeleteRecord { record, by: by(context) });
                self.inner.threads.execute(here.place, command, once.key).await
            }
            None => self.inner.threads.execute(here.place, Note(Count(0)), once.key).await,
        };
        let count = match outcome {
            Ok(outcome) => outcome.answer,
            Err(Failure::Rejected(Rejection::Gone)) => return Err(no_thread(&request.thread_id)),
            Err(failure) => return Err(refused(failure)),
        };
        // It leaves the views before the reply does.
        self.views(here.profile).await?;
        Ok(Answer::fresh(shown(count)))
    }
}

fn told(request: &AddMemory, memory: Record, added: &Under<Added>) -> MemoryAdded {
    let given = |given: &Option<String>, id: String| given.clone().unwrap_or(id);
    // Of one that is gone since, a repeat knows the id by which it was asked for.
    let memory = Record { id: given(&request.memory_id, memory.id), ..memory };
    MemoryAdded {
        memory_id: given(&request.memory_id, added.inner.record.to_string()),
        memory,
        link_id: added.inner.relation.map(|id| given(&request.link_id, id.to_string())),
        warnings: warnings(request.ttl_days.flatten(), added.longest),
    }
}

fn check_memory(request: &AddMemory) -> Result<(), Error> {
    validate::id("thread_id", &request.thread_id)?;
    validate::content("content", &request.content)?;
    for (field, id) in [
        ("user_id", &request.user_id),
        ("agent_id", &request.agent_id),
        ("memory_id", &request.memory_id),
        ("memory_id_to_link", &request.memory_id_to_link),
        ("link_id", &request.link_id),
    ] {
        id.as_deref().map_or(Ok(()), |id| validate::id(field, id))?;
    }
    validate::metadata(request.metadata.as_ref())?;
    validate::metadata(request.link_metadata.as_ref()).map_err(|error| error.with("field", "link_metadata"))?;
    validate::time("timestamp", request.timestamp)?;
    validate::time("link_timestamp", request.link_timestamp)?;
    request.ttl_days.flatten().map(checked).transpose()?;
    let linked = request.memory_id_to_link.is_some();
    let together = |field: &str, needs: &str| Error::invalid(field, format!("{field} needs {needs}"));
    if linked != request.link_type.is_some() {
        let (field, needs) =
            if linked { ("memory_id_to_link", "link_type") } else { ("link_type", "memory_id_to_link") };
        return Err(together(field, needs));
    }
    for (field, given) in [
        ("link_id", request.link_id.is_some()),
        ("link_timestamp", request.link_timestamp.is_some()),
        ("link_metadata", request.link_metadata.is_some()),
    ] {
        if given && !linked {
            return Err(together(field, "memory_id_to_link and link_type"));
        }
    }
    Ok(())
}
