//! The node's side of the desk: answers workers. Apart from the door of clients, since no tenant may come here.

use std::sync::Arc;

use async_nats::{Client, Message, Subscriber};
use futures::StreamExt;
use memlog_actors::{
    api::Error,
    port::{Assignment, Desk, DeskClosed, ExtractFailed},
    system::System,
};
use memlog_events::ids::JobId;
use serde::{Serialize, de::DeserializeOwned};
use tokio::{
    sync::{Semaphore, watch},
    task::{JoinHandle, JoinSet},
};

use super::{
    DESK,
    remote::{Completed, Failed, Fetched, Named, Nothing, Told, Verdict},
};
use crate::door::{
    self, RESTART_RETRY_MS, SERVICE,
    connect::{self, Link},
    reply,
    table::Reply,
};

/// Requests of workers under way at once; more wait in their order, as workers do.
const REQUESTS_MAX: usize = 64;
/// The pause before another connection is tried in the place of one that ended for good.
const AGAIN: std::time::Duration = std::time::Duration::from_secs(1);

/// An open desk. Dropped, it answers no more.
#[derive(Debug)]
pub struct DeskDoor {
    closing: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl DeskDoor {
    /// Connects and answers.
    pub async fn open(system: System, options: connect::Options) -> Result<Self, door::Error> {
        let (closing, closed) = watch::channel(false);
        let (link, requests) = attach(&options).await?;
        let task = tokio::spawn(listen(system, options, link, requests, closed));
        Ok(Self { closing, task })
    }

    /// Finishes what was taken. What comes later is asked again of the next node.
    pub async fn close(self) {
        self.closing.send_replace(true);
        if let Err(error) = self.task.await {
            tracing::warn!(%error, "the desk of workers had failed");
        }
    }
}

async fn attach(options: &connect::Options) -> Result<(Link, Subscriber), door::Error> {
    let link = connect::connect(options, Arc::default()).await?;
    let subscribed = link.client.queue_subscribe(format!("{DESK}.*"), SERVICE.to_owned()).await;
    let requests = subscribed.map_err(|error| door::Error::Subscribe(error.to_string()))?;
    Ok((link, requests))
}

async fn listen(
    system: System,
    options: connect::Options,
    mut link: Link,
    mut requests: Subscriber,
    mut closed: watch::Receiver<bool>,
) {
    let room = Arc::new(Semaphore::new(REQUESTS_MAX));
    let mut under_way = JoinSet::new();
    loop {
        while under_way.try_join_next().is_some() {}
        let request = tokio::select! {
            biased;
            _ = closed.wait_for(|closed| *closed) => break,
            request = requests.next() => request,
        };
        let Some(request) = request else {
            match attach(&options).await {
                Ok(again) => (link, requests) = again,
                Err(error) => {
                    tracing::error!(%error, "the desk of workers has no connection");
                    tokio::time::sleep(AGAIN).await;
                }
            }
            continue;
        };
        let Ok(permit) = Arc::clone(&room).acquire_owned().await else { break };
        let (system, client) = (system.clone(), link.client.clone());
        under_way.spawn(async move {
            answer(&system, &client, request).await;
            drop(permit);
        });
    }
    while under_way.join_next().await.is_some() {}
}

async fn answer(system: &System, client: &Client, message: Message) {
    let Some(to) = message.reply.clone().filter(|to| reply::may_answer(to)) else { return };
    let what = message.subject.rsplit('.').next().unwrap_or_default();
    let result = match what {
        "fetch" => fetch(system, client.max_payload(), &message.payload).await,
        "session" => session(system, client.max_payload(), &message.payload).await,
        "complete" => complete(system, &message.payload).await,
        "fail" => fail(system, &message.payload).await,
        _ => Err(Error::invalid("verb", "the desk knows fetch, session, complete and fail")),
    };
    let (outgoing, _) = reply::encode(result, client.max_payload());
    let sent = if outgoing.headers.is_empty() {
        client.publish(to, outgoing.body).await
    } else {
        client.publish_with_headers(to, outgoing.headers, outgoing.body).await
    };
    if let Err(error) = sent {
        tracing::warn!(%error, "a worker could not be answered; it asks again");
    }
}

async fn fetch(system: &System, bytes_max: usize, body: &[u8]) -> Result<Reply, Error> {
    let Named { job } = read(body)?;
    let mut assignment = system.fetch(JobId(job)).await.map_err(refused)?;
    // What is there for context alone must not keep messages away that fitted on their way in.
    let steps: [fn(&mut Assignment); 3] = [|_| {}, |it| it.work.before.clear(), without_known];
    for less in steps {
        if let Some(assignment) = &mut assignment {
            less(assignment);
        }
        let reply = write(&Fetched { assignment: assignment.clone() })?;
        if reply.body.len() <= bytes_max {
            return Ok(reply);
        }
    }
    // It would not fit the next time either.
    let too_large = ExtractFailed::lasting("work_too_large");
    system.fail(JobId(job), too_large).await.map_err(refused)?;
    write(&Fetched { assignment: None })
}

async fn session(system: &System, bytes_max: usize, body: &[u8]) -> Result<Reply, Error> {
    let Named { job } = read(body)?;
    let reply = write(&Told { session: system.session(JobId(job)).await.map_err(refused)? })?;
    // A session without a summary of its own is shown as it was said last.
    if reply.body.len() <= bytes_max { Ok(reply) } else { write(&Told { session: None }) }
}

fn without_known(assignment: &mut Assignment) {
    assignment.work.known.clear();
    assignment.work.known_by.clear();
    assignment.known.clear();
}

async fn complete(system: &System, body: &[u8]) -> Result<Reply, Error> {
    let Completed { job, finding } = read(body)?;
    system.complete(JobId(job), finding).await.map_err(refused)?;
    write(&Nothing {})
}

async fn fail(system: &System, body: &[u8]) -> Result<Reply, Error> {
    let Failed { job, failed } = read(body)?;
    let again = system.fail(JobId(job), failed).await.map_err(refused)?;
    write(&Verdict { again_ms: again.map(|again| u64::try_from(again.as_millis()).unwrap_or(u64::MAX)) })
}

fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T, Error> {
    serde_json::from_slice(body)
        .map_err(|error| Error::invalid("body", format!("node and worker may be of different versions: {error}")))
}

fn write(reply: &impl Serialize) -> Result<Reply, Error> {
    let body = serde_json::to_vec(reply).map_err(|error| Error::unavailable(error.to_string(), RESTART_RETRY_MS))?;
    Ok(Reply { body, replayed: false })
}

fn refused(closed: DeskClosed) -> Error {
    Error::unavailable(closed.to_string(), RESTART_RETRY_MS)
}
