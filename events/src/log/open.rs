//! Opening: take the folder, refuse what this version cannot read, finish what a crash left undone.

use std::{
    collections::{BTreeSet, HashMap},
    fs::{self, File, OpenOptions},
    io,
    ops::Bound,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, RwLock,
        atomic::{AtomicBool, AtomicU64},
    },
    time::Duration,
};

use redb::{Database, DatabaseError, ReadableTable, StorageBackend, backends::FileBackend};
use uuid::Uuid;

use super::{
    Core, Handle, Limits, Listener, Log, Reason,
    backup::PARTIAL,
    blobs::{Blobs, sync_dir},
    directory,
    disk::Disk,
    hand::Hand,
    meter::Meter,
    recover::{ROOM_FILE, guard},
    rows,
    rows::CommitRow,
    store::Store,
    tables::{Reading, Writing},
    writer::{self, End, Writer},
};
use crate::{
    head::Head,
    ids::{Micros, PARTITIONS, Partition, Position, Slot, StreamKey, Version},
    vault::{self, Random, Vault},
};

/// The layout of the log as a whole.
pub const FORMAT: u32 = 1;
/// Which reader this is. A log that needs a later one says so and is left alone.
pub const READER: u32 = 3;
/// The log's file in the data folder.
pub(super) const FILE: &str = "log.redb";
/// The vault's in its own.
pub(super) const VAULT_FILE: &str = "vault";

/// Where the log lies and what it may use.
#[derive(Clone)]
pub struct Options {
    /// The data folder; made if need be.
    pub dir: PathBuf,
    /// The vault's folder, if it is not the data folder.
    pub vault_dir: Option<PathBuf>,
    /// Bounds.
    pub limits: Limits,
    /// Told of every commit.
    pub on_commit: Option<Listener>,
}

impl Options {
    /// The defaults in a folder.
    pub fn new(dir: impl Into<PathBuf>) -> Self {
        Self { dir: dir.into(), vault_dir: None, limits: Limits::default(), on_commit: None }
    }
}

/// Why a log was not opened. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Another process, or another handle of this one, has it.
    #[error("the data folder is in use by another memlog: {}", .0.display())]
    InUse(PathBuf),
    /// Written by a later memlog.
    #[error("the log needs reader {needs} and this is reader {have}: use a newer memlog")]
    Newer {
        /// The oldest reader it allows.
        needs: u32,
        /// This one.
        have: u32,
    },
    /// There is a log but no vault where it should be.
    #[error("the log has events but its vault is not at {}", .0.display())]
    VaultMissing(PathBuf),
    /// A backup ended before it was whole; without its log, the vault beside it would be taken for a new one.
    #[error("{} holds a backup that was broken off: delete it and back up anew", .0.display())]
    BrokenOff(PathBuf),
    /// There is a vault that was used, and no log, or an empty one.
    #[error("the vault at {} has keys of a log that is not here: restore the log, or take both away", .0.display())]
    LogMissing(PathBuf),
    /// Its layout is not one that this version knows.
    #[error("the log has layout {0} and this memlog knows layout {known}: use a newer memlog", known = FORMAT)]
    Layout(u32),
    /// The vault belongs to another log.
    #[error("the vault at {} belongs to another log", .0.display())]
    WrongVault(PathBuf),
    /// The vault could not be read.
    #[error(transparent)]
    Vault(#[from] vault::Error),
    /// A file or folder failed.
    #[error("{}: {error}", path.display())]
    Io {
        /// Which.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// The log could not be read.
    #[error(transparent)]
    Log(#[from] super::Error),
}

impl Log {
    /// Opens the log of a folder, or makes a new one. When this returns, every erasure that the log tells of is made.
    ///
    /// # Errors
    /// [`Error::InUse`] if it is open elsewhere, [`Error::Newer`] if it was written by a later version.
    pub fn open(options: Options) -> Result<Self, Error> {
        let dir = &options.dir;
        let vault_dir = options.vault_dir.as_ref().unwrap_or(dir);
        for folder in [dir, vault_dir] {
            at(folder, fs::create_dir_all(folder))?;
        }
        let (log, vault) = (dir.join(FILE), vault_dir.join(VAULT_FILE));
        if !log.exists() && dir.join(PARTIAL).exists() {
            return Err(Error::BrokenOff(dir.clone()));
        }
        let disks = Disks { log: backend(&log)?, vault: Box::new(backend(&vault)?), vault_path: vault };
        for folder in [dir, vault_dir] {
            at(folder, sync_dir(folder))?;
        }
        // Left by a process that ended while it looked whether there is room again.
        drop(fs::remove_file(dir.join(ROOM_FILE)));
        Self::open_disks(disks, options)
    }

    pub(super) fn open_disks(disks: Disks<impl StorageBackend>, options: Options) -> Result<Self, Error> {
        Self::open_with(disks, options, Random::system(), Hand::by_thread)
    }

    pub(super) fn open_with(
        disks: Disks<impl StorageBackend>,
        options: Options,
        random: Random,
        hand: impl FnOnce(Writer) -> io::Result<Hand>,
    ) -> Result<Self, Error> {
        // The vault's lock guards the whole opening; redb takes the log's own.
        if let Ok(false) = disks.vault.try_lock_range(Bound::Unbounded, Bound::Unbounded) {
            return Err(Error::InUse(disks.vault_path));
        }
        forget_half_made(&disks)?;
        let disk = at(&options.dir, Disk::new(Box::new(disks.log)))?;
        let cache_bytes = options.limits.cache_bytes_max;
        // What the page store makes of damaged pages may be a panic.
        let opened = guard(|| {
            let store = Store::open(disk.clone(), cache_bytes);
            Ok(store.map_err(|error| in_use(error, &options.dir)).and_then(|store| {
                let vault = open_vault(&store.database(), disks.vault, disks.vault_path, random)?;
                let found = survey(&store.database())?;
                Ok((store, vault, found))
            }))
        });
        let (store, vault, found) = opened??;
        // Before keys are made: a log that began in memory alone, beside a vault with keys, would be taken for a lost one.
        if let Some(reason) = disk.adrift() {
            return Err(Error::Log(super::Error::Disk(reason)));
        }
        let blobs = at(&options.dir, Blobs::open(&options.dir))?;
        vault.start(found.next_slot)?;
        let retry_ms = options.limits.retry_ms;
        let core = Arc::new(Core {
            store,
            vault,
            blobs,
            dir: options.dir.clone(),
            meter: Meter::default(),
            limits: options.limits,
            listener: options.on_commit,
            head: AtomicU64::new(found.end.head.0),
            tails: found.tails.map(AtomicU64::new),
            hours: Mutex::new(found.hours),
            unsynced: AtomicBool::new(false),
            failed: RwLock::new(None),
            queue: Arc::default(),
            #[cfg(test)]
            faults: Default::default(),
        });
        guard(|| {
            finish_erasures(&core, found.end.head)?;
            sweep_blobs(&core)
        })?;
        // What the page store wrote while it opened is in memory alone if the disk did not take it.
        if let Some(reason) = disk.adrift() {
            return Err(Error::Log(super::Error::Disk(reason)));
        }
        let pause = Duration::from_millis(retry_ms);
        let writer =
            Writer { core: Arc::clone(&core), tips: HashMap::new(), end: found.end, pause, doubtful: Vec::new() };
        let hand = at(&options.dir, hand(writer))?;
        Ok(Self(Arc::new(Handle { core, hand })))
    }
}

/// The two files, or what a test puts in their place.
pub(super) struct Disks<L> {
    pub(super) log: L,
    pub(super) vault: Box<dyn StorageBackend>,
    pub(super) vault_path: PathBuf,
}

/// A process killed while it made the very first file leaves one without its magic number, which redb writes last and
/// then refuses. Before the vault has anything in it nothing can have been written, so the file is made again.
fn forget_half_made(disks: &Disks<impl StorageBackend>) -> Result<(), Error> {
    let half_made = || -> io::Result<()> {
        let mut magic = [0; 9];
        if disks.vault.len()? > 0 || disks.log.len()? < magic.len() as u64 {
            return Ok(());
        }
        disks.log.read(0, &mut magic)?;
        if magic == [0; 9] { disks.log.set_len(0) } else { Ok(()) }
    };
    at(&disks.vault_path, half_made())
}

fn at<T>(path: &Path, result: io::Result<T>) -> Result<T, Error> {
    result.map_err(|error| Error::Io { path: path.to_owned(), error })
}

fn backend(path: &Path) -> Result<FileBackend, Error> {
    let open =
        || -> io::Result<File> { OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path) };
    FileBackend::new(at(path, open())?).map_err(|error| in_use(error, path))
}

fn in_use(error: DatabaseError, path: &Path) -> Error {
    match error {
        DatabaseError::DatabaseAlreadyOpen => Error::InUse(path.to_owned()),
        other => Error::Log(other.into()),
    }
}

/// Opens the vault that belongs to the log, or makes both know each other if the log is new.
fn open_vault(
    database: &Database,
    disk: Box<dyn StorageBackend>,
    path: PathBuf,
    random: Random,
) -> Result<Vault, Error> {
    let Some(installation) = fence(database)? else {
        // Keys are made once the log has begun.
        if disk.len().map_err(vault::Error::Io)? > vault::FIRST_SLOT * vault::SLOT_BYTES as u64 {
            return Err(Error::LogMissing(path));
        }
        let vault = Vault::open(disk, true, random)?;
        begin(database, vault.installation())?;
        return Ok(vault);
    };
    if disk.len().map_err(vault::Error::Io)? == 0 {
        return Err(Error::VaultMissing(path));
    }
    let vault = Vault::open(disk, false, random)?;
    match vault.installation() == installation {
        true => Ok(vault),
        false => Err(Error::WrongVault(path)),
    }
}

/// Reads who may read the log, before anything else of it; `None` if it is new.
fn fence(database: &Database) -> Result<Option<Uuid>, Error> {
    let txn = Reading::begin(database)?;
    if !txn.has_tables()? {
        return Ok(None);
    }
    let meta = txn.meta()?;
    let row = |name: &'static [u8]| -> Result<Option<Vec<u8>>, Error> {
        let row = meta.get_owned(name).map_err(super::Error::from)?;
        Ok(row.map(|row| row.value().to_vec()))
    };
    let Some(needs) = row(rows::META_MIN_READER)? else {
        return Ok(None);
    };
    let damaged = || Error::Log(super::Error::Row("meta"));
    let number = |row: Vec<u8>| row.try_into().map(u32::from_le_bytes).map_err(|_| damaged());
    let needs = number(needs)?;
    if needs > READER {
        return Err(Error::Newer { needs, have: READER });
    }
    let layout = number(row(rows::META_FORMAT)?.ok_or_else(damaged)?)?;
    if layout != FORMAT {
        return Err(Error::Layout(layout));
    }
    let installation = row(rows::META_INSTALLATION)?.ok_or_else(damaged)?;
    Ok(Some(Uuid::from_slice(&installation).map_err(|_| damaged())?))
}

/// The first commit of a new log.
fn begin(database: &Database, installation: Uuid) -> Result<(), super::Error> {
    let txn = database.begin_write()?;
    {
        let mut tables = Writing::open(&txn)?;
        let meta = &mut tables.meta;
        meta.insert(rows::META_FORMAT, FORMAT.to_le_bytes().as_slice())?;
        // The first event that needs a later reader raises it.
        meta.insert(rows::META_MIN_READER, 1_u32.to_le_bytes().as_slice())?;
        meta.insert(rows::META_INSTALLATION, installation.as_bytes().as_slice())?;
        let state = rows::state_row(Position(0), vault::FIRST_SLOT);
        meta.insert(rows::META_STATE, state.as_slice())?;
    }
    Ok(txn.commit()?)
}

pub(super) struct Found {
    pub(super) end: End,
    next_slot: u64,
    pub(super) tails: [u64; PARTITIONS as usize],
    pub(super) hours: BTreeSet<i64>,
}

/// Finds where everything ends.
pub(super) fn survey(database: &Database) -> Result<Found, super::Error> {
    let txn = Reading::begin(database)?;
    let state = txn.meta()?.get_owned(rows::META_STATE)?;
    let state = state.filter(|row| row.value().len() == 16);
    let state = state.ok_or(super::Error::Row("meta"))?;
    let (head, next_slot) = (rows::le64(state.value(), 0), rows::le64(state.value(), 8));
    let mut end = End { head: Position(head), hash: [0; 32], latest: Micros(i64::MIN) };
    let commits = txn.commits()?;
    if let Some((_, row)) = commits.last()? {
        let row = CommitRow::parse(row.value());
        end = End { head: end.head.max(row.last), hash: row.hash, latest: row.latest };
    }
    let order = txn.order()?;
    let mut tails = [0; PARTITIONS as usize];
    for (partition, tail) in (0..PARTITIONS).map(Partition).zip(&mut tails) {
        let from = rows::order_key(partition, Position(0));
        let to = rows::order_key(partition, Position(u64::MAX));
        if let Some(last) = order.range::<&[u8; 10]>(&from..=&to)?.next_back() {
            *tail = rows::order_key_of(last?.0.value()).1.0;
        }
    }
    let hours = directory::hours_present(&txn)?;
    Ok(Found { end, next_slot, tails, hours })
}

/// Makes the erasures that the log tells of and the vault may not have made: before this returns, nobody can read.
pub(super) fn finish_erasures(core: &Core, head: Position) -> Result<(), super::Error> {
    let through = core.vault.erased_through();
    if through > head {
        // A log older than its vault (a restored backup). What it condemns was overwritten then; what it will condemn
        // was not.
        core.vault.mark_erased(head)?;
        return Ok(core.vault.sync()?);
    }
    let mut after = through;
    while after < head {
        let from = rows::erasure_key(Position(after.0 + 1), Slot::NONE);
        let erasures = core.read()?.erasures()?;
        let mut slots = Vec::new();
        let mut through = head;
        for row in erasures.range::<&[u8; 16]>(&from..)? {
            let (position, slot) = rows::erasure_of(row?.0.value());
            // A step ends between two events, since the mark is a position.
            if slots.len() >= core.limits.step_rows_max && position > through {
                break;
            }
            through = position;
            slots.push(slot);
        }
        writer::erase(core, &slots, through)?;
        after = through;
    }
    Ok(())
}

fn sweep_blobs(core: &Core) -> Result<(), super::Error> {
    let events = core.read()?.events()?;
    core.blobs.sweep(|key, version, nonce| match head_of(&events, key, version)? {
        // A dead one was left behind by a backup that held its removal back.
        Some(head) => Ok::<_, super::Error>(head.nonce == nonce && core.vault.alive(head.keys).unwrap_or(true)),
        None => Ok(false),
    })?;
    Ok(())
}

type Events = redb::ReadOnlyTable<&'static [u8; 42], &'static [u8]>;

fn head_of(events: &Events, key: StreamKey, version: Version) -> Result<Option<Head>, super::Error> {
    let Some(event) = events.get_owned(&rows::event_key(key, version))? else {
        return Ok(None);
    };
    let wrong = |error| super::Error::Event { key, version, reason: Reason::Head(error) };
    Head::parse(event.value()).map(Some).map_err(wrong)
}

/// Whether an event's content lies in the file of this nonce.
pub(super) fn refers(events: &Events, key: StreamKey, version: Version, nonce: [u8; 12]) -> Result<bool, super::Error> {
    Ok(head_of(events, key, version)?.is_some_and(|head| head.nonce == nonce))
}
