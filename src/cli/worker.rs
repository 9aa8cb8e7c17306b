//! `memlog worker`: takes extraction jobs from a server's queue until SIGTERM or SIGINT. It keeps nothing, so any number may run,
//! on any host.

use std::{
    net::SocketAddr,
    num::NonZeroUsize,
    time::{Duration, Instant},
};

use super::{Outcome, fail::Fail, screen::Screen, settings::Settings, tell::Log, words};
use crate::{
    jobs::Workers,
    llm,
    ops::WorkerProcess,
    serve::open_ops,
    signals::{Signals, another},
};

/// How long jobs under way may take to finish after the first signal.
const CLOSE_MAX: Duration = Duration::from_secs(30);
const EXAMPLES: &str = "\
A worker needs the NATS server of `memlog serve` and nothing else: no data folder, no vault, no embedding model. It extracts
with a language model where MEMLOG_LLM_URL and MEMLOG_LLM_MODEL (and MEMLOG_LLM_KEY) name one.
On the host of the server:   memlog serve --workers 0 --nats nats://nats.example:4222
On any number of others:     memlog worker --nats nats://nats.example:4222 --parallel 8

It may be killed at any time: a job that it had is done by another one some 30 seconds later.
`memlog jobs watch --nats URL` shows jobs as they are done. deploy/tenants.conf has the permissions that a worker needs.";

/// Which server, and how many at once.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Jobs at once; with a language model several a core, since they wait for it [default: one a core]
    #[arg(long, value_name = "N", env = "MEMLOG_PARALLEL", hide_env_values = true, value_parser = words::parallel)]
    parallel: Option<usize>,
    /// Where operators look in over HTTP: /healthz, /readyz and /metrics, e.g. 127.0.0.1:8224. Whoever reaches it may read it
    #[arg(long, value_name = "ADDR:PORT", env = "MEMLOG_OPS", hide_env_values = true)]
    ops: Option<SocketAddr>,
    #[command(flatten)]
    log: Log,
}

impl Args {
    pub(super) async fn run(self, settings: Settings, screen: Screen) -> Result<Outcome, Fail> {
        let parallel =
            self.parallel.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, NonZeroUsize::get));
        if parallel == 0 {
            return Err(Fail::Usage("--parallel must be at least 1: a worker works".to_owned()));
        }
        let Some(server) = &settings.nats_named else {
            return Err(Fail::Usage("name the NATS server of memlog serve: --nats URL, or MEMLOG_NATS".to_owned()));
        };
        let (extractor, narrator) = llm::build(&settings.llm).map_err(|invalid| Fail::Usage(invalid.to_string()))?;
        let _told = self.log.begin(&screen)?;
        let cannot = |reason: String| Fail::Unserved(reason);
        let mut signals = Signals::listen().map_err(|error| cannot(format!("signals cannot be heard: {error}")))?;
        let ops = open_ops(self.ops).await.map_err(|error| cannot(error.to_string()))?;
        let workers = tokio::select! {
            workers = Workers::start(server, parallel, extractor, narrator) => workers,
            () = signals.next() => return Ok(Outcome::Done),
        };
        let workers = workers.map_err(|error| cannot(error.to_string()))?;
        anstream::println!("memlog worker takes jobs at {}, {parallel} at once", server.shown());
        if let Some(ops) = &ops {
            ops.watch(WorkerProcess(workers.watch()));
            anstream::println!("health and metrics are at http://{}", ops.address());
        }
        signals.next().await;
        if let Some(ops) = &ops {
            ops.closing();
        }
        let first = Instant::now();
        tracing::info!("closing; a second signal ends it at once, and other workers get what it had");
        tokio::select! {
            () = workers.close(CLOSE_MAX) => tracing::info!("closed"),
            () = another(first, async || signals.next().await) => {}
        }
        if let Some(ops) = ops {
            ops.close().await;
        }
        Ok(Outcome::Done)
    }
}
