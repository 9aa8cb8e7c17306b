//! Memories of a thread: types, owners, times to live, status, changes and deletion.

use serde_json::{Value, json};

use super::World;

#[tokio::test(flavor = "multi_thread")]
async fn a_memory_is_what_was_saved() {
    let Some(world) = World::open().await else { return };
    world.ok("speaker.add", json!({"speaker": "Ana"})).await;
    let added = world.ok("add_memory", json!({"content": "likes tea"})).await;
    let memory = &added["memory"];
    assert_eq!(added["memory_id"], memory["id"]);
    assert_eq!(
        (&memory["type"], &memory["status"], &memory["session_id"]),
        (&json!("memory"), &json!("valid"), &json!("t"))
    );
    assert_eq!((&memory["user_id"], &memory["agent_id"]), (&json!("ann"), &json!("helper")));
    assert_eq!((&memory["timestamp"], &memory["expires_at"]), (&memory["created_at"], &json!(null)));
    for (at, memory_type) in
        ["memory", "fact", "event", "instruction", "task", "guideline", "preference"].iter().enumerate()
    {
        let request = json!({"content": format!("number {at}"), "memory_type": memory_type, "memory_id": format!("r{at}"),
            "user_id": "bob", "metadata": {"n": at}, "timestamp": "2026-05-04", "speaker": "Ana", "status": "invalid"});
        let memory = world.ok("add_memory", request).await["memory"].clone();
        assert_eq!((&memory["type"], &memory["id"]), (&json!(memory_type), &json!(format!("r{at}"))));
        assert_eq!((&memory["user_id"], &memory["agent_id"]), (&json!("bob"), &json!("helper")));
        assert_eq!((&memory["status"], &memory["speaker"]), (&json!("invalid"), &json!("Ana")));
        assert_eq!((&memory["timestamp"], &memory["metadata"]), (&json!("2026-05-04T00:00:00Z"), &json!({"n": at})));
        assert_eq!(world.ok("profile.memory", json!({"memory_id": format!("r{at}")})).await["memory"], memory);
    }
    let (code, fields) = world.no("add_memory", json!({"content": "x", "memory_id": "r1"})).await;
    assert_eq!((code, &fields["existing_id"]), (409, &json!("r1")));
    world.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_memory_is_refused_by_its_field() {
    let Some(world) = World::open().await else { return };
    let id = world.remember("likes tea").await;
    let before = world.head().await;
    for (field, value) in [
        ("content", json!(" ")),
        ("content", json!("x".repeat(32_769))),
        ("memory_type", json!("message")),
        ("user_id", json!("")),
        ("memory_id", json!("x".repeat(65))),
        ("speaker", json!("Nobody")),
        ("metadata", json!({"a": "x".repeat(16_384)})),
        ("timestamp", json!("soon")),
        ("ttl_days", json!(0)),
        ("ttl_anchor", json!("timestamp")),
        ("status", json!("unknown")),
        ("link_type", json!("supports")),
        ("memory_id_to_link", json!(id)),
        ("link_id", json!("l")),
        ("link_timestamp", json!("2026-01-01")),
        ("link_metadata", json!({})),
        ("colour", json!("red")),
    ] {
        let mut request = json!({"content": "x"});
        request[field] = value;
        world.bad("add_memory", request, field).await;
    }
    for (field, value) in [
        ("content", json!("")),
        ("metadata", json!({"a": "x".repeat(16_384)})),
        ("ttl_days", json!(36_501)),
        ("ttl_anchor", json!("timestamp")),
        ("memory_type", json!("fact")),
    ] {
        let mut request = json!({"memory_id": id});
        request[field] = value;
        world.bad("update_memory", request, field).await;
    }
    assert_eq!(world.no("update_memory", json!({"memory_id": "nobody", "content": "x"})).await.0, 404);
    // Of this very thread alone.
    world.ok("create", json!({"thread_id": "other"})).await;
    let foreign = |mut request: Value| {
        request["thread_id"] = json!("other");
        request
    };
    assert_eq!(world.no("update_memory", foreign(json!({"memory_id": id, "content": "x"}))).await.0, 404);
    assert_eq!(world.ok("delete_memory", foreign(json!({"memory_id": id}))).await["deleted"], 0);
    assert_eq!(world.no("list_record_links", foreign(json!({"record_id": id}))).await.0, 404);
    let (code, fields) = world
        .no("add_memory", foreign(json!({"content": "x", "memory_id_to_link": id, "link_type": "supports"})))
        .await;
    assert_eq!((code, &fields["memory_id_to_link"]), (404, &json!(id)));
    let appended = world.ok("audit.events", json!({"from_seq": before})).await;
    let types: Vec<_> =
        appended["events"].as_array().unwrap().iter().skip(1).map(|event| event["type"].clone()).collect();
    assert_eq!(types, ["thread_created"], "nothing of what was refused is stored");
    world.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_replaces_what_it_names_and_keeps_the_rest() {
    let Some(world) = World::open().await else { return };
    let request = json!({"content": "likes tea", "memory_id": "r", "metadata": {"a": 1, "b": 2}, "timestamp": "2026-05-04", "ttl_days": 9});
    let first = world.ok("add_memory", request).await["memory"].clone();
    let before = world.head().await;
    let changed =
        world.ok("update_memory", json!({"memory_id": "r", "content": "likes green tea"})).await["memory"].clone();
    assert_eq!(changed["content"], "likes green tea");
    for same in ["metadata", "timestamp", "expires_at", "created_at", "type"] {
        assert_eq!(changed[same], first[same], "{same}");
    }
    // Replaced, not merged.
    let changed = world.ok("update_memory", json!({"memory_id": "r", "metadata": {"c": 3}})).await["memory"].clone();
    assert_eq!((&changed["metadata"], &changed["content"]), (&json!({"c": 3}), &json!("likes green tea")));
    let cleared =
        world.ok("update_memory", json!({"memory_id": "r", "timestamp": null, "ttl_days": null})).await["memory"]
            .clone();
    assert_eq!((&cleared["timestamp"], &cleared["expires_at"]), (&cleared["created_at"], &json!(null)));
    let anchored = json!({"memory_id": "r", "timestamp": "2090-01-01", "ttl_days": 1, "ttl_anchor": "timestamp"});
    assert_eq!(world.ok("update_memory", anchored).await["memory"]["expires_at"], "2090-01-02T00:00:00Z");
    let invalid = world.ok("update_memory", json!({"memory_id": "r", "status": "invalid"})).await["memory"].clone();
    assert_eq!(invalid["status"], "invalid");
    assert!(world.ok("profile.search", json!({"query": "tea"})).await["memories"].as_array().unwrap().is_empty());
    world.ok("update_memory", json!({"memory_id": "r", "status": "valid"})).await;
    let found = world.ok("profile.search", json!({"query": "green"})).await;
    assert_eq!(found["memories"][0]["id"], "r");
    let then = world.ok("profile.memory", json!({"memory_id": "r", "as_of": {"seq": before}})).await;
    assert_eq!(then["memory"]["content"], "likes tea");
    let history = world.ok("profile.history", json!({"memory_id": "r"})).await;
    let types: Vec<_> =
        history["events"].as_array().unwrap().iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(types, ["saved", "updated", "updated", "updated", "updated", "status_set", "status_set"]);
    world.close().await;
}

// Another one that changes the same memory at the same time loses nothing of it.
#[tokio::test(flavor = "multi_thread")]
async fn changes_at_the_same_time_are_all_kept() {
    let Some(world) = World::open().await else { return };
    world.ok("add_memory", json!({"content": "likes tea", "memory_id": "r"})).await;
    let changes = [
        json!({"memory_id": "r", "content": "likes green tea"}),
        json!({"memory_id": "r", "metadata": {"a": 1}}),
        json!({"memory_id": "r", "timestamp": "2026-05-04"}),
        json!({"memory_id": "r", "ttl_days": 9}),
        json!({"memory_id": "r", "status": "invalid"}),
    ];
    futures::future::join_all(changes.into_iter().map(|change| world.ok("update_memory", change))).await;
    let memory = world.ok("profile.memory", json!({"memory_id": "r"})).await["memory"].clone();
    assert_eq!((&memory["content"], &memory["metadata"]), (&json!("likes green tea"), &json!({"a": 1})));
    assert_eq!((&memory["timestamp"], &memory["status"]), (&json!("2026-05-04T00:00:00Z"), &json!("invalid")));
    assert!(memory["expires_at"].is_string());
    world.close().await;
}

// Many who give the same id at once: one has it, the others are told so, and nobody else of the thread notices.
#[tokio::test(flavor = "multi_thread")]
async fn an_id_given_by_many_at_once_is_one_ones_and_holds_up_nobody() {
    let Some(world) = World::open().await else { return };
    let same = |_| world.ask("add_memory", json!({"content": "likes tea", "memory_id": "same"}));
    let message = |_| json!({"messages": [{"role": "user", "content": "x y", "id": "said"}]});
    let other = |at| world.ask("add_memory", json!({"content": format!("number {at}")}));
    let (same, said, others) = futures::join!(
        futures::future::join_all((0..40).map(same)),
        futures::future::join_all((0..40).map(|at| world.ask("add_messages", message(at)))),
        futures::future::join_all((0..40).map(other)),
    );
    for asked in [same, said] {
        let (had, refused): (Vec<_>, Vec<_>) = asked.into_iter().partition(Result::is_ok);
        assert_eq!((had.len(), refused.len()), (1, 39));
        for error in refused.into_iter().filter_map(Result::err) {
            assert_eq!(error.kind.code(), 409, "{error}");
        }
    }
    assert!(others.iter().all(Result::is_ok), "{others:?}");
    world.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_memory_is_gone_and_its_messages_stay() {
    let Some(world) = World::open().await else { return };
    let message = world.say("I live in Porto").await;
    let memories = world.ok("profile.memories", json!({})).await;
    let id = memories["memories"][0]["id"].clone();
    let before = world.head().await;
    assert_eq!(world.ok("delete_memory", json!({"memory_id": id})).await, json!({"deleted": 1}));
    assert_eq!(world.ok("delete_memory", json!({"memory_id": id})).await, json!({"deleted": 0}));
    assert_eq!(world.no("profile.memory", json!({"memory_id": id, "as_of": {"seq": before}})).await.0, 404);
    assert_eq!(world.ok("get_message", json!({"message_id": message})).await["message"]["content"], "I live in Porto");
    world.close().await;
}
