//! The catalog of one profile: what there is, where its content lies in the log, and how it hangs together.
//!
//! Fixed fields only (about 200 bytes a document); texts stay in the log and are read for the few that are shown. Folded from
//! the profile's events in order of position, up to the head or to any position of the past.

mod changes;
mod fields;
mod fold;
mod images;
mod items;
mod links;
mod list;

use std::collections::{BTreeMap, BTreeSet};

pub(in crate::view) use changes::{is_text, moved_expiry};
pub use fields::Fields;
use fields::Pool;
pub use fold::Effect;
pub use items::{Doc, Image, Job, Speaker, Thread, ThreadSummary};
use memlog_events::ids::{
    Digest, JobId, KeyPath, MessageId, Micros, Position, RecordId, RelationId, Scope, Slot, SpeakerId, StreamId,
};
use uuid::Uuid;

pub use self::links::{BUILT_IN, Relation};
pub use self::list::{After, ListFilter};
use crate::{api::record::ItemType, view::HashMap};

/// Everything a profile holds, but its texts.
#[derive(Debug, Default)]
pub struct Catalog {
    /// The profile's name; empty if it was never created or is gone.
    pub name: String,
    /// Its namespace.
    pub namespace: String,
    /// Its incarnation, once an event has told.
    pub scope: Option<Scope>,
    /// Its slot.
    pub slot: Slot,
    /// Whether it was deleted.
    pub deleted: bool,
    /// When it was created.
    pub created_at: Micros,
    /// When anything in it last changed.
    pub updated_at: Micros,
    /// Of the last event folded in.
    pub position: Position,
    docs: Vec<Option<Doc>>,
    by_uuid: HashMap<Uuid, u32>,
    by_given: HashMap<String, u32>,
    /// Owners and agents of documents, each once, and their numbers.
    names: Vec<Box<str>>,
    by_name: HashMap<Box<str>, u32>,
    by_slot: HashMap<Slot, u32>,
    /// Threads by number; deleted ones stay as empty places.
    threads: Vec<Thread>,
    by_stream: HashMap<StreamId, u32>,
    by_thread_id: HashMap<String, u32>,
    speakers: Vec<Speaker>,
    jobs: BTreeMap<JobId, Job>,
    relations: HashMap<RelationId, Relation>,
    links_of: HashMap<RecordId, Vec<RelationId>>,
    given_relations: HashMap<Box<str>, RelationId>,
    fingerprints: HashMap<Digest, Vec<u32>>,
    /// Records by the messages they were made from.
    made_from: HashMap<MessageId, Vec<u32>>,
    /// Records, oldest first, as lists show them.
    ordered: BTreeSet<(Micros, Uuid)>,
    fields: Pool,
    bytes: usize,
}

/// What a profile holds, counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Valid records.
    pub memories: u64,
    /// Messages.
    pub messages: u64,
    /// Threads.
    pub sessions: u64,
    /// Registered speakers.
    pub speakers: u64,
}

impl Catalog {
    /// A document by number.
    pub fn doc(&self, doc: u32) -> Option<&Doc> {
        self.docs.get(doc as usize)?.as_ref()
    }

    /// A document by its number, if it is there for a reader now.
    pub fn visible(&self, doc: u32, now: Micros) -> Option<&Doc> {
        self.doc(doc).filter(|it| !it.erased && it.is_alive(now))
    }

    /// The number of a record or message by the id that clients use: their own if they gave one, else the UUID.
    pub fn find(&self, id: &str) -> Option<u32> {
        if let Some(doc) = self.by_given.get(id) {
            return Some(*doc);
        }
        let doc = *self.by_uuid.get(&Uuid::parse_str(id).ok()?)?;
        self.doc(doc).filter(|it| it.given.is_none()).map(|_| doc)
    }

    /// The number of a record or message by its UUID.
    pub fn by_uuid(&self, id: Uuid) -> Option<u32> {
        self.by_uuid.get(&id).copied()
    }

    /// The number of the document whose slot it is.
    pub fn by_slot(&self, slot: Slot) -> Option<u32> {
        self.by_slot.get(&slot).copied()
    }

    /// An owner or agent by its number.
    pub fn name_of(&self, number: u32) -> Option<&str> {
        self.names.get(number as usize).map(AsRef::as_ref)
    }

    /// The number of an owner or agent, if any document has it.
    pub fn number_of(&self, name: &str) -> Option<u32> {
        self.by_name.get(name).copied()
    }

    /// Whether a document has the owner and the agent of a thread: what a search from there finds where it is not told otherwise.
    pub fn is_of_owners(&self, it: &Doc, thread: &Thread) -> bool {
        let name = |number: Option<u32>| number.and_then(|number| self.name_of(number));
        name(it.user) == thread.user_id.as_deref() && name(it.agent) == thread.agent_id.as_deref()
    }

    fn numbered(&mut self, name: &str) -> u32 {
        if let Some(number) = self.by_name.get(name) {
            return *number;
        }
        let number = self.names.len() as u32;
        self.names.push(name.into());
        self.by_name.insert(name.into(), number);
        number
    }

    /// A thread by number.
    pub fn thread(&self, thread: u32) -> Option<&Thread> {
        self.threads.get(thread as usize)
    }

    /// A living thread's number by the id that clients use.
    pub fn session(&self, thread_id: &str) -> Option<u32> {
        self.by_thread_id.get(thread_id).copied()
    }

    /// Living threads and their numbers. One that was deleted later than this view stands has no id any more and is not shown.
    pub fn threads(&self) -> impl Iterator<Item = (u32, &Thread)> {
        let shown = |(_, thread): &(usize, &Thread)| !thread.deleted && !thread.thread_id.is_empty();
        self.threads.iter().enumerate().filter(shown).map(|(at, thread)| (at as u32, thread))
    }

    /// The newest summary of a thread, if all that it covers and that is still there may be shown.
    pub fn summary_of(&self, thread: u32, now: Micros) -> Option<ThreadSummary> {
        let thread = self.thread(thread)?;
        let summary = thread.summary?;
        let mut covered = thread.messages.iter().take(summary.through as usize + 1).flatten();
        covered.all(|doc| self.visible(*doc, now).is_some()).then_some(summary)
    }

    /// Registered speakers, in the order of registration.
    pub fn speakers(&self) -> impl Iterator<Item = &Speaker> {
        self.speakers.iter().filter(|speaker| !speaker.removed)
    }

    /// The name behind a registration that has not ended.
    pub fn speaker_name(&self, id: SpeakerId) -> Option<&str> {
        if id == SpeakerId::ME {
            return Some("me");
        }
        self.speakers().find(|speaker| speaker.id == id).map(|speaker| speaker.name.as_str())
    }

    /// The registration that a name has now.
    pub fn speaker_id(&self, name: &str) -> Option<SpeakerId> {
        if name == "me" {
            return Some(SpeakerId::ME);
        }
        self.speakers().find(|speaker| speaker.name == name).map(|speaker| speaker.id)
    }

    /// A job.
    pub fn job(&self, id: JobId) -> Option<&Job> {
        self.jobs.get(&id)
    }

    /// How many speakers were removed so far.
    pub fn speakers_gone(&self) -> u32 {
        self.speakers.iter().filter(|speaker| speaker.removed).count() as u32
    }

    /// Jobs, oldest first.
    pub fn jobs(&self) -> impl DoubleEndedIterator<Item = (&JobId, &Job)> {
        self.jobs.iter()
    }

    /// Every document that is there.
    pub fn docs(&self) -> impl Iterator<Item = (u32, &Doc)> {
        self.docs.iter().enumerate().filter_map(|(at, doc)| Some((at as u32, doc.as_ref()?)))
    }

    pub(super) fn says_now(&mut self, doc: u32, before: Option<Digest>, now: Digest) {
        if let Some(docs) = before.and_then(|before| self.fingerprints.get_mut(&before)) {
            docs.retain(|other| *other != doc);
        }
        self.fingerprints.entry(now).or_default().push(doc);
    }

    /// The messages of a thread that are there, in order of arrival.
    pub fn messages_in(&self, thread: u32, now: Micros) -> impl DoubleEndedIterator<Item = (u32, &Doc)> {
        let messages = self.thread(thread).map_or(&[][..], |thread| &thread.messages);
        messages.iter().flatten().filter_map(move |doc| Some((*doc, self.visible(*doc, now)?)))
    }

    /// A valid, visible record of this tag that makes the statement with this fingerprint.
    pub fn saying(&self, fingerprint: Digest, speaker: Option<SpeakerId>, now: Micros) -> Option<u32> {
        self.all_saying(fingerprint, speaker, now).next()
    }

    /// All of them.
    pub fn all_saying(
        &self,
        fingerprint: Digest,
        speaker: Option<SpeakerId>,
        now: Micros,
    ) -> impl Iterator<Item = u32> + '_ {
        let docs = self.fingerprints.get(&fingerprint).into_iter().flatten().copied();
        // What cannot be read says nothing: whoever says it again is to be kept.
        docs.filter(move |doc| self.holds_under(*doc, speaker, now).is_some_and(|it| !it.damaged))
    }

    /// A record that is valid and stands under this tag, or under none; a tag that was removed is none.
    pub fn holds_under(&self, doc: u32, speaker: Option<SpeakerId>, now: Micros) -> Option<&Doc> {
        let it = self.visible(doc, now).filter(|it| it.item.is_record())?;
        let tag = it.speaker.filter(|id| self.speaker_name(*id).is_some());
        (tag == speaker && self.is_valid(doc, now)).then_some(it)
    }

    /// Whether something that was made of a message no longer holds: it says what was corrected since. What else it says is in
    /// the other records made from it.
    pub fn is_outdated(&self, message: MessageId, now: Micros) -> bool {
        let mut records = self.made_from.get(&message).into_iter().flatten();
        records.any(|doc| !self.is_valid(*doc, now))
    }

    /// The records that rest on this message alone.
    pub fn made_from_alone(&self, message: MessageId, now: Micros) -> Vec<u32> {
        let records = self.made_from.get(&message).into_iter().flatten().copied();
        records.filter(|doc| self.visible(*doc, now).is_some_and(|it| it.sources == [message])).collect()
    }

    /// The message `offset` places away in the same thread, past those that are gone; of a message.
    pub fn beside(&self, doc: u32, offset: i32) -> Option<u32> {
        let it = self.doc(doc).filter(|it| it.item == ItemType::Message)?;
        let messages = &self.thread(it.thread?)?.messages;
        let mut at = i64::from(it.ordinal);
        let mut left = offset.abs();
        while left > 0 {
            at += i64::from(offset.signum());
            if messages.get(usize::try_from(at).ok()?)?.is_some() {
                left -= 1;
            }
        }
        messages.get(usize::try_from(at).ok()?).copied().flatten()
    }

    /// The stream that a document lies in.
    pub fn stream_of(&self, doc: &Doc, own: StreamId) -> StreamId {
        doc.thread.and_then(|thread| self.thread(thread)).map_or(own, |thread| thread.stream)
    }

    /// The slots that a document lives by.
    pub fn keys_of(&self, doc: &Doc) -> KeyPath {
        let stream = doc.thread.and_then(|thread| self.thread(thread)).map_or(Slot::NONE, |thread| thread.slot);
        KeyPath { scope: self.slot, stream, subject: doc.slot }
    }

    /// The id that clients use for a message.
    pub fn message_id(&self, id: MessageId) -> String {
        self.client_id(id.0)
    }

    /// The id that clients use for a record or message.
    pub fn client_id(&self, id: Uuid) -> String {
        let given = self.by_uuid.get(&id).and_then(|doc| self.doc(*doc)?.given.as_deref());
        given.map_or_else(|| id.to_string(), str::to_owned)
    }

    /// What there is, counted.
    pub fn counts(&self, now: Micros) -> Counts {
        let mut counts = Counts { speakers: self.speakers().count() as u64, ..Counts::default() };
        counts.sessions = self.threads().count() as u64;
        for (doc, it) in self.docs() {
            if it.erased || !it.is_alive(now) {
                continue;
            }
            if it.item == ItemType::Message {
                counts.messages += 1;
            } else if it.item.is_record() && self.is_valid(doc, now) {
                counts.memories += 1;
            }
        }
        counts
    }

    /// Estimate for the memory budget.
    pub fn bytes(&self) -> usize {
        self.bytes + self.fields.bytes()
    }
}
