//! Workers that take jobs through NATS: inside `memlog serve`, and all that `memlog worker` is.

use std::{sync::Arc, time::Duration};

use async_nats::{Client, connection::State};
use memlog_actors::{
    jobs::Worker,
    port::{Extractor, Narrator},
};
use tokio::{
    sync::watch,
    task::JoinSet,
    time::{Instant, timeout_at},
};

use super::{
    counted::{CountedSource, Counts, WorkersLoad},
    remote,
};
use crate::door::{
    self,
    connect::{self, Link},
};

/// Jobs at once in one process. What waits for a model needs no core, but each holds its texts in memory.
pub const PARALLEL_MAX: usize = 256;
/// How long the queue may take to be told of the last results.
const FLUSH_MAX: Duration = Duration::from_secs(5);

/// Running workers.
#[derive(Debug)]
pub struct Workers {
    closing: watch::Sender<bool>,
    running: JoinSet<()>,
    link: Link,
    watch: WorkersWatch,
}

/// What can be seen of workers from outside.
#[derive(Clone, Debug)]
pub struct WorkersWatch {
    client: Client,
    counts: Arc<Counts>,
    parallel: usize,
}

impl WorkersWatch {
    /// Whether the connection to the NATS server stands now.
    pub fn connected(&self) -> bool {
        self.client.connection_state() == State::Connected
    }

    /// What they do.
    pub fn load(&self) -> WorkersLoad {
        self.counts.load(self.parallel)
    }
}

impl Workers {
    /// `parallel` jobs at once, on one connection.
    pub async fn start(
        options: &connect::Options,
        parallel: usize,
        extractor: Arc<dyn Extractor>,
        narrator: Option<Arc<dyn Narrator>>,
    ) -> Result<Self, door::Error> {
        let link = connect::connect(options, Arc::default()).await?;
        let (closing, closed) = watch::channel(false);
        let (source, desk) = remote::both(&link.client, closed);
        let counts = Counts::new();
        let source = Arc::new(CountedSource { inner: source, counts: Arc::clone(&counts) });
        let worker = Worker { source, desk, extractor, narrator };
        let mut running = JoinSet::new();
        let parallel = parallel.min(PARALLEL_MAX);
        for _ in 0..parallel {
            running.spawn(worker.clone().run());
        }
        let watch = WorkersWatch { client: link.client.clone(), counts, parallel };
        Ok(Self { closing, running, link, watch })
    }

    /// What can be seen of them from outside.
    pub fn watch(&self) -> WorkersWatch {
        self.watch.clone()
    }

    /// Takes no more jobs and finishes those taken until `deadline` is over. What is not finished is delivered to others.
    pub async fn close(mut self, deadline: Duration) {
        self.closing.send_replace(true);
        let late = Instant::now() + deadline;
        while let Ok(Some(ended)) = timeout_at(late, self.running.join_next()).await {
            if let Err(error) = ended {
                tracing::error!(%error, "a worker had panicked");
            }
        }
        if !self.running.is_empty() {
            tracing::warn!(jobs = self.running.len(), "jobs were not finished in time; other workers get them");
        }
        match tokio::time::timeout(FLUSH_MAX, self.link.client.flush()).await {
            Ok(Ok(())) => {}
            _ => tracing::warn!("the queue may not have been told of the last results; they are stored"),
        }
    }
}
