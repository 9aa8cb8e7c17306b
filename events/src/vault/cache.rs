//! Keys lately used, so that sealing five hundred messages of a thread reads the thread's slot once; and slots that lie in a row are
//! read in a row, so that a profile which is folded does not ask the file for each of its records.
//!
//! One entry a place, found by the slot's number. The entry's lock is held while the file is read, and while what was read ahead is
//! looked at: an erasure overwrites the file first and then takes the locks to forget, so no read can put a key back that was just
//! erased.

use std::sync::Mutex;

use super::{
    Error, lock,
    slot::{SLOT_BYTES, State},
};
use crate::ids::Slot;

/// A quarter of a megabyte of keys.
const ENTRIES: usize = 4_096;
/// Slots that are read together once one was asked for and then the next: a page of the file.
const RUN_SLOTS: u64 = 64;
/// Runs kept: one for each of a few readers, found by number like the entries.
const RUNS: usize = 16;

#[derive(Debug)]
pub(super) struct Cache {
    entries: Box<[Mutex<Entry>]>,
    runs: [Mutex<Run>; RUNS],
}

#[derive(Debug)]
struct Entry {
    slot: Slot,
    state: State,
}

/// Neighbouring slots as they lie in the file, each checked when it is asked for.
#[derive(Debug, Default)]
struct Run {
    /// The number of the run; its slots begin at so many times [`RUN_SLOTS`].
    number: u64,
    /// The last slot of it that was asked for and not found here.
    asked: u64,
    /// Empty until two neighbours were asked for.
    bytes: Vec<u8>,
}

impl Cache {
    pub(super) fn new() -> Self {
        let empty = || Mutex::new(Entry { slot: Slot::NONE, state: State::Dead });
        Self { entries: (0..ENTRIES).map(|_| empty()).collect(), runs: Default::default() }
    }

    /// What a slot is. `read` looks at it alone; `read_run` fills a buffer with slots from a number on, or fails where the file ends.
    pub(super) fn get(
        &self,
        slot: Slot,
        read: impl FnOnce(Option<&[u8; SLOT_BYTES]>) -> Result<State, Error>,
        read_run: impl FnOnce(u64, &mut [u8]) -> std::io::Result<()>,
    ) -> Result<State, Error> {
        if slot == Slot::NONE {
            return Err(Error::Unknown(slot));
        }
        let mut entry = lock(self.place(slot));
        if entry.slot != slot {
            let mut run = lock(self.run(slot));
            *entry = Entry { slot, state: read(run.slot(slot, read_run))? };
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
        let mut run = lock(self.run(slot));
        if run.number == slot.0 / RUN_SLOTS {
            run.empty();
        }
    }

    fn place(&self, slot: Slot) -> &Mutex<Entry> {
        &self.entries[slot.0 as usize % ENTRIES]
    }

    fn run(&self, slot: Slot) -> &Mutex<Run> {
        &self.runs[(slot.0 / RUN_SLOTS) as usize % RUNS]
    }
}

impl Run {
    /// A slot's bytes, if it and its neighbours were read together, or are now.
    fn slot(
        &mut self,
        slot: Slot,
        read: impl FnOnce(u64, &mut [u8]) -> std::io::Result<()>,
    ) -> Option<&[u8; SLOT_BYTES]> {
        let number = slot.0 / RUN_SLOTS;
        let follows = self.number == number && self.asked.abs_diff(slot.0) <= 4;
        if self.number != number {
            self.empty();
            self.number = number;
        }
        self.asked = slot.0;
        if self.bytes.is_empty() {
            // One that is asked for alone is read alone.
            if !follows {
                return None;
            }
            self.bytes.resize(RUN_SLOTS as usize * SLOT_BYTES, 0);
            if read(number * RUN_SLOTS, &mut self.bytes).is_err() {
                self.empty();
                return None;
            }
        }
        self.bytes.as_chunks().0.get((slot.0 % RUN_SLOTS) as usize)
    }

    /// Overwrites its keys in memory, too.
    fn empty(&mut self) {
        self.bytes.fill(0);
        std::hint::black_box(&self.bytes);
        self.bytes.clear();
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::vault::slot;

    /// A file of live slots whose keys are their numbers, and how often it was read.
    struct File(Vec<u8>, Cell<usize>);

    impl File {
        fn of(slots: u64) -> Self {
            Self((0..slots).flat_map(|number| slot::live(Slot(number), &[number as u8; 32])).collect(), Cell::new(0))
        }

        fn state(&self, cache: &Cache, number: u64) -> State {
            let at = number as usize * SLOT_BYTES;
            let alone = |ahead: Option<&[u8; SLOT_BYTES]>| {
                let bytes = ahead.copied().unwrap_or_else(|| {
                    self.1.set(self.1.get() + 1);
                    self.0[at..at + SLOT_BYTES].try_into().unwrap()
                });
                slot::parse(Slot(number), &bytes)
            };
            let run = |from: u64, run: &mut [u8]| -> std::io::Result<()> {
                self.1.set(self.1.get() + 1);
                let from = from as usize * SLOT_BYTES;
                let bytes = self.0.get(from..from + run.len()).ok_or(std::io::ErrorKind::UnexpectedEof)?;
                run.copy_from_slice(bytes);
                Ok(())
            };
            cache.get(Slot(number), alone, run).unwrap()
        }
    }

    #[test]
    fn slots_in_a_row_are_read_in_a_row_and_those_at_the_end_alone() {
        let (file, cache) = (File::of(200), Cache::new());
        for number in 64..200 {
            assert_eq!(file.state(&cache, number), State::Live([number as u8; 32]));
        }
        // Two reads for each of two runs, and two for each slot of the last, which is not whole.
        assert_eq!(file.1.get(), 4 + 15);
        file.state(&cache, 70);
        assert_eq!(file.1.get(), 4 + 15);
    }

    // A key that was read ahead must not outlive its erasure.
    #[test]
    fn what_was_read_ahead_is_forgotten_too() {
        let (mut file, cache) = (File::of(128), Cache::new());
        file.state(&cache, 64);
        file.state(&cache, 65);
        let at = 66 * SLOT_BYTES;
        file.0[at..at + SLOT_BYTES].copy_from_slice(&slot::dead(Slot(66)));
        cache.forget(Slot(66));
        assert_eq!(file.state(&cache, 66), State::Dead);
        assert_eq!(file.state(&cache, 67), State::Live([67; 32]));
        let held = lock(cache.run(Slot(66))).bytes.clone();
        assert!(!held.windows(32).any(|key| key == [66; 32]));
    }
}
