//! The log's own story: positions that grow, versions without a gap, a proof that stands, and a feed that told all of it and nothing
//! else. The feed goes over core NATS, so whoever is not connected misses it: of a round whose nats-server was killed, what it left
//! out is not looked at. In all others every event is told by the process that committed it or by one after it.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    time::Duration,
};

use async_nats::Subscriber;
use futures::StreamExt;
use serde_json::{Value, json};
use tokio::time::timeout;

use super::wire::{Said, send};
use crate::world::{NAMESPACE, Served};

/// The longest page.
const PAGE: u64 = 500;
/// How long a feed that has something to tell may be silent.
const SILENCE_MAX: Duration = Duration::from_secs(10);

/// Hears everything that is published once this is done.
async fn subscribed(nats: &async_nats::Client) -> Subscriber {
    let feed = nats.subscribe(format!("memlog.v1.{NAMESPACE}.events.>")).await.unwrap();
    // What a connection says is read in order, so a refusal of this comes after the subscription.
    nats.request("nobody.listens", "".into()).await.unwrap_err();
    feed
}

/// What is known of a log.
pub(super) struct Story {
    /// Every event by its position.
    events: BTreeMap<u64, Value>,
    /// Each stream's last version.
    versions: HashMap<String, u64>,
    /// Heads of earlier rounds.
    pub(super) heads: Vec<Value>,
    /// Positions up to here were told, or nobody could hear them.
    told_to: u64,
    /// Positions after it that were told.
    told: BTreeSet<u64>,
    feed: Subscriber,
}

impl Story {
    /// Begins to listen.
    pub(super) async fn new(nats: async_nats::Client) -> Self {
        let feed = subscribed(&nats).await;
        let (events, versions, heads, told) = Default::default();
        Self { events, versions, heads, told_to: 0, told, feed }
    }

    /// Listens anew, once the nats-server was gone.
    pub(super) async fn listen(&mut self, nats: async_nats::Client) {
        self.feed = subscribed(&nats).await;
    }

    /// Reads on in the log, and compares: the feed tells nothing that is not in it, so nothing that a kill undid, and all of it
    /// if it `could_be_heard`.
    pub(super) async fn check(&mut self, served: &Served, could_be_heard: bool) {
        self.read_on(served).await;
        self.hear(served, could_be_heard).await;
        // What was the head once is still in it.
        let expected = self.heads.get(self.heads.len() / 2).map_or(json!({}), |head| json!({ "expect": head }));
        let said = Said::new("audit.verify", vec![], expected);
        let (verified, _) = send(&served.client(0), &said).await.expect("it verifies");
        assert_eq!(verified["ok"], true, "{}: {verified}", said.body);
        self.heads.push(verified["head"].clone());
    }

    /// Listens until all that was in the log has been told.
    async fn hear(&mut self, served: &Served, could_be_heard: bool) {
        let last = self.events.last_key_value().map_or(0, |(seq, _)| *seq);
        loop {
            let mut untold = self.events.range(self.told_to + 1..).filter(|(seq, _)| !self.told.contains(*seq));
            let first = untold.next().filter(|(seq, _)| could_be_heard && **seq <= last);
            let Some((_, unheard)) = first else { break };
            let change = timeout(SILENCE_MAX, self.feed.next()).await;
            let change = change.unwrap_or_else(|_| panic!("the feed did not tell {unheard}"));
            self.compare(served, serde_json::from_slice(&change.expect("it listens").payload).unwrap()).await;
        }
        self.told_to = last;
        self.told = self.told.split_off(&(last + 1));
    }

    async fn compare(&mut self, served: &Served, change: Value) {
        let seq = change["seq"].as_u64().unwrap();
        if self.events.last_key_value().is_none_or(|(last, _)| seq > *last) {
            // It was committed since.
            self.read_on(served).await;
        }
        let known = self.events.get(&seq).unwrap_or_else(|| panic!("the feed told {change}, the log does not"));
        for name in ["type", "stream", "version", "at"] {
            assert_eq!(change[name], known[name], "{change}");
        }
        self.told.insert(seq);
    }

    async fn read_on(&mut self, served: &Served) {
        loop {
            let from = self.events.last_key_value().map_or(0, |(seq, _)| seq + 1);
            let said = Said::new("audit.events", vec![], json!({ "from_seq": from, "limit": PAGE }));
            let (page, _) = send(&served.client(0), &said).await.expect("the log is read");
            let page = page["events"].as_array().cloned().unwrap_or_default();
            let count = page.len() as u64;
            for event in page {
                let (seq, stream) = (event["seq"].as_u64().unwrap(), event["stream"].as_str().unwrap().to_owned());
                assert!(self.events.last_key_value().is_none_or(|(last, _)| seq > *last), "positions grow: {event}");
                let version = event["version"].as_u64().unwrap();
                let before = self.versions.insert(stream, version).unwrap_or_default();
                assert_eq!(version, before + 1, "versions have no gap: {event}");
                self.events.insert(seq, event);
            }
            if count < PAGE {
                return;
            }
        }
    }

    /// How many events there are.
    pub(super) fn len(&self) -> usize {
        self.events.len()
    }
}
