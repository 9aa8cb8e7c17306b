//! Messages: what they are made of, how long they live, windows, edits and deletions.

use serde_json::{Value, json};

use super::World;
use crate::support::served::until;

fn ids(shown: &Value) -> Vec<&str> {
    shown["messages"].as_array().unwrap().iter().map(|message| message["id"].as_str().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_said_comes_back_as_it_was_said() {
    let Some(world) = World::open().await else { return };
    world.ok("speaker.add", json!({"speaker": "Ana"})).await;
    let said = json!([
        {"role": "user", "content": "hello", "id": "m1", "timestamp": "2026-05-04T09:00:00Z", "metadata": {"a": [1]}, "speaker": "Ana"},
        {"role": "narrator", "content": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]},
        {"role": "assistant", "content": "hi"},
    ]);
    let added = world.ok("add_messages", json!({"messages": said})).await;
    assert_eq!(added["message_ids"][0], "m1");
    assert!(added["job_id"].is_string() && added.get("warnings").is_none());
    let shown = world.ok("get_messages", json!({})).await;
    let first = &shown["messages"][0];
    assert_eq!((&first["id"], &first["role"], &first["content"]), (&json!("m1"), &json!("user"), &json!("hello")));
    assert_eq!((&first["timestamp"], &first["speaker"]), (&json!("2026-05-04T09:00:00Z"), &json!("Ana")));
    assert_eq!((&first["metadata"], &first["expires_at"]), (&json!({"a": [1]}), &json!(null)));
    let second = &shown["messages"][1];
    assert_eq!(second["role"], "narrator");
    assert_eq!((&second["content"][1]["type"], &second["content"][1]["text"]), (&json!("text"), &json!("two")));
    assert_eq!(second["content"][1]["id"].as_str().map(str::len), Some(36));
    let one = world.ok("get_message", json!({"message_id": "m1"})).await;
    assert_eq!(one["message"], *first);
    let (code, fields) = world.no("get_message", json!({"message_id": "nobody"})).await;
    assert_eq!((code, &fields["message_id"]), (404, &json!("nobody")));
    // Both doors see the same; a text in parts is found by each of them.
    let found = world.ok("profile.search", json!({"query": "two", "types": ["message"]})).await;
    assert_eq!(found["memories"][0]["content"], "one\ntwo");
    world.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_message_is_refused_as_a_whole_by_its_field() {
    let Some(world) = World::open().await else { return };
    world.ok("add_messages", json!({"messages": [{"role": "user", "content": "x", "id": "taken"}]})).await;
    let before = world.head().await;
    let message = |field: &str, value: Value| {
        let mut message = json!({"role": "user", "content": "x"});
        message[field] = value;
        json!({"messages": [{"role": "user", "content": "fine"}, message]})
    };
    for (field, value, named) in [
        ("role", json!(""), "messages[1].role"),
        ("role", json!("r".repeat(65)), "messages[1].role"),
        ("content", json!(" "), "messages[1].content"),
        ("content", json!(""), "messages[1].content"),
        ("content", json!([]), "messages[1].content"),
        ("content", json!(7), "messages[1].content"),
        ("content", json!("x".repeat(32_769)), "messages[1].content"),
        (
            "content",
            json!([{"type": "text", "text": "x".repeat(20_000)}, {"type": "text", "text": "x".repeat(20_000)}]),
            "messages[1].content",
        ),
        ("content", json!([{"type": "text"}]), "messages[1].content[0].text"),
        ("content", json!([{"type": "text", "text": "x", "bytes": "x"}]), "messages[1].content[0].bytes"),
        ("content", json!([{"type": "image"}]), "messages[1].content[0].bytes"),
        ("content", json!([{"type": "image", "bytes": "", "text": "x"}]), "messages[1].content[0].text"),
        ("content", json!([{"type": "sound", "text": "x"}]), "messages[1].content[0].type"),
        ("content", json!([{"type": "text", "text": "x", "size": 1}]), "messages[1].content[0].size"),
        ("id", json!("x".repeat(65)), "messages[1].id"),
        ("metadata", json!({"a": "x".repeat(16_384)}), "messages[1].metadata"),
        ("speaker", json!("Nobody"), "messages[1].speaker"),
        ("mood", json!("good"), "messages[1].mood"),
    ] {
        world.bad("add_messages", message(field, value), named).await;
    }
    for (field, value) in [
        ("ttl_days", json!([1])),
        ("ttl_days", json!(0.5)),
        ("ttl_anchor", json!("timestamp")),
        ("ttl_anchor", json!(["created_at"])),
        ("metadata", json!([{"a": 1}])),
        ("messages", json!([])),
    ] {
        let mut request = message("role", json!("user"));
        request[field] = value;
        world.bad("add_messages", request, field).await;
    }
    for (field, value, named) in [
        ("ttl_days", json!([null, 0]), "ttl_days[1]"),
        ("metadata", json!([null, {"a": "x".repeat(16_384)}]), "metadata[1]"),
    ] {
        let mut request = message("role", json!("user"));
        request[field] = value;
        world.bad("add_messages", request, named).await;
    }
    for (id, existing) in [("taken", "taken"), ("twice", "twice")] {
        let request = json!({"messages": [{"role": "user", "content": "x", "id": "twice"}, {"role": "user", "content": "x", "id": id}]});
        let (code, fields) = world.no("add_messages", request).await;
        assert_eq!((code, &fields["existing_id"]), (409, &json!(existing)));
    }
    assert_eq!(world.head().await, before, "nothing of a refused batch is stored");
    world.close().await;
}

// Call-level metadata stands in place of the messages' own; days and anchors are one for all or one for each.
#[tokio::test(flavor = "multi_thread")]
async fn metadata_and_times_to_live_are_shared_or_one_each() {
    let Some(world) = World::open_with(json!({"retention": {"default_ttl_days": 10, "max_ttl_days": 30}})).await else {
        return;
    };
    let said = |n: usize| -> Vec<Value> {
        let message = |at| json!({"role": "user", "content": format!("m{at}"), "timestamp": "2090-01-01T00:00:00Z", "metadata": {"own": at}});
        (0..n).map(message).collect()
    };
    let added = world
        .ok(
            "add_messages",
            json!({"messages": said(4), "metadata": [{"a": 1}, null, {"a": 3}, {}], "ttl_days": [2, null, 45, 1],
                "ttl_anchor": ["created_at", "created_at", "created_at", "timestamp"]}),
        )
        .await;
    assert_eq!(added["warnings"], json!(["ttl_days of 45 was cut to the thread's maximum of 30 days"]));
    world.ok("add_messages", json!({"messages": said(1), "metadata": {"all": true}})).await;
    let shown = world.ok("get_messages", json!({})).await;
    let messages = shown["messages"].as_array().unwrap();
    let metadata: Vec<_> = messages.iter().map(|message| message["metadata"].clone()).collect();
    assert_eq!(metadata, [json!({"a": 1}), json!({}), json!({"a": 3}), json!({}), json!({"all": true})]);
    let days = |message: &Value| {
        let at = |field: &str| message[field].as_str().unwrap().parse::<jiff::Timestamp>().unwrap();
        at("expires_at").duration_since(at("created_at")).as_hours().saturating_add(12) / 24
    };
    assert_eq!(messages[..3].iter().map(days).collect::<Vec<_>>(), [2, 30, 30]);
    assert_eq!(messages[3]["expires_at"], "2090-01-02T00:00:00Z");
    assert_eq!(days(&messages[4]), 10);
    world.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn windows_are_cut_as_the_page_says() {
    let Some(world) = World::open().await else { return };
    for batch in 0..2 {
        let message = |at| json!({"role": "user", "content": format!("m{at}"), "id": format!("{at}")});
        let messages: Vec<_> = (batch * 60..batch * 60 + 60).map(message).collect();
        world.ok("add_messages", json!({"messages": messages})).await;
    }
    for (request, first, count) in [
        (json!({}), "20", 100),
        (json!({"start": 118}), "118", 2),
        (json!({"start": 5, "end": 8}), "5", 3),
        (json!({"end": 3}), "0", 3),
        (json!({"end": null}), "0", 120),
        (json!({"end": -1, "start": 1}), "1", 119),
    ] {
        let shown = world.ok("get_messages", request.clone()).await;
        assert_eq!((ids(&shown)[0], ids(&shown).len()), (first, count), "{request}");
    }
    assert!(ids(&world.ok("get_messages", json!({"start": 400})).await).is_empty());
    world.bad("get_messages", json!({"start": -1}), "start").await;
    world.bad("get_messages", json!({"end": -2}), "end").await;
    world.close().await;
}

// A whole batch is one commit; and what no reply could hold is refused before it is read.
#[tokio::test(flavor = "multi_thread")]
async fn five_hundred_come_in_one_commit_and_too_much_is_not_shown_at_once() {
    let Some(world) = World::open_with(json!({"extraction": {"enabled": false}})).await else { return };
    let batch = |count: usize, text: &str| {
        let message = json!({"role": "user", "content": text});
        json!({"messages": vec![message; count]})
    };
    world.bad("add_messages", batch(501, "x"), "messages").await;
    world.ok("add_messages", batch(500, "x")).await;
    let told = world.ok("audit.events", json!({"types": ["message_appended"], "limit": 500})).await;
    let events = told["events"].as_array().unwrap();
    assert_eq!(events.len(), 500);
    assert!(events.iter().all(|event| event["at"] == events[0]["at"]), "one batch has one time");
    for _ in 0..3 {
        world.ok("add_messages", batch(450, &"x".repeat(25_000))).await;
    }
    world.bad("get_messages", json!({"end": null}), "limit").await;
    assert_eq!(world.ok("get_messages", json!({"start": 1_800})).await["messages"].as_array().unwrap().len(), 50);
    world.close().await;
}

// Memories that were made before stay; the new text is extracted from again, and is what searches find.
#[tokio::test(flavor = "multi_thread")]
async fn an_edited_message_is_another_text_of_the_same_message() {
    let Some(world) = World::open().await else { return };
    let id = world.say("I live in Porto").await;
    let before = world.head().await;
    let updated = world
        .ok("update_message", json!({"message_id": id, "content": "I live in Lisbon", "metadata": {"v": 2}}))
        .await;
    assert_eq!(updated["message_id"], json!(id));
    world.ok("profile.wait", json!({"job_id": updated["job_id"]})).await;
    let message = world.ok("get_message", json!({"message_id": id})).await["message"].clone();
    assert_eq!((&message["content"], &message["metadata"]), (&json!("I live in Lisbon"), &json!({"v": 2})));
    assert_ne!(message["updated_at"], message["created_at"]);
    let texts = |found: Value| -> Vec<String> {
        let hits = found["memories"].as_array().unwrap().iter();
        hits.map(|hit| hit["content"].as_str().unwrap().to_owned()).collect()
    };
    let found = texts(world.ok("profile.search", json!({"query": "Porto", "types": ["message"]})).await);
    assert!(!found.iter().any(|text| text.contains("Porto")), "{found:?}");
    let memories = texts(world.ok("profile.search", json!({"query": "live", "types": ["fact"]})).await);
    assert_eq!(memories.len(), 2);
    // The past shows what it said then.
    let then = world.ok("get_message", json!({"message_id": id, "as_of": {"seq": before}})).await;
    assert_eq!(then["message"]["content"], "I live in Porto");
    let found = texts(
        world.ok("profile.search", json!({"query": "Porto", "types": ["message"], "as_of": {"seq": before}})).await,
    );
    assert_eq!(found, ["I live in Porto"]);
    // A change of time or metadata alone extracts nothing.
    assert!(world.ok("update_message", json!({"message_id": id, "ttl_days": 3})).await.get("job_id").is_none());
    let emptied = world.ok("update_message", json!({"message_id": id, "content": ""})).await;
    assert!(emptied.get("job_id").is_none());
    assert_eq!(world.ok("get_message", json!({"message_id": id})).await["message"]["content"], "");
    world.bad("update_message", json!({"message_id": id, "content": "  "}), "content").await;
    world.bad("update_message", json!({"message_id": id, "role": "user"}), "role").await;
    world.bad("update_message", json!({"message_id": id, "timestamp": "2026-01-01"}), "timestamp").await;
    world.bad("update_message", json!({"message_id": id, "ttl_anchor": "timestamp"}), "ttl_anchor").await;
    assert_eq!(world.no("update_message", json!({"message_id": "x", "content": "y"})).await.0, 404);
    world.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_message_takes_the_memories_made_from_it_alone() {
    let Some(world) = World::open().await else { return };
    let (id, other) = (world.say("I live in Porto").await, world.say("I have a cat").await);
    let preview = world.ok("delete_message", json!({"message_id": id, "preview": true})).await;
    assert_eq!(preview["deleted"], 0);
    let would_go = preview["memories_forgotten"].as_array().unwrap().clone();
    assert_eq!(would_go.len(), 1);
    let before = world.head().await;
    let gone = world.ok("delete_message", json!({"message_id": id})).await;
    assert_eq!((&gone["deleted"], gone["memories_forgotten"].as_array()), (&json!(1), Some(&would_go)));
    assert_eq!(ids(&world.ok("get_messages", json!({})).await), [&other]);
    assert_eq!(ids(&world.ok("get_messages", json!({"as_of": {"seq": before}})).await), [&other]);
    for query in ["Porto", "live"] {
        let found = world.ok("profile.search", json!({"query": query, "as_of": {"seq": before}})).await;
        assert!(!found.to_string().contains("Porto"), "{found}");
    }
    let again = world.ok("delete_message", json!({"message_id": id})).await;
    assert_eq!(again, json!({"deleted": 0, "memories_forgotten": []}));
    // The summary that could repeat it and the memory of the other message are told apart.
    let kept = world.ok("delete_message", json!({"message_id": other, "cascade": false})).await;
    assert_eq!(kept, json!({"deleted": 1, "memories_forgotten": []}));
    let memories = world.ok("profile.memories", json!({})).await;
    assert_eq!(memories["memories"].as_array().unwrap().len(), 1);
    world.close().await;
}

// What was accepted before must not come back after: the deletion waits for it, and gives up without having deleted anything.
#[tokio::test(flavor = "multi_thread")]
async fn deletions_wait_for_extraction_that_was_accepted_before() {
    let Some(world) = World::open().await else { return };
    world.memlog.extraction.shut();
    let added = world
        .ok("add_messages", json!({"messages": [{"role": "user", "content": "I live in Porto", "id": "m"}]}))
        .await;
    assert!(added["job_id"].is_string());
    until("the extraction is under way", || async { world.memlog.extraction.waiting() > 0 }).await;
    world.bad("wait_for_memory_extraction", json!({"timeout": -1}), "timeout").await;
    let (code, _) = world.no("wait_for_memory_extraction", json!({"timeout": 0.01})).await;
    assert_eq!(code, 504);
    let mut deleting = Box::pin(world.ok("delete_message", json!({"message_id": "m"})));
    let early = tokio::time::timeout(std::time::Duration::from_millis(300), &mut deleting).await;
    assert!(early.is_err(), "deleted before the extraction was done");
    world.memlog.extraction.open();
    let gone = deleting.as_mut().await;
    drop(deleting);
    assert_eq!((&gone["deleted"], gone["memories_forgotten"].as_array().map(Vec::len)), (&json!(1), Some(1)));
    world.ok("wait_for_memory_extraction", json!({"timeout": null})).await;
    assert!(world.ok("profile.memories", json!({})).await["memories"].as_array().unwrap().is_empty());
    world.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn extraction_is_off_inline_or_once_enough_was_said() {
    let Some(world) = World::open().await else { return };
    let create = |id: &str, extraction: Value| json!({"thread_id": id, "settings": {"extraction": extraction}});
    world.ok("create", create("off", json!({"enabled": false}))).await;
    world.ok("create", create("inline", json!({"mode": "inline"}))).await;
    world.ok("create", create("third", json!({"frequency": 3}))).await;
    let add = |id: &str, text: &str| json!({"thread_id": id, "messages": [{"role": "user", "content": text}]});
    assert!(world.ok("add_messages", add("off", "I live in Oslo")).await.get("job_id").is_none());
    // Done when the reply comes.
    world.ok("add_messages", add("inline", "I live in Porto")).await;
    let made = |id: &str| {
        let request = json!({"session_id": id});
        let world = &world;
        async move { world.ok("profile.memories", request).await["memories"].as_array().unwrap().len() }
    };
    assert_eq!((made("off").await, made("inline").await), (0, 1));
    for (at, text) in ["I live in Rome", "I like tea", "I like cake"].iter().enumerate() {
        let added = world.ok("add_messages", add("third", text)).await;
        assert_eq!(added.get("job_id").is_some(), at == 2, "{added}");
    }
    world.ok("wait_for_memory_extraction", json!({"thread_id": "third"})).await;
    assert_eq!(made("third").await, 3);
    world.close().await;
}

// A repeat under the same key hears the first reply, also when what it was about is gone.
#[tokio::test(flavor = "multi_thread")]
async fn commands_repeated_under_a_key_are_done_once() {
    let Some(world) = World::open_with(json!({"retention": {"max_ttl_days": 30}})).await else { return };
    let once = |verb: &str, request: Value, key: &str| {
        let (verb, key) = (format!("memlog.v1.acme.thread.{verb}"), key.to_owned());
        let memlog = &world.memlog;
        async move {
            let body = serde_json::to_vec(&request).unwrap();
            let reply = memlog.send(&verb, &[("Nats-Msg-Id", &key)], body).await.unwrap();
            serde_json::from_slice::<Value>(&reply).unwrap()
        }
    };
    let address = |mut request: Value| {
        request["profile"] = json!("p");
        request["thread_id"] = json!("t");
        request
    };
    let calls = [
        (
            "add_messages",
            json!({"messages": [{"role": "user", "content": "a", "id": "m"}, {"role": "user", "content": "b"}], "ttl_days": 90}),
        ),
        ("update_message", json!({"message_id": "m", "content": "c", "ttl_days": 60})),
        ("add_memory", json!({"content": "likes tea", "memory_id": "r", "ttl_days": 50})),
        (
            "add_memory",
            json!({"content": "likes green tea", "memory_id": "s", "memory_id_to_link": "r", "link_type": "refines", "link_id": "l"}),
        ),
        ("update_record_link", json!({"relation_id": "l", "relation_type": "supports"})),
        ("update_memory", json!({"memory_id": "r", "content": "likes cake"})),
        ("delete_record_link", json!({"relation_id": "l"})),
        (
            "link_records",
            json!({"source_record_id": "r", "source_record_type": "memory", "target_record_id": "s", "target_record_type": "memory", "relation_type": "near"}),
        ),
        ("delete_memory", json!({"memory_id": "s"})),
        ("delete_memory", json!({"memory_id": "nobody"})),
        ("delete_message", json!({"message_id": "m"})),
        ("delete", json!({})),
    ];
    let mut replies = Vec::new();
    for (at, (verb, request)) in calls.iter().enumerate() {
        replies.push(once(verb, address(request.clone()), &format!("key-{at}")).await);
    }
    assert!(
        replies[0]["warnings"].is_array() && replies[1]["warnings"].is_array() && replies[2]["warnings"].is_array()
    );
    let head = world.head().await;
    for (at, (verb, request)) in calls.iter().enumerate() {
        let again = once(verb, address(request.clone()), &format!("key-{at}")).await;
        // A memory that is gone is shown without its words; all else is told again as it was.
        let without = |mut reply: Value| {
            reply.as_object_mut().unwrap().remove("memory");
            reply
        };
        assert_eq!(without(again), without(replies[at].clone()), "{verb}");
    }
    assert_eq!(world.head().await, head);
    world.close().await;
}

// What a memory takes over from its messages is the thread's choice.
#[tokio::test(flavor = "multi_thread")]
async fn memories_inherit_the_metadata_of_their_messages() {
    let Some(world) = World::open().await else { return };
    for (id, inherit, expected) in [
        ("all", json!(true), json!({"lang": "en", "n": 1})),
        ("none", json!(false), json!({})),
        ("some", json!(["n", "other"]), json!({"n": 1})),
    ] {
        let extraction = json!({"inherit_message_metadata": inherit, "mode": "inline"});
        world.ok("create", json!({"thread_id": id, "settings": {"extraction": extraction}})).await;
        let said = json!([{"role": "user", "content": format!("I like {id}"), "metadata": {"lang": "en", "n": 1}}]);
        world.ok("add_messages", json!({"thread_id": id, "messages": said})).await;
        let memories = world.ok("profile.memories", json!({"session_id": id})).await;
        assert_eq!(memories["memories"][0]["metadata"], expected, "{id}");
    }
    world.close().await;
}
