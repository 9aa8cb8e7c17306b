//! The way to a running server for whoever may read its data folder: a socket in that folder, for its owner alone.
//!
//! Copies of the log and its vault are made by the process that holds them, and no NATS client, of whatever tenant, should be able
//! to ask for one. So this is no verb of the API. One JSON line comes in, one goes out.

use std::{
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use memlog_actors::system::{Copied, System};
use serde::{Deserialize, Serialize};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::{UnixListener, UnixStream},
    sync::watch,
    task::{JoinHandle, JoinSet},
    time::timeout,
};

/// The socket's name in the data folder.
const SOCKET: &str = "control.sock";
/// A request: two paths, or a head.
const REQUEST_BYTES_MAX: u64 = 64 * 1024;
/// How long a request may take to arrive.
const ASK_MAX: Duration = Duration::from_secs(10);
/// Requests under way; more wait in the system's own queue.
const REQUESTS_MAX: usize = 4;
/// The pause after the system gave no connection.
const AGAIN: Duration = Duration::from_millis(100);

/// A position and the commit chain's hash there, in hex.
pub type Head = memlog_actors::api::audit::Head;

/// What is asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Request {
    /// A copy of log and vault into two folders, which may be the same, by absolute paths.
    Backup {
        /// The log's.
        dir: PathBuf,
        /// The vault's.
        vault: PathBuf,
    },
    /// What was forgotten after a head, as the lines of a list.
    Erasures {
        /// The head.
        after: Head,
    },
}

/// What is answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// The copy.
    Backup(Copied),
    /// The list.
    Erasures(String),
    /// Why not.
    Refused(String),
}

/// The open socket. Dropped, it answers no more.
#[derive(Debug)]
pub struct Control {
    path: PathBuf,
    closing: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl Control {
    /// Opens it in the data folder, which `system` holds, so that one found there is left over from a process that is gone.
    pub fn open(data: &Path, system: System) -> io::Result<Self> {
        let path = data.join(SOCKET);
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let listener = UnixListener::bind(&path)?;
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
        let (closing, closed) = watch::channel(false);
        let task = tokio::spawn(listen(listener, system, closed));
        Ok(Self { path, closing, task })
    }

    /// Answers what was asked, and removes the socket.
    pub async fn close(self) {
        self.closing.send_replace(true);
        if let Err(error) = self.task.await {
            tracing::warn!(%error, "the control socket had failed");
        }
        if let Err(error) = std::fs::remove_file(&self.path) {
            tracing::debug!(%error, "the control socket was gone before");
        }
    }
}

async fn listen(listener: UnixListener, system: System, mut closed: watch::Receiver<bool>) {
    let mut under_way = JoinSet::new();
    loop {
        let connection = tokio::select! {
            biased;
            _ = closed.wait_for(|closed| *closed) => break,
            Some(_) = under_way.join_next() => continue,
            connection = listener.accept(), if under_way.len() < REQUESTS_MAX => connection,
        };
        match connection {
            Ok((stream, _)) => {
                let system = system.clone();
                under_way.spawn(async move {
                    if let Err(error) = converse(stream, system).await {
                        tracing::debug!(%error, "a question on the control socket broke off");
                    }
                });
            }
            Err(error) => {
                tracing::warn!(%error, "the control socket takes no connection");
                tokio::time::sleep(AGAIN).await;
            }
        }
    }
    while under_way.join_next().await.is_some() {}
}

async fn converse(stream: UnixStream, system: System) -> io::Result<()> {
    let (from, mut to) = stream.into_split();
    let mut line = String::new();
    let read = BufReader::new(from.take(REQUEST_BYTES_MAX));
    timeout(ASK_MAX, { read }.read_line(&mut line)).await??;
    let answer = match serde_json::from_str(&line) {
        Ok(request) => answer(&system, request).await,
        Err(error) => Answer::Refused(format!("command and server may be of different versions: {error}")),
    };
    let mut line = serde_json::to_vec(&answer).map_err(io::Error::other)?;
    line.push(b'\n');
    to.write_all(&line).await
}

async fn answer(system: &System, request: Request) -> Answer {
    let answered = match request {
        Request::Backup { dir, vault } => system.backup(dir, vault).await.map(Answer::Backup),
        Request::Erasures { after } => system.erasures(after).await.map(Answer::Erasures),
    };
    answered.unwrap_or_else(Answer::Refused)
}

/// Asks the server that has the data folder; `None` if none answers there.
pub async fn ask(data: &Path, request: &Request) -> io::Result<Option<Answer>> {
    let mut stream = match UnixStream::connect(data.join(SOCKET)).await {
        Ok(stream) => stream,
        // The last is a path that is too long for a socket: no server can have opened one there.
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused | io::ErrorKind::InvalidInput
            ) =>
        {
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    let mut line = serde_json::to_vec(request).map_err(io::Error::other)?;
    line.push(b'\n');
    stream.write_all(&line).await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    serde_json::from_str(&answer).map(Some).map_err(|_| io::Error::other("the server ended before it had answered"))
}
