//! Keys lately used, so that sealing five hundred messages of a thread reads the thread's slot once.
//!
//! One entry a place, found by the slot's number. The entry's lock is held while the file is read: an erasure
//! overwrites the file first and then takes the lock to forget, so no read can put a key back that was just erased.

use std::sync::Mutex;

use super::{Error, lock, slot::State};
use crate::ids::Slot;

/// A quarter of a megabyte of keys.
const ENTRIES: usize = 4_096;

#[derive(Debug)]
pub(super) struct Cache(Box<[Mutex<Entry>]>);

#[derive(Debug)]
struct Entry {
    slot: Slot,
    state: State,
}

impl Cache {
    pub(super) fn new() -> Self {
        let empty = || Mutex::new(Entry { slot: Slot::NONE, state: State::Dead });
        Self((0..ENTRIES).map(|_| empty()).collect())
    }

    pub(super) fn get(&self, slot: Slot, read: impl FnOnce() -> Result<State, Error>) -> Result<State, Error> {
        if slot == Slot::NONE {
            return Err(Error::Unknown(slot));
        }
        let mut entry = lock(self.place(slot));
        if entry.slot != slot {
            *entry = Entry { slot, state: read()? };
        }
        Ok(entry.state)
    }

    /// Overwrites the key in memory too.
    pub(super) fn forget(&self, slot: Slot) {
        let mut entry = lock(self.place(slot));
        if entry.slot == slot {
            *entry = Entry { slot: Slot::NONE, state: State::Live([0; 32]) };
            std::hint::black_box(&*entry);
        }
    }

    fn place(&self, slot: Slot) -> &Mutex<Entry> {
        &self.0[slot.0 as usize % ENTRIES]
    }
}
