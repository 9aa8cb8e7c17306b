//! Questions asked.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::api::{
    AsOf, Said, Time,
    record::{ItemType, Record},
    verb,
};

/// How wide to look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ThinkingLevel {
    /// One reading of the question, in milliseconds.
    #[default]
    Low,
    /// A second one by its meaning, its parts, and what the first hits are linked to and tell of; a language model, if there is one.
    Medium,
    /// The same, and the first reading looks for several answers rather than one.
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
    pub reference_date: Option<Said>,
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
    /// With `expand`; none for one speaker alone.
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
    pub reference_date: Option<Said>,
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
