//! The log's own story: positions that grow, versions without a gap, a proof that stands, and a feed that told nothing else. What
//! the feed left out is not looked at: it promises nothing, and who must not miss an event reads the log.

use std::collections::{BTreeMap, HashMap};

use async_nats::Subscriber;
use futures::{FutureExt, StreamExt};
use serde_json::{Value, json};

use super::wire::{Said, send};
use crate::world::{NAMESPACE, Served};

/// The longest page.
const PAGE: u64 = 500;

/// What is known of a log.
pub(super) struct Story {
    /// Every event by its position.
    events: BTreeMap<u64, Value>,
    /// Each stream's last version.
    versions: HashMap<String, u64>,
    /// Heads of earlier rounds.
    pub(super) heads: Vec<Value>,
    nats: async_nats::Client,
    feed: Subscriber,
}

impl Story {
    /// Begins to listen.
    pub(super) async fn new(nats: async_nats::Client) -> Self {
        let feed = nats.subscribe(format!("memlog.v1.{NAMESPACE}.events.>")).await.unwrap();
        let (events, versions, heads) = Default::default();
        Self { events, versions, heads, nats, feed }
    }

    /// What the feed of one process told, from the end of the last round to the kill.
    pub(super) async fn heard(&mut self) -> Vec<Value> {
        // After its round trip, all that was published before is here.
        self.nats.flush().await.unwrap();
        let mut all = Vec::new();
        while let Some(Some(message)) = self.feed.next().now_or_never() {
            all.push(serde_json::from_slice(&message.payload).unwrap());
        }
        all
    }

    /// Reads on in the log, and compares: the feed tells nothing that is not in it, so nothing that a kill undid.
    pub(super) async fn check(&mut self, served: &Served, feed: &[Value]) {
        self.read_on(served).await;
        for change in feed {
            let known = change["seq"].as_u64().and_then(|seq| self.events.get(&seq));
            let known = known.unwrap_or_else(|| panic!("the feed told {change}, the log does not"));
            for name in ["type", "stream", "version", "at"] {
                assert_eq!(change[name], known[name], "{change}");
            }
        }
        // What was the head once is still in it.
        let expected = self.heads.get(self.heads.len() / 2).map_or(json!({}), |head| json!({ "expect": head }));
        let said = Said::new("audit.verify", vec![], expected);
        let (verified, _) = send(&served.client(0), &said).await.expect("it verifies");
        assert_eq!(verified["ok"], true, "{}: {verified}", said.body);
        self.heads.push(verified["head"].clone());
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
