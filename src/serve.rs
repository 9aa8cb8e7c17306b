//! `memlog serve`: the system, a NATS server if none is given, the doors, the feed and the workers; then until a signal, and
//! all of it closed in order so that nothing that was accepted is lost.

use std::{
    io,
    net::SocketAddr,
    path::PathBuf,
    pin::pin,
    sync::Arc,
    time::{Duration, Instant},
};

use memlog_actors::system::{self, StartError, System};
use tokio::task::JoinHandle;

use crate::{
    control::Control,
    door::{self, NatsDoor, connect, feed::Follower},
    jobs::{DeskDoor, JetQueue, Workers},
    nats::server::{self, NatsServer},
    ops::{Node, Ops},
    signals::{Signals, another},
};

/// How long calls under way may take to finish after the first signal.
pub const CLOSE_MAX: Duration = Duration::from_secs(30);
/// How long extraction under way may take to finish; what is not finished goes to other workers, or is done after the restart.
const WORKERS_CLOSE_MAX: Duration = Duration::from_secs(10);
/// A part of the close that takes longer is told of, so that nobody takes the process for stuck.
const CLOSE_QUIET_MAX: Duration = Duration::from_secs(2);

/// The NATS server to use.
pub enum Nats {
    /// One that runs already.
    Running(connect::Options),
    /// One that memlog brings along.
    Own(server::Options),
}

/// What is served, and where.
pub struct Options {
    /// The system.
    pub system: system::Options,
    /// The NATS server.
    pub nats: Nats,
    /// Extraction jobs at once in this process; none leaves them to `memlog worker`.
    pub workers: usize,
    /// Copies of the queue of jobs in a cluster of NATS servers.
    pub replicas: usize,
}

/// Why memlog does not serve.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The log, the vault or the views.
    #[error(transparent)]
    System(#[from] StartError),
    /// No NATS server.
    #[error(transparent)]
    Server(#[from] server::Error),
    /// No way through the one there is.
    #[error(transparent)]
    Door(#[from] door::Error),
    /// The port of operators.
    #[error("--ops {address} cannot be listened at: {source}")]
    Ops {
        /// Where.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
    /// The process cannot be told to stop.
    #[error("signals cannot be heard: {0}")]
    Signals(#[from] io::Error),
}

/// Everything that serves, in the order in which it was opened.
pub struct Serving {
    own: Option<NatsServer>,
    system: System,
    door: NatsDoor,
    feed: Follower,
    work: Work,
    url: String,
    data: PathBuf,
}

/// All that has to do with extraction.
struct Work {
    desk: DeskDoor,
    workers: Workers,
    /// Ends when the system closes its queue.
    pump: JoinHandle<()>,
}

impl Serving {
    /// Opens all; when one part fails, those before it are closed again.
    pub async fn open(mut options: Options) -> Result<Self, Error> {
        let data = options.system.data_dir.clone();
        let queue = JetQueue::default();
        options.system.queue = Some(Arc::new(queue.clone()));
        let (extractor, narrator) = (Arc::clone(&options.system.extractor), options.system.narrator.clone());
        let system = System::start(options.system).await?;
        let (own, connection) = match options.nats {
            Nats::Running(connection) => (None, connection),
            Nats::Own(server) => match NatsServer::start(server).await {
                Ok(own) => {
                    let connection = connect::Options::url(own.url());
                    (Some(own), connection)
                }
                Err(error) => {
                    system.stop().await;
                    return Err(error.into());
                }
            },
        };
        let url = connection.shown();
        let opened = async {
            let (door, feed) = open_doors(&system, connection.clone()).await?;
            let desk = DeskDoor::open(system.clone(), connection.clone()).await?;
            let workers = Workers::start(&connection, options.workers, extractor, narrator).await?;
            let pump = queue.serve(connection, options.replicas).await?;
            Ok::<_, door::Error>((door, feed, Work { desk, workers, pump }))
        };
        match opened.await {
            Ok((door, feed, work)) => Ok(Self { own, system, door, feed, work, url, data }),
            Err(error) => {
                system.stop().await;
                if let Some(own) = own {
                    own.stop().await;
                }
                Err(error.into())
            }
        }
    }

    /// Where clients connect, without passwords.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The system behind the door.
    pub fn system(&self) -> &System {
        &self.system
    }

    /// What operators can see of it.
    pub fn node(&self) -> Node {
        let (door, workers) = (self.door.watch(), self.work.workers.watch());
        Node { system: self.system.clone(), door, workers }
    }

    /// Closes in order: no new calls, the last events, the log, the server.
    pub async fn close(self, deadline: Duration) {
        told("calls under way", self.door.close(deadline)).await;
        let Work { desk, workers, pump } = self.work;
        told("extraction under way", workers.close(WORKERS_CLOSE_MAX)).await;
        told("the last results of workers", desk.close()).await;
        told("the change feed to tell the last events", self.feed.close()).await;
        told("the log and the views to be written", self.system.stop()).await;
        if let Err(error) = pump.await {
            tracing::error!(%error, "the queue of jobs had failed");
        }
        if let Some(own) = self.own {
            told("nats-server to end", own.stop()).await;
        }
    }
}

/// Waits, and says once for what when it takes long.
async fn told(what: &str, work: impl Future) {
    let mut work = pin!(work);
    if tokio::time::timeout(CLOSE_QUIET_MAX, &mut work).await.is_err() {
        tracing::info!("closing waits for {what}");
        work.await;
    }
}

async fn open_doors(system: &System, connection: connect::Options) -> Result<(NatsDoor, Follower), door::Error> {
    let feed = Follower::open(system, connection.clone()).await?;
    match NatsDoor::open(system.clone(), connection).await {
        Ok(door) => Ok((door, feed)),
        Err(error) => {
            feed.close().await;
            Err(error)
        }
    }
}

/// Serves until SIGTERM or SIGINT; a second signal ends it at once, with no loss but the replies still under way. Operators look
/// in at `ops`, if that is given.
pub async fn serve(options: Options, ops: Option<SocketAddr>) -> Result<(), Error> {
    let mut signals = Signals::listen()?;
    let ops = open_ops(ops).await?;
    let serving = tokio::select! {
        serving = Serving::open(options) => serving?,
        () = signals.next() => return Ok(()),
    };
    let health = serving.system().health();
    let model = health.model.as_deref().unwrap_or("none, so searches are by keyword");
    anstream::println!("memlog serves {} at {} (model: {model})", serving.data.display(), serving.url());
    let control = open_control(&serving);
    if let Some(ops) = &ops {
        ops.watch(serving.node());
        anstream::println!("health and metrics are at http://{}", ops.address());
    }
    signals.next().await;
    if let Some(ops) = &ops {
        ops.closing();
    }
    let first = Instant::now();
    tracing::info!("closing; a second signal ends it at once");
    let closing = async {
        serving.close(CLOSE_MAX).await;
        // With the log closed, a backup under way gives up and removes what it has written.
        if let Some(control) = control {
            told("a backup to be given up", control.close()).await;
        }
    };
    tokio::select! {
        () = closing => tracing::info!("closed"),
        () = another(first, async || signals.next().await) => tracing::warn!("ended at once; the log is whole, replies under way were not sent"),
    }
    if let Some(ops) = ops {
        ops.close().await;
    }
    Ok(())
}

/// Without it everything is served all the same.
fn open_control(serving: &Serving) -> Option<Control> {
    match Control::open(&serving.data, serving.system.clone()) {
        Ok(control) => Some(control),
        Err(error) => {
            tracing::warn!(%error, "no control socket in the data folder: memlog backup needs this server to be stopped");
            None
        }
    }
}

/// The port of operators, if there is to be one.
pub(crate) async fn open_ops(address: Option<SocketAddr>) -> Result<Option<Ops>, Error> {
    let Some(address) = address else { return Ok(None) };
    Ops::open(address).await.map(Some).map_err(|source| Error::Ops { address, source })
}
