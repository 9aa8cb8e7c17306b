//! A crowd in one namespace or profile does not stand in the way of anybody else: told by the order of answers, never by time.

use std::{
    sync::{
        Arc, Condvar, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use memlog::door::connect;
use memlog_actors::{
    api::{Context, profile},
    limits::Limits,
    port::{EmbedFailed, Embedder, ExtractFailed, Extracted, Extractor, Purpose, RecordType, Work},
};
use tokio::task::JoinSet;

use crate::support::{
    Nats,
    served::{EachTurn, Memlog, Words, until},
};

/// Calls of the crowd: more than its share of places, so that some are shed, and all others are unanswered at once.
const CROWD: usize = 1_000;
/// What may be done for the crowd before the quiet one is answered, of hundreds that wait: a turn of each profile that others wait for.
const AHEAD_MAX: usize = 150;

/// Lets work through one by one, as the test allows.
#[derive(Default)]
struct Turnstile {
    allowed: Mutex<Option<usize>>,
    changed: Condvar,
    waiting: AtomicUsize,
    passed: AtomicUsize,
}

impl Turnstile {
    /// Whether somebody stands before it and may not pass.
    fn holds(&self) -> bool {
        *self.allowed.lock().unwrap() == Some(0) && self.waiting.load(Ordering::SeqCst) > 0
    }

    fn shut(&self) {
        *self.allowed.lock().unwrap() = Some(0);
    }

    fn allow(&self, more: usize) {
        if let Some(allowed) = &mut *self.allowed.lock().unwrap() {
            *allowed += more;
        }
        self.changed.notify_all();
    }

    fn open(&self) {
        *self.allowed.lock().unwrap() = None;
        self.changed.notify_all();
    }

    fn pass(&self) {
        self.waiting.fetch_add(1, Ordering::SeqCst);
        let mut allowed = self.allowed.lock().unwrap();
        // A test that failed allows nothing more; the thread must not hold its end up for ever.
        let patience = Duration::from_secs(120);
        allowed = self.changed.wait_timeout_while(allowed, patience, |allowed| *allowed == Some(0)).unwrap().0;
        if let Some(left) = &mut *allowed {
            *left = left.saturating_sub(1);
        }
        self.waiting.fetch_sub(1, Ordering::SeqCst);
        self.passed.fetch_add(1, Ordering::SeqCst);
    }
}

struct Slow(Words, Arc<Turnstile>);

impl Embedder for Slow {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn fingerprint(&self) -> u32 {
        self.0.fingerprint()
    }

    fn dimensions(&self) -> usize {
        self.0.dimensions()
    }

    fn embed(&self, text: &str, purpose: Purpose) -> Result<Vec<f32>, EmbedFailed> {
        self.1.pass();
        self.0.embed(text, purpose)
    }
}

struct SlowReader(EachTurn, Arc<Turnstile>);

impl Extractor for SlowReader {
    fn extract(&self, work: &Work) -> Result<Vec<Extracted>, ExtractFailed> {
        self.1.pass();
        self.0.extract(work)
    }

    fn classify(&self, content: &str) -> (RecordType, String) {
        self.0.classify(content)
    }
}

struct Crowded {
    memlog: Memlog,
    model: Arc<Turnstile>,
    reader: Arc<Turnstile>,
    answered: Arc<AtomicUsize>,
    crowd: JoinSet<bool>,
    _nats: Nats,
    _data: tempfile::TempDir,
}

fn of(namespace: &str) -> Context {
    Context { namespace: namespace.to_owned(), ..Context::default() }
}

fn remember(profile: &str, content: String) -> profile::Remember {
    profile::Remember { profile: profile.to_owned(), content, ..profile::Remember::default() }
}

fn search(profile: &str, query: String) -> profile::Search {
    profile::Search { profile: profile.to_owned(), query, ..profile::Search::default() }
}

fn ingest(profile: &str, content: String, wait: bool) -> profile::Ingest {
    let message = profile::Message { role: "user".to_owned(), content, ..profile::Message::default() };
    profile::Ingest {
        profile: profile.to_owned(),
        messages: vec![message],
        wait: wait.then_some(true),
        timeout_s: wait.then_some(600.0),
        ..profile::Ingest::default()
    }
}

impl Crowded {
    /// One thread for the model and one worker, so that what is done next is what was chosen next.
    async fn start() -> Option<Self> {
        let nats = Nats::start().await?;
        let data = tempfile::tempdir().unwrap();
        let (model, reader) = (Arc::<Turnstile>::default(), Arc::<Turnstile>::default());
        let embedder = Arc::new(Slow(Words(Arc::default()), model.clone()));
        let extractor = Arc::new(SlowReader(EachTurn(Arc::default()), reader.clone()));
        // The test lets work through by hand: how long somebody waits says nothing.
        let limits = Limits { embed_threads: 1, turn_wait_ms_max: 600_000, ..Limits::default() };
        let options = connect::Options::url(nats.url());
        let memlog = Memlog::open_with(data.path(), options, limits, Some(embedder), extractor).await;
        for (namespace, profile) in [("loud", "crowd"), ("loud", "quiet"), ("quiet", "quiet")] {
            let told = remember(profile, "The key hangs behind the door.".to_owned());
            memlog.client.call(&of(namespace), &told).await.unwrap();
            // A search waits until everything is embedded.
            memlog.client.call(&of(namespace), &search(profile, "where is it".to_owned())).await.unwrap();
        }
        let (answered, crowd) = (Arc::default(), JoinSet::new());
        Some(Self { memlog, model, reader, answered, crowd, _nats: nats, _data: data })
    }

    /// A thousand of them at once; each tells whether it was done.
    fn come<V: memlog_actors::api::Verb>(&mut self, request: impl Fn(usize) -> V) {
        for number in 0..CROWD {
            let (client, answered, request) = (self.memlog.client.clone(), self.answered.clone(), request(number));
            self.crowd.spawn(async move {
                let done = client.call(&of("loud"), &request).await.is_ok();
                answered.fetch_add(1, Ordering::SeqCst);
                done
            });
        }
    }

    /// The crowd has arrived: who found no place was told so, and somebody works.
    async fn arrived(&self, working: &Turnstile) {
        until("the crowd is there", || async {
            let load = self.memlog.serving.node().door.calls();
            load.working + load.waiting + self.answered.load(Ordering::SeqCst) as u64 >= CROWD as u64
                && working.waiting.load(Ordering::SeqCst) > 0
        })
        .await;
    }

    /// Waits for the quiet one. The turnstile lets one through for each answer to a caller who asks for nothing, so that what passes
    /// is counted against answers and not against time; how many passed.
    async fn passed_before(&self, turnstile: &Turnstile, quiet: impl Future<Output = ()> + Send + 'static) -> usize {
        let before = turnstile.passed.load(Ordering::SeqCst);
        let quiet = tokio::spawn(quiet);
        while !quiet.is_finished() {
            self.memlog.client.call(&of("watch"), &profile::List::default()).await.unwrap();
            if turnstile.holds() {
                turnstile.allow(1);
            }
        }
        quiet.await.unwrap();
        turnstile.passed.load(Ordering::SeqCst) - before
    }

    /// Hundreds wait for a model that answers nobody; a page of the crowd's own profile is answered all the same.
    async fn reads_what_asks_no_model(&self) {
        // The crowd has all of its profile's places. These make room, and nobody of it comes again.
        self.model.allow(10);
        until("the model is shut again", || async { self.model.holds() }).await;
        let page = profile::Memories { profile: "crowd".to_owned(), ..profile::Memories::default() };
        until("a page is answered", || async { self.memlog.client.call(&of("loud"), &page).await.is_ok() }).await;
        assert!(self.model.holds(), "the model was not shut");
        assert!(self.memlog.serving.node().door.calls().working > 100, "the crowd is still there");
    }

    /// Everybody of the crowd that found a place is done as well.
    async fn over(mut self) {
        self.model.open();
        self.reader.open();
        let mut done = 0;
        while let Some(it) = self.crowd.join_next().await {
            done += usize::from(it.unwrap());
        }
        assert!(done > CROWD / 2, "only {done} of the crowd were done");
        self.memlog.close().await;
    }
}

/// A thousand searches wait for the model; the one of another namespace, and the one of another profile, wait for a few of them.
#[tokio::test(flavor = "multi_thread")]
async fn a_crowd_of_searches_is_not_waited_for() {
    let Some(mut crowded) = Crowded::start().await else { return };
    crowded.model.shut();
    crowded.come(|number| search("crowd", format!("where is the key number {number}")));
    crowded.arrived(&crowded.model).await;
    for namespace in ["quiet", "loud"] {
        let client = crowded.memlog.client.clone();
        let quiet = async move {
            let question = search("quiet", format!("what hangs behind the door of {namespace}"));
            client.call(&of(namespace), &question).await.expect("answered");
        };
        let before = crowded.passed_before(&crowded.model, quiet).await;
        assert!(before <= AHEAD_MAX, "{before} of the crowd went before the quiet one of {namespace}");
    }
    assert!(crowded.answered.load(Ordering::SeqCst) < CROWD, "the crowd is still there");
    crowded.reads_what_asks_no_model().await;
    crowded.over().await;
}

/// A thousand saves, and searches for what was saved: neither keeps another profile from what it has just saved.
#[tokio::test(flavor = "multi_thread")]
async fn a_crowd_of_saves_is_not_waited_for() {
    let Some(mut crowded) = Crowded::start().await else { return };
    crowded.model.shut();
    crowded.come(|number| {
        remember(&format!("crowd-{}", number % 5), format!("The number {number} of the list is w{number}."))
    });
    // Saves do not wait for the model: they are answered, and what they saved waits.
    until("the crowd has saved", || async { crowded.answered.load(Ordering::SeqCst) == CROWD }).await;
    for number in 0..200 {
        let client = crowded.memlog.client.clone();
        crowded.crowd.spawn(async move {
            let question = search(&format!("crowd-{}", number % 5), "which number".to_owned());
            client.call(&of("loud"), &question).await.is_ok()
        });
    }
    until("the crowd asks", || async { crowded.memlog.serving.node().door.calls().working >= 150 }).await;
    for namespace in ["quiet", "loud"] {
        let client = crowded.memlog.client.clone();
        let quiet = async move {
            let told = remember("quiet", format!("The bicycle of {namespace} stands in the yard."));
            client.call(&of(namespace), &told).await.expect("saved");
            let question = search("quiet", "where is the bicycle".to_owned());
            let found = client.call(&of(namespace), &question).await.expect("answered").reply.memories;
            assert!(found[0].summary.as_ref().is_some_and(|it| it.contains("bicycle")), "{found:?}");
        };
        let before = crowded.passed_before(&crowded.model, quiet).await;
        assert!(before <= AHEAD_MAX, "{before} documents of the crowd went before the quiet one of {namespace}");
        assert!(crowded.memlog.serving.system().load().views.waiting > 0, "the crowd is still there");
    }
    crowded.over().await;
}

/// A thousand conversations wait to be read by one worker; another profile's one is read after a few of them.
#[tokio::test(flavor = "multi_thread")]
async fn a_crowd_of_conversations_is_not_waited_for() {
    let Some(mut crowded) = Crowded::start().await else { return };
    crowded.reader.shut();
    crowded.come(|number| ingest("crowd", format!("Today is the day number {number}."), false));
    until("the crowd has told", || async { crowded.answered.load(Ordering::SeqCst) == CROWD }).await;
    let open = crowded.memlog.serving.system().health().jobs_open;
    assert!(open > CROWD as u64 / 2, "{open} jobs");
    for namespace in ["quiet", "loud"] {
        let client = crowded.memlog.client.clone();
        let quiet = async move {
            client.call(&of(namespace), &ingest("quiet", "I moved to Lisbon.".to_owned(), true)).await.expect("read");
        };
        let before = crowded.passed_before(&crowded.reader, quiet).await;
        assert!(before <= AHEAD_MAX, "{before} conversations of the crowd went before the quiet one of {namespace}");
    }
    crowded.over().await;
}
