//! Notebooks with their trash, and the agents that read and write them.

use std::collections::BTreeMap;

use memlog_actors::api::error::Kind;

use super::{
    super::{
        command::{ACCOUNT, Command, Word},
        ports::DAY,
    },
    Outcome, Told,
};

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Book {
    /// An agent's own has none, and keeps none when its agent is gone.
    pub(crate) name: Option<usize>,
    /// When it is purged.
    pub(crate) trashed: Option<i64>,
    /// In the account's layer and in those of users.
    pub(crate) entries: BTreeMap<(Option<usize>, usize), Entry>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Entry {
    /// None once it is forgotten.
    pub(crate) text: Option<Word>,
    pub(crate) version: u64,
    /// The last version that was forgotten, with all before it.
    pub(crate) forgotten: u64,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Agent {
    pub(crate) name: usize,
    /// What it reads besides its own, in order, and whether it may write there.
    pub(crate) attached: Vec<(Word, bool)>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Shelf {
    pub(crate) books: BTreeMap<Word, Book>,
    /// By the word of the book of its own.
    pub(crate) agents: BTreeMap<Word, Agent>,
}

impl Book {
    fn new(name: Option<usize>) -> Self {
        Self { name, trashed: None, entries: BTreeMap::new() }
    }

    fn save(&mut self, layer: Option<usize>, entry: usize, word: Word, version: Option<u64>) -> Outcome {
        let entry = self.entries.entry((layer, entry)).or_default();
        if version.is_some_and(|seen| entry.text.is_none() || seen != entry.version) {
            return Err(Kind::Conflict);
        }
        (entry.text, entry.version) = (Some(word), entry.version + 1);
        Ok(Told::Number("/entry/version", entry.version))
    }

    /// What is said in a layer.
    pub(crate) fn said(&self, layer: Option<usize>) -> impl Iterator<Item = (usize, Word, u64)> {
        let there = self.entries.iter().filter(move |((of, _), _)| *of == layer);
        there.filter_map(|((_, entry), it)| Some((*entry, it.text?, it.version)))
    }
}

/// Each user has one over the account's.
pub(crate) fn layer_of(login: usize) -> Option<usize> {
    (login != ACCOUNT).then_some(login)
}

impl Shelf {
    /// The one of that name.
    pub(crate) fn named(&self, name: usize) -> Option<Word> {
        self.books.iter().find(|(_, book)| book.name == Some(name) && book.trashed.is_none()).map(|(id, _)| *id)
    }

    pub(super) fn apply(&mut self, command: &Command, now: i64) -> Outcome {
        match command {
            Command::Create { name, book, .. } => {
                if self.named(*name).is_some() {
                    return Err(Kind::Conflict);
                }
                self.books.insert(*book, Book::new(Some(*name)));
                Ok(Told::Done)
            }
            Command::Adopt { name, book, .. } => {
                if self.named(*name).is_none() {
                    self.books.insert(*book, Book::new(Some(*name)));
                }
                Ok(Told::Done)
            }
            Command::Rename { book, name, .. } => {
                self.living(*book)?;
                if self.agents.contains_key(book) {
                    return Err(Kind::InvalidRequest);
                }
                if self.named(*name).is_some_and(|other| other != *book) {
                    return Err(Kind::Conflict);
                }
                self.living(*book)?.name = Some(*name);
                Ok(Told::Done)
            }
            Command::Save { login, name, entry, word, version, .. } => {
                let book = self.named(*name).ok_or(Kind::NotFound)?;
                self.living(book)?.save(layer_of(*login), *entry, *word, *version)
            }
            Command::ForgetEntry { login, name, entry, version, .. } => {
                let book = self.named(*name).ok_or(Kind::NotFound)?;
                let entry = self.living(book)?.entries.get_mut(&(layer_of(*login), *entry)).ok_or(Kind::NotFound)?;
                entry.text.ok_or(Kind::NotFound)?;
                if version.is_some_and(|seen| seen != entry.version) {
                    return Err(Kind::Conflict);
                }
                (entry.text, entry.forgotten) = (None, entry.version);
                Ok(Told::Done)
            }
            Command::Trash { book, .. } => {
                self.living(*book)?;
                if self.agents.contains_key(book) || self.is_attached(*book) {
                    return Err(Kind::Conflict);
                }
                self.living(*book)?.trashed = Some(now + 30 * DAY);
                Ok(Told::Done)
            }
            Command::Restore { book, .. } => {
                let name = self.thrown_away(*book)?.name;
                if name.is_some_and(|name| self.named(name).is_some()) {
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
            other => self.of_agents(other, now),
        }
    }

    fn of_agents(&mut self, command: &Command, now: i64) -> Outcome {
        match command {
            Command::Hire { name, agent, books, .. } => {
                if self.agents.values().any(|it| it.name == *name) {
                    return Err(Kind::Conflict);
                }
                self.may_attach(*agent, books)?;
                self.books.insert(*agent, Book::new(None));
                self.agents.insert(*agent, Agent { name: *name, attached: books.clone() });
                Ok(Told::Done)
            }
            Command::Engage { name, agent, .. } => {
                if !self.agents.values().any(|it| it.name == *name) {
                    self.books.insert(*agent, Book::new(None));
                    self.agents.insert(*agent, Agent { name: *name, attached: Vec::new() });
                }
                Ok(Told::Done)
            }
            Command::Retitle { agent, name, .. } => {
                self.agents.get(agent).ok_or(Kind::NotFound)?;
                if self.agents.iter().any(|(other, it)| other != agent && it.name == *name) {
                    return Err(Kind::Conflict);
                }
                self.agents.entry(*agent).and_modify(|it| it.name = *name);
                Ok(Told::Done)
            }
            Command::Attach { agent, books, .. } => {
                self.agents.get(agent).ok_or(Kind::NotFound)?;
                self.may_attach(*agent, books)?;
                self.agents.entry(*agent).and_modify(|it| it.attached.clone_from(books));
                Ok(Told::Done)
            }
            Command::Write { agent, book, entry, word, .. } => {
                let acts = self.agents.get(agent).ok_or(Kind::NotFound)?;
                let writes = agent == book || acts.attached.contains(&(*book, true));
                let found = self.living(*book)?;
                if writes { found.save(None, *entry, *word, None) } else { Err(Kind::Permission) }
            }
            Command::Dismiss { agent, .. } => {
                self.agents.get(agent).ok_or(Kind::NotFound)?;
                // Another agent may attach its own.
                if self.is_attached(*agent) {
                    return Err(Kind::Conflict);
                }
                self.agents.remove(agent);
                self.living(*agent)?.trashed = Some(now + 30 * DAY);
                Ok(Told::Done)
            }
            other => unreachable!("{other:?} is carried out elsewhere"),
        }
    }

    fn living(&mut self, book: Word) -> Result<&mut Book, Kind> {
        self.books.get_mut(&book).filter(|book| book.trashed.is_none()).ok_or(Kind::NotFound)
    }

    /// What is there, and not the agent's own.
    fn may_attach(&mut self, agent: Word, books: &[(Word, bool)]) -> Result<(), Kind> {
        for (book, _) in books {
            self.living(*book)?;
            if *book == agent {
                return Err(Kind::InvalidRequest);
            }
        }
        Ok(())
    }

    fn is_attached(&self, book: Word) -> bool {
        self.agents.values().any(|agent| agent.attached.iter().any(|(attached, _)| *attached == book))
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
