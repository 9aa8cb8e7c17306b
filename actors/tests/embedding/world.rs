//! A system on a folder that outlives it, with a model that a test holds still and asks what it was given.

use std::{
    ops::Range,
    sync::{
        Arc, Condvar, Mutex,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use jiff::Timestamp;
use memlog_actors::{
    api::{Context, Error, profile::*},
    extract::Local,
    limits::Limits,
    port::{Clock, EmbedFailed, Embedder, Purpose},
    system::{Options, System},
};
use tempfile::TempDir;

/// A clock that ticks a microsecond a look, and that a test puts forward.
#[derive(Default)]
pub(crate) struct Ticking(AtomicI64);

impl Ticking {
    pub(crate) fn forward(&self, seconds: i64) {
        self.0.fetch_add(seconds * 1_000_000, Ordering::SeqCst);
    }
}

impl Clock for Ticking {
    fn now(&self) -> Timestamp {
        let tick = self.0.fetch_add(1, Ordering::SeqCst);
        Timestamp::from_microsecond(1_780_000_000_000_000 + tick).expect("in range")
    }
}

/// Vectors of letters, made as far as a test lets it.
pub(crate) struct Letters {
    fingerprint: u32,
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    /// What it may still make of each kind; none means as many as it likes.
    passages: Option<usize>,
    questions: Option<usize>,
    /// What it began with, in order.
    begun: Vec<Purpose>,
}

impl Letters {
    pub(crate) fn new(fingerprint: u32) -> Arc<Self> {
        let state = State { passages: None, questions: None, begun: Vec::new() };
        Arc::new(Self { fingerprint, state: Mutex::new(state), changed: Condvar::new() })
    }

    /// From now on it makes only what it is allowed, and counts anew.
    pub(crate) fn shut(&self) {
        self.set(Some(0), Some(0));
    }

    /// The same for passages alone.
    pub(crate) fn shut_for_passages(&self) {
        self.set(Some(0), None);
    }

    pub(crate) fn open(&self) {
        let mut state = self.state.lock().expect("whole");
        (state.passages, state.questions) = (None, None);
        self.changed.notify_all();
    }

    fn set(&self, passages: Option<usize>, questions: Option<usize>) {
        *self.state.lock().expect("whole") = State { passages, questions, begun: Vec::new() };
    }

    /// It may make one more of either kind.
    pub(crate) fn allow(&self, purpose: Purpose) {
        let mut state = self.state.lock().expect("whole");
        *state.left(purpose).as_mut().expect("shut") += 1;
        self.changed.notify_all();
    }

    /// What it began with since it was shut.
    pub(crate) fn begun(&self) -> Vec<Purpose> {
        self.state.lock().expect("whole").begun.clone()
    }

    pub(crate) fn count(&self, purpose: Purpose) -> usize {
        self.begun().into_iter().filter(|begun| *begun == purpose).count()
    }
}

impl State {
    fn left(&mut self, purpose: Purpose) -> &mut Option<usize> {
        match purpose {
            Purpose::Query => &mut self.questions,
            Purpose::Passage => &mut self.passages,
        }
    }
}

impl Embedder for Letters {
    fn name(&self) -> &str {
        "letters"
    }

    fn fingerprint(&self) -> u32 {
        self.fingerprint
    }

    fn dimensions(&self) -> usize {
        32
    }

    fn embed(&self, text: &str, purpose: Purpose) -> Result<Vec<f32>, EmbedFailed> {
        let mut state = self.state.lock().expect("whole");
        state.begun.push(purpose);
        // A test that failed opens nothing; the thread must not hold its end up for ever.
        let patience = Duration::from_secs(60);
        let waiting = self.changed.wait_timeout_while(state, patience, |state| *state.left(purpose) == Some(0));
        state = waiting.expect("whole").0;
        if let Some(left) = state.left(purpose) {
            *left = left.saturating_sub(1);
        }
        drop(state);
        let mut vector = [0.01_f32; 32];
        for c in text.chars() {
            vector[(c as usize + self.fingerprint as usize) % 32] += 1.0;
        }
        let length = vector.iter().map(|v| v * v).sum::<f32>().sqrt();
        Ok(vector.iter().map(|v| v / length).collect())
    }
}

pub(crate) struct World {
    folder: TempDir,
    pub(crate) clock: Arc<Ticking>,
    pub(crate) limits: Limits,
}

impl World {
    pub(crate) fn new(embed_threads: usize) -> Self {
        let limits = Limits { embed_threads, workers: 0, ..Limits::default() };
        Self { folder: TempDir::new().expect("a folder"), clock: Arc::default(), limits }
    }

    pub(crate) async fn start(&self, model: Option<&Arc<Letters>>) -> System {
        let options = Options {
            data_dir: self.folder.path().to_owned(),
            vault_dir: None,
            limits: self.limits.clone(),
            embedder: model.map(|model| Arc::clone(model) as Arc<dyn Embedder>),
            extractor: Arc::new(Local),
            narrator: None,
            queue: None,
            clock: Arc::<Ticking>::clone(&self.clock),
        };
        System::start(options).await.expect("started")
    }
}

pub(crate) fn acme() -> Context {
    Context { namespace: "acme".to_owned(), ..Context::default() }
}

/// Saves a statement, whatever else is known.
pub(crate) async fn say(system: &System, profile: &str, content: &str) -> String {
    let request = Remember {
        profile: profile.to_owned(),
        content: content.to_owned(),
        dedupe: Some(false),
        ..Remember::default()
    };
    system.profile_remember(&acme(), request).await.expect("stored").reply.memory.id
}

/// Tells a profile messages of these numbers in one go.
pub(crate) async fn tell(system: &System, profile: &str, numbers: Range<usize>) {
    let message = |number: usize| Message {
        role: "user".to_owned(),
        content: format!("Harbour number {number} lies in the north"),
        ..Message::default()
    };
    let messages = numbers.map(message).collect();
    let request = Ingest { profile: profile.to_owned(), messages, session_id: None, wait: None, timeout_s: None };
    system.profile_ingest(&acme(), request).await.expect("told");
}

pub(crate) fn question(profile: &str, query: &str) -> Search {
    Search { profile: profile.to_owned(), query: query.to_owned(), ..Search::default() }
}

pub(crate) async fn ask(system: &System, request: Search) -> Result<Found, Error> {
    system.profile_search(&acme(), request).await.map(|answer| answer.reply)
}

/// The mode in which a question is answered, which must never fail.
pub(crate) async fn mode(system: &System, request: Search) -> String {
    ask(system, request).await.expect("answered, whatever the model does").mode
}

/// Waits until something is so.
pub(crate) async fn until(what: &str, is: impl Fn() -> bool) {
    let waiting = async {
        while !is() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), waiting).await.unwrap_or_else(|_| panic!("{what} never came"));
}
