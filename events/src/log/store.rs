//! The page store that is read and written now, and the one that takes its place when its disk let it down.
//!
//! Readers are shown nothing of a commit before it is durable: while one is made, they read what stood before it, and so
//! they do when it comes to nothing, until the page store that knows nothing of it is there.

use std::{
    ops::Deref,
    sync::{
        Arc, PoisonError, RwLock,
        atomic::{AtomicU64, Ordering},
    },
};

use redb::{Database, DatabaseError, WriteTransaction};

use super::{Error, disk::Disk, recover::guard, tables::Reading};

pub(super) struct Store {
    now: RwLock<Now>,
    before: RwLock<Option<Reading>>,
    /// Counts the page stores.
    life: AtomicU64,
    cache_bytes: usize,
}

#[derive(Clone)]
struct Now {
    database: Arc<Opened>,
    disk: Disk,
}

/// A page store whose closing may meet damage, which is no reason to take anybody down.
pub(super) struct Opened(Option<Database>);

impl Deref for Opened {
    type Target = Database;

    fn deref(&self) -> &Database {
        self.0.as_ref().expect("there until it is dropped")
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        let database = self.0.take();
        // What the closing could not write is made again by the next opening.
        drop(guard(move || {
            drop(database);
            Ok(())
        }));
    }
}

impl Store {
    /// Opens the page store, or makes a new one.
    pub(super) fn open(disk: Disk, cache_bytes: usize) -> Result<Self, DatabaseError> {
        let database = Arc::new(database_on(disk.clone(), cache_bytes)?);
        let (life, before) = (AtomicU64::new(0), RwLock::new(None));
        Ok(Self { now: RwLock::new(Now { database, disk }), before, life, cache_bytes })
    }

    fn now(&self) -> Now {
        self.now.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The page store of this moment.
    pub(super) fn database(&self) -> Arc<Opened> {
        self.now().database
    }

    /// Whether this is the page store of this moment still.
    pub(super) fn is_now(&self, database: &Arc<Opened>) -> bool {
        Arc::ptr_eq(&self.database(), database)
    }

    /// Its file.
    pub(super) fn disk(&self) -> Disk {
        self.now().disk
    }

    /// Which page store it is: another number, another one.
    pub(super) fn life(&self) -> u64 {
        self.life.load(Ordering::SeqCst)
    }

    /// The latest that is durable, or as good as that.
    pub(super) fn read(&self) -> Result<Reading, Error> {
        let before = self.before.read().unwrap_or_else(PoisonError::into_inner).clone();
        before.map_or_else(|| Reading::begin(&self.database()), Ok)
    }

    /// Commits with a sync. An error means that it came to nothing for certain, unless power goes before the disk is whole
    /// again; readers are then shown what was before.
    pub(super) fn commit(&self, database: &Arc<Opened>, txn: WriteTransaction) -> Result<(), Error> {
        let life = self.life();
        let now = self.now();
        if !Arc::ptr_eq(&now.database, database) {
            return Err(Error::Disk("the log was opened anew meanwhile".to_owned()));
        }
        // Inside the transaction, so that nothing comes in between.
        let before = Reading::begin(&now.database)?;
        self.show(Some(before));
        let committed = txn.commit();
        match (committed, now.disk.adrift()) {
            (Err(error), None) => {
                self.show(None);
                Err(error.into())
            }
            (Ok(()), None) => {
                self.show(None);
                Ok(())
            }
            // What failed came after its sync.
            (Ok(()), Some(_)) if now.disk.is_synced() => {
                self.show(None);
                Ok(())
            }
            (_, Some(reason)) => {
                // The next page store needs no cover.
                if self.life() != life {
                    self.show(None);
                }
                Err(Error::Disk(reason))
            }
        }
    }

    fn show(&self, before: Option<Reading>) {
        *self.before.write().unwrap_or_else(PoisonError::into_inner) = before;
    }

    /// Takes another page store over the same file, as of the last durable commit, into use. Reads go on meanwhile. `look` is
    /// shown it first.
    pub(super) fn renew<T>(&self, look: impl FnOnce(&Database) -> Result<T, Error>) -> Result<T, Error> {
        let disk = self.disk().next_life()?;
        let database = Arc::new(database_on(disk.clone(), self.cache_bytes)?);
        let seen = look(&database)?;
        disk.own();
        let mut now = self.now.write().unwrap_or_else(PoisonError::into_inner);
        let past = std::mem::replace(&mut *now, Now { database, disk });
        drop(now);
        // In this order: who read from the one before finds that there is another.
        self.show(None);
        self.life.fetch_add(1, Ordering::SeqCst);
        // Closing takes a while, and nobody waits for it.
        drop(past);
        Ok(seen)
    }
}

fn database_on(disk: Disk, cache_bytes: usize) -> Result<Opened, DatabaseError> {
    let mut builder = Database::builder();
    builder.set_cache_size(cache_bytes);
    builder.create_with_backend(disk).map(|database| Opened(Some(database)))
}

/// Reads every page that the last durable commit refers to and holds it against its checksum; why they do not match. What
/// this may write goes nowhere.
pub(super) fn check_pages(view: Disk) -> Result<(), Error> {
    let mut builder = Database::builder();
    builder.set_cache_size(CHECK_CACHE_BYTES);
    builder.set_check_integrity_on_open(true);
    // Asked before it falls back to the commit before the last, which would pass: redb 4.6 tells 0.3 then (`db.rs`, `do_repair`).
    builder.set_repair_callback(|session| {
        if (0.2..0.5).contains(&session.progress()) {
            session.abort();
        }
    });
    guard(|| match builder.create_with_backend(view) {
        Ok(database) => {
            drop(database);
            Ok(())
        }
        Err(DatabaseError::RepairAborted) => Err(Error::Damaged("a page does not match its checksum".to_owned())),
        Err(error) => Err(error.into()),
    })
}

/// Memory for pages while they are checked: each is read once.
const CHECK_CACHE_BYTES: usize = 8 << 20;
