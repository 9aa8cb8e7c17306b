//! What the doors would fill: a clock that the run holds in its hand, an extractor that can be foreseen, vectors of letters, a
//! queue that delivers when it is told to.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicI64, Ordering},
    },
};

use jiff::Timestamp;
use memlog_actors::port::{
    Assignment, Clock, DeadLetter, EmbedFailed, Embedder, ExtractFailed, Extracted, Extractor, Finding, JobQueue,
    Purpose, RecordType, Ticket, Work,
};
use memlog_events::ids::JobId;

pub(crate) const HOUR: i64 = 3_600_000_000;
pub(crate) const DAY: i64 = 24 * HOUR;
const START: i64 = 1_780_000_000_000_000;

/// Ticks a microsecond a look, as real ones do.
#[derive(Default)]
pub(crate) struct Hand(AtomicI64);

impl Hand {
    pub(crate) fn forward(&self, micros: i64) {
        self.0.fetch_add(micros, Ordering::SeqCst);
    }

    pub(crate) fn micros(&self) -> i64 {
        START + self.0.load(Ordering::SeqCst)
    }
}

impl Clock for Hand {
    fn now(&self) -> Timestamp {
        Timestamp::from_microsecond(START + self.0.fetch_add(1, Ordering::SeqCst)).expect("in range")
    }
}

/// What is noted of a message.
pub(crate) fn fact_of(text: &str) -> String {
    format!("Noted {text}")
}

/// One fact a message.
pub(crate) fn found_in(assignment: &Assignment) -> Finding {
    let fact = |(at, turn): (usize, &memlog_actors::port::Turn)| Extracted {
        record_type: RecordType::Fact,
        content: fact_of(&turn.text),
        summary: fact_of(&turn.text),
        timestamp: None,
        sources: vec![at],
        corrects: None,
    };
    let extracted = assignment.work.turns.iter().enumerate().map(fact).collect();
    Finding { extracted, messages: assignment.messages.clone(), known: assignment.known.clone(), summary: None }
}

/// Says what a text is; jobs go out to workers elsewhere.
pub(crate) struct Facts;

impl Extractor for Facts {
    fn extract(&self, _: &Work) -> Result<Vec<Extracted>, ExtractFailed> {
        Err(ExtractFailed::lasting("not_here"))
    }

    fn classify(&self, content: &str) -> (RecordType, String) {
        (RecordType::Fact, content.to_owned())
    }
}

/// Vectors that stand for nothing but the letters of a text.
pub(crate) struct Letters;

impl Embedder for Letters {
    fn name(&self) -> &str {
        "letters"
    }

    fn fingerprint(&self) -> u32 {
        7
    }

    fn dimensions(&self) -> usize {
        32
    }

    fn embed(&self, text: &str, _: Purpose) -> Result<Vec<f32>, EmbedFailed> {
        let mut vector = [0.01_f32; 32];
        text.chars().for_each(|c| vector[c as usize % 32] += 1.0);
        let length = vector.iter().map(|v| v * v).sum::<f32>().sqrt();
        Ok(vector.iter().map(|v| v / length).collect())
    }
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
