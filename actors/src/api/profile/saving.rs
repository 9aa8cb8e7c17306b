//! Memories saved, replaced and forgotten one by one.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::reading::OneMemory;
use crate::{
    api::{Done, Time, record::Record, verb},
    port::RecordType,
};

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
    /// Whether not to store what a valid record of the same speaker already says, in whatever words; true by default.
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
    /// What was changed of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warnings: Option<Vec<String>>,
}
verb!(Remember, "profile", "remember", Remembered, profile_remember);

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
