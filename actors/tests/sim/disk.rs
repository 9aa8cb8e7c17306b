//! Two disks and the power switch: what was not synced is lost when the power goes, all of it, none of it or any part. For a spell
//! they may be full, too.

use std::{
    collections::BTreeMap,
    io,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicI64, Ordering},
    },
};

use memlog_events::log::machine::{Disk, Machine};

use super::{
    platter::{Change, Platter, apply},
    random::Random,
};

/// What a torn write is torn into, less than any sector.
const PIECE_BYTES: usize = 64;

/// What becomes of writes that no sync has reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unsynced {
    Lost,
    Kept,
    Torn,
}

/// A computer.
#[derive(Debug)]
pub(crate) struct Computer {
    disks: [Arc<One>; 2],
    switch: Arc<AtomicI64>,
    room: Arc<AtomicI64>,
    seed: u64,
}

#[derive(Debug)]
struct One {
    platter: Mutex<Platter>,
    /// Syncs until the power goes.
    syncs_left: Arc<AtomicI64>,
    /// Writes and syncs until none is taken.
    room_left: Arc<AtomicI64>,
}

impl Computer {
    pub(crate) fn new(seed: u64) -> Self {
        Self::with([Platter::default(), Platter::default()], seed)
    }

    fn with(platters: [Platter; 2], seed: u64) -> Self {
        let (switch, room) = (Arc::new(AtomicI64::new(i64::MAX)), Arc::new(AtomicI64::new(i64::MAX)));
        let one = |it| One { platter: Mutex::new(it), syncs_left: Arc::clone(&switch), room_left: Arc::clone(&room) };
        let disks = platters.map(|it| Arc::new(one(it)));
        Self { disks, switch, room, seed }
    }

    /// What a log runs on. The random bytes of each life are others.
    pub(crate) fn machine(&self) -> Machine {
        let random = Mutex::new(Random::new(self.seed));
        let fill = move |bytes: &mut [u8]| {
            let mut random = random.lock().unwrap_or_else(PoisonError::into_inner);
            bytes.chunks_mut(8).for_each(|part| part.copy_from_slice(&random.next().to_le_bytes()[..part.len()]));
        };
        let [log, vault] = self.disks.clone();
        Machine { log, vault, random: Box::new(fill) }
    }

    /// The power goes at the `syncs`th sync from now on, which does not happen.
    pub(crate) fn dies_at_sync(&self, syncs: i64) {
        self.switch.store(syncs, Ordering::SeqCst);
    }

    pub(crate) fn is_dead(&self) -> bool {
        self.switch.load(Ordering::SeqCst) <= 0
    }

    /// From the `changes`th write or sync from now on the disks take none.
    pub(crate) fn is_full_at(&self, changes: i64) {
        self.room.store(changes, Ordering::SeqCst);
    }

    /// Whether they refused something.
    pub(crate) fn is_full(&self) -> bool {
        self.room.load(Ordering::SeqCst) <= 0
    }

    /// There is room again.
    pub(crate) fn has_room(&self) {
        self.room.store(i64::MAX, Ordering::SeqCst);
    }

    /// The power goes now.
    pub(crate) fn dies(&self) {
        self.switch.store(0, Ordering::SeqCst);
    }

    /// The switch is left alone from here on.
    pub(crate) fn lives_on(&self) {
        self.switch.store(i64::MAX, Ordering::SeqCst);
    }

    /// What is there when the power is back.
    pub(crate) fn restarted(&self, unsynced: Unsynced, random: &mut Random) -> Self {
        let mut left = |disk: &Arc<One>| {
            // By the place of a piece and how often it was written, whatever was written in between.
            let (seed, mut written) = (random.next(), BTreeMap::<u64, u64>::new());
            let mut stays = |at: u64| {
                let times = written.entry(at).or_default();
                *times += 1;
                Random::new(seed ^ at.rotate_left(17) ^ times.rotate_left(51)).once_in(2)
            };
            let platter = disk.lock();
            let mut bytes = platter.durable.clone();
            for change in &platter.pending {
                match (unsynced, &change.1) {
                    (Unsynced::Lost, _) => {}
                    (Unsynced::Kept, _) | (Unsynced::Torn, None) => apply(&mut bytes, change),
                    (Unsynced::Torn, Some(data)) => {
                        for (n, piece) in data.chunks(PIECE_BYTES).enumerate() {
                            let at = change.0 + (PIECE_BYTES * n) as u64;
                            if stays(at) {
                                apply(&mut bytes, &(at, Some(piece.to_vec())));
                            }
                        }
                    }
                }
            }
            Platter::of(bytes)
        };
        let [log, vault] = &self.disks;
        let platters = [left(log), left(vault)];
        Self::with(platters, random.next())
    }

    /// Slots of the vault that are overwritten as far as the last sync: byte 40 of each 64 says so (`events/README.md`).
    pub(crate) fn erased_for_good(&self) -> Vec<usize> {
        let platter = self.disks[1].lock();
        let slots = platter.durable.chunks(64).enumerate();
        slots.filter(|(_, slot)| slot.get(40) == Some(&2) && slot[..32] == [0; 32]).map(|(number, _)| number).collect()
    }

    /// Whether a text stands anywhere in plain, on either disk, synced or not.
    pub(crate) fn holds(&self, text: &[u8]) -> bool {
        let within = |bytes: &[u8]| bytes.windows(text.len()).any(|window| window == text);
        self.disks.iter().map(|disk| disk.lock()).any(|it| within(&it.now) || within(&it.durable))
    }
}

impl One {
    fn lock(&self) -> MutexGuard<'_, Platter> {
        self.platter.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn alive(&self) -> io::Result<MutexGuard<'_, Platter>> {
        match self.syncs_left.load(Ordering::SeqCst) > 0 {
            true => Ok(self.lock()),
            false => Err(io::Error::other("the power is out")),
        }
    }

    fn may_change(&self) -> io::Result<()> {
        self.room_left.fetch_sub(1, Ordering::SeqCst);
        match self.room_left.load(Ordering::SeqCst) > 0 {
            true => Ok(()),
            false => Err(io::ErrorKind::StorageFull.into()),
        }
    }

    fn change(&self, (offset, data): Change) -> io::Result<()> {
        let (mut platter, taken) = (self.alive()?, self.may_change());
        let change = match data {
            // Of a write that is refused a part may have got there.
            Some(data) if taken.is_err() => (offset, Some(data[..data.len() / 2 / PIECE_BYTES * PIECE_BYTES].to_vec())),
            None if taken.is_err() => return taken,
            data => (offset, data),
        };
        platter.change(change);
        taken
    }
}

impl Disk for One {
    fn bytes(&self) -> io::Result<u64> {
        Ok(self.alive()?.now.len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let platter = self.alive()?;
        let from = offset as usize;
        out.copy_from_slice(platter.now.get(from..from + out.len()).ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.change((len, None))
    }

    fn sync(&self) -> io::Result<()> {
        self.syncs_left.fetch_sub(1, Ordering::SeqCst);
        let (mut platter, taken) = (self.alive()?, self.may_change());
        platter.sync(taken.is_ok());
        taken
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.change((offset, Some(data.to_vec())))
    }
}
