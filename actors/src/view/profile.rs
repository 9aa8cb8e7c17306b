//! All views of one profile behind one lock: catalog, keyword, vectors, and the documents that wait to be embedded.

use std::{
    collections::{HashSet, VecDeque},
    sync::{
        Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard,
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
    HashMap,
    budget::Counted,
    catalog::{Catalog, Effect, moved_expiry},
    indexed::{undamaged_of, words_of, write_indexed},
    indexing::{Changes, Indexing},
    keyword::Keyword,
    ordered::Ordered,
    reading::{
        EVENT_PAGES_AHEAD, Opened, OpenedPages, Pages, VECTOR_PAGES_AHEAD, VectorPages, Vectored, aside, opened,
        pages_bytes,
    },
    vector::{Limits, Quantised, Vectors},
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
    /// The same by number, with what their vectors will take; it counts before they are made, so that making them passes no budget.
    waiting: HashMap<u32, u32>,
    awaited_bytes: usize,
    /// See [`State::is_behind`].
    behind: bool,
}

impl State {
    pub(super) fn new(model: Option<Model>) -> Self {
        Self {
            catalog: Catalog::default(),
            keyword: Keyword::new(),
            vectors: model.map(|model| Vectors::new(model.dimensions, Limits::default())),
            pending: VecDeque::new(),
            waiting: HashMap::default(),
            awaited_bytes: 0,
            behind: false,
        }
    }

    /// Folds a profile's log up to a position, which the log must have reached before the call. Blocking. `room` is told of the bytes
    /// that are taken and says whether there are so many; if not, there is no state.
    ///
    /// The log is read page by page, stream by stream, while others write: only up to a position that was durable before
    /// is every stream sure to be whole.
    pub(crate) fn fold(
        log: &Log,
        place: &Place,
        until: Position,
        model: Option<Model>,
        held_bytes_max: usize,
        room: &dyn Fn(usize) -> bool,
    ) -> Result<Option<Self>, Error> {
        Self::fold_beside(log, place, until, model, held_bytes_max, true, room)
    }

    /// The same, with or without threads beside, should there be many events.
    pub(super) fn fold_beside(
        log: &Log,
        place: &Place,
        until: Position,
        model: Option<Model>,
        held_bytes_max: usize,
        beside: bool,
        room: &dyn Fn(usize) -> bool,
    ) -> Result<Option<Self>, Error> {
        std::thread::scope(|threads| {
            let (mut many, mut vectors) = (false, None);
            let pages = || VectorPages::new(log, place.key.scope);
            let events = Ordered::read(log, *place, held_bytes_max, &mut || {
                many = beside;
                vectors = (many && model.is_some()).then(|| aside(Some(VECTOR_PAGES_AHEAD), threads, pages()));
            })?;
            let vectors = vectors.or_else(|| model.map(|_| aside(None, threads, pages())));
            let dimensions = model.map_or(0, |model| model.dimensions);
            let reading = events.bytes() + pages_bytes(events.len(), events.content_bytes(), many, dimensions);
            let opened = aside(many.then_some(EVENT_PAGES_AHEAD), threads, OpenedPages::new(log, events, until));
            let (mut state, mut indexing) = (Self::new(model), Indexing::new(many, threads));
            if !state.fold_events(log, place, until, opened, &mut indexing, &|bytes| room(bytes + reading))? {
                return Ok(None);
            }
            if let Some((model, vectors)) = model.zip(vectors)
                && !state.take_cached(vectors, model, &|bytes| room(bytes + indexing.bytes()))?
            {
                return Ok(None);
            }
            state.keyword = indexing.end();
            Ok(room(state.bytes()).then_some(state))
        })
    }

    /// False if there was no room.
    fn fold_events(
        &mut self,
        log: &Log,
        place: &Place,
        until: Position,
        opened: Pages<'_, Opened>,
        indexing: &mut Indexing<'_>,
        room: &dyn Fn(usize) -> bool,
    ) -> Result<bool, Error> {
        let mut hidden = Vec::new();
        for page in opened {
            if !room(self.bytes() + indexing.bytes()) {
                return Ok(false);
            }
            let mut words = Changes::default();
            for (event, content) in page? {
                if event.head.position <= until {
                    let effects = self.catalog.apply(&event, content);
                    self.follow(log, place, effects, &mut words)?;
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
            indexing.take(words);
        }
        let mut words = Changes::default();
        for speaker in hidden {
            let effects = self.catalog.end_speaker(speaker);
            self.follow(log, place, effects, &mut words)?;
        }
        indexing.take(words);
        self.catalog.position = until;
        Ok(true)
    }

    /// Folds one event in.
    pub fn apply(&mut self, log: &Log, place: &Place, event: &Stored) -> Result<(), Error> {
        let effects = self.catalog.apply(event, opened(log, event)?);
        let mut words = Changes::default();
        self.follow(log, place, effects, &mut words)?;
        self.keyword.apply(&words);
        Ok(())
    }

    /// Does what the effects say, but for `words`: those are for whoever has the keyword view.
    fn follow(&mut self, log: &Log, place: &Place, effects: Vec<Effect>, words: &mut Changes) -> Result<(), Error> {
        for effect in effects {
            match effect {
                Effect::Index(doc, text) => self.index(doc, &text, words),
                Effect::Drop(doc) => self.drop_doc(doc, words),
                Effect::Replace(doc, text) => {
                    self.drop_doc(doc, words);
                    if let Some(text) = text {
                        self.index(doc, &text, words);
                    }
                }
                Effect::Retag(doc) => {
                    let Some(it) = self.catalog.doc(doc) else { continue };
                    let content = undamaged_of(log, place, &self.catalog, &[it])?.pop().flatten();
                    if let Some(text) = content.as_ref().and_then(words_of) {
                        self.drop_doc(doc, words);
                        self.index(doc, text, words);
                    }
                }
            }
        }
        Ok(())
    }

    fn index(&mut self, doc: u32, text: &str, words: &mut Changes) {
        let Some(it) = self.catalog.doc(doc) else { return };
        words.put(doc, |out| write_indexed(out, &self.catalog, it, text));
        if let Some(vectors) = &self.vectors {
            let bytes = vectors.bytes_of(text.len());
            self.awaited_bytes += bytes as usize;
            match self.waiting.insert(doc, bytes) {
                Some(before) => self.awaited_bytes -= before as usize,
                None => self.pending.push_back(doc),
            }
        }
    }

    fn drop_doc(&mut self, doc: u32, words: &mut Changes) {
        words.remove(doc);
        if let Some(vectors) = &mut self.vectors {
            vectors.remove(doc);
        }
        // Its place among the pending stays, so that whoever counts what is done with counts it, too.
        self.end_waiting(doc);
    }

    fn end_waiting(&mut self, doc: u32) {
        self.awaited_bytes -= self.waiting.remove(&doc).unwrap_or_default() as usize;
    }

    /// Whether, when it was folded, there were documents that another model had embedded, or more without a vector than a search
    /// could wait for, and the pool has not caught up with them yet. That may take minutes, in which meaning knows only a part of
    /// what there is; what is stored meanwhile comes behind them.
    pub fn is_behind(&self) -> bool {
        self.behind
    }

    /// Takes the vectors that the log keeps; what has none stays pending. False if there was no room for them.
    fn take_cached(
        &mut self,
        vectors: Pages<'_, Vectored>,
        model: Model,
        room: &dyn Fn(usize) -> bool,
    ) -> Result<bool, Error> {
        let mut outdated = HashSet::new();
        for page in vectors {
            for (key, bytes) in page? {
                let Some(doc) = self.catalog.by_slot(key.subject) else { continue };
                if key.model != model.fingerprint {
                    outdated.insert(doc);
                } else if self.key_of(doc, key.chunk, model) == Some(key)
                    && let Some(vector) = Quantised::from_bytes(&bytes, model.dimensions)
                {
                    self.embedded(doc, &[(key.chunk, vector)]);
                }
            }
            if !room(self.bytes()) {
                return Ok(false);
            }
        }
        self.pending.retain(|doc| self.waiting.contains_key(doc));
        self.behind = self.pending.len() > AWAITED_DOCS_MAX || self.pending.iter().any(|doc| outdated.contains(doc));
        Ok(true)
    }

    fn embedded(&mut self, doc: u32, chunks: &[(u16, Quantised)]) {
        self.end_waiting(doc);
        if let Some(vectors) = &mut self.vectors {
            for (chunk, vector) in chunks {
                vectors.insert_quantised(doc, *chunk, vector);
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
        let waiting = self.awaited_bytes + self.waiting.capacity() * WAITING_BYTES;
        LOADED_BYTES + self.catalog.bytes() + self.keyword.bytes() + vectors + waiting
    }
}

/// What loaded views take besides what is folded: locks, channels, their places in the registry.
const LOADED_BYTES: usize = 2_048;
/// A document that waits for its vectors, in two collections.
const WAITING_BYTES: usize = 16;
/// Documents without a vector that a search of freshly folded views waits for: some four seconds of the English model on one
/// core. More were stored without a model, or by a process that ended at once, and are caught up with.
const AWAITED_DOCS_MAX: usize = 1_000;
/// Documents left at which the pool has caught up: a search waits for so few.
const CAUGHT_UP_DOCS: usize = 16;

/// The loaded views of one profile.
pub struct ProfileViews {
    /// Where its streams lie.
    pub place: Place,
    /// Its namespace, by which it takes turns with others.
    pub(super) namespace: Arc<str>,
    state: RwLock<State>,
    /// What the state takes of the budget.
    counted: Counted,
    applied: watch::Sender<Position>,
    /// Documents ever handed to the embedder, and those done with: both only grow.
    enqueued: watch::Sender<u64>,
    finished: watch::Sender<u64>,
    /// Not kept up any more.
    released: AtomicBool,
    /// Nothing is embedded any more.
    unembedded: AtomicBool,
}

/// What became of an event.
pub(super) enum Applied {
    /// There is nothing to embed.
    Nothing,
    /// Something waits to be embedded.
    Waits,
    /// It is folded in, and the budget has no room for what it took: these views may not stay.
    NoRoom,
}

/// A document that the embedder is to work on.
pub struct Pending {
    /// Its number.
    pub doc: u32,
    /// What its vectors are sealed by.
    pub keys: KeyPath,
}

impl ProfileViews {
    pub(crate) fn new(place: Place, (state, counted): (State, Counted)) -> Self {
        let (position, pending) = (state.catalog.position, state.pending.len() as u64);
        Self {
            place,
            namespace: state.catalog.namespace.as_str().into(),
            state: RwLock::new(state),
            counted,
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

    /// Folds an event in, unless it is in already. `make_room` is asked for bytes that the budget does not have.
    pub(super) fn apply(&self, log: &Log, event: &Stored, make_room: &dyn Fn(u64) -> bool) -> Result<Applied, Error> {
        let applied = {
            let mut state = self.write();
            if event.head.position <= state.catalog.position {
                return Ok(Applied::Nothing);
            }
            let before = state.pending.len();
            state.apply(log, &self.place, event)?;
            let added = state.pending.len().saturating_sub(before);
            self.enqueued.send_modify(|count| *count += added as u64);
            let (bytes, counted) = (state.bytes() as u64, self.counted.bytes());
            let fits = || self.counted.set(bytes);
            let holds = fits() || (make_room(bytes.saturating_sub(counted)) && fits());
            if !holds {
                return Ok(Applied::NoRoom);
            }
            if state.pending.is_empty() { Applied::Nothing } else { Applied::Waits }
        };
        self.applied.send_replace(event.head.position);
        Ok(applied)
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
        let waiting = docs.into_iter().filter(|doc| state.waiting.contains_key(doc));
        let taken =
            waiting.filter_map(|doc| Some(Pending { doc, keys: state.catalog.keys_of(state.catalog.doc(doc)?) }));
        (taken.collect(), take)
    }

    /// Takes the vectors of documents that are still what they were when they were taken.
    pub(super) fn finish(&self, done: Vec<Finished>, taken: usize, model: Model) {
        let mut state = self.write();
        for finished in done {
            let same = state.key_of(finished.doc, 0, model).is_some_and(|key| key == finished.key);
            if same && state.waiting.contains_key(&finished.doc) {
                state.embedded(finished.doc, &finished.chunks);
            }
        }
        state.behind &= state.pending.len() > CAUGHT_UP_DOCS;
        // They were counted while they waited; were that too little, the next event would see it.
        self.counted.set(state.bytes() as u64);
        drop(state);
        self.finished.send_modify(|count| *count += taken as u64);
    }
}

/// A document's vectors.
pub(super) struct Finished {
    pub(super) doc: u32,
    pub(super) key: EmbeddingKey,
    pub(super) chunks: Vec<(u16, Quantised)>,
}
