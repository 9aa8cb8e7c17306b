//! A machine that loses power: the disks forget what was not synced, any part of it, and the process dies with them.
//!
//! The proof goes through every sync that a busy life makes, dies at it, and starts again.

use std::{
    io,
    sync::{
        Mutex,
        atomic::{AtomicI64, AtomicUsize},
    },
};

use redb::StorageBackend;

use super::{
    life::Life,
    platter::{Change, Platter, apply},
    *,
};
use crate::{
    log::{EmbeddingKey, EmbeddingRow, hand::Hand, open::Disks},
    vault::Random,
};

/// Both disks, what befalls them, and the power switch.
#[derive(Clone, Debug)]
pub(super) struct Machine {
    disks: [Arc<Mutex<Platter>>; 2],
    fate: Arc<Fate>,
}

const BOTH: usize = usize::MAX;

#[derive(Debug)]
struct Fate {
    syncs_left: AtomicI64,
    /// From this write, or this sync, on the disks refuse both, until they are mended.
    writes_until: AtomicI64,
    syncs_until: AtomicI64,
    refuse: AtomicBool,
    /// Which of the disks refuses, by its number; another number is both.
    only: AtomicUsize,
    error: std::sync::atomic::AtomicI32,
}

#[derive(Debug)]
struct Disk {
    number: usize,
    platter: Arc<Mutex<Platter>>,
    machine: Machine,
}

impl Machine {
    pub(super) fn new() -> Self {
        let never = || AtomicI64::new(i64::MAX);
        let fate = Fate {
            syncs_left: never(),
            writes_until: never(),
            syncs_until: never(),
            refuse: AtomicBool::new(false),
            only: AtomicUsize::new(BOTH),
            error: 0.into(),
        };
        Self { disks: Default::default(), fate: Arc::new(fate) }
    }

    pub(super) fn die_at_sync(&self, sync: i64) {
        self.fate.syncs_left.store(sync, Ordering::SeqCst);
    }

    /// The disks refuse with this error of the system from the given write or sync on.
    pub(super) fn refuse_from(&self, error: i32, write: i64, sync: i64) {
        self.fate.error.store(error, Ordering::SeqCst);
        self.fate.writes_until.store(write, Ordering::SeqCst);
        self.fate.syncs_until.store(sync, Ordering::SeqCst);
    }

    /// From now on one of the disks alone: 0 is the log's, 1 the vault's.
    pub(super) fn refuse_on(&self, disk: usize) {
        self.fate.only.store(disk, Ordering::SeqCst);
    }

    /// Whether they refuse.
    pub(super) fn refuses(&self) -> bool {
        self.fate.refuse.load(Ordering::SeqCst)
    }

    /// There is room again, say.
    pub(super) fn mend(&self) {
        self.refuse_from(0, i64::MAX, i64::MAX);
        self.fate.refuse.store(false, Ordering::SeqCst);
    }

    pub(super) fn is_dead(&self) -> bool {
        self.fate.syncs_left.load(Ordering::SeqCst) <= 0
    }

    fn alive(&self) -> io::Result<()> {
        if self.is_dead() { Err(io::Error::other("the power is out")) } else { Ok(()) }
    }

    fn count(&self, until: &AtomicI64) -> io::Result<()> {
        if until.fetch_sub(1, Ordering::SeqCst) <= 1 {
            self.fate.refuse.store(true, Ordering::SeqCst);
        }
        match self.refuses() {
            true => Err(io::Error::from_raw_os_error(self.fate.error.load(Ordering::SeqCst))),
            false => Ok(()),
        }
    }

    pub(super) fn write(&self) -> io::Result<()> {
        self.alive()?;
        self.count(&self.fate.writes_until)
    }

    pub(super) fn sync(&self) -> io::Result<()> {
        self.fate.syncs_left.fetch_sub(1, Ordering::SeqCst);
        self.alive()?;
        self.count(&self.fate.syncs_until)
    }

    /// What is left after the power went: of the unsynced writes, an arbitrary part in 64-byte pieces (none for seed
    /// 0).
    pub(super) fn restarted(&self, mut seed: u64) -> Self {
        let fresh = Self::new();
        let keeps_some = seed != 0;
        for (old, new) in self.disks.iter().zip(&fresh.disks) {
            let old = old.lock().unwrap();
            let mut bytes = old.durable.clone();
            for (offset, data) in &old.pending {
                let Some(data) = data else {
                    if keeps_some {
                        apply(&mut bytes, &(*offset, None));
                    }
                    continue;
                };
                for (n, piece) in data.chunks(64).enumerate() {
                    seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    if keeps_some && seed >> 63 == 0 {
                        apply(&mut bytes, &(offset + 64 * n as u64, Some(piece.to_vec())));
                    }
                }
            }
            *new.lock().unwrap() = Platter::of(bytes);
        }
        fresh
    }

    fn disks(&self, dir: &Path) -> Disks<Disk> {
        let disk = |n: usize| Disk { number: n, platter: Arc::clone(&self.disks[n]), machine: self.clone() };
        Disks { log: disk(0), vault: Box::new(disk(1)), vault_path: dir.join("vault") }
    }

    pub(super) fn open(&self, dir: &Path) -> Result<Log, crate::log::open::Error> {
        let mut options = Options::new(dir);
        options.limits.retry_ms = 1;
        let log = Log::open_disks(self.disks(dir), options)?;
        log.0.core.blobs.fault.of(self);
        Ok(log)
    }

    /// Whether any of its disks holds these bytes.
    pub(super) fn holds(&self, what: &[u8]) -> bool {
        let found = |bytes: &[u8]| bytes.windows(what.len()).any(|window| window == what);
        self.disks.iter().any(|disk| found(&disk.lock().unwrap().now))
    }
}

impl Disk {
    fn platter(&self) -> io::Result<std::sync::MutexGuard<'_, Platter>> {
        self.machine.alive()?;
        Ok(self.platter.lock().unwrap())
    }

    fn may_refuse(&self) -> bool {
        let only = self.machine.fate.only.load(Ordering::SeqCst);
        only == BOTH || only == self.number
    }

    fn change(&self, (offset, data): Change) -> io::Result<()> {
        let refused = if self.may_refuse() { self.machine.write() } else { Ok(()) };
        self.machine.alive()?;
        let change = match data {
            // Of a write that is refused a part may have got there.
            Some(data) if refused.is_err() => (offset, Some(data[..data.len() / 2 / 64 * 64].to_vec())),
            None if refused.is_err() => return refused,
            data => (offset, data),
        };
        self.platter()?.change(change);
        refused
    }
}

impl StorageBackend for Disk {
    fn len(&self) -> io::Result<u64> {
        Ok(self.platter()?.now.len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let platter = self.platter()?;
        let from = offset as usize;
        let bytes = platter.now.get(from..from + out.len()).ok_or(io::ErrorKind::UnexpectedEof)?;
        out.copy_from_slice(bytes);
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.change((len, None))
    }

    fn sync_data(&self) -> io::Result<()> {
        let synced = if self.may_refuse() { self.machine.sync() } else { Ok(()) };
        self.platter()?.sync(synced.is_ok());
        synced
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.change((offset, Some(data.to_vec())))
    }
}

/// Acknowledged means durable, forgotten means erased and in no file, and a restart always works: at every sync of appends,
/// erasures, large contents, snapshots, purges and backups, whatever was half written.
#[test]
fn power_may_go_at_any_sync() {
    for seed in [0, 3, 71, 2_024] {
        let mut sync = 1;
        loop {
            let at = format!("seed {seed}, sync {sync}");
            let dir = tempfile::tempdir().unwrap();
            let machine = Machine::new();
            machine.die_at_sync(sync);
            let life = machine.open(dir.path()).ok().map(|log| Life::of(&log, dir.path()));
            let survived = !machine.is_dead();
            let machine = machine.restarted(seed);
            let again = machine.open(dir.path()).unwrap_or_else(|error| panic!("{at}: {error}"));
            match life {
                Some(life) => life.judge(&again, &machine, &at),
                None => assert_eq!(again.verify(None).unwrap().first_break, None, "{at}"),
            }
            if survived {
                assert!(sync > 25, "the life was not busy: {sync}");
                break;
            }
            sync += 1;
        }
    }
}

/// A vault that cannot sync must not let anybody believe that something was forgotten, nor let the log go on.
#[test]
fn a_vault_that_fails_stops_the_log_until_it_is_opened_again() {
    let dir = tempfile::tempdir().unwrap();
    let machine = Machine::new();
    let log = machine.open(dir.path()).unwrap();
    let thread = Subject::new(&log, 0);
    let (_, slot) = thread.say(&log, 0, SECRET);
    log.0.core.faults.dies_before_overwriting.store(true, Ordering::SeqCst);
    assert!(matches!(thread.forget(&log, 1, slot), Err(append::Error::Failed(_))));
    assert!(!log.ready());
    let (more, _) = thread.message(&log, "more");
    assert!(matches!(log.append(thread.batch(2, vec![more])), Err(append::Error::Failed(_))));
    drop(log);

    let log = machine.restarted(0).open(dir.path()).unwrap();
    assert!(!log.alive(thread.path(slot)).unwrap(), "erased before `open` returned");
    assert_eq!(log.verify(None).unwrap().first_break, None);
}

/// Vectors are kept without a sync, since an append follows soon. After the last append of a busy day none does, and the
/// model that made them may be gone when the process is killed.
#[test]
fn what_is_kept_beside_the_log_is_durable_once_synced() {
    let dir = tempfile::tempdir().unwrap();
    let machine = Machine::new();
    let log = machine.open(dir.path()).unwrap();
    let thread = Subject::new(&log, 0);
    let (_, slot) = thread.say(&log, 0, SECRET);
    let key = EmbeddingKey { scope: thread.key.scope, subject: slot, content: Version(1), chunk: 0, model: 1 };
    let syncs_left = || machine.fate.syncs_left.load(Ordering::SeqCst);
    let kept = |log: &Log| log.embedding(key).unwrap();

    let row = EmbeddingRow { key, keys: thread.path(slot), vector: vec![7; 64] };
    log.put_embeddings(&[row]).unwrap();
    assert_eq!(kept(&machine.restarted(0).open(dir.path()).unwrap()), None, "a kill takes back what was not synced");
    log.sync().unwrap();
    assert_eq!(kept(&machine.restarted(0).open(dir.path()).unwrap()), Some(vec![7; 64]));
    let before = syncs_left();
    log.sync().unwrap();
    assert_eq!(syncs_left(), before, "with nothing to make durable the disk is left alone");
}

/// A simulation gives the writer its turns, and what a turn calls may ask for one, append, or close the log: it waits for nobody,
/// and what was accepted is answered.
#[test]
fn a_turn_may_call_who_closes_the_log() {
    let dir = tempfile::tempdir().unwrap();
    let disks = Machine::new().disks(dir.path());
    let by_caller = |writer| Ok(Hand::by_caller(writer));
    let log = Log::open_with(disks, Options::new(dir.path()), Random::system(), by_caller).unwrap();
    let thread = Subject::new(&log, 0);
    let batch = |version: u64| thread.batch(version, vec![thread.message(&log, "a").0]);
    let (first, second) = (batch(0), batch(1));
    let (tell, told) = mpsc::sync_channel(2);
    let within = log.clone();
    let done = Box::new(move |done: Result<Committed, append::Error>| {
        tell.send(done.is_ok()).unwrap();
        assert!(!within.turn(), "one is under way");
        assert!(within.submit(second, Box::new(move |done| tell.send(done.is_ok()).unwrap())).is_ok());
        within.close();
    });
    assert!(log.submit(first, done).is_ok());
    assert!(log.turn());
    assert_eq!(told.iter().collect::<Vec<_>>(), [true, true]);
    assert!(!log.turn(), "it has no writer any more");
    assert!(matches!(log.append(batch(2)), Err(append::Error::Closed)));
}
