//! The holes that the doors fill: a model that embeds, an extractor, a clock. Nothing here knows how they work.

use std::{pin::Pin, time::Duration};

use jiff::Timestamp;
use memlog_events::ids::JobId;

use crate::domain::Place;

/// What a text is embedded for; some models want a different prefix for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A question asked of the memory.
    Query,
    /// A text that is stored and may answer.
    Passage,
}

/// Why a text could not be embedded.
#[derive(Debug, thiserror::Error)]
#[error("the embedding model {model} failed: {reason}")]
pub struct EmbedFailed {
    /// The model's name.
    pub model: String,
    /// What went wrong, without the text.
    pub reason: String,
}

/// Turns texts into unit vectors. Calls are CPU-bound and blocking; callers keep them off async threads.
pub trait Embedder: Send + Sync + 'static {
    /// The model's name, as shown to people.
    fn name(&self) -> &str;
    /// Changes whenever the same text could give another vector (weights, tokenizer, quantisation); part of the cache key.
    fn fingerprint(&self) -> u32;
    /// Length of every vector.
    fn dimensions(&self) -> usize;
    /// One L2-normalised vector.
    fn embed(&self, text: &str, purpose: Purpose) -> Result<Vec<f32>, EmbedFailed>;
}

/// What a record is. The names are the wire's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordType {
    /// Anything; the default of threads.
    Memory,
    /// Something that is so.
    Fact,
    /// Something that happened or will, at a time.
    Event,
    /// How the agent is to behave.
    Instruction,
    /// Something to be done.
    Task,
    /// A rule of conduct for a domain.
    Guideline,
    /// What somebody likes or wants.
    Preference,
}

/// Who a message is from, as far as extraction cares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The person.
    User,
    /// The agent.
    Assistant,
    /// Standing orders; never a source of memories.
    System,
    /// A role of the client's own; treated as a person.
    Other,
}

/// One message, as an extractor sees it.
#[derive(Clone, Debug)]
pub struct Turn {
    /// Who it is from.
    pub role: Role,
    /// The registered speaker's name, if it is tagged.
    pub speaker: Option<String>,
    /// When it was said: the given timestamp, else when it was stored.
    pub said_at: Timestamp,
    /// Its text.
    pub text: String,
}

/// What one extraction works on.
#[derive(Clone, Debug, Default)]
pub struct Work {
    /// The messages to extract from, in order.
    pub turns: Vec<Turn>,
    /// Messages of the same thread before them, in order, for context only.
    pub before: Vec<Turn>,
    /// Contents of valid records already in the profile that are nearest to the turns; nothing they say is extracted again.
    pub known: Vec<String>,
}

/// One memory that an extractor found.
#[derive(Clone, Debug, PartialEq)]
pub struct Extracted {
    /// What it is.
    pub record_type: RecordType,
    /// The statement, understandable on its own.
    pub content: String,
    /// One line.
    pub summary: String,
    /// When it happened or will, if the words say so.
    pub timestamp: Option<Timestamp>,
    /// Indices into `Work::turns`; the first one's speaker is the record's.
    pub sources: Vec<usize>,
    /// Index into `Work::known` of the record that this corrects.
    pub corrects: Option<usize>,
}

/// Why an extraction gave nothing that can be used. Codes and numbers only: it is logged and stored in plain.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("extraction failed: {code}")]
pub struct ExtractFailed {
    /// A short, stable code, e.g. `malformed_answer`.
    pub code: &'static str,
    /// Whether trying again may help.
    pub transient: bool,
}

/// Finds what is worth keeping. Calls block; callers keep them off async threads.
pub trait Extractor: Send + Sync + 'static {
    /// The memories in `work.turns`.
    fn extract(&self, work: &Work) -> Result<Vec<Extracted>, ExtractFailed>;
    /// Type (fact, event, instruction or task) and one-line summary of a text that somebody saves explicitly.
    fn classify(&self, content: &str) -> (RecordType, String);
}

/// Tells the time; tests move it.
pub trait Clock: Send + Sync + 'static {
    /// Now, UTC.
    fn now(&self) -> Timestamp;
}

/// A job that is to be done. Ids only: a worker fetches the texts itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket {
    /// The job.
    pub job: JobId,
    /// The thread it works on.
    pub place: Place,
    /// Tries before this one.
    pub attempts: u32,
}

/// What a queue does, eventually.
pub type Eventually<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Carries jobs from the outbox to workers. It may deliver twice and forget everything: the log knows what is unfinished.
pub trait JobQueue: Send + Sync + 'static {
    /// Hands a job over; waits while the queue is full.
    fn put(&self, ticket: Ticket) -> Eventually<'_, ()>;
    /// The next job: in turn between profiles, one at a time and in order within a thread. None once the queue is closed.
    fn take(&self) -> Eventually<'_, Option<Ticket>>;
    /// The job needs no more work.
    fn finish(&self, ticket: Ticket);
    /// The job is to be tried again after a while, before any later one of its thread.
    fn again(&self, ticket: Ticket, after: Duration);
    /// No more jobs are handed out.
    fn close(&self);
}
