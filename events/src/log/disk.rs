//! The file that the page store sees. redb takes no read and no write after the first that fails, so it is told of no failed
//! write: from there on the *life* is adrift, everything it writes stays in memory, its file is left alone, and the writer,
//! who looks before anything is acknowledged, refuses.
//!
//! To go on, the writer begins another life over the same file: with the front page as the last good sync left it, and so
//! without the commit that came to nothing, whatever of it has reached the disk. What the page store writes while it opens stays in
//! memory, too, until the disk takes it: [`Disk::anchor`]. Reads go on all the while.

use std::{
    collections::BTreeMap,
    io,
    ops::Bound,
    sync::{
        Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard,
        atomic::{AtomicU64, Ordering},
    },
};

use redb::{BackendError, StorageBackend};

use crate::trouble::told;

/// Pages are kept in pieces of this size; the first one holds the page store's header.
const PIECE: usize = 4_096;

/// One life of the file. Clones share it.
#[derive(Clone, Debug)]
pub(super) struct Disk {
    file: Arc<Shared>,
    number: u64,
    /// Only looks: neither takes the file's locks nor closes it.
    guest: bool,
    state: Arc<RwLock<State>>,
}

/// What all lives share.
#[derive(Debug)]
struct Shared {
    backend: Box<dyn StorageBackend>,
    /// Earlier lives may not look at the file any more, since a later one writes to it.
    floor: RwLock<u64>,
    /// The life whose end closes the file.
    owner: AtomicU64,
}

#[derive(Debug, Default)]
struct State {
    /// The front page as it was written last, and as the last good sync left it.
    front: Vec<u8>,
    synced: Vec<u8>,
    adrift: Option<Adrift>,
    /// How long the file would be, had it taken the write that failed.
    reach: u64,
    /// Why the page store will read nothing any more.
    unreadable: Option<String>,
}

/// A life that writes to memory.
#[derive(Debug)]
struct Adrift {
    reason: String,
    /// Whether what it writes may reach the file one day: not what a failed commit wrote.
    whole: bool,
    len: u64,
    pieces: BTreeMap<u64, Vec<u8>>,
    /// The front page at each sync, in order.
    fronts: Vec<Vec<u8>>,
}

impl Disk {
    /// The first life of a file.
    pub(super) fn new(backend: Box<dyn StorageBackend>) -> io::Result<Self> {
        let front = front_of(&*backend)?;
        let state = State { synced: front.clone(), front, ..State::default() };
        let file = Shared { backend, floor: RwLock::new(0), owner: AtomicU64::new(0) };
        Ok(Self { file: Arc::new(file), number: 0, guest: false, state: Arc::new(RwLock::new(state)) })
    }

    /// Another life, as of the last good sync of this one, which writes nothing any more.
    pub(super) fn next_life(&self) -> io::Result<Self> {
        let mut state = self.write_state();
        let reason = state.unreadable.clone().unwrap_or_default();
        let len = self.file.backend.len()?;
        if state.adrift.is_none() {
            state.adrift = Some(Adrift::new(reason, len, false));
        }
        let reason = state.adrift.as_ref().map(|adrift| adrift.reason.clone()).unwrap_or_default();
        Ok(self.beside(self.number + 1, &state, reason, len))
    }

    /// The file as the last sync left it, for a look that may write what it likes: none of it is kept.
    pub(super) fn view(&self) -> io::Result<Self> {
        let (state, len) = (self.read_state(), self.file.backend.len()?);
        Ok(Self { guest: true, ..self.beside(self.number, &state, String::new(), len) })
    }

    fn beside(&self, number: u64, from: &State, reason: String, len: u64) -> Self {
        let mut adrift = Adrift::new(reason, len, true);
        let front = &from.synced;
        adrift.pieces.insert(0, front.clone());
        adrift.fronts.push(front.clone());
        let (front, synced) = (front.clone(), front.clone());
        let state = State { front, synced, adrift: Some(adrift), reach: from.reach, unreadable: None };
        Self { file: Arc::clone(&self.file), number, guest: false, state: Arc::new(RwLock::new(state)) }
    }

    /// From now on its end closes the file.
    pub(super) fn own(&self) {
        self.file.owner.store(self.number, Ordering::SeqCst);
    }

    /// Why nothing reaches the file, if that is so.
    pub(super) fn adrift(&self) -> Option<String> {
        self.read_state().adrift.as_ref().map(|adrift| adrift.reason.clone())
    }

    /// Why it must be followed by another life, if so: a write came to nothing, or nothing is read.
    pub(super) fn over(&self) -> Option<String> {
        let state = self.read_state();
        let fallen = state.adrift.as_ref().filter(|adrift| !adrift.whole).map(|adrift| adrift.reason.clone());
        fallen.or_else(|| state.unreadable.clone())
    }

    /// How long the file would be, had it taken the write that failed; 0 if none did.
    pub(super) fn reach(&self) -> u64 {
        self.read_state().reach
    }

    /// Whether the last commit that the page store wrote was synced, whatever failed after it.
    pub(super) fn is_synced(&self) -> bool {
        let state = self.read_state();
        match &state.adrift {
            None => true,
            Some(adrift) => adrift.pieces.get(&0).is_none_or(|front| front.starts_with(&state.synced)),
        }
    }

    /// Writes what this life kept in memory to the file. Nothing of it is lost if that fails; try again later.
    ///
    /// The order is what makes it safe to lose power in between: first the front page of the last good commit, which
    /// takes back one that came to nothing; then pages, which that commit does not use; then the front pages that do, one at a time.
    pub(super) fn anchor(&self) -> io::Result<()> {
        // Earlier lives first: what they may still read is overwritten now.
        *self.file.floor.write().unwrap_or_else(PoisonError::into_inner) = self.number;
        let mut state = self.write_state();
        let Some(adrift) = &mut state.adrift else { return Ok(()) };
        if !adrift.whole {
            return Err(io::Error::other(adrift.reason.clone()));
        }
        let backend = &self.file.backend;
        let mut fronts = adrift.fronts.iter();
        if let Some(front) = fronts.next() {
            backend.write(0, front)?;
            backend.sync_data()?;
        }
        if backend.len()? != adrift.len {
            backend.set_len(adrift.len)?;
        }
        for (at, piece) in adrift.pieces.range(1..) {
            backend.write(at * PIECE as u64, piece)?;
        }
        backend.sync_data()?;
        for front in fronts {
            backend.write(0, front)?;
            backend.sync_data()?;
        }
        if let Some(front) = adrift.fronts.pop() {
            (state.front, state.synced) = (front.clone(), front);
        }
        (state.adrift, state.reach) = (None, 0);
        Ok(())
    }

    fn is_first(&self) -> bool {
        !self.guest && self.number == 0
    }

    fn read_state(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write_state(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// The right to touch the file, held while it is touched.
    fn enter(&self) -> io::Result<RwLockReadGuard<'_, u64>> {
        let floor = self.file.floor.read().unwrap_or_else(PoisonError::into_inner);
        match *floor <= self.number {
            true => Ok(floor),
            false => Err(io::Error::other("the file was opened anew meanwhile")),
        }
    }

    /// A write that failed: nothing more goes to the file, and this does not either.
    fn fall(&self, error: &io::Error, reach: u64) -> io::Result<RwLockWriteGuard<'_, State>> {
        let mut state = self.write_state();
        state.reach = state.reach.max(reach);
        if state.adrift.is_none() {
            let mut adrift = Adrift::new(told("the disk of the log", error), self.file.backend.len()?, false);
            // What the file holds of it is not known any more, and this is what the page store has written.
            adrift.pieces.insert(0, state.front.clone());
            state.adrift = Some(adrift);
        }
        Ok(state)
    }
}

impl Adrift {
    fn new(reason: String, len: u64, whole: bool) -> Self {
        Self { reason, whole, len, pieces: BTreeMap::new(), fronts: Vec::new() }
    }

    fn read(&self, file: &dyn StorageBackend, offset: u64, out: &mut [u8]) -> io::Result<()> {
        each_piece(offset, out.len(), |number, within, range| {
            let part = &mut out[range];
            match self.pieces.get(&number) {
                Some(piece) => part.copy_from_slice(&piece[within..within + part.len()]),
                None => read_or_zeros(file, number * PIECE as u64 + within as u64, part)?,
            }
            Ok(())
        })
    }

    fn write(&mut self, file: &dyn StorageBackend, offset: u64, data: &[u8]) -> io::Result<()> {
        self.len = self.len.max(offset + data.len() as u64);
        each_piece(offset, data.len(), |number, within, range| {
            let part = &data[range];
            let piece = match self.pieces.entry(number) {
                std::collections::btree_map::Entry::Occupied(piece) => piece.into_mut(),
                std::collections::btree_map::Entry::Vacant(free) => {
                    let mut piece = vec![0; PIECE];
                    if part.len() < PIECE {
                        read_or_zeros(file, number * PIECE as u64, &mut piece)?;
                    }
                    free.insert(piece)
                }
            };
            piece[within..within + part.len()].copy_from_slice(part);
            Ok(())
        })
    }

    fn sync(&mut self) {
        if let Some(front) = self.pieces.get(&0).filter(|front| self.fronts.last() != Some(front)) {
            self.fronts.push(front.clone());
        }
    }
}

/// Cuts a range of bytes at the ends of pieces: number of the piece, place in it, range of the bytes.
fn each_piece(
    offset: u64,
    len: usize,
    mut each: impl FnMut(u64, usize, std::ops::Range<usize>) -> io::Result<()>,
) -> io::Result<()> {
    let mut done = 0;
    while done < len {
        let at = offset + done as u64;
        let within = (at % PIECE as u64) as usize;
        let step = (PIECE - within).min(len - done);
        each(at / PIECE as u64, within, done..done + step)?;
        done += step;
    }
    Ok(())
}

/// Past the end of the file there are zeros, which a life adrift may have grown into.
fn read_or_zeros(file: &dyn StorageBackend, offset: u64, out: &mut [u8]) -> io::Result<()> {
    let there = usize::try_from(file.len()?.saturating_sub(offset)).unwrap_or(usize::MAX).min(out.len());
    out[there..].fill(0);
    if there > 0 { file.read(offset, &mut out[..there]) } else { Ok(()) }
}

fn front_of(backend: &dyn StorageBackend) -> io::Result<Vec<u8>> {
    let mut front = vec![0; PIECE];
    read_or_zeros(backend, 0, &mut front)?;
    Ok(front)
}

impl StorageBackend for Disk {
    fn len(&self) -> io::Result<u64> {
        let _open = self.enter()?;
        match &self.read_state().adrift {
            Some(adrift) => Ok(adrift.len),
            None => self.file.backend.len(),
        }
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let _open = self.enter()?;
        let read = {
            let state = self.read_state();
            match &state.adrift {
                Some(adrift) => adrift.read(&*self.file.backend, offset, out),
                None => match self.file.backend.read(offset, out) {
                    // A page number that makes no sense is damage, and no reason to read nothing any more: what is not there is
                    // zeros, which no page is.
                    Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                        read_or_zeros(&*self.file.backend, offset, out)
                    }
                    read => read,
                },
            }
        };
        if let Err(error) = &read {
            self.write_state().unreadable.get_or_insert_with(|| told("the disk of the log", error));
        }
        read
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let _open = self.enter()?;
        let sound = self.read_state().adrift.is_none();
        if sound && let Err(error) = self.file.backend.set_len(len) {
            drop(self.fall(&error, len)?);
        }
        if let Some(adrift) = &mut self.write_state().adrift {
            adrift.len = len;
            drop(adrift.pieces.split_off(&len.div_ceil(PIECE as u64)));
        }
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        let _open = self.enter()?;
        let sound = self.read_state().adrift.is_none();
        let synced = if sound { self.file.backend.sync_data() } else { Ok(()) };
        let mut state = match synced {
            Ok(()) => self.write_state(),
            Err(error) => self.fall(&error, 0)?,
        };
        match &mut state.adrift {
            Some(adrift) => adrift.sync(),
            None => state.synced = state.front.clone(),
        }
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let _open = self.enter()?;
        if (offset as usize) < PIECE {
            let mut state = self.write_state();
            let end = (offset as usize + data.len()).min(PIECE);
            state.front[offset as usize..end].copy_from_slice(&data[..end - offset as usize]);
        }
        let written = {
            let state = self.read_state();
            state.adrift.is_none().then(|| self.file.backend.write(offset, data))
        };
        match written {
            Some(Ok(())) => return Ok(()),
            Some(Err(error)) => drop(self.fall(&error, offset + data.len() as u64)?),
            None => {}
        }
        match &mut self.write_state().adrift {
            Some(adrift) => adrift.write(&*self.file.backend, offset, data),
            None => Err(io::Error::other("the file was opened anew meanwhile")),
        }
    }

    fn close(&self) -> io::Result<()> {
        match !self.guest && self.file.owner.load(Ordering::SeqCst) == self.number {
            true => self.file.backend.close(),
            false => Ok(()),
        }
    }

    // The first life takes the locks of the file, and those after it have them.

    fn try_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        if self.is_first() { self.file.backend.try_lock_range(start, end) } else { Ok(true) }
    }

    fn try_lock_shared_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        if self.is_first() { self.file.backend.try_lock_shared_range(start, end) } else { Ok(true) }
    }

    fn lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        if self.is_first() { self.file.backend.lock_range(start, end) } else { Ok(()) }
    }

    fn lock_shared_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        if self.is_first() { self.file.backend.lock_shared_range(start, end) } else { Ok(()) }
    }

    fn unlock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        if self.is_first() { self.file.backend.unlock_range(start, end) } else { Ok(()) }
    }

    fn query_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        if self.is_first() { self.file.backend.query_lock_range(start, end) } else { Ok(false) }
    }
}
