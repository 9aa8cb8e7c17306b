//! What long-running commands write to stderr.

use tracing_subscriber::{EnvFilter, fmt};

use super::{fail::Fail, screen::Screen};

/// Which of it.
#[derive(Debug, clap::Args)]
pub(super) struct Log {
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

impl Log {
    /// From now on it is written.
    pub(super) fn begin(&self, screen: &Screen) -> Result<(), Fail> {
        let filter = EnvFilter::try_new(&self.log)
            .map_err(|error| Fail::Usage(format!("--log {}: {error}; it looks like info,memlog=debug", self.log)))?;
        let logs = fmt().with_writer(std::io::stderr).with_ansi(screen.colours_stderr()).with_env_filter(filter);
        // Lines for machines where they were asked for.
        let begun = if screen.is_json() { logs.json().try_init() } else { logs.with_target(false).try_init() };
        if let Err(error) = begun {
            screen.note(&format!("no logs: {error}"));
        }
        Ok(())
    }
}
