//! All views of one profile behind one lock: catalog, keyword, vectors, and the documents that wait to be embedded.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    sync::{
        PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard,
        atomic::{AtomicBool, Ordering},
    },
};

use memlog_events::{
    event::Facts,
    ids::{KeyPath, Position, Version},
    log::{EmbeddingKey, Error, Log, Stored},
};
use tokio::sync::watch;

use super::{
    catalog::{Catalog, Effect, moved_expiry},
    indexed::{content_of, indexed_text, words_of},
    keyword::Keyword,
    reading::{BESIDE_FROM, Opened, OpenedPages, Pages, VectorPages, Vectored, aside, opened},
    vector::{Limits, Vectors},
};
use crate::{domain::Place, port::Embedder};

/// Which model the vectors are of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Model {
    /// Of the embedder.
    pub fingerprint: u32,
    /// Length of a vector.
    pub dimensions: usize,
}

impl Model {
    /// Of an embedder.
    pub fn of(embedder: &dyn Embedder) -> Self {
        Self { fingerprint: embedder.fingerprint(), dimensions: embedder.dimensions() }
    }
}

/// What is folded from a profile's events.
pub struct State {
    /// What there is.
    pub catalog: Catalog,
    /// By words.
    pub keyword: Keyword,
    /// By meaning; none without a model.
    pub vectors: Option<Vectors>,
    /// Documents that have no vector yet, oldest first.
    pending: VecDeque<u32>,
    waiting: HashSet<u32>,
    /// See [`State::is_behind`].
    behind: bool,
}

impl State {
    fn new(model: Option<Model>) -> Self {
        Self {
            catalog: Catalog::default(),
            keyword: Keyword::new(),
            vectors: model.map(|model| Vectors::new(model.dimensions, Limits::default())),
            pending: VecDeque::new(),
            waiting: HashSet::new(),
            behind: false,
        }
    }

    /// Folds a profile's log up to a position, which the log must have reached before the call. Blocking.
    ///
    /// The log is read page by page, stream by stream, while others write: only up to a position that was durable before
    /// is every stream sure to be whole.
    pub fn fold(log: &Log, place: &Place, until: Position, model: Option<Model>) -> Result<Self, Error> {
        let mut events: Vec<Stored> = log.scope(place.key.partition, place.key.scope).collect::<Result<_, _>>()?;
        // By keys of their own: an event is too large to be moved about while they are sorted.
        events.sort_by_cached_key(|event| event.head.position);
        let many = events.len() >= BESIDE_FROM;
        std::thread::scope(|threads| {
            let vectors = model.map(|_| aside(many, threads, VectorPages::new(log, place.key.scope)));
            let opened = aside(many, threads, OpenedPages::new(log, events, until));
            let mut state = Self::new(model);
            state.keyword.expect_many(many);
            state.fold_events(log, place, until, opened)?;
            state.keyword.expect_many(false);
            if let Some((model, vectors)) = model.zip(vectors) {
                state.take_cached(vectors, model)?;
            }
            Ok(state)
        })
    }

    fn fold_events(
        &mut self,
        log: &Log,
        place: &Place,
        until: Position,
        opened: Pages<'_, Opened>,
    ) -> Result<(), Error> {
        let mut hidden = Vec::new();
        for page in opened {
            for (event, content, says) in page? {
                if event.head.position <= until {
                    let effects = self.catalog.apply_read(&event, content, says);
                    self.follow(log, place, effects)?;
                    continue;
                }
                // A tag removed since is hidden from reads of the past as well.
                if let Facts::SpeakerRemoved(e) = &event.facts {
                    hidden.push(e.speaker);
                }
                // What has expired by now is shown nowhere, whatever its time was then; nor is what lives on hidden.
                if let Some((id, expires_at)) = moved_expiry(&event.facts) {
                    self.catalog.move_expiry(id, expires_at);
                }
            }
        }
        for speaker in hidden {
            let effects = self.catalog.end_speaker(speaker);
            self.follow(log, place, effects)?;
        }
        self.catalog.position = until;
        Ok(())
    }

    /// Folds one event in.
    pub fn apply(&mut self, log: &Log, place: &Place, event: &Stored) -> Result<(), Error> {
        let effects = self.catalog.apply(event, opened(log, event)?);
        self.follow(log, place, effects)
    }

    fn follow(&mut self, log: &Log, place: &Place, effects: Vec<Effect>) -> Result<(), Error> {
        for effect in effects {
            match effect {
                Effect::Index(doc, text) => self.index(doc, &text),
                Effect::Drop(doc) => self.drop_doc(doc),
                Effect::Replace(doc, text) => {
                    self.drop_doc(doc);
                    if let Some(text) = text {
                        self.index(doc, &text);
                    }
                }
                Effect::Retag(doc) => {
                    let Some(it) = self.catalog.doc(doc) else { continue };
                    let content = content_of(log, place, &self.catalog, it)?;
                    if let Some(words) = content.as_ref().and_then(words_of) {
                        self.drop_doc(doc);
                        self.index(doc, words);
                    }
                }
            }
        }
        Ok(())
    }

    fn index(&mut self, doc: u32, text: &str) {
        let Some(it) = self.catalog.doc(doc) else { return };
        self.keyword.insert(doc, &indexed_text(&self.catalog, it, text));
        if self.vectors.is_some() && self.waiting.insert(doc) {
            self.pending.push_back(doc);
        }
    }

    fn drop_doc(&mut self, doc: u32) {
        self.keyword.remove(doc);
        if let Some(vectors) = &mut self.vectors {
            vectors.remove(doc);
        }
        // Its place among the pending stays, so that whoever counts what is done with counts it, too.
        self.waiting.remove(&doc);
    }

    /// Whether, when it was folded, there were documents that another model had embedded, or more without a vector than a search
    /// could wait for, and the pool has not caught up with them yet. That may take minutes, in which meaning knows only a part of
    /// what there is; what is stored meanwhile comes behind them.
    pub fn is_behind(&self) -> bool {
        self.behind
    }

    /// Takes the vectors that the log keeps; what has none stays pending.
    fn take_cached(&mut self, vectors: Pages<'_, Vectored>, model: Model) -> Result<(), Error> {
        let mut outdated = HashSet::new();
        let mut found: HashMap<u32, Vec<(u16, Vec<f32>)>> = HashMap::new();
        for page in vectors {
            for (key, bytes) in page? {
                let Some(doc) = self.catalog.by_slot(key.subject) else { continue };
                if key.model != model.fingerprint {
                    outdated.insert(doc);
                } else if self.key_of(doc, key.chunk, model) == Some(key)
                    && let Some(vector) = from_bytes(&bytes, model.dimensions)
                {
                    found.entry(doc).or_default().push((key.chunk, vector));
                }
            }
        }
        for (doc, chunks) in found {
            self.embedded(doc, &chunks);
        }
        self.pending.retain(|doc| self.waiting.contains(doc));
        self.behind = self.pending.len() > AWAITED_DOCS_MAX || self.pending.iter().any(|doc| outdated.contains(doc));
        Ok(())
    }

    fn embedded(&mut self, doc: u32, chunks: &[(u16, Vec<f32>)]) {
        self.waiting.remove(&doc);
        if let Some(vectors) = &mut self.vectors {
            for (chunk, vector) in chunks {
                vectors.insert(doc, *chunk, vector);
            }
        }
    }

    /// Under what a document's vector is kept. A text whose speaker is not shown any more is another text.
    pub fn key_of(&self, doc: u32, chunk: u16, model: Model) -> Option<EmbeddingKey> {
        let it = self.catalog.doc(doc)?;
        let hidden = it.speaker.is_some_and(|id| self.catalog.speaker_name(id).is_none());
        let content = Version(it.at.0 * 2 + u64::from(hidden));
        let scope = self.catalog.scope?;
        Some(EmbeddingKey { scope, subject: it.slot, content, chunk, model: model.fingerprint })
    }

    /// Estimate for the memory budget.
    pub fn bytes(&self) -> usize {
        let vectors = self.vectors.as_ref().map_or(0, Vectors::bytes);
        self.catalog.bytes() + self.keyword.bytes() + vectors
    }
}

/// Documents without a vector that a search of freshly folded views waits for: some four seconds of the English model on one
/// core. More were stored without a model, or by a process that ended at once, and are caught up with.
const AWAITED_DOCS_MAX: usize = 1_000;
/// Documents left at which the pool has caught up: a search waits for so few.
const CAUGHT_UP_DOCS: usize = 16;

/// A vector as the log keeps it: f32, little-endian.
pub fn to_bytes(vector: &[f32]) -> Vec<u8> {
    vector.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// What [`to_bytes`] gave for a vector of that length.
pub(super) fn from_bytes(bytes: &[u8], dimensions: usize) -> Option<Vec<f32>> {
    let (values, rest) = bytes.as_chunks::<4>();
    let vector: Vec<f32> = values.iter().map(|value| f32::from_le_bytes(*value)).collect();
    (rest.is_empty() && vector.len() == dimensions).then_some(vector)
}

/// The loaded views of one profile.
pub struct ProfileViews {
    /// Where its streams lie.
    pub place: Place,
    state: RwLock<State>,
    applied: watch::Sender<Position>,
    /// Documents ever handed to the embedder, and those done with: both only grow.
    enqueued: watch::Sender<u64>,
    finished: watch::Sender<u64>,
    /// Not kept up any more.
    released: AtomicBool,
    /// Nothing is embedded any more.
    unembedded: AtomicBool,
}

/// A document that the embedder is to work on.
pub struct Pending {
    /// Its number.
    pub doc: u32,
    /// What its vectors are sealed by.
    pub keys: KeyPath,
}

impl ProfileViews {
    pub(crate) fn new(place: Place, state: State) -> Self {
        let (position, pending) = (state.catalog.position, state.pending.len() as u64);
        Self {
            place,
            state: RwLock::new(state),
            applied: watch::Sender::new(position),
            enqueued: watch::Sender::new(pending),
            finished: watch::Sender::new(0),
            released: AtomicBool::new(false),
            unembedded: AtomicBool::new(false),
        }
    }

    /// Reads; keep it short, the projector waits.
    pub fn read(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Folds an event in, unless it is in already. True if something now waits to be embedded.
    pub(super) fn apply(&self, log: &Log, event: &Stored) -> Result<bool, Error> {
        let waiting = {
            let mut state = self.write();
            if event.head.position <= state.catalog.position {
                return Ok(false);
            }
            let before = state.pending.len();
            state.apply(log, &self.place, event)?;
            let added = state.pending.len().saturating_sub(before);
            self.enqueued.send_modify(|count| *count += added as u64);
            !state.pending.is_empty()
        };
        self.applied.send_replace(event.head.position);
        Ok(waiting)
    }

    /// Resolves once every event up to `position` is folded in: true; or once it never will be, because these views are
    /// not kept up any more: false.
    pub async fn wait_applied(&self, position: Position) -> bool {
        let mut applied = self.applied.subscribe();
        // The sender lives in self, so this cannot fail while somebody waits.
        drop(applied.wait_for(|applied| *applied >= position || self.is_released()).await);
        *self.applied.borrow() >= position
    }

    /// Changes whenever an event was folded in.
    pub fn changes(&self) -> watch::Receiver<Position> {
        self.applied.subscribe()
    }

    /// Resolves once everything that waits to be embedded now is done with: true; or once it never will be: false.
    pub async fn wait_embedded(&self) -> bool {
        let target = *self.enqueued.borrow();
        let mut finished = self.finished.subscribe();
        let over = || self.is_released() || self.unembedded.load(Ordering::SeqCst);
        drop(finished.wait_for(|finished| *finished >= target || over()).await);
        *self.finished.borrow() >= target
    }

    /// Whether the embedder has something to take.
    pub(crate) fn has_queued(&self) -> bool {
        !self.read().pending.is_empty()
    }

    /// Lets everyone go who waits: these views will not be kept up any more.
    pub(super) fn release(&self) {
        self.released.store(true, Ordering::SeqCst);
        // Whoever waits looks again; the numbers stay true.
        self.applied.send_modify(|_| ());
        self.finished.send_modify(|_| ());
    }

    /// Lets everyone go who waits for vectors: none will be made any more.
    pub(super) fn end_embedding(&self) {
        self.unembedded.store(true, Ordering::SeqCst);
        self.finished.send_modify(|_| ());
    }

    /// Whether these views are not kept up any more: whoever wants to know more must load them anew.
    pub fn is_released(&self) -> bool {
        self.released.load(Ordering::SeqCst)
    }

    /// How many documents wait to be embedded.
    pub fn pending(&self) -> usize {
        self.read().waiting.len()
    }

    /// The next documents to be embedded, oldest first, and how many were taken off the queue for it: more, if some are gone.
    pub(super) fn take_pending(&self, limit: usize) -> (Vec<Pending>, usize) {
        let mut state = self.write();
        let take = limit.min(state.pending.len());
        let docs: Vec<u32> = state.pending.drain(..take).collect();
        let waiting = docs.into_iter().filter(|doc| state.waiting.contains(doc));
        let taken =
            waiting.filter_map(|doc| Some(Pending { doc, keys: state.catalog.keys_of(state.catalog.doc(doc)?) }));
        (taken.collect(), take)
    }

    /// Takes the vectors of documents that are still what they were when they were taken.
    pub(super) fn finish(&self, done: Vec<Finished>, taken: usize, model: Model) {
        let mut state = self.write();
        for finished in done {
            let same = state.key_of(finished.doc, 0, model).is_some_and(|key| key == finished.key);
            if same && state.waiting.contains(&finished.doc) {
                state.embedded(finished.doc, &finished.chunks);
            }
        }
        state.behind &= state.pending.len() > CAUGHT_UP_DOCS;
        drop(state);
        self.finished.send_modify(|count| *count += taken as u64);
    }
}

/// A document's vectors.
pub(super) struct Finished {
    pub(super) doc: u32,
    pub(super) key: EmbeddingKey,
    pub(super) chunks: Vec<(u16, Vec<f32>)>,
}
