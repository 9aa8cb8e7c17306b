//! The port of operators: `/healthz`, `/readyz` and Prometheus's `/metrics`, off unless it is asked for.
//!
//! It shows numbers and states of the process. No name, text, profile, namespace or user ever enters here, since whoever
//! reaches the port may read it all: there is no authentication, so it belongs on the loopback address or a private network.
//! Nothing can be changed through it.
//!
//! `http` answers; `node` and `worker` say what there is to see of a server and of a worker; `families` writes figures as
//! Prometheus has them. To add a figure: count it where it arises, hand it out in that part's `load`, and give it a name in
//! `node`; deploy/README.md lists them.

mod families;
mod http;
mod node;
mod process;
mod worker;

use std::{
    io,
    net::SocketAddr,
    sync::{Arc, PoisonError, RwLock},
};

pub use node::Node;
use prometheus::proto::MetricFamily;
use serde::Serialize;
use tokio::{net::TcpListener, sync::watch, task::JoinHandle};
pub use worker::WorkerProcess;

/// One reason why a process should get no work now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unready {
    /// What to branch on: `starting`, `closing`, `nats_disconnected`, `log_failed`.
    pub code: &'static str,
    /// The same for people.
    pub reason: String,
}

/// What is looked at.
pub trait Watched: Send + Sync + 'static {
    /// Why it should get no work now; nothing if it should. Quick.
    fn unready(&self) -> Vec<Unready>;

    /// Its figures. May block.
    fn families(&self) -> Vec<MetricFamily>;
}

/// How far the process is.
enum Phase {
    Starting,
    Open(Arc<dyn Watched>),
    Closing,
}

struct Shared(RwLock<Phase>);

impl Shared {
    fn set(&self, phase: Phase) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = phase;
    }

    fn watched(&self) -> Option<Arc<dyn Watched>> {
        match &*self.0.read().unwrap_or_else(PoisonError::into_inner) {
            Phase::Open(watched) => Some(Arc::clone(watched)),
            Phase::Starting | Phase::Closing => None,
        }
    }

    fn unready(&self) -> Vec<Unready> {
        let said = |code, reason: &str| vec![Unready { code, reason: reason.to_owned() }];
        match &*self.0.read().unwrap_or_else(PoisonError::into_inner) {
            Phase::Starting => {
                said("starting", "what was erased is being overwritten again, or NATS is not reached yet")
            }
            Phase::Open(watched) => watched.unready(),
            Phase::Closing => said("closing", "the process is shutting down"),
        }
    }

    fn families(&self) -> Vec<MetricFamily> {
        let mut all = process::families();
        let ready = f64::from(u8::from(self.unready().is_empty()));
        all.push(families::gauge("memlog_ready", "Whether /readyz says so", ready));
        all.extend(self.watched().map(|watched| watched.families()).unwrap_or_default());
        // What was never counted yet is no family; Prometheus's encoder refuses an empty one.
        all.retain(|family| !family.get_metric().is_empty());
        all
    }
}

/// The open port. Dropped, it is closed.
pub struct Ops {
    address: SocketAddr,
    shared: Arc<Shared>,
    closing: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl Ops {
    /// Opens the port before anything else is opened: the process lives, and is not ready.
    pub async fn open(address: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared(RwLock::new(Phase::Starting)));
        let (closing, closed) = watch::channel(false);
        let task = tokio::spawn(http::listen(listener, Arc::clone(&shared), closed));
        Ok(Self { address, shared, closing, task })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// From now on this is what is looked at.
    pub fn watch(&self, watched: impl Watched) {
        self.shared.set(Phase::Open(Arc::new(watched)));
    }

    /// The process closes: it lives, and is not ready. What was watched is let go.
    pub fn closing(&self) {
        self.shared.set(Phase::Closing);
    }

    /// Closes the port.
    pub async fn close(self) {
        self.closing.send_replace(true);
        if let Err(error) = self.task.await {
            tracing::warn!(%error, "the port of operators had failed");
        }
    }
}
