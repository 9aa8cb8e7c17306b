//! `memlog serve`: the API over NATS until SIGTERM or SIGINT.

use std::path::PathBuf;

use tracing_subscriber::{EnvFilter, fmt};

use super::{Outcome, backend, backend::Model, fail::Fail, screen::Screen, settings::Settings};
use crate::{
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
    /// What to write to stderr, e.g. info or memlog=debug,warn
    #[arg(
        long,
        value_name = "FILTER",
        default_value = "info,async_nats=warn",
        env = "MEMLOG_LOG",
        hide_env_values = true
    )]
    log: String,
}

impl Args {
    pub(super) async fn run(self, settings: Settings, screen: Screen) -> Result<Outcome, Fail> {
        let filter = EnvFilter::try_new(&self.log)
            .map_err(|error| Fail::Usage(format!("--log {}: {error}; it looks like info,memlog=debug", self.log)))?;
        let logs = fmt().with_writer(std::io::stderr).with_ansi(screen.colours_stderr()).with_env_filter(filter);
        // Lines for machines where they were asked for.
        let begun = if screen.is_json() { logs.json().try_init() } else { logs.with_target(false).try_init() };
        if let Err(error) = begun {
            screen.note(&format!("no logs: {error}"));
        }
        let nats = match &settings.nats_named {
            Some(running) => Nats::Running(running.clone()),
            None => Nats::Own(server::Options {
                binary: self.nats_server,
                port: self.port,
                ..server::Options::new(&settings.data)
            }),
        };
        let system = backend::options(&settings, &screen, Model::Used)?;
        serve::serve(serve::Options { system, nats }).await.map_err(|error| match error {
            serve::Error::System(error) => Fail::Start(error),
            other => Fail::Unserved(other.to_string()),
        })?;
        Ok(Outcome::Done)
    }
}
