//! The nats-server that `memlog serve` brings along when no `--nats URL` is given: a child process on the loopback
//! address, with JetStream in the data folder, restarted when it dies and ended with memlog. Knows nothing of subjects
//! or messages; the door connects to [`NatsServer::url`] as to any other server.

mod binary;
mod config;
mod process;

use std::fs::{File, TryLockError};
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;

use config::Folder;
use process::Launch;

pub use binary::{BINARY_VARIABLE, VERSION_MIN, Version, cached, find};
pub use config::PAYLOAD_BYTES_MAX;

/// How long a start may take until the server accepts connections; a large JetStream store is read first.
pub const START_MAX: Duration = Duration::from_secs(30);
/// How long a server may take to end by itself before it is killed.
pub const STOP_MAX: Duration = Duration::from_secs(10);
/// The first pause before a dead server is started again; it doubles with each further death.
pub const RESTART_PAUSE_MIN: Duration = Duration::from_millis(100);
/// The longest pause between two starts.
pub const RESTART_PAUSE_MAX: Duration = Duration::from_secs(5);
/// A server that ran this long was healthy, and its next restart starts with the shortest pause again.
pub const STEADY_MIN: Duration = Duration::from_secs(30);

/// Why there is no server, and what to do about it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Neither `PATH` nor the cache folder has one.
    #[error(
        "no nats-server found: run deploy/fetch-nats-server, install one (macOS: brew install nats-server; elsewhere: \
         https://github.com/nats-io/nats-server/releases), or give --nats URL of a running one"
    )]
    NotFound,
    /// The binary that was asked for by name is absent.
    #[error("{named_by} names {path}, where no file is: correct it, or leave it out to search PATH and the cache")]
    NamedMissing {
        /// What was named.
        path: PathBuf,
        /// The flag or variable that named it.
        named_by: &'static str,
    },
    /// The server is older than [`VERSION_MIN`].
    #[error(
        "{path} is nats-server {found}, memlog needs {VERSION_MIN} or newer: run deploy/fetch-nats-server, or name a \
         newer one with --nats-server or {BINARY_VARIABLE}"
    )]
    TooOld {
        /// The binary asked.
        path: PathBuf,
        /// What it answered.
        found: Version,
    },
    /// The program's `--version` is not a nats-server's.
    #[error(
        "{path} does not answer --version as nats-server does: name another one with --nats-server or {BINARY_VARIABLE}"
    )]
    NotNats {
        /// The binary asked.
        path: PathBuf,
    },
    /// The program cannot be run at all.
    #[error("{path} cannot be run: {source}")]
    Run {
        /// The binary tried.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The server's folder inside the data folder cannot be used.
    #[error("the folder {path} cannot be used: {source}")]
    Folder {
        /// The folder.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// Another memlog runs a server there.
    #[error("{path} belongs to a running memlog: stop that one first, or use another --data folder")]
    InUse {
        /// The folder.
        path: PathBuf,
    },
    /// Somebody listens where the server should.
    #[error(
        "port {port} of 127.0.0.1 is taken: give another one with --port N (0 takes a free one), or --nats URL of the \
         server that runs there"
    )]
    PortTaken {
        /// The port asked for.
        port: u16,
    },
    /// The server ended before it accepted connections.
    #[error("nats-server ended at its start with {status}; its last words: {said}")]
    Ended {
        /// How it ended.
        status: std::process::ExitStatus,
        /// The last line that it wrote.
        said: String,
    },
    /// The server runs, but accepts nothing.
    #[error("nats-server did not accept connections within {} s; see {log}", START_MAX.as_secs())]
    NotReady {
        /// Where it may have said why.
        log: PathBuf,
    },
}

/// How a server is started.
#[derive(Debug, Clone)]
pub struct Options {
    /// memlog's data folder; the server gets `nats/` inside it.
    pub data: PathBuf,
    /// The binary to run; none searches for one, see [`find`].
    pub binary: Option<PathBuf>,
    /// The port on the loopback address; 0 lets the server choose one, which it keeps over restarts.
    pub port: u16,
}

impl Options {
    /// A server found on this machine, on a port of its choice.
    pub fn new(data: impl Into<PathBuf>) -> Self {
        Self { data: data.into(), binary: None, port: 0 }
    }
}

/// What the supervised child is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Status {
    /// The process that accepts connections; none while it is down.
    pub pid: Option<u32>,
    /// How often it was started again.
    pub restarts: u32,
}

/// A running, supervised nats-server. Dropping it ends the server too, but waits for nothing.
#[derive(Debug)]
pub struct NatsServer {
    url: String,
    status: watch::Receiver<Status>,
    stop: oneshot::Sender<()>,
    supervisor: JoinHandle<()>,
}

impl NatsServer {
    /// Starts a server and returns when it accepts connections. A server left over from a killed memlog on the same
    /// data folder is ended first.
    pub async fn start(options: Options) -> Result<Self, Error> {
        let binary = find(options.binary.as_deref()).await?;
        let path = options.data.join("nats");
        let failed = |source| Error::Folder { path: path.clone(), source };
        std::fs::create_dir_all(&path).map_err(failed)?;
        // nats-server needs full paths: its working directory is not promised to be memlog's.
        let folder = Folder(path.canonicalize().map_err(failed)?);
        let lock = take_lock(&folder)?;
        process::end_left_over(&folder).await;
        let mut launch = Launch { binary, folder, port: options.port, _lock: lock };
        let child = launch.start().await?;

        let (status_out, status) = watch::channel(Status { pid: child.id(), restarts: 0 });
        let (stop, stop_in) = oneshot::channel();
        let url = format!("nats://127.0.0.1:{}", launch.port);
        let supervisor = tokio::spawn(process::supervise(launch, child, status_out, stop_in));
        Ok(Self { url, status, stop, supervisor })
    }

    /// Where clients on this machine connect; the same for the server's whole life.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The child's state, to look at or to wait on.
    pub fn status(&self) -> watch::Receiver<Status> {
        self.status.clone()
    }

    /// Asks the server to end, and kills it after [`STOP_MAX`]; returns when it is gone.
    pub async fn stop(self) {
        // Both fail only when the supervisor has ended already, and the child with it.
        drop(self.stop);
        if let Err(error) = self.supervisor.await {
            tracing::warn!(%error, "the supervisor of nats-server had failed");
        }
    }
}

fn take_lock(folder: &Folder) -> Result<File, Error> {
    let failed = |source| Error::Folder { path: folder.0.clone(), source };
    let file = File::create(folder.lock()).map_err(failed)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(Error::InUse { path: folder.0.clone() }),
        Err(TryLockError::Error(source)) => Err(failed(source)),
    }
}

#[cfg(test)]
mod tests;
