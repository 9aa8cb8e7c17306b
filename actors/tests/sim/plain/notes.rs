//! Notes.

use std::collections::BTreeMap;

use memlog_actors::api::error::Kind;

use super::{
    super::command::{Command, Word},
    Outcome, Told,
};

/// By the word in its name: whose it is and what it says.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Notes {
    pub(crate) notes: BTreeMap<Word, (usize, Word)>,
}

impl Notes {
    pub(super) fn apply(&mut self, command: &Command) -> Outcome {
        match command {
            Command::Pin { login, note, .. } => {
                self.notes.insert(*note, (*login, *note));
                Ok(Told::Done)
            }
            Command::Edit { login, note, body, .. } => {
                let found = self.notes.get_mut(note).filter(|(owner, _)| owner == login).ok_or(Kind::NotFound)?;
                found.1 = *body;
                Ok(Told::Done)
            }
            Command::Unpin { login, note, .. } => {
                self.notes.get(note).filter(|(owner, _)| owner == login).ok_or(Kind::NotFound)?;
                self.notes.remove(note);
                Ok(Told::Done)
            }
            other => unreachable!("{other:?} is carried out elsewhere"),
        }
    }
}
