//! A system over a temporary folder whose clock, extractor and limits a test holds in its hand.

use std::sync::{
    Arc,
    atomic::{AtomicI64, AtomicU32, Ordering},
};

use jiff::Timestamp;
use memlog_actors::{
    api::{Context, Idempotency, profile::*},
    limits::Limits,
    port::{Clock, EmbedFailed, Embedder, ExtractFailed, Extracted, Extractor, Purpose, RecordType, Role, Work},
    system::{Options, System},
};
use tempfile::TempDir;

/// A clock that a test moves; it also ticks a microsecond a look, as real ones do.
#[derive(Default)]
pub(crate) struct Moved(AtomicI64);

pub(crate) const DAY_MICROS: i64 = 86_400_000_000;
const START_MICROS: i64 = 1_780_000_000_000_000;

impl Moved {
    pub(crate) fn forward(&self, micros: i64) {
        self.0.fetch_add(micros, Ordering::SeqCst);
    }

    pub(crate) fn micros(&self) -> i64 {
        START_MICROS + self.0.load(Ordering::SeqCst)
    }
}

impl Clock for Moved {
    fn now(&self) -> Timestamp {
        let tick = self.0.fetch_add(1, Ordering::SeqCst);
        Timestamp::from_microsecond(START_MICROS + tick).expect("in range")
    }
}

/// One fact a message, so that what is extracted can be said beforehand. It fails as often as it is told to.
#[derive(Default)]
pub(crate) struct OneEach {
    pub(crate) failures: AtomicU32,
    pub(crate) finally: bool,
}

pub(crate) fn fact_of(text: &str) -> String {
    format!("Noted {text}")
}

impl Extractor for OneEach {
    fn extract(&self, work: &Work) -> Result<Vec<Extracted>, ExtractFailed> {
        let failing = self.failures.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        if failing.is_ok() {
            return Err(ExtractFailed { code: "told_to_fail".into(), transient: !self.finally });
        }
        let said = work.turns.iter().enumerate().filter(|(_, turn)| turn.role != Role::System);
        let fact = |(at, turn): (usize, &memlog_actors::port::Turn)| Extracted {
            record_type: RecordType::Fact,
            content: fact_of(&turn.text),
            summary: fact_of(&turn.text),
            timestamp: None,
            sources: vec![at],
            corrects: None,
        };
        Ok(said.map(fact).collect())
    }

    fn classify(&self, content: &str) -> (RecordType, String) {
        (RecordType::Fact, content.to_owned())
    }
}

/// Vectors that stand for nothing but the letters of a text: enough to prove the plumbing.
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
        for c in text.chars() {
            vector[c as usize % 32] += 1.0;
        }
        let length = vector.iter().map(|v| v * v).sum::<f32>().sqrt();
        Ok(vector.iter().map(|v| v / length).collect())
    }
}

pub(crate) struct World {
    pub(crate) folder: TempDir,
    pub(crate) clock: Arc<Moved>,
    pub(crate) extractor: Arc<dyn Extractor>,
    pub(crate) embedder: Option<Arc<dyn Embedder>>,
    pub(crate) limits: Limits,
}

impl World {
    pub(crate) fn new() -> Self {
        Self {
            folder: TempDir::new().expect("a folder"),
            clock: Arc::default(),
            extractor: Arc::<OneEach>::default(),
            embedder: None,
            // Tests move the clock by days and want to see what comes of it.
            limits: Limits { clock_jump_wait_ms: 0, ..Limits::default() },
        }
    }

    pub(crate) fn options(&self) -> Options {
        Options {
            data_dir: self.folder.path().to_owned(),
            vault_dir: None,
            limits: self.limits.clone(),
            embedder: self.embedder.clone(),
            extractor: Arc::clone(&self.extractor),
            narrator: None,
            queue: None,
            clock: Arc::<Moved>::clone(&self.clock),
        }
    }

    pub(crate) async fn start(&self) -> System {
        System::start(self.options()).await.expect("started")
    }

    /// Stops it and starts another on the same folder.
    pub(crate) async fn restart(&self, system: System) -> System {
        system.stop().await;
        drop(system);
        self.start().await
    }
}

pub(crate) const ALICE: &str = "alice";

pub(crate) fn acme() -> Context {
    Context { namespace: "acme".to_owned(), ..Context::default() }
}

pub(crate) fn keyed(key: &str) -> Context {
    let idempotency = Idempotency { key: key.to_owned(), request: key.as_bytes().to_vec() };
    Context { idempotency: Some(idempotency), ..acme() }
}

pub(crate) fn remember(content: &str) -> Remember {
    Remember { profile: ALICE.to_owned(), content: content.to_owned(), ..Remember::default() }
}

pub(crate) fn message(role: &str, content: &str) -> Message {
    Message { role: role.to_owned(), content: content.to_owned(), ..Message::default() }
}

pub(crate) fn ingest(session_id: Option<&str>, messages: Vec<Message>) -> Ingest {
    let (session_id, wait) = (session_id.map(str::to_owned), Some(true));
    Ingest { profile: ALICE.to_owned(), messages, session_id, wait, timeout_s: None }
}

pub(crate) fn search(query: &str) -> Search {
    Search { profile: ALICE.to_owned(), query: query.to_owned(), limit: Some(100), ..Search::default() }
}

pub(crate) fn list() -> Memories {
    Memories { profile: ALICE.to_owned(), ..Memories::default() }
}

pub(crate) fn forget(id: &str) -> Forget {
    Forget { profile: ALICE.to_owned(), memory_id: id.to_owned() }
}

pub(crate) fn delete_session(session: &str) -> DeleteSession {
    DeleteSession { profile: ALICE.to_owned(), session_id: session.to_owned() }
}

pub(crate) fn delete() -> Delete {
    Delete { profile: ALICE.to_owned() }
}
