//! The kameo shell around the domain: one actor a stream, its only writer.
//!
//! An entity decides, folds its own events in and hands the batch to the log's writer, then goes on deciding while the
//! batch commits. Every answer, a rejection too, rests on what was handed over before it and must wait until that is
//! durable: [`Handed`] carries both. A batch that fails takes the entity down; the next command wakes it from the log.

mod batch;
mod believed;
mod directory;
mod durable;
mod environment;

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

pub use batch::Key;
pub use directory::{Directory, Failure, Outcome};
pub use durable::Durable;
pub use environment::Environment;
use kameo::{
    Actor,
    actor::{ActorRef, WeakActorRef},
    error::ActorStopReason,
    message::{Context, Message},
};
use memlog_events::{codec, ids::Version, log::Snapshot};

use crate::{
    domain::{Aggregate, Command, Decision, Inputs, Place, Rejection},
    in_use::Hold,
};

/// One awake stream.
pub struct Entity<A> {
    place: Place,
    environment: Arc<Environment>,
    state: A,
    version: Version,
    snapshot: Version,
    last: Option<Durable>,
    failed: Arc<AtomicBool>,
    // The last to be dropped, behind the environment.
    _hold: Hold,
}

/// What an entity wakes from.
pub struct Wake {
    /// Its stream and the profile's slot.
    pub place: Place,
    /// Log, clock, ids.
    pub environment: Arc<Environment>,
    hold: Hold,
}

impl Wake {
    pub(super) fn new(place: Place, environment: Arc<Environment>) -> Self {
        let hold = environment.in_use.hold();
        Self { place, environment, hold }
    }
}

/// Why an entity did not wake.
#[derive(Clone, Debug, thiserror::Error)]
#[error("a stream could not be replayed: {0}")]
pub struct WakeFailed(String);

/// A command and the key that makes it idempotent.
pub struct Do<C> {
    /// What to do.
    pub command: C,
    /// Makes it idempotent.
    pub key: Option<Key>,
}

/// An answer and what it rests on.
pub struct Handed<T> {
    /// The answer, or why there is none.
    pub result: Result<T, Rejection>,
    /// Not to be told before this is durable; none if everything already is.
    pub rests_on: Option<Durable>,
    /// Whether that is the command's own batch, so that its refusal is the command's.
    pub own: bool,
}

/// Why an entity did not decide; nothing happened.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Refused {
    /// A batch of this stream failed: the state is ahead of the log, wake it again.
    #[error("the stream must be read again")]
    Stale,
    /// The log's queue is full.
    #[error("the log's queue is full")]
    Busy,
    /// The vault has no slots to give.
    #[error("the vault failed: {0}")]
    Vault(String),
}

impl<A: Aggregate> Actor for Entity<A> {
    type Args = Wake;
    type Error = WakeFailed;

    async fn on_start(wake: Wake, _: ActorRef<Self>) -> Result<Self, WakeFailed> {
        let replayed = crate::blocking::run(move || Self::replay(wake)).await;
        replayed.map_err(|error| WakeFailed(error.to_string()))?
    }

    async fn on_stop(&mut self, _: WeakActorRef<Self>, _: ActorStopReason) -> Result<(), WakeFailed> {
        if let Some(last) = self.last.take() {
            // Whoever wakes the stream next must find in the log what was handed over here; how it ended is told to its callers.
            drop(last.wait().await);
        }
        self.leave_snapshot();
        Ok(())
    }
}

impl<A: Aggregate> Entity<A> {
    fn replay(wake: Wake) -> Result<Self, WakeFailed> {
        let Wake { place, environment, hold } = wake;
        let mut entity = Self {
            place,
            environment,
            state: A::default(),
            version: Version(0),
            snapshot: Version(0),
            last: None,
            failed: Arc::default(),
            _hold: hold,
        };
        entity.take_snapshot().and_then(|()| entity.fold_rest()).map_err(|error| WakeFailed(error.to_string()))?;
        Ok(entity)
    }

    fn take_snapshot(&mut self) -> Result<(), memlog_events::log::Error> {
        let snapshot = self.environment.log.snapshot(self.place.key)?;
        let Some(snapshot) = snapshot.filter(|snapshot| snapshot.layout == A::SNAPSHOT_LAYOUT) else { return Ok(()) };
        // A snapshot that cannot be read is not missed: everything is in the log.
        if let Ok((version, state)) = codec::decode_rebuilt::<(Version, A)>(&snapshot.bytes) {
            (self.version, self.snapshot, self.state) = (version, version, state);
        }
        Ok(())
    }

    fn fold_rest(&mut self) -> Result<(), memlog_events::log::Error> {
        loop {
            let page = self.environment.log.stream(self.place.key, self.version, PAGE_EVENTS)?;
            if page.is_empty() {
                return Ok(());
            }
            for event in page {
                self.state.evolve(&event.facts, event.head.time);
                self.version = event.head.version;
            }
        }
    }

    fn leave_snapshot(&self) {
        let since = self.version.0 - self.snapshot.0;
        if self.failed.load(Ordering::SeqCst) || since < self.environment.limits.snapshot_every_events {
            return;
        }
        let bytes = codec::encode_rebuilt(&(self.version, &self.state));
        let snapshot = Snapshot { layout: A::SNAPSHOT_LAYOUT, bytes };
        if let Err(error) = self.environment.log.put_snapshot(self.place.key, &snapshot) {
            tracing::warn!(%error, "a snapshot was not kept; the stream will be replayed in full");
        }
    }
}

/// Events read at once when a stream wakes.
const PAGE_EVENTS: usize = 1_000;

impl<A: Aggregate, C: Command<A>> Message<Do<C>> for Entity<A> {
    type Reply = Result<Handed<C::Answer>, Refused>;

    async fn handle(&mut self, message: Do<C>, context: &mut Context<Self, Self::Reply>) -> Self::Reply {
        if self.failed.load(Ordering::SeqCst) {
            context.stop();
            return Err(Refused::Stale);
        }
        let mut inputs = self.environment.inputs();
        let decided = message.command.decide(&self.state, &self.place, &mut inputs);
        if let Some(error) = inputs.failure() {
            return Err(Refused::Vault(error));
        }
        let (result, own) = match decided {
            Ok(decision) => {
                let own = !decision.events.is_empty() || message.key.is_some();
                (Ok(self.hand_over(decision, message.key, inputs.now())?), own)
            }
            Err(rejection) => (Err(rejection), false),
        };
        Ok(Handed { result, rests_on: self.last.clone(), own })
    }
}

impl<A: Aggregate> Entity<A> {
    /// Gives the batch to the writer and folds it in, in this order: a queue that is full must leave the state as it was.
    fn hand_over<T: crate::domain::Answered>(
        &mut self,
        decision: Decision<T>,
        key: Option<Key>,
        now: memlog_events::ids::Micros,
    ) -> Result<T, Refused> {
        let Decision { events, claims, listed, answer } = decision;
        if events.is_empty() && key.is_none() {
            return Ok(answer);
        }
        let facts: Vec<_> = events.iter().map(|event| event.facts.clone()).collect();
        let row = key.map(|key| key.row(now, answer.outcome()));
        let batch = batch::Shape { place: &self.place, kind: A::KIND, version: self.version }.batch(
            events,
            claims,
            listed,
            row,
            now,
            &self.environment,
        );
        let (durable, done) = Durable::new(Arc::clone(&self.failed));
        self.environment.log.submit(batch, done).map_err(|_| Refused::Busy)?;
        for facts in &facts {
            self.state.evolve(facts, now);
        }
        self.version = Version(self.version.0 + facts.len() as u64);
        self.last = Some(durable);
        Ok(answer)
    }
}
