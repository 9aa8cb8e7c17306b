//! The change feed: every committed event, without content, on `memlog.v1.<namespace>.events.<stream kind>.<event type>`.
//!
//! Core NATS, at most once a subscriber: who must not miss one reads `audit.events` from the last position seen. While
//! the server is away, nothing is taken from the system, so that a reconnect goes on where it stopped.

use std::{sync::Arc, time::Duration};

use async_nats::Client;
use memlog_actors::system::{Change, Feed, System};
use tokio::{sync::watch, task::JoinHandle, time::timeout};

use super::{
    PREFIX,
    connect::{self, Error, Link, Options},
};

/// How long the last events may take to reach the server.
const FLUSH_MAX: Duration = Duration::from_secs(5);
/// The pause before another connection is tried in the place of one that broke for good.
const AGAIN: Duration = Duration::from_secs(1);

/// A follower of the log that publishes. Dropped without [`Follower::close`], it stops without the last flush.
#[derive(Debug)]
pub struct Follower {
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl Follower {
    /// Connects and starts to publish. A connection of its own: a burst of events must not hold up replies.
    pub async fn open(system: &System, options: Options) -> Result<Self, Error> {
        let link = connect::connect(&options, Arc::default()).await?;
        let (stop, stopped) = watch::channel(false);
        let task = tokio::spawn(follow(system.feed(), link, options, stopped));
        Ok(Self { stop, task })
    }

    /// Publishes what it has taken and disconnects.
    pub async fn close(self) {
        self.stop.send_replace(true);
        if let Err(error) = self.task.await {
            tracing::warn!(%error, "the change feed had failed");
        }
    }
}

async fn follow(mut feed: Feed, mut link: Link, options: Options, mut stopped: watch::Receiver<bool>) {
    loop {
        let next = tokio::select! {
            biased;
            _ = stopped.wait_for(|stop| *stop) => break,
            next = next(&mut link, &mut feed) => next,
        };
        let Some(change) = next else { break };
        while !publish(&link.client, &change).await {
            if timeout(AGAIN, stopped.wait_for(|stop| *stop)).await.is_ok() {
                return;
            }
            match connect::connect(&options, Arc::default()).await {
                Ok(again) => link = again,
                Err(error) => tracing::error!(%error, "the change feed has no connection"),
            }
        }
    }
    if !matches!(timeout(FLUSH_MAX, link.client.flush()).await, Ok(Ok(()))) {
        tracing::warn!("the last events of the change feed may not have reached the NATS server");
        return;
    }
    feed.note().await;
}

/// Waits for the server before it takes an event; an end of the connection shows at the publish.
async fn next(link: &mut Link, feed: &mut Feed) -> Option<Change> {
    if link.connected.wait_for(|connected| *connected).await.is_err() {
        tracing::debug!("the change feed's connection ended");
    }
    feed.next().await
}

async fn publish(client: &Client, change: &Change) -> bool {
    let subject = format!("{PREFIX}.{}.events.{}.{}", change.namespace, change.stream_kind, change.event_type);
    let body = match serde_json::to_vec(change) {
        Ok(body) => body,
        Err(error) => {
            tracing::error!(%error, seq = change.seq, "an event cannot be written for the change feed");
            return true;
        }
    };
    match client.publish(subject, body.into()).await {
        Ok(()) => true,
        Err(error) => {
            tracing::warn!(%error, "an event could not be published");
            false
        }
    }
}
