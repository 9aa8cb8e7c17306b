//! The log: the durable truth, one redb file with one writer, and the vault beside it.
//!
//! `submit` seals on the caller's thread and queues; one writer thread makes everything that waits durable in one
//! commit, erases what that commit condemned, tells the listener and answers. Reading needs no lock and holds no
//! snapshot longer than a page. What may never enter: a rule of the domain. The log knows streams, versions, names and
//! slots, not what they are for.

pub mod append;
pub mod backup;
pub mod bare;
mod blobs;
mod directory;
mod disk;
mod erasures;
mod error;
mod group;
mod hand;
mod keep;
mod limits;
pub mod machine;
mod meter;
pub mod open;
mod prepare;
mod purge;
mod queue;
mod read;
mod recover;
mod rows;
mod store;
mod tables;
#[cfg(test)]
mod tests;
mod verify;
mod writer;

use std::{
    collections::BTreeSet,
    path::PathBuf,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, RwLock,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use redb::{Durability, WriteTransaction};

use crate::{
    batch::Batch,
    ids::{Digest, KeyPath, PARTITIONS, Partition, Position, Scope, Slot},
    vault::{self, Vault},
};

pub use append::{Busy, Done};
pub use erasures::{Again, Forgetting, NotAgain};
pub use error::{Error, Reason};
pub use keep::{EmbeddingKey, EmbeddingRow, Snapshot};
pub use limits::{Limits, REMEMBERED_HOURS};
pub use meter::{Classes, Load, Spread};
pub use open::Options;
pub use purge::Purge;
pub use read::{ScopeEvents, Sealed, Stored};
pub use verify::{Break, Report, Stats};

use blobs::Blobs;
use hand::Hand;
use meter::Meter;
use queue::Queue;
use recover::Failed;
use store::{Opened, Store};
use tables::{Reading, Writing};

/// What a commit changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitNotice {
    /// The log's head now.
    pub last: Position,
    /// The last event of each scope that has new ones.
    pub scopes: Vec<(Scope, Position)>,
}

/// Told of every commit that has events: after it is durable and what it condemned is overwritten, before its batches
/// are answered. Runs on the writer's thread: keep it short.
pub type Listener = Arc<dyn Fn(&CommitNotice) + Send + Sync>;

/// The open log. Clones share it; dropping the last one finishes what was accepted and closes it.
#[derive(Clone)]
pub struct Log(Arc<Handle>);

struct Handle {
    core: Arc<Core>,
    hand: Hand,
}

/// What readers, submitters and the writer share.
struct Core {
    store: Store,
    vault: Vault,
    blobs: Blobs,
    /// The data folder.
    dir: PathBuf,
    meter: Meter,
    limits: Limits,
    listener: Option<Listener>,
    head: AtomicU64,
    /// The last position of each partition, so that a tail looks only where something is.
    tails: [AtomicU64; PARTITIONS as usize],
    /// Hours that have idempotency rows.
    hours: Mutex<BTreeSet<i64>>,
    /// Whether something was written that no sync has reached yet; changed by holders of a write transaction alone.
    unsynced: AtomicBool,
    /// Why nothing is appended for now.
    failed: RwLock<Option<Failed>>,
    queue: Arc<Queue>,
    #[cfg(test)]
    faults: tests::Faults,
}

impl Log {
    /// Hands a batch to the writer: seals its contents on this thread and queues it. `done` is called once the batch is
    /// durable or refused.
    ///
    /// # Errors
    /// [`Busy`] hands everything back if too much waits already.
    pub fn submit(&self, batch: Batch, done: Done) -> Result<(), Busy> {
        let handle = &self.0;
        if let Some(reason) = handle.core.failure() {
            done(Err(append::Error::Failed(reason)));
            return Ok(());
        }
        let place = match handle.core.queue.reserve(&handle.core.limits) {
            queue::Entry::Place(place) => place,
            queue::Entry::Full => {
                return Err(Busy { batch: Box::new(batch), done });
            }
            queue::Entry::Closed => {
                done(Err(append::Error::Closed));
                return Ok(());
            }
        };
        match prepare::prepare(&handle.core, batch) {
            Ok(prepared) => place.fill(prepared, done),
            Err(error) => {
                // The place first: `done` may submit again.
                drop(place);
                done(Err(error));
            }
        }
        Ok(())
    }

    /// Appends and waits; never from a callback, which the writer waits for. For tools and tests; a server submits.
    pub fn append(&self, batch: Batch) -> Result<crate::batch::Committed, append::Error> {
        let (tell, told) = std::sync::mpsc::sync_channel(1);
        let done = Box::new(move |result| drop(tell.send(result)));
        match self.submit(batch, done) {
            Ok(()) => told.recv().unwrap_or(Err(append::Error::Closed)),
            Err(Busy { .. }) => Err(append::Error::Failed("too much waits already".into())),
        }
    }

    /// Finishes what was accepted and refuses the rest; reading goes on.
    pub fn close(&self) {
        self.0.close();
    }

    /// Whether appends are taken.
    pub fn ready(&self) -> bool {
        self.0.core.failure().is_none() && self.is_open()
    }

    /// Whether it has not been closed. While it is open and not ready, reads go on.
    pub fn is_open(&self) -> bool {
        !self.0.core.queue.is_closed()
    }

    /// Counts how often the log was opened anew since its start, because its disk had failed: what was written before and not synced
    /// is gone.
    pub fn life(&self) -> u64 {
        self.0.core.store.life()
    }

    /// The last position that is durable, with its erasures made.
    pub fn head(&self) -> Position {
        self.0.core.head()
    }

    /// The bounds it was opened with.
    pub fn limits(&self) -> &Limits {
        &self.0.core.limits
    }

    /// Fresh subjects: slots that were never handed out before.
    pub fn reserve(&self, count: usize) -> Result<Vec<Slot>, vault::Error> {
        self.0.core.vault.reserve(count)
    }

    /// Whether every slot of the path is alive.
    pub fn alive(&self, keys: KeyPath) -> Result<bool, vault::Error> {
        self.0.core.vault.alive(keys)
    }

    /// A fingerprint that lives as long as the vault: for names and keys of clients.
    pub fn digest_names(&self, parts: &[&[u8]]) -> Digest {
        self.0.core.vault.digest_names(parts)
    }

    /// A fingerprint that cannot be made again once the slot was overwritten; `None` then.
    pub fn digest_in(&self, slot: Slot, parts: &[&[u8]]) -> Result<Option<Digest>, vault::Error> {
        self.0.core.vault.digest_in(slot, parts)
    }
}

impl Core {
    fn head(&self) -> Position {
        Position(self.head.load(Ordering::SeqCst))
    }

    fn tail(&self, partition: u16) -> Position {
        Position(self.tails[partition as usize].load(Ordering::SeqCst))
    }

    fn partitions_after(&self, after: Position) -> impl Iterator<Item = Partition> {
        (0..PARTITIONS).filter(move |p| self.tail(*p) > after).map(Partition)
    }

    fn read(&self) -> Result<Reading, Error> {
        self.store.read()
    }

    /// A small change that may be lost with the process, because it can be made again: durable with the next append's
    /// commit, or the next [`Log::sync`].
    fn quick<T>(&self, change: impl FnOnce(&mut Writing<'_>) -> Result<T, Error>) -> Result<T, Error> {
        self.check_writable()?;
        let database = self.store.database();
        let mut txn = database.begin_write()?;
        txn.set_durability(Durability::None).map_err(redb::Error::from)?;
        let out = change(&mut Writing::open(&txn)?)?;
        self.unsynced.store(true, Ordering::SeqCst);
        txn.commit()?;
        if !self.store.is_now(&database) {
            return Err(Error::Disk("the log was opened anew meanwhile".to_owned()));
        }
        // A page that had to make room in memory may have been refused by the disk.
        self.watch();
        self.check_writable()?;
        Ok(out)
    }

    /// Commits with a sync, which reaches all that was committed before without one.
    fn durably(&self, database: &Arc<Opened>, txn: WriteTransaction) -> Result<(), Error> {
        self.check_writable()?;
        self.unsynced.store(false, Ordering::SeqCst);
        let committed = self.store.commit(database, txn);
        self.watch();
        committed
    }
}

impl Handle {
    fn close(&self) {
        self.core.queue.close();
        self.hand.close();
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.close();
    }
}

/// A poisoned lock guards plain numbers, true after every statement.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
