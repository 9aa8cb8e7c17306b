//! The rows of the catalog.

use std::sync::atomic::{AtomicU8, Ordering};

use memlog_events::{
    code::RoleCode,
    event::ImageFormV1,
    ids::{Digest, JobId, MessageId, Micros, RecordId, Slot, SpeakerId, StreamId, Version},
};
use uuid::Uuid;

use super::Fields;
use crate::{
    api::{Time, job, record::ItemType, thread::Settings},
    extract::dates,
    recall::Offers,
};

/// A record, a message or an image.
#[derive(Clone, Debug)]
pub struct Doc {
    /// Its UUID.
    pub id: Uuid,
    /// The id that the client gave instead.
    pub given: Option<Box<str>>,
    /// What it is.
    pub item: ItemType,
    /// Its thread's number.
    pub thread: Option<u32>,
    /// A message's place in its thread.
    pub ordinal: u32,
    /// A message's sender.
    pub role: RoleCode,
    /// Its slot.
    pub slot: Slot,
    /// Whose words: a registration, which may have ended.
    pub speaker: Option<SpeakerId>,
    /// The text ends in a question.
    pub asks: bool,
    /// What the text has to offer, once a question wanted to know.
    pub(super) learnt: Learnt,
    /// When it was stored.
    pub created_at: Micros,
    /// When it last changed.
    pub updated_at: Micros,
    /// When it happened or was said, if told.
    pub timestamp: Option<Micros>,
    /// How far the speaker's clock stood ahead of UTC; a message's.
    pub offset_seconds: i32,
    /// Unreachable from here on.
    pub expires_at: Option<Micros>,
    /// Version of its stream at which its content lies.
    pub at: Version,
    /// How often it was changed, from 1.
    pub version: u64,
    /// The messages it was made from.
    pub sources: Vec<MessageId>,
    /// Set invalid by this successor.
    pub superseded_by: Option<RecordId>,
    /// Set invalid by somebody.
    pub invalid: bool,
    /// The owner, by its number among the catalog's names.
    pub user: Option<u32>,
    /// The agent, by its number among the catalog's names.
    pub agent: Option<u32>,
    /// What an image is besides.
    pub image: Option<Box<Image>>,
    /// A record's, of its normalised text.
    pub fingerprint: Option<Digest>,
    /// The client's own fields, if there are any.
    pub metadata: Option<Fields>,
    /// Its content was gone already when the past was folded: known to have been, shown to nobody.
    pub erased: bool,
    /// Its words cannot be read, though nobody erased them.
    pub damaged: bool,
}

impl Doc {
    /// Whether its time is not over.
    pub fn is_alive(&self, now: Micros) -> bool {
        self.expires_at.is_none_or(|at| at > now)
    }

    /// What its text has to offer. The text is read at the first time alone; one that cannot be read now offers nothing now.
    pub fn offers(&self, text: impl FnOnce() -> Option<String>) -> Offers {
        if let Some(known) = self.learnt.get() {
            return known;
        }
        let Some(text) = text() else { return Offers::default() };
        let offers = Offers::of(&text, dates::day_of(Time(self.when()).timestamp()));
        self.learnt.set(offers);
        offers
    }

    /// When it happened, else when it was stored.
    pub fn when(&self) -> Micros {
        self.timestamp.unwrap_or(self.created_at)
    }
}

/// What somebody found out who only reads.
#[derive(Debug, Default)]
pub(super) struct Learnt(AtomicU8);

impl Learnt {
    const KNOWN: u8 = 1;
    const DATED: u8 = 2;
    const COUNTS: u8 = 4;

    fn get(&self) -> Option<Offers> {
        let bits = self.0.load(Ordering::Relaxed);
        let offers = Offers { dated: bits & Self::DATED > 0, counts: bits & Self::COUNTS > 0 };
        (bits & Self::KNOWN > 0).then_some(offers)
    }

    /// Of two who found it out at once, both found the same.
    fn set(&self, offers: Offers) {
        let bit = |bit, set| if set { bit } else { 0 };
        let bits = Self::KNOWN | bit(Self::DATED, offers.dated) | bit(Self::COUNTS, offers.counts);
        self.0.store(bits, Ordering::Relaxed);
    }
}

impl Clone for Learnt {
    fn clone(&self) -> Self {
        Self(AtomicU8::new(self.0.load(Ordering::Relaxed)))
    }
}

/// What an image is besides what every document is.
#[derive(Clone, Copy, Debug)]
pub struct Image {
    /// What its bytes are.
    pub form: ImageFormV1,
    /// The message that it is a part of.
    pub message: Option<MessageId>,
    /// Version of its stream at which its bytes lie.
    pub stored_at: Version,
}

/// The newest summary of a thread that a model wrote.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ThreadSummary {
    /// Version of the thread's stream at which it lies.
    pub at: Version,
    /// The ordinal of the last message that it covers.
    pub through: u32,
}

/// A thread.
#[derive(Clone, Debug)]
pub struct Thread {
    /// Its stream.
    pub stream: StreamId,
    /// Its slot.
    pub slot: Slot,
    /// The id that clients use.
    pub thread_id: String,
    /// The owner.
    pub user_id: Option<String>,
    /// The agent.
    pub agent_id: Option<String>,
    /// The client's own fields, if there are any.
    pub metadata: Option<Fields>,
    /// As the client chose them.
    pub settings: Settings,
    /// Its images, in the order in which they were added; none where one is gone.
    pub images: Vec<Option<u32>>,
    /// Its messages by ordinal; none where one is gone.
    pub messages: Vec<Option<u32>>,
    /// How each message is known when it is sent again; kept when the message is gone.
    pub digests: Vec<Digest>,
    /// When it began.
    pub created_at: Micros,
    /// When anything in it last changed.
    pub updated_at: Micros,
    /// Whether it was deleted.
    pub deleted: bool,
    /// Its summary, while nothing that it rests on was corrected, hidden or erased.
    pub summary: Option<ThreadSummary>,
    /// How often something of it was erased or superseded.
    pub changes: u32,
}

/// A registration.
#[derive(Clone, Debug)]
pub struct Speaker {
    /// The registration.
    pub id: SpeakerId,
    /// The name.
    pub name: String,
    /// When.
    pub created_at: Micros,
    /// Whether it ended.
    pub removed: bool,
}

/// An extraction job as the log tells it.
#[derive(Clone, Debug)]
pub struct Job {
    /// Its id.
    pub id: JobId,
    /// The thread it works on.
    pub thread: u32,
    /// Queued, done or failed; running is known to the queue alone.
    pub state: job::State,
    /// Tries, once it ended.
    pub attempts: u32,
    /// Why it failed.
    pub error: Option<String>,
    /// The records it made.
    pub records: Vec<RecordId>,
    /// The messages it looks at.
    pub messages: Vec<MessageId>,
    /// When it was accepted.
    pub created_at: Micros,
}
