//! `profile.*`: ingest conversations, remember, recall, list, forget, summarise.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{AsOf, Done, Time, record::ItemType, record::Record, record::Status, verb};
use crate::port::RecordType;

/// A profile at a glance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    /// Its name.
    pub name: String,
    /// Valid records.
    pub memories: u64,
    /// Raw messages.
    pub messages: u64,
    /// Sessions.
    pub sessions: u64,
    /// Registered speakers.
    pub speakers: u64,
    /// When it was created.
    pub created_at: Time,
    /// When anything in it last changed.
    pub updated_at: Time,
}

/// `profile.get`: creates it if new.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Get {
    /// Its name.
    pub profile: String,
    /// Read it as it was; then nothing is created.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_of: Option<AsOf>,
}

/// Reply of `profile.get`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Got {
    /// The profile.
    pub profile: Profile,
}
verb!(Get, "profile", "get", Got, profile_get);

/// `profile.list`: newest first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct List {
    /// 1 to 500, 20 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// Of the page before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// As the log stood then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_of: Option<AsOf>,
}

/// Reply of `profile.list`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Listed {
    /// A page of them.
    pub profiles: Vec<Profile>,
    /// Absent on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}
verb!(List, "profile", "list", Listed, profile_list);

/// `profile.delete`: idempotent; gone for every read at once.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Delete {
    /// Its name.
    pub profile: String,
}
verb!(Delete, "profile", "delete", Done, profile_delete);

/// One message of an ingested conversation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Message {
    /// `user`, `assistant` or `system`.
    pub role: String,
    /// At most 32,768 bytes, not blank.
    pub content: String,
    /// When it was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<Time>,
    /// A registered speaker, or `me`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speaker: Option<String>,
    /// 1 to 64 characters, unique in the profile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
}

/// `profile.ingest`: stores what is new of a conversation and queues its extraction.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ingest {
    /// The profile; created if new.
    pub profile: String,
    /// 1 to 500.
    pub messages: Vec<Message>,
    /// At most 64 characters; found or derived from the messages when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// Whether to wait for the extraction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait: Option<bool>,
    /// How long, in seconds; 30 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_s: Option<f64>,
}

/// Reply of `profile.ingest` and `profile.add_turn`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ingested {
    /// The session they went to.
    pub session_id: String,
    /// Of all messages sent, in order, stored now or before.
    pub message_ids: Vec<String>,
    /// How many were stored now.
    pub accepted: u64,
    /// How many were there already.
    pub duplicates: u64,
    /// The extraction; null when nothing was stored.
    pub job_id: Option<String>,
    /// With `wait`: what became of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job_state: Option<super::job::State>,
}
verb!(Ingest, "profile", "ingest", Ingested, profile_ingest);

/// `profile.add_turn`: always appends the two messages.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AddTurn {
    /// The profile; created if new.
    pub profile: String,
    /// What the user said.
    pub user: String,
    /// What the assistant answered.
    pub assistant: String,
    /// The session; a new one when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
}
verb!(AddTurn, "profile", "add_turn", Ingested, profile_add_turn);

/// `profile.remember`: saves one memory.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Remember {
    /// The profile; created if new.
    pub profile: String,
    /// At most 32,768 bytes, not blank.
    pub content: String,
    /// Found among fact, event, instruction and task when left out.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub record_type: Option<RecordType>,
    /// Opens the thread if it is new.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// A registered speaker, or `me`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speaker: Option<String>,
    /// At most 16,384 bytes of JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Map<String, Value>>,
    /// When what it tells happened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<Time>,
    /// At least 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl_days: Option<f64>,
    /// Whether to refuse what a valid record already says; true by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dedupe: Option<bool>,
}

/// What `remember` did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stored {
    /// It is a new record.
    Stored,
    /// A valid record of the same speaker says the same; nothing was stored.
    Duplicate,
}

/// Reply of `profile.remember`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Remembered {
    /// What was done.
    pub status: Stored,
    /// The record that says the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duplicate_of: Option<String>,
    /// How alike, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub similarity: Option<f32>,
    /// The same in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The new record, or the one that says the same.
    pub memory: Record,
}
verb!(Remember, "profile", "remember", Remembered, profile_remember);

/// How wide to look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ThinkingLevel {
    /// The nearest candidates.
    #[default]
    Low,
    /// More.
    Medium,
    /// Most, and slowest.
    High,
}

/// How much to say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResponseLength {
    /// One sentence.
    Short,
    /// A few.
    #[default]
    Medium,
    /// All that bears on it.
    Long,
}

/// What narrows a search; the fields stand beside the others of their request.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filters {
    /// Only these types.
    pub types: Option<Vec<ItemType>>,
    /// Only what was stored under this tag.
    pub speaker: Option<String>,
    /// Only this session.
    pub session_id: Option<String>,
    /// Only what matches (section 4's filter language).
    pub metadata_filter: Option<Map<String, Value>>,
    /// Invalid records too.
    pub include_invalid: bool,
}

/// `profile.search`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Search {
    /// The profile.
    pub profile: String,
    /// At most 1,024 bytes, not blank.
    pub query: String,
    /// 1 to 100, 10 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// Only these types.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub types: Option<Vec<ItemType>>,
    /// Only what was stored under this tag.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speaker: Option<String>,
    /// Only this session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// Only what matches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata_filter: Option<Map<String, Value>>,
    /// Invalid records too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub include_invalid: Option<bool>,
    /// Follow links this far, 0 to 5.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub num_hops: Option<u64>,
    /// Add passages of the sessions around the hits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expand: Option<bool>,
    /// The day the question is asked, for "last week".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference_date: Option<Time>,
    /// As the log stood then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_of: Option<AsOf>,
}

/// A stretch of a session around hits; carries no speaker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Passage {
    /// The session.
    pub session_id: String,
    /// Of the messages in it, in order.
    pub message_ids: Vec<String>,
    /// Their texts, a line each.
    pub content: String,
}

/// Reply of `profile.search`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Found {
    /// Best first, with content and score.
    pub memories: Vec<Record>,
    /// With `expand`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passages: Option<Vec<Passage>>,
    /// The position it is true for.
    pub seq: u64,
    /// `hybrid`, or `keyword` when there is no model.
    pub mode: String,
}
verb!(Search, "profile", "search", Found, profile_search);

/// `profile.recall`: an answer with its sources.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recall {
    /// The profile.
    pub profile: String,
    /// At most 1,024 bytes, not blank.
    pub query: String,
    /// How wide to look.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking_level: Option<ThinkingLevel>,
    /// How much to say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_length: Option<ResponseLength>,
    /// The day the question is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference_date: Option<Time>,
    /// 1 to 100, 10 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// Only these types.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub types: Option<Vec<ItemType>>,
    /// Only what was stored under this tag.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speaker: Option<String>,
    /// Only this session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// Only what matches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata_filter: Option<Map<String, Value>>,
    /// Invalid records too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub include_invalid: Option<bool>,
    /// As the log stood then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_of: Option<AsOf>,
}

/// A source of an answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// The record's or message's id.
    pub id: String,
    /// What it is.
    #[serde(rename = "type")]
    pub item_type: ItemType,
    /// One line.
    pub summary: String,
    /// Its session.
    pub session_id: Option<String>,
    /// Who said it, if tagged.
    pub speaker: Option<String>,
    /// How well it answers, 0 to 1.
    pub score: f32,
    /// When it was stored.
    pub created_at: Time,
}

/// Reply of `profile.recall`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recalled {
    /// How many candidates.
    pub count: u64,
    /// Empty if nothing matches.
    pub answer: String,
    /// Best first.
    pub candidates: Vec<Candidate>,
    /// The position it is true for.
    pub seq: u64,
    /// `hybrid`, or `keyword` when there is no model.
    pub mode: String,
}
verb!(Recall, "profile", "recall", Recalled, profile_recall);

/// `profile.memories`: a page of records without content, newest first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Memories {
    /// The profile.
    pub profile: String,
    /// 1 to 500, 20 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// Of the page before; it pins the position.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// Only this session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// Only this type.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub record_type: Option<RecordType>,
    /// `valid` by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
    /// As the log stood then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_of: Option<AsOf>,
}

/// Reply of `profile.memories`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MemoriesPage {
    /// Without content.
    pub memories: Vec<Record>,
    /// Absent on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}
verb!(Memories, "profile", "memories", MemoriesPage, profile_memories);

/// `profile.memory`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Memory {
    /// The profile.
    pub profile: String,
    /// The record.
    pub memory_id: String,
    /// As the log stood then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_of: Option<AsOf>,
}

/// A reply that is one record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OneMemory {
    /// The record.
    pub memory: Record,
}
verb!(Memory, "profile", "memory", OneMemory, profile_memory);

/// `profile.history`: the events of one record, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct History {
    /// The profile.
    pub profile: String,
    /// The record.
    pub memory_id: String,
    /// As the log stood then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_of: Option<AsOf>,
}

/// Reply of `profile.history`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HistoryOf {
    /// Oldest first.
    pub events: Vec<super::audit::Event>,
}
verb!(History, "profile", "history", HistoryOf, profile_history);

/// `profile.supersede`: a new record takes an old one's place.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Supersede {
    /// The profile.
    pub profile: String,
    /// The old record.
    pub memory_id: String,
    /// The new text.
    pub content: String,
    /// Kept when left out.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub record_type: Option<RecordType>,
    /// Kept when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Map<String, Value>>,
    /// Kept when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<Time>,
}
verb!(Supersede, "profile", "supersede", OneMemory, profile_supersede);

/// `profile.forget`: a record, its source messages and their text are gone for real.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Forget {
    /// The profile.
    pub profile: String,
    /// The record.
    pub memory_id: String,
}
verb!(Forget, "profile", "forget", OneMemory, profile_forget);

/// `profile.delete_session`: idempotent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeleteSession {
    /// The profile.
    pub profile: String,
    /// The session.
    pub session_id: String,
}
verb!(DeleteSession, "profile", "delete_session", Done, profile_delete_session);

/// `profile.summary`: Markdown over everything stored.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Summary {
    /// The profile.
    pub profile: String,
    /// What "Last Session" is about; the latest when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// As the log stood then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_of: Option<AsOf>,
}

/// Reply of `profile.summary`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summarised {
    /// Markdown.
    pub summary: String,
}
verb!(Summary, "profile", "summary", Summarised, profile_summary);

/// `profile.wait`: until extraction accepted before the call is done.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wait {
    /// The profile.
    pub profile: String,
    /// Only this job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job_id: Option<String>,
    /// How long, in seconds; 30 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_s: Option<f64>,
}
verb!(Wait, "profile", "wait", Done, profile_wait);
