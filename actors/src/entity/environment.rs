//! What every entity shares: the log, the clock, the source of ids, the limits.

use std::sync::Arc;

use memlog_events::{
    ids::{Digest, Micros, Slot},
    log::Log,
};
use uuid::{ContextV7, Timestamp, Uuid};

use crate::{domain::Inputs, limits::Limits, port::Clock};

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
}

impl Environment {
    /// Over an open log.
    pub fn new(log: Log, clock: Arc<dyn Clock>, limits: Limits) -> Self {
        Self { log, clock, limits, ids: std::sync::Mutex::new(ContextV7::new()) }
    }

    /// Now.
    pub fn now(&self) -> Micros {
        Micros(self.clock.now().as_microsecond())
    }

    /// A fresh UUIDv7.
    pub fn uuid(&self) -> Uuid {
        let now = self.clock.now();
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
