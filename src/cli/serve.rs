//! `memlog serve`: the API over NATS until SIGTERM or SIGINT.

use std::{net::SocketAddr, path::PathBuf};

use super::{Outcome, backend, backend::Model, fail::Fail, screen::Screen, settings::Settings, tell::Log, words};
use crate::{
    jobs::PARALLEL_MAX,
    nats::server,
    serve::{self, Nats},
};

/// How. With --nats on that server; otherwise memlog brings a nats-server along, its files in the data folder.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The nats-server to bring along [default: from PATH or where deploy/fetch-nats-server puts it]
    #[arg(long, value_name = "FILE", env = "MEMLOG_NATS_SERVER", hide_env_values = true)]
    nats_server: Option<PathBuf>,
    /// The port on 127.0.0.1 of the nats-server brought along; 0 takes a free one
    #[arg(long, default_value_t = 4222, env = "MEMLOG_NATS_PORT", hide_env_values = true)]
    port: u16,
    /// Extraction jobs at once in this process; 0 leaves them to memlog worker [default: limits.workers of the
    /// configuration file, else 1]
    #[arg(long, value_name = "N", env = "MEMLOG_WORKERS", hide_env_values = true, value_parser = words::parallel)]
    workers: Option<usize>,
    /// Copies of the queue of jobs in a cluster of NATS servers
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=5))]
    queue_replicas: u8,
    /// Where operators look in over HTTP: /healthz, /readyz and /metrics, e.g. 127.0.0.1:8223. Whoever reaches it may read it
    #[arg(long, value_name = "ADDR:PORT", env = "MEMLOG_OPS", hide_env_values = true)]
    ops: Option<SocketAddr>,
    #[command(flatten)]
    log: Log,
}

impl Args {
    pub(super) async fn run(self, settings: Settings, screen: Screen) -> Result<Outcome, Fail> {
        let _told = self.log.begin(&screen)?;
        let nats = match &settings.nats_named {
            Some(running) => Nats::Running(running.clone()),
            None => Nats::Own(server::Options {
                binary: self.nats_server,
                port: self.port,
                ..server::Options::new(&settings.data)
            }),
        };
        let system = backend::options(&settings, &screen, Model::Used)?;
        let workers = self.workers.unwrap_or(system.limits.workers);
        if workers > PARALLEL_MAX {
            return Err(Fail::Usage(format!("limits.workers must be at most {PARALLEL_MAX}")));
        }
        let options = serve::Options { system, nats, workers, replicas: self.queue_replicas.into() };
        serve::serve(options, self.ops).await.map_err(|error| match error {
            serve::Error::System(error) => Fail::Start(error),
            other => Fail::Unserved(other.to_string()),
        })?;
        Ok(Outcome::Done)
    }
}
