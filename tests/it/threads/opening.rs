//! `thread.create`, `get`, `list`, `delete`, and what every verb says of a thread that is not there.

use serde_json::json;

use super::World;

#[tokio::test(flavor = "multi_thread")]
async fn a_thread_has_its_owner_metadata_and_settings_with_defaults() {
    let Some(world) = World::open().await else { return };
    let made = world
        .ok(
            "create",
            json!({"thread_id": "u", "user_id": null, "metadata": {"a": 1}, "settings": {"extraction": {"window": 7}}}),
        )
        .await;
    let thread = &made["thread"];
    assert_eq!((&thread["thread_id"], &thread["user_id"]), (&json!("u"), &json!(null)));
    // Left out and no caller's: an owner of its own.
    assert_eq!(thread["agent_id"].as_str().map(str::len), Some(36));
    assert_eq!(thread["metadata"], json!({"a": 1}));
    let extraction = &thread["settings"]["extraction"];
    assert_eq!((&extraction["window"], &extraction["frequency"]), (&json!(7), &json!(-1)));
    assert_eq!((&extraction["mode"], &extraction["inherit_message_metadata"]), (&json!("background"), &json!(true)));
    assert_eq!(thread["settings"]["context_card_token_limit"], 100_000);
    assert_eq!(thread["settings"]["message_shortening_input_token_limit"], 30_000);
    assert_eq!(world.ok("get", json!({"thread_id": "u"})).await["thread"], *thread);
    let (code, fields) = world.no("create", json!({"thread_id": "u"})).await;
    assert_eq!((code, &fields["existing_id"]), (409, &json!("u")));
    world
        .bad(
            "create",
            json!({"thread_id": "x", "settings": {"extraction": {"window": 0}}}),
            "settings.extraction.window",
        )
        .await;
    world
        .bad("create", json!({"thread_id": "x", "settings": {"extraction": {"speed": 1}}}), "settings.extraction.speed")
        .await;
    world.bad("create", json!({"thread_id": ""}), "thread_id").await;
    world.close().await;
}

// The same conversation through both doors.
#[tokio::test(flavor = "multi_thread")]
async fn a_session_is_a_thread() {
    let Some(world) = World::open().await else { return };
    let said = json!([{"role": "user", "content": "I live in Lisbon"}]);
    world.ok("profile.ingest", json!({"session_id": "t", "messages": said, "wait": true})).await;
    let shown = world.ok("get_messages", json!({})).await;
    assert_eq!(shown["messages"][0]["content"], "I live in Lisbon");
    world.say("and I have a cat").await;
    let memories = world.ok("profile.memories", json!({"session_id": "t"})).await;
    assert_eq!(memories["memories"].as_array().unwrap().len(), 2);
    assert_eq!(world.ok("get", json!({})).await["thread"]["message_count"], 2);
    world.close().await;
}

// Its settings hold whichever door its messages and memories come through.
#[tokio::test(flavor = "multi_thread")]
async fn the_settings_of_a_thread_hold_for_its_session() {
    let settings = json!({"extraction": {"frequency": 3}, "retention": {"default_ttl_days": 2, "max_ttl_days": 5}});
    let Some(world) = World::open_with(settings).await else { return };
    let said = |text: &str| json!([{"role": "user", "content": text}]);
    let added = world.ok("add_messages", json!({"messages": said("I like tea")})).await;
    assert!(added.get("job_id").is_none());
    let second = world.ok("profile.ingest", json!({"session_id": "t", "messages": said("I like cake")})).await;
    assert_eq!(second["job_id"], json!(null));
    let third = world.ok("profile.add_turn", json!({"session_id": "t", "user": "I like jam", "assistant": "ok"})).await;
    world.ok("profile.wait", json!({"job_id": third["job_id"]})).await;
    // All that waited is extracted from, and lives no longer than the thread lets it.
    let memories = world.ok("profile.memories", json!({"session_id": "t"})).await;
    let memories = memories["memories"].as_array().unwrap();
    assert_eq!(memories.len(), 4);
    assert!(memories.iter().all(|memory| memory["expires_at"].is_string()));
    let kept =
        world.ok("profile.remember", json!({"session_id": "t", "content": "Parking spot 7", "ttl_days": 90})).await;
    assert_eq!(kept["warnings"], json!(["ttl_days of 90 was cut to the thread's maximum of 5 days"]));
    world.ok("create", json!({"thread_id": "off", "settings": {"extraction": {"enabled": false}}})).await;
    let off =
        world.ok("profile.ingest", json!({"session_id": "off", "messages": said("I like tea"), "wait": true})).await;
    assert_eq!(off["job_id"], json!(null));
    world.close().await;
}

// What one user's thread knows is no news there; to another user's, which does not find it, it is.
#[tokio::test(flavor = "multi_thread")]
async fn what_another_owner_said_is_news_in_this_ones_thread() {
    let Some(world) = World::open().await else { return };
    for (id, user) in [("a", "ann"), ("b", "bob"), ("c", "ann")] {
        let settings = json!({"extraction": {"mode": "inline"}});
        world.ok("create", json!({"thread_id": id, "user_id": user, "agent_id": "helper", "settings": settings})).await;
        let said = json!([{"role": "user", "content": "I like pizza with olives"}]);
        world.ok("add_messages", json!({"thread_id": id, "messages": said})).await;
    }
    let made = |id: &str| {
        let request = json!({"session_id": id});
        let world = &world;
        async move { world.ok("profile.memories", request).await["memories"].as_array().unwrap().len() }
    };
    assert_eq!((made("a").await, made("b").await, made("c").await), (1, 1, 0));
    world.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn threads_are_listed_newest_first_by_owner_and_page() {
    let Some(world) = World::open().await else { return };
    for (id, user) in [("a", "ann"), ("b", "bob"), ("c", "ann")] {
        world.ok("create", json!({"thread_id": id, "user_id": user})).await;
    }
    let ids = |listed: &serde_json::Value| -> Vec<String> {
        let threads = listed["threads"].as_array().unwrap().iter();
        threads.map(|thread| thread["thread_id"].as_str().unwrap().to_owned()).collect()
    };
    let all = world.ok("list", json!({})).await;
    assert_eq!(ids(&all), ["c", "b", "a", "t"]);
    assert!(all.get("cursor").is_none());
    let first = world.ok("list", json!({"user_id": "ann", "limit": 2})).await;
    assert_eq!(ids(&first), ["c", "a"]);
    let rest = world.ok("list", json!({"user_id": "ann", "limit": 2, "cursor": first["cursor"]})).await;
    assert_eq!(ids(&rest), ["t"]);
    assert_eq!(ids(&world.ok("list", json!({"agent_id": "helper"})).await), ["t"]);
    world.bad("list", json!({"limit": 501}), "limit").await;
    world.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_thread_is_gone_and_its_id_starts_empty() {
    let Some(world) = World::open().await else { return };
    world.say("I live in Lisbon").await;
    world.remember("likes tea").await;
    let before = world.head().await;
    let deleted = world.ok("delete", json!({})).await;
    assert_eq!(deleted["deleted"], json!({"messages": 1, "memories": 2, "images": 0}));
    for (verb, request) in [
        ("delete", json!({})),
        ("get", json!({})),
        ("get", json!({"as_of": {"seq": before}})),
        ("get_messages", json!({})),
        ("get_message", json!({"message_id": "m"})),
        ("add_messages", json!({"messages": [{"role": "user", "content": "x"}]})),
        ("update_message", json!({"message_id": "m"})),
        ("delete_message", json!({"message_id": "m"})),
        ("delete_message", json!({"message_id": "m", "preview": true})),
        ("add_memory", json!({"content": "x"})),
        ("update_memory", json!({"memory_id": "m"})),
        ("delete_memory", json!({"memory_id": "m"})),
        ("update_record_link", json!({"relation_id": "r"})),
        ("delete_record_link", json!({"relation_id": "r"})),
        ("list_record_links", json!({"record_id": "m"})),
        ("add_image", json!({"image": "x"})),
        ("list_images", json!({})),
        ("update_image", json!({"image_id": "m"})),
        ("delete_image", json!({"image_id": "m"})),
        ("wait_for_memory_extraction", json!({})),
    ] {
        let (code, fields) = world.no(verb, request).await;
        assert_eq!((code, &fields["thread_id"]), (404, &json!("t")), "{verb}");
    }
    world.ok("create", json!({})).await;
    assert_eq!(world.ok("get", json!({})).await["thread"]["message_count"], 0);
    let (code, fields) = world.no("get", json!({"profile": "nobody"})).await;
    assert_eq!((code, &fields["profile"]), (404, &json!("nobody")));
    world.close().await;
}
