//! The editor's hold, and what the audit tells.

use serde_json::{Value, json};

use super::*;

// While one edits, nobody else changes anything and everybody reads; whoever crashes loses the hold.
#[tokio::test(flavor = "multi_thread")]
async fn one_edits_and_the_others_wait_until_it_is_over() {
    let Some(served) = Served::start().await else { return };
    let (ann, root, boss) = (login("ann"), admin(), admin().with("Memlog-User", "boss"));
    let note = served.own(&ann, "mine").await;
    let held = served.get(&root, "note.editor_open", json!({})).await;
    assert_eq!(held["held_by"], "root");
    let until: jiff::Timestamp = held["expires_at"].as_str().unwrap().parse().unwrap();

    let save = json!({"id": note, "name": "x"});
    for (caller, verb, request) in [
        (&ann, "note.memory_save", save.clone()),
        (&ann, "note.memory_save", json!({"name": "new", "body": "x"})),
        (&ann, "note.memory_remove", json!({"id": note})),
        (&root, "note.memory_save", json!({"name": "new", "body": "x"})),
        (&boss, "note.admin_save", save.clone()),
        (&boss, "note.admin_remove", json!({"id": note})),
        (&boss, "note.editor_open", json!({})),
        (&boss, "note.editor_close", json!({})),
    ] {
        let error = served.refuse(423, caller, verb, request).await;
        assert_eq!((error.kind.name(), &error.fields["held_by"]), ("locked_error", &json!("root")), "{verb}");
    }
    // Reads go on, and the holder works.
    assert_eq!(served.names(&ann, "note.memory_list", json!({})).await, ["mine"]);
    assert_eq!(served.names(&ann, "note.memory_load", json!({"ids": [note]})).await, ["mine"]);
    served.connect(&ann).await;
    served.get(&root, "note.admin_save", save.clone()).await;
    assert_eq!(served.names(&boss, "note.admin_list", json!({})).await, ["x"]);

    // Also over a restart; renewed it lasts longer, given back it is over.
    served.clock.by(30);
    let served = served.restart().await;
    served.refuse(423, &ann, "note.memory_save", save.clone()).await;
    let again = served.get(&root, "note.editor_open", json!({})).await;
    assert!(again["expires_at"].as_str().unwrap().parse::<jiff::Timestamp>().unwrap() > until);
    served.clock.by(45);
    served.refuse(423, &ann, "note.memory_save", save.clone()).await;
    served.clock.by(16);
    served.get(&ann, "note.memory_save", save.clone()).await;
    // It ran out: closing it late is nothing, and who comes next has it.
    served.get(&root, "note.editor_close", json!({})).await;
    served.get(&boss, "note.editor_open", json!({})).await;
    assert_eq!(served.refuse(423, &root, "note.editor_open", json!({})).await.fields["held_by"], "boss");
    served.get(&boss, "note.editor_close", json!({})).await;
    served.get(&ann, "note.memory_save", save).await;
    served.memlog.close().await;
}

// Every change is in the audit log with who made it, and no word of what it says.
#[tokio::test(flavor = "multi_thread")]
async fn the_audit_tells_who_changed_what() {
    let Some(served) = Served::start().await else { return };
    let (ann, root) = (login("ann"), admin());
    let note = served.own(&ann, "quokka").await;
    served.get(&root, "note.admin_save", json!({"id": note, "kind_key": "kCritical"})).await;
    served.get(&root, "note.kind_add", json!({"kind_key": "kOcelot", "title": "Narwhal"})).await;
    let (session, _) = served.connect(&ann.with("Memlog-Agent", "app")).await;
    served.get(&session, "note.memory_load", json!({"critical": true})).await;
    served.get(&root, "note.editor_open", json!({})).await;
    served.get(&root, "note.admin_remove", json!({"id": note})).await;
    served.get(&root, "note.editor_close", json!({})).await;
    let told = served.get(&root, "audit.events", json!({"limit": 100})).await;
    let events = told["events"].as_array().unwrap();
    let shown: Vec<_> = events.iter().map(|it| (it["type"].as_str().unwrap(), it["by"].clone())).collect();
    let (ann, root, app) = (json!("user:ann"), json!("user:root"), json!("agent:app"));
    assert_eq!(
        shown,
        [
            ("registry_created", ann),
            // What a removed note said, and who said it, is gone with it.
            ("note_saved", Value::Null),
            ("note_saved", Value::Null),
            ("note_kind_added", root.clone()),
            ("session_connected", app.clone()),
            ("notes_loaded", app),
            ("editor_opened", root.clone()),
            ("note_removed", root.clone()),
            ("editor_closed", root),
        ]
    );
    let of_note = served.get(&admin(), "audit.events", json!({"record_id": note.to_string()})).await;
    let types: Vec<_> = of_note["events"].as_array().unwrap().iter().map(|it| &it["type"]).collect();
    assert_eq!(types, ["note_saved", "note_saved", "note_removed"]);
    for word in ["quokka", "kOcelot", "Narwhal"] {
        assert!(!told.to_string().contains(word), "{word}");
    }
    assert_eq!(served.get(&admin(), "audit.verify", json!({})).await["ok"], true);
    served.memlog.close().await;
}
