//! Memories listed and read one by one.

use serde::{Deserialize, Serialize};

use crate::{
    api::{
        AsOf, audit,
        record::{Record, Status},
        verb,
    },
    port::RecordType,
};

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
    pub events: Vec<Happened>,
}

/// Something that happened to a record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Happened {
    /// What, when and by whom.
    #[serde(flatten)]
    pub event: audit::Event,
    /// Whose words the record is; null once the record or the name is gone.
    pub speaker: Option<String>,
}
verb!(History, "profile", "history", HistoryOf, profile_history);
