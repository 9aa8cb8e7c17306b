//! A copy of the log and its vault while both are in use, as of one commit.
//!
//! Commits and erasures stand still while the vault is copied (some milliseconds for each 100,000 subjects); the tables are then
//! copied from a read of that very moment while others write, and files of contents are not removed meanwhile. So the copy's
//! vault and log know of each other exactly what they should: no event without its key, no dead key without its event.
//!
//! Until all of it is on the disk the copy's log has another name, and nothing opens it.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
};

use redb::Database;

use super::{
    Log,
    blobs::{Blobs, sync_dir},
    open,
    rows::CommitRow,
    tables::Reading,
};
use crate::{ids::Position, vault};

/// What a copy holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copied {
    /// The last position in it and the hash of its commit.
    pub head: (Position, [u8; 32]),
    /// Events.
    pub events: u64,
    /// Bytes of the log, of contents in files of their own, and of the vault.
    pub bytes: u64,
}

/// Why there is no copy; what was begun of it is removed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The folder holds something already, and that might be a backup that somebody needs.
    #[error("{} is not empty: a backup goes into a folder of its own", .0.display())]
    NotEmpty(PathBuf),
    /// The log is being closed.
    #[error("memlog shuts down; the backup was given up")]
    Closed,
    /// One at a time.
    #[error("a backup is under way already")]
    UnderWay,
    /// A file or folder failed.
    #[error("{}: {error}", path.display())]
    Io {
        /// Which.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// The log could not be read, or its copy not be written.
    #[error(transparent)]
    Log(#[from] super::Error),
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Self::Log(error.into())
    }
}

/// The copy's log while it is not whole.
pub(super) const PARTIAL: &str = "log.redb.partial";
/// Memory for pages of the copy that wait to be written.
const CACHE_BYTES: usize = 32 << 20;

impl Log {
    /// Copies the log into `dir` and its vault into `vault_dir`, which may be the same; both are made if need be, for their
    /// owner alone. Blocks as long as it takes; the log may grow meanwhile, since what the copy reads is not freed.
    ///
    /// # Errors
    /// [`Error::NotEmpty`] if something is there already.
    pub fn backup(&self, dir: &Path, vault_dir: &Path) -> Result<Copied, Error> {
        // First: a second one must neither find these folders empty nor clean up behind this one.
        let _held = self.0.core.blobs.hold().ok_or(Error::UnderWay)?;
        let mut made = Made::default();
        made.folder(dir)?;
        if vault_dir != dir {
            made.folder(vault_dir)?;
        }
        let copied = self.copy(dir, vault_dir)?;
        made.keep();
        Ok(copied)
    }

    fn copy(&self, dir: &Path, vault_dir: &Path) -> Result<Copied, Error> {
        let core = &self.0.core;
        let (log, vault) = (dir.join(PARTIAL), vault_dir.join(open::VAULT_FILE));
        // Before anything else: whatever is left of a copy that is killed says that it is none.
        let log_file = at(&log, new_file(&log))?;
        let mut vault_file = at(&vault, new_file(&vault))?;
        let database = core.store.database();
        let still = database.begin_write().map_err(super::Error::from)?;
        let reading = core.read()?;
        let vault_bytes = core.vault.copy_to(&mut vault_file).map_err(|error| match error {
            vault::Error::Io(error) => Error::Io { path: vault.clone(), error },
            other => Error::Log(other.into()),
        })?;
        still.abort().map_err(|error| super::Error::from(redb::Error::from(error)))?;
        at(&vault, vault_file.sync_all())?;
        let blob_bytes = copy_blobs(&reading, &core.blobs, dir)?;
        let copied = copy_tables(&reading, log_file, || core.queue.is_closed())?;
        at(vault_dir, sync_dir(vault_dir))?;
        let whole = dir.join(open::FILE);
        at(&whole, fs::rename(&log, &whole))?;
        at(dir, sync_dir(dir))?;
        let log_bytes = at(&whole, fs::metadata(&whole))?.len();
        Ok(Copied { bytes: log_bytes + blob_bytes + vault_bytes, ..copied })
    }
}

fn copy_tables(reading: &Reading, file: File, stop: impl Fn() -> bool) -> Result<Copied, Error> {
    let backend = redb::backends::FileBackend::new(file).map_err(super::Error::from)?;
    let mut builder = Database::builder();
    builder.set_cache_size(CACHE_BYTES);
    let copy = builder.create_with_backend(backend).map_err(super::Error::from)?;
    if !reading.copy_to(&copy, stop)? {
        return Err(Error::Closed);
    }
    // What was copied is what is told, not what stood there when the copy began.
    let copied = Reading::begin(&copy)?;
    let events = copied.count()?;
    let commits = copied.commits()?;
    let last = redb::ReadableTable::last(&commits).map_err(super::Error::from)?;
    let head = last.map_or((Position(0), [0; 32]), |(_, row)| {
        let row = CommitRow::parse(row.value());
        (row.last, row.hash)
    });
    Ok(Copied { head, events, bytes: 0 })
}

/// The files that events of this read refer to.
fn copy_blobs(reading: &Reading, blobs: &Blobs, dir: &Path) -> Result<u64, Error> {
    let target = dir.join(Blobs::FOLDER);
    at(&target, fs::create_dir(&target))?;
    let events = reading.events()?;
    let mut bytes = 0;
    let copied = blobs.each(|key, version, nonce, file| -> Result<(), Error> {
        if !open::refers(&events, key, version, nonce)? {
            return Ok(());
        }
        let Some((folder, name)) = file.parent().and_then(Path::file_name).zip(file.file_name()) else { return Ok(()) };
        let folder = target.join(folder);
        at(&folder, fs::create_dir_all(&folder))?;
        let to = folder.join(name);
        bytes += at(&to, fs::copy(file, &to))?;
        at(&to, File::open(&to).and_then(|file| file.sync_all()))?;
        at(&folder, sync_dir(&folder))
    });
    copied?;
    at(&target, sync_dir(&target))?;
    Ok(bytes)
}

fn at<T>(path: &Path, result: io::Result<T>) -> Result<T, Error> {
    result.map_err(|error| Error::Io { path: path.to_owned(), error })
}

/// For its owner alone, and never in the place of another one.
fn new_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Folders that were empty when the copy began; emptied again unless it is kept.
#[derive(Default)]
struct Made(Vec<PathBuf>);

impl Made {
    fn folder(&mut self, path: &Path) -> Result<(), Error> {
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        at(path, builder.create(path))?;
        if at(path, fs::read_dir(path))?.next().is_some() {
            return Err(Error::NotEmpty(path.to_owned()));
        }
        self.0.push(path.to_owned());
        Ok(())
    }

    fn keep(&mut self) {
        self.0.clear();
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        for folder in &self.0 {
            // What cannot be removed has no log of the name that is opened; the error that led here is told already.
            for file in [PARTIAL, open::FILE, open::VAULT_FILE] {
                drop(fs::remove_file(folder.join(file)));
            }
            drop(fs::remove_dir_all(folder.join(Blobs::FOLDER)));
        }
    }
}

impl vault::Vault {
    fn copy_to(&self, file: &mut File) -> Result<u64, vault::Error> {
        self.still(|bytes| Ok(file.write_all(bytes)?))
    }
}
