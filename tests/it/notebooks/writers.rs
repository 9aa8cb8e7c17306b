//! Many writers of one entry, and commands that are sent twice.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{ACCOUNT, Served, text, user};
use crate::support::served::{Memlog, refused};

/// Adds one line to what stands there, and tries again for as long as somebody else was faster.
async fn add_line(served: &Served, memory: &str, line: usize) -> u64 {
    loop {
        let now = served.get(&ACCOUNT, "memory.read", json!({"id": memory, "entry": "list"})).await;
        let content = format!("{}\n{line}", text(&now["entry"], "content"));
        let request = json!({"id": memory, "entry": "list", "content": content, "version": now["entry"]["version"]});
        match served.ask(&ACCOUNT, "memory.save", request).await {
            Ok(saved) => return saved["entry"]["version"].as_u64().unwrap(),
            Err(error) => {
                assert_eq!(error.kind.code(), 409, "{error:?}");
                assert!(error.fields["version"].as_u64() > now["entry"]["version"].as_u64());
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_hundred_writers_of_one_entry_lose_no_update() {
    const WRITERS: usize = 200;
    let Some(served) = Served::start().await else { return };
    let memory = served.memory(&ACCOUNT, "company").await;
    served.save(&ACCOUNT, &memory, "list", "begin").await;
    let served = Arc::new(served);
    let mut writers = tokio::task::JoinSet::new();
    for line in 0..WRITERS {
        let (served, memory) = (Arc::clone(&served), memory.clone());
        writers.spawn(async move { add_line(&served, &memory, line).await });
    }
    let mut versions = writers.join_all().await;
    versions.sort_unstable();
    assert_eq!(versions, (2..=WRITERS as u64 + 1).collect::<Vec<_>>(), "each version is one writer's");
    let now = served.get(&ACCOUNT, "memory.read", json!({"id": memory, "entry": "list"})).await;
    let mut lines: Vec<usize> =
        text(&now["entry"], "content").lines().skip(1).map(|line| line.parse().unwrap()).collect();
    lines.sort_unstable();
    assert_eq!(lines, (0..WRITERS).collect::<Vec<_>>());
    let history = served.get(&ACCOUNT, "memory.history", json!({"id": memory, "entry": "list"})).await;
    assert_eq!(history["versions"].as_array().unwrap().len(), WRITERS + 1);
}

/// The reply and whether it was an earlier one.
async fn sent(memlog: &Memlog, key: &str, verb: &str, request: &Value) -> (Value, bool) {
    let mut headers = async_nats::HeaderMap::new();
    headers.insert("Nats-Msg-Id", key);
    let subject = format!("memlog.v1.acme.{verb}");
    let (body, replayed) = memlog.client.send(subject, headers, request.to_string().into()).await.unwrap();
    (serde_json::from_slice(&body).unwrap(), replayed)
}

// A client that heard nothing sends again; it must not create twice, write twice, nor be told what was forgotten meanwhile.
#[tokio::test(flavor = "multi_thread")]
async fn a_command_sent_twice_is_carried_out_once() {
    let Some(served) = Served::start().await else { return };
    let memlog = &served.memlog;
    let create = json!({"name": "company", "description": "What all know"});
    let (made, first) = sent(memlog, "k1", "memory.create", &create).await;
    let id = text(&made["memory"], "id").to_owned();
    let save = json!({"id": id, "entry": "tone", "content": "Warm.", "description": "How we write"});
    let (saved, _) = sent(memlog, "k2", "memory.save", &save).await;
    let agent = json!({"name": "support", "memories": [{"memory": id}], "instructions": "Be kind."});
    let (agent_made, _) = sent(memlog, "k3", "agent.create", &agent).await;
    let get = json!({"name": "other", "create_if_missing": true});
    let (got, _) = sent(memlog, "k4", "memory.get", &get).await;
    let head = served.head().await;
    for (key, verb, request, reply) in [
        ("k1", "memory.create", &create, &made),
        ("k2", "memory.save", &save, &saved),
        ("k3", "agent.create", &agent, &agent_made),
        ("k4", "memory.get", &get, &got),
    ] {
        assert_eq!(sent(memlog, key, verb, request).await, (reply.clone(), true), "{verb}");
    }
    assert!(!first);
    assert_eq!(served.head().await, head, "nothing was appended");
    let other = memlog.send("memlog.v1.acme.memory.save", &[("Nats-Msg-Id", "k1")], save.to_string()).await;
    assert_eq!(refused(other).kind.code(), 409);
    served.refuse(409, &user("ann").key("k2"), "memory.save", save.clone()).await;
    // Forgotten, purged, deleted since: the reply says what the client itself said, and no more.
    let forget = json!({"id": id, "entry": "tone"});
    sent(memlog, "k5", "memory.forget", &forget).await;
    assert_eq!(sent(memlog, "k5", "memory.forget", &forget).await, (json!({}), true));
    let (again, replayed) = sent(memlog, "k2", "memory.save", &save).await;
    assert!(replayed);
    assert_eq!((&again["entry"]["name"], &again["entry"]["version"]), (&json!("tone"), &json!(1)));
    assert_eq!((&again["entry"]["content"], &again["entry"]["description"]), (&Value::Null, &Value::Null));
    served.get(&ACCOUNT, "agent.delete", json!({"id": agent_made["agent"]["id"]})).await;
    let (again, _) = sent(memlog, "k3", "agent.create", &agent).await;
    assert_eq!((&again["agent"]["id"], &again["agent"]["instructions"]), (&agent_made["agent"]["id"], &Value::Null));
    let delete = json!({"id": id});
    let (trash, _) = sent(memlog, "k6", "memory.delete", &delete).await;
    let purge = json!({"id": id});
    sent(memlog, "k7", "trash.purge", &purge).await;
    assert_eq!(sent(memlog, "k7", "trash.purge", &purge).await, (json!({}), true));
    let (again, _) = sent(memlog, "k1", "memory.create", &create).await;
    assert_eq!((&again["memory"]["id"], &again["memory"]["description"]), (&json!(id), &Value::Null));
    let (again, _) = sent(memlog, "k6", "memory.delete", &delete).await;
    assert_eq!((&again["trash"]["name"], &again["trash"]["expires_at"]), (&Value::Null, &trash["trash"]["expires_at"]));
}
