//! The holes that the doors fill: a model that embeds, an extractor, a narrator, a clock. Nothing here knows how they work.

use std::{borrow::Cow, pin::Pin, time::Duration};

use jiff::{Timestamp, civil::Date};
use memlog_events::ids::{JobId, MessageId, Position, RecordId};
use serde::{Deserialize, Serialize};

use crate::{api::day_at, domain::Place};

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
    /// Cosine of a question and a text from which they are about the same though they share no word; models differ in it.
    fn cosine_floor(&self) -> f32 {
        crate::recall::MINILM_COSINE_FLOOR
    }
    /// Whether it has learnt the language of a text, as far as its letters tell. The vectors of others are kept and searched, but
    /// weigh little.
    fn reads(&self, _text: &str) -> bool {
        true
    }
    /// One L2-normalised vector.
    fn embed(&self, text: &str, purpose: Purpose) -> Result<Vec<f32>, EmbedFailed>;
}

/// What a record is. The names are the wire's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
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
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Turn {
    /// Who it is from.
    pub role: Role,
    /// The registered speaker's name, if it is tagged.
    pub speaker: Option<String>,
    /// When it was said: the given timestamp, else when it was stored.
    pub said_at: Timestamp,
    /// How far the speaker's clock stood ahead of UTC; 0 if nobody told.
    #[serde(default)]
    pub offset_seconds: i32,
    /// Its text.
    pub text: String,
}

impl Turn {
    /// The day on the speaker's own calendar.
    pub fn day(&self) -> Date {
        day_at(self.said_at, self.offset_seconds)
    }
}

/// What one extraction works on.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Work {
    /// The messages to extract from, in order.
    pub turns: Vec<Turn>,
    /// Messages of the same thread before them, in order, for context only.
    pub before: Vec<Turn>,
    /// Contents of valid records already in the profile that are nearest to the turns; nothing they say is extracted again.
    pub known: Vec<String>,
    /// Whose words each of `known` is, as the tag shows; absent, they are nobody's in particular.
    #[serde(default)]
    pub known_by: Vec<Option<String>>,
    /// How the thread wants to be read.
    #[serde(default)]
    pub reading: Reading,
}

/// How a thread wants its messages read by a model. Absent bounds are the model's own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Reading {
    /// What whoever created the thread wants the model to be told besides.
    pub instructions: Option<String>,
    /// Tokens of one prompt.
    pub input_tokens_max: Option<u64>,
    /// Tokens of one message; a longer one is shortened for the model alone.
    pub message_tokens_max: Option<u64>,
    /// Tokens of a longer one that the model is shown in order to shorten it.
    pub shortening_tokens_max: Option<u64>,
}

/// One memory that an extractor found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
    /// Index into `Work::known` of the record that this corrects; behind its end come the memories of this same result, in order,
    /// so that `known.len()` is the first of them. Only an earlier one can be meant.
    pub corrects: Option<usize>,
}

/// Why an extraction gave nothing that can be used. Codes and numbers only: it is logged and stored in plain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("extraction failed: {code}")]
pub struct ExtractFailed {
    /// A short, stable code, e.g. `malformed_answer`.
    pub code: Cow<'static, str>,
    /// Whether trying again may help.
    pub transient: bool,
}

impl ExtractFailed {
    /// Trying again may help.
    pub const fn transient(code: &'static str) -> Self {
        Self { code: Cow::Borrowed(code), transient: true }
    }

    /// Trying again would give the same.
    pub const fn lasting(code: &'static str) -> Self {
        Self { code: Cow::Borrowed(code), transient: false }
    }
}

/// Finds what is worth keeping. Calls block; callers keep them off async threads.
pub trait Extractor: Send + Sync + 'static {
    /// The memories in `work.turns`.
    fn extract(&self, work: &Work) -> Result<Vec<Extracted>, ExtractFailed>;
    /// Type (fact, event, instruction or task) and one-line summary of a text that somebody saves explicitly.
    fn classify(&self, content: &str) -> (RecordType, String);
    /// The one-line summary alone, where the type is known; never waits for anything.
    fn line(&self, content: &str) -> String {
        self.classify(content).1
    }
    /// Whether it asks somebody who may be slow; if not, it takes no longer than to read the text.
    fn waits(&self) -> bool {
        true
    }
}

/// A session, as a narrator sees it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Session {
    /// The summary so far.
    pub previous: Option<String>,
    /// The messages after those it covers, in order, the newest if they are very many; from the first if there is none.
    pub turns: Vec<Turn>,
    /// How often something of it had been erased or superseded when they were read.
    pub changes: u32,
    /// How many speakers of the profile had been removed then.
    pub speakers_gone: u32,
    /// How the thread wants to be read.
    #[serde(default)]
    pub reading: Reading,
}

/// What a narrator wrote about a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// Plain text on one line.
    pub text: String,
    /// The session's `changes`: one that was read before something was erased or superseded is dropped.
    pub changes: u32,
    /// The session's `speakers_gone`: one that may name somebody who was removed since is dropped.
    pub speakers_gone: u32,
}

/// One of the records and messages that a question found.
#[derive(Clone, Debug)]
pub struct Source {
    /// Its text.
    pub text: String,
    /// Who said it, if that is known.
    pub speaker: Option<String>,
    /// When it was said, or happened if that is known.
    pub said_at: Timestamp,
}

/// A question, and all that an answer may rest on.
#[derive(Clone, Debug)]
pub struct Question {
    /// As it was asked.
    pub text: String,
    /// The day that "today" means in it, if the client told.
    pub asked_on: Option<Date>,
    /// What was found, best first.
    pub sources: Vec<Source>,
    /// At most this many sentences.
    pub sentences_max: usize,
}

/// One sentence of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sentence {
    /// One line.
    pub text: String,
    /// Indices into `Question::sources` that say so; at least one.
    pub sources: Vec<usize>,
}

/// What a new memory may say of an older one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Relation {
    /// It takes its place.
    Supersedes,
    /// It says the opposite, and which of them holds is open.
    Contradicts,
    /// It says the same more exactly.
    Refines,
    /// It speaks for it.
    Supports,
    /// It says the same.
    Duplicates,
}

/// Why a narrator wrote nothing. A code only: it is logged in plain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("nothing was written: {code}")]
pub struct NarrationFailed {
    /// A short, stable code.
    pub code: &'static str,
}

/// Parts of a question: more have no room among the first ten hits.
pub const PARTS_MAX: usize = 4;

/// Writes texts of its own out of what it is given. Where there is none, or where it fails, the local texts do. Calls block.
pub trait Narrator: Send + Sync + 'static {
    /// What a session has been about so far.
    fn summarise(&self, session: &Session) -> Result<String, NarrationFailed>;
    /// What a new memory says of older ones: indices into `known`, each at most once. By default, and where nothing is sure, nothing.
    fn relate(&self, new: &str, known: &[String]) -> Result<Vec<(usize, Relation)>, NarrationFailed> {
        _ = (new, known);
        Ok(Vec::new())
    }
    /// The simpler questions that have to be answered before this one can be, each understood by itself, at most [`PARTS_MAX`]. By
    /// default, and of a question that is simple already, none.
    fn parts(&self, question: &str) -> Result<Vec<String>, NarrationFailed> {
        _ = question;
        Ok(Vec::new())
    }
    /// The answer, resting on the sources alone; empty if they do not answer.
    fn answer(&self, question: &Question) -> Result<Vec<Sentence>, NarrationFailed>;
    /// What an image shows, on one line, within this time. Not every model sees.
    fn caption(&self, _image: &[u8], _mime: &str, _within: Duration) -> Result<String, NarrationFailed> {
        Err(NarrationFailed { code: "sees_no_images" })
    }
}

/// Tells the time; tests move it.
pub trait Clock: Send + Sync + 'static {
    /// Now, UTC.
    fn now(&self) -> Timestamp;
}

/// A job that is to be done. Ids only: who works on it fetches the texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket {
    /// The job.
    pub job: JobId,
    /// The thread it works on.
    pub place: Place,
    /// The keyed digest of its namespace, by which it takes turns with others.
    pub namespace: [u8; 16],
    /// Where the log promises it; a retry is another promise of the same job.
    pub promised: Position,
}

/// What is done, eventually.
pub type Eventually<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The node's side of a queue: carries jobs from the outbox to workers. It may deliver twice and forget everything: the log
/// knows what is unfinished. Nothing here waits, so that a queue that is slow or away holds up nothing.
pub trait JobQueue: Send + Sync + 'static {
    /// A job is to be done. Jobs go out in turn between profiles, and one at a time and in order within a thread.
    fn put(&self, ticket: Ticket);
    /// A worker has begun with it, so another one may go out.
    fn taken(&self, job: JobId);
    /// The log says that the job needs no more work: the next one of its thread may go out.
    fn settled(&self, ticket: Ticket);
    /// The job was settled by giving it up.
    fn dead(&self, letter: DeadLetter);
    /// No more jobs are handed out.
    fn close(&self);
}

/// A job that failed for good, as a queue may keep it for operators.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadLetter {
    /// The job.
    pub job: JobId,
    /// Where the log says so.
    pub position: Position,
    /// Why, as a stable code.
    pub code: String,
    /// How many tries were made.
    pub attempts: u32,
}

/// The workers' side of a queue.
pub trait JobSource: Send + Sync + 'static {
    /// The next job; none once no more are handed out.
    fn take(&self) -> Eventually<'_, Option<Box<dyn Delivery>>>;
    /// Whether no more are handed out.
    fn is_closed(&self) -> bool;
}

/// One delivery of a job. Dropped unanswered, it is delivered again some time.
pub trait Delivery: Send + Sync {
    /// The job.
    fn job(&self) -> JobId;
    /// It is still being worked on, and is not to be delivered elsewhere.
    fn working(&self) -> Eventually<'_, ()>;
    /// It needs no more work.
    fn done(self: Box<Self>) -> Eventually<'static, ()>;
    /// It is to be delivered again after a while.
    fn again(self: Box<Self>, after: Duration) -> Eventually<'static, ()>;
}

/// What a worker gets to work on.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Assignment {
    /// The texts.
    pub work: Work,
    /// The messages behind `work.turns`, in the same order.
    pub messages: Vec<MessageId>,
    /// The records behind `work.known`, in the same order.
    pub known: Vec<RecordId>,
}

/// What came of an assignment.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Finding {
    /// The memories that were found.
    pub extracted: Vec<Extracted>,
    /// As in the assignment.
    pub messages: Vec<MessageId>,
    /// As in the assignment.
    pub known: Vec<RecordId>,
    /// The summary of the session, if one was written.
    #[serde(default)]
    pub summary: Option<Summary>,
}

/// The node does not answer, or cannot do now what it is asked for; later it may.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct DeskClosed(pub String);

/// Where a worker gets what it needs and leaves what it found: the node in this process, or one behind a network.
pub trait Desk: Send + Sync + 'static {
    /// What the job is about; none if it needs no work any more.
    fn fetch(&self, job: JobId) -> Eventually<'_, Result<Option<Assignment>, DeskClosed>>;
    /// What the job's session is about, for a narrator; none if there is nothing to summarise.
    fn session(&self, job: JobId) -> Eventually<'_, Result<Option<Session>, DeskClosed>>;
    /// The job's result. Left twice, it changes nothing the second time.
    fn complete(&self, job: JobId, finding: Finding) -> Eventually<'_, Result<(), DeskClosed>>;
    /// The try failed. When to try again; none if the job is given up or needs no work any more.
    fn fail(&self, job: JobId, failed: ExtractFailed) -> Eventually<'_, Result<Option<Duration>, DeskClosed>>;
}
