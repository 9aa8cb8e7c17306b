//! Notes and their kinds.

use std::collections::BTreeMap;

use memlog_actors::api::error::Kind;

use super::{
    super::command::{ADDED, Command, DEFAULT, Word},
    Outcome, Told,
};

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Note {
    /// Whose own it is.
    pub(crate) login: usize,
    pub(crate) body: Word,
    pub(crate) kind: usize,
}

/// By the word in its name.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Notes {
    pub(crate) notes: BTreeMap<Word, Note>,
    /// Those that were added, in order, with their titles.
    pub(crate) kinds: Vec<(usize, Word)>,
}

impl Notes {
    pub(super) fn apply(&mut self, command: &Command) -> Outcome {
        match command {
            Command::AddKind { kind, title, .. } => {
                if self.is_kind(*kind) {
                    return Err(Kind::Conflict);
                }
                self.kinds.push((*kind, *title));
                Ok(Told::Done)
            }
            Command::Pin { login, note, kind, .. } => {
                let kind = self.kind(*kind, DEFAULT)?;
                self.notes.insert(*note, Note { login: *login, body: *note, kind });
                Ok(Told::Done)
            }
            Command::Edit { login, note, body, kind, .. } => {
                let before = self.own(*login, *note)?.kind;
                let kind = self.kind(*kind, before)?;
                self.notes.insert(*note, Note { login: *login, body: *body, kind });
                Ok(Told::Done)
            }
            Command::Unpin { login, note, .. } => {
                self.own(*login, *note)?;
                self.notes.remove(note);
                Ok(Told::Done)
            }
            other => unreachable!("{other:?} is carried out elsewhere"),
        }
    }

    pub(crate) fn is_kind(&self, kind: usize) -> bool {
        kind < ADDED || self.kinds.iter().any(|(added, _)| *added == kind)
    }

    fn kind(&self, asked: Option<usize>, else_is: usize) -> Result<usize, Kind> {
        let kind = asked.unwrap_or(else_is);
        if self.is_kind(kind) { Ok(kind) } else { Err(Kind::InvalidRequest) }
    }

    fn own(&self, login: usize, note: Word) -> Result<&Note, Kind> {
        self.notes.get(&note).filter(|it| it.login == login).ok_or(Kind::NotFound)
    }
}
