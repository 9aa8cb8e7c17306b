//! Conversations going in.

use serde::{Deserialize, Serialize};

use crate::api::{Said, job, verb};

/// One message of an ingested conversation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Message {
    /// `user`, `assistant` or `system`.
    pub role: String,
    /// At most 32,768 bytes, not blank.
    pub content: String,
    /// When it was said; an offset says which day it was for the speaker.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<Said>,
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
    pub job_state: Option<job::State>,
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
