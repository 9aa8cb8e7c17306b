//! What long-running commands write to stderr.

#[cfg(feature = "otlp")]
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::{EnvFilter, fmt, util::SubscriberInitExt as _};

#[cfg(feature = "otlp")]
use super::otlp::Spans;
use super::{fail::Fail, screen::Screen};

/// Where spans go, by OpenTelemetry's own variables; the first that is set.
const COLLECTORS: [&str; 2] = ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"];

/// Dropped at the end, so that what is left to be told is told.
#[derive(Debug)]
pub(super) struct Told {
    #[cfg(feature = "otlp")]
    _spans: Option<Spans>,
}

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
    /// From now on it is written, and spans go to the collector that the environment names.
    pub(super) fn begin(&self, screen: &Screen) -> Result<Told, Fail> {
        let filter = EnvFilter::try_new(&self.log)
            .map_err(|error| Fail::Usage(format!("--log {}: {error}; it looks like info,memlog=debug", self.log)))?;
        let logs = fmt().with_writer(std::io::stderr).with_ansi(screen.colours_stderr()).with_env_filter(filter);
        let collector = COLLECTORS.iter().find_map(|name| std::env::var(name).ok()).filter(|url| !url.is_empty());
        #[cfg(feature = "otlp")]
        let spans = collector.map(|url| Spans::to(&url)).transpose().map_err(Fail::Usage)?;
        #[cfg(not(feature = "otlp"))]
        if collector.is_some() {
            screen.note("spans are not exported: this memlog was built without --features otlp");
        }
        // Lines for machines where they were asked for.
        let begun = if screen.is_json() {
            let logs = logs.json().finish();
            #[cfg(feature = "otlp")]
            let logs = logs.with(spans.as_ref().map(Spans::layer));
            logs.try_init()
        } else {
            let logs = logs.with_target(false).finish();
            #[cfg(feature = "otlp")]
            let logs = logs.with(spans.as_ref().map(Spans::layer));
            logs.try_init()
        };
        if let Err(error) = begun {
            screen.note(&format!("no logs: {error}"));
        }
        Ok(Told {
            #[cfg(feature = "otlp")]
            _spans: spans,
        })
    }
}
