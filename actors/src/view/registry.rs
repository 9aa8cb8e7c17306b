//! Which profiles' views are loaded, within the memory budget; views of the past beside them.

use std::{
    collections::{HashMap, VecDeque},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicI64, AtomicU64, Ordering},
    },
    time::Duration,
};

use memlog_events::{
    ids::{Micros, Position, Scope},
    log::{CommitNotice, Log, Stored},
};
use tokio::{sync::Mutex as AsyncMutex, time::Instant};

use super::{
    budget::{Budget, Counted},
    embedding::EmbedQueue,
    profile::{Applied, ProfileViews, State},
};
use crate::{domain::Place, in_use::InUse, limits::Limits};

/// Why views are not to be had.
#[derive(Clone, Debug, thiserror::Error)]
pub enum NotLoaded {
    /// It does not fit into the budget beside what is in use.
    #[error("the views of this profile and of those in use do not fit into memory_budget_bytes ({budget})")]
    Budget {
        /// In bytes.
        budget: u64,
    },
    /// The log could not be read.
    #[error("the log could not be read: {0}")]
    Log(String),
    /// The views did not follow the log in time.
    #[error("the views do not follow the log; see the log file")]
    Late,
}

/// Figures of the loaded views, for who watches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Loaded {
    /// Profiles.
    pub profiles: u64,
    /// Their memory, with that of views of the past.
    pub bytes: u64,
    /// Documents that wait to be embedded.
    pub waiting: u64,
    /// The most of them in one profile: how far its vectors lag behind.
    pub waiting_max: u64,
    /// Profiles that are embedded anew because the model was changed.
    pub reembedding: u64,
}

/// How long a reader waits for the projector, which is behind by milliseconds when all is well.
const FOLLOW_WAIT_MAX: Duration = Duration::from_secs(30);

/// Profiles whose erasures are counted one by one.
const ERASURES_MAX: usize = 10_000;

/// Of the budget, what is dropped at least once it is spent: not every load is to look for the longest unused.
const DROPPED_PART: u64 = 8;

/// Of the budget, and in bytes, what the events of a profile may take while it is folded; of a larger one they are read again.
const HELD_PART: u64 = 8;
const HELD_BYTES_MAX: u64 = 16 << 20;

/// What an event that comes in while its profile is loaded may take: by itself, for each byte of its content, and this part of what is
/// folded, by which its tables grow.
const SLACK_BYTES: u64 = 4 << 10;
const SLACK_PER_BYTE: u64 = 8;
const SLACK_PART: u64 = 4;

/// The loaded views.
pub struct Registry {
    log: Log,
    in_use: InUse,
    limits: Limits,
    embed: Option<Arc<EmbedQueue>>,
    room: Room,
    /// The last event of a profile that views may not have yet.
    heads: Mutex<HashMap<Scope, Position>>,
    /// Up to here `heads` knows what was committed.
    told: AtomicU64,
}

/// What may be dropped to make room, and the budget that it counts against.
#[derive(Clone)]
struct Room {
    budget: Arc<Budget>,
    cells: Arc<Mutex<HashMap<Scope, Arc<Cell>>>>,
    past: Arc<Mutex<Past>>,
}

struct Cell {
    loading: AsyncMutex<()>,
    state: Mutex<CellState>,
    used: AtomicI64,
}

enum CellState {
    /// Not loaded; what is committed meanwhile waits here once a load has begun.
    Empty(Vec<Stored>),
    Live(Arc<ProfileViews>),
    /// Taken out of the registry: nothing is projected into it any more.
    Gone,
}

/// Views of the past, the last used last, and how often each profile erased something since the start. What is dropped is
/// released, so that nothing is embedded for it any more.
#[derive(Default)]
struct Past {
    views: VecDeque<(Scope, Position, Arc<ProfileViews>)>,
    erasures: HashMap<Scope, u64>,
    /// How often `erasures` was emptied; each time every profile counts as having erased something.
    emptied: u64,
}

impl Registry {
    /// Nothing is loaded.
    pub fn new(log: Log, in_use: InUse, limits: Limits, embed: Option<Arc<EmbedQueue>>) -> Self {
        let told = AtomicU64::new(log.head().0);
        let budget = Budget::new(limits.memory_budget_bytes);
        let room = Room { budget, cells: Arc::default(), past: Arc::default() };
        Self { log, in_use, limits, embed, room, heads: Mutex::default(), told }
    }

    /// The embedding queue, if there is a model.
    pub fn embed(&self) -> Option<&Arc<EmbedQueue>> {
        self.embed.as_ref()
    }

    /// Called by the log's writer before anybody hears of a commit.
    pub fn committed(&self, notice: &CommitNotice) {
        let mut heads = lock(&self.heads);
        for (scope, position) in &notice.scopes {
            heads.insert(*scope, *position);
        }
        self.told.store(notice.last.0, Ordering::SeqCst);
    }

    /// The log's head as far as readers wait for it: whoever reads views after this call sees everything up to it.
    pub fn head(&self) -> Position {
        Position(self.told.load(Ordering::SeqCst))
    }

    /// A profile's views as of now: every event acknowledged before this call is in them.
    pub async fn present(&self, place: Place, now: Micros) -> Result<Arc<ProfileViews>, NotLoaded> {
        let head = lock(&self.heads).get(&place.key.scope).copied();
        let late = Instant::now() + FOLLOW_WAIT_MAX;
        loop {
            let views = self.load(place, now).await?;
            let Some(head) = head else { return Ok(views) };
            match tokio::time::timeout_at(late, views.wait_applied(head)).await {
                Ok(true) => return Ok(views),
                // Dropped under this reader's feet: what is loaded now has the event.
                Ok(false) => {}
                Err(_) => return Err(NotLoaded::Late),
            }
        }
    }

    async fn load(&self, place: Place, now: Micros) -> Result<Arc<ProfileViews>, NotLoaded> {
        loop {
            let cell = self.cell(place.key.scope);
            cell.used.store(now.0, Ordering::Relaxed);
            if let Some(views) = cell.live() {
                return Ok(views);
            }
            let _one = cell.loading.lock().await;
            match &mut *lock(&cell.state) {
                CellState::Live(views) => return Ok(Arc::clone(views)),
                // Taken out while this reader waited; its successor is in the map.
                CellState::Gone => continue,
                // From here on the projector keeps what it reads for the load.
                CellState::Empty(meanwhile) => meanwhile.clear(),
            }
            let state = self.fold(place, self.log.head()).await?;
            if let Some(slack) = cell.slack(&state.0) {
                self.room.make(slack);
            }
            if let Some(views) = cell.enliven(ProfileViews::new(place, state), &self.log, &self.room)? {
                if let Some(embed) = self.embed.as_ref().filter(|_| views.has_queued()) {
                    embed.put(&views);
                }
                return Ok(views);
            }
        }
    }

    /// A profile's state as of a position, beside the views that are loaded, and what it takes.
    pub(crate) async fn fold(&self, place: Place, until: Position) -> Result<(State, Counted), NotLoaded> {
        let (model, room) = (self.embed.as_ref().map(|embed| embed.model()), self.room.clone());
        let in_use = self.in_use.clone();
        let folded = self.in_use.read(&self.log, move |log| {
            let counted = Counted::nothing(&room.budget);
            let held = (room.budget.max() / HELD_PART).min(HELD_BYTES_MAX);
            let take = |bytes: usize| {
                let bytes = bytes as u64;
                let fits =
                    || counted.set(bytes) || (room.make(bytes.saturating_sub(counted.bytes())) && counted.set(bytes));
                !in_use.is_ending() && fits()
            };
            let state = State::fold(log, &place, until, model, usize::try_from(held).unwrap_or(usize::MAX), &take)?;
            Ok(state.map(|state| (state, counted)))
        });
        // The message of a panic may hold content.
        let folded = folded.await.map_err(|_| NotLoaded::Log("folding it failed inside".to_owned()))?;
        let folded = folded.map_err(|error: memlog_events::log::Error| NotLoaded::Log(error.to_string()))?;
        folded.ok_or_else(|| match self.in_use.is_ending() {
            true => NotLoaded::Log("memlog is shutting down".to_owned()),
            false => NotLoaded::Budget { budget: self.room.budget.max() },
        })
    }

    /// The views of a profile, if they are loaded.
    pub(crate) fn live(&self, scope: Scope) -> Option<Arc<ProfileViews>> {
        let cell = lock(&self.room.cells).get(&scope).cloned();
        cell.and_then(|cell| cell.live())
    }

    /// A profile's views as they were at a position, without what was erased since. What has no vector of this model is embedded
    /// when there is nothing more urgent.
    pub async fn past(&self, place: Place, at: Position) -> Result<Arc<ProfileViews>, NotLoaded> {
        let scope = place.key.scope;
        loop {
            let before = {
                let mut past = lock(&self.room.past);
                if let Some(found) = past.take(scope, at) {
                    past.views.push_back((scope, at, Arc::clone(&found)));
                    return Ok(found);
                }
                past.erased(scope)
            };
            let views = Arc::new(ProfileViews::new(place, self.fold(place, at).await?));
            let mut past = lock(&self.room.past);
            // Something was erased while the past was folded: it may be in what was just read.
            if past.erased(scope) != before {
                continue;
            }
            past.views.push_back((scope, at, Arc::clone(&views)));
            while past.views.len() > self.limits.past_views_max
                && let Some((.., dropped)) = past.views.pop_front()
            {
                dropped.release();
            }
            if let Some(embed) = self.embed.as_ref().filter(|_| views.has_queued()) {
                embed.put_behind(&views);
            }
            return Ok(views);
        }
    }

    /// Folds a committed event into the views that are loaded.
    pub(super) fn project(&self, event: &Stored) {
        let scope = event.head.key.scope;
        let hides = matches!(event.facts, memlog_events::event::Facts::SpeakerRemoved(_))
            || super::catalog::moved_expiry(&event.facts).is_some();
        if hides || !event.facts.erases().is_empty() {
            lock(&self.room.past).erase(scope);
        }
        let cell = lock(&self.room.cells).get(&scope).cloned();
        if let Some(views) = cell.and_then(|cell| cell.take(event)) {
            match views.apply(&self.log, event, &|more| self.room.make(more)) {
                Ok(Applied::Waits) => {
                    if let Some(embed) = &self.embed {
                        embed.put(&views);
                    }
                }
                Ok(Applied::Nothing) => {}
                // Whoever reads it next is told so, unless others are idle by then.
                Ok(Applied::NoRoom) => self.take_out(scope),
                Err(error) => {
                    tracing::error!(%error, "views could not follow the log and are dropped");
                    self.take_out(scope);
                }
            }
        }
        let mut heads = lock(&self.heads);
        if heads.get(&scope).is_some_and(|head| *head <= event.head.position) {
            heads.remove(&scope);
        }
    }

    fn cell(&self, scope: Scope) -> Arc<Cell> {
        let fresh = || {
            let state = Mutex::new(CellState::Empty(Vec::new()));
            Arc::new(Cell { loading: AsyncMutex::new(()), state, used: AtomicI64::new(0) })
        };
        Arc::clone(lock(&self.room.cells).entry(scope).or_insert_with(fresh))
    }

    /// Drops views that nobody has used for long.
    pub fn drop_idle(&self, now: Micros) {
        let idle = i64::try_from(self.limits.views_idle_ms_max).unwrap_or(i64::MAX).saturating_mul(1_000);
        let long = |cell: &Cell| cell.used.load(Ordering::Relaxed).saturating_add(idle) <= now.0;
        lock(&self.room.cells).retain(|_, cell| !(long(cell) && cell.end_if_idle()));
    }

    /// Drops a profile's views, loaded or of the past; the next reader loads them anew.
    pub fn forget(&self, scope: Scope) {
        lock(&self.room.past).erase(scope);
        self.take_out(scope);
    }

    /// Takes a profile's views out, in use or not: who waits for them is sent to load them anew.
    fn take_out(&self, scope: Scope) {
        let mut cells = lock(&self.room.cells);
        if let Some(cell) = cells.remove(&scope) {
            let ended = std::mem::replace(&mut *lock(&cell.state), CellState::Gone);
            if let CellState::Live(views) = ended {
                views.release();
            }
        }
    }

    /// How many profiles are loaded.
    pub fn loaded(&self) -> usize {
        lock(&self.room.cells).values().filter(|cell| cell.live().is_some()).count()
    }

    /// The memory of all views: loaded, of the past, and being folded.
    pub fn bytes(&self) -> u64 {
        self.room.budget.used()
    }

    /// What is loaded, in one look.
    pub fn figures(&self) -> Loaded {
        let cells: Vec<_> = lock(&self.room.cells).values().cloned().collect();
        let mut loaded = Loaded { bytes: self.bytes(), ..Loaded::default() };
        for views in cells.iter().filter_map(|cell| cell.live()) {
            let waiting = views.pending() as u64;
            let state = views.read();
            loaded.profiles += 1;
            loaded.waiting += waiting;
            loaded.waiting_max = loaded.waiting_max.max(waiting);
            loaded.reembedding += u64::from(state.is_behind());
        }
        loaded
    }

    /// Documents of loaded profiles that wait to be embedded.
    pub fn pending(&self) -> u64 {
        let cells: Vec<_> = lock(&self.room.cells).values().cloned().collect();
        cells.iter().filter_map(|cell| cell.live()).map(|views| views.pending() as u64).sum()
    }
}

impl Room {
    /// Drops the longest unused views that nobody reads until so many more bytes fit; whether they do.
    fn make(&self, more: u64) -> bool {
        let max = self.budget.max();
        if self.budget.fits(more, max) {
            return true;
        }
        let enough = || self.budget.fits(more, max - max / DROPPED_PART);
        let mut cells = lock(&self.cells);
        let mut by_use: Vec<_> = cells.iter().map(|(id, cell)| (cell.used.load(Ordering::Relaxed), *id)).collect();
        by_use.sort_unstable();
        for (_, scope) in by_use {
            if cells.get(&scope).is_some_and(|cell| cell.end_if_idle()) {
                cells.remove(&scope);
                if enough() {
                    return true;
                }
            }
        }
        drop(cells);
        lock(&self.past).drop_idle(enough);
        self.budget.fits(more, max)
    }
}

impl Past {
    /// Drops the longest unused that nobody reads until it is enough.
    fn drop_idle(&mut self, enough: impl Fn() -> bool) {
        let mut kept = VecDeque::new();
        while let Some(it) = self.views.pop_front() {
            if enough() || Arc::strong_count(&it.2) > 1 {
                kept.push_back(it);
            } else {
                it.2.release();
            }
        }
        self.views = kept;
    }

    fn take(&mut self, scope: Scope, at: Position) -> Option<Arc<ProfileViews>> {
        let place = self.views.iter().position(|view| (view.0, view.1) == (scope, at))?;
        self.views.remove(place).map(|view| view.2)
    }

    fn erased(&self, scope: Scope) -> (u64, u64) {
        (self.emptied, self.erasures.get(&scope).copied().unwrap_or_default())
    }

    fn erase(&mut self, scope: Scope) {
        if self.erasures.len() >= ERASURES_MAX && !self.erasures.contains_key(&scope) {
            self.erasures.clear();
            self.emptied += 1;
        }
        *self.erasures.entry(scope).or_default() += 1;
        self.views.retain(|(of, _, views)| {
            if *of == scope {
                views.release();
            }
            *of != scope
        });
    }
}

impl Cell {
    fn live(&self) -> Option<Arc<ProfileViews>> {
        match &*lock(&self.state) {
            CellState::Live(views) => Some(Arc::clone(views)),
            CellState::Empty(_) | CellState::Gone => None,
        }
    }

    /// What the events that were committed meanwhile may take, if there are any: what grows by them grows by parts of what it is.
    fn slack(&self, folded: &State) -> Option<u64> {
        let held = lock(&self.state);
        let CellState::Empty(meanwhile) = &*held else { return None };
        let each = |event: &Stored| SLACK_BYTES + SLACK_PER_BYTE * u64::from(event.head.content_bytes);
        let events: u64 = meanwhile.iter().map(each).sum();
        (events > 0).then(|| events + folded.bytes() as u64 / SLACK_PART)
    }

    /// Puts loaded views in, with what was committed while they were folded; none if the cell was taken out meanwhile.
    fn enliven(&self, views: ProfileViews, log: &Log, room: &Room) -> Result<Option<Arc<ProfileViews>>, NotLoaded> {
        let mut held = lock(&self.state);
        let CellState::Empty(meanwhile) = &mut *held else { return Ok(None) };
        for event in std::mem::take(meanwhile) {
            // Room is not made here, where a cell is held that whoever makes room looks at, but for most of it before.
            match views.apply(log, &event, &|_| false) {
                Ok(Applied::NoRoom) => return Err(NotLoaded::Budget { budget: room.budget.max() }),
                Ok(_) => {}
                Err(error) => return Err(NotLoaded::Log(error.to_string())),
            }
        }
        let views = Arc::new(views);
        *held = CellState::Live(Arc::clone(&views));
        Ok(Some(views))
    }

    /// The views to fold an event into; while they load, the event is kept for them.
    fn take(&self, event: &Stored) -> Option<Arc<ProfileViews>> {
        match &mut *lock(&self.state) {
            CellState::Live(views) => Some(Arc::clone(views)),
            CellState::Empty(meanwhile) => {
                // Only a load under way needs it.
                if self.loading.try_lock().is_err() {
                    meanwhile.push(event.clone());
                }
                None
            }
            CellState::Gone => None,
        }
    }

    /// Ends the cell if nobody reads, embeds or loads it. Under one lock: a reader on the way either has the views already
    /// or finds the cell ended.
    fn end_if_idle(&self) -> bool {
        let Ok(_nobody_loads) = self.loading.try_lock() else { return false };
        let mut state = lock(&self.state);
        let idle = match &*state {
            CellState::Live(views) => Arc::strong_count(views) == 1,
            CellState::Empty(_) | CellState::Gone => true,
        };
        if idle {
            *state = CellState::Gone;
        }
        idle
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
