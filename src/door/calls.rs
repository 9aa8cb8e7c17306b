//! Calls under way: how many at once, which of them are told to stop, and that a panic ends one call only.
//!
//! Knows no transport. What finds no room is refused at once with the time to try again, which a client can act on, while a longer
//! queue would only make everybody late. What has found room works in turns, so that no namespace and no profile keeps others from
//! being answered; `shares` says who gets how much. Who waits for a turn for too long is told so while its client still listens.

use std::{
    panic::AssertUnwindSafe,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use futures::FutureExt;
use memlog_actors::{
    api::{Context, Error},
    system::System,
};
use tokio::{sync::watch, time::timeout};

use super::{
    BODIES_KIB_MAX, COMMANDS_WORKING_MAX, DECODE_INLINE_BYTES_MAX, QUESTIONS_WORKING_MAX, READS_WORKING_MAX,
    RESTART_RETRY_MS, SHED_RETRY_MS, TURN_RETRY_MS,
    shares::{Lanes, Part, Room, Turn},
    table::{Call, Kind, Reply, Row},
};

/// How far the shutdown is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Calls are taken.
    Open,
    /// No new ones; what was taken is finished, mere waiting is broken off.
    Closing,
    /// Time is up: whatever is left is told so.
    Cut,
}

/// The bounds, shared by all calls.
#[derive(Clone)]
pub struct Calls {
    system: System,
    calls: Arc<Room>,
    /// Counted apart: calls that wait for minutes must not keep out those that take milliseconds.
    waits: Arc<Room>,
    bodies_kib: Arc<Room>,
    reads: Arc<Lanes>,
    /// Apart from the other reads: while a model is slow or hangs, these wait for it, and must not keep those waiting.
    questions: Arc<Lanes>,
    commands: Arc<Lanes>,
    shed: Arc<AtomicU64>,
    phase: watch::Receiver<Phase>,
}

/// Calls under way, and those that were refused for want of room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallsLoad {
    /// Calls that work.
    pub working: u64,
    /// Calls that wait by their nature.
    pub waiting: u64,
    /// Bytes of their bodies, to a KiB.
    pub body_bytes: u64,
    /// Refused since the start.
    pub shed: u64,
}

/// A place among the calls under way; dropping it makes room.
#[derive(Debug)]
pub struct Admitted {
    call: Part,
    _body: Part,
}

impl Calls {
    /// Room for as many calls as the system's limits say, and for as many that wait.
    pub fn new(system: System, phase: watch::Receiver<Phase>) -> Self {
        let calls_max = system.limits().calls_max;
        Self {
            system,
            calls: Room::new(calls_max),
            waits: Room::new(calls_max),
            bodies_kib: Room::new(BODIES_KIB_MAX),
            reads: Lanes::new(READS_WORKING_MAX),
            questions: Lanes::new(QUESTIONS_WORKING_MAX),
            commands: Lanes::new(COMMANDS_WORKING_MAX),
            shed: Arc::default(),
            phase,
        }
    }

    /// How many calls are under way, those apart that wait; the bytes of their bodies, to a KiB; and how many were shed.
    pub(super) fn load(&self) -> CallsLoad {
        CallsLoad {
            working: self.calls.taken(),
            waiting: self.waits.taken(),
            body_bytes: self.bodies_kib.taken() * 1024,
            shed: self.shed.load(Ordering::Relaxed),
        }
    }

    fn shed(&self) -> Error {
        self.refused("too many calls are under way; nothing was done", SHED_RETRY_MS)
    }

    fn refused(&self, why: &str, retry_after_ms: u64) -> Error {
        self.shed.fetch_add(1, Ordering::Relaxed);
        Error::unavailable(why, retry_after_ms)
    }

    /// A turn to work, if it comes in time.
    async fn turn(&self, row: &Row, namespace: &str, profile: &str) -> Result<Turn, Error> {
        let patience = Duration::from_millis(self.system.limits().turn_wait_ms_max);
        let late = |_| self.refused("the calls before this one take too long; nothing was done", TURN_RETRY_MS);
        timeout(patience, self.lanes(row).turn(namespace, profile)).await.map_err(late)
    }

    /// Takes a place for a namespace's call with a body of this size, or says why there is none.
    pub fn admit(&self, namespace: &str, body_bytes: usize) -> Result<Admitted, Error> {
        if *self.phase.borrow() != Phase::Open {
            return Err(closing());
        }
        let kib = body_bytes.div_ceil(1024).min(BODIES_KIB_MAX);
        let body = self.bodies_kib.take(namespace, kib).ok_or_else(|| self.shed())?;
        let call = self.calls.take(namespace, 1).ok_or_else(|| self.shed())?;
        Ok(Admitted { call, _body: body })
    }

    /// Decodes and does a call; a system that is not ready refuses it by itself. Whatever happens inside, there is an answer.
    pub async fn answer(
        &self,
        admitted: Admitted,
        row: &'static Row,
        context: Context,
        body: Bytes,
    ) -> Result<Reply, Error> {
        let work = AssertUnwindSafe(self.perform(admitted, row, context, body)).catch_unwind();
        work.await.unwrap_or_else(|_| Err(broken(row)))
    }

    async fn perform(
        &self,
        admitted: Admitted,
        row: &'static Row,
        context: Context,
        body: Bytes,
    ) -> Result<Reply, Error> {
        let call = decode(row, body).await?;
        let waits = call.waits();
        let profile = call.profile().to_owned();
        let place = if waits {
            drop(admitted.call);
            self.waits.take(&context.namespace, 1).ok_or_else(|| self.shed())?
        } else {
            admitted.call
        };
        let _place = place.of(&profile).ok_or_else(|| self.shed())?;
        let (stop, stopped) = match (waits, row.kind) {
            (true, Kind::Read) => (Phase::Closing, closing()),
            _ => (Phase::Cut, cut()),
        };
        // Who waits for minutes would hold a turn for as long.
        let work = async {
            let _turn = match waits {
                false => Some(self.turn(row, &context.namespace, &profile).await?),
                true => None,
            };
            call.run(&self.system, &context).await
        };
        tokio::select! {
            biased;
            reply = work => reply,
            () = reached(self.phase.clone(), stop) => Err(stopped),
        }
    }

    fn lanes(&self, row: &Row) -> &Arc<Lanes> {
        match row.kind {
            Kind::Read if row.asks_model => &self.questions,
            Kind::Read => &self.reads,
            Kind::Command => &self.commands,
        }
    }
}

/// Large bodies are decoded apart, so that they hold up nobody.
async fn decode(row: &'static Row, body: Bytes) -> Result<Box<dyn Call>, Error> {
    if body.len() <= DECODE_INLINE_BYTES_MAX {
        return row.decode(&body);
    }
    let decoded = tokio::task::spawn_blocking(move || row.decode(&body)).await;
    decoded.unwrap_or_else(|_| Err(broken(row)))
}

/// Returns when the shutdown is that far; a door that is gone without a word is as far as can be.
pub(super) async fn reached(mut phase: watch::Receiver<Phase>, stop: Phase) {
    if phase.wait_for(|phase| *phase >= stop).await.is_err() {
        tracing::debug!("the door was dropped without being closed");
    }
}

fn closing() -> Error {
    Error::unavailable("memlog is shutting down; nothing was done", RESTART_RETRY_MS)
}

fn cut() -> Error {
    Error::unavailable(
        "memlog shut down before this was answered; whether it was done is open: repeat it with the same Nats-Msg-Id",
        RESTART_RETRY_MS,
    )
}

/// The panic itself was reported by the process's hook, with its place; its message may hold content.
fn broken(row: &Row) -> Error {
    tracing::error!(?row, "a call panicked");
    Error::unavailable("memlog failed inside; its log says where", RESTART_RETRY_MS)
}
