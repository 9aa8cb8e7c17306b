//! What the doors would fill: an extractor that can be foreseen, and a queue that delivers when it is told to.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Mutex, MutexGuard, PoisonError},
};

use memlog_actors::port::{Assignment, DeadLetter, Extractor, Finding, JobQueue, Ticket};
use memlog_events::ids::JobId;

use super::world::{DAY_MICROS, OneEach};

pub(crate) const DAY: i64 = DAY_MICROS;
pub(crate) const HOUR: i64 = DAY / 24;

/// One fact a message.
pub(crate) fn found_in(assignment: &Assignment) -> Finding {
    let extracted = OneEach::default().extract(&assignment.work).expect("it was not told to fail");
    Finding { extracted, messages: assignment.messages.clone(), known: assignment.known.clone(), summary: None }
}

/// Says what a text is; jobs go out to workers elsewhere.
pub(crate) fn only_classifies() -> OneEach {
    OneEach { failures: u32::MAX.into(), finally: true }
}

/// Keeps what the outbox hands out. The run delivers it, also when it is settled, twice, and in any order.
#[derive(Default)]
pub(crate) struct Queue(Mutex<Held>);

#[derive(Default)]
struct Held {
    /// All that were ever handed out, in order.
    put: Vec<JobId>,
    open: BTreeMap<JobId, Ticket>,
    /// Letters of those that failed and were not handed out since, in whatever life.
    dead: BTreeSet<String>,
}

impl Queue {
    fn held(&self) -> MutexGuard<'_, Held> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The same queue in the next life, which has nothing yet but its dead letters.
    pub(crate) fn in_next_life(&self) -> Self {
        Self(Mutex::new(Held { dead: self.dead(), ..Held::default() }))
    }

    pub(crate) fn dead(&self) -> BTreeSet<String> {
        self.held().dead.clone()
    }

    /// Jobs that were handed out, each once.
    pub(crate) fn put(&self) -> Vec<JobId> {
        self.held().put.clone()
    }

    /// Those of them that are not settled.
    pub(crate) fn open(&self) -> Vec<JobId> {
        let held = self.held();
        held.put.iter().filter(|job| held.open.contains_key(job)).copied().collect()
    }
}

impl JobQueue for Queue {
    fn put(&self, ticket: Ticket) {
        let mut held = self.held();
        if !held.put.contains(&ticket.job) {
            held.put.push(ticket.job);
        }
        held.dead.remove(&ticket.job.to_string());
        held.open.insert(ticket.job, ticket);
    }

    fn taken(&self, _: JobId) {}

    fn settled(&self, ticket: Ticket) {
        self.held().open.remove(&ticket.job);
    }

    fn dead(&self, letter: DeadLetter) {
        self.held().dead.insert(letter.job.to_string());
    }

    fn close(&self) {}
}
