//! The workers' side: jobs from JetStream, texts and results over core NATS.

use std::{sync::Arc, time::Duration};

use async_nats::{
    Client, Request, RequestErrorKind, StatusCode,
    jetstream::{self, AckKind, Context},
};
use memlog_actors::{
    api::Error,
    port::{Assignment, Delivery, Desk, DeskClosed, Eventually, ExtractFailed, Finding, JobSource, Session},
};
use memlog_events::ids::JobId;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::json;
use tokio::sync::watch;
use uuid::Uuid;

use super::{
    DESK,
    streams::{JOBS, WORKERS},
};
use crate::door::reply;

/// How long one pull waits for a job; then it is asked anew, so that a consumer made meanwhile is found.
const PULL_MAX: Duration = Duration::from_secs(20);
/// How long after that the server may be silent.
const PULL_SLACK: Duration = Duration::from_secs(5);
/// The pause after a pull that was refused: there is no stream yet, or no server.
const AGAIN: Duration = Duration::from_millis(500);
/// How long the node may take.
const DESK_MAX: Duration = Duration::from_secs(60);

/// A job's id, in the queue and in requests.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Named {
    /// The job.
    pub(super) job: Uuid,
}

/// What a worker leaves.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Completed {
    /// The job.
    pub(super) job: Uuid,
    /// What was found.
    pub(super) finding: Finding,
}

/// What a worker says of a try that failed.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Failed {
    /// The job.
    pub(super) job: Uuid,
    /// Why.
    pub(super) failed: ExtractFailed,
}

/// What the node says to `fetch`.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Fetched {
    /// None if the job needs no work.
    pub(super) assignment: Option<Assignment>,
}

/// What the node says to `session`.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Told {
    /// None if there is nothing to summarise.
    pub(super) session: Option<Session>,
}

/// What the node says to `fail`.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Verdict {
    /// When to try again; none if the job is given up.
    pub(super) again_ms: Option<u64>,
}

/// Jobs from the queue in JetStream.
pub(super) struct JetSource {
    context: Context,
    closed: watch::Receiver<bool>,
}

impl JetSource {
    /// Until `closed` says so.
    pub(super) fn new(client: Client, closed: watch::Receiver<bool>) -> Self {
        Self { context: jetstream::new(client), closed }
    }

    async fn next(&self) -> Taken {
        loop {
            if let Some(taken) = self.pull().await {
                return taken;
            }
        }
    }

    /// One request to the consumer; none when there was nothing.
    async fn pull(&self) -> Option<Taken> {
        let wish = json!({ "batch": 1, "expires": u64::try_from(PULL_MAX.as_nanos()).unwrap_or(u64::MAX) });
        // A job arrives under the queue's subject, by which the inbox that all requests share could not tell whose it is.
        let inbox = self.context.client().new_inbox();
        let request = Request::new().payload(wish.to_string().into()).inbox(inbox).timeout(Some(PULL_MAX + PULL_SLACK));
        let subject = format!("$JS.API.CONSUMER.MSG.NEXT.{JOBS}.{WORKERS}");
        match self.context.client().send_request(subject, request).await {
            Ok(message) if matches!(message.status, None | Some(StatusCode::OK)) => {
                let message = jetstream::Message { message, context: self.context.clone() };
                let named: Option<Named> = serde_json::from_slice(&message.payload).ok();
                match named {
                    Some(Named { job }) => Some(Taken { job: JobId(job), message }),
                    None => {
                        // Left there, it would be delivered for ever, and enough of them would take every place.
                        tracing::error!("the queue of jobs held a message that is none of memlog's; it was taken out");
                        if let Err(error) = message.ack_with(AckKind::Term).await {
                            tracing::debug!(%error, "it comes again");
                        }
                        None
                    }
                }
            }
            // Nothing came within the time of the pull.
            Ok(message) if message.status == Some(StatusCode::TIMEOUT) => None,
            Ok(_) => {
                tokio::time::sleep(AGAIN).await;
                None
            }
            Err(error) => {
                if !matches!(error.kind(), RequestErrorKind::NoResponders | RequestErrorKind::TimedOut) {
                    tracing::debug!(%error, "no jobs can be asked for");
                }
                tokio::time::sleep(AGAIN).await;
                None
            }
        }
    }
}

impl JobSource for JetSource {
    fn take(&self) -> Eventually<'_, Option<Box<dyn Delivery>>> {
        Box::pin(async {
            let mut closed = self.closed.clone();
            tokio::select! {
                biased;
                _ = closed.wait_for(|closed| *closed) => None,
                taken = self.next() => Some(Box::new(taken) as Box<dyn Delivery>),
            }
        })
    }

    fn is_closed(&self) -> bool {
        *self.closed.borrow()
    }
}

/// A job in a worker's hands.
struct Taken {
    job: JobId,
    message: jetstream::Message,
}

impl Taken {
    /// Lost, the job is delivered again, which costs time alone.
    async fn answer(&self, kind: AckKind) {
        if let Err(error) = self.message.ack_with(kind).await {
            tracing::debug!(job = %self.job, %error, "the queue could not be told; the job is delivered again");
        }
    }
}

impl Delivery for Taken {
    fn job(&self) -> JobId {
        self.job
    }

    fn working(&self) -> Eventually<'_, ()> {
        Box::pin(self.answer(AckKind::Progress))
    }

    fn done(self: Box<Self>) -> Eventually<'static, ()> {
        Box::pin(async move { self.answer(AckKind::Ack).await })
    }

    fn again(self: Box<Self>, after: Duration) -> Eventually<'static, ()> {
        Box::pin(async move { self.answer(AckKind::Nak(Some(after))).await })
    }
}

/// The node's desk, behind NATS.
pub(super) struct RemoteDesk(pub(super) Client);

/// Why the desk did not do it.
enum Refused {
    /// It does not fit into a message.
    TooLarge,
    Closed(DeskClosed),
}

impl From<Refused> for DeskClosed {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::TooLarge => Self("it does not fit into a message of this NATS server".to_owned()),
            Refused::Closed(closed) => closed,
        }
    }
}

impl RemoteDesk {
    async fn ask<R: DeserializeOwned>(&self, what: &str, request: &impl Serialize) -> Result<R, Refused> {
        let closed = |reason: String| Refused::Closed(DeskClosed(reason));
        let body = serde_json::to_vec(request).map_err(|error| closed(error.to_string()))?;
        let request = Request::new().payload(body.into()).timeout(Some(DESK_MAX));
        let message =
            self.0.send_request(format!("{DESK}.{what}"), request).await.map_err(|error| match error.kind() {
                RequestErrorKind::NoResponders => closed("no node answers on this NATS server".to_owned()),
                RequestErrorKind::MaxPayloadExceeded => Refused::TooLarge,
                _ => closed(error.to_string()),
            })?;
        if let Some(Error { message, .. }) = reply::failed(message.headers.as_ref(), &message.payload) {
            return Err(closed(message));
        }
        let unread = |error| closed(format!("node and worker may be of different versions: {error}"));
        serde_json::from_slice(&message.payload).map_err(unread)
    }
}

impl Desk for RemoteDesk {
    fn fetch(&self, job: JobId) -> Eventually<'_, Result<Option<Assignment>, DeskClosed>> {
        Box::pin(async move {
            let fetched: Fetched = self.ask("fetch", &Named { job: job.0 }).await?;
            Ok(fetched.assignment)
        })
    }

    fn session(&self, job: JobId) -> Eventually<'_, Result<Option<Session>, DeskClosed>> {
        Box::pin(async move {
            let told: Told = self.ask("session", &Named { job: job.0 }).await?;
            Ok(told.session)
        })
    }

    fn complete(&self, job: JobId, finding: Finding) -> Eventually<'_, Result<(), DeskClosed>> {
        Box::pin(async move {
            match self.ask("complete", &Completed { job: job.0, finding }).await {
                Ok(Nothing {}) => Ok(()),
                // It would not fit the next time either.
                Err(Refused::TooLarge) => self.fail(job, ExtractFailed::lasting("result_too_large")).await.map(drop),
                Err(Refused::Closed(closed)) => Err(closed),
            }
        })
    }

    fn fail(&self, job: JobId, failed: ExtractFailed) -> Eventually<'_, Result<Option<Duration>, DeskClosed>> {
        Box::pin(async move {
            let verdict: Verdict = self.ask("fail", &Failed { job: job.0, failed }).await?;
            Ok(verdict.again_ms.map(Duration::from_millis))
        })
    }
}

/// A reply without words.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Nothing {}

/// Everything that a worker needs of a node.
pub(super) fn both(client: &Client, closed: watch::Receiver<bool>) -> (Arc<dyn JobSource>, Arc<dyn Desk>) {
    (Arc::new(JetSource::new(client.clone(), closed)), Arc::new(RemoteDesk(client.clone())))
}
