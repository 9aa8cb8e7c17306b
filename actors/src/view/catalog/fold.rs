//! How events become the catalog. The same fold makes the present and any moment of the past.

use memlog_events::{
    code::TypeCode,
    event::{Content, ExtractionFailedV1, Facts, MessageAppendedContentV2, MessageAppendedV2, SavedContentV1, SavedV1},
    ids::{MessageId, RecordId, RelationId, Slot},
    log::{Sealed, Stored},
};
use uuid::Uuid;

use super::{Catalog, Doc, Job, Relation, Speaker, Thread, ThreadSummary, items::Learnt};
use crate::{
    api::{job, record::ItemType, thread::Settings},
    domain::{record::invalidates, thread::changes},
    recall::asks,
};

/// What the search views must do because of an event.
#[derive(Clone, PartialEq, Debug)]
pub enum Effect {
    /// A document has this text now.
    Index(u32, String),
    /// A document is gone.
    Drop(u32),
    /// A document has another text now, or none.
    Replace(u32, Option<String>),
    /// A document's text is the same, but who said it is not shown any more.
    Retag(u32),
}

/// Fixed bytes of a document in the catalog and its indexes, for the memory budget.
const DOC_BYTES: usize = 320;

impl Catalog {
    /// Folds one event in. `sealed` is its content, opened, and none of a text that is damaged.
    pub fn apply(&mut self, event: &Stored, sealed: Option<Sealed>) -> Vec<Effect> {
        let Some(sealed) = sealed else { return self.apply_damaged(event) };
        self.position = event.head.position;
        self.scope = Some(event.head.key.scope);
        self.updated_at = self.updated_at.max(event.head.time);
        let content = match sealed {
            Sealed::Open(content) => Some(content),
            Sealed::Erased | Sealed::None => None,
        };
        let thread = self.by_stream.get(&event.head.key.stream).copied();
        if let Some(thread) = thread {
            self.threads[thread as usize].updated_at = event.head.time;
        }
        let effects = self.fold(event, content, thread);
        self.touch(event);
        if changes(&event.facts) {
            self.change_thread(thread, |thread| thread.changes += 1);
        }
        effects
    }

    fn fold(&mut self, event: &Stored, content: Option<Content>, thread: Option<u32>) -> Vec<Effect> {
        match (&event.facts, content) {
            (Facts::ProfileCreated(e), content) => {
                (self.slot, self.created_at) = (e.slot, event.head.time);
                if let Some(Content::ProfileCreated(content)) = content {
                    (self.name, self.namespace) = (content.name, content.namespace);
                }
            }
            (Facts::ProfileDeleted(_), _) => return self.clear(),
            (Facts::SpeakerAdded(e), Some(Content::SpeakerAdded(content))) => {
                let speaker =
                    Speaker { id: e.speaker, name: content.name, created_at: event.head.time, removed: false };
                self.speakers.push(speaker);
            }
            (Facts::SpeakerRemoved(e), _) => return self.end_speaker(e.speaker),
            (Facts::ThreadCreated(e), content) => self.begin_thread(event, e.slot, content),
            (Facts::ThreadDeleted(_), _) => return thread.map(|it| self.end_thread(it)).unwrap_or_default(),
            (Facts::MessageAppended(e), content) => return self.message(event, e, content, thread),
            (Facts::Saved(e), content) => return self.record(event, e, content, thread),
            (Facts::Superseded(e), _) => {
                self.set_invalid(e.old, e.new);
                self.summary_is_outdated(e.old);
            }
            (Facts::MessageUpdated(e), content) => return self.message_updated(event, e, content),
            (Facts::Updated(e), content) => return self.record_updated(event, e, content),
            (Facts::StatusSet(e), _) => self.status_set(e),
            (Facts::Linked(e), content) => {
                if invalidates(e.link) {
                    self.summary_is_outdated(e.target);
                }
                self.linked(event, e, content);
            }
            (Facts::Relinked(e), content) => self.relinked(event, e, content),
            (Facts::ImageAdded(e), content) => return self.image_added(event, e, content, thread),
            (Facts::ImageStored(e), _) => self.image_stored(event, e),
            (Facts::ImageUpdated(e), content) => return self.image_updated(event, e, content),
            (Facts::ImageDeleted(e), _) => {
                return e.images.iter().filter_map(|image| self.remove(image.0.0)).collect();
            }
            (Facts::Unlinked(e), _) => self.unlink(e.relation),
            (Facts::Summarised(e), Some(Content::Summarised(_))) => {
                let summary = ThreadSummary { at: event.head.version, through: e.through };
                self.change_thread(thread, |thread| thread.summary = Some(summary));
            }
            (Facts::SummaryErased(_), _) => self.change_thread(thread, |thread| thread.summary = None),
            (Facts::Forgot(e), _) => return self.gone(&[(e.record, e.slot)], &e.messages, &e.relations),
            (Facts::Expired(e), _) => return self.gone(&e.records, &e.messages, &e.relations),
            (Facts::MessageDeleted(e), _) => return self.gone(&[], &e.messages, &[]),
            (Facts::ExtractionRequested(e), _) => self.job_requested(event, e.job, &e.messages, thread),
            (Facts::ExtractionCompleted(e), _) => {
                if let Some(job) = self.jobs.get_mut(&e.job) {
                    (job.state, job.attempts, job.records) = (job::State::Done, e.attempts, e.records.clone());
                }
            }
            (Facts::ExtractionFailed(e), _) => self.job_failed(e),
            (Facts::SpeakerAdded(_) | Facts::Summarised(_), _) => {}
            // These lie in no profile.
            (Facts::EntrySaved(_) | Facts::EntryForgot(_) | Facts::RegistryCreated(_), _)
            | (Facts::MemoryCreated(_) | Facts::MemoryUpdated(_) | Facts::Attached(_), _)
            | (Facts::Trashed(_) | Facts::Restored(_) | Facts::Purged(_), _)
            | (Facts::NoteSaved(_) | Facts::NoteRemoved(_) | Facts::NoteKindAdded(_), _)
            | (Facts::SessionConnected(_) | Facts::NotesLoaded(_), _)
            | (Facts::EditorOpened(_) | Facts::EditorClosed(_), _)
            | (Facts::AgentCreated(_) | Facts::AgentUpdated(_) | Facts::AgentDeleted(_), _) => {}
        }
        Vec::new()
    }

    fn job_failed(&mut self, e: &ExtractionFailedV1) {
        if let Some(job) = self.jobs.get_mut(&e.job) {
            (job.state, job.attempts, job.error) = (job::State::Failed, e.attempts, Some(e.code.clone()));
        }
    }

    fn begin_thread(&mut self, event: &Stored, slot: Slot, content: Option<Content>) {
        let number = self.threads.len() as u32;
        let (thread_id, user_id, agent_id, metadata, settings) = match content {
            Some(Content::ThreadCreated(it)) => {
                (it.thread_id, it.user_id, it.agent_id, self.fields.get(&it.metadata), settings(&it.settings))
            }
            _ => Default::default(),
        };
        if !thread_id.is_empty() {
            self.by_thread_id.insert(thread_id.clone(), number);
        }
        self.by_stream.insert(event.head.key.stream, number);
        self.threads.push(Thread {
            stream: event.head.key.stream,
            slot,
            thread_id,
            user_id,
            agent_id,
            metadata,
            settings,
            images: Vec::new(),
            messages: Vec::new(),
            digests: Vec::new(),
            created_at: event.head.time,
            updated_at: event.head.time,
            deleted: false,
            summary: None,
            changes: 0,
        });
    }

    fn message(
        &mut self,
        event: &Stored,
        e: &MessageAppendedV2,
        content: Option<Content>,
        thread: Option<u32>,
    ) -> Vec<Effect> {
        let content = match content {
            Some(Content::MessageAppended(content)) => Some(content),
            _ => None,
        };
        let (text, given, metadata) = match content {
            Some(MessageAppendedContentV2 { text, given_id, metadata, .. }) => {
                (Some(text), given_id, self.fields.get(&metadata))
            }
            None => (None, None, None),
        };
        let (user, agent) = self.owners(thread, None, None);
        let it = Doc {
            id: e.message.0,
            given: given.map(Into::into),
            item: ItemType::Message,
            thread,
            ordinal: e.ordinal,
            role: e.role,
            slot: e.slot,
            speaker: e.speaker,
            timestamp: e.timestamp,
            offset_seconds: e.offset_seconds,
            expires_at: e.expires_at,
            user,
            agent,
            metadata,
            erased: text.is_none(),
            asks: text.as_deref().is_some_and(asks),
            ..Doc::at(event)
        };
        let doc = self.insert(it);
        if let Some(thread) = thread {
            let thread = &mut self.threads[thread as usize];
            thread.messages.push(Some(doc));
            thread.digests.push(e.digest);
        }
        text.filter(|text| !text.is_empty()).map(|text| Effect::Index(doc, text)).into_iter().collect()
    }

    fn record(&mut self, event: &Stored, e: &SavedV1, content: Option<Content>, thread: Option<u32>) -> Vec<Effect> {
        let content = match content {
            Some(Content::Saved(content)) => Some(content),
            _ => None,
        };
        let (text, given, metadata, user, agent) = match content {
            Some(SavedContentV1 { content, given_id, metadata, user_id, agent_id, .. }) => {
                (Some(content), given_id, self.fields.get(&metadata), user_id, agent_id)
            }
            None => Default::default(),
        };
        let (user, agent) = self.owners(thread, user.as_deref(), agent.as_deref());
        let it = Doc {
            id: e.record.0,
            given: given.map(Into::into),
            item: item_type(e.record_type),
            thread,
            slot: e.slot,
            speaker: e.speaker,
            timestamp: e.timestamp,
            expires_at: e.expires_at,
            sources: e.sources.clone(),
            fingerprint: Some(e.fingerprint),
            user,
            agent,
            metadata,
            erased: text.is_none(),
            asks: text.as_deref().is_some_and(asks),
            ..Doc::at(event)
        };
        let doc = self.insert(it);
        self.fingerprints.entry(e.fingerprint).or_default().push(doc);
        for source in &e.sources {
            self.made_from.entry(*source).or_default().push(doc);
        }
        self.ordered.insert((event.head.time, e.record.0));
        text.map(|text| Effect::Index(doc, text)).into_iter().collect()
    }

    /// Whose a document is: its own owners, else its thread's.
    pub(super) fn owners(
        &mut self,
        thread: Option<u32>,
        user: Option<&str>,
        agent: Option<&str>,
    ) -> (Option<u32>, Option<u32>) {
        let (mut user, mut agent) = (user.map(str::to_owned), agent.map(str::to_owned));
        if let Some(thread) = thread.and_then(|thread| self.thread(thread)) {
            user = user.or_else(|| thread.user_id.clone());
            agent = agent.or_else(|| thread.agent_id.clone());
        }
        (user.map(|name| self.numbered(&name)), agent.map(|name| self.numbered(&name)))
    }

    pub(super) fn doc_mut(&mut self, id: Uuid) -> Option<(u32, &mut Doc)> {
        let doc = self.by_uuid(id)?;
        Some((doc, self.docs[doc as usize].as_mut()?))
    }

    pub(super) fn insert(&mut self, it: Doc) -> u32 {
        let doc = self.docs.len() as u32;
        self.by_uuid.insert(it.id, doc);
        self.by_slot.insert(it.slot, doc);
        if let Some(given) = &it.given {
            self.by_given.insert(given.to_string(), doc);
        }
        self.bytes += DOC_BYTES;
        self.docs.push(Some(it));
        doc
    }

    fn set_invalid(&mut self, old: RecordId, new: RecordId) {
        if let Some(it) = self.by_uuid(old.0).and_then(|doc| self.docs[doc as usize].as_mut()) {
            it.superseded_by = Some(new);
        }
    }

    pub(super) fn change_thread(&mut self, number: Option<u32>, change: impl FnOnce(&mut Thread)) {
        if let Some(thread) = number.and_then(|number| self.threads.get_mut(number as usize)) {
            change(thread);
        }
    }

    /// A record that no longer holds may be told in the summary of its thread.
    pub(super) fn summary_is_outdated(&mut self, record: RecordId) {
        let thread = self.by_uuid(record.0).and_then(|doc| self.doc(doc)?.thread);
        self.change_thread(thread, |thread| thread.summary = None);
    }

    /// What an event changed shows when.
    fn touch(&mut self, event: &Stored) {
        let changed = match &event.facts {
            Facts::Superseded(e) => e.old.0,
            Facts::Updated(e) => e.record.0,
            Facts::StatusSet(e) => e.record.0,
            Facts::MessageUpdated(e) => e.message.0,
            Facts::ImageUpdated(e) => e.image.0,
            _ => return,
        };
        if let Some(it) = self.by_uuid(changed).and_then(|doc| self.docs[doc as usize].as_mut()) {
            it.updated_at = event.head.time;
            it.version += 1;
        }
    }

    fn job_requested(
        &mut self,
        event: &Stored,
        id: memlog_events::ids::JobId,
        messages: &[MessageId],
        thread: Option<u32>,
    ) {
        let Some(thread) = thread else { return };
        let created_at = self.jobs.get(&id).map_or(event.head.time, |job| job.created_at);
        let (messages, records) = (messages.to_vec(), Vec::new());
        let state = job::State::Queued;
        self.jobs.insert(id, Job { id, thread, state, attempts: 0, error: None, records, messages, created_at });
    }

    fn gone(
        &mut self,
        records: &[(RecordId, Slot)],
        messages: &[(MessageId, Slot)],
        relations: &[(RelationId, Slot)],
    ) -> Vec<Effect> {
        let mut dropped: Vec<Effect> = records.iter().filter_map(|record| self.remove(record.0.0)).collect();
        let sources: std::collections::HashSet<_> = messages.iter().map(|message| message.0).collect();
        dropped.extend(messages.iter().filter_map(|message| self.remove(message.0.0)));
        if !sources.is_empty() {
            for it in self.docs.iter_mut().flatten() {
                it.sources.retain(|source| !sources.contains(source));
            }
        }
        for relation in relations {
            self.unlink(relation.0);
        }
        dropped
    }

    fn remove(&mut self, id: Uuid) -> Option<Effect> {
        let doc = self.by_uuid.remove(&id)?;
        let it = self.docs[doc as usize].take()?;
        self.bytes = self.bytes.saturating_sub(DOC_BYTES);
        self.by_slot.remove(&it.slot);
        if let Some(given) = &it.given {
            self.by_given.remove(given.as_ref());
        }
        if let Some(docs) = it.fingerprint.and_then(|fingerprint| self.fingerprints.get_mut(&fingerprint)) {
            docs.retain(|other| *other != doc);
        }
        for source in &it.sources {
            if let Some(records) = self.made_from.get_mut(source) {
                records.retain(|other| *other != doc);
            }
        }
        self.made_from.remove(&MessageId(it.id));
        self.ordered.remove(&(it.created_at, it.id));
        if let Some(thread) = it.thread.and_then(|thread| self.threads.get_mut(thread as usize)) {
            let places = match it.item {
                ItemType::Message => &mut thread.messages,
                ItemType::Image => &mut thread.images,
                _ => return Some(Effect::Drop(doc)),
            };
            if let Some(place) = places.get_mut(it.ordinal as usize) {
                *place = None;
            }
        }
        Some(Effect::Drop(doc))
    }

    fn end_thread(&mut self, number: u32) -> Vec<Effect> {
        let thread = &mut self.threads[number as usize];
        thread.deleted = true;
        if self.by_thread_id.get(&thread.thread_id) == Some(&number) {
            self.by_thread_id.remove(&thread.thread_id);
        }
        thread.thread_id.clear();
        (thread.user_id, thread.agent_id, thread.metadata) = (None, None, None);
        (thread.settings, thread.images) = (Settings::default(), Vec::new());
        (thread.messages, thread.digests, thread.summary) = (Vec::new(), Vec::new(), None);
        self.jobs.retain(|_, job| job.thread != number);
        let theirs: Vec<Uuid> = self.docs().filter(|(_, it)| it.thread == Some(number)).map(|(_, it)| it.id).collect();
        let ends: std::collections::HashSet<_> = theirs.iter().map(|id| RecordId(*id)).collect();
        let touched = |relation: &Relation| ends.contains(&relation.source) || ends.contains(&relation.target);
        let links: Vec<_> = self.relations.iter().filter(|(_, it)| touched(it)).map(|(id, _)| *id).collect();
        for link in links {
            self.unlink(link);
        }
        theirs.into_iter().filter_map(|id| self.remove(id)).collect()
    }

    /// Ends a registration: its name is shown nowhere any more.
    pub(in crate::view) fn end_speaker(&mut self, id: memlog_events::ids::SpeakerId) -> Vec<Effect> {
        if let Some(speaker) = self.speakers.iter_mut().find(|speaker| speaker.id == id) {
            speaker.removed = true;
            speaker.name.clear();
        }
        // A summary says who said what.
        let of_theirs = self.docs().filter(|(_, it)| it.speaker == Some(id)).filter_map(|(_, it)| it.thread);
        for thread in of_theirs.collect::<std::collections::BTreeSet<_>>() {
            self.change_thread(Some(thread), |thread| thread.summary = None);
        }
        self.docs().filter(|(_, it)| it.speaker == Some(id)).map(|(doc, _)| Effect::Retag(doc)).collect()
    }

    fn clear(&mut self) -> Vec<Effect> {
        let dropped = self.docs().map(|(doc, _)| Effect::Drop(doc)).collect();
        let (position, updated_at, scope) = (self.position, self.updated_at, self.scope);
        *self = Self { deleted: true, position, updated_at, scope, ..Self::default() };
        dropped
    }
}

impl Doc {
    /// A blank row for what an event creates.
    pub(super) fn at(event: &Stored) -> Self {
        Self {
            id: Uuid::nil(),
            given: None,
            item: ItemType::Memory,
            thread: None,
            ordinal: 0,
            role: memlog_events::code::RoleCode::USER,
            slot: Slot::NONE,
            speaker: None,
            asks: false,
            learnt: Learnt::default(),
            created_at: event.head.time,
            updated_at: event.head.time,
            timestamp: None,
            offset_seconds: 0,
            expires_at: None,
            at: event.head.version,
            version: 1,
            sources: Vec::new(),
            superseded_by: None,
            invalid: false,
            user: None,
            agent: None,
            image: None,
            fingerprint: None,
            metadata: None,
            erased: false,
            damaged: false,
        }
    }
}

/// What the client chose; settings that a later version wrote are read as far as this one knows them, which is not at all.
fn settings(text: &str) -> Settings {
    serde_json::from_str(text).unwrap_or_default()
}

/// What a type code means to clients; one that is not known yet reads as the general type.
fn item_type(code: TypeCode) -> ItemType {
    match code {
        TypeCode::FACT => ItemType::Fact,
        TypeCode::EVENT => ItemType::Event,
        TypeCode::INSTRUCTION => ItemType::Instruction,
        TypeCode::TASK => ItemType::Task,
        TypeCode::GUIDELINE => ItemType::Guideline,
        TypeCode::PREFERENCE => ItemType::Preference,
        _ => ItemType::Memory,
    }
}
