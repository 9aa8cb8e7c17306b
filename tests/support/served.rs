//! A whole memlog for a test: system, door and feed on a NATS server of its own, with a model and an extractor that the
//! test can hold still.

use std::{
    future::Future,
    path::{Path, PathBuf},
    sync::{
        Arc, Condvar, Mutex,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use memlog::{
    client::{CallError, Client},
    door::connect,
    jobs::Workers,
    serve::{Nats as Server, Options, Serving},
};
use memlog_actors::{
    api::{Context, Error, Verb},
    limits::Limits,
    port::{Clock, EmbedFailed, Embedder, ExtractFailed, Extracted, Extractor, Purpose, RecordType, Role, Work},
    system,
};

/// A door that threads pass while it is open, and wait at while it is shut.
#[derive(Default)]
pub struct Gate {
    state: Mutex<(bool, usize)>,
    changed: Condvar,
}

impl Gate {
    /// From now on they wait.
    pub fn shut(&self) {
        self.state.lock().unwrap().0 = true;
    }

    /// All go on.
    pub fn open(&self) {
        self.state.lock().unwrap().0 = false;
        self.changed.notify_all();
    }

    /// How many wait.
    pub fn waiting(&self) -> usize {
        self.state.lock().unwrap().1
    }

    fn pass(&self) {
        let mut state = self.state.lock().unwrap();
        state.1 += 1;
        // A test that failed opens nothing; the thread must not hold its end up for ever.
        let patience = Duration::from_secs(60);
        state = self.changed.wait_timeout_while(state, patience, |state| state.0).unwrap().0;
        state.1 -= 1;
    }
}

/// Words to a vector: alike texts are near, which is all that a test of the door needs.
pub struct Words(pub Arc<Gate>);

impl Embedder for Words {
    fn name(&self) -> &str {
        "words"
    }

    fn fingerprint(&self) -> u32 {
        1
    }

    fn dimensions(&self) -> usize {
        64
    }

    fn embed(&self, text: &str, _: Purpose) -> Result<Vec<f32>, EmbedFailed> {
        self.0.pass();
        let mut vector = vec![0.01_f32; 64];
        for word in text.split(|char: char| !char.is_alphanumeric()).filter(|word| !word.is_empty()) {
            let sum: usize = word.to_lowercase().bytes().map(usize::from).sum();
            vector[sum % 64] += 1.0;
        }
        let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
        Ok(vector.into_iter().map(|x| x / length).collect())
    }
}

/// Every message but the system's is a fact.
#[derive(Default)]
pub struct EachTurn(pub Arc<Gate>);

impl Extractor for EachTurn {
    fn extract(&self, work: &Work) -> Result<Vec<Extracted>, ExtractFailed> {
        self.0.pass();
        let kept = work.turns.iter().enumerate().filter(|(_, turn)| turn.role != Role::System);
        Ok(kept
            .map(|(place, turn)| Extracted {
                record_type: RecordType::Fact,
                content: turn.text.clone(),
                summary: self.classify(&turn.text).1,
                timestamp: None,
                sources: vec![place],
                corrects: None,
            })
            .collect())
    }

    fn classify(&self, content: &str) -> (RecordType, String) {
        (RecordType::Fact, content.chars().take(80).collect())
    }
}

/// A word that no extraction gets past.
pub const UNREADABLE: &str = "unreadable";

/// The same, but for conversations with [`UNREADABLE`] in them: their jobs fail for good, and can be tried again.
#[derive(Default)]
pub struct Fickle(EachTurn);

impl Extractor for Fickle {
    fn extract(&self, work: &Work) -> Result<Vec<Extracted>, ExtractFailed> {
        if work.turns.iter().any(|turn| turn.text.contains(UNREADABLE)) {
            return Err(ExtractFailed::lasting("unreadable"));
        }
        self.0.extract(work)
    }

    fn classify(&self, content: &str) -> (RecordType, String) {
        self.0.classify(content)
    }
}

/// The wall's clock.
pub struct Wall;

impl Clock for Wall {
    #[expect(clippy::disallowed_methods, reason = "the tests' clock is the wall's")]
    fn now(&self) -> jiff::Timestamp {
        jiff::Timestamp::now()
    }
}

/// The wall's clock, and what a test puts it forward by.
#[derive(Default)]
pub struct Forward(AtomicI64);

impl Forward {
    /// So many seconds later.
    pub fn by(&self, seconds: i64) {
        self.0.fetch_add(seconds, Ordering::SeqCst);
    }
}

impl Clock for Forward {
    fn now(&self) -> jiff::Timestamp {
        Wall.now() + jiff::SignedDuration::from_secs(self.0.load(Ordering::SeqCst))
    }
}

/// A memlog that serves.
pub struct Memlog {
    pub serving: Serving,
    pub client: Client,
    /// Shut, it holds up every embedding, and so every search.
    pub embedding: Arc<Gate>,
    /// Shut, it holds up every extraction, and so everything that waits for one.
    pub extraction: Arc<Gate>,
    connection: connect::Options,
}

impl Memlog {
    /// Opens one on `data`, reached at `url`.
    pub async fn open(data: &Path, url: &str, limits: Limits) -> Self {
        Self::open_as(data, connect::Options::url(url), limits).await
    }

    /// The same by another connection.
    pub async fn open_as(data: &Path, connection: connect::Options, limits: Limits) -> Self {
        let (embedding, extraction) = (Arc::new(Gate::default()), Arc::new(Gate::default()));
        let embedder = Arc::new(Words(embedding.clone()));
        let extractor = Arc::new(EachTurn(extraction.clone()));
        let memlog = Self::open_with(data, connection, limits, Some(embedder), extractor).await;
        Self { embedding, extraction, ..memlog }
    }

    /// The same with a model and an extractor of the test's own; the gates then hold up nothing.
    pub async fn open_with(
        data: &Path,
        connection: connect::Options,
        limits: Limits,
        embedder: Option<Arc<dyn Embedder>>,
        extractor: Arc<dyn Extractor>,
    ) -> Self {
        Self::open_timed(data, connection, limits, embedder, extractor, Arc::new(Wall)).await
    }

    /// The same by another clock.
    pub async fn open_timed(
        data: &Path,
        connection: connect::Options,
        limits: Limits,
        embedder: Option<Arc<dyn Embedder>>,
        extractor: Arc<dyn Extractor>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        let (data_dir, vault_dir) = (PathBuf::from(data), None);
        let (narrator, queue) = (None, None);
        let system = system::Options { data_dir, vault_dir, limits, embedder, extractor, narrator, queue, clock };
        let nats = Server::Running(connection.clone());
        let workers = system.limits.workers;
        let serving = Serving::open(Options { system, nats, workers, replicas: 1 }).await.expect("memlog serves");
        let client = Client::connect(&connection).await.expect("a client connects");
        Self { serving, client, embedding: Arc::default(), extraction: Arc::default(), connection }
    }

    /// Workers as another process would have them, with the extractor that `extraction` holds up.
    pub async fn workers(&self, parallel: usize) -> Workers {
        self.workers_with(parallel, Arc::new(EachTurn(self.extraction.clone()))).await
    }

    /// The same with another extractor.
    pub async fn workers_with(&self, parallel: usize, extractor: Arc<dyn Extractor>) -> Workers {
        Workers::start(&self.connection, parallel, extractor, None).await.expect("workers start")
    }

    /// Calls a verb in the namespace `acme`.
    pub async fn call<V: Verb>(&self, request: V) -> Result<V::Reply, CallError> {
        call(&self.client, request).await
    }

    /// Sends bytes to a subject, with headers.
    pub async fn send(
        &self,
        subject: &str,
        headers: &[(&str, &str)],
        body: impl Into<Vec<u8>>,
    ) -> Result<Vec<u8>, CallError> {
        let mut map = async_nats::HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, *value);
        }
        let (body, _) = self.client.send(subject.to_owned(), map, body.into().into()).await?;
        Ok(body.into())
    }

    /// Closes it.
    pub async fn close(self) {
        self.serving.close(Duration::from_secs(30)).await;
    }
}

/// Calls a verb in the namespace `acme` from anywhere.
pub async fn call<V: Verb>(client: &Client, request: V) -> Result<V::Reply, CallError> {
    let context = Context { namespace: "acme".to_owned(), ..Context::default() };
    client.call(&context, &request).await.map(|answer| answer.reply)
}

/// The refusal in a result.
pub fn refused<T: std::fmt::Debug>(result: Result<T, CallError>) -> Error {
    match result {
        Err(CallError::Refused(error)) => error,
        other => panic!("not refused: {other:?}"),
    }
}

/// Asks again until it is so: a condition is awaited, not slept for.
pub async fn until<F: Future<Output = bool>>(what: &str, mut so: impl FnMut() -> F) {
    let asking = async {
        while !so().await {
            tokio::task::yield_now().await;
        }
    };
    assert!(tokio::time::timeout(Duration::from_secs(60), asking).await.is_ok(), "never so: {what}");
}

/// A nats-server with settings that memlog would not choose.
pub struct SmallNats {
    pub url: String,
    _child: tokio::process::Child,
    _folder: tempfile::TempDir,
}

impl SmallNats {
    /// None where no nats-server is.
    pub async fn start(max_payload: usize) -> Option<Self> {
        Self::configured(&format!("max_payload: {max_payload}\n")).await
    }

    /// One with these settings.
    pub async fn configured(settings: &str) -> Option<Self> {
        let binary = memlog::nats::server::find(None).await.ok()?;
        let folder = tempfile::tempdir().unwrap();
        let ports = folder.path().display();
        let config = format!("host: 127.0.0.1\nport: -1\nports_file_dir: \"{ports}\"\n{settings}");
        let path = folder.path().join("nats.conf");
        std::fs::write(&path, config).unwrap();
        let child = tokio::process::Command::new(binary)
            .arg("--config")
            .arg(&path)
            .kill_on_drop(true)
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap();
        let file = folder.path().join(format!("nats-server_{}.ports", child.id().unwrap()));
        let read = || {
            let told: serde_json::Value = serde_json::from_slice(&std::fs::read(&file).ok()?).ok()?;
            Some(told["nats"][0].as_str()?.to_owned())
        };
        until("the server tells its port", || async { read().is_some() }).await;
        Some(Self { url: read().unwrap(), _child: child, _folder: folder })
    }
}
