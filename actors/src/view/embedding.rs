//! The embedding queue: texts become vectors on threads of their own, in turn between profiles, and first where a search waits.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread::JoinHandle,
};

use memlog_events::{
    event::Content,
    ids::Scope,
    log::{EmbeddingRow, Log},
};

use super::{
    indexed::{chunks, content_of, words_of},
    profile::{Finished, Model, Pending, ProfileViews, to_bytes},
};
use crate::port::{EmbedFailed, Embedder, Purpose};

/// Documents of one profile that are embedded before the next profile has its turn.
const TURN_DOCS: usize = 16;

/// Hands documents to the embedder.
pub struct EmbedQueue {
    log: Log,
    embedder: Arc<dyn Embedder>,
    model: Model,
    line: Mutex<Line>,
    wake: Condvar,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

#[derive(Default)]
struct Line {
    /// Profiles that have something to embed and that nobody works on.
    profiles: VecDeque<Arc<ProfileViews>>,
    /// Views in line or being worked on, by their address: a profile that is loaded anew has others.
    known: HashSet<usize>,
    /// Profiles that searches wait for, and how many.
    urgent: HashMap<Scope, usize>,
    closed: bool,
}

/// Held by a search that waits, and given back however it ends: a caller that goes away must leave no haste behind.
pub struct Hurry<'a> {
    queue: &'a EmbedQueue,
    scope: Scope,
}

impl Drop for Hurry<'_> {
    fn drop(&mut self) {
        let mut line = self.queue.line();
        if let Some(waiting) = line.urgent.get_mut(&self.scope) {
            *waiting -= 1;
            if *waiting == 0 {
                line.urgent.remove(&self.scope);
            }
        }
    }
}

impl EmbedQueue {
    /// Starts the threads.
    pub fn start(log: Log, embedder: Arc<dyn Embedder>, threads: usize) -> std::io::Result<Arc<Self>> {
        let model = Model::of(embedder.as_ref());
        let (line, wake) = (Mutex::default(), Condvar::new());
        let queue = Arc::new(Self { log, embedder, model, line, wake, threads: Mutex::default() });
        for number in 0..threads.max(1) {
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

    /// A profile has documents that wait.
    pub fn put(&self, views: &Arc<ProfileViews>) {
        let mut line = self.line();
        if line.closed {
            views.end_embedding();
        } else if line.known.insert(address(views)) {
            line.profiles.push_back(Arc::clone(views));
            self.wake.notify_one();
        }
    }

    /// A search waits for this profile: its turn comes first, until the search drops what it is given.
    pub fn hurry(&self, scope: Scope) -> Hurry<'_> {
        *self.line().urgent.entry(scope).or_default() += 1;
        Hurry { queue: self, scope }
    }

    /// Ends the threads; what waits is found again in the log.
    pub fn close(&self) {
        let left = {
            let mut line = self.line();
            line.closed = true;
            std::mem::take(&mut line.profiles)
        };
        for views in left {
            views.end_embedding();
        }
        self.wake.notify_all();
        let threads = std::mem::take(&mut *self.threads.lock().unwrap_or_else(PoisonError::into_inner));
        for thread in threads {
            if thread.join().is_err() {
                tracing::error!("an embedding thread had panicked");
            }
        }
    }

    fn line(&self) -> MutexGuard<'_, Line> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self) {
        while let Some(views) = self.next() {
            let (pending, taken) = views.take_pending(TURN_DOCS);
            let (done, rows) = self.embed_all(&views, &pending);
            if let Err(error) = self.log.put_embeddings(&rows) {
                tracing::warn!(%error, "vectors were not kept; they will be made again at the next load");
            }
            views.finish(done, taken, self.model);
            self.back_in_line(views);
        }
    }

    fn next(&self) -> Option<Arc<ProfileViews>> {
        let mut line = self.line();
        loop {
            if line.closed {
                return None;
            }
            let urgent = line.profiles.iter().position(|views| line.urgent.contains_key(&views.place.key.scope));
            if let Some(views) = line.profiles.remove(urgent.unwrap_or(0)) {
                return Some(views);
            }
            line = self.wake.wait(line).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn back_in_line(&self, views: Arc<ProfileViews>) {
        let mut line = self.line();
        // Looked at under the lock of the line: whoever adds a document now either is seen here or puts the profile in again.
        if line.closed {
            views.end_embedding();
        } else if views.has_queued() && !views.is_released() {
            line.profiles.push_back(views);
            self.wake.notify_one();
        } else {
            line.known.remove(&address(&views));
        }
    }

    fn embed_all(&self, views: &ProfileViews, pending: &[Pending]) -> (Vec<Finished>, Vec<EmbeddingRow>) {
        let (mut done, mut rows) = (Vec::new(), Vec::new());
        for it in pending {
            let Some((finished, kept)) = self.embed_doc(views, it) else { continue };
            done.push(finished);
            rows.extend(kept);
        }
        (done, rows)
    }

    /// None if the document is gone, or the model failed on it.
    fn embed_doc(&self, views: &ProfileViews, it: &Pending) -> Option<(Finished, Vec<EmbeddingRow>)> {
        let (key, texts) = {
            let state = views.read();
            let doc = state.catalog.doc(it.doc)?.clone();
            let content: Content = content_of(&self.log, &views.place, &state.catalog, &doc).ok()??;
            (state.key_of(it.doc, 0, self.model)?, chunks(&state.catalog, &doc, words_of(&content)?))
        };
        let embed = || texts.iter().map(|text| self.embedder.embed(text, Purpose::Passage)).collect();
        // A model that panics on one text must not end the thread, or whoever waits would wait for ever.
        let embedded: Result<Result<Vec<_>, EmbedFailed>, _> =
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(embed));
        let vectors = match embedded {
            Ok(Ok(vectors)) => vectors,
            Ok(Err(error)) => {
                tracing::warn!(%error, "a document is found by its words alone");
                return None;
            }
            Err(_) => {
                tracing::error!("the embedding model panicked; the document is found by its words alone");
                return None;
            }
        };
        let chunks: Vec<_> = vectors.into_iter().enumerate().map(|(chunk, vector)| (chunk as u16, vector)).collect();
        let row = |(chunk, vector): &(u16, Vec<f32>)| EmbeddingRow {
            key: memlog_events::log::EmbeddingKey { chunk: *chunk, ..key },
            keys: it.keys,
            vector: to_bytes(vector),
        };
        let rows = chunks.iter().map(row).collect();
        Some((Finished { doc: it.doc, key, chunks }, rows))
    }
}

/// Of views that somebody holds, so that no others can have the same.
fn address(views: &Arc<ProfileViews>) -> usize {
    Arc::as_ptr(views).addr()
}
