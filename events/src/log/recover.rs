//! What becomes of a log whose disk fails: appends are refused, reads go on, and the writer tries until it goes on, too,
//! without a restart. Damage is another matter: a log with pages that are not what was written takes nothing more until
//! somebody has looked at it.

use std::{
    fs::{self, File},
    io::{self, Seek, SeekFrom, Write},
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
    sync::{Arc, PoisonError, atomic::Ordering},
    time::Duration,
};

use super::{
    Core, Error, lock,
    open::{self, Found},
    writer::Writer,
};
use crate::trouble::told;

/// Why nothing is appended.
#[derive(Clone, Debug)]
pub(super) struct Failed {
    pub(super) reason: String,
    /// Whether only a restart helps, if that.
    pub(super) lasts: bool,
}

/// Space that there must be before a full disk is taken for one that is not: with less, the next appends would fail again, and each
/// time the whole file is read.
const ROOM_BYTES: usize = 1 << 20;
/// The file that this is tried with, in the data folder.
pub(super) const ROOM_FILE: &str = ".room";
/// Pauses between tries that read the whole file grow up to this.
const PAUSE_MAX: Duration = Duration::from_secs(30);

impl Core {
    pub(super) fn failure(&self) -> Option<String> {
        self.failed().map(|failed| failed.reason)
    }

    pub(super) fn failed(&self) -> Option<Failed> {
        self.failed.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn check_writable(&self) -> Result<(), Error> {
        self.failure().map_or(Ok(()), |reason| Err(Error::Failed(reason)))
    }

    /// The first reason stays, since later ones follow from it; but damage is told before a disk that may come back.
    pub(super) fn fail(&self, reason: String, lasts: bool) {
        let mut failed = self.failed.write().unwrap_or_else(PoisonError::into_inner);
        if failed.as_ref().is_none_or(|before| lasts && !before.lasts) {
            *failed = Some(Failed { reason, lasts });
        }
    }

    /// Looks whether the disk has let the page store down, and calls the writer if so.
    pub(super) fn watch(&self) {
        if let Some(reason) = self.store.disk().over()
            && self.failure().is_none()
        {
            self.fail(reason, false);
            self.queue.call();
        }
    }

    /// A read. What redb makes of a damaged page may be a panic: it ends here, as an error.
    pub(super) fn guarded<T>(&self, read: impl Fn() -> Result<T, Error>) -> Result<T, Error> {
        loop {
            let life = self.store.life();
            let done = guard(&read);
            if done.is_ok() {
                return done;
            }
            self.watch();
            // Unless the page store was replaced under it: the next one has an answer.
            if self.store.life() == life {
                return done;
            }
        }
    }
}

/// Makes an error of a panic.
pub(super) fn guard<T>(work: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let said = panic.downcast_ref::<String>().map(String::as_str);
        let said = said.or_else(|| panic.downcast_ref::<&str>().copied());
        Err(Error::Damaged(said.unwrap_or("it panicked").to_owned()))
    })
}

impl Writer {
    /// How long to wait for work: for ever, unless there is something to try again.
    pub(super) fn patience(&self) -> Option<Duration> {
        let failed = self.core.failed.read().unwrap_or_else(PoisonError::into_inner);
        failed.as_ref().filter(|failed| !failed.lasts).map(|_| self.pause)
    }

    /// Tries to go on, if the log has failed.
    pub(super) fn look(&mut self) {
        if self.patience().is_none() {
            return;
        }
        match guard(|| self.recover()) {
            Ok(()) => {
                self.pause = Duration::from_millis(self.core.limits.retry_ms);
                *self.core.failed.write().unwrap_or_else(PoisonError::into_inner) = None;
            }
            Err(error) if error.passes() => {}
            Err(error) => self.core.fail(error.to_string(), true),
        }
    }

    fn recover(&mut self) -> Result<(), Error> {
        let core = Arc::clone(&self.core);
        if core.store.disk().over().is_some() {
            let end = self.end;
            let found = core.store.renew(|database| {
                let found = open::survey(database)?;
                // The page store may have fallen back to a commit before the last, and would hide what was acknowledged.
                match (found.end.head, found.end.hash) == (end.head, end.hash) {
                    true => Ok(found),
                    false => Err(Error::Damaged("the last commit is not what was written".to_owned())),
                }
            });
            match found {
                Ok(found) => {
                    self.adopt(found);
                    self.pause = Duration::from_millis(core.limits.retry_ms);
                }
                Err(error) => {
                    self.pause = (self.pause * 2).min(PAUSE_MAX);
                    return Err(error);
                }
            }
        }
        room(&core.dir, core.store.disk().reach()).map_err(|error| Error::Disk(told("the disk of the log", &error)))?;
        core.store.disk().anchor().map_err(|error| Error::Disk(told("the disk of the log", &error)))?;
        open::finish_erasures(&core, self.end.head)?;
        core.vault.top_up()?;
        core.vault.sync()?;
        self.settle_doubts()?;
        // A file that stays costs space and keeps nobody waiting.
        drop(core.blobs.catch_up());
        Ok(())
    }

    /// Removes the files of batches that came to nothing.
    fn settle_doubts(&mut self) -> Result<(), Error> {
        let events = self.core.read()?.events()?;
        while let Some(file) = self.doubtful.last() {
            if !open::refers(&events, file.key, file.version, file.nonce)? {
                self.core.blobs.remove(file)?;
            }
            self.doubtful.pop();
        }
        Ok(())
    }

    /// The log ends where its last durable commit did.
    fn adopt(&mut self, found: Found) {
        self.tips.clear();
        self.end = found.end;
        for (tail, now) in self.core.tails.iter().zip(found.tails) {
            tail.store(now, Ordering::SeqCst);
        }
        *lock(&self.core.hours) = found.hours;
        self.core.unsynced.store(false, Ordering::SeqCst);
    }
}

/// Whether there is room for more than the next page, and for a file as long as the one that there was none for. This one is as
/// long, and nearly all of it a hole.
fn room(dir: &Path, reach: u64) -> io::Result<()> {
    let path = dir.join(ROOM_FILE);
    let tried = File::create(&path).and_then(|mut file| {
        file.seek(SeekFrom::Start(reach.saturating_sub(ROOM_BYTES as u64)))?;
        file.write_all(&vec![0; ROOM_BYTES])?;
        file.sync_all()
    });
    let removed = fs::remove_file(&path);
    tried.and(removed)
}
