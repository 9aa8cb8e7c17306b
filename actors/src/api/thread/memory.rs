//! Memories of a thread: typed, tagged, expiring.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    super::{
        Time,
        given::given,
        record::{Record, Status},
        verb,
    },
    TtlAnchor,
};
use crate::port::RecordType;

/// `thread.add_memory`
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AddMemory {
    /// The profile.
    pub profile: String,
    /// The thread.
    pub thread_id: String,
    /// At most 32,768 bytes, not blank.
    pub content: String,
    /// `memory` when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_type: Option<RecordType>,
    /// The thread's, or the link's target's, when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_id: Option<String>,
    /// The thread's, or the link's target's, when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// 1 to 64 characters, unique in the profile; made when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_id: Option<String>,
    /// A registered speaker, or `me`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speaker: Option<String>,
    /// At most 16,384 bytes of JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Map<String, Value>>,
    /// When what it tells happened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<Time>,
    /// At least 1; null is the maximum if there is one, else never; left out, the default.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "given")]
    pub ttl_days: Option<Option<f64>>,
    /// `created_at` by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl_anchor: Option<TtlAnchor>,
    /// `valid` by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
    /// Whether related memories are looked for and linked; by default where a language model is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub autonomous_linking: Option<bool>,
    /// A memory of this thread that the new one is linked to, together with `link_type`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_id_to_link: Option<String>,
    /// What the link says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link_type: Option<String>,
    /// The link's id; made when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link_id: Option<String>,
    /// The link's time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link_timestamp: Option<Time>,
    /// The link's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link_metadata: Option<Map<String, Value>>,
}

/// Reply of `thread.add_memory`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MemoryAdded {
    /// Its id.
    pub memory_id: String,
    /// The memory.
    pub memory: Record,
    /// The link's id, if one was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link_id: Option<String>,
    /// What was changed of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warnings: Option<Vec<String>>,
}
verb!(AddMemory, "thread", "add_memory", MemoryAdded, thread_add_memory);

/// `thread.update_memory`: what is left out stays.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UpdateMemory {
    /// The profile.
    pub profile: String,
    /// The thread.
    pub thread_id: String,
    /// The memory, which must be this thread's.
    pub memory_id: String,
    /// In place of the old one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// In place of the old ones, not merged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Map<String, Value>>,
    /// Null clears it.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "given")]
    pub timestamp: Option<Option<Time>>,
    /// At least 1; null is the maximum if there is one, else never.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "given")]
    pub ttl_days: Option<Option<f64>>,
    /// `created_at` by default; without `ttl_days` the default days count from it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl_anchor: Option<TtlAnchor>,
    /// What links say comes on top.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
}

/// Reply of `thread.update_memory`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MemoryUpdated {
    /// Its id.
    pub memory_id: String,
    /// The memory.
    pub memory: Record,
    /// What was changed of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warnings: Option<Vec<String>>,
}
verb!(UpdateMemory, "thread", "update_memory", MemoryUpdated, thread_update_memory);

/// `thread.delete_memory`: waits for extraction accepted before, up to 300 seconds. Its source messages stay.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeleteMemory {
    /// The profile.
    pub profile: String,
    /// The thread.
    pub thread_id: String,
    /// The memory.
    pub memory_id: String,
}

/// Reply of verbs that delete one thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeletedOne {
    /// 0 or 1.
    pub deleted: u64,
}
verb!(DeleteMemory, "thread", "delete_memory", DeletedOne, thread_delete_memory);
