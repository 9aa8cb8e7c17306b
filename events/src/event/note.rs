//! What happens to the notes of a namespace: the notes themselves, their kinds, the sessions that must read the critical ones,
//! and the editor's hold. All of it lies in one stream, [`Scope::notes_stream`](crate::ids::Scope::notes_stream), since a
//! save is decided by all of it at once.
//!
//! Every version of a note is sealed by the note's slot, so that removing it takes what it ever said. Who connected, read, edited
//! or removed is sealed by the registry's slot.

use serde::{Deserialize, Serialize};

use super::ByV1;
use crate::{
    code::{KindCode, LevelCode},
    ids::{Digest, Micros, SessionId, Slot},
};

/// `note_saved`: a note is new, or changed. The facts are those of the whole note, the content only what changed.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct NoteSavedV1 {
    /// Its number: 1, 2, 3, ... in the namespace, never used again.
    pub note: u64,
    /// Its slot.
    pub slot: Slot,
    /// Who reads it.
    pub level: LevelCode,
    /// Of the login whose own it is; none is the account's, or another level. Keyed by the registry's slot.
    pub login: Option<Digest>,
    /// Of the group that reads it. Keyed by the registry's slot.
    pub group: Option<Digest>,
    /// Its kind.
    pub kind: KindCode,
    /// 0 unless it is critical. Else the number, 1, 2, 3, ... in the namespace, of the last time that a note became critical, or as a
    /// critical one got other readers: sessions that read it before must read it again.
    pub admission: u64,
}

/// What changed.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct NoteSavedContentV1 {
    /// A short name; none keeps the one before.
    pub name: Option<String>,
    /// What it is grouped by, an empty one being none; none keeps the one before.
    pub category: Option<String>,
    /// One line, an empty one being none; none keeps the one before.
    pub info: Option<String>,
    /// Simple HTML; none keeps the one before.
    pub body: Option<String>,
    /// Who reads it, as far as the level does not say it; none keeps who did before.
    pub readers: Option<ReadersV1>,
    /// Who saved it.
    pub by: ByV1,
}

/// Who reads a note, in words.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ReadersV1 {
    /// The group.
    pub group: Option<String>,
    /// The login whose own it is; none is the account's, or another level.
    pub login: Option<String>,
}

/// `note_removed`: a note and all its versions are gone; erases `slot`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct NoteRemovedV1 {
    /// The note.
    pub note: u64,
    /// Its slot.
    pub slot: Slot,
}

/// `note_kind_added`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct NoteKindAddedV1 {
    /// Its number in the namespace.
    pub kind: KindCode,
    /// Of its key. Keyed by the registry's slot.
    pub key_digest: Digest,
}

/// What it is called.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct NoteKindAddedContentV1 {
    /// What notes name it by.
    pub kind_key: String,
    /// For people.
    pub title: String,
    /// Who added it.
    pub by: ByV1,
}

/// `session_connected`: a login got a session, and sessions of it that are too many ended. The login is whose doing it was.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SessionConnectedV1 {
    /// The session.
    pub session: SessionId,
    /// Of the login; none is the account's. Keyed by the registry's slot.
    pub login: Option<Digest>,
    /// The login's oldest sessions, which ended.
    pub ended: Vec<SessionId>,
}

/// `notes_loaded`: a session has read critical notes.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct NotesLoadedV1 {
    /// The session.
    pub session: SessionId,
    /// The notes, each with the admission that was read.
    pub notes: Vec<(u64, u64)>,
}

/// `editor_opened`: an administrator holds the notes for a while, or goes on holding them.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct EditorOpenedV1 {
    /// Of the administrator's login; none is the account's. Keyed by the registry's slot.
    pub login: Option<Digest>,
    /// When the hold ends by itself.
    pub expires_at: Micros,
}

/// `editor_closed`: who held the notes gave them back.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct EditorClosedV1 {
    /// When the hold would have ended by itself.
    pub expires_at: Micros,
}
