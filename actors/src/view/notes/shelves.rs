//! Notes by who reads them: one shelf for everyone, one a group, one a login.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use memlog_events::code::LevelCode;

use super::{Note, Reader};

#[derive(Default)]
struct Shelf {
    notes: BTreeSet<u64>,
    /// The critical ones of them, with their admissions.
    critical: BTreeMap<u64, u64>,
}

impl Shelf {
    fn insert(&mut self, note: &Note) {
        self.notes.insert(note.number);
        if note.admission != 0 {
            self.critical.insert(note.number, note.admission);
        }
    }

    fn remove(&mut self, number: u64) {
        self.notes.remove(&number);
        self.critical.remove(&number);
    }
}

/// All shelves.
#[derive(Default)]
pub(super) struct Shelves {
    all: Shelf,
    groups: HashMap<String, Shelf>,
    own: HashMap<Option<String>, Shelf>,
}

impl Shelves {
    pub(super) fn insert(&mut self, note: &Note) {
        match note.level {
            LevelCode::ALL => self.all.insert(note),
            LevelCode::GROUP => self.groups.entry(note.group.clone().unwrap_or_default()).or_default().insert(note),
            _ => self.own.entry(note.login.clone()).or_default().insert(note),
        }
    }

    pub(super) fn remove(&mut self, note: &Note) {
        match note.level {
            LevelCode::ALL => self.all.remove(note.number),
            LevelCode::GROUP => {
                let group = note.group.as_deref().unwrap_or_default();
                if let Some(shelf) = self.groups.get_mut(group) {
                    shelf.remove(note.number);
                    if shelf.notes.is_empty() {
                        self.groups.remove(group);
                    }
                }
            }
            _ => {
                if let Some(shelf) = self.own.get_mut(&note.login) {
                    shelf.remove(note.number);
                    if shelf.notes.is_empty() {
                        self.own.remove(&note.login);
                    }
                }
            }
        }
    }

    /// Everyone's, then the groups', then the own.
    fn of<'a>(&'a self, reader: Reader<'a>) -> impl Iterator<Item = &'a Shelf> {
        let groups = reader.groups.iter().enumerate();
        // A group that a call names twice is still one.
        let groups = groups.filter(move |(at, group)| !reader.groups[..*at].contains(group));
        let groups = groups.filter_map(|(_, group)| self.groups.get(group));
        std::iter::once(&self.all).chain(groups).chain(self.own.get(reader.login))
    }

    pub(super) fn notes<'a>(&'a self, reader: Reader<'a>) -> impl Iterator<Item = u64> + 'a {
        self.of(reader).flat_map(|shelf| shelf.notes.iter().copied())
    }

    pub(super) fn critical<'a>(&'a self, reader: Reader<'a>) -> impl Iterator<Item = (u64, u64)> + 'a {
        self.of(reader).flat_map(|shelf| shelf.critical.iter().map(|(number, admission)| (*number, *admission)))
    }
}
