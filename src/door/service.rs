//! The NATS Services API (ADR-32): `$SRV.PING`, `$SRV.INFO`, `$SRV.STATS`, so that any NATS tool finds memlog's verbs.
//!
//! Written here rather than with async-nats's own service: that one answers failures with an empty body, and its way to
//! stop drops requests that are still on their way from the server.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use async_nats::{Client, SubscribeError, Subscriber};
use futures::{StreamExt, stream};
use memlog_actors::api::Error;
use serde_json::{Value, json};

use super::{
    PREFIX, SERVICE,
    reply::may_answer,
    requests::Requests,
    table::{Kind, Row, TABLE},
};

/// Counts of one verb.
#[derive(Debug, Default)]
struct Counts {
    requests: AtomicU64,
    errors: AtomicU64,
    nanos: AtomicU64,
    last_error: Mutex<String>,
}

/// What memlog says of itself on one NATS server.
#[derive(Debug)]
pub(super) struct Service {
    id: String,
    started: jiff::Timestamp,
    lost: Arc<AtomicU64>,
    /// In the order of the table.
    counts: Vec<Counts>,
    requests: Requests,
}

impl Service {
    #[expect(clippy::disallowed_methods, reason = "shown to operators only; nothing is decided by it")]
    pub(super) fn new(id: String, lost: Arc<AtomicU64>) -> Self {
        let counts = TABLE.rows().iter().map(|_| Counts::default()).collect();
        Self { id, started: jiff::Timestamp::now(), lost, counts, requests: Requests::new() }
    }

    /// The subject on which only this process answers a ping.
    pub(super) fn own_ping(&self) -> String {
        format!("$SRV.PING.{SERVICE}.{}", self.id)
    }

    /// What became of the requests that were answered, for who watches.
    pub(super) fn requests(&self) -> &Requests {
        &self.requests
    }

    /// Counts one answered request of the verb at `place`; of none, it counts for who watches alone.
    pub(super) fn count(&self, place: Option<usize>, took: Duration, refused: Option<&Error>) {
        self.requests.count(place, took, refused);
        let Some(counts) = place.and_then(|place| self.counts.get(place)) else { return };
        counts.requests.fetch_add(1, Ordering::Relaxed);
        counts.nanos.fetch_add(u64::try_from(took.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
        if let Some(error) = refused {
            counts.errors.fetch_add(1, Ordering::Relaxed);
            // The kind only: anyone on the server may read this, and a message may name a speaker.
            *counts.last_error.lock().unwrap_or_else(PoisonError::into_inner) =
                format!("{}:{}", error.kind.code(), error.kind.name());
        }
    }

    /// Subscribes to every form of the discovery subjects.
    pub(super) async fn subscribe(&self, client: &Client) -> Result<Vec<Subscriber>, SubscribeError> {
        let mut all = Vec::new();
        for verb in ["PING", "INFO", "STATS"] {
            for tail in [String::new(), format!(".{SERVICE}"), format!(".{SERVICE}.{}", self.id)] {
                all.push(client.subscribe(format!("$SRV.{verb}{tail}")).await?);
            }
        }
        Ok(all)
    }

    /// Answers until the subscriptions end.
    pub(super) async fn serve(self: Arc<Self>, client: Client, subscriptions: Vec<Subscriber>) {
        let mut questions = stream::select_all(subscriptions);
        while let Some(question) = questions.next().await {
            let Some(reply) = question.reply.filter(|to| may_answer(to)) else { continue };
            let answer = match question.subject.split('.').nth(1) {
                Some("PING") => self.ping(),
                Some("INFO") => self.info(),
                _ => self.stats(),
            };
            if let Err(error) = client.publish(reply, answer.to_string().into()).await {
                tracing::warn!(%error, "a question of the Services API stays unanswered");
            }
        }
    }

    fn head(&self, kind: &str) -> Value {
        json!({
            "type": format!("io.nats.micro.v1.{kind}_response"), "name": SERVICE, "id": self.id,
            "version": env!("CARGO_PKG_VERSION"),
            "metadata": {"api": "v1", "requests_lost": self.lost.load(Ordering::Relaxed).to_string()},
        })
    }

    pub(super) fn ping(&self) -> Value {
        self.head("ping")
    }

    pub(super) fn info(&self) -> Value {
        let endpoints: Vec<Value> = TABLE.rows().iter().map(endpoint).collect();
        let mut info = self.head("info");
        info["description"] = env!("CARGO_PKG_DESCRIPTION").into();
        info["endpoints"] = endpoints.into();
        info
    }

    pub(super) fn stats(&self) -> Value {
        let endpoint = |(row, counts): (&Row, &Counts)| {
            let (requests, nanos) = (counts.requests.load(Ordering::Relaxed), counts.nanos.load(Ordering::Relaxed));
            json!({
                "name": name(row), "subject": subject(row), "queue_group": SERVICE,
                "num_requests": requests, "num_errors": counts.errors.load(Ordering::Relaxed),
                "last_error": *counts.last_error.lock().unwrap_or_else(PoisonError::into_inner),
                "processing_time": nanos, "average_processing_time": nanos.checked_div(requests).unwrap_or(0),
            })
        };
        let endpoints: Vec<Value> = TABLE.rows().iter().zip(&self.counts).map(endpoint).collect();
        let mut stats = self.head("stats");
        stats["started"] = self.started.to_string().into();
        stats["endpoints"] = endpoints.into();
        stats
    }
}

fn endpoint(row: &Row) -> Value {
    let kind = match row.kind {
        Kind::Read => "read",
        Kind::Command => "command",
    };
    json!({
        "name": name(row), "subject": subject(row), "queue_group": SERVICE,
        "metadata": {"description": row.about, "kind": kind, "fields": row.fields.join(",")},
    })
}

fn name(row: &Row) -> String {
    format!("{}-{}", row.noun, row.verb)
}

fn subject(row: &Row) -> String {
    format!("{PREFIX}.*.{}.{}", row.noun, row.verb)
}

#[cfg(test)]
mod tests {
    use async_nats::service;

    use super::*;

    /// Tools read these with the types of their own libraries; ours must fit them.
    #[test]
    fn answers_fit_the_services_api() {
        let told = Service::new("ID".to_owned(), Arc::default());
        let place = TABLE.place("profile.get").unwrap();
        told.count(Some(place), Duration::from_micros(10), None);
        told.count(Some(place), Duration::from_micros(30), Some(&Error::timeout("of a secret")));

        let ping: service::PingResponse = serde_json::from_value(told.ping()).unwrap();
        assert_eq!((ping.name.as_str(), ping.id.as_str()), ("memlog", "ID"));
        let info: service::Info = serde_json::from_value(told.info()).unwrap();
        assert_eq!(info.endpoints.len(), TABLE.rows().len());
        assert_eq!(info.endpoints[place].subject, "memlog.v1.*.profile.get");
        assert_eq!(info.endpoints[place].metadata["fields"], "profile,as_of");
        let stats: service::Stats = serde_json::from_value(told.stats()).unwrap();
        let found = &stats.endpoints[place];
        assert_eq!((found.requests, found.errors), (2, 1));
        assert_eq!(found.average_processing_time, Duration::from_micros(20));
        assert!(!told.stats().to_string().contains("secret"));
    }
}
