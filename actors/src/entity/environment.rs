//! What every entity shares: the log, the clock, the source of ids, the limits.

use std::{sync::Arc, time::Duration};

use memlog_events::{
    ids::{Digest, Micros, Position, Slot},
    log::Log,
};
use tokio::time::Instant;
use uuid::{ContextV7, Timestamp, Uuid};

use super::believed::Believed;
use crate::{domain::Inputs, in_use::InUse, limits::Limits, port::Clock};

/// Events that may be on their way at once.
const AT_ONCE_MAX: usize = 256;
const MILLISECOND: jiff::SignedDuration = jiff::SignedDuration::from_millis(1);

/// The world as an entity knows it.
pub struct Environment {
    /// The durable truth.
    pub log: Log,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// What an operator has set.
    pub limits: Limits,
    // Ids of one millisecond count up, so that the order of ids is the order in which they were given out.
    ids: std::sync::Mutex<ContextV7>,
    believed: Believed,
    pub(crate) in_use: InUse,
}

impl Environment {
    /// Over an open log.
    ///
    /// # Errors
    /// If the log cannot be read.
    pub fn new(
        log: Log,
        in_use: InUse,
        clock: Arc<dyn Clock>,
        limits: Limits,
    ) -> Result<Self, memlog_events::log::Error> {
        let wait = Duration::from_millis(limits.clock_jump_wait_ms);
        let believed = Believed::new(stood_by(&log, wait)?, wait);
        let ids = std::sync::Mutex::new(ContextV7::new());
        let environment = Self { log, clock, limits, ids, believed, in_use };
        if let Some(last) = environment.last_id() {
            environment.uuid_at(last);
        }
        Ok(environment)
    }

    /// A moment behind the ids of the log, so that new ones go on from there, also where the clock was set back since. Events
    /// that cannot be read cost the order and not the start.
    fn last_id(&self) -> Option<jiff::Timestamp> {
        // Those that were decided at once may be committed in another order.
        let before = Position(self.log.head().0.saturating_sub(AT_ONCE_MAX as u64));
        let events = self.log.tail(before, AT_ONCE_MAX).ok()?;
        let (seconds, nanos) =
            events.iter().filter_map(|event| Some(event.head.id.0.get_timestamp()?.to_unix())).max()?;
        let last = jiff::Timestamp::new(i64::try_from(seconds).ok()?, i32::try_from(nanos).ok()?).ok()?;
        // A millisecond later, since ids of one count up from anywhere.
        last.checked_add(MILLISECOND).ok()
    }

    /// Now.
    pub fn now(&self) -> Micros {
        Micros(self.clock.now().as_microsecond())
    }

    /// Now, unless the clock has jumped ahead of late: for what cannot be taken back.
    pub fn believed(&self) -> Micros {
        self.believed.at(self.now(), Instant::now())
    }

    /// A fresh UUIDv7, behind every one before it, whatever the clock says.
    pub fn uuid(&self) -> Uuid {
        self.uuid_at(self.clock.now())
    }

    fn uuid_at(&self, now: jiff::Timestamp) -> Uuid {
        let ids = self.ids.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let seconds = u64::try_from(now.as_second()).unwrap_or_default();
        let nanos = u32::try_from(now.subsec_nanosecond()).unwrap_or_default();
        Uuid::new_v7(Timestamp::from_unix(&*ids, seconds, nanos))
    }

    /// The inputs of one decision.
    pub(super) fn inputs(&self) -> LiveInputs<'_> {
        LiveInputs { now: self.now(), environment: self, failure: std::cell::RefCell::new(None) }
    }
}

/// The time of the last event that the log has stood by for so long. What came later may be from a clock that was wrong, and a restart
/// is no reason to believe it; none of a log without events.
fn stood_by(log: &Log, wait: Duration) -> Result<Option<Micros>, memlog_events::log::Error> {
    let Some(latest) = log.latest()? else { return Ok(None) };
    let wait = i64::try_from(wait.as_micros()).unwrap_or(i64::MAX);
    let before = Micros(latest.0.saturating_sub(wait));
    Ok(Some(log.latest_by(before)?.unwrap_or(before)))
}

/// Inputs from the world. A vault that fails is remembered and refuses the decision as a whole.
pub(super) struct LiveInputs<'a> {
    now: Micros,
    environment: &'a Environment,
    failure: std::cell::RefCell<Option<String>>,
}

impl LiveInputs<'_> {
    pub(super) fn failure(&self) -> Option<String> {
        self.failure.borrow().clone()
    }
}

impl Inputs for LiveInputs<'_> {
    fn now(&self) -> Micros {
        self.now
    }

    fn uuid(&mut self) -> Uuid {
        self.environment.uuid()
    }

    fn slot(&mut self) -> Slot {
        match self.environment.log.reserve(1) {
            Ok(slots) => slots.first().copied().unwrap_or_default(),
            Err(error) => {
                self.failure.replace(Some(error.to_string()));
                Slot::NONE
            }
        }
    }

    fn digest(&self, slot: Slot, parts: &[&[u8]]) -> Digest {
        match self.environment.log.digest_in(slot, parts) {
            Ok(Some(digest)) => digest,
            // The slot was overwritten between look-up and decision: the writer will refuse the batch as gone.
            Ok(None) => Digest([0; 32]),
            Err(error) => {
                self.failure.replace(Some(error.to_string()));
                Digest([0; 32])
            }
        }
    }
}
