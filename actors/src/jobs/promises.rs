//! What the log has promised and not kept yet, and how far this process is with it. The outbox writes it, the desk reads it.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use memlog_events::ids::{JobId, Position};
use tokio::sync::watch;

use crate::port::Ticket;

/// Tries of a job in the life of this process.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Tries {
    /// Begun, the present one included.
    pub(crate) begun: u32,
    /// Of those, how many said that they failed; others ended with their worker.
    pub(crate) failed: u32,
    /// Whether a worker has it; else it waits to be tried again.
    pub(crate) running: bool,
}

/// Open jobs.
pub(crate) struct Promises {
    table: Mutex<Table>,
    /// Up to where the log was read.
    at: watch::Sender<Position>,
    count: watch::Sender<u64>,
    /// Jobs that ended since the start, done and failed.
    done: AtomicU64,
    failed: AtomicU64,
}

/// Jobs by where they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JobCounts {
    /// No worker has begun with them.
    pub queued: u64,
    /// A worker has them.
    pub running: u64,
    /// A try failed or was lost; they wait for the next one.
    pub retrying: u64,
    /// Done since the start.
    pub done: u64,
    /// Failed for good since the start: dead letters.
    pub failed: u64,
}

#[derive(Default)]
struct Table {
    open: BTreeMap<Position, Ticket>,
    places: HashMap<JobId, Position>,
    tries: HashMap<JobId, Tries>,
}

impl Promises {
    pub(crate) fn new(at: Position) -> Self {
        Self {
            table: Mutex::default(),
            at: watch::Sender::new(at),
            count: watch::Sender::new(0),
            done: AtomicU64::new(0),
            failed: AtomicU64::new(0),
        }
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A job was promised; of the same one promised before, the older promise.
    pub(super) fn made(&self, ticket: Ticket) -> Option<Ticket> {
        let before = self.kept(ticket.job);
        let mut table = self.table();
        table.open.insert(ticket.promised, ticket);
        table.places.insert(ticket.job, ticket.promised);
        before
    }

    /// A job needs no more work.
    pub(super) fn kept(&self, job: JobId) -> Option<Ticket> {
        let mut table = self.table();
        table.tries.remove(&job);
        let position = table.places.remove(&job)?;
        table.open.remove(&position)
    }

    /// The jobs for which it is so need no more work.
    pub(super) fn void(&self, gone: impl Fn(&Ticket) -> bool) -> Vec<Ticket> {
        let jobs: Vec<JobId> = self.table().open.values().filter(|ticket| gone(ticket)).map(|it| it.job).collect();
        jobs.into_iter().filter_map(|job| self.kept(job)).collect()
    }

    /// The jobs promised after a position, in order.
    pub(super) fn after(&self, position: Position) -> Vec<Ticket> {
        self.table().open.range(Position(position.0 + 1)..).map(|(_, ticket)| *ticket).collect()
    }

    /// The oldest open promise.
    pub(super) fn first(&self) -> Option<Position> {
        self.table().open.first_key_value().map(|(position, _)| *position)
    }

    /// The log was read up to here, and all that was found was noted.
    pub(super) fn reached(&self, position: Position) {
        let open = self.table().open.len() as u64;
        self.count.send_replace(open);
        self.at.send_replace(position);
    }

    /// Returns when all that stands in the log up to `position` is noted here.
    pub(crate) async fn noted(&self, position: Position) {
        // The sender is `self`, so it cannot be gone.
        self.at.subscribe().wait_for(|at| *at >= position).await.map(drop).unwrap_or_default()
    }

    /// Up to where the log was read.
    pub(crate) fn at(&self) -> Position {
        *self.at.borrow()
    }

    /// A job ended.
    pub(super) fn ended(&self, done: bool) {
        if done { &self.done } else { &self.failed }.fetch_add(1, Ordering::Relaxed);
    }

    /// Where jobs are.
    pub(crate) fn counts(&self) -> JobCounts {
        let table = self.table();
        let running = table.tries.values().filter(|tries| tries.running).count() as u64;
        let tried = table.tries.len() as u64;
        JobCounts {
            queued: (table.open.len() as u64).saturating_sub(tried),
            running,
            retrying: tried - running,
            done: self.done.load(Ordering::Relaxed),
            failed: self.failed.load(Ordering::Relaxed),
        }
    }

    /// How many are open.
    pub(crate) fn count(&self) -> u64 {
        *self.count.borrow()
    }

    /// The open job.
    pub(crate) fn open(&self, job: JobId) -> Option<Ticket> {
        let table = self.table();
        table.places.get(&job).and_then(|position| table.open.get(position)).copied()
    }

    /// How far this process is with an open job; none before the first try.
    pub(crate) fn tries(&self, job: JobId) -> Option<Tries> {
        self.table().tries.get(&job).copied()
    }

    /// Changes what is known of an open job's tries, and returns it; none if it was settled meanwhile.
    pub(crate) fn tried(&self, job: JobId, change: impl FnOnce(&mut Tries)) -> Option<Tries> {
        let mut table = self.table();
        if !table.places.contains_key(&job) {
            return None;
        }
        let tries = table.tries.entry(job).or_default();
        change(tries);
        Some(*tries)
    }
}
