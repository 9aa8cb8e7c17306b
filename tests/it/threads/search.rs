//! `thread.search`: each rule of its scope, its filters, its budgets and its links, and each refusal.

use serde_json::{Value, json};

use super::World;

/// What is found, in the order of its text.
async fn found(world: &World, request: Value) -> Vec<String> {
    let mut texts: Vec<String> = results(world, request).await.iter().map(|it| text(&it["content"])).collect();
    texts.sort_unstable();
    texts
}

async fn results(world: &World, mut request: Value) -> Vec<Value> {
    request.as_object_mut().unwrap().entry("max_results").or_insert(json!(100));
    world.ok("search", request).await["results"].as_array().unwrap().clone()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

fn with(request: &Value, more: &Value) -> Value {
    let mut request = request.clone();
    for (name, value) in more.as_object().unwrap() {
        request[name] = value.clone();
    }
    request
}

async fn add(world: &World, id: &str, memory_type: &str, content: &str, more: Value) {
    let memory = json!({"content": content, "memory_id": id, "memory_type": memory_type, "timestamp": "2020-01-10"});
    world.ok("add_memory", with(&memory, &more)).await;
}

/// Who may have which dish: one memory a thread, each with another owner.
async fn kitchen(world: &World) {
    for (thread, user, agent) in [
        ("own", json!("ana"), json!("bot")),
        ("other", json!("ana"), json!("bot")),
        ("else", json!("bob"), json!("bot")),
        ("tool", json!("ana"), json!("aid")),
        ("none", json!(null), json!(null)),
    ] {
        world.ok("create", json!({"thread_id": thread, "user_id": user, "agent_id": agent})).await;
        add(world, thread, "fact", &format!("soup of {thread}"), json!({"thread_id": thread})).await;
    }
}

// The table of the rule: a value left out is the thread's own, null matches only what has none where the match is exact, and
// without an exact match the value does not matter. The same in `scope` and in single fields.
#[tokio::test(flavor = "multi_thread")]
async fn scopes() {
    let Some(world) = World::open().await else { return };
    kitchen(&world).await;
    let rows: Vec<(&str, Value, &[&str])> = vec![
        ("own", json!({}), &["other", "own"]),
        ("own", json!({"exact_thread_match": true}), &["own"]),
        ("own", json!({"user_id": "bob"}), &["else"]),
        ("own", json!({"user_id": null}), &[]),
        ("own", json!({"user_id": null, "agent_id": null}), &["none"]),
        ("own", json!({"exact_user_match": false}), &["else", "other", "own"]),
        ("own", json!({"user_id": null, "exact_user_match": false}), &["else", "other", "own"]),
        ("own", json!({"user_id": "bob", "exact_user_match": false}), &["else", "other", "own"]),
        ("own", json!({"exact_agent_match": false}), &["other", "own", "tool"]),
        (
            "own",
            json!({"exact_user_match": false, "exact_agent_match": false}),
            &["else", "none", "other", "own", "tool"],
        ),
        ("own", json!({"thread_id": "other", "exact_thread_match": true}), &["other"]),
        ("own", json!({"thread_id": "other"}), &["other", "own"]),
        ("own", json!({"thread_id": null, "exact_thread_match": true}), &[]),
        ("own", json!({"thread_id": "gone", "exact_thread_match": true}), &[]),
        ("own", json!({"user_id": "nobody"}), &[]),
        ("none", json!({}), &["none"]),
    ];
    for (thread, scope, expected) in rows {
        let expected: Vec<String> = expected.iter().map(|it| format!("soup of {it}")).collect();
        let asked = json!({"thread_id": thread, "query": "soup"});
        assert_eq!(found(&world, with(&asked, &json!({"scope": scope}))).await, expected, "{scope}");
        let mut single = scope.clone();
        if let Some(thread) = single.as_object_mut().unwrap().remove("thread_id") {
            single["scope_thread_id"] = thread;
        }
        assert_eq!(found(&world, with(&asked, &single)).await, expected, "{single}");
    }
    world.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_refused_names_its_field() {
    let Some(world) = World::open().await else { return };
    for (change, field) in [
        (json!({"query": " "}), "query"),
        (json!({"query": "x".repeat(1_025)}), "query"),
        (json!({"max_results": 0}), "max_results"),
        (json!({"max_results": 101}), "max_results"),
        (json!({"num_hops": 6}), "num_hops"),
        (json!({"max_linked_results": 1_001}), "max_linked_results"),
        (json!({"scope": {"user_id": "ana"}, "user_id": "ana"}), "scope"),
        (json!({"scope": {}, "exact_thread_match": true}), "scope"),
        (json!({"scope": {}, "scope_thread_id": null}), "scope"),
        (json!({"scope": {"user": "ana"}}), "scope.user"),
        (json!({"scope": {"agent_id": ""}}), "scope.agent_id"),
        (json!({"user_id": "x".repeat(65)}), "user_id"),
        (json!({"record_types": ["facts"]}), "record_types[0]"),
        (json!({"record_types": ["Fact"]}), "record_types[0]"),
        (json!({"metadata_filter": "chat"}), "metadata_filter"),
        (json!({"metadata_filter": {"a": {"$gt": 1}}}), "metadata_filter"),
        (json!({"as_of": {"seq": 1_u64 << 40}}), "as_of"),
        (json!({"limit": 3}), "limit"),
    ] {
        world.bad("search", with(&json!({"query": "soup"}), &change), field).await;
    }
    for (change, field) in [(json!({"thread_id": "gone"}), "thread_id"), (json!({"profile": "gone"}), "profile")] {
        let (code, fields) = world.no("search", with(&json!({"query": "soup"}), &change)).await;
        assert!(code == 404 && fields.contains_key(field), "{change}: {code} {fields:?}");
    }
    world.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn types_metadata_and_what_no_longer_holds() {
    let Some(world) = World::open().await else { return };
    let said = world.say("the bread is baked at six").await;
    add(
        &world,
        "butter",
        "preference",
        "bread with butter",
        json!({"metadata": {"tags": ["food", "old"], "at": {"home": true}}}),
    )
    .await;
    add(&world, "first", "guideline", "bread before cake", json!({"metadata": {"tags": ["food"]}})).await;
    let bread = json!({"query": "bread"});
    let of = |types: &[&str]| with(&bread, &json!({"record_types": types}));
    assert_eq!(found(&world, of(&["guideline"])).await, ["bread before cake"]);
    assert_eq!(found(&world, of(&["guideline", "preference"])).await, ["bread before cake", "bread with butter"]);
    assert_eq!(found(&world, of(&["task"])).await, Vec::<String>::new());
    assert_eq!(found(&world, of(&[])).await, Vec::<String>::new());
    let messages = results(&world, of(&["message"])).await;
    let message = &messages[0];
    assert_eq!((messages.len(), &message["id"], &message["record_type"]), (1, &json!(said), &json!("message")));
    assert_eq!(
        (&message["user_id"], &message["agent_id"], &message["thread_id"]),
        (&json!("ann"), &json!("helper"), &json!("t"))
    );
    let filtered = |filter: Value| with(&bread, &json!({"metadata_filter": filter}));
    assert_eq!(found(&world, filtered(json!({"at": {"home": true}}))).await, ["bread with butter"]);
    let fresh = json!({"tags": {"$array_contains": "food", "$not": {"$array_contains": "old"}}});
    assert_eq!(found(&world, filtered(fresh)).await, ["bread before cake"]);
    // A memory that was corrected, and the message behind it, are there unless it is asked otherwise.
    let all = results(&world, with(&bread, &json!({"record_types": ["fact"]}))).await;
    let baked = all.iter().find(|it| text(&it["content"]).contains("six")).unwrap();
    world.ok("profile.supersede", json!({"memory_id": baked["id"], "content": "the bread is baked at seven"})).await;
    for (include, shown) in [
        (json!({}), true),
        (json!({"include_invalid_results": true}), true),
        (json!({"include_invalid_results": false}), false),
    ] {
        for (record_type, status) in [("fact", "invalid"), ("message", "valid")] {
            let asked = json!({"query": "bread baked six", "record_types": [record_type]});
            let results = results(&world, with(&asked, &include)).await;
            let old = results.iter().find(|it| text(&it["content"]).contains("six"));
            assert_eq!(old.map(|it| &it["status"]), shown.then_some(&json!(status)), "{include} {record_type}");
        }
    }
    world.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn budgets_keep_whole_results_in_the_order_of_rank() {
    let Some(world) = World::open_with(json!({"search": {"soft_token_budget": 1}})).await else { return };
    for dish in ["rice", "rice and beans", "rice and beans and corn", "rice in a pan"] {
        add(&world, dish, "fact", dish, json!({})).await;
    }
    let asked = |hard: Value, soft: Value| {
        let mut asked = json!({"query": "rice"});
        for (name, value) in [("token_budget", hard), ("soft_token_budget", soft)] {
            if !value.is_null() {
                asked[name] = value;
            }
        }
        asked
    };
    let all = results(&world, asked(json!(0), json!(-1))).await;
    assert_eq!(all.len(), 4);
    // What a card prints: "- [fact, 2020-01-10] rice".
    let costs: Vec<usize> = all.iter().map(|it| (21 + text(&it["content"]).len()).div_ceil(4)).collect();
    let (first, two) = (costs[0], costs[0] + costs[1]);
    for (hard, soft, count) in [
        (json!(null), json!(null), 1),
        (json!(null), json!(0), 4),
        (json!(first - 1), json!(0), 0),
        (json!(first), json!(0), 1),
        (json!(two - 1), json!(0), 1),
        (json!(two), json!(0), 2),
        (json!(1_000), json!(0), 4),
        (json!(0), json!(first), 1),
        (json!(null), json!(first + 1), 2),
        (json!(two - 1), json!(first + 1), 1),
    ] {
        let kept = results(&world, asked(hard.clone(), soft.clone())).await;
        assert_eq!(kept[..], all[..count], "{hard} {soft}");
    }
    world.close().await;
}

/// A circle of six memories, each link read by another label from its two ends, and one memory of somebody else beside it.
async fn circle(world: &World) {
    for at in 0..6 {
        let words = ["a red house", "has stairs", "a cellar", "wine", "a cork", "an oak"][at];
        add(world, &format!("m{at}"), "fact", words, json!({})).await;
    }
    for at in 0..6 {
        let link = json!({"source_record_id": format!("m{at}"), "source_record_type": "fact", "relation_type": "leads to",
            "target_record_id": format!("m{}", (at + 1) % 6), "target_record_type": "fact", "opposite_relation_type": "comes from"});
        world.ok("link_records", link).await;
    }
    let stranger = json!({"user_id": "bob", "memory_id_to_link": "m1", "link_type": "supports"});
    add(world, "stranger", "fact", "Bob's own key", stranger).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn hops_follow_links_both_ways_nearest_first() {
    let Some(world) = World::open().await else { return };
    circle(&world).await;
    world.ok("speaker.add", json!({"speaker": "Ann"})).await;
    world.say("a red house").await;
    let linked = async |more: Value| {
        let results = results(&world, with(&json!({"query": "red house"}), &more)).await;
        // Messages stay, and lead nowhere.
        let messages = results.iter().filter(|it| it["record_type"] == "message");
        assert!(messages.clone().all(|it| it["linked"].as_array().is_none_or(Vec::is_empty)));
        let hit = results.iter().find(|it| it["id"] == "m0").unwrap().clone();
        let linked = hit["linked"].as_array().cloned();
        linked.map(|linked| {
            linked
                .iter()
                .map(|it| format!("{} {} {}", text(&it["id"]), it["hops"], text(&it["relation_type"])))
                .collect::<Vec<_>>()
        })
    };
    assert_eq!(linked(json!({})).await, None);
    assert_eq!(linked(json!({"num_hops": 0})).await, None);
    let near = ["m1 1 leads to", "m5 1 comes from"];
    assert_eq!(linked(json!({"num_hops": 1})).await.unwrap(), near);
    let all = ["m1 1 leads to", "m5 1 comes from", "m2 2 leads to", "m4 2 comes from", "m3 3 leads to"];
    assert_eq!(linked(json!({"num_hops": 5})).await.unwrap(), all);
    assert_eq!(linked(json!({"num_hops": 5, "max_linked_results": 3})).await.unwrap(), all[..3]);
    assert_eq!(linked(json!({"num_hops": 5, "max_linked_results": 0})).await.unwrap(), Vec::<String>::new());
    // Bob's is reached by whoever asks for everybody's.
    let everybody = linked(json!({"num_hops": 2, "exact_user_match": false})).await.unwrap();
    assert!(everybody.contains(&"stranger 2 is_supported_by".to_owned()), "{everybody:?}");
    // What is gone leads nowhere, and a linked memory says whose words it is.
    world.ok("delete_memory", json!({"memory_id": "m5"})).await;
    let tagged = json!({"speaker": "Ann", "memory_id_to_link": "m0", "link_type": "refines"});
    add(&world, "tagged", "fact", "with a door", tagged).await;
    let hit = results(&world, json!({"query": "red house", "num_hops": 1})).await;
    let hit = hit.iter().find(|it| it["id"] == "m0").unwrap();
    let shown: Vec<_> =
        hit["linked"].as_array().unwrap().iter().map(|it| (text(&it["id"]), it["speaker"].clone())).collect();
    assert_eq!(shown, [("m1".to_owned(), json!(null)), ("tagged".to_owned(), json!("Ann"))]);
    world.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_search_of_the_past_sees_the_past_but_nothing_forgotten() {
    let Some(world) = World::open().await else { return };
    add(&world, "rum", "fact", "tea with rum", json!({})).await;
    add(&world, "milk", "fact", "tea with milk", json!({})).await;
    let then = world.ok("search", json!({"query": "tea"})).await;
    assert_eq!((then["results"].as_array().unwrap().len(), &then["seq"]), (2, &world.head().await));
    add(&world, "lemon", "fact", "tea with lemon", json!({})).await;
    world.ok("delete_memory", json!({"memory_id": "rum"})).await;
    let past = json!({"query": "tea", "as_of": {"seq": then["seq"]}});
    assert_eq!(found(&world, past).await, ["tea with milk"]);
    assert_eq!(found(&world, json!({"query": "tea"})).await, ["tea with lemon", "tea with milk"]);
    world.close().await;
}
