//! `memory.*`: named notebooks of entries, in layers, with versions.
//!
//! Every verb but `create` and `list` names a memory by `id` or by `name`, one of them. Acting for a user a name is looked for
//! among the user's own memories first, then among the account's.

use serde::{Deserialize, Serialize};

use super::{AsOf, Done, Time, agent::AttachedTo, trash::Trashed, verb};

/// A memory, but for its entries.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Memory {
    /// Its id.
    pub id: String,
    /// Unique in its scope; an agent's own has none.
    pub name: Option<String>,
    /// One line.
    pub description: Option<String>,
    /// The user whose it is; null is the account.
    pub user_id: Option<String>,
    /// The agent whose own it is.
    pub agent_id: Option<String>,
    /// The agents that attach it besides, as far as the caller may see them.
    pub attached_to: Vec<AttachedTo>,
    /// Entries in all its layers.
    pub entry_count: u64,
    /// When it was created.
    pub created_at: Time,
    /// When it or any of its entries last changed.
    pub updated_at: Time,
}

/// An entry.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// One line; null once it was forgotten.
    pub description: Option<String>,
    /// Markdown; null in lists, and once it was forgotten.
    pub content: Option<String>,
    /// 1, 2, 3, ...; never used twice.
    pub version: u64,
    /// When this version was saved.
    pub updated_at: Time,
    /// `api`, `user:<id>` or `agent:<id>`; null once it was forgotten.
    pub updated_by: Option<String>,
    /// The user whose layer it lies in; null is the account's.
    pub user_id: Option<String>,
}

/// `memory.create`: an empty memory of the caller's scope.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Create {
    /// 1 to 64 of `A-Z a-z 0-9 . _ -`.
    pub name: String,
    /// One line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// A reply that is a memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OneMemory {
    /// The memory.
    pub memory: Memory,
}
verb!(Create, "memory", "create", OneMemory, memory_create);

/// `memory.get`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Get {
    /// Its id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Or its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Creates it in the caller's own scope, if that has none of this name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub create_if_missing: Option<bool>,
    /// Of the one that is created.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Read it as it was; then nothing is created.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_of: Option<AsOf>,
}
verb!(Get, "memory", "get", OneMemory, memory_get);

/// `memory.list`: named memories, newest first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct List {
    /// 1 to 500, 20 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// Of the page before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// Whose: `all`, `none` (the account's) or a user's id; the caller's own and the account's when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_filter: Option<String>,
    /// As the log stood then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_of: Option<AsOf>,
}

/// Reply of `memory.list`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Listed {
    /// A page of them.
    pub memories: Vec<Memory>,
    /// Absent on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}
verb!(List, "memory", "list", Listed, memory_list);

/// `memory.update`: what is left out is kept.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Update {
    /// Its id.
    pub id: String,
    /// Its new name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its new description; the empty string takes it away.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}
verb!(Update, "memory", "update", OneMemory, memory_update);

/// `memory.delete`: to the trash.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Delete {
    /// Its id.
    pub id: String,
}

/// Reply of `memory.delete`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Deleted {
    /// What lies in the trash now.
    pub trash: Trashed,
}
verb!(Delete, "memory", "delete", Deleted, memory_delete);

/// `memory.save`: a new entry, or a new version of one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Save {
    /// The memory's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Or its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The entry's name: 1 to 128 characters.
    pub entry: String,
    /// Markdown, at most 32,768 bytes.
    pub content: String,
    /// One line; a new entry must have it, an old one keeps what it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The version that it must still be at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
}

/// A reply that is an entry.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OneEntry {
    /// The entry.
    pub entry: Entry,
}
verb!(Save, "memory", "save", OneEntry, memory_save);

/// `memory.read`: acting for a user, that user's layer is read first, then the account's.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Read {
    /// The memory's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Or its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The entry's name.
    pub entry: String,
    /// As the log stood then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_of: Option<AsOf>,
}
verb!(Read, "memory", "read", OneEntry, memory_read);

/// `memory.forget`: an entry with all its versions, for real.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Forget {
    /// The memory's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Or its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The entry's name.
    pub entry: String,
    /// The version that it must still be at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
}
verb!(Forget, "memory", "forget", Done, memory_forget);

/// `memory.entries`: one layer, without contents: the acting user's, else the account's.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entries {
    /// The memory's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Or its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// As the log stood then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_of: Option<AsOf>,
}

/// Reply of `memory.entries` and `memory.search`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EntriesPage {
    /// By name, or best first.
    pub entries: Vec<Entry>,
}
verb!(Entries, "memory", "entries", EntriesPage, memory_entries);

/// `memory.search`: both layers, best first, with contents.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Search {
    /// The memory's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Or its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Words, any of which an entry's words may begin with.
    pub query: String,
    /// 1 to 100, 10 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// As the log stood then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_of: Option<AsOf>,
}
verb!(Search, "memory", "search", EntriesPage, memory_search);

/// `memory.history`: every version of an entry, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct History {
    /// The memory's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Or its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The entry's name.
    pub entry: String,
    /// As the log stood then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_of: Option<AsOf>,
}

/// A version of an entry.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Version {
    /// 1, 2, 3, ...
    pub version: u64,
    /// Markdown; null once it was forgotten.
    pub content: Option<String>,
    /// One line; null once it was forgotten.
    pub description: Option<String>,
    /// When it was saved.
    pub updated_at: Time,
    /// `api`, `user:<id>` or `agent:<id>`; null once it was forgotten.
    pub updated_by: Option<String>,
}

/// Reply of `memory.history`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Versions {
    /// Oldest first.
    pub versions: Vec<Version>,
}
verb!(History, "memory", "history", Versions, memory_history);
