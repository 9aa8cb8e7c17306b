//! `profile.*`: ingest conversations, remember, recall, list, forget, summarise. One file a family of verbs.

mod conversation;
mod reading;
mod saving;
mod searching;

pub use conversation::*;
pub use reading::*;
pub use saving::*;
pub use searching::*;
use serde::{Deserialize, Serialize};

use super::{AsOf, Done, Time, verb};

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
