//! Notebooks with their trash, and notes.

use std::collections::BTreeMap;

use memlog_actors::api::error::Kind;

use super::{
    super::{
        command::{Command, Word},
        ports::DAY,
    },
    Outcome, Told,
};

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Book {
    pub(crate) name: usize,
    /// When it is purged.
    pub(crate) trashed: Option<i64>,
    /// The text, none once it is forgotten, and the version.
    pub(crate) entries: BTreeMap<usize, (Option<Word>, u64)>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Shelf {
    pub(crate) books: BTreeMap<Word, Book>,
}

impl Shelf {
    /// The one of that name.
    pub(crate) fn named(&self, name: usize) -> Option<Word> {
        self.books.iter().find(|(_, book)| book.name == name && book.trashed.is_none()).map(|(id, _)| *id)
    }

    pub(super) fn apply(&mut self, command: &Command, now: i64) -> Outcome {
        match command {
            Command::Create { name, book, .. } => {
                if self.named(*name).is_some() {
                    return Err(Kind::Conflict);
                }
                self.books.insert(*book, Book { name: *name, trashed: None, entries: BTreeMap::new() });
                Ok(Told::Done)
            }
            Command::Save { name, entry, word, version, .. } => {
                let entries = self.entries(*name)?;
                let (text, is) = entries.get(entry).copied().unwrap_or_default();
                if version.is_some_and(|seen| text.is_none() || seen != is) {
                    return Err(Kind::Conflict);
                }
                entries.insert(*entry, (Some(*word), is + 1));
                Ok(Told::Number("/entry/version", is + 1))
            }
            Command::ForgetEntry { name, entry, version, .. } => {
                let (text, is) = self.entries(*name)?.get_mut(entry).ok_or(Kind::NotFound)?;
                text.ok_or(Kind::NotFound)?;
                if version.is_some_and(|seen| seen != *is) {
                    return Err(Kind::Conflict);
                }
                *text = None;
                Ok(Told::Done)
            }
            Command::Trash { book, .. } => {
                let found = self.books.get_mut(book).filter(|book| book.trashed.is_none()).ok_or(Kind::NotFound)?;
                found.trashed = Some(now + 30 * DAY);
                Ok(Told::Done)
            }
            Command::Restore { book, .. } => {
                let name = self.thrown_away(*book)?.name;
                if self.named(name).is_some() {
                    return Err(Kind::Conflict);
                }
                self.books.entry(*book).and_modify(|book| book.trashed = None);
                Ok(Told::Done)
            }
            Command::Purge { book, .. } => {
                self.thrown_away(*book)?;
                self.books.remove(book);
                Ok(Told::Done)
            }
            other => unreachable!("{other:?} is carried out elsewhere"),
        }
    }

    fn entries(&mut self, name: usize) -> Result<&mut BTreeMap<usize, (Option<Word>, u64)>, Kind> {
        let book = self.named(name).ok_or(Kind::NotFound)?;
        Ok(&mut self.books.get_mut(&book).ok_or(Kind::NotFound)?.entries)
    }

    fn thrown_away(&self, book: Word) -> Result<&Book, Kind> {
        self.books.get(&book).filter(|book| book.trashed.is_some()).ok_or(Kind::NotFound)
    }

    pub(super) fn tick(&mut self, now: i64) {
        self.books.retain(|_, book| book.trashed.is_none_or(|until| until > now));
    }

    pub(super) fn ends(&self) -> Vec<i64> {
        self.books.values().filter_map(|book| book.trashed).collect()
    }
}

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
