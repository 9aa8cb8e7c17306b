//! Starting and stopping: who is woken in which order, and put to rest in the reverse.

use std::{
    collections::HashMap,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError, RwLock, atomic::AtomicU64},
    time::Duration,
};

use memlog_events::{
    ids::Position,
    log::{CommitNotice, Log, machine::Machine, open},
};
use tokio::{
    sync::{Semaphore, watch},
    task::JoinSet,
    time::Instant,
};

use super::{Inner, Options, System, catch_up, gate::Gate, keeper, saying::Sayings};
use crate::{
    entity::{Directory, Environment},
    in_use::InUse,
    jobs::{LocalQueue, Outbox, Worker},
    port::JobQueue,
    view::{Notebooks, Registry, embedding::EmbedQueue, projector::Projector},
};

/// Why a system did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Another process has the folder.
    #[error("the data folder {0} is in use by another process; call that one with --nats, or stop it")]
    InUse(PathBuf),
    /// The log could not be opened.
    #[error("the log in {path} could not be opened: {reason}")]
    Log {
        /// The folder.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// A limit with which nothing could work.
    #[error(transparent)]
    Limit(#[from] crate::limits::TooLow),
    /// A thread could not be started.
    #[error("a thread could not be started: {0}")]
    Thread(#[from] std::io::Error),
}

/// Who is told of commits. Bound after the log is open, since they read it; let go when it closes, since they keep it open.
#[derive(Default)]
pub(crate) struct Listeners(RwLock<Option<Told>>);

type Told = (Arc<Registry>, Arc<Notebooks>, Arc<Projector>, watch::Sender<Position>);

impl Listeners {
    fn set(&self, listeners: Option<Told>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = listeners;
    }

    fn tell(&self, notice: &CommitNotice) {
        if let Some((registry, shelf, projector, head)) = &*self.0.read().unwrap_or_else(PoisonError::into_inner) {
            registry.committed(notice);
            shelf.committed(notice);
            projector.wake();
            head.send_replace(notice.last);
        }
    }
}

impl System {
    /// Opens the log, finishes what a crash left, wakes the followers. Needs a multi-thread runtime.
    pub async fn start(options: Options) -> Result<Self, StartError> {
        options.limits.check()?;
        let listeners = Arc::new(Listeners::default());
        let log = open_log(&options, &listeners).await?;
        Self::start_over(log, listeners, options)
    }

    /// The same over a machine that is simulated, on a runtime of one thread: nothing happens beside it, and nothing becomes
    /// durable before the log's writer has its [`System::turn`].
    ///
    /// # Panics
    /// On a runtime of more threads, where one seed would not be one history.
    pub async fn start_on(machine: Machine, options: Options) -> Result<Self, StartError> {
        assert!(crate::blocking::is_alone(), "a simulated machine needs a runtime of one thread");
        options.limits.check()?;
        let listeners = Arc::new(Listeners::default());
        let opened = Log::open_on(machine, log_options(&options, &listeners));
        let log = opened.map_err(|error| not_opened(options.data_dir.clone(), error))?;
        Self::start_over(log, listeners, options)
    }

    /// One commit of the log's writer, where nobody else gives it its turns; false if nothing waits for it.
    pub fn turn(&self) -> bool {
        self.inner.environment.log.turn()
    }

    fn start_over(log: Log, listeners: Arc<Listeners>, options: Options) -> Result<Self, StartError> {
        let Options { limits, embedder, extractor, narrator, clock, queue, .. } = options;
        let has_model = embedder.is_some();
        let embed = embedder.map(|embedder| EmbedQueue::start(log.clone(), embedder, &limits)).transpose()?;
        let in_use = InUse::default();
        let registry = Arc::new(Registry::new(log.clone(), in_use.clone(), limits.clone(), embed));
        let shelf = Arc::new(Notebooks::new(log.clone(), in_use.clone(), &limits));
        let projector = Arc::new(Projector::start(log.clone(), Arc::clone(&registry))?);
        let head = watch::Sender::new(log.head());
        listeners.set(Some((Arc::clone(&registry), Arc::clone(&shelf), Arc::clone(&projector), head.clone())));
        let unread = |error: memlog_events::log::Error| StartError::Log {
            path: options.data_dir.clone(),
            reason: error.to_string(),
        };
        let environment = Arc::new(Environment::new(log.clone(), in_use.clone(), clock, limits).map_err(unread)?);
        let local = LocalQueue::default();
        let (queue, workers) = match queue {
            Some(queue) => (queue, 0),
            None => (Arc::new(local.clone()) as Arc<dyn JobQueue>, environment.limits.workers),
        };
        let outbox = Outbox::new(log, in_use, Arc::clone(&queue)).map_err(unread)?;
        let replays = Arc::new(Semaphore::new(environment.limits.replays_max.max(1)));
        let decoding = super::thread::permits(&environment.limits);
        let inner = Arc::new(Inner {
            profiles: Directory::new(Arc::clone(&environment), Arc::clone(&replays)),
            threads: Directory::new(Arc::clone(&environment), Arc::clone(&replays)),
            registries: Directory::new(Arc::clone(&environment), Arc::clone(&replays)),
            notebooks: Directory::new(Arc::clone(&environment), Arc::clone(&replays)),
            notes: Directory::new(Arc::clone(&environment), replays),
            shelf,
            places: Mutex::default(),
            environment,
            registry,
            extractor,
            narrator,
            queue,
            projector,
            fed: Arc::new(AtomicU64::new(u64::MAX)),
            tally: Mutex::default(),
            due: Mutex::default(),
            head,
            keys: Gate::default(),
            statements: Gate::default(),
            sayings: Sayings::default(),
            sessions: Gate::default(),
            ids: Gate::default(),
            edits: Gate::default(),
            decoding,
            promises: outbox.promises(),
            namespaces: Mutex::new(HashMap::new()),
            tasks: Mutex::new(JoinSet::new()),
            catching_up: watch::Sender::new(has_model),
            stopping: watch::Sender::new(false),
            listeners,
        });
        let system = Self { inner };
        system.start_tasks(outbox, &local, workers);
        Ok(system)
    }

    /// Finishes what was accepted, then closes the log. Calls that come later are refused as unavailable.
    pub async fn stop(&self) {
        let inner = &self.inner;
        inner.stopping.send_replace(true);
        inner.queue.close();
        let mut tasks = std::mem::take(&mut *super::lookup::lock(&inner.tasks));
        let late = Instant::now() + STOP_MAX;
        while let Ok(Some(ended)) = tokio::time::timeout_at(late, tasks.join_next()).await {
            if let Err(error) = ended {
                tracing::error!(%error, "a background task had panicked");
            }
        }
        // A job whose model takes its time is done by whoever has the folder next.
        tasks.shutdown().await;
        inner.profiles.sleep_all().await;
        inner.threads.sleep_all().await;
        inner.registries.sleep_all().await;
        inner.notebooks.sleep_all().await;
        inner.notes.sleep_all().await;
        let in_use = &inner.environment.in_use;
        if tokio::time::timeout(STOP_MAX, in_use.ended()).await.is_err() {
            tracing::warn!("the folder stays in use until what is still read of it has been read");
        }
        let inner = Arc::clone(inner);
        let closed = crate::blocking::run(move || {
            // While the log still takes the vectors that were just made.
            if let Some(embed) = inner.registry.embed() {
                embed.close();
            }
            inner.environment.log.close();
            inner.listeners.set(None);
            inner.projector.close();
        });
        if let Err(error) = closed.await {
            tracing::error!(%error, "closing the log panicked");
        }
    }
}

fn log_options(options: &Options, listeners: &Arc<Listeners>) -> open::Options {
    let told = Arc::clone(listeners);
    open::Options {
        vault_dir: options.vault_dir.clone(),
        on_commit: Some(Arc::new(move |notice| told.tell(notice))),
        ..open::Options::new(&options.data_dir)
    }
}

fn not_opened(path: PathBuf, error: open::Error) -> StartError {
    match error {
        open::Error::InUse { .. } => StartError::InUse(path),
        other => StartError::Log { path, reason: other.to_string() },
    }
}

async fn open_log(options: &Options, listeners: &Arc<Listeners>) -> Result<Log, StartError> {
    let path = options.data_dir.clone();
    let late = Instant::now() + RELEASE_WAIT_MAX;
    loop {
        let log_options = log_options(options, listeners);
        let opened = crate::blocking::run(move || Log::open(log_options)).await;
        let opened = opened.map_err(|error| StartError::Log { path: path.clone(), reason: error.to_string() })?;
        match opened {
            Ok(log) => return Ok(log),
            Err(open::Error::InUse { .. }) if Instant::now() < late => tokio::time::sleep(RELEASE_LOOK_EVERY).await,
            Err(error) => return Err(not_opened(path, error)),
        }
    }
}

/// How long jobs of this process may take to finish when it stops.
const STOP_MAX: Duration = Duration::from_secs(10);
/// How long a folder in use is waited for: whoever was stopped just now, in this process or another, may still be reading a
/// last page of it.
const RELEASE_WAIT_MAX: Duration = Duration::from_secs(2);
/// How often it is tried.
const RELEASE_LOOK_EVERY: Duration = Duration::from_millis(20);

impl System {
    fn start_tasks(&self, outbox: Outbox, local: &LocalQueue, workers: usize) {
        let inner = &self.inner;
        let mut tasks = super::lookup::lock(&inner.tasks);
        let (head, mut stopping) = (inner.head.subscribe(), inner.stopping.subscribe());
        tasks.spawn(async move {
            tokio::select! {
                biased;
                () = outbox.run(head) => {}
                _ = stopping.wait_for(|stopping| *stopping) => {}
            }
        });
        let worker = Worker {
            source: Arc::new(local.clone()),
            desk: Arc::new(self.clone()),
            extractor: Arc::clone(&inner.extractor),
            narrator: inner.narrator.clone(),
        };
        for _ in 0..workers {
            tasks.spawn(worker.clone().run());
        }
        tasks.spawn(keeper::run(Arc::clone(inner)));
        tasks.spawn(catch_up::run(Arc::clone(inner)));
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use super::*;
    use crate::{
        api::{
            profile::Search,
            thread::{AddMessages, Content, Create, ExtractionSettings, NewMessage, Settings},
        },
        bench::{PROFILE, context, options},
        limits::{INGEST_MESSAGES_MAX, Limits},
    };

    const MESSAGES: usize = 10_000;

    fn said(from: usize, count: usize) -> AddMessages {
        let message = |n: usize| NewMessage {
            role: "user".to_owned(),
            content: Content::Text(format!("Number {n} of many")),
            ..NewMessage::default()
        };
        let (profile, thread_id) = (PROFILE.to_owned(), "talk".to_owned());
        let messages = (from..from + count).map(message).collect();
        AddMessages { profile, thread_id, messages, ..AddMessages::default() }
    }

    /// A caller who goes away after so many looks.
    async fn left(call: impl Future, looks: usize) {
        let mut call = pin!(call);
        for _ in 0..looks {
            tokio::select! {
                biased;
                _ = &mut call => return,
                () = tokio::task::yield_now() => {}
            }
        }
    }

    // Views and streams are loaded apart, and go on being loaded when whoever asked is gone. Whoever opens the folder next must not have
    // to try again.
    #[tokio::test(flavor = "multi_thread")]
    async fn the_folder_is_free_when_it_has_stopped() {
        let folder = tempfile::tempdir().expect("a folder");
        // Streams are read from their beginning.
        let limits = Limits { snapshot_every_events: u64::MAX, ..Limits::default() };
        let start = || System::start(Options { limits: limits.clone(), ..options(folder.path(), None) });
        let system = start().await.expect("started");
        let off = ExtractionSettings { enabled: Some(false), ..ExtractionSettings::default() };
        let settings = Some(Settings { extraction: Some(off), ..Settings::default() });
        let (profile, thread_id) = (PROFILE.to_owned(), Some("talk".to_owned()));
        let create = Create { profile, thread_id, settings, ..Create::default() };
        system.thread_create(&context(), create).await.expect("created");
        for from in (0..MESSAGES).step_by(INGEST_MESSAGES_MAX) {
            system.thread_add_messages(&context(), said(from, INGEST_MESSAGES_MAX)).await.expect("said");
        }
        system.stop().await;
        drop(system);
        for looks in 1..20 {
            let system = start().await.expect("started");
            if looks % 2 == 0 {
                let search = Search { profile: PROFILE.to_owned(), query: "many".to_owned(), ..Search::default() };
                left(system.profile_search(&context(), search), looks).await;
            } else {
                left(system.thread_add_messages(&context(), said(0, 1)), looks).await;
            }
            system.stop().await;
            drop(system);
            let log = Log::open(open::Options::new(folder.path())).unwrap_or_else(|error| panic!("{looks}: {error}"));
            log.close();
        }
    }
}
