//! Notes and their kinds, the gate behind which a session waits until it has read the critical ones, and the editor that holds them.

use std::collections::{BTreeMap, BTreeSet};

use memlog_actors::api::error::Kind;

use super::{
    super::command::{ADDED, CRITICAL, Command, DEFAULT, GROUP, Word, is_in_the_group},
    Outcome, Told,
};

/// How long an editor holds the notes if it is not opened again.
const LEASE: i64 = 60_000_000;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Note {
    /// Whose own it is, or that it is the group's; everyone's if nobody's.
    pub(crate) to: Option<usize>,
    pub(crate) body: Word,
    pub(crate) kind: usize,
}

impl Note {
    pub(crate) fn is_read_by(&self, login: usize) -> bool {
        self.to.is_none_or(|to| if to == GROUP { is_in_the_group(login) } else { to == login })
    }
}

/// By the word in its name.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Notes {
    pub(crate) notes: BTreeMap<Word, Note>,
    /// Those that were added, in order, with their titles.
    pub(crate) kinds: Vec<(usize, Word)>,
    /// Whose each session is, and the critical notes that were loaded in it.
    pub(crate) sessions: BTreeMap<Word, (usize, BTreeSet<Word>)>,
    /// Who holds them in an editor, and until when.
    pub(crate) editor: Option<(usize, i64)>,
}

impl Notes {
    pub(super) fn apply(&mut self, command: &Command) -> Outcome {
        // Not even the holder's own, which go through the editor.
        if self.editor.is_some() && !matches!(command, Command::AddKind { .. }) {
            return Err(Kind::Locked);
        }
        match command {
            Command::AddKind { kind, title, .. } => {
                if self.is_kind(*kind) {
                    return Err(Kind::Conflict);
                }
                self.kinds.push((*kind, *title));
                Ok(Told::Done)
            }
            Command::Pin { login, note, kind, .. } => self.put(*note, Some(*login), *kind),
            Command::Edit { login, note, body, kind, .. } => {
                self.own(*login, *note)?;
                self.put(*note, Some(*login), *kind)?;
                self.notes.entry(*note).and_modify(|it| it.body = *body);
                Ok(Told::Done)
            }
            Command::Unpin { login, note, .. } => {
                self.own(*login, *note)?;
                self.drop(*note)
            }
            other => unreachable!("{other:?} is carried out elsewhere"),
        }
    }

    pub(super) fn administer(&mut self, command: &Command) -> Outcome {
        self.is_held_by_nobody_but(command.login())?;
        match command {
            Command::Post { note, to, kind, .. } => self.put(*note, *to, *kind),
            Command::Move { note, to, kind, .. } => {
                self.notes.get(note).ok_or(Kind::NotFound)?;
                self.put(*note, *to, *kind)
            }
            Command::Strike { note, .. } => {
                self.notes.get(note).ok_or(Kind::NotFound)?;
                self.drop(*note)
            }
            other => unreachable!("{other:?} is carried out elsewhere"),
        }
    }

    pub(super) fn in_the_editor(&mut self, command: &Command, now: i64) -> Outcome {
        self.is_held_by_nobody_but(command.login())?;
        let opens = matches!(command, Command::OpenEditor { .. });
        self.editor = opens.then_some((command.login(), now + LEASE));
        Ok(Told::Done)
    }

    fn is_held_by_nobody_but(&self, login: usize) -> Result<(), Kind> {
        if self.editor.is_none_or(|(holder, _)| holder == login) { Ok(()) } else { Err(Kind::Locked) }
    }

    pub(super) fn in_a_session(&mut self, command: &Command, session: Option<Word>) -> Outcome {
        match command {
            Command::Connect { login, session, .. } => {
                self.sessions.insert(*session, (*login, BTreeSet::new()));
                Ok(Told::Number("/critical", self.unread(*session).len() as u64))
            }
            Command::Load { .. } => {
                let unread = session.map(|session| self.unread(session)).unwrap_or_default();
                if let Some((_, read)) = session.and_then(|session| self.sessions.get_mut(&session)) {
                    read.extend(unread);
                }
                Ok(Told::Done)
            }
            other => unreachable!("{other:?} is carried out elsewhere"),
        }
    }

    /// Whether a session may do it.
    pub(super) fn pass(&self, session: Word, command: &Command) -> Result<(), Kind> {
        if matches!(command, Command::Connect { .. }) {
            return Ok(());
        }
        let (login, _) = self.sessions.get(&session).ok_or(Kind::NotFound)?;
        if *login != command.login() {
            return Err(Kind::Permission);
        }
        let open = matches!(command, Command::Load { .. }) || self.unread(session).is_empty();
        if open { Ok(()) } else { Err(Kind::CriticalUnread) }
    }

    /// The critical notes that must be loaded in a session before anything else is done in it.
    pub(crate) fn unread(&self, session: Word) -> BTreeSet<Word> {
        let Some((login, read)) = self.sessions.get(&session) else { return BTreeSet::new() };
        let critical = self.notes.iter().filter(|(_, it)| it.kind == CRITICAL && it.is_read_by(*login));
        critical.map(|(note, _)| *note).filter(|note| !read.contains(note)).collect()
    }

    /// A new note says its name. One that becomes critical or gets other readers must be read again, and not one that says something else.
    fn put(&mut self, note: Word, to: Option<usize>, kind: Option<usize>) -> Outcome {
        let before = self.notes.get(&note);
        let kind = kind.unwrap_or(before.map_or(DEFAULT, |it| it.kind));
        if !self.is_kind(kind) {
            return Err(Kind::InvalidRequest);
        }
        let after = Note { to, body: before.map_or(note, |it| it.body), kind };
        if before != Some(&after) {
            self.sessions.values_mut().for_each(|(_, read)| read.retain(|it| *it != note));
            self.notes.insert(note, after);
        }
        Ok(Told::Done)
    }

    fn drop(&mut self, note: Word) -> Outcome {
        self.notes.remove(&note);
        self.sessions.values_mut().for_each(|(_, read)| read.retain(|it| *it != note));
        Ok(Told::Done)
    }

    pub(super) fn tick(&mut self, now: i64) {
        self.editor = self.editor.filter(|(_, until)| now < *until);
    }

    pub(super) fn ends(&self) -> Option<i64> {
        self.editor.map(|(_, until)| until)
    }

    pub(crate) fn is_kind(&self, kind: usize) -> bool {
        kind < ADDED || self.kinds.iter().any(|(added, _)| *added == kind)
    }

    fn own(&self, login: usize, note: Word) -> Result<&Note, Kind> {
        self.notes.get(&note).filter(|it| it.to == Some(login)).ok_or(Kind::NotFound)
    }
}
