//! Memories, agents and the trash as a client of any language meets them: every rule about who sees, reads and writes what, by
//! its code and its fields.

mod agents;
mod layers;
mod search;
mod trash;
mod writers;

use memlog_actors::{api::Error, limits::Limits};
use serde_json::{Value, json};

use crate::support::{
    Nats,
    served::{Memlog, refused},
};

pub(crate) struct Served {
    pub(crate) memlog: Memlog,
    _nats: Nats,
    _data: tempfile::TempDir,
}

/// Who calls: headers beside the request.
#[derive(Clone, Debug, Default)]
pub(crate) struct Caller {
    user: Option<String>,
    agent: Option<String>,
    key: Option<String>,
}

pub(crate) const ACCOUNT: Caller = Caller { user: None, agent: None, key: None };

pub(crate) fn user(id: &str) -> Caller {
    Caller { user: Some(id.to_owned()), ..ACCOUNT }
}

impl Caller {
    pub(crate) fn agent(self, id: &str) -> Self {
        Self { agent: Some(id.to_owned()), ..self }
    }

    pub(crate) fn key(self, key: &str) -> Self {
        Self { key: Some(key.to_owned()), ..self }
    }
}

impl Served {
    pub(crate) async fn start() -> Option<Self> {
        let nats = Nats::start().await?;
        let data = tempfile::tempdir().unwrap();
        let memlog = Memlog::open(data.path(), nats.url(), Limits::default()).await;
        Some(Self { memlog, _nats: nats, _data: data })
    }

    pub(crate) async fn ask(&self, caller: &Caller, verb: &str, request: Value) -> Result<Value, Error> {
        let named = [("Memlog-User", &caller.user), ("Memlog-Agent", &caller.agent), ("Nats-Msg-Id", &caller.key)];
        let headers: Vec<_> = named.iter().filter_map(|(name, value)| Some((*name, value.as_deref()?))).collect();
        let answer = self.memlog.send(&format!("memlog.v1.acme.{verb}"), &headers, request.to_string()).await;
        match answer {
            Ok(body) => Ok(serde_json::from_slice(&body).unwrap()),
            other => Err(refused(other)),
        }
    }

    /// An answer that must be one.
    pub(crate) async fn get(&self, caller: &Caller, verb: &str, request: Value) -> Value {
        let told = format!("{verb} {request} as {caller:?}");
        self.ask(caller, verb, request).await.unwrap_or_else(|error| panic!("{told}: {error:?}"))
    }

    /// A refusal with this code.
    pub(crate) async fn refuse(&self, code: u16, caller: &Caller, verb: &str, request: Value) -> Error {
        let told = format!("{verb} {request} as {caller:?}");
        match self.ask(caller, verb, request).await {
            Err(error) if error.kind.code() == code => error,
            other => panic!("{told}: not {code}: {other:?}"),
        }
    }

    pub(crate) async fn memory(&self, caller: &Caller, name: &str) -> String {
        let made = self.get(caller, "memory.create", json!({"name": name})).await;
        made["memory"]["id"].as_str().unwrap().to_owned()
    }

    pub(crate) async fn agent(&self, caller: &Caller, name: &str, memories: Value) -> Value {
        self.get(caller, "agent.create", json!({"name": name, "memories": memories})).await["agent"].clone()
    }

    pub(crate) async fn save(&self, caller: &Caller, memory: &str, entry: &str, content: &str) -> Value {
        let about = format!("About {entry}");
        let request = json!({"id": memory, "entry": entry, "content": content, "description": about});
        self.get(caller, "memory.save", request).await["entry"].clone()
    }

    pub(crate) async fn head(&self) -> u64 {
        self.get(&ACCOUNT, "audit.stats", json!({})).await["head"]["seq"].as_u64().unwrap()
    }
}

pub(crate) fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_else(|| panic!("{field} in {value}"))
}

pub(crate) fn names(entries: &Value) -> Vec<&str> {
    entries["entries"].as_array().unwrap().iter().map(|entry| text(entry, "name")).collect()
}

// What is created, under which names, and what a client that asks for "company" gets.
#[tokio::test(flavor = "multi_thread")]
async fn memories_are_unique_in_their_scope_and_found_by_id_or_name() {
    let Some(served) = Served::start().await else { return };
    let (ann, bob) = (user("ann"), user("bob"));
    let made = served.get(&ACCOUNT, "memory.create", json!({"name": "company", "description": "What all know"})).await;
    let memory = &made["memory"];
    let id = text(memory, "id");
    let shown = [&memory["name"], &memory["description"], &memory["user_id"], &memory["agent_id"]];
    assert_eq!(shown, [&json!("company"), &json!("What all know"), &Value::Null, &Value::Null]);
    assert_eq!((&memory["attached_to"], &memory["entry_count"]), (&json!([]), &json!(0)));
    assert_eq!(memory["created_at"], memory["updated_at"]);

    let taken = served.refuse(409, &ACCOUNT, "memory.create", json!({"name": "company"})).await;
    assert_eq!(taken.fields["existing_id"], id);
    for request in [json!({"id": id}), json!({"name": "company"})] {
        for caller in [&ACCOUNT, &ann] {
            assert_eq!(served.get(caller, "memory.get", request.clone()).await, made, "{caller:?}");
        }
    }
    // A user's own comes first, by its name; and it is nobody else's.
    let anns = served.memory(&ann, "company").await;
    assert_ne!(anns, id);
    for (caller, expected) in [(&ann, anns.as_str()), (&bob, id), (&ACCOUNT, id)] {
        let found = served.get(caller, "memory.get", json!({"name": "company"})).await;
        assert_eq!(found["memory"]["id"], expected);
    }
    assert_eq!(served.refuse(404, &bob, "memory.get", json!({"id": anns})).await.fields["id"], *anns);
    assert_eq!(served.get(&ACCOUNT, "memory.get", json!({"id": anns})).await["memory"]["user_id"], "ann");

    // Created on first use in the caller's own scope, whatever the account has.
    let bobs = json!({"name": "company", "create_if_missing": true, "description": "Bob's"});
    let first = served.get(&bob, "memory.get", bobs.clone()).await;
    assert_eq!((&first["memory"]["user_id"], &first["memory"]["description"]), (&json!("bob"), &json!("Bob's")));
    assert_eq!(served.get(&bob, "memory.get", bobs).await, first);
    let missing = served.refuse(404, &ACCOUNT, "memory.get", json!({"name": "nothing"})).await;
    assert_eq!(missing.fields["name"], "nothing");

    for wrong in ["", "a b", "ü", "a/b", &"x".repeat(65)] {
        let error = served.refuse(400, &ACCOUNT, "memory.create", json!({"name": wrong})).await;
        assert_eq!((&error.fields["field"], &error.fields["limit"]), (&json!("name"), &json!(64)), "{wrong}");
    }
    served.memory(&ACCOUNT, &"x".repeat(64)).await;
    for (request, field) in [
        (json!({}), "id"),
        (json!({"id": id, "name": "company"}), "id"),
        (json!({"id": id, "create_if_missing": true}), "id"),
        (json!({"id": id, "nam": "x"}), "nam"),
    ] {
        assert_eq!(served.refuse(400, &ACCOUNT, "memory.get", request).await.fields["field"], field);
    }
    served.memlog.close().await;
}

// Ten creators of one name at once: all get the same memory, whichever way each of them asks.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn creators_at_once_adopt_one() {
    let Some(served) = Served::start().await else { return };
    let served = std::sync::Arc::new(served);
    let mut creators = tokio::task::JoinSet::new();
    for _ in 0..10 {
        let served = std::sync::Arc::clone(&served);
        creators.spawn(async move {
            let asked = json!({"name": "company", "create_if_missing": true});
            let memory = served.get(&ACCOUNT, "memory.get", asked).await["memory"]["id"].clone();
            let asked = json!({"name": "support", "create_if_missing": true});
            (memory, served.get(&ACCOUNT, "agent.get", asked).await["agent"]["id"].clone())
        });
    }
    let all = creators.join_all().await;
    assert!(all.iter().all(|ids| ids == &all[0]), "{all:?}");
    let listed = served.get(&ACCOUNT, "memory.list", json!({})).await;
    assert_eq!(listed["memories"].as_array().unwrap().len(), 1);
}

// The first use of every verb of entries, and the versions that tell who was first.
#[tokio::test(flavor = "multi_thread")]
async fn entries_have_versions_that_only_grow() {
    let Some(served) = Served::start().await else { return };
    let company = served.memory(&ACCOUNT, "company").await;
    let first = json!({"name": "company", "entry": "tone", "content": "Warm and brief."});
    assert_eq!(served.refuse(400, &ACCOUNT, "memory.save", first).await.fields["field"], "description");
    let one = served.save(&ACCOUNT, &company, "tone", "Warm and brief.").await;
    assert_eq!((&one["version"], &one["updated_by"], &one["user_id"]), (&json!(1), &json!("api"), &Value::Null));
    assert_eq!((&one["content"], &one["description"]), (&json!("Warm and brief."), &json!("About tone")));
    // What is left out is kept.
    let request = json!({"id": company, "entry": "tone", "content": "Warm, brief, no jargon.", "version": 1});
    let two = served.get(&ACCOUNT, "memory.save", request.clone()).await;
    assert_eq!((&two["entry"]["version"], &two["entry"]["description"]), (&json!(2), &json!("About tone")));
    assert_eq!(served.get(&ACCOUNT, "memory.read", json!({"id": company, "entry": "tone"})).await, two);
    // Stale: the current version is told, and nothing changes.
    for verb in ["memory.save", "memory.forget"] {
        let mut stale = json!({"id": company, "entry": "tone", "version": 1});
        if verb == "memory.save" {
            stale["content"] = "lost".into();
        }
        assert_eq!(served.refuse(409, &ACCOUNT, verb, stale).await.fields["version"], 2);
    }
    let nowhere = json!({"id": company, "entry": "prices", "content": "x", "description": "x", "version": 1});
    assert!(!served.refuse(409, &ACCOUNT, "memory.save", nowhere).await.fields.contains_key("version"));
    let missing = json!({"id": company, "entry": "prices"});
    for verb in ["memory.forget", "memory.read", "memory.history"] {
        assert_eq!(served.refuse(404, &ACCOUNT, verb, missing.clone()).await.fields["entry"], "prices", "{verb}");
    }
    let before = served.head().await;
    served.get(&ACCOUNT, "memory.forget", json!({"id": company, "entry": "tone", "version": 2})).await;
    served.refuse(404, &ACCOUNT, "memory.read", json!({"id": company, "entry": "tone"})).await;
    let past = json!({"id": company, "entry": "tone", "as_of": {"seq": before}});
    served.refuse(404, &ACCOUNT, "memory.read", past.clone()).await;
    assert_eq!(served.save(&ACCOUNT, &company, "tone", "Dry.").await["version"], 3);
    let history = served.get(&ACCOUNT, "memory.history", json!({"id": company, "entry": "tone"})).await;
    let told: Vec<_> =
        history["versions"].as_array().unwrap().iter().map(|it| (&it["version"], &it["content"])).collect();
    let (null, dry) = (Value::Null, json!("Dry."));
    assert_eq!(told, [(&json!(1), &null), (&json!(2), &null), (&json!(3), &dry)]);
    assert_eq!(history["versions"][0]["description"], Value::Null);
    let memory = served.get(&ACCOUNT, "memory.get", json!({"id": company})).await;
    assert_eq!(memory["memory"]["entry_count"], 1);
    served.memlog.close().await;
}

// Sizes to the byte, names to the character, and what is refused changes nothing.
#[tokio::test(flavor = "multi_thread")]
async fn limits_are_refused_and_not_clamped() {
    let Some(served) = Served::start().await else { return };
    let id = served.memory(&ACCOUNT, "company").await;
    let save = |entry: &str, content: &str, about: &str| json!({"id": id, "entry": entry, "content": content, "description": about});
    let fits = "é".repeat(16_384);
    served.get(&ACCOUNT, "memory.save", save(&"猫".repeat(128), &fits, &"x".repeat(1_024))).await;
    for (request, field, limit) in [
        (save("tone", &format!("{fits}x"), "x"), "content", json!(32_768)),
        (save(&"猫".repeat(129), "x", "x"), "entry", json!(128)),
        (save("tone", "x", &"x".repeat(1_025)), "description", json!(1_024)),
        (save("tone", " \n", "x"), "content", Value::Null),
        (save(" ", "x", "x"), "entry", json!(128)),
        (save("a\nb", "x", "x"), "entry", Value::Null),
        (save("tone", "x", "one\nline"), "description", Value::Null),
        (save("tone", "x", "one\u{2028}line"), "description", Value::Null),
    ] {
        let error = served.refuse(400, &ACCOUNT, "memory.save", request).await;
        let told = error.fields.get("limit").cloned().unwrap_or_default();
        assert_eq!((&error.fields["field"], told), (&json!(field), limit));
    }
    for (limit, told) in [(0, 100), (101, 100)] {
        let request = json!({"id": id, "query": "x", "limit": limit});
        assert_eq!(served.refuse(400, &ACCOUNT, "memory.search", request).await.fields["limit"], told);
    }
    for query in ["", "  ", &"x".repeat(1_025)] {
        let error = served.refuse(400, &ACCOUNT, "memory.search", json!({"id": id, "query": query})).await;
        assert_eq!(error.fields["field"], "query");
    }
    let mut many = Vec::new();
    for place in 0..11 {
        many.push(json!({"memory": served.memory(&ACCOUNT, &format!("m{place}")).await}));
    }
    let error = served.refuse(400, &ACCOUNT, "agent.create", json!({"name": "a", "memories": many})).await;
    assert_eq!((&error.fields["field"], &error.fields["limit"]), (&json!("memories"), &json!(10)));
    let twice = json!({"name": "a", "memories": [many[0], many[0]]});
    assert_eq!(served.refuse(400, &ACCOUNT, "agent.create", twice).await.fields["field"], "memories");
    let agent = served.agent(&ACCOUNT, "a", json!(many[..10])).await;
    assert!(agent["memories"].as_array().unwrap().iter().all(|it| it["writes"] == false));
    let brief = json!({"agent": agent["id"], "format": "html"});
    assert_eq!(served.refuse(400, &ACCOUNT, "agent.brief", brief).await.fields["field"], "format");
    let listed = served.get(&ACCOUNT, "memory.entries", json!({"id": id})).await;
    assert_eq!(names(&listed), ["猫".repeat(128)]);
    served.memlog.close().await;
}
