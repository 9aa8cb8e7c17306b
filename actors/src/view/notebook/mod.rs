//! The views of registries and notebooks: who is who in a namespace, and what entries a memory has. Each is folded from one
//! stream and caught up when it is read, so whoever reads after an acknowledgement sees what was acknowledged. They hold names
//! and descriptions; texts are read from the log by their place.
//!
//! Small, loaded on use, dropped when idle or when there is too much. The past is folded anew each time and never kept.

mod entries;
mod order;
mod roster;
pub mod words;

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, PoisonError, RwLock, RwLockReadGuard,
        atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering},
    },
};

use memlog_events::{
    ids::{Micros, Position, Scope, StreamKey, Version},
    log::{CommitNotice, Error, Log, Stored},
};

pub use entries::{Entries, Entry, Kept};
pub use roster::{Agent, Memory, Roster, Trashed};

use super::notes::Board;
use crate::{in_use::InUse, limits::Limits};

/// What is folded from one stream.
pub trait Folded: Default + Send + Sync + 'static {
    /// Folds the next event in.
    fn apply(&mut self, log: &Log, event: &Stored) -> Result<(), Error>;
    /// Estimate of its memory.
    fn bytes(&self) -> usize;
}

/// One stream's view.
pub struct View<V> {
    key: StreamKey,
    used: AtomicI64,
    /// Whether it was folded once: from then on it is behind by little.
    loaded: AtomicBool,
    /// One past the position up to which the scope's events are in it for sure; 0 before the first look.
    seen: AtomicU64,
    state: RwLock<(Version, V)>,
}

/// Events read at once.
const PAGE_EVENTS: usize = 1_000;

impl<V: Folded> View<V> {
    fn new(key: StreamKey, now: Micros) -> Self {
        Self {
            key,
            used: AtomicI64::new(now.0),
            loaded: AtomicBool::new(false),
            seen: AtomicU64::new(0),
            state: RwLock::default(),
        }
    }

    fn locked(&self) -> RwLockReadGuard<'_, (Version, V)> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads; keep it short.
    pub fn read<T>(&self, look: impl FnOnce(&V) -> T) -> T {
        look(&self.locked().1)
    }

    fn version(&self) -> Version {
        self.locked().0
    }

    /// Folds in what the stream has told since.
    fn catch_up(&self, log: &Log) -> Result<(), Error> {
        loop {
            let page = log.stream(self.key, self.version(), PAGE_EVENTS)?;
            if page.is_empty() {
                self.loaded.store(true, Ordering::Relaxed);
                return Ok(());
            }
            let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
            for event in page {
                // Another reader may have folded it meanwhile.
                if event.head.version.0 == state.0.0 + 1 {
                    state.1.apply(log, &event)?;
                    state.0 = event.head.version;
                }
            }
        }
    }
}

type Views<V> = Mutex<HashMap<StreamKey, Arc<View<V>>>>;

/// The loaded views.
pub struct Notebooks {
    log: Log,
    in_use: InUse,
    idle_micros: i64,
    budget_bytes: u64,
    rosters: Views<Roster>,
    entries: Views<Entries>,
    boards: Views<Board>,
    /// The last event of each scope whose board was ever asked for: 24 bytes a namespace.
    heads: Mutex<HashMap<Scope, Position>>,
}

impl Notebooks {
    /// Nothing is loaded.
    pub fn new(log: Log, in_use: InUse, limits: &Limits) -> Self {
        let idle_micros = i64::try_from(limits.views_idle_ms_max).unwrap_or(i64::MAX).saturating_mul(1_000);
        let budget_bytes = limits.notebooks_budget_bytes;
        Self {
            log,
            in_use,
            idle_micros,
            budget_bytes,
            rosters: Mutex::default(),
            entries: Mutex::default(),
            boards: Mutex::default(),
            heads: Mutex::default(),
        }
    }

    /// A registry's view, with every event that was acknowledged before this call.
    pub async fn roster(&self, key: StreamKey, now: Micros) -> Result<Arc<View<Roster>>, String> {
        self.follow(&self.rosters, key, now).await
    }

    /// The same of a notebook.
    pub async fn entries(&self, key: StreamKey, now: Micros) -> Result<Arc<View<Entries>>, String> {
        self.follow(&self.entries, key, now).await
    }

    /// The view of a namespace's notes, with every event that was acknowledged before this call. Every call of a session asks
    /// for it: while nothing has happened in the scope, the log is not asked.
    pub async fn board(&self, key: StreamKey, now: Micros) -> Result<Arc<View<Board>>, String> {
        // Before the log is looked at: what is committed while it is read counts as not seen.
        let head = lock(&self.heads).entry(key.scope).or_default().0;
        let known = lock(&self.boards).get(&key).filter(|view| view.seen.load(Ordering::Acquire) > head).cloned();
        if let Some(view) = known {
            view.used.store(now.0, Ordering::Relaxed);
            return Ok(view);
        }
        let view = self.follow(&self.boards, key, now).await?;
        view.seen.fetch_max(head + 1, Ordering::AcqRel);
        Ok(view)
    }

    /// The log's listener.
    pub fn committed(&self, notice: &CommitNotice) {
        let mut heads = lock(&self.heads);
        for (scope, position) in &notice.scopes {
            if let Some(head) = heads.get_mut(scope) {
                *head = *position;
            }
        }
    }

    async fn follow<V: Folded>(&self, views: &Views<V>, key: StreamKey, now: Micros) -> Result<Arc<View<V>>, String> {
        let view = Arc::clone(lock(views).entry(key).or_insert_with(|| Arc::new(View::new(key, now))));
        view.used.store(now.0, Ordering::Relaxed);
        if view.loaded.load(Ordering::Relaxed) {
            view.catch_up(&self.log).map_err(|error| error.to_string())?;
            return Ok(view);
        }
        let loading = Arc::clone(&view);
        let loaded = self.in_use.read(&self.log, move |log| loading.catch_up(log)).await;
        // The message of a panic may hold content.
        loaded.map_err(|_| FAILED.to_owned())?.map_err(|error| error.to_string())?;
        Ok(view)
    }

    /// What a stream's view was at a position, without what was erased since.
    pub async fn past<V: Folded>(&self, key: StreamKey, until: Position) -> Result<V, String> {
        let folded = self.in_use.read(&self.log, move |log| fold_until(log, key, until)).await;
        folded.map_err(|_| FAILED.to_owned())?.map_err(|error: Error| error.to_string())
    }

    /// Drops a notebook's view: it was purged.
    pub fn forget(&self, key: StreamKey) {
        lock(&self.entries).remove(&key);
    }

    /// Drops everything; the next reader folds it anew.
    pub fn forget_all(&self) {
        lock(&self.rosters).clear();
        lock(&self.entries).clear();
        lock(&self.boards).clear();
    }

    /// Drops what nobody has used for long, and the longest unused while there is too much.
    pub fn drop_idle(&self, now: Micros) {
        let long = now.0.saturating_sub(self.idle_micros);
        lock(&self.rosters).retain(|_, view| view.used.load(Ordering::Relaxed) > long);
        lock(&self.entries).retain(|_, view| view.used.load(Ordering::Relaxed) > long);
        lock(&self.boards).retain(|_, view| view.used.load(Ordering::Relaxed) > long);
        if self.bytes() > self.budget_bytes {
            // Rosters are few and needed by every call; what is big are notebooks.
            drop_oldest(&self.entries, self.budget_bytes / 2);
            drop_oldest(&self.rosters, self.budget_bytes / 4);
            drop_oldest(&self.boards, self.budget_bytes / 4);
        }
    }

    /// The memory of all loaded views.
    pub fn bytes(&self) -> u64 {
        bytes_of(&lock(&self.rosters)) + bytes_of(&lock(&self.entries)) + bytes_of(&lock(&self.boards))
    }
}

const FAILED: &str = "folding it failed inside";

fn fold_until<V: Folded>(log: &Log, key: StreamKey, until: Position) -> Result<V, Error> {
    let (mut folded, mut after) = (V::default(), Version(0));
    loop {
        let page = log.stream(key, after, PAGE_EVENTS)?;
        let known = page.partition_point(|event| event.head.position <= until);
        for event in &page[..known] {
            folded.apply(log, event)?;
            after = event.head.version;
        }
        if page.is_empty() || known < page.len() {
            return Ok(folded);
        }
    }
}

fn bytes_of<V: Folded>(views: &HashMap<StreamKey, Arc<View<V>>>) -> u64 {
    views.values().map(|view| view.read(V::bytes) as u64).sum()
}

fn drop_oldest<V: Folded>(views: &Views<V>, budget: u64) {
    let mut views = lock(views);
    let mut bytes = bytes_of(&views);
    let mut by_use: Vec<_> = views.iter().map(|(key, view)| (view.used.load(Ordering::Relaxed), *key)).collect();
    by_use.sort_unstable();
    for (_, key) in by_use {
        if bytes <= budget {
            return;
        }
        // Whoever reads it has it still.
        bytes -= views.remove(&key).map_or(0, |view| view.read(V::bytes) as u64);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
