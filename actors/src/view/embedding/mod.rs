//! The one pool of threads that embeds, for whoever asks and for whatever is stored.
//!
//! `line` says who is next: a question that somebody waits for goes before every text that is to be found, and waits for one
//! passage at most. `work` is what the threads do, `cache` remembers the vectors of questions. Nothing here knows what a vector is
//! for; what has none yet is found again in the log.

mod cache;
mod line;
mod work;

use std::{
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    thread::JoinHandle,
};

use memlog_events::{
    ids::{Micros, Scope},
    log::Log,
};
use tokio::sync::{Notify, oneshot};

use self::{
    cache::Cache,
    line::{Asked, Lane, Line},
};
use super::profile::{Model, ProfileViews};
use crate::{
    blocking,
    limits::Limits,
    port::{EmbedFailed, Embedder, Purpose},
};

/// Why there is no vector for who asked.
#[derive(Debug, thiserror::Error)]
pub enum NotEmbedded {
    /// As many wait as may.
    #[error("{limit} questions wait for the embedding model already")]
    Full {
        /// `embed_queries_max`.
        limit: u64,
    },
    /// The pool is closed.
    #[error("nothing is embedded any more")]
    Closed,
    /// The model failed on the text.
    #[error(transparent)]
    Failed(#[from] EmbedFailed),
    /// The model panicked; what it said may hold the text and is told nowhere.
    #[error("the embedding model failed inside")]
    Panicked,
}

/// Hands questions and documents to the embedder.
pub struct EmbedQueue {
    log: Log,
    embedder: Arc<dyn Embedder>,
    model: Model,
    line: Mutex<Line>,
    wake: Condvar,
    /// The same for the task that stands in for the threads on a runtime of one thread.
    woken: Notify,
    cache: Cache,
    /// Documents whose vectors the log did not take.
    unkept: AtomicU64,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

/// Held by a search that waits, and given back however it ends: a caller that goes away must leave no haste behind.
pub struct Hurry<'a> {
    queue: &'a EmbedQueue,
    scope: Scope,
}

impl Drop for Hurry<'_> {
    fn drop(&mut self) {
        self.queue.line().calm(self.scope);
    }
}

impl EmbedQueue {
    /// Starts the threads; on a runtime of one thread, a task.
    pub fn start(log: Log, embedder: Arc<dyn Embedder>, limits: &Limits) -> std::io::Result<Arc<Self>> {
        let model = Model::of(embedder.as_ref());
        let line = Mutex::new(Line::new(limits.embed_threads, limits.embed_queries_max));
        let (wake, cache) = (Condvar::new(), Cache::new(limits));
        let (woken, unkept, threads) = (Notify::new(), AtomicU64::new(0), Mutex::default());
        let queue = Arc::new(Self { log, embedder, model, line, wake, woken, cache, unkept, threads });
        if blocking::is_alone() {
            drop(tokio::spawn(Arc::clone(&queue).work_in_turn()));
            return Ok(queue);
        }
        for number in 0..limits.embed_threads {
            let worker = Arc::clone(&queue);
            let builder = std::thread::Builder::new().name(format!("memlog-embed-{number}"));
            let thread = builder.spawn(move || worker.work())?;
            queue.threads.lock().unwrap_or_else(PoisonError::into_inner).push(thread);
        }
        Ok(queue)
    }

    /// The model.
    pub fn embedder(&self) -> &Arc<dyn Embedder> {
        &self.embedder
    }

    /// Which model it is.
    pub fn model(&self) -> Model {
        self.model
    }

    /// The vector of a question to a profile: the one that is remembered, or the model's.
    ///
    /// Remembered for the profile alone: by the time of a reply nobody can tell what another was asked.
    pub async fn question(&self, of: &ProfileViews, text: &str, now: Micros) -> Result<Vec<f32>, NotEmbedded> {
        let scope = of.place.key.scope;
        if let Some(vector) = self.cache.get(scope, text, now) {
            return Ok(vector);
        }
        let vector = self.ask(of, text, Purpose::Query)?.await.map_err(|_| NotEmbedded::Closed)??;
        self.cache.put(scope, text, &vector, now);
        Ok(vector)
    }

    /// The vector of a text that somebody compares and does not store. Never remembered: it may be what is forgotten next.
    pub async fn passage(&self, of: &ProfileViews, text: &str) -> Result<Vec<f32>, NotEmbedded> {
        self.ask(of, text, Purpose::Passage)?.await.map_err(|_| NotEmbedded::Closed)?
    }

    fn ask(&self, of: &ProfileViews, text: &str, purpose: Purpose) -> Result<Answer, NotEmbedded> {
        let (answer, answered) = oneshot::channel();
        let owner = (Arc::clone(&of.namespace), of.place.key.scope);
        self.line().ask(owner, Asked { text: text.to_owned(), purpose, answer })?;
        self.wake_one();
        Ok(answered)
    }

    /// How many questions wait.
    pub fn questions(&self) -> u64 {
        self.line().questions() as u64
    }

    /// Documents whose vectors serve as long as their profile is loaded and were not kept, since the start.
    pub fn unkept(&self) -> u64 {
        self.unkept.load(Ordering::SeqCst)
    }

    /// Forgets questions that nobody has asked for long.
    pub fn drop_idle(&self, now: Micros) {
        self.cache.drop_idle(now);
    }

    /// A profile has documents that wait.
    pub fn put(&self, views: &Arc<ProfileViews>) {
        self.put_into(views, Lane::Stored);
    }

    /// The same of views that nobody waits for: they have a turn when there is nothing else to do, and now and then.
    pub fn put_behind(&self, views: &Arc<ProfileViews>) {
        self.put_into(views, Lane::Behind);
    }

    fn put_into(&self, views: &Arc<ProfileViews>, lane: Lane) {
        if self.line().put(views, lane) {
            self.wake_one();
        }
    }

    /// A search waits for this profile: its turn comes first, until the search drops what it is given.
    pub fn hurry(&self, scope: Scope) -> Hurry<'_> {
        self.line().hurry(scope);
        Hurry { queue: self, scope }
    }

    /// Ends the threads; what waits is found again in the log.
    pub fn close(&self) {
        self.line().close();
        self.wake.notify_all();
        self.woken.notify_one();
        let threads = std::mem::take(&mut *self.threads.lock().unwrap_or_else(PoisonError::into_inner));
        for thread in threads {
            if thread.join().is_err() {
                tracing::error!("an embedding thread had panicked");
            }
        }
    }

    fn wake_one(&self) {
        self.wake.notify_one();
        self.woken.notify_one();
    }

    fn line(&self) -> MutexGuard<'_, Line> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

type Answer = oneshot::Receiver<Result<Vec<f32>, NotEmbedded>>;
