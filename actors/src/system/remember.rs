//! `profile.remember`, `profile.supersede`, `profile.forget`, `profile.delete_session`.

use std::{sync::Arc, time::Duration};

use memlog_events::{
    code::TypeCode,
    event::SavedContentV1,
    ids::{Micros, Position, RecordId, SpeakerId},
};
use tokio::time::Instant;

use super::{
    System,
    command::{Before, Begun, Note, Once, refused},
    duplicate::{self, Saying},
    lookup::{broken, by, gone, panicked},
    past::{Moment, Seen},
    records::{Shown, as_asked, erased_record, is_record, status_of},
    thread::{Anchors, Ttl, retention, warnings},
    validate,
};
use crate::{
    api::{
        Answer, Context, Done, Error,
        profile::{DeleteSession, Forget, OneMemory, Remember, Remembered, Stored as Status, Supersede},
        record::Record,
    },
    domain::{
        Command, Place, Rejection,
        profile::Profile,
        record::{self, Forgotten, NewRecord, Stored},
        text::normalised,
        thread::{self, Open, Thread},
    },
    entity::{Failure, Key, Outcome},
    port::RecordType,
    same::Statement,
};

/// How long a reply waits for room in the memory budget.
const ROOM_WAIT_MAX: Duration = Duration::from_secs(10);
/// How often it is looked for.
const ROOM_PAUSE: Duration = Duration::from_millis(10);
/// A text up to this is classified where it is saved, if nobody is asked: waking a thread for it would take about as long.
const SHORT_BYTES_MAX: usize = 1_024;

/// Whether a read was refused because the views in use fill the budget.
fn is_full(error: &Error) -> bool {
    error.fields.get("field").is_some_and(|field| field == "memory_budget_bytes")
}

/// The code that a type is stored under.
pub(crate) fn type_code(record_type: RecordType) -> TypeCode {
    match record_type {
        RecordType::Memory => TypeCode::MEMORY,
        RecordType::Fact => TypeCode::FACT,
        RecordType::Event => TypeCode::EVENT,
        RecordType::Instruction => TypeCode::INSTRUCTION,
        RecordType::Task => TypeCode::TASK,
        RecordType::Guideline => TypeCode::GUIDELINE,
        RecordType::Preference => TypeCode::PREFERENCE,
    }
}

impl System {
    /// `profile.remember`
    pub async fn profile_remember(&self, context: &Context, request: Remember) -> Result<Answer<Remembered>, Error> {
        validate::context(&self.inner, context)?;
        validate::profile(&request.profile)?;
        validate::content("content", &request.content)?;
        validate::metadata(request.metadata.as_ref())?;
        validate::expiry(request.ttl_days, self.now())?;
        validate::time("timestamp", request.timestamp)?;
        request.session_id.as_deref().map_or(Ok(()), |id| validate::id("session_id", id))?;
        let once = match self.begin::<Stored>(context).await? {
            Begun::Before(before) => return self.remembered_before(context, &request, before).await,
            Begun::Now(once) => once,
        };
        let place = self.open_profile_for(context, &request.profile, request.speaker.as_deref()).await?;
        let stored = self.save(context, &place, &request, &once).await?;
        let warnings = self.cut_short(&place, &request).await?;
        let memory = self.just_stored(&place, stored.record).await?;
        Ok(Answer::fresh(told(stored, memory, warnings)))
    }

    async fn remembered_before(
        &self,
        context: &Context,
        request: &Remember,
        before: Before<Stored>,
    ) -> Result<Answer<Remembered>, Error> {
        let profile = &request.profile;
        let memory = self.record_before(context, profile, before.answer.record, before.at, before.time).await?;
        let warnings = match self.inner.find_profile(context, profile)? {
            Some(place) => self.cut_short(&place, request).await?,
            None => None,
        };
        Ok(Answer { reply: told(before.answer, memory, warnings), replayed: true })
    }

    /// What is told of a time to live that its thread does not allow.
    async fn cut_short(&self, place: &Place, request: &Remember) -> Result<Option<Vec<String>>, Error> {
        let (Some(session), Some(days)) = (&request.session_id, request.ttl_days) else { return Ok(None) };
        let settings = self.settings_of_session(place, session).await?;
        Ok(warnings([days], retention(&settings).max_ttl_days))
    }

    /// From when on what is remembered is unreachable: as the request says, within what its thread allows.
    async fn expiry_of(&self, place: &Place, request: &Remember) -> Result<Option<Micros>, Error> {
        let Some(session) = &request.session_id else { return validate::expiry(request.ttl_days, self.now()) };
        let settings = self.settings_of_session(place, session).await?;
        let ttl = Ttl { days: request.ttl_days.map(Some), anchor: None };
        let timestamp = request.timestamp.map(|time| time.0);
        ttl.of_new(&retention(&settings), Anchors { created_at: self.now(), timestamp })
    }

    async fn save(
        &self,
        context: &Context,
        place: &Place,
        request: &Remember,
        once: &Once<'_>,
    ) -> Result<Stored, Error> {
        let speaker = self.speaker_for(place, request.speaker.as_deref()).await?;
        let said = normalised(&request.content);
        let log = &self.inner.environment.log;
        let fingerprint =
            log.digest_in(place.scope_slot, &[b"statement", said.as_bytes()]).map_err(broken)?.ok_or_else(gone)?;
        let dedupe = request.dedupe.unwrap_or(true);
        let statement = Arc::new(Statement::new(&request.content, duplicate::author(speaker)));
        let timestamp = request.timestamp.map(|time| time.0);
        let saying = Saying { statement, fingerprint, speaker, timestamp, thread: None };
        // Before the gate of the letter, which extraction enters as well: who waits here holds nothing that others wait for.
        let _said = match dedupe {
            true => Some(self.inner.sayings.enter(place.key.scope, speaker, Arc::clone(&saying.statement)).await),
            false => None,
        };
        let _pass = self.inner.statements.enter(fingerprint).await;
        if dedupe && let Some(known) = self.said_before(place, &request.content, &saying).await? {
            // Nothing is stored; only that this was answered, so that a repeat of the command hears the same.
            if once.key.is_some() {
                self.inner.profiles.execute(*place, Note(known), once.key).await.map_err(refused)?;
            }
            return Ok(known);
        }
        let record = self.new_record(context, place, request, speaker).await?;
        match &request.session_id {
            None => {
                let command = record::Remember { open: None, record };
                Ok(self.inner.profiles.execute(*place, command, once.key).await.map_err(refused)?.answer)
            }
            Some(session) => self.save_in(context, place, session, record, once.key).await,
        }
    }

    async fn save_in(
        &self,
        context: &Context,
        profile: &Place,
        session_id: &str,
        record: NewRecord,
        key: Option<Key>,
    ) -> Result<Stored, Error> {
        for _ in 0..TRIES {
            let (place, id_digest) = self.inner.session(profile, session_id)?;
            let open = Open {
                thread_id: session_id.to_owned(),
                id_digest,
                derived: false,
                user_id: context.caller.user.clone(),
                agent_id: context.caller.agent.clone(),
                metadata: "{}".to_owned(),
                settings: "{}".to_owned(),
                by: by(context),
            };
            let command = record::Remember { open: Some(open), record: record.clone() };
            match self.inner.threads.execute(place, command, key).await {
                Ok(outcome) => return Ok(outcome.answer),
                Err(Failure::Rejected(Rejection::Gone) | Failure::Taken(_)) => self.inner.profile_alive(profile)?,
                Err(failure) => return Err(refused(failure)),
            }
        }
        Err(gone())
    }

    async fn new_record(
        &self,
        context: &Context,
        place: &Place,
        request: &Remember,
        speaker: Option<SpeakerId>,
    ) -> Result<NewRecord, Error> {
        let (record_type, summary) = match request.record_type {
            Some(given) => (given, self.inner.extractor.line(&request.content)),
            None => self.classified(&request.content).await?,
        };
        Ok(NewRecord {
            record_type: type_code(record_type),
            speaker,
            timestamp: request.timestamp.map(|time| time.0),
            expires_at: self.expiry_of(place, request).await?,
            sources: Vec::new(),
            job: None,
            content: SavedContentV1 {
                content: request.content.clone(),
                summary,
                metadata: validate::metadata(request.metadata.as_ref())?,
                given_id: None,
                user_id: context.caller.user.clone(),
                agent_id: context.caller.agent.clone(),
                by: by(context),
            },
        })
    }

    /// A model may be asked, so no thread of the runtime waits for it.
    async fn classified(&self, content: &str) -> Result<(RecordType, String), Error> {
        let (extractor, content) = (Arc::clone(&self.inner.extractor), content.to_owned());
        let is_short = !extractor.waits() && content.len() <= SHORT_BYTES_MAX;
        crate::blocking::here_if(is_short, move || extractor.classify(&content)).await.map_err(panicked)
    }

    pub(super) async fn speaker_for(&self, place: &Place, name: Option<&str>) -> Result<Option<SpeakerId>, Error> {
        let Some(name) = name else { return Ok(None) };
        let seen = Seen::Present(self.views(*place).await?);
        super::speakers::registered(&seen, name).map(Some)
    }

    /// `profile.supersede`
    pub async fn profile_supersede(&self, context: &Context, request: Supersede) -> Result<Answer<OneMemory>, Error> {
        validate::context(&self.inner, context)?;
        validate::profile(&request.profile)?;
        validate::id("memory_id", &request.memory_id)?;
        validate::content("content", &request.content)?;
        validate::metadata(request.metadata.as_ref())?;
        validate::time("timestamp", request.timestamp)?;
        let once = match self.begin::<Stored>(context).await? {
            Begun::Before(Before { answer, at, time, .. }) => {
                let memory = self.record_before(context, &request.profile, answer.record, at, time).await?;
                return Ok(Answer { reply: OneMemory { memory }, replayed: true });
            }
            Begun::Now(once) => once,
        };
        let place = self.inner.profile(context, &request.profile)?;
        let (old, stream, shown) = self.living_record(&place, &request.memory_id).await?;
        let record = self.successor(context, &request, &shown)?;
        let command = record::Supersede { old, record };
        let outcome = self.on_stream(&place, stream, command, once.key).await;
        let stored = match outcome {
            Ok(outcome) => outcome.answer,
            Err(Failure::Rejected(Rejection::NoRecord | Rejection::Gone)) => {
                return Err(Error::not_found("memory_id", &request.memory_id));
            }
            Err(Failure::Rejected(Rejection::Superseded(by))) => return Err(self.superseded(&place, by).await?),
            Err(failure) => return Err(refused(failure)),
        };
        let memory = self.just_stored(&place, stored.record).await?;
        Ok(Answer::fresh(OneMemory { memory }))
    }

    /// What is left out is kept; the speaker is kept by the command.
    fn successor(&self, context: &Context, request: &Supersede, old: &Record) -> Result<NewRecord, Error> {
        let summary = self.inner.extractor.line(&request.content);
        let kept_time = (old.timestamp != old.created_at).then_some(old.timestamp);
        Ok(NewRecord {
            record_type: request.record_type.map_or_else(|| kept_type(old), type_code),
            speaker: None,
            timestamp: request.timestamp.or(kept_time).map(|time| time.0),
            expires_at: old.expires_at.map(|time| time.0),
            sources: Vec::new(),
            job: None,
            content: SavedContentV1 {
                content: request.content.clone(),
                summary,
                metadata: validate::metadata(Some(request.metadata.as_ref().unwrap_or(&old.metadata)))?,
                given_id: None,
                user_id: old.user_id.clone(),
                agent_id: old.agent_id.clone(),
                by: by(context),
            },
        })
    }

    async fn superseded(&self, place: &Place, successor: Option<RecordId>) -> Result<Error, Error> {
        let error = Error::new(crate::api::error::Kind::Conflict, "the memory does not hold any more");
        let views = self.views(*place).await?;
        let state = views.read();
        // One that was forgotten is named nowhere any more.
        let there = |id: &RecordId| {
            let doc = state.catalog.by_uuid(id.0);
            doc.is_some_and(|doc| state.catalog.visible(doc, self.now()).is_some())
        };
        let named = successor.filter(there).map(|id| state.catalog.client_id(id.0));
        Ok(named.into_iter().fold(error, |error, id| error.with("superseded_by", id)))
    }

    /// `profile.forget`
    pub async fn profile_forget(&self, context: &Context, request: Forget) -> Result<Answer<OneMemory>, Error> {
        validate::context(&self.inner, context)?;
        validate::profile(&request.profile)?;
        validate::id("memory_id", &request.memory_id)?;
        let once = match self.begin::<Forgotten>(context).await? {
            Begun::Before(Before { answer, before, time, .. }) => {
                // As of just before: afterwards there is nothing to show at all.
                let mut memory = self.record_before(context, &request.profile, answer.record, before, time).await?;
                memory.id = as_asked(&request.memory_id, answer.record);
                memory.status = answer.held.map_or(memory.status, status_of);
                return Ok(Answer { reply: OneMemory { memory }, replayed: true });
            }
            Begun::Now(once) => once,
        };
        let place = self.inner.profile(context, &request.profile)?;
        let (record, stream, mut memory) = self.living_record(&place, &request.memory_id).await?;
        let forget = record::Forget { record, holds: memory.status == status_of(true), by: by(context) };
        match self.on_stream(&place, stream, forget, once.key).await {
            Ok(outcome) => memory.status = outcome.answer.held.map_or(memory.status, status_of),
            Err(Failure::Rejected(Rejection::NoRecord | Rejection::Gone)) => {
                return Err(Error::not_found("memory_id", &request.memory_id));
            }
            Err(failure) => return Err(refused(failure)),
        }
        // It leaves the views before the reply does.
        self.views(place).await?;
        Ok(Answer::fresh(OneMemory { memory }))
    }

    /// `profile.delete_session`
    pub async fn profile_delete_session(
        &self,
        context: &Context,
        request: DeleteSession,
    ) -> Result<Answer<Done>, Error> {
        validate::context(&self.inner, context)?;
        validate::profile(&request.profile)?;
        validate::id("session_id", &request.session_id)?;
        let once = match self.begin::<()>(context).await? {
            Begun::Before(_) => return Ok(Answer { reply: Done {}, replayed: true }),
            Begun::Now(once) => once,
        };
        let place = self.inner.find_profile(context, &request.profile)?;
        let session = match &place {
            Some(place) => self.inner.find_session(place, &request.session_id)?,
            None => None,
        };
        let (Some(place), Some(session)) = (place, session) else {
            self.nothing_to_do(&once).await?;
            return Ok(Answer::fresh(Done {}));
        };
        self.inner.threads.execute(session, thread::Delete, once.key).await.map_err(refused)?;
        // It leaves the views before the reply does.
        self.views(place).await?;
        Ok(Answer::fresh(Done {}))
    }

    /// Brings a command about records to the stream that holds them: the profile's own or a thread's.
    pub(crate) async fn on_stream<C>(
        &self,
        profile: &Place,
        stream: memlog_events::ids::StreamId,
        command: C,
        key: Option<Key>,
    ) -> Result<Outcome<<C as Command<Profile>>::Answer>, Failure>
    where
        C: Command<Profile> + Command<Thread, Answer = <C as Command<Profile>>::Answer>,
    {
        if stream == profile.key.scope.own_stream() {
            self.inner.profiles.execute(*profile, command, key).await
        } else {
            self.inner.threads.execute(self.inner.thread_place(profile, stream), command, key).await
        }
    }

    /// A record by the client's id: its UUID, its stream, and what it shows.
    async fn living_record(
        &self,
        place: &Place,
        id: &str,
    ) -> Result<(RecordId, memlog_events::ids::StreamId, Record), Error> {
        let views = self.views(*place).await?;
        let now = self.now();
        let state = views.read();
        let missing = || Error::not_found("memory_id", id);
        let doc = state.catalog.find(id).ok_or_else(missing)?;
        let it = state.catalog.visible(doc, now).filter(|it| is_record(it)).ok_or_else(missing)?;
        let stream = state.catalog.stream_of(it, place.key.scope.own_stream());
        let shown = self.record(place, &state, doc, Shown::DespiteDamage, now)?.ok_or_else(missing)?;
        Ok((RecordId(it.id), stream, shown))
    }

    /// A record of a replayed reply; of one that went with its profile only the id can still be said.
    pub(super) async fn record_before(
        &self,
        context: &Context,
        profile: &str,
        record: RecordId,
        at: Position,
        time: Micros,
    ) -> Result<Record, Error> {
        if let Some(place) = self.inner.find_profile(context, profile)?
            && let Some(memory) = self.one_record(&place, record, Moment::Past(at)).await?
        {
            return Ok(memory);
        }
        Ok(erased_record(record, profile, time))
    }

    /// A record that was stored just now. Views that find no room at this moment are waited for: a command that is refused has stored
    /// nothing, and this one has.
    pub(super) async fn just_stored(&self, place: &Place, record: RecordId) -> Result<Record, Error> {
        let late = Instant::now() + ROOM_WAIT_MAX;
        loop {
            match self.one_record(place, record, Moment::Now).await {
                Err(error) if is_full(&error) && Instant::now() < late => {
                    tokio::time::sleep(ROOM_PAUSE).await;
                }
                shown => return shown?.ok_or_else(gone),
            }
        }
    }

    async fn one_record(&self, place: &Place, record: RecordId, moment: Moment) -> Result<Option<Record>, Error> {
        let seen = self.views_at(*place, moment).await?;
        let now = self.now();
        seen.read(|state| match state.catalog.by_uuid(record.0) {
            Some(doc) => self.record_as_replied(place, state, doc, now),
            None => Ok(None),
        })
    }
}

fn kept_type(old: &Record) -> TypeCode {
    use crate::api::record::ItemType;
    match old.item_type {
        ItemType::Fact => TypeCode::FACT,
        ItemType::Event => TypeCode::EVENT,
        ItemType::Instruction => TypeCode::INSTRUCTION,
        ItemType::Task => TypeCode::TASK,
        ItemType::Guideline => TypeCode::GUIDELINE,
        ItemType::Preference => TypeCode::PREFERENCE,
        ItemType::Memory | ItemType::Message | ItemType::Image => TypeCode::MEMORY,
    }
}

/// Sessions that are opened or deleted at the same time are looked up again so often.
const TRIES: usize = 4;

fn told(stored: Stored, memory: Record, warnings: Option<Vec<String>>) -> Remembered {
    let duplicate = stored.duplicate.is_some();
    Remembered {
        status: if duplicate { Status::Duplicate } else { Status::Stored },
        duplicate_of: duplicate.then(|| memory.id.clone()),
        similarity: stored.similarity(),
        note: duplicate.then(|| format!("memory {} already says this; nothing was stored", memory.id)),
        memory,
        warnings: warnings.filter(|_| !duplicate),
    }
}
