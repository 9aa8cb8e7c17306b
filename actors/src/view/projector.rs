//! The projector follows the log in order of position and folds what is committed into the views that are loaded.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    thread::JoinHandle,
};

use memlog_events::{ids::Position, log::Log};
use tokio::sync::mpsc;

use super::registry::Registry;
use crate::blocking;

/// Events read at once.
const PAGE_EVENTS: usize = 1_000;

/// Keeps the views up with the log, on a thread of its own; on a runtime of one thread as a task.
pub struct Projector {
    wake: Mutex<Option<mpsc::Sender<()>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
    /// Up to where it has folded, for who watches.
    at: Arc<AtomicU64>,
}

impl Projector {
    /// Follows from the log's present head: nothing is loaded yet that could lag behind.
    pub fn start(log: Log, registry: Arc<Registry>) -> std::io::Result<Self> {
        // One wake-up that waits is enough: the projector then reads all there is.
        let (wake, mut woken) = mpsc::channel(1);
        let from = log.head();
        let at = Arc::new(AtomicU64::new(from.0));
        let told = Arc::clone(&at);
        let thread = if blocking::is_alone() {
            drop(tokio::spawn(async move {
                while woken.recv().await.is_some() {
                    follow(&log, &registry, &told);
                }
            }));
            None
        } else {
            let following = move || {
                while woken.blocking_recv().is_some() {
                    follow(&log, &registry, &told);
                }
            };
            Some(std::thread::Builder::new().name("memlog-project".to_owned()).spawn(following)?)
        };
        Ok(Self { wake: Mutex::new(Some(wake)), thread: Mutex::new(thread), at })
    }

    /// Something was committed.
    pub fn wake(&self) {
        if let Some(wake) = &*self.wake.lock().unwrap_or_else(PoisonError::into_inner) {
            // Full means that it will look anyway.
            if let Err(mpsc::error::TrySendError::Closed(())) = wake.try_send(()) {
                tracing::error!("the projector has stopped; reads of what is written from here on will wait");
            }
        }
    }

    /// Up to where everything is folded into the views that are loaded.
    pub fn at(&self) -> Position {
        Position(self.at.load(Ordering::Relaxed))
    }

    /// Ends it.
    pub fn close(&self) {
        drop(self.wake.lock().unwrap_or_else(PoisonError::into_inner).take());
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if thread.is_some_and(|thread| thread.join().is_err()) {
            tracing::error!("the projector had panicked");
        }
    }
}

/// To the log's head.
fn follow(log: &Log, registry: &Registry, told: &AtomicU64) {
    let mut at = Position(told.load(Ordering::Relaxed));
    loop {
        let page = match log.tail(at, PAGE_EVENTS) {
            Ok(page) => page,
            Err(error) => {
                // The next commit wakes it again; until then readers of what was written since wait, and time out.
                tracing::error!(%error, "the log could not be read");
                return;
            }
        };
        let Some(last) = page.last() else { return };
        at = last.head.position;
        for event in &page {
            registry.project(event);
        }
        told.store(at.0, Ordering::Relaxed);
    }
}
