//! Two disks and the power switch: what was not synced is lost when the power goes, all of it, none of it or any part.

use std::{
    io,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicI64, Ordering},
    },
};

use memlog_events::log::machine::{Disk, Machine};

use super::random::Random;

/// Half a sector: what a torn write is torn into.
const PIECE_BYTES: usize = 64;

#[derive(Clone, Debug, Default)]
struct Platter {
    now: Vec<u8>,
    /// As it was at the last sync.
    durable: Vec<u8>,
    /// Writes since; a length comes without bytes.
    pending: Vec<(u64, Option<Vec<u8>>)>,
}

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
    seed: u64,
}

#[derive(Debug)]
struct One {
    platter: Mutex<Platter>,
    /// Syncs until the power goes.
    syncs_left: Arc<AtomicI64>,
}

impl Computer {
    pub(crate) fn new(seed: u64) -> Self {
        Self::with([Platter::default(), Platter::default()], seed)
    }

    fn with(platters: [Platter; 2], seed: u64) -> Self {
        let switch = Arc::new(AtomicI64::new(i64::MAX));
        let disks = platters.map(|it| Arc::new(One { platter: Mutex::new(it), syncs_left: Arc::clone(&switch) }));
        Self { disks, switch, seed }
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

    /// The switch is left alone from here on.
    pub(crate) fn lives_on(&self) {
        self.switch.store(i64::MAX, Ordering::SeqCst);
    }

    /// What is there when the power is back.
    pub(crate) fn restarted(&self, unsynced: Unsynced, random: &mut Random) -> Self {
        let mut left = |disk: &Arc<One>| {
            let platter = disk.lock();
            let mut bytes = platter.durable.clone();
            for change in &platter.pending {
                match (unsynced, &change.1) {
                    (Unsynced::Lost, _) => {}
                    (Unsynced::Kept, _) | (Unsynced::Torn, None) => apply(&mut bytes, change),
                    (Unsynced::Torn, Some(data)) => {
                        for (n, piece) in data.chunks(PIECE_BYTES).enumerate() {
                            if random.once_in(2) {
                                apply(&mut bytes, &(change.0 + (PIECE_BYTES * n) as u64, Some(piece.to_vec())));
                            }
                        }
                    }
                }
            }
            Platter { durable: bytes.clone(), now: bytes, pending: Vec::new() }
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

    fn change(&self, change: (u64, Option<Vec<u8>>)) -> io::Result<()> {
        let mut platter = self.alive()?;
        apply(&mut platter.now, &change);
        platter.pending.push(change);
        Ok(())
    }
}

impl Disk for One {
    fn len(&self) -> io::Result<u64> {
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
        let mut platter = self.alive()?;
        let Platter { durable, pending, .. } = &mut *platter;
        pending.drain(..).for_each(|change| apply(durable, &change));
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.change((offset, Some(data.to_vec())))
    }
}

fn apply(bytes: &mut Vec<u8>, (offset, data): &(u64, Option<Vec<u8>>)) {
    let at = *offset as usize;
    match data {
        None => bytes.resize(at, 0),
        Some(data) => {
            bytes.resize(bytes.len().max(at + data.len()), 0);
            bytes[at..at + data.len()].copy_from_slice(data);
        }
    }
}
