//! The view of a namespace's notes: who reads which, in which order, what kinds there are, who holds the editor, and what each
//! session has yet to read. Folded from the stream of the notes; bodies are read from the log by their place.
//!
//! The gate asks this view at every call of a session, so it keeps the critical notes of each circle of readers apart: passing costs a few
//! lookups, however many notes there are.

mod shelves;

#[cfg(test)]
mod machine;

use std::collections::{BTreeMap, HashMap};

use memlog_events::{
    code::{KindCode, LevelCode},
    event::{Content, Facts, NoteSavedContentV1, NoteSavedV1},
    ids::{SessionId, Version},
    log::{Error, Log, Sealed, Stored},
};

use super::notebook::Folded;
use crate::domain::notes::counts_as;
use shelves::Shelves;

/// A note, but for its body.
#[derive(Clone, Debug, PartialEq)]
pub struct Note {
    /// Its number.
    pub number: u64,
    /// Who reads it.
    pub level: LevelCode,
    /// The group that reads it.
    pub group: Option<String>,
    /// The login whose own it is; none is the account's, or another level.
    pub login: Option<String>,
    /// A short name.
    pub name: String,
    /// What it is grouped by.
    pub category: Option<String>,
    /// One line.
    pub info: Option<String>,
    /// Its kind.
    pub kind: KindCode,
    /// What sessions must have read; 0 unless it is critical.
    pub admission: u64,
    /// The event that has its body.
    pub body: Version,
}

impl Note {
    /// The order of lists: by level, then category, none first; a new note stands last.
    pub fn listed(&self) -> (LevelCode, Option<&str>, u64) {
        (self.level, self.category.as_deref(), self.number)
    }

    /// The order in which they take precedence: by level, then kind.
    pub fn precedence(&self) -> (LevelCode, KindCode, u64) {
        (self.level, counts_as(self.kind), self.number)
    }

    fn bytes(&self) -> usize {
        let texts = [&self.group, &self.login, &self.category, &self.info];
        NOTE_BYTES + self.name.len() + texts.into_iter().flatten().map(String::len).sum::<usize>()
    }
}

/// A kind that the namespace added.
#[derive(Clone, Debug, PartialEq)]
pub struct Kind {
    /// Its number.
    pub code: KindCode,
    /// What notes name it by.
    pub key: String,
    /// For people.
    pub title: String,
}

/// Who asks.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a> {
    /// The login; none is the account.
    pub login: &'a Option<String>,
    /// Its groups at this call.
    pub groups: &'a [String],
}

/// What a session is known by.
#[derive(Clone, Debug, Default)]
pub struct Session {
    login: Option<String>,
    read: HashMap<u64, u64>,
}

/// A namespace's notes as reads see them.
#[derive(Default)]
pub struct Board {
    notes: BTreeMap<u64, Note>,
    shelves: Shelves,
    /// In the order in which they were added.
    pub kinds: Vec<Kind>,
    sessions: HashMap<SessionId, Session>,
    /// Who opened the editor and did not close it.
    editor: Option<Option<String>>,
    bytes: usize,
}

/// What a note costs besides its texts.
const NOTE_BYTES: usize = 300;
/// What a session costs, and what each note that it has read.
const SESSION_BYTES: usize = 150;
const READ_BYTES: usize = 24;

impl Board {
    /// A note, whoever reads it.
    pub fn note(&self, number: u64) -> Option<&Note> {
        self.notes.get(&number)
    }

    /// All notes.
    pub fn all(&self) -> impl Iterator<Item = &Note> {
        self.notes.values()
    }

    /// The notes that somebody reads.
    pub fn of<'a>(&'a self, reader: Reader<'a>) -> impl Iterator<Item = &'a Note> {
        self.shelves.notes(reader).filter_map(|number| self.notes.get(&number))
    }

    /// Whether somebody reads a note.
    pub fn reads(&self, reader: Reader<'_>, note: &Note) -> bool {
        match note.level {
            LevelCode::ALL => true,
            LevelCode::GROUP => note.group.as_ref().is_some_and(|group| reader.groups.contains(group)),
            _ => note.login == *reader.login,
        }
    }

    /// The critical notes that somebody reads.
    pub fn critical(&self, reader: Reader<'_>) -> Vec<u64> {
        self.shelves.critical(reader).map(|(number, _)| number).collect()
    }

    /// The critical notes that a session has yet to read.
    pub fn unread(&self, session: &Session, reader: Reader<'_>) -> Vec<u64> {
        let critical = self.shelves.critical(reader);
        critical
            .filter(|(number, admission)| session.read.get(number) != Some(admission))
            .map(|(number, _)| number)
            .collect()
    }

    /// A session that has not ended.
    pub fn session(&self, id: SessionId) -> Option<&Session> {
        self.sessions.get(&id)
    }

    /// Who holds the notes in an editor, or was the last to; none if the hold was given back.
    pub fn last_editor(&self) -> Option<&Option<String>> {
        self.editor.as_ref()
    }

    /// Folds what happened. A note whose content is gone was removed since, and never was.
    pub fn fold(&mut self, facts: &Facts, content: Option<Content>, at: Version) {
        match (facts, content) {
            (Facts::NoteSaved(e), Some(Content::NoteSaved(content))) => self.save(e, content, at),
            (Facts::NoteRemoved(e), _) => drop(self.take(e.note)),
            (Facts::NoteKindAdded(e), Some(Content::NoteKindAdded(content))) => {
                self.bytes += NOTE_BYTES;
                self.kinds.push(Kind { code: e.kind, key: content.kind_key, title: content.title });
            }
            (Facts::SessionConnected(e), content) => {
                for ended in &e.ended {
                    self.sessions.remove(ended);
                }
                let login = content.and_then(|content| content.by().user.clone());
                self.bytes = (self.bytes + SESSION_BYTES).saturating_sub(e.ended.len() * SESSION_BYTES);
                self.sessions.insert(e.session, Session { login, read: HashMap::new() });
            }
            (Facts::NotesLoaded(e), _) => self.load(e.session, &e.notes),
            (Facts::EditorOpened(_), content) => {
                self.editor = Some(content.and_then(|content| content.by().user.clone()));
            }
            (Facts::EditorClosed(_), _) => self.editor = None,
            _ => {}
        }
    }

    fn save(&mut self, e: &NoteSavedV1, content: NoteSavedContentV1, at: Version) {
        let before = self.take(e.note);
        let NoteSavedContentV1 { name, category, info, body, readers, .. } = content;
        let filled = |text: Option<String>, before: Option<String>| match text {
            Some(text) => Some(text).filter(|text| !text.is_empty()),
            None => before,
        };
        let before = before.unwrap_or_else(|| Note {
            number: e.note,
            level: e.level,
            group: None,
            login: None,
            name: String::new(),
            category: None,
            info: None,
            kind: e.kind,
            admission: 0,
            body: at,
        });
        let (group, login) = match readers {
            Some(readers) => (readers.group, readers.login),
            None => (before.group, before.login),
        };
        let note = Note {
            number: e.note,
            level: e.level,
            group,
            login,
            name: name.unwrap_or(before.name),
            category: filled(category, before.category),
            info: filled(info, before.info),
            kind: e.kind,
            admission: e.admission,
            body: if body.is_some() { at } else { before.body },
        };
        self.bytes += note.bytes();
        self.shelves.insert(&note);
        self.notes.insert(e.note, note);
    }

    fn take(&mut self, number: u64) -> Option<Note> {
        let note = self.notes.remove(&number)?;
        self.bytes = self.bytes.saturating_sub(note.bytes());
        self.shelves.remove(&note);
        Some(note)
    }

    fn load(&mut self, session: SessionId, read: &[(u64, u64)]) {
        let Some(session) = self.sessions.get_mut(&session) else { return };
        let before = session.read.len();
        session.read.retain(|number, admission| self.notes.get(number).is_some_and(|it| it.admission == *admission));
        session.read.extend(read.iter().copied());
        self.bytes = (self.bytes + session.read.len() * READ_BYTES).saturating_sub(before * READ_BYTES);
    }
}

impl Session {
    /// Whether it is this login's.
    pub fn is_of(&self, login: &Option<String>) -> bool {
        self.login == *login
    }

    /// Whether it has yet to read a note.
    pub fn has_to_read(&self, note: &Note) -> bool {
        note.admission != 0 && self.read.get(&note.number) != Some(&note.admission)
    }
}

impl Folded for Board {
    fn apply(&mut self, log: &Log, event: &Stored) -> Result<(), Error> {
        let content = match log.open_content(event)? {
            Sealed::Open(content) => Some(content),
            Sealed::Erased | Sealed::None => None,
        };
        self.fold(&event.facts, content, event.head.version);
        Ok(())
    }

    fn bytes(&self) -> usize {
        self.bytes
    }
}
