//! Levels, kinds, orders, limits.

use serde_json::{Value, json};

use super::*;

/// A note for each: its number, in the order of their making.
struct Given {
    all: u64,
    sales: u64,
    support: u64,
    anns: u64,
    bobs: u64,
    for_ann: u64,
    roots: u64,
}

fn ann() -> Caller {
    login("ann").groups("sales")
}

fn bob() -> Caller {
    login("bob").groups("support, sales2")
}

async fn given(served: &Served) -> Given {
    Given {
        all: served.put("all", "kDefault", json!({"level": "all"})).await,
        sales: served.put("sales", "kSkill", json!({"level": "group", "group": "sales"})).await,
        support: served.put("support", "kDefault", json!({"level": "group", "group": "support"})).await,
        anns: served.own(&ann(), "anns").await,
        bobs: served.own(&bob(), "bobs").await,
        for_ann: served.put("given", "kDirect", json!({"level": "own", "login": "ann"})).await,
        roots: served.put("roots", "kDefault", json!({"level": "own"})).await,
    }
}

// Two people of two groups and an administrator: each sees what is for it, and writes what is its own.
#[tokio::test(flavor = "multi_thread")]
async fn each_reads_what_is_for_it_and_writes_its_own() {
    let Some(served) = Served::start().await else { return };
    assert_eq!(served.names(&ann(), "note.memory_list", json!({})).await, [""; 0]);
    let Given { all, sales, support, anns, bobs, for_ann, roots } = given(&served).await;
    assert_eq!([all, sales, support, anns, bobs, for_ann, roots], [1, 2, 3, 4, 5, 6, 7]);
    for (caller, expected) in [
        (&ann(), vec!["all", "sales", "anns", "given"]),
        (&login("ann"), vec!["all", "anns", "given"]),
        (&bob(), vec!["all", "support", "bobs"]),
        (&login("bob").groups("sales,support,sales"), vec!["all", "sales", "support", "bobs"]),
        (&admin(), vec!["all", "roots"]),
        (&Caller::default(), vec!["all"]),
    ] {
        assert_eq!(served.names(caller, "note.memory_list", json!({})).await, expected, "{caller:?}");
    }
    // Of another agent application, the same login has the same notes.
    let elsewhere = ann().with("Memlog-Agent", "other-app");
    assert_eq!(served.names(&elsewhere, "note.memory_list", json!({"level": "own"})).await, ["anns", "given"]);

    // Whatever number is sent: one's own notes alone, also for an administrator, and nothing changes.
    for (caller, number) in
        [(ann(), all), (ann(), sales), (ann(), bobs), (ann(), 99), (bob(), for_ann), (admin(), anns), (admin(), all)]
    {
        for (verb, request) in [
            ("note.memory_save", json!({"id": number, "name": "taken over"})),
            ("note.memory_remove", json!({"id": number})),
        ] {
            assert_eq!(served.refuse(404, &caller, verb, request).await.fields["id"], number, "{verb} {caller:?}");
        }
    }
    for number in [bobs, support, roots, 99] {
        let request = json!({"ids": [all, number]});
        assert_eq!(served.refuse(404, &ann(), "note.memory_load", request).await.fields["id"], number);
    }
    served.get(&ann(), "note.memory_save", json!({"id": for_ann, "info": "Hers to change"})).await;
    // Notes are not memories.
    assert_eq!(served.get(&ann(), "memory.list", json!({})).await["memories"], json!([]));
    served.memlog.close().await;
}

// An administrator sees and changes everyone's; nobody else does.
#[tokio::test(flavor = "multi_thread")]
async fn an_administrator_reaches_everyones() {
    let Some(served) = Served::start().await else { return };
    let Given { all, sales, support, anns, bobs, for_ann, roots } = given(&served).await;
    let rows = served.get(&admin(), "note.admin_list", json!({})).await;
    let logins: Vec<_> = rows["notes"].as_array().unwrap().iter().map(|it| (id(it), it["login"].clone())).collect();
    let (none, named) = (|number| (number, Value::Null), |number, login| (number, json!(login)));
    let own = [named(anns, "ann"), named(bobs, "bob"), named(for_ann, "ann"), named(roots, "root")];
    assert_eq!(logins, [[none(all), none(sales), none(support)].as_slice(), &own].concat());
    for (filter, expected) in [
        (json!({"login": "ann"}), vec!["anns", "given"]),
        (json!({"group": "sales"}), vec!["sales"]),
        (json!({"level": "group"}), vec!["sales", "support"]),
        (json!({"kind_key": "kDirect"}), vec!["given"]),
        (json!({"category": "none"}), vec![]),
    ] {
        assert_eq!(served.names(&admin(), "note.admin_list", filter).await, expected);
    }
    let loaded = served.get(&admin(), "note.memory_load", json!({"ids": [bobs]})).await;
    assert_eq!(loaded["notes"][0]["body"], "<p>bobs</p>");
    let saved = served.get(&admin(), "note.admin_save", json!({"id": bobs, "body": "<p>by root</p>"})).await;
    assert_eq!((&saved["note"]["login"], &saved["note"]["body"]), (&json!("bob"), &json!("<p>by root</p>")));
    for (verb, request) in [
        ("note.admin_list", json!({})),
        ("note.admin_save", json!({"level": "all", "name": "x", "body": "x"})),
        ("note.admin_remove", json!({"id": anns})),
        ("note.kind_add", json!({"kind_key": "kMine", "title": "x"})),
        ("note.editor_open", json!({})),
        ("note.editor_close", json!({})),
    ] {
        served.refuse(403, &ann(), verb, request).await;
    }
    let removed = served.get(&admin(), "note.admin_remove", json!({"id": bobs})).await;
    assert_eq!((&removed["note"]["name"], &removed["note"]["body"]), (&json!("bobs"), &json!("<p>by root</p>")));
    assert_eq!(served.names(&bob(), "note.memory_list", json!({})).await, ["all", "support"]);
    served.memlog.close().await;
}

// Lists go by level and category, a new note last; what is loaded comes in the order in which it weighs.
#[tokio::test(flavor = "multi_thread")]
async fn lists_and_loads_have_their_orders() {
    let Some(served) = Served::start().await else { return };
    let ann = login("ann").groups("sales");
    let kind = served.get(&admin(), "note.kind_add", json!({"kind_key": "kLaw", "title": "Law"})).await;
    assert_eq!(kind["kind"], json!({"kind_key": "kLaw", "title": "Law", "counts_as": "kDefault"}));
    let twice = served.refuse(409, &admin(), "note.kind_add", json!({"kind_key": "kLaw", "title": "x"})).await;
    assert_eq!(twice.fields["field"], "kind_key");
    served.refuse(409, &admin(), "note.kind_add", json!({"kind_key": "kSkill", "title": "x"})).await;
    for (request, field) in
        [(json!({"kind_key": "k Law", "title": "x"}), "kind_key"), (json!({"kind_key": "kNew", "title": ""}), "title")]
    {
        assert_eq!(served.refuse(400, &admin(), "note.kind_add", request).await.fields["field"], field);
    }
    let kinds = served.get(&ann, "note.kinds", json!({})).await;
    let keys: Vec<_> = kinds["kinds"].as_array().unwrap().iter().map(|kind| &kind["kind_key"]).collect();
    assert_eq!(keys, ["kCritical", "kDirect", "kSkill", "kDefault", "kLaw"]);

    let sales = json!({"level": "group", "group": "sales"});
    for (name, kind, category, to) in [
        ("own default", "kDefault", "", json!({"level": "own", "login": "ann"})),
        ("own critical", "kCritical", "b", json!({"level": "own", "login": "ann"})),
        ("sales skill", "kSkill", "b", sales.clone()),
        ("sales law", "kLaw", "a", sales),
        ("all default", "kDefault", "z", json!({"level": "all"})),
        ("all law", "kLaw", "a", json!({"level": "all"})),
        ("all direct", "kDirect", "a", json!({"level": "all"})),
    ] {
        let number = served.put(name, kind, to).await;
        if !category.is_empty() {
            served.get(&admin(), "note.admin_save", json!({"id": number, "category": category})).await;
        }
    }
    let listed = served.names(&ann, "note.memory_list", json!({})).await;
    let by_category =
        ["all law", "all direct", "all default", "sales law", "sales skill", "own default", "own critical"];
    assert_eq!(listed, by_category);
    let ids: Vec<u64> = (1..=7).rev().chain([3]).collect();
    let loaded = served.names(&ann, "note.memory_load", json!({"ids": ids})).await;
    let by_weight = ["all direct", "all default", "all law", "sales skill", "sales law", "own critical", "own default"];
    assert_eq!(loaded, by_weight);
    for (filter, expected) in [
        (json!({"category": "a"}), vec!["all law", "all direct", "sales law"]),
        (json!({"kind_key": "kLaw", "level": "all"}), vec!["all law"]),
    ] {
        assert_eq!(served.names(&ann, "note.memory_list", filter).await, expected);
    }

    let loaded = served.get(&ann, "note.memory_load", json!({"ids": [4, 3, 7], "format": "markdown"})).await;
    assert_eq!(loaded["notes"][0]["text"], "all direct");
    let text = "## Notes for everyone\n\n### all direct (kDirect)\n\nall direct\n\n## Notes for sales\n\n### sales skill (kSkill)\n\nsales skill\n\n### sales law (kLaw)\n\nsales law\n";
    assert_eq!(loaded["text"], text);
    served.memlog.close().await;
}

// What is left out of a change is kept, what is empty is taken away, and what does not fit is refused by its field.
#[tokio::test(flavor = "multi_thread")]
async fn changes_keep_what_they_leave_out_and_limits_are_refused() {
    let Some(served) = Served::start().await else { return };
    let ann = login("ann");
    let first = json!({"name": "tone", "category": "style", "info": "How", "kind_key": "kSkill", "body": "<p>Warm &amp; brief</p>"});
    let saved = served.get(&ann, "note.memory_save", first).await;
    let full = json!({"id": 1, "level": "own", "group": null, "name": "tone", "category": "style", "info": "How",
        "kind_key": "kSkill", "body": "<p>Warm &amp; brief</p>"});
    assert_eq!(saved["note"], full);
    let changed = served.get(&ann, "note.memory_save", json!({"id": 1, "name": "voice", "info": ""})).await;
    assert_eq!((&changed["note"]["name"], &changed["note"]["info"]), (&json!("voice"), &Value::Null));
    for kept in ["category", "kind_key", "body", "level"] {
        assert_eq!(changed["note"][kept], full[kept], "{kept}");
    }
    let before = served.head().await;
    let (name, body) = ("n", "<p>b</p>");
    for (request, field, limit) in [
        (json!({"body": body}), "name", Value::Null),
        (json!({"name": name}), "body", Value::Null),
        (json!({"name": " ", "body": body}), "name", json!(128)),
        (json!({"name": "x".repeat(129), "body": body}), "name", json!(128)),
        (json!({"name": "a\nb", "body": body}), "name", Value::Null),
        (json!({"name": name, "body": body, "category": "x".repeat(129)}), "category", json!(128)),
        (json!({"name": name, "body": body, "info": "x".repeat(1_025)}), "info", json!(1_024)),
        (json!({"name": name, "body": body, "kind_key": "kNone"}), "kind_key", Value::Null),
        (json!({"name": name, "body": "x".repeat(32_769)}), "body", json!(32_768)),
        (json!({"name": name, "body": "<p> </p>"}), "body", Value::Null),
        (json!({"name": name, "body": "<script>alert(1)</script>"}), "body", Value::Null),
        (json!({"name": name, "body": "<p onclick='x'>x</p>"}), "body", Value::Null),
        (json!({"name": name, "body": body, "level": "own"}), "level", Value::Null),
        (json!({"id": 1, "body": "<p>x<!-- y --></p>"}), "body", Value::Null),
    ] {
        let error = served.refuse(400, &ann, "note.memory_save", request).await;
        let told = error.fields.get("limit").cloned().unwrap_or_default();
        assert_eq!((&error.fields["field"], told), (&json!(field), limit));
    }
    for (to, field) in [
        (json!({}), "level"),
        (json!({"level": "group"}), "group"),
        (json!({"level": "all", "group": "g"}), "group"),
        (json!({"level": "group", "group": "a,b"}), "group"),
        (json!({"level": "group", "group": "g", "login": "ann"}), "login"),
        (json!({"level": "own", "login": " ann"}), "login"),
        (json!({"level": "team"}), "level"),
    ] {
        let mut request = json!({"name": name, "body": body});
        request.as_object_mut().unwrap().extend(to.as_object().unwrap().clone());
        assert_eq!(served.refuse(400, &admin(), "note.admin_save", request).await.fields["field"], field, "{to}");
    }
    for (request, field) in [
        (json!({}), "ids"),
        (json!({"ids": [1], "critical": true}), "ids"),
        (json!({"ids": []}), "ids"),
        (json!({"ids": [1], "format": "html"}), "format"),
        (json!({"ids": (0..501).collect::<Vec<_>>()}), "ids"),
        (json!({"id": 1}), "id"),
    ] {
        assert_eq!(served.refuse(400, &ann, "note.memory_load", request).await.fields["field"], field);
    }
    assert_eq!(
        served.refuse(400, &ann, "note.memory_list", json!({"kind_key": "kNone"})).await.fields["field"],
        "kind_key"
    );
    assert_eq!(served.head().await, before, "what is refused stores nothing");
    served.memlog.close().await;
}
