//! The notes of a namespace: who reads each, what kind it is, which critical ones a session has yet to read, and who holds them in
//! an editor. One aggregate, since every save is decided by all of this at once: a hold that is opened, a kind that is added and
//! a note that becomes critical must each be seen by whatever comes next.
//!
//! A note that becomes critical, or as a critical one gets other readers, is *admitted*: sessions remember the admissions that
//! they have read, so a change of the text alone asks nobody to read again.

mod add_kind;
mod connect;
mod edit;
mod load;
mod remove;
mod save;

use std::collections::{BTreeMap, BTreeSet};

use memlog_events::{
    batch::Outcome,
    code::{KindCode, LevelCode, StreamKind},
    event::{ByV1, Content, Facts},
    ids::{Digest, KeyPath, Micros, SessionId, Slot},
};
use serde::{Deserialize, Serialize};

pub use add_kind::AddKind;
pub use connect::{Connect, Connected};
pub use edit::{CloseEditor, Held, OpenEditor};
pub use load::Load;
pub use remove::RemoveNote;
pub use save::{Placing, SaveNote, Texts};

use super::{Aggregate, Answered, Fact, Inputs, Place, Rejection};
use crate::limits::EDITOR_LEASE_S;

/// A namespace's notes as decisions see them.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Notes {
    /// All that are not removed, by number.
    pub notes: BTreeMap<u64, Note>,
    /// Those that have not ended.
    pub sessions: BTreeMap<SessionId, Session>,
    logins: BTreeMap<Option<Digest>, BTreeSet<SessionId>>,
    kinds: BTreeMap<Digest, KindCode>,
    editor: Option<Editor>,
    last_note: u64,
    last_admission: u64,
}

/// A note.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Note {
    /// Its slot.
    pub slot: Slot,
    /// Who reads it.
    pub readers: Readers,
    /// Its kind.
    pub kind: KindCode,
    /// What sessions must have read; 0 unless it is critical.
    pub admission: u64,
}

/// Who reads a note: its level, and the digest of the login or the group where the level asks for one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Readers {
    /// The level.
    pub level: LevelCode,
    /// The login whose own it is; none is the account's, or another level.
    pub login: Option<Digest>,
    /// The group.
    pub group: Option<Digest>,
}

/// A session.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Session {
    /// The login that connected.
    pub login: Option<Digest>,
    /// Critical notes that it has read, and at which admission.
    pub read: BTreeMap<u64, u64>,
}

#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
struct Editor {
    login: Option<Digest>,
    expires_at: Micros,
}

/// Who changes notes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// Its own alone.
    Member,
    /// Everyone's.
    Admin,
}

impl Aggregate for Notes {
    const KIND: StreamKind = StreamKind::NOTEBOOK;
    const SNAPSHOT_LAYOUT: u16 = 1;

    fn evolve(&mut self, facts: &Facts, _: Micros) {
        match facts {
            Facts::NoteSaved(e) => {
                let readers = Readers { level: e.level, login: e.login, group: e.group };
                let note = Note { slot: e.slot, readers, kind: e.kind, admission: e.admission };
                self.notes.insert(e.note, note);
                self.last_note = self.last_note.max(e.note);
                self.last_admission = self.last_admission.max(e.admission);
            }
            Facts::NoteRemoved(e) => {
                self.notes.remove(&e.note);
            }
            Facts::NoteKindAdded(e) => {
                self.kinds.insert(e.key_digest, e.kind);
            }
            Facts::SessionConnected(e) => self.connect(e.session, e.login, &e.ended),
            Facts::NotesLoaded(e) => self.load(e.session, &e.notes),
            Facts::EditorOpened(e) => self.editor = Some(Editor { login: e.login, expires_at: e.expires_at }),
            Facts::EditorClosed(_) => self.editor = None,
            _ => {}
        }
    }
}

impl Notes {
    fn connect(&mut self, session: SessionId, login: Option<Digest>, ended: &[SessionId]) {
        let of_login = self.logins.entry(login).or_default();
        for session in ended {
            of_login.remove(session);
            self.sessions.remove(session);
        }
        of_login.insert(session);
        self.sessions.insert(session, Session { login, read: BTreeMap::new() });
    }

    fn load(&mut self, session: SessionId, read: &[(u64, u64)]) {
        let Some(session) = self.sessions.get_mut(&session) else { return };
        // What a session keeps in mind is never more than the critical notes of now.
        session.read.retain(|note, admission| self.notes.get(note).is_some_and(|it| it.admission == *admission));
        session.read.extend(read.iter().copied());
    }

    /// Who holds the notes in an editor. A lease that ends later than any could was given by a clock that was set back since:
    /// nobody is to be locked out by it.
    fn editor(&self, now: Micros) -> Option<Editor> {
        let longest = Micros(now.0.saturating_add(2 * EDITOR_LEASE_S * 1_000_000));
        self.editor.filter(|editor| now < editor.expires_at && editor.expires_at <= longest)
    }

    /// While an editor is open, members change nothing, and of the administrators only the one who holds it.
    fn may_change(&self, role: Role, login: Option<Digest>, now: Micros) -> Result<(), Rejection> {
        match self.editor(now) {
            Some(editor) if role == Role::Member || editor.login != login => Err(Rejection::NotesHeld),
            _ => Ok(()),
        }
    }

    /// A note that whoever asks may change. To a member there are no others.
    fn changeable(&self, note: u64, role: Role, login: Option<Digest>) -> Result<&Note, Rejection> {
        let own = Readers { level: LevelCode::OWN, login, group: None };
        let found = self.notes.get(&note).filter(|note| role == Role::Admin || note.readers == own);
        found.ok_or(Rejection::NoNote)
    }
}

/// The kind that a key names, if memlog has it of its own.
pub fn built_in(kind_key: &str) -> Option<KindCode> {
    match kind_key {
        "kCritical" => Some(KindCode::CRITICAL),
        "kDirect" => Some(KindCode::DIRECT),
        "kSkill" => Some(KindCode::SKILL),
        "kDefault" => Some(KindCode::DEFAULT),
        _ => None,
    }
}

/// What a kind counts as: those that a namespace adds count as the last.
pub fn counts_as(kind: KindCode) -> KindCode {
    kind.min(KindCode::DEFAULT)
}

/// The number of a note that a command made, changed or removed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Numbered(pub u64);

impl Answered for Numbered {
    fn outcome(&self) -> Outcome {
        Outcome { ids: Vec::new(), numbers: vec![self.0] }
    }

    fn from_outcome(outcome: &Outcome) -> Option<Self> {
        match (outcome.ids.as_slice(), outcome.numbers.as_slice()) {
            ([], [number]) => Some(Self(*number)),
            _ => None,
        }
    }
}

fn login_digest(login: Option<&String>, place: &Place, inputs: &dyn Inputs) -> Option<Digest> {
    login.map(|login| inputs.digest(place.scope_slot, &[b"login", login.as_bytes()]))
}

fn group_digest(group: &str, place: &Place, inputs: &dyn Inputs) -> Digest {
    inputs.digest(place.scope_slot, &[b"group", group.as_bytes()])
}

fn kind_digest(kind_key: &str, place: &Place, inputs: &dyn Inputs) -> Digest {
    inputs.digest(place.scope_slot, &[b"kind", kind_key.as_bytes()])
}

/// An event that has nothing to say but who did it.
fn told(facts: Facts, by: &ByV1, place: &Place) -> Fact {
    Fact { facts, content: super::by_alone(by, place, Slot::NONE) }
}

/// What seals a note.
fn sealed(content: Content, slot: Slot, place: &Place) -> Option<(Content, KeyPath)> {
    Some((content, KeyPath { scope: place.scope_slot, stream: Slot::NONE, subject: slot }))
}
