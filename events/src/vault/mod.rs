//! The vault: the keys that contents are sealed with, in a file of its own that is overwritten in place.
//!
//! Erasing is here and nowhere else: a slot's 32 key bytes are overwritten and synced, and with them go every content,
//! embedding and fingerprint whose key was derived from it, in every copy of the log that there is. The log never holds
//! a key, and the vault never holds a word. What may never enter: copy-on-write. A page store keeps old pages, so keys
//! do not go into redb.

mod cache;
mod header;
mod keys;
mod random;
mod seal;
mod slot;

use std::{
    io,
    ops::Range,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use redb::StorageBackend;
use uuid::Uuid;

use crate::{
    ids::{KeyPath, Position, Slot},
    trouble::told,
};

use cache::Cache;
use header::Header;
pub use keys::Key;
use keys::Roots;
pub use random::{Fill, Random};
pub(crate) use slot::{SLOT_BYTES, State};

/// Slots before this one are the vault's own: format, `erased_through`, root secret, room for more.
pub const FIRST_SLOT: u64 = 16;
/// How many slots are made and synced at a time. One sync a few thousand subjects costs them nothing.
const SLOTS_AHEAD: u64 = 4_096;
/// Bytes read at once when it is copied.
const COPY_BYTES: usize = 1 << 20;
/// With fewer left than this the writer makes more before anybody has to wait for them.
const SLOTS_LOW: u64 = 1_024;

/// Why the vault could not do it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file could not be read, written or synced.
    #[error("{}", told("the disk of the vault", .0))]
    Io(#[from] io::Error),
    /// A slot's check does not match: neither alive nor properly erased.
    #[error("vault slot {} is damaged", .0.0)]
    Damaged(Slot),
    /// The file ends before a slot that the log refers to: an older vault than its log.
    #[error("vault lacks slot {}", .0.0)]
    Missing(Slot),
    /// A key path without any slot, or a slot that was never handed out.
    #[error("slot {} was never handed out", .0.0)]
    Unknown(Slot),
    /// The file is not a vault.
    #[error("vault header is damaged")]
    Header,
    /// Made by a later memlog.
    #[error("vault format {0} is unknown to this version")]
    Format(u32),
    /// The operating system gave no random bytes.
    #[error("no random bytes")]
    Random,
}

/// What a look at a slot finds, for those who may not see keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SlotState {
    Live,
    Dead,
    /// Damaged, or missing.
    Bad,
}

/// The open vault.
#[derive(Debug)]
pub struct Vault {
    disk: Box<dyn StorageBackend>,
    installation: Uuid,
    roots: Roots,
    /// The next number to hand out.
    next: AtomicU64,
    /// Numbers below this are on the disk.
    ready: AtomicU64,
    header: Mutex<Header>,
    growing: Mutex<()>,
    /// Held while slots are overwritten, and while they are copied.
    erasing: Mutex<()>,
    cache: Cache,
    random: Random,
}

impl Vault {
    /// Opens the vault, or makes one if the log it belongs to is new.
    pub fn open(disk: Box<dyn StorageBackend>, fresh: bool, random: Random) -> Result<Self, Error> {
        let (header, root) = match header::read(&*disk) {
            Ok(found) => found,
            // A new log has nothing sealed yet, so a header torn while it was made may be made again.
            Err(Error::Header) if fresh => header::create(&*disk, &random)?,
            Err(error) => return Err(error),
        };
        Ok(Self {
            disk,
            installation: header.installation,
            roots: Roots::derive(&root),
            next: AtomicU64::new(FIRST_SLOT),
            ready: AtomicU64::new(FIRST_SLOT),
            header: Mutex::new(header),
            growing: Mutex::new(()),
            erasing: Mutex::new(()),
            cache: Cache::new(),
            random,
        })
    }

    /// Makes ready to hand out slots from `committed` on, and more if a dead one lies beyond (a log older than its
    /// vault): a dead slot is never handed out again.
    pub(crate) fn start(&self, committed: u64) -> Result<(), Error> {
        let committed = committed.max(FIRST_SLOT);
        let end = self.disk.len()? / SLOT_BYTES as u64;
        let (mut next, mut torn) = (committed, None);
        for number in committed..end {
            match slot::read(&*self.disk, Slot(number)) {
                Ok(State::Live(_)) => {}
                Ok(State::Dead) => (next, torn) = (number + 1, None),
                Err(Error::Damaged(_) | Error::Missing(_)) => torn = torn.or(Some(number)),
                Err(error) => return Err(error),
            }
        }
        // Torn while they were made: nothing durable refers to them, so they are made again.
        if let Some(torn) = torn {
            self.generate(torn..end)?;
        }
        self.next.store(next, Ordering::SeqCst);
        self.ready.store(end.max(next), Ordering::SeqCst);
        self.top_up()
    }

    /// Which vault this is; the log remembers it.
    pub fn installation(&self) -> Uuid {
        self.installation
    }

    /// Hands out `count` fresh subjects, synced to the disk and never handed out before.
    pub fn reserve(&self, count: usize) -> Result<Vec<Slot>, Error> {
        loop {
            let first = self.next();
            let end = first + count as u64;
            // Made before they are taken: what is refused leaves no numbers behind that nobody has made.
            if self.ready.load(Ordering::SeqCst) < end {
                self.grow(end)?;
            }
            if self.next.compare_exchange(first, end, Ordering::SeqCst, Ordering::SeqCst).is_ok() {
                return Ok((first..end).map(Slot).collect());
            }
        }
    }

    /// The number that the log must remember as never handed out yet.
    pub(crate) fn next(&self) -> u64 {
        self.next.load(Ordering::SeqCst)
    }

    /// Whether the number was handed out.
    pub(crate) fn is_known(&self, slot: Slot) -> bool {
        (FIRST_SLOT..self.next()).contains(&slot.0)
    }

    /// Makes slots ahead of need, if few are left.
    pub(crate) fn top_up(&self) -> Result<(), Error> {
        let next = self.next();
        match self.ready.load(Ordering::SeqCst) < next + SLOTS_LOW {
            true => self.grow(next + SLOTS_LOW),
            false => Ok(()),
        }
    }

    fn grow(&self, end: u64) -> Result<(), Error> {
        let _one_at_a_time = lock(&self.growing);
        let ready = self.ready.load(Ordering::SeqCst);
        if ready >= end {
            return Ok(());
        }
        let target = ready + (end - ready).max(SLOTS_AHEAD);
        self.generate(ready..target)?;
        self.ready.store(target, Ordering::SeqCst);
        Ok(())
    }

    fn generate(&self, numbers: Range<u64>) -> Result<(), Error> {
        let mut bytes = Vec::with_capacity((numbers.end - numbers.start) as usize * SLOT_BYTES);
        for number in numbers.clone() {
            let mut key = [0; 32];
            self.random.fill(&mut key)?;
            bytes.extend_from_slice(&slot::live(Slot(number), &key));
        }
        let end = numbers.end * SLOT_BYTES as u64;
        if self.disk.len()? < end {
            self.disk.set_len(end)?;
        }
        self.disk.write(numbers.start * SLOT_BYTES as u64, &bytes)?;
        bytes.fill(0);
        std::hint::black_box(&bytes);
        self.disk.sync_data()?;
        // A try that failed may have left other keys in the file, and somebody may have read them ahead.
        for number in numbers {
            self.cache.forget(Slot(number));
        }
        Ok(())
    }

    /// Whether every slot of the path is alive. An empty path is not a path.
    pub fn alive(&self, path: KeyPath) -> Result<bool, Error> {
        for slot in path.slots() {
            if let State::Dead = self.state(slot)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    pub(crate) fn state(&self, slot: Slot) -> Result<State, Error> {
        let read = |ahead: Option<&[u8; SLOT_BYTES]>| match ahead.map(|bytes| slot::parse(slot, bytes)) {
            Some(Ok(state)) => Ok(state),
            // What was read ahead may be from before the slot was made.
            _ => slot::read(&*self.disk, slot),
        };
        self.cache.get(slot, read, |number, run| self.disk.read(number * SLOT_BYTES as u64, run))
    }

    /// What the file itself says of a slot, past the cache.
    pub(crate) fn on_disk(&self, slot: Slot) -> Result<SlotState, Error> {
        match slot::read(&*self.disk, slot) {
            Ok(State::Live(_)) => Ok(SlotState::Live),
            Ok(State::Dead) => Ok(SlotState::Dead),
            Err(Error::Damaged(_) | Error::Missing(_)) => Ok(SlotState::Bad),
            Err(error) => Err(error),
        }
    }

    /// Overwrites the slots in place and syncs. When this returns, what they sealed cannot be read by anyone.
    pub(crate) fn erase(&self, slots: &[Slot], through: Position) -> Result<(), Error> {
        let _nobody_copies = lock(&self.erasing);
        for slot in slots {
            self.disk.write(slot.0 * SLOT_BYTES as u64, &slot::dead(*slot))?;
            self.cache.forget(*slot);
        }
        self.disk.sync_data()?;
        // After the sync, never before: a mark that outran its overwriting would hide an erasure from the replay.
        self.mark_erased(through)
    }

    /// Through which position of the log every erasure has been made.
    pub(crate) fn erased_through(&self) -> Position {
        lock(&self.header).erased_through
    }

    /// Writes the mark down. Without a sync: an older mark only means that some erasures are made twice.
    pub(crate) fn mark_erased(&self, through: Position) -> Result<(), Error> {
        let mut header = lock(&self.header);
        header::write_mark(&*self.disk, &mut header, through)
    }

    /// Hands out the file's bytes while nothing is erased and no slot is made, the header first: its mark never runs ahead
    /// of the slots behind it. How many bytes there were.
    pub(crate) fn still(&self, mut take: impl FnMut(&[u8]) -> Result<(), Error>) -> Result<u64, Error> {
        let (_nobody_erases, _nobody_grows) = (lock(&self.erasing), lock(&self.growing));
        let end = self.disk.len()?;
        let mut bytes = vec![0; COPY_BYTES];
        let mut at = 0;
        while at < end {
            let step = bytes.len().min(usize::try_from(end - at).unwrap_or(usize::MAX));
            self.disk.read(at, &mut bytes[..step])?;
            take(&bytes[..step])?;
            at += step as u64;
        }
        bytes.fill(0);
        std::hint::black_box(&bytes);
        Ok(end)
    }

    /// The length of its file; 0 if it cannot be told.
    pub(crate) fn bytes(&self) -> u64 {
        self.disk.len().unwrap_or(0)
    }

    pub(crate) fn sync(&self) -> Result<(), Error> {
        Ok(self.disk.sync_data()?)
    }
}

impl Drop for Vault {
    fn drop(&mut self) {
        // Releases the file's lock; the system does too, so there is nothing to say if it fails.
        drop(self.disk.close());
    }
}

/// A poisoned lock guards bytes that are checked anyway.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
