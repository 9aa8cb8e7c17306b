//! Which streams are awake, and the way of a command to its entity.
//!
//! A stream has at most one entity: its cell is locked while one wakes or goes to sleep. The number awake, the time one may
//! idle, and the replays at once are bounded.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicI64, AtomicU64, AtomicUsize, Ordering},
    },
};

use kameo::{
    actor::{ActorRef, Spawn},
    error::SendError,
};
use memlog_events::{
    batch::{Committed, Holder, Remembered},
    ids::{Micros, StreamId},
    log::append,
};
use tokio::sync::{Mutex as AsyncMutex, Semaphore};

use super::{Do, Entity, Environment, Handed, Key, Refused, Wake};
use crate::domain::{Aggregate, Command, Place, Rejection};

/// What came of a command.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome<T> {
    /// The answer.
    pub answer: T,
    /// Where its batch went; none if nothing had to be written.
    pub committed: Option<Committed>,
}

/// Why a command came to nothing.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Failure {
    /// The domain refused it.
    #[error(transparent)]
    Rejected(#[from] Rejection),
    /// A unique name is another's.
    #[error("the name is taken")]
    Taken(Holder),
    /// The same idempotency key was used before.
    #[error("the command was carried out before")]
    Replayed(Box<Remembered>),
    /// Past a limit of a batch.
    #[error("{0}")]
    TooLarge(String),
    /// Too much waits, or the log does not take anything: try again later.
    #[error("{0}")]
    Unavailable(String),
}

type Cell<A> = Arc<Awake<A>>;

struct Awake<A: Aggregate> {
    actor: AsyncMutex<Option<ActorRef<Entity<A>>>>,
    used: AtomicI64,
}

/// The awake entities of one kind.
pub struct Directory<A: Aggregate> {
    environment: Arc<Environment>,
    cells: Mutex<HashMap<StreamId, Cell<A>>>,
    awake: AtomicUsize,
    /// How often one was woken.
    woken: AtomicU64,
    replays: Arc<Semaphore>,
    closed: AtomicBool,
}

/// How often a command is brought to a stream that moved under it. A stream has one writer here, so once is the rule.
const TRIES: usize = 8;

impl<A: Aggregate> Directory<A> {
    /// Nobody is awake. `replays` is shared by all kinds.
    pub fn new(environment: Arc<Environment>, replays: Arc<Semaphore>) -> Self {
        Self {
            environment,
            cells: Mutex::default(),
            awake: AtomicUsize::new(0),
            woken: AtomicU64::new(0),
            replays,
            closed: AtomicBool::new(false),
        }
    }

    /// How many are awake.
    pub fn awake(&self) -> usize {
        self.awake.load(Ordering::Relaxed)
    }

    /// How often one was woken since the start; those of them that are not awake have gone to sleep again.
    pub fn woken(&self) -> u64 {
        self.woken.load(Ordering::Relaxed)
    }

    /// Brings a command to its stream and waits until what came of it is durable.
    pub async fn execute<C: Command<A>>(
        &self,
        place: Place,
        command: C,
        key: Option<Key>,
    ) -> Result<Outcome<C::Answer>, Failure> {
        for _ in 0..TRIES {
            let Some(handed) = self.ask(place, &command, key).await? else { continue };
            if let Some(settled) = settle(handed).await {
                return settled;
            }
        }
        Err(Failure::Unavailable("the stream moved too often".to_owned()))
    }

    /// None if the stream must be woken again.
    async fn ask<C: Command<A>>(
        &self,
        place: Place,
        command: &C,
        key: Option<Key>,
    ) -> Result<Option<Handed<C::Answer>>, Failure> {
        let actor = self.locate(place).await?;
        match actor.ask(Do { command: command.clone(), key }).await {
            Ok(handed) => Ok(Some(handed)),
            Err(SendError::HandlerError(Refused::Busy)) => Err(Failure::Unavailable(Refused::Busy.to_string())),
            Err(SendError::HandlerError(error @ Refused::Vault(_))) => Err(Failure::Unavailable(error.to_string())),
            // Stale, stopped, or going to sleep: it did not decide, or its batch was refused with it.
            Err(_) => {
                self.retire(place.key.stream, &actor).await;
                Ok(None)
            }
        }
    }

    /// The stream's entity, woken if it sleeps.
    async fn locate(&self, place: Place) -> Result<ActorRef<Entity<A>>, Failure> {
        let cell = self.cell(place.key.stream);
        cell.used.store(self.environment.now().0, Ordering::Relaxed);
        let mut slot = cell.actor.lock().await;
        // Looked at under the lock: whoever wakes before is found by `sleep_all`, and nobody wakes behind it to keep the log open.
        if self.closed.load(Ordering::SeqCst) {
            return Err(closing());
        }
        if let Some(actor) = slot.as_ref().filter(|actor| actor.is_alive()) {
            return Ok(actor.clone());
        }
        if let Some(gone) = slot.take() {
            gone.wait_for_shutdown().await;
            self.awake.fetch_sub(1, Ordering::Relaxed);
        }
        let replay = self.replays.acquire().await.map_err(|_| closing())?;
        let actor = Entity::<A>::spawn(Wake::new(place, Arc::clone(&self.environment)));
        let woken = actor.wait_for_startup_result().await;
        drop(replay);
        woken.map_err(|error| Failure::Unavailable(error.to_string()))?;
        self.awake.fetch_add(1, Ordering::Relaxed);
        self.woken.fetch_add(1, Ordering::Relaxed);
        *slot = Some(actor.clone());
        Ok(actor)
    }

    fn cell(&self, stream: StreamId) -> Cell<A> {
        let mut cells = self.cells.lock().unwrap_or_else(PoisonError::into_inner);
        let fresh = || Arc::new(Awake { actor: AsyncMutex::new(None), used: AtomicI64::new(0) });
        Arc::clone(cells.entry(stream).or_insert_with(fresh))
    }

    /// Waits until an entity that stopped is really gone: until then its batches may still be on their way.
    async fn retire(&self, stream: StreamId, actor: &ActorRef<Entity<A>>) {
        end(actor).await;
        let cell = self.cell(stream);
        let mut slot = cell.actor.lock().await;
        if slot.as_ref().is_some_and(|held| held.id() == actor.id()) {
            *slot = None;
            self.awake.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Puts to sleep who idled too long, and the longest idle ones while too many are awake.
    pub async fn passivate(&self, now: Micros) {
        let limits = &self.environment.limits;
        let idle = i64::try_from(limits.entity_idle_ms_max).unwrap_or(i64::MAX).saturating_mul(1_000);
        let mut cells: Vec<_> = {
            let cells = self.cells.lock().unwrap_or_else(PoisonError::into_inner);
            cells.iter().map(|(id, cell)| (cell.used.load(Ordering::Relaxed), *id)).collect()
        };
        // The one used longest ago goes first; the id decides between equals, so that one history is always the same.
        cells.sort_unstable();
        let surplus = cells.len().saturating_sub(limits.entities_awake_max);
        for (place, (used, stream)) in cells.into_iter().enumerate() {
            if place >= surplus && used.saturating_add(idle) > now.0 {
                break;
            }
            self.sleep(stream).await;
        }
    }

    /// All of them, when the system stops; from here on nobody wakes.
    pub async fn sleep_all(&self) {
        self.closed.store(true, Ordering::SeqCst);
        let mut streams: Vec<_> = self.cells.lock().unwrap_or_else(PoisonError::into_inner).keys().copied().collect();
        // A map has no order of its own, and whoever simulates must see the same one each time.
        streams.sort_unstable();
        for stream in streams {
            self.sleep(stream).await;
        }
    }

    async fn sleep(&self, stream: StreamId) {
        let cell = self.cell(stream);
        let mut slot = cell.actor.lock().await;
        if let Some(actor) = slot.take() {
            end(&actor).await;
            self.awake.fetch_sub(1, Ordering::Relaxed);
        }
        drop(slot);
        let mut cells = self.cells.lock().unwrap_or_else(PoisonError::into_inner);
        // Held by this map and this function alone: nobody is on the way to it.
        if Arc::strong_count(&cell) == 2 {
            cells.remove(&stream);
        }
    }
}

/// Stops an entity and waits until it is really gone.
async fn end<A: Aggregate>(actor: &ActorRef<Entity<A>>) {
    if let Err(error) = actor.stop_gracefully().await {
        tracing::debug!(%error, "an entity had stopped by itself");
    }
    actor.wait_for_shutdown().await;
}

fn closing() -> Failure {
    Failure::Unavailable("memlog is shutting down".to_owned())
}

/// The answer once what it rests on is durable; none if the stream must be woken again.
async fn settle<T>(handed: Handed<T>) -> Option<Result<Outcome<T>, Failure>> {
    let committed = match handed.rests_on {
        None => None,
        Some(durable) => match durable.wait().await {
            Ok(committed) => Some(committed),
            // Not refused for its own sake: what went before it in the stream was.
            Err(_) if !handed.own => return None,
            Err(append::Error::VersionMoved { .. }) => return None,
            Err(append::Error::Taken { holder }) => return Some(Err(Failure::Taken(holder))),
            Err(append::Error::Replayed(remembered)) => return Some(Err(Failure::Replayed(remembered))),
            Err(append::Error::Gone) => return Some(Err(Failure::Rejected(Rejection::Gone))),
            Err(error @ append::Error::TooLarge { .. }) => return Some(Err(Failure::TooLarge(error.to_string()))),
            Err(error) => return Some(Err(Failure::Unavailable(error.to_string()))),
        },
    };
    Some(handed.result.map(|answer| Outcome { answer, committed }).map_err(Failure::Rejected))
}
