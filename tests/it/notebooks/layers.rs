//! The two layers of an account's memory, the one of a user's, and that nobody reaches another user's.

use serde_json::{Value, json};

use super::{ACCOUNT, Served, names, text, user};

fn entry_of(memory: &str, entry: &str) -> Value {
    json!({"id": memory, "entry": entry})
}

// An agent of a user answers out of what that user said first, and out of what all know else; no other user ever sees it.
#[tokio::test(flavor = "multi_thread")]
async fn a_users_layer_is_read_first_and_seen_by_that_user_alone() {
    let Some(served) = Served::start().await else { return };
    let (ann, bob) = (user("ann"), user("bob"));
    let company = served.memory(&ACCOUNT, "company").await;
    served.save(&ACCOUNT, &company, "tone", "Warm.").await;
    served.save(&ACCOUNT, &company, "hours", "Nine to five.").await;
    let anns = served.save(&ann, &company, "tone", "Dry, for Ann.").await;
    assert_eq!(
        (&anns["version"], &anns["user_id"], &anns["updated_by"]),
        (&json!(1), &json!("ann"), &json!("user:ann"))
    );
    served.save(&ann, &company, "pets", "A cat.").await;
    for (caller, content) in [(&ann, "Dry, for Ann."), (&bob, "Warm."), (&ACCOUNT, "Warm.")] {
        let read = served.get(caller, "memory.read", entry_of(&company, "tone")).await;
        assert_eq!(read["entry"]["content"], content, "{caller:?}");
    }
    assert_eq!(served.get(&ann, "memory.read", entry_of(&company, "hours")).await["entry"]["user_id"], Value::Null);
    served.refuse(404, &bob, "memory.read", entry_of(&company, "pets")).await;
    // Lists are of one layer, contents left out; searches are of both.
    for (caller, expected) in [(&ann, vec!["pets", "tone"]), (&bob, vec![]), (&ACCOUNT, vec!["hours", "tone"])] {
        let listed = served.get(caller, "memory.entries", json!({"id": company})).await;
        assert_eq!(names(&listed), expected, "{caller:?}");
        assert!(listed["entries"].as_array().unwrap().iter().all(|entry| entry["content"].is_null()));
    }
    let found = served.get(&ann, "memory.search", json!({"id": company, "query": "tone"})).await;
    let owners: Vec<_> = found["entries"].as_array().unwrap().iter().map(|it| &it["user_id"]).collect();
    assert_eq!((names(&found), owners), (vec!["tone", "tone"], vec![&json!("ann"), &Value::Null]));
    for caller in [&bob, &ACCOUNT] {
        let found = served.get(caller, "memory.search", json!({"id": company, "query": "tone cat"})).await;
        assert_eq!(names(&found), ["tone"], "{caller:?}");
    }
    // Versions, stale ones and forgetting are each layer's own; then a read falls back.
    served.save(&ann, &company, "tone", "Drier.").await;
    assert_eq!(served.save(&ACCOUNT, &company, "tone", "Warmer.").await["version"], 2);
    served.refuse(404, &bob, "memory.forget", entry_of(&company, "tone")).await;
    served.get(&ann, "memory.forget", entry_of(&company, "tone")).await;
    let read = served.get(&ann, "memory.read", entry_of(&company, "tone")).await;
    assert_eq!(read["entry"]["content"], "Warmer.");
    let history = served.get(&ann, "memory.history", entry_of(&company, "tone")).await;
    let told: Vec<_> = history["versions"].as_array().unwrap().iter().map(|it| text(it, "content")).collect();
    assert_eq!(told, ["Warm.", "Warmer."], "as a read finds it");
    let memory = served.get(&bob, "memory.get", json!({"name": "company"})).await;
    assert_eq!(memory["memory"]["entry_count"], 3, "in all its layers");
    served.memlog.close().await;
}

// Every verb against another user's memory, and what the account may do with it.
#[tokio::test(flavor = "multi_thread")]
async fn a_users_memory_is_out_of_everybody_elses_reach() {
    let Some(served) = Served::start().await else { return };
    let (ann, bob) = (user("ann"), user("bob"));
    let diary = served.memory(&ann, "diary").await;
    served.save(&ann, &diary, "cat", "Miso.").await;
    let calls = |memory: &str| {
        let entry = entry_of(memory, "cat");
        let mut save = entry.clone();
        (save["content"], save["description"]) = ("Not Miso.".into(), "x".into());
        [
            ("memory.save", save),
            ("memory.read", entry.clone()),
            ("memory.history", entry.clone()),
            ("memory.entries", json!({"id": memory})),
            ("memory.search", json!({"id": memory, "query": "miso"})),
            ("memory.forget", entry),
            ("memory.update", json!({"id": memory, "name": "mine"})),
        ]
    };
    for (verb, request) in calls(&diary) {
        served.refuse(404, &bob, verb, request.clone()).await;
        served.refuse(403, &ACCOUNT, verb, request).await;
    }
    served.refuse(404, &bob, "memory.get", json!({"id": diary})).await;
    served.refuse(404, &bob, "memory.get", json!({"name": "diary"})).await;
    served.refuse(404, &bob, "memory.delete", json!({"id": diary})).await;
    served.refuse(404, &ACCOUNT, "memory.get", json!({"name": "diary"})).await;
    assert_eq!(served.get(&ACCOUNT, "memory.get", json!({"id": diary})).await["memory"]["entry_count"], 1);
    let read = served.get(&ann, "memory.read", entry_of(&diary, "cat")).await;
    assert_eq!((&read["entry"]["content"], &read["entry"]["version"]), (&json!("Miso."), &json!(1)));
    // The account throws it away; it lies in the user's trash, not in the account's.
    served.get(&ACCOUNT, "memory.delete", json!({"id": diary})).await;
    for (caller, items) in [(&ann, 1), (&bob, 0), (&ACCOUNT, 0)] {
        let listed = served.get(caller, "trash.list", json!({})).await;
        assert_eq!(listed["items"].as_array().unwrap().len(), items, "{caller:?}");
    }
    for caller in [&bob, &ACCOUNT] {
        served.refuse(404, caller, "trash.restore", json!({"id": diary})).await;
        served.refuse(404, caller, "trash.purge", json!({"id": diary})).await;
    }
    served.get(&ann, "trash.restore", json!({"id": diary})).await;
    served.get(&ann, "memory.read", entry_of(&diary, "cat")).await;
    // What is the account's is not a user's to rename or to throw away.
    let company = served.memory(&ACCOUNT, "company").await;
    served.refuse(403, &ann, "memory.update", json!({"id": company, "description": "Ann's"})).await;
    served.refuse(403, &ann, "memory.delete", json!({"id": company})).await;
    served.memlog.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_show_the_callers_scope_and_are_paged_newest_first() {
    let Some(served) = Served::start().await else { return };
    let (ann, bob) = (user("ann"), user("bob"));
    assert_eq!(served.get(&ann, "memory.list", json!({})).await, json!({"memories": []}));
    for (caller, name) in [(&ACCOUNT, "a1"), (&ann, "n1"), (&bob, "b1"), (&ACCOUNT, "a2"), (&ann, "n2")] {
        served.memory(caller, name).await;
    }
    served.agent(&ACCOUNT, "support", json!([])).await;
    for (caller, filter, expected) in [
        (&ACCOUNT, Value::Null, vec!["a2", "a1"]),
        (&ACCOUNT, json!("none"), vec!["a2", "a1"]),
        (&ACCOUNT, json!("ann"), vec!["n2", "n1"]),
        (&ACCOUNT, json!("all"), vec!["n2", "a2", "b1", "n1", "a1"]),
        (&ann, Value::Null, vec!["n2", "a2", "n1", "a1"]),
        (&ann, json!("ann"), vec!["n2", "n1"]),
        (&ann, json!("none"), vec!["a2", "a1"]),
    ] {
        let mut request = json!({"limit": 2});
        if !filter.is_null() {
            request["user_filter"] = filter.clone();
        }
        let mut shown = Vec::new();
        loop {
            let page = served.get(caller, "memory.list", request.clone()).await;
            let memories = page["memories"].as_array().unwrap();
            assert!(memories.len() <= 2);
            shown.extend(memories.iter().map(|memory| text(memory, "name").to_owned()));
            let Some(cursor) = page.get("cursor") else { break };
            request["cursor"] = cursor.clone();
        }
        assert_eq!(shown, expected, "{caller:?} {filter}");
    }
    for filter in ["all", "bob"] {
        let error = served.refuse(403, &ann, "memory.list", json!({"user_filter": filter})).await;
        assert_eq!(error.fields["field"], "user_filter");
    }
    served.refuse(400, &ann, "memory.list", json!({"limit": 501})).await;
    served.refuse(400, &ann, "memory.list", json!({"cursor": "x"})).await;
    served.memlog.close().await;
}
