//! Threads as any NATS client meets them: JSON in, JSON out, and the errors by their fields.

mod card;
mod images;
mod links;
mod memories;
mod messages;
mod opening;
mod parts;
mod search;
mod summary;

use memlog::client::CallError;
use memlog_actors::{api::Error, limits::Limits};
use serde_json::{Value, json};

use crate::support::{Nats, served::Memlog};

/// A memlog with one thread, `t`, of the user `ann` and the agent `helper` in the profile `p`.
pub(crate) struct World {
    pub(crate) memlog: Memlog,
    _nats: Nats,
    _data: tempfile::TempDir,
}

impl World {
    /// None where no nats-server is.
    pub(crate) async fn open() -> Option<Self> {
        Self::open_with(json!({})).await
    }

    /// The same with settings of the thread's own.
    pub(crate) async fn open_with(settings: Value) -> Option<Self> {
        let nats = Nats::start().await?;
        let data = tempfile::tempdir().unwrap();
        let memlog = Memlog::open(data.path(), nats.url(), Limits::default()).await;
        let world = Self { memlog, _nats: nats, _data: data };
        world.ok("create", json!({"user_id": "ann", "agent_id": "helper", "settings": settings})).await;
        Some(world)
    }

    /// Sends `thread.<verb>`, or another noun's verb if one is named; profile and thread are filled in where they are left out.
    pub(crate) async fn ask(&self, verb: &str, mut request: Value) -> Result<Value, Error> {
        let fields = request.as_object_mut().unwrap();
        fields.entry("profile").or_insert(json!("p"));
        let verb = if verb.contains('.') { verb.to_owned() } else { format!("thread.{verb}") };
        if verb.starts_with("thread.") && verb != "thread.list" {
            fields.entry("thread_id").or_insert(json!("t"));
        }
        let body = serde_json::to_vec(&request).unwrap();
        match self.memlog.send(&format!("memlog.v1.acme.{verb}"), &[], body).await {
            Ok(reply) => Ok(serde_json::from_slice(&reply).unwrap()),
            Err(CallError::Refused(error)) => Err(error),
            Err(other) => panic!("{verb}: {other:?}"),
        }
    }

    pub(crate) async fn ok(&self, verb: &str, request: Value) -> Value {
        let shown = request.to_string();
        self.ask(verb, request).await.unwrap_or_else(|error| panic!("{verb} {shown}: {error} {:?}", error.fields))
    }

    /// The code of a refusal, and what it says of `field` (or of the field that the code brings along).
    pub(crate) async fn no(&self, verb: &str, request: Value) -> (u16, serde_json::Map<String, Value>) {
        let shown = request.to_string();
        match self.ask(verb, request).await {
            Ok(reply) => panic!("{verb} {shown} was not refused: {reply}"),
            Err(error) => (error.kind.code(), error.fields),
        }
    }

    /// Refused with 400 by this field.
    pub(crate) async fn bad(&self, verb: &str, request: Value, field: &str) {
        let shown = request.to_string();
        let (code, fields) = self.no(verb, request).await;
        assert_eq!((code, fields.get("field")), (400, Some(&json!(field))), "{verb} {shown}");
    }

    /// Adds a message and waits for its extraction; its id.
    pub(crate) async fn say(&self, text: &str) -> String {
        let added = self.ok("add_messages", json!({"messages": [{"role": "user", "content": text}]})).await;
        self.ok("wait_for_memory_extraction", json!({})).await;
        added["message_ids"][0].as_str().unwrap().to_owned()
    }

    /// Saves a memory; its id.
    pub(crate) async fn remember(&self, content: &str) -> String {
        let added = self.ok("add_memory", json!({"content": content})).await;
        added["memory_id"].as_str().unwrap().to_owned()
    }

    /// The log's head.
    pub(crate) async fn head(&self) -> Value {
        let mut stats = json!({});
        let body = serde_json::to_vec(&stats).unwrap();
        let reply = self.memlog.send("memlog.v1.acme.audit.stats", &[], body).await.unwrap();
        stats = serde_json::from_slice(&reply).unwrap();
        stats["head"]["seq"].clone()
    }

    pub(crate) async fn close(self) {
        self.memlog.close().await;
    }
}
