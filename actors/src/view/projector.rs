//! The projector follows the log in order of position and folds what is committed into the views that are loaded.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
        mpsc,
    },
    thread::JoinHandle,
};

use memlog_events::{ids::Position, log::Log};

use super::registry::Registry;

/// Events read at once.
const PAGE_EVENTS: usize = 1_000;

/// A thread that keeps the views up with the log.
pub struct Projector {
    wake: Mutex<Option<mpsc::SyncSender<()>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
    /// Up to where it has folded, for who watches.
    at: Arc<AtomicU64>,
}

impl Projector {
    /// Follows from the log's present head: nothing is loaded yet that could lag behind.
    pub fn start(log: Log, registry: Arc<Registry>) -> std::io::Result<Self> {
        // One wake-up that waits is enough: the projector then reads all there is.
        let (wake, woken) = mpsc::sync_channel(1);
        let from = log.head();
        let at = Arc::new(AtomicU64::new(from.0));
        let told = Arc::clone(&at);
        let builder = std::thread::Builder::new().name("memlog-project".to_owned());
        let thread = builder.spawn(move || follow(&log, &registry, &told, &woken))?;
        Ok(Self { wake: Mutex::new(Some(wake)), thread: Mutex::new(Some(thread)), at })
    }

    /// Something was committed.
    pub fn wake(&self) {
        if let Some(wake) = &*self.wake.lock().unwrap_or_else(PoisonError::into_inner) {
            // Full means that it will look anyway.
            if let Err(mpsc::TrySendError::Disconnected(())) = wake.try_send(()) {
                tracing::error!("the projector has stopped; reads of what is written from here on will wait");
            }
        }
    }

    /// Up to where everything is folded into the views that are loaded.
    pub fn at(&self) -> Position {
        Position(self.at.load(Ordering::Relaxed))
    }

    /// Ends the thread.
    pub fn close(&self) {
        drop(self.wake.lock().unwrap_or_else(PoisonError::into_inner).take());
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if thread.is_some_and(|thread| thread.join().is_err()) {
            tracing::error!("the projector had panicked");
        }
    }
}

fn follow(log: &Log, registry: &Registry, told: &AtomicU64, woken: &mpsc::Receiver<()>) {
    let mut at = Position(told.load(Ordering::Relaxed));
    while woken.recv().is_ok() {
        loop {
            // Events past the head can be read already, but their erasures may not be made and readers not be told of them.
            let head = log.head();
            let page = match log.tail(at, PAGE_EVENTS) {
                Ok(page) => page,
                Err(error) => {
                    // The next commit wakes it again; until then readers of what was written since wait, and time out.
                    tracing::error!(%error, "the log could not be read");
                    break;
                }
            };
            let known = page.partition_point(|event| event.head.position <= head);
            let Some(last) = page[..known].last() else { break };
            at = last.head.position;
            for event in &page[..known] {
                registry.project(event);
            }
            told.store(at.0, Ordering::Relaxed);
        }
    }
}
