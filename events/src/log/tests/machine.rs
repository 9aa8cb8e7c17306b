//! A machine that loses power: the disks forget what was not synced, any part of it, and the process dies with them.
//!
//! The proof goes through every sync that a busy life makes, dies at it, and starts again.

use std::{
    io,
    sync::{Mutex, atomic::AtomicI64},
};

use redb::StorageBackend;

use super::*;
use crate::{
    batch::{IdempotencyRow, Outcome},
    log::{EmbeddingKey, EmbeddingRow, Sealed, open::Disks},
};

#[derive(Debug, Default)]
struct Platter {
    now: Vec<u8>,
    durable: Vec<u8>,
    /// Writes since the last sync; a length comes without bytes.
    pending: Vec<(u64, Option<Vec<u8>>)>,
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

/// Both disks and the power switch.
#[derive(Clone, Debug)]
pub(super) struct Machine {
    disks: [Arc<Mutex<Platter>>; 2],
    syncs_left: Arc<AtomicI64>,
}

#[derive(Debug)]
struct Disk {
    platter: Arc<Mutex<Platter>>,
    syncs_left: Arc<AtomicI64>,
}

impl Machine {
    pub(super) fn new() -> Self {
        Self { disks: Default::default(), syncs_left: Arc::new(AtomicI64::new(i64::MAX)) }
    }

    pub(super) fn die_at_sync(&self, sync: i64) {
        self.syncs_left.store(sync, Ordering::SeqCst);
    }

    fn is_dead(&self) -> bool {
        self.syncs_left.load(Ordering::SeqCst) <= 0
    }

    /// What is left after the power went: of the unsynced writes, an arbitrary part in 64-byte pieces (none for seed
    /// 0).
    fn restarted(&self, mut seed: u64) -> Self {
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
            *new.lock().unwrap() = Platter { now: bytes.clone(), durable: bytes, pending: Vec::new() };
        }
        fresh
    }

    pub(super) fn open(&self, dir: &Path) -> Result<Log, crate::log::open::Error> {
        let disk = |n: usize| {
            let (platter, syncs_left) = (Arc::clone(&self.disks[n]), Arc::clone(&self.syncs_left));
            Disk { platter, syncs_left }
        };
        let disks = Disks { log: disk(0), vault: Box::new(disk(1)), vault_path: dir.join("vault") };
        Log::open_disks(disks, Options::new(dir))
    }
}

impl Disk {
    fn alive(&self) -> io::Result<std::sync::MutexGuard<'_, Platter>> {
        match self.syncs_left.load(Ordering::SeqCst) > 0 {
            true => Ok(self.platter.lock().unwrap()),
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

impl StorageBackend for Disk {
    fn len(&self) -> io::Result<u64> {
        Ok(self.alive()?.now.len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let platter = self.alive()?;
        let from = offset as usize;
        let bytes = platter.now.get(from..from + out.len()).ok_or(io::ErrorKind::UnexpectedEof)?;
        out.copy_from_slice(bytes);
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.change((len, None))
    }

    fn sync_data(&self) -> io::Result<()> {
        self.syncs_left.fetch_sub(1, Ordering::SeqCst);
        let mut platter = self.alive()?;
        platter.durable = platter.now.clone();
        platter.pending.clear();
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.change((offset, Some(data.to_vec())))
    }
}

/// One life: what was acknowledged, and with which keys it was asked for.
#[derive(Default)]
struct Life {
    subject: Option<Subject>,
    said: Vec<(IdempotencyRow, Batch, Slot, bool)>,
    forgotten: Vec<(IdempotencyRow, Batch, Slot, bool)>,
}

const MESSAGES: u64 = 6;

/// Says six things and forgets every second one at once; stops where the power went.
fn live(log: &Log) -> Life {
    let subject = Subject::new(log, 1);
    let mut life = Life::default();
    let mut version = 0;
    for n in 0..MESSAGES {
        let (draft, slot) = subject.message(log, &format!("message {n}"));
        let mut batch = subject.batch(version, vec![draft]);
        batch.idempotency = Some(key(log, format!("say {n}")));
        let acknowledged = log.append(batch.clone()).is_ok();
        life.said.push((key(log, format!("say {n}")), batch, slot, acknowledged));
        if !acknowledged {
            break;
        }
        version += 1;
        if n % 2 == 0 {
            let mut batch = subject.batch(version, vec![super::draft(forgot(slot), None)]);
            batch.idempotency = Some(key(log, format!("forget {n}")));
            let acknowledged = log.append(batch.clone()).is_ok();
            life.forgotten.push((key(log, format!("forget {n}")), batch, slot, acknowledged));
            if !acknowledged {
                break;
            }
            version += 1;
        }
    }
    life.subject = Some(subject);
    life
}

fn key(log: &Log, name: String) -> IdempotencyRow {
    let key = log.digest_names(&[name.as_bytes()]);
    IdempotencyRow { key, request: Digest([0; 32]), time: Micros(0), outcome: Outcome::default() }
}

fn judge(log: &Log, life: &Life, at: &str) {
    assert_eq!(log.verify(None).unwrap().first_break, None, "{at}");
    let Some(subject) = &life.subject else { return };
    let count = |log: &Log| log.stream(subject.key, Version(0), 100).unwrap().len();
    let before = count(log);
    let acknowledged = life.said.iter().chain(&life.forgotten).filter(|one| one.3).count();
    assert!(before >= acknowledged && before <= acknowledged + 1, "{at}: {before} of {acknowledged}");
    for (row, _, slot, acknowledged) in &life.forgotten {
        let there = log.remembered(row.key, Micros(0)).unwrap().is_some();
        assert!(there || !acknowledged, "{at}: an acknowledged forget is gone");
        // Also when it was durable but not acknowledged: start-up finishes it before anybody can read.
        assert_eq!(log.alive(subject.path(*slot)).unwrap(), !there, "{at}");
    }
    for event in log.stream(subject.key, Version(0), 100).unwrap() {
        let erased = !log.alive(event.head.keys).unwrap();
        assert_eq!(log.open_content(&event).unwrap() == Sealed::Erased, erased, "{at}");
    }
    // Whoever got no answer sends again with the same key: carried out at most once.
    // The slots that its commands name were handed out in the other life; those never used come again.
    log.reserve(64).unwrap();
    for (_, batch, _, acknowledged) in life.said.iter().chain(&life.forgotten) {
        match log.append(batch.clone()) {
            Err(append::Error::Replayed(_)) => {}
            other => assert!(!acknowledged && other.is_ok(), "{at}: {other:?}"),
        }
    }
    let asked = life.said.len() + life.forgotten.len();
    assert_eq!(count(log), asked, "{at}: nothing twice");
    assert_eq!(log.verify(None).unwrap().first_break, None, "{at}");
}

/// Acknowledged means durable, forgotten means erased, and a restart always works: at every sync, whatever was half
/// written.
#[test]
fn power_may_go_at_any_sync() {
    for seed in [0, 3, 71, 2_024] {
        let mut sync = 1;
        loop {
            let at = format!("seed {seed}, sync {sync}");
            let dir = tempfile::tempdir().unwrap();
            let machine = Machine::new();
            machine.die_at_sync(sync);
            let life = match machine.open(dir.path()) {
                Ok(log) => live(&log),
                Err(_) => Life::default(),
            };
            let survived = !machine.is_dead();
            let again = machine.restarted(seed).open(dir.path());
            judge(&again.unwrap_or_else(|error| panic!("{at}: {error}")), &life, &at);
            if survived {
                assert!(sync > 20, "the life was not busy: {sync}");
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
    let syncs_left = || machine.syncs_left.load(Ordering::SeqCst);
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
