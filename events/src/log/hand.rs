//! Who gives the writer its turns: a thread of its own, or whoever opened the log.

use std::{
    io,
    sync::{Mutex, MutexGuard, TryLockError},
    thread::{self, JoinHandle},
};

use super::{lock, writer::Writer};

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

    pub(super) fn by_caller(writer: Writer) -> Self {
        Self::Caller(Mutex::new(Some(writer)))
    }

    /// One group; false if nothing waits, if a thread does it, or if a turn is under way, as it is for a callback.
    pub(super) fn turn(&self) -> bool {
        let Self::Caller(writer) = self else { return false };
        let Some(mut writer) = unless_busy(writer) else { return false };
        let any = writer.as_mut().is_some_and(Writer::turn);
        // Closed by a callback of this turn, which could not wait for it.
        if writer.as_ref().is_some_and(|writer| writer.core.queue.is_closed()) {
            finish(writer.take());
        }
        any
    }

    /// After the queue was closed: what was accepted is finished.
    pub(super) fn close(&self) {
        match self {
            Self::Thread(thread) => {
                let Some(thread) = lock(thread).take() else { return };
                // The last clone may be dropped by a callback on the writer's own thread, which cannot wait for itself.
                if thread.thread().id() != thread::current().id() {
                    drop(thread.join());
                }
            }
            // A turn that is under way does it at its end.
            Self::Caller(writer) => finish(unless_busy(writer).and_then(|mut writer| writer.take())),
        }
    }
}

/// As its thread would: until the closed queue is empty and nobody seals what has a place there.
fn finish(writer: Option<Writer>) {
    if let Some(mut writer) = writer {
        writer.run();
    }
}

fn unless_busy<T>(mutex: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    match mutex.try_lock() {
        Ok(held) => Some(held),
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}
