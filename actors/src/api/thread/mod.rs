//! `thread.*`: conversations with typed, linked, expiring memories and images. One file a family of verbs.
//!
//! `thread_id` is only the address: what lies in a thread is named by ids of its own.

mod card;
mod image;
mod link;
mod memory;
mod message;
mod search;
mod settings;

pub use card::*;
pub use image::*;
pub use link::*;
pub use memory::*;
pub use message::*;
pub use search::*;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
pub use settings::*;

use super::{AsOf, Done, Time, given::given, verb};

/// A thread.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Thread {
    /// Its id; as a session's it is the `session_id`.
    pub thread_id: String,
    /// The owner.
    pub user_id: Option<String>,
    /// The agent.
    pub agent_id: Option<String>,
    /// The client's own.
    pub metadata: Map<String, Value>,
    /// With the defaults filled in.
    pub settings: Settings,
    /// Messages that are there.
    pub message_count: u64,
    /// When it began.
    pub created_at: Time,
    /// When anything in it last changed.
    pub updated_at: Time,
}

/// `thread.create`
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Create {
    /// The profile; created if new.
    pub profile: String,
    /// 1 to 64 characters, unique in the profile; made when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<String>,
    /// The owner: the caller's user, else a new UUID, when left out; null is nobody.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "given")]
    pub user_id: Option<Option<String>>,
    /// The agent: the caller's agent, else a new UUID, when left out; null is none.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "given")]
    pub agent_id: Option<Option<String>>,
    /// At most 16,384 bytes of JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Map<String, Value>>,
    /// How it extracts, expires and searches; fixed from here on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settings: Option<Settings>,
}

/// Reply of `thread.create` and `thread.get`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OneThread {
    /// The thread.
    pub thread: Thread,
}
verb!(Create, "thread", "create", OneThread, thread_create);

/// `thread.get`
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Get {
    /// The profile.
    pub profile: String,
    /// The thread.
    pub thread_id: String,
    /// As the log stood then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_of: Option<AsOf>,
}
verb!(Get, "thread", "get", OneThread, thread_get);

/// `thread.list`: newest first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct List {
    /// The profile.
    pub profile: String,
    /// Only this owner's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_id: Option<String>,
    /// Only this agent's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
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

/// Reply of `thread.list`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Listed {
    /// A page of them.
    pub threads: Vec<Thread>,
    /// Absent on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}
verb!(List, "thread", "list", Listed, thread_list);

/// `thread.delete`: the thread and all in it are gone for real.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Delete {
    /// The profile.
    pub profile: String,
    /// The thread.
    pub thread_id: String,
}

/// What went with a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Messages.
    pub messages: u64,
    /// Records.
    pub memories: u64,
    /// Images.
    pub images: u64,
}

/// Reply of `thread.delete`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deleted {
    /// What went with it.
    pub deleted: Counts,
}
verb!(Delete, "thread", "delete", Deleted, thread_delete);

/// `thread.wait_for_memory_extraction`: until extraction of this thread accepted before the call is done.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WaitForMemoryExtraction {
    /// The profile.
    pub profile: String,
    /// The thread.
    pub thread_id: String,
    /// How long, in seconds; 300 when left out, as long as it takes when null.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "given")]
    pub timeout: Option<Option<f64>>,
}
verb!(WaitForMemoryExtraction, "thread", "wait_for_memory_extraction", Done, thread_wait);
