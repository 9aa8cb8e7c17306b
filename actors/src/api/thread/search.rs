//! Searches from a thread, over what its scope reaches.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::super::{
    AsOf, Time,
    given::given,
    record::{ItemType, Linked, Status},
    verb,
};

/// Whose records a search reaches. A value left out is the thread's own. An exact match with null finds only what has none; without
/// an exact match the value does not matter.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Scope {
    /// The owner.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "given")]
    pub user_id: Option<Option<String>>,
    /// The agent.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "given")]
    pub agent_id: Option<Option<String>>,
    /// The thread.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "given")]
    pub thread_id: Option<Option<String>>,
    /// True by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exact_user_match: Option<bool>,
    /// True by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exact_agent_match: Option<bool>,
    /// False by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exact_thread_match: Option<bool>,
}

/// `thread.search`
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Search {
    /// The profile.
    pub profile: String,
    /// The thread whose scope is the default.
    pub thread_id: String,
    /// At most 1,024 bytes, not blank.
    pub query: String,
    /// Whose records; not together with the single fields.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
    /// As in `scope`.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "given")]
    pub user_id: Option<Option<String>>,
    /// As in `scope`.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "given")]
    pub agent_id: Option<Option<String>>,
    /// As `thread_id` in `scope`.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "given")]
    pub scope_thread_id: Option<Option<String>>,
    /// As in `scope`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exact_user_match: Option<bool>,
    /// As in `scope`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exact_agent_match: Option<bool>,
    /// As in `scope`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exact_thread_match: Option<bool>,
    /// 1 to 100, 10 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_results: Option<u64>,
    /// Tokens of all results at most; 0 or less is no bound; the thread's setting when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_budget: Option<i64>,
    /// Tokens of all results at which no further one is added; 0 or less is no bound; the thread's setting when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub soft_token_budget: Option<i64>,
    /// All when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub record_types: Option<Vec<ItemType>>,
    /// Only what matches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata_filter: Option<Map<String, Value>>,
    /// Whether records that do not hold any more are found; true by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub include_invalid_results: Option<bool>,
    /// Links followed from each memory found, 0 to 5.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub num_hops: Option<u64>,
    /// Memories shown beside each result, 0 to 1,000; 100 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_linked_results: Option<u64>,
    /// As the log stood then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_of: Option<AsOf>,
}

/// One result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SearchResult {
    /// Its id.
    pub id: String,
    /// What it is.
    pub record_type: ItemType,
    /// Its text; of an image, what it shows.
    pub content: String,
    /// How well it answers, 0 to 1.
    pub score: f32,
    /// The owner.
    pub user_id: Option<String>,
    /// The agent.
    pub agent_id: Option<String>,
    /// The thread it lies in.
    pub thread_id: Option<String>,
    /// Whose words, if tagged.
    pub speaker: Option<String>,
    /// The client's own.
    pub metadata: Map<String, Value>,
    /// Whether it holds.
    pub status: Status,
    /// When it happened or was said, else when it was stored.
    pub timestamp: Time,
    /// What is linked to it, when hops were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub linked: Option<Vec<Linked>>,
}

/// Reply of `thread.search`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Results {
    /// Best first.
    pub results: Vec<SearchResult>,
    /// The position it is true for.
    pub seq: u64,
    /// `hybrid`, or `keyword` when there is no model.
    pub mode: String,
}
verb!(Search, "thread", "search", Results, thread_search);
