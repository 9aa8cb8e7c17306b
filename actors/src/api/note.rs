//! `note.*`: what an agent must know before it works: notes for everyone, for groups and for a login, of kinds that say how
//! much they weigh, behind a gate that opens when a session has read the critical ones.

use serde::{Deserialize, Serialize};

use super::{AsOf, Done, Time, agent::Format, verb};

/// Who reads a note.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Everyone.
    All,
    /// The logins of a group.
    Group,
    /// One login.
    Own,
}

/// A note as lists show it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Note {
    /// Its number, unique in the namespace.
    pub id: u64,
    /// Who reads it.
    pub level: Level,
    /// The group that reads it.
    pub group: Option<String>,
    /// A short name; null only in a replayed reply whose note is gone.
    pub name: Option<String>,
    /// What it is grouped by.
    pub category: Option<String>,
    /// One line.
    pub info: Option<String>,
    /// Its kind.
    pub kind_key: String,
}

/// A note with what it says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Full {
    /// The rest of it.
    #[serde(flatten)]
    pub note: Note,
    /// Simple HTML: `p`, `ul`, `li`, `b` and `code`; null only in a replayed reply whose note is gone.
    pub body: Option<String>,
    /// The same as Markdown, on request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// A note as administrators see it in lists.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Anyones {
    /// The note.
    #[serde(flatten)]
    pub note: Note,
    /// Whose own it is; null for the account's, and for other levels.
    pub login: Option<String>,
}

/// A note with what it says, as administrators see it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AnyonesFull {
    /// The note.
    #[serde(flatten)]
    pub note: Full,
    /// Whose own it is; null for the account's, and for other levels.
    pub login: Option<String>,
}

/// `note.session_connect`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SessionConnect {}

/// A session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Connected {
    /// What `Memlog-Session` names from then on.
    pub session: String,
    /// How many critical notes must be loaded before anything else.
    pub critical: u64,
    /// How notes are to be read and written.
    pub rules: String,
}
verb!(SessionConnect, "note", "session_connect", Connected, note_session_connect, Nothing);

/// `note.memory_list`: by level, then category, a new note last.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemoryList {
    /// Of this level.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<Level>,
    /// Of this category.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// Of this kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind_key: Option<String>,
    /// As the log stood then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_of: Option<AsOf>,
}

/// Reply of `note.memory_list`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Listed {
    /// All of them.
    pub notes: Vec<Note>,
}
verb!(MemoryList, "note", "memory_list", Listed, note_memory_list, Session);

/// `note.memory_load`: by `ids`, or all critical ones.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemoryLoad {
    /// 1 to 500 numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ids: Option<Vec<u64>>,
    /// Every critical note that the caller reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub critical: Option<bool>,
    /// `markdown` adds `text`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<Format>,
    /// As the log stood then; what is loaded of the past does not count as read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_of: Option<AsOf>,
}

/// Reply of `note.memory_load`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Loaded {
    /// In order of precedence: level, then kind.
    pub notes: Vec<Full>,
    /// All of them as one Markdown text for a prompt, on request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}
verb!(MemoryLoad, "note", "memory_load", Loaded, note_memory_load, Session);

/// `note.memory_save`: one of the login's own. What is left out of a change is kept.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemorySave {
    /// Which one; a new one when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<u64>,
    /// 1 to 128 characters; a new note needs it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// At most 128 characters; empty takes it away.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// One line; empty takes it away.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub info: Option<String>,
    /// `kDefault` when a new note does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind_key: Option<String>,
    /// Simple HTML, at most 32,768 bytes; a new note needs it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
}

/// A reply that is a note.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct One {
    /// The note.
    pub note: Full,
}
verb!(MemorySave, "note", "memory_save", One, note_memory_save);

/// `note.memory_remove`: one of the login's own, for good.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemoryRemove {
    /// Which one.
    pub id: u64,
}
verb!(MemoryRemove, "note", "memory_remove", One, note_memory_remove);

/// `note.admin_list`: everyone's.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AdminList {
    /// Of this level.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<Level>,
    /// Of this category.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// Of this kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind_key: Option<String>,
    /// Of this group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// This login's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub login: Option<String>,
    /// As the log stood then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_of: Option<AsOf>,
}

/// Reply of `note.admin_list`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AdminListed {
    /// All of them, in the order of `memory_list`.
    pub notes: Vec<Anyones>,
}
verb!(AdminList, "note", "admin_list", AdminListed, note_admin_list);

/// `note.admin_save`: anyone's. What is left out of a change is kept.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AdminSave {
    /// Which one; a new one when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<u64>,
    /// Who reads it; a new note needs it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<Level>,
    /// The group, for the level `group`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// Whose own, for the level `own`; the caller's when left out of a new one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub login: Option<String>,
    /// 1 to 128 characters; a new note needs it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// At most 128 characters; empty takes it away.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// One line; empty takes it away.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub info: Option<String>,
    /// `kDefault` when a new note does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind_key: Option<String>,
    /// Simple HTML, at most 32,768 bytes; a new note needs it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
}

/// A reply that is anyone's note.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AdminOne {
    /// The note.
    pub note: AnyonesFull,
}
verb!(AdminSave, "note", "admin_save", AdminOne, note_admin_save);

/// `note.admin_remove`: anyone's, for good.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AdminRemove {
    /// Which one.
    pub id: u64,
}
verb!(AdminRemove, "note", "admin_remove", AdminOne, note_admin_remove);

/// A kind of notes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kind {
    /// What notes name it by.
    pub kind_key: String,
    /// For people.
    pub title: String,
    /// The built-in kind that it weighs as much as.
    pub counts_as: String,
}

/// `note.kinds`: the built-in ones, then those that were added, in that order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kinds {
    /// As the log stood then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_of: Option<AsOf>,
}

/// Reply of `note.kinds`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KindsListed {
    /// All of them.
    pub kinds: Vec<Kind>,
}
verb!(Kinds, "note", "kinds", KindsListed, note_kinds);

/// `note.kind_add`: it counts as `kDefault`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KindAdd {
    /// 1 to 64 of `[A-Za-z0-9._-]`.
    pub kind_key: String,
    /// 1 to 128 characters.
    pub title: String,
}

/// A reply that is a kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OneKind {
    /// The kind.
    pub kind: Kind,
}
verb!(KindAdd, "note", "kind_add", OneKind, note_kind_add);

/// `note.editor_open`: holds the notes for 60 seconds, or 60 more.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EditorOpen {}

/// A hold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Held {
    /// The login that holds them; null is the account itself.
    pub held_by: Option<String>,
    /// When it ends by itself.
    pub expires_at: Time,
}
verb!(EditorOpen, "note", "editor_open", Held, note_editor_open);

/// `note.editor_close`: gives the hold back.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EditorClose {}
verb!(EditorClose, "note", "editor_close", Done, note_editor_close);
