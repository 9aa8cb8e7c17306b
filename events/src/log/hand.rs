//! Who gives the writer its turns: a thread of its own, or whoever opened the log.

use std::{
    io,
    sync::{Mutex, TryLockError},
    thread::{self, JoinHandle},
};

use super::{lock, queue::Queue, writer::Writer};

pub(super) enum Hand {
    /// None once it is joined.
    Thread(Mutex<Option<JoinHandle<()>>>),
    /// None once it has rested.
    Caller(Mutex<Option<Writer>>),
}

impl Hand {
    pub(super) fn by_thread(mut writer: Writer) -> io::Result<Self> {
        let thread = thread::Builder::new().name("memlog-writer".into()).spawn(move || writer.run())?;
        Ok(Self::Thread(Mutex::new(Some(thread))))
    }

    #[allow(clippy::unnecessary_wraps, reason = "stands where a thread may fail to start")]
    pub(super) fn by_caller(writer: Writer) -> io::Result<Self> {
        Ok(Self::Caller(Mutex::new(Some(writer))))
    }

    /// One group; false if nothing waits, or a thread does it.
    pub(super) fn turn(&self) -> bool {
        let Self::Caller(writer) = self else { return false };
        lock(writer).as_mut().is_some_and(Writer::turn)
    }

    /// After the queue was closed: what was accepted is finished.
    pub(super) fn close(&self, queue: &Queue) {
        match self {
            Self::Thread(thread) => {
                let Some(thread) = lock(thread).take() else { return };
                // The last clone may be dropped by a callback on the writer's own thread, which cannot wait for itself.
                if thread.thread().id() != thread::current().id() {
                    drop(thread.join());
                }
            }
            Self::Caller(writer) => {
                let writer = match writer.try_lock() {
                    Ok(mut writer) => writer.take(),
                    Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner().take(),
                    // Closed by a callback of the turn that is under way.
                    Err(TryLockError::WouldBlock) => None,
                };
                if let Some(mut writer) = writer {
                    while writer.turn() {}
                    writer.rest();
                    queue.abandon();
                }
            }
        }
    }
}
