//! Sealed contents too large to lie in the tables: one file each, written and synced before the commit that refers to
//! it.
//!
//! `blobs/<innermost slot>/<partition>-<scope>-<stream>-<version>-<nonce>`: numbers and opaque ids, so that the files
//! of a slot are found when it dies, and an orphan is known by its event not being there. The nonce is new each time a
//! content is sealed: the file of a batch that is sent again is another file.

use std::{
    fs::{self, File},
    io::{self, Read, Write},
    path::{Path, PathBuf},
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
};

use uuid::Uuid;

use super::lock;
use crate::{
    head::Head,
    ids::{KeyPath, Partition, Scope, Slot, StreamId, StreamKey, Version},
};

#[derive(Debug)]
pub(super) struct Blobs {
    dir: PathBuf,
    /// Of all files, for who watches; right after the sweep of the opening.
    bytes: AtomicU64,
    /// What is to be removed once a backup has ended, while one is under way.
    held: Mutex<Option<Vec<Later>>>,
    /// What could not be removed and is tried again.
    stuck: Mutex<Vec<Later>>,
    #[cfg(test)]
    pub(super) fault: super::tests::Fault,
}

/// What is not removed yet.
#[derive(Clone, Copy, Debug)]
enum Later {
    Slot(Slot),
    File(Owner),
}

/// While it lives, no file is removed. What was to be is removed at its end, and if the process dies before, at the next start.
pub(super) struct Held<'a>(&'a Blobs);

/// Whose content a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Owner {
    pub(super) key: StreamKey,
    pub(super) version: Version,
    pub(super) nonce: [u8; 12],
    pub(super) keys: KeyPath,
}

impl Owner {
    pub(super) fn of(head: &Head) -> Self {
        Self { key: head.key, version: head.version, nonce: head.nonce, keys: head.keys }
    }

    fn slot(&self) -> Slot {
        self.keys.slots().last().unwrap_or(Slot::NONE)
    }
}

impl Blobs {
    /// Their folder in the data folder.
    pub(super) const FOLDER: &str = "blobs";

    pub(super) fn open(dir: &Path) -> io::Result<Self> {
        let dir = dir.join(Self::FOLDER);
        fs::create_dir_all(&dir)?;
        Ok(Self {
            dir,
            bytes: AtomicU64::new(0),
            held: Mutex::default(),
            stuck: Mutex::default(),
            #[cfg(test)]
            fault: super::tests::Fault::default(),
        })
    }

    fn slot_dir(&self, slot: Slot) -> PathBuf {
        self.dir.join(format!("{:016x}", slot.0))
    }

    fn path(&self, owner: &Owner) -> PathBuf {
        self.slot_dir(owner.slot()).join(format!(
            "{:04x}-{}-{}-{:016x}-{}",
            owner.key.partition.0,
            owner.key.scope.0.simple(),
            owner.key.stream.0.simple(),
            owner.version.0,
            hex(&owner.nonce),
        ))
    }

    /// Writes and syncs, the folders too. What cannot be written whole is removed again.
    pub(super) fn write(&self, owner: &Owner, sealed: &[u8]) -> io::Result<()> {
        let (path, folder) = (self.path(owner), self.slot_dir(owner.slot()));
        let written = self.write_file(&folder, &path, sealed);
        match written {
            Ok(()) => {
                self.bytes.fetch_add(sealed.len() as u64, Ordering::Relaxed);
            }
            // Half a file takes room that a full disk has not.
            Err(_) => self.remove_later(Later::File(*owner)),
        }
        written
    }

    fn write_file(&self, folder: &Path, path: &Path, sealed: &[u8]) -> io::Result<()> {
        fs::create_dir_all(folder)?;
        let mut file = File::create(path)?;
        #[cfg(test)]
        self.fault.writes(&mut file, sealed)?;
        file.write_all(sealed)?;
        #[cfg(test)]
        self.fault.syncs(&file)?;
        file.sync_all()?;
        sync_dir(folder)?;
        sync_dir(&self.dir)
    }

    /// `None` if the file is not there.
    pub(super) fn read(&self, owner: &Owner, bytes: u32) -> io::Result<Option<Vec<u8>>> {
        let file = match File::open(self.path(owner)) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let mut sealed = Vec::with_capacity(bytes as usize);
        // One byte more than expected, so that a file that grew is told from one that did not.
        file.take(u64::from(bytes) + 1).read_to_end(&mut sealed)?;
        Ok(Some(sealed))
    }

    /// Removes one file; it may be gone already.
    pub(super) fn remove(&self, owner: &Owner) -> io::Result<()> {
        if self.put_off(|| Later::File(*owner)) {
            return Ok(());
        }
        self.remove_now(Later::File(*owner))
    }

    /// Removes every file whose innermost slot this is; what cannot be removed now is tried again by [`Self::catch_up`], and
    /// swept at the next start.
    pub(super) fn remove_slot(&self, slot: Slot) {
        if !self.put_off(|| Later::Slot(slot)) {
            self.remove_later(Later::Slot(slot));
        }
    }

    fn remove_later(&self, what: Later) {
        if self.remove_now(what).is_err() {
            lock(&self.stuck).push(what);
        }
    }

    fn remove_now(&self, what: Later) -> io::Result<()> {
        let (removed, bytes) = match what {
            Later::File(owner) => {
                let path = self.path(&owner);
                let bytes = fs::metadata(&path).map_or(0, |file| file.len());
                (fs::remove_file(path), bytes)
            }
            Later::Slot(slot) => {
                let folder = self.slot_dir(slot);
                let bytes = bytes_in(&folder);
                (fs::remove_dir_all(folder), bytes)
            }
        };
        self.counted_out(&removed, bytes);
        gone_is_fine(removed)
    }

    /// Removes what could not be removed before.
    pub(super) fn catch_up(&self) -> io::Result<()> {
        let mut stuck = lock(&self.stuck);
        while let Some(what) = stuck.last() {
            self.remove_now(*what)?;
            stuck.pop();
        }
        Ok(())
    }

    /// From now on nothing is removed; `None` if that is so already.
    pub(super) fn hold(&self) -> Option<Held<'_>> {
        let mut held = lock(&self.held);
        if held.is_some() {
            return None;
        }
        *held = Some(Vec::new());
        Some(Held(self))
    }

    fn put_off(&self, what: impl FnOnce() -> Later) -> bool {
        match &mut *lock(&self.held) {
            Some(later) => {
                later.push(what());
                true
            }
            None => false,
        }
    }

    /// Every file with what its name says.
    pub(super) fn each<E: From<io::Error>>(
        &self,
        mut found: impl FnMut(StreamKey, Version, [u8; 12], &Path) -> Result<(), E>,
    ) -> Result<(), E> {
        for folder in fs::read_dir(&self.dir)? {
            for file in fs::read_dir(folder?.path())? {
                let file = file?;
                if let Some((key, version, nonce)) = parse(&file.file_name().to_string_lossy()) {
                    found(key, version, nonce, &file.path())?;
                }
            }
        }
        Ok(())
    }

    fn counted_out(&self, removed: &io::Result<()>, bytes: u64) {
        if removed.is_ok() {
            // What a failed write left behind was never counted in.
            let less = |held: u64| Some(held.saturating_sub(bytes));
            self.bytes.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).unwrap_or_default();
        }
    }

    /// The length of all files together.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Removes the files that no event refers to: their commit never came.
    pub(super) fn sweep<E: From<io::Error>>(
        &self,
        mut is_referred_to: impl FnMut(StreamKey, Version, [u8; 12]) -> Result<bool, E>,
    ) -> Result<usize, E> {
        let (mut removed, mut bytes) = (0, 0);
        for folder in fs::read_dir(&self.dir)? {
            let folder = folder?.path();
            for file in fs::read_dir(&folder)? {
                let file = file?;
                let keep = match parse(&file.file_name().to_string_lossy()) {
                    Some((key, version, nonce)) => is_referred_to(key, version, nonce)?,
                    // Not one of ours: whoever put it there may want it.
                    None => true,
                };
                if keep {
                    bytes += file.metadata()?.len();
                } else {
                    fs::remove_file(file.path())?;
                    removed += 1;
                }
            }
            // Fails while files are left in it, which is what is wanted.
            drop(fs::remove_dir(&folder));
        }
        self.bytes.store(bytes, Ordering::Relaxed);
        Ok(removed)
    }
}

impl Held<'_> {
    fn end(&self) {
        let later = lock(&self.0.held).take().unwrap_or_default();
        later.into_iter().for_each(|it| self.0.remove_later(it));
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.end();
    }
}

/// Of the files in a folder; 0 for one that is not there, which is nearly every slot's.
fn bytes_in(folder: &Path) -> u64 {
    let Ok(files) = fs::read_dir(folder) else { return 0 };
    files.flatten().filter_map(|file| file.metadata().ok()).map(|file| file.len()).sum()
}

fn hex(nonce: &[u8; 12]) -> String {
    nonce.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn parse(name: &str) -> Option<(StreamKey, Version, [u8; 12])> {
    let mut fields = name.split('-');
    let partition = Partition(u16::from_str_radix(fields.next()?, 16).ok()?);
    let scope = Scope(Uuid::try_parse(fields.next()?).ok()?);
    let stream = StreamId(Uuid::try_parse(fields.next()?).ok()?);
    let version = Version(u64::from_str_radix(fields.next()?, 16).ok()?);
    let nonce = u128::from_str_radix(fields.next()?, 16).ok()?;
    let nonce = *nonce.to_be_bytes().last_chunk()?;
    Some((StreamKey { partition, scope, stream }, version, nonce))
}

fn gone_is_fine(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// A new name is durable only once its folder is.
pub(super) fn sync_dir(dir: &Path) -> io::Result<()> {
    // Windows cannot open a folder as a file, and makes names durable by itself.
    if cfg!(unix) { File::open(dir)?.sync_all() } else { Ok(()) }
}
