//! `trash.*`: what the caller's scope has deleted in the last thirty days.

use serde::{Deserialize, Serialize};

use super::{AsOf, Done, Time, memory::OneMemory, verb};

/// What was deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A named memory.
    Memory,
    /// The own memory of an agent that was deleted.
    AgentMemory,
}

/// A thing in the trash.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trashed {
    /// Its id.
    pub id: String,
    /// What it is.
    pub kind: Kind,
    /// Its name; null for what had none.
    pub name: Option<String>,
    /// Since when it lies there.
    pub deleted_at: Time,
    /// When it is purged.
    pub expires_at: Time,
}

/// `trash.list`: what was deleted last first.
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

/// Reply of `trash.list`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Listed {
    /// A page of it.
    pub items: Vec<Trashed>,
    /// Absent on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}
verb!(List, "trash", "list", Listed, trash_list);

/// `trash.restore`: it comes back with everything, under its old id.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Restore {
    /// Its id.
    pub id: String,
}
verb!(Restore, "trash", "restore", OneMemory, trash_restore);

/// `trash.purge`: erased for good, from disk and from the past.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Purge {
    /// Its id.
    pub id: String,
}
verb!(Purge, "trash", "purge", Done, trash_purge);
