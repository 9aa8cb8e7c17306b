//! What an agent is shown of a thread: its context card and its summary.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    super::{AsOf, record::ItemType, verb},
    Message, SearchResult,
};

/// `thread.get_context_card`
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GetContextCard {
    /// The profile.
    pub profile: String,
    /// The thread.
    pub thread_id: String,
    /// Newest messages that the search, and a summary where none is kept, are made from; 5 by default, 0 to 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fallback_message_count: Option<u64>,
    /// 0 to 100; 5 by default, or the sum of `min_relevant_results_by_type`, whichever is more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_relevant_results: Option<u64>,
    /// As in a search, for the relevant results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_budget: Option<i64>,
    /// As in a search, for the relevant results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub soft_token_budget: Option<i64>,
    /// Messages in the card, 0 to 500; 0 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_recent_messages: Option<u64>,
    /// Newest messages that neither summary nor search look at, 0 to 500; then `max_recent_messages` is 0 or as many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub except_last_messages: Option<u64>,
    /// How many of each type at least, as far as there are any; together at most 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_relevant_results_by_type: Option<BTreeMap<ItemType, u64>>,
    /// Only what matches is relevant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata_filter: Option<Map<String, Value>>,
    /// Whether records that do not hold any more are relevant; true by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub include_invalid_results: Option<bool>,
    /// As the log stood then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_of: Option<AsOf>,
}

/// Reply of `thread.get_context_card`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ContextCard {
    /// The card: XML-like text in which everything stored is escaped; empty with nothing to say.
    pub content: String,
    /// What the thread is about.
    pub summary: String,
    /// What it is about, in a few words each.
    pub topics: Vec<String>,
    /// Best first, with those that were asked for by type before the others.
    pub relevant_results: Vec<SearchResult>,
    /// In order of arrival.
    pub recent_messages: Vec<Message>,
}

verb!(GetContextCard, "thread", "get_context_card", ContextCard, thread_get_context_card);

/// `thread.get_summary`
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GetSummary {
    /// The profile.
    pub profile: String,
    /// The thread.
    pub thread_id: String,
    /// Newest messages that it is not about; the kept summary stays as it is then. 0 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub except_last: Option<u64>,
    /// Tokens that it is cut to; 0 or less is no bound. Without a model it has at most 4,000 characters in any case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_budget: Option<i64>,
    /// As the log stood then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_of: Option<AsOf>,
}

/// Reply of `thread.get_summary`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// The summary.
    pub content: String,
}
verb!(GetSummary, "thread", "get_summary", Summary, thread_get_summary);
