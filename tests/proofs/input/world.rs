//! Where the requests are sent: a memlog through a nats-server of its own, with everything in it that a good request names.

use std::sync::Arc;

use memlog::door::connect;
use memlog_actors::{limits::Limits, port::Clock as _};
use serde_json::{Value, json};

use super::requests::Names;
use crate::support::{
    Nats,
    images::{base64, dot},
    served::{Fickle, Memlog, UNREADABLE, Wall},
};

/// A memlog, and what stands behind the names in the good requests.
pub(crate) struct World {
    pub(crate) memlog: Memlog,
    pub(crate) names: Names,
    _nats: Nats,
    _data: tempfile::TempDir,
}

impl World {
    /// None where no nats-server is.
    pub(crate) async fn open() -> Option<Self> {
        let nats = Nats::start().await?;
        let data = tempfile::tempdir().unwrap();
        let connection = connect::Options::url(nats.url());
        let memlog =
            Memlog::open_with(data.path(), connection, Limits::default(), None, Arc::new(Fickle::default())).await;
        let mut world = Self { memlog, names: Names::new(), _nats: nats, _data: data };
        world.names.insert("png".to_owned(), json!(base64(&dot(7))));
        world.profiles().await;
        world.thread().await;
        world.notebooks().await;
        world.notes().await;
        world.pages().await;
        Some(world)
    }

    /// A request that must succeed; `note.*` is asked for by an administrator, everything else by the account.
    pub(crate) async fn ask(&self, verb: &str, request: Value) -> Value {
        let sent = self.memlog.send(&format!("memlog.v1.acme.{verb}"), headers(verb), request.to_string()).await;
        let body = sent.unwrap_or_else(|error| panic!("{verb} {request}: {error:?}"));
        serde_json::from_slice(&body).unwrap()
    }

    /// The log's head: it moves when anything is appended, whatever it is.
    pub(crate) async fn head(&self) -> Value {
        self.ask("audit.stats", json!({})).await["head"].clone()
    }

    fn name(&mut self, name: &str, value: &Value) {
        assert!(!value.is_null(), "{name}");
        self.names.insert(name.to_owned(), value.clone());
    }

    async fn profiles(&mut self) {
        for name in ["gone", "ann"] {
            self.ask("profile.get", json!({ "profile": name })).await;
        }
        for name in ["Ana", "Cy"] {
            self.ask("speaker.add", json!({"profile": "ann", "speaker": name})).await;
        }
        for (name, content) in [
            ("kept", "Ana moved to Lisbon in May."),
            ("superseded", "The oven is blue."),
            ("forgotten", "The cat is called Miso."),
        ] {
            let request = json!({"profile": "ann", "content": content, "type": "fact", "speaker": "Ana"});
            let told = self.ask("profile.remember", request).await;
            self.name(name, &told["memory"]["id"]);
        }
        for (session, content) in
            [("doomed", "The old harbour was closed."), ("chat", "The tram was late."), ("failing", UNREADABLE)]
        {
            let messages = json!([{"role": "user", "content": content}]);
            let request = json!({"profile": "ann", "session_id": session, "messages": messages, "wait": true});
            let told = self.ask("profile.ingest", request).await;
            self.name(if session == "failing" { "failed" } else { "job" }, &told["job_id"]);
        }
    }

    async fn thread(&mut self) {
        let settings = json!({"extraction": {"enabled": false}});
        for thread in ["ended", "talk"] {
            let request =
                json!({"profile": "ann", "thread_id": thread, "user_id": "u1", "agent_id": "a1", "settings": settings});
            self.ask("thread.create", request).await;
        }
        let talk = |more: Value| {
            let mut request = json!({"profile": "ann", "thread_id": "talk"});
            request.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            request
        };
        let said = |id: &str| json!({"role": "user", "content": format!("The sea was rough, as {id} says."), "id": id});
        let messages = json!({"messages": [said("m-1"), said("m-2"), said("m-3")]});
        self.ask("thread.add_messages", talk(messages)).await;
        for id in ["r-1", "r-2", "r-3", "r-4"] {
            let memory = json!({"content": format!("The sea has a side called {id}."), "memory_type": "fact",
                "memory_id": id, "autonomous_linking": false});
            self.ask("thread.add_memory", talk(memory)).await;
        }
        for (id, from, to, label) in [("l-1", "r-3", "r-2", "notes"), ("l-2", "r-2", "r-1", "supports")] {
            let link = json!({"relation_id": id, "source_record_id": from, "source_record_type": "fact",
                "target_record_id": to, "target_record_type": "fact", "relation_type": label});
            self.ask("thread.link_records", talk(link)).await;
        }
        for (seed, id) in ["i-1", "i-2"].into_iter().enumerate() {
            let image = json!({"image": base64(&dot(seed as u64)), "image_id": id, "description": "a kayak",
                "metadata": {"source": "camera"}});
            self.ask("thread.add_image", talk(image)).await;
        }
    }

    async fn notebooks(&mut self) {
        for (name, key) in [
            ("company", "notebook"),
            ("to-rename", "renamed"),
            ("to-delete", "deleted"),
            ("to-restore", "restored"),
            ("to-purge", "purged"),
        ] {
            let told = self.ask("memory.create", json!({ "name": name })).await;
            self.name(key, &told["memory"]["id"]);
        }
        for entry in ["refunds", "old", "older"] {
            let request =
                json!({"name": "company", "entry": entry, "content": "Within 30 days.", "description": "Of it."});
            self.ask("memory.save", request).await;
        }
        for key in ["restored", "purged"] {
            self.ask("memory.delete", json!({"id": self.names[key]})).await;
        }
        for key in ["agent", "ended"] {
            let told = self.ask("agent.create", json!({ "name": format!("the {key}") })).await;
            self.name(key, &told["agent"]["id"]);
        }
    }

    async fn notes(&mut self) {
        for key in ["note", "removed", "dropped"] {
            let request = json!({"name": key, "category": "style", "kind_key": "kSkill", "body": "<p>Short.</p>"});
            let told = self.ask("note.memory_save", request).await;
            self.name(key, &told["note"]["id"]);
        }
    }

    async fn pages(&mut self) {
        self.ask("profile.wait", json!({"profile": "ann"})).await;
        for verb in ["profile.list", "memory.list", "agent.list", "trash.list", "job.list"] {
            let told = self.ask(verb, json!({"limit": 1})).await;
            self.name(&format!("cursor {verb}"), &told["cursor"]);
        }
        for verb in ["profile.memories", "thread.list"] {
            let told = self.ask(verb, json!({"profile": "ann", "limit": 1})).await;
            self.name(&format!("cursor {verb}"), &told["cursor"]);
        }
        let head = self.head().await;
        self.name("seq", &head["seq"]);
        self.name("hash", &head["hash"]);
        self.name("now", &json!(Wall.now().to_string()));
    }
}

/// Who asks.
pub(crate) fn headers(verb: &str) -> &'static [(&'static str, &'static str)] {
    if verb.starts_with("note.") { &[("Memlog-User", "ann"), ("Memlog-Role", "admin")] } else { &[] }
}
