//! A folder with something of everything in it, much of it forgotten, and what it answers.

use memlog_actors::api::{Context, Verb, agent, audit, error::Kind, memory, note, profile, speaker, thread, trash};
use serde_json::{Value, json};

use super::{
    computer::Computer,
    life::{Life, lived},
    world::{World, acme},
};

const PROFILES: [&str; 2] = ["alice", "bob"];
/// What is looked for, what was forgotten among it.
const QUERIES: [&str; 4] = ["cat Miso", "harbour", "quokka", "refund"];

pub(super) struct Filled {
    pub(super) world: World,
    pub(super) computer: Computer,
    /// In the midst of the log.
    pub(super) then: u64,
    pub(super) forgotten: Vec<(&'static str, String)>,
}

/// By a system without a model, so that every vector is still to be made.
pub(super) fn filled() -> Filled {
    let (world, computer) = (World::new(), Computer::new(7));
    let (then, forgotten) = lived(&world, &computer, async |life| {
        let mut forgotten = Vec::new();
        for profile in PROFILES {
            forgotten.extend(profile_of(life, profile).await.map(|id| (profile, id)));
        }
        let then = life.system.health().seq;
        for profile in PROFILES {
            thread_of(life, profile).await;
        }
        life.ask::<profile::Remember>(json!({"profile": "gone", "content": "The quokka was here"})).await;
        life.ask::<profile::Delete>(json!({"profile": "gone"})).await;
        notebooks(life).await;
        (then, forgotten)
    })
    .expect("started");
    Filled { world, computer, then, forgotten }
}

/// Two of its memories are forgotten.
async fn profile_of(life: &Life<'_>, profile: &'static str) -> [String; 2] {
    let remember = async |content: String, more: Value| {
        let mut request = json!({"profile": profile, "content": content});
        request.as_object_mut().expect("an object").extend(more.as_object().cloned().unwrap_or_default());
        life.ask::<profile::Remember>(request).await["memory"]["id"].as_str().expect("an id").to_owned()
    };
    life.ask::<speaker::Add>(json!({"profile": profile, "speaker": "Ann"})).await;
    for n in 0..6 {
        remember(format!("{profile} saw ship {n} in the harbour"), json!({})).await;
    }
    remember("My cat is called Miso".to_owned(), json!({"speaker": "Ann"})).await;
    remember("The parking spot is 7".to_owned(), json!({"ttl_days": 1})).await;
    let old = remember("The office is in the harbour".to_owned(), json!({})).await;
    life.ask::<profile::Supersede>(json!({"profile": profile, "memory_id": old, "content": "The office is uptown"}))
        .await;
    let gone =
        [remember("A quokka bit me".to_owned(), json!({})).await, remember("Quokka two".to_owned(), json!({})).await];
    for id in &gone {
        life.ask::<profile::Forget>(json!({"profile": profile, "memory_id": id})).await;
    }
    for session in ["trip", "work"] {
        let messages: Vec<_> = (0..3)
            .map(|n| json!({"role": "user", "content": format!("Message {n} of the {session} about Miso")}))
            .collect();
        life.ask::<profile::Ingest>(
            json!({"profile": profile, "session_id": session, "messages": messages, "wait": true}),
        )
        .await;
    }
    life.ask::<profile::DeleteSession>(json!({"profile": profile, "session_id": "work"})).await;
    gone
}

async fn thread_of(life: &Life<'_>, profile: &str) {
    let thread = format!("desk-{profile}");
    life.ask::<thread::Create>(
        json!({"profile": profile, "thread_id": thread, "settings": {"extraction": {"enabled": false}}}),
    )
    .await;
    let messages: Vec<_> = (0..4)
        .map(|n| json!({"role": "user", "content": format!("Said {n} in the harbour"), "id": format!("m{profile}{n}")}))
        .collect();
    life.ask::<thread::AddMessages>(json!({"profile": profile, "thread_id": thread, "messages": messages})).await;
    let one = |n: usize| json!({"profile": profile, "thread_id": thread, "message_id": format!("m{profile}{n}")});
    life.ask::<thread::DeleteMessage>(one(1)).await;
    let mut changed = one(2);
    changed["content"] = json!("Said otherwise, of the cat");
    life.ask::<thread::UpdateMessage>(changed).await;
    let first = format!("first-{profile}");
    for (id, link) in [(first.clone(), None), (format!("second-{profile}"), Some(first))] {
        let mut memory = json!({"profile": profile, "thread_id": thread, "content": format!("{id} is a memory"),
            "memory_id": id});
        if let Some(to) = link {
            memory["memory_id_to_link"] = json!(to);
            memory["link_type"] = json!("refines");
        }
        life.ask::<thread::AddMemory>(memory).await;
    }
}

async fn notebooks(life: &Life<'_>) {
    for book in ["company", "diary", "gone"] {
        life.ask::<memory::Create>(json!({"name": book})).await;
        for (entry, content) in [("tone", "Short"), ("tone", "Short and kind"), ("refunds", "Refund in 30 days")] {
            life.ask::<memory::Save>(json!({"name": book, "entry": entry, "content": content, "description": "How"}))
                .await;
        }
    }
    life.ask::<memory::Forget>(json!({"name": "diary", "entry": "refunds"})).await;
    for (book, purged) in [("diary", false), ("gone", true)] {
        let id = life.ask::<memory::Get>(json!({"name": book})).await["memory"]["id"].clone();
        life.ask::<memory::Delete>(json!({"id": id})).await;
        if purged {
            life.ask::<trash::Purge>(json!({"id": id})).await;
        }
    }
    let books = life.ask::<memory::List>(json!({})).await;
    let attached = json!([{"memory": books["memories"][0]["id"], "writes": true}]);
    life.ask::<agent::Create>(json!({"name": "support", "memories": attached})).await;
    life.ask::<note::MemorySave>(json!({"name": "prices", "body": "<p>Say the date</p>"})).await;
    let gone = life.ask::<note::MemorySave>(json!({"name": "quokka", "body": "<p>quokka</p>"})).await;
    life.ask::<note::MemoryRemove>(json!({"id": gone["note"]["id"]})).await;
}

impl Filled {
    /// All that is read, now and of the past, without what depends on the very microsecond; the log verifies, and what was forgotten
    /// is not there.
    pub(super) async fn answers(&self, life: &Life<'_>) -> Vec<Value> {
        let mut all = Vec::new();
        for as_of in [json!(null), json!({"seq": self.then})] {
            let asked = |mut request: Value| {
                if !as_of.is_null() {
                    request["as_of"] = as_of.clone();
                }
                request
            };
            for profile in PROFILES {
                let about = |more: Value| {
                    let mut request = asked(json!({"profile": profile}));
                    request.as_object_mut().expect("an object").extend(more.as_object().cloned().unwrap_or_default());
                    request
                };
                for status in ["valid", "invalid"] {
                    all.push(read::<profile::Memories>(life, about(json!({"status": status}))).await);
                }
                for query in QUERIES {
                    all.push(read::<profile::Search>(life, about(json!({"query": query, "limit": 50}))).await);
                }
                all.push(read::<speaker::Memories>(life, about(json!({"speaker": "Ann"}))).await);
                let thread = json!({"thread_id": format!("desk-{profile}")});
                all.push(read::<thread::List>(life, about(json!({}))).await);
                all.push(read::<thread::GetMessages>(life, about(thread.clone())).await);
                let links = json!({"thread_id": thread["thread_id"], "record_id": format!("first-{profile}")});
                all.push(read::<thread::ListRecordLinks>(life, about(links)).await);
            }
            all.push(read::<memory::List>(life, asked(json!({}))).await);
            all.push(read::<memory::Entries>(life, asked(json!({"name": "company"}))).await);
            all.push(read::<memory::History>(life, asked(json!({"name": "company", "entry": "tone"}))).await);
            all.push(read::<memory::Search>(life, asked(json!({"name": "company", "query": "refund"}))).await);
            all.push(read::<note::MemoryList>(life, asked(json!({}))).await);
        }
        all.push(read::<trash::List>(life, json!({})).await);
        all.push(read::<agent::List>(life, json!({})).await);
        all.push(read::<audit::Events>(life, json!({"limit": 500})).await);
        for (profile, id) in &self.forgotten {
            let asked = json!({"profile": profile, "memory_id": id});
            let gone = life.try_ask::<profile::Memory>(&acme(), asked).await.expect("answered");
            assert_eq!(gone.expect_err("forgotten").kind, Kind::NotFound);
        }
        assert!(!all.iter().any(|it| it.to_string().contains("quokka")), "forgotten, and back: {all:#?}");
        let verified = life.ask::<audit::Verify>(json!({})).await;
        assert_eq!(verified["ok"], true, "{verified}");
        all
    }
}

async fn read<V: Verb>(life: &Life<'_>, request: Value) -> Value {
    let context: Context = acme();
    match life.try_ask::<V>(&context, request).await.expect("answered") {
        Ok(mut answer) => {
            strip(&mut answer);
            answer
        }
        Err(error) => json!([V::NOUN, V::VERB, format!("{:?}", error.kind)]),
    }
}

/// Scores weigh how old something is.
fn strip(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.remove("score");
            fields.values_mut().for_each(strip);
        }
        Value::Array(values) => values.iter_mut().for_each(strip),
        _ => {}
    }
}
