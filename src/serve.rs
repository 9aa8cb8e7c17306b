//! `memlog serve`: the system, a NATS server if none is given, the door and the feed; then until a signal, and all of it
//! closed in order so that nothing that was accepted is lost.

use std::{
    io,
    path::PathBuf,
    pin::pin,
    time::{Duration, Instant},
};

use memlog_actors::system::{self, StartError, System};

use crate::{
    door::{self, NatsDoor, connect, feed::Follower},
    nats::server::{self, NatsServer},
};

/// How long calls under way may take to finish after the first signal.
pub const CLOSE_MAX: Duration = Duration::from_secs(30);
/// A part of the close that takes longer is told of, so that nobody takes the process for stuck.
const CLOSE_QUIET_MAX: Duration = Duration::from_secs(2);
/// Signals this close together are one wish: `timeout` and terminals send them to a process and to its group.
const SAME_SIGNAL_MAX: Duration = Duration::from_secs(1);

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
    url: String,
    data: PathBuf,
}

impl Serving {
    /// Opens all; when one part fails, those before it are closed again.
    pub async fn open(options: Options) -> Result<Self, Error> {
        let data = options.system.data_dir.clone();
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
        match open_doors(&system, connection).await {
            Ok((door, feed)) => Ok(Self { own, system, door, feed, url, data }),
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

    /// Closes in order: no new calls, the last events, the log, the server.
    pub async fn close(self, deadline: Duration) {
        told("calls under way", self.door.close(deadline)).await;
        told("the change feed to tell the last events", self.feed.close()).await;
        told("the log and the views to be written", self.system.stop()).await;
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

/// Serves until SIGTERM or SIGINT; a second signal ends it at once, with no loss but the replies still under way.
pub async fn serve(options: Options) -> Result<(), Error> {
    let mut signals = Signals::listen()?;
    let serving = tokio::select! {
        serving = Serving::open(options) => serving?,
        () = signals.next() => return Ok(()),
    };
    let health = serving.system().health();
    let model = health.model.as_deref().unwrap_or("none, so searches are by keyword");
    anstream::println!("memlog serves {} at {} (model: {model})", serving.data.display(), serving.url());
    signals.next().await;
    let first = Instant::now();
    tracing::info!("closing; a second signal ends it at once");
    tokio::select! {
        () = serving.close(CLOSE_MAX) => tracing::info!("closed"),
        () = another(first, async || signals.next().await) => tracing::warn!("ended at once; the log is whole, replies under way were not sent"),
    }
    Ok(())
}

/// Returns at a signal that is another one than the first.
async fn another(first: Instant, mut next: impl AsyncFnMut()) {
    loop {
        next().await;
        if first.elapsed() >= SAME_SIGNAL_MAX {
            return;
        }
    }
}

#[cfg(unix)]
struct Signals {
    terminate: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    fn listen() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())? })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `timeout` signals its child and then the whole group; that must not cut off replies under way.
    #[tokio::test]
    async fn a_doubled_signal_is_one() {
        let mut doubled = 3;
        let then_silence = async || match doubled {
            0 => std::future::pending().await,
            _ => doubled -= 1,
        };
        assert!(futures::FutureExt::now_or_never(another(Instant::now(), then_silence)).is_none());
        let earlier = Instant::now().checked_sub(SAME_SIGNAL_MAX).unwrap();
        another(earlier, async || {}).await;
    }
}
