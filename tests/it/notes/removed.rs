//! What is left of a note that was removed: nothing, in no read of the past, in no repeated reply and in no file.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::*;

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found
}

const WORDS: [&str; 7] = ["marmalade", "quokka", "ocelot", "narwhal", "axolotl", "okapi-group", "kTapir"];

fn assert_nowhere(folders: &[&Path]) {
    for file in folders.iter().flat_map(|folder| files(folder)) {
        let bytes = std::fs::read(&file).unwrap();
        for word in WORDS {
            let there = bytes.windows(word.len()).any(|window| window == word.as_bytes());
            assert!(!there, "{word} is in {}", file.display());
        }
    }
}

// A removed note is gone from the present, the past, a repeated reply and the disk; what was never removed is sealed.
#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_left_of_it() {
    let Some(served) = Served::start().await else { return };
    let axolotl = login("axolotl").groups("okapi-group");
    served.get(&admin(), "note.kind_add", json!({"kind_key": "kTapir", "title": "narwhal"})).await;
    let keyed = axolotl.with("Nats-Msg-Id", "first");
    let request = json!({"name": "quokka", "category": "ocelot", "info": "narwhal", "body": "<p>marmalade</p>", "kind_key": "kTapir"});
    let note = id(&served.get(&keyed, "note.memory_save", request.clone()).await["note"]);
    let old = served.head().await;
    served.get(&axolotl, "note.memory_save", json!({"id": note, "body": "<p>marmalade again</p>"})).await;
    let group = served.put("quokka", "kCritical", json!({"level": "group", "group": "okapi-group"})).await;
    let (session, _) = served.connect(&axolotl).await;
    served.get(&session, "note.memory_load", json!({"critical": true})).await;

    // The past is as it was: the text, and who could read it.
    let past = json!({"ids": [note], "as_of": {"seq": old}});
    let loaded = served.get(&axolotl, "note.memory_load", past.clone()).await;
    assert_eq!(loaded["notes"][0]["body"], "<p>marmalade</p>");
    let listed = served.get(&axolotl, "note.memory_list", json!({"as_of": {"seq": old}})).await;
    assert_eq!(listed["notes"].as_array().unwrap().len(), 1);
    let kinds = served.get(&axolotl, "note.kinds", json!({"as_of": {"seq": 1}})).await;
    assert_eq!(kinds["kinds"].as_array().unwrap().len(), 4);
    let everyones = served.get(&admin(), "note.admin_list", json!({"as_of": {"seq": old}})).await;
    assert_eq!((&everyones["notes"][0]["login"], everyones["notes"].as_array().unwrap().len()), (&json!("axolotl"), 1));
    // Who may not read it now may not read it then.
    let now = served.head().await;
    served.get(&admin(), "note.admin_save", json!({"id": group, "level": "own", "login": "bob"})).await;
    let then = json!({"ids": [group], "as_of": {"seq": now}});
    served.refuse(404, &axolotl, "note.memory_load", then.clone()).await;
    served.refuse(404, &login("bob"), "note.memory_load", then.clone()).await;
    served.get(&admin(), "note.memory_load", then).await;

    let removing = axolotl.with("Nats-Msg-Id", "second");
    let removed = served.get(&removing, "note.memory_remove", json!({"id": note})).await;
    assert_eq!(removed["note"]["body"], "<p>marmalade again</p>");
    served.get(&admin(), "note.admin_remove", json!({"id": group})).await;
    for request in [json!({"ids": [note]}), past] {
        served.refuse(404, &axolotl, "note.memory_load", request.clone()).await;
        served.refuse(404, &admin(), "note.memory_load", request).await;
    }
    for caller in [&axolotl, &admin()] {
        let listed = served.get(caller, "note.memory_list", json!({"as_of": {"seq": old}})).await;
        assert_eq!(listed["notes"], json!([]));
    }
    assert_eq!(served.get(&admin(), "note.admin_list", json!({"as_of": {"seq": old}})).await["notes"], json!([]));
    // Repeats answer as they did, without what is gone.
    for (caller, verb, request) in
        [(&keyed, "note.memory_save", request), (&removing, "note.memory_remove", json!({"id": note}))]
    {
        let again = served.get(caller, verb, request).await;
        let shown = [&again["note"]["id"], &again["note"]["name"], &again["note"]["info"], &again["note"]["body"]];
        assert_eq!(shown, [&json!(note), &Value::Null, &Value::Null, &Value::Null], "{verb}");
    }
    // Its number is not used again.
    assert_eq!(served.own(&axolotl, "next").await, 3);

    let store = served.nats.store();
    let served = served.restart().await;
    served.refuse(404, &axolotl, "note.memory_load", json!({"ids": [note]})).await;
    let Served { memlog, data, .. } = &served;
    assert!(memlog.serving.system().health().ready);
    assert_nowhere(&[data.path(), &store]);
    served.memlog.close().await;
}

// A repeated removal shows what is no text; else it would say that another note had been removed.
#[tokio::test(flavor = "multi_thread")]
async fn a_repeated_removal_tells_its_level_and_its_kind() {
    let Some(served) = Served::start().await else { return };
    let note = served.put("quokka", "kCritical", json!({"level": "group", "group": "okapi-group"})).await;
    let keyed = admin().with("Nats-Msg-Id", "removal");
    let first = served.get(&keyed, "note.admin_remove", json!({"id": note})).await;
    assert_eq!((&first["note"]["level"], &first["note"]["kind_key"]), (&json!("group"), &json!("kCritical")));
    let again = served.get(&keyed, "note.admin_remove", json!({"id": note})).await;
    for field in ["id", "level", "kind_key"] {
        assert_eq!(again["note"][field], first["note"][field]);
    }
    served.memlog.close().await;
}

// A command that is repeated under its key does nothing again and answers as before.
#[tokio::test(flavor = "multi_thread")]
async fn repeats_do_nothing_again() {
    let Some(served) = Served::start().await else { return };
    let (ann, root) = (login("ann"), admin());
    let keyed = |caller: &Caller, key: &str| caller.with("Nats-Msg-Id", key);
    for (caller, verb, request) in [
        (&ann, "note.session_connect", json!({})),
        (&ann, "note.memory_save", json!({"name": "n", "body": "<p>b</p>"})),
        (&root, "note.admin_save", json!({"level": "all", "name": "n", "body": "<p>b</p>", "kind_key": "kCritical"})),
        (&root, "note.kind_add", json!({"kind_key": "kNew", "title": "New"})),
        (&root, "note.editor_open", json!({})),
        (&root, "note.editor_close", json!({})),
    ] {
        let caller = keyed(caller, verb);
        let first = served.get(&caller, verb, request.clone()).await;
        let head = served.head().await;
        assert_eq!(served.get(&caller, verb, request).await, first, "{verb}");
        assert_eq!(served.head().await, head, "{verb}");
        let other = json!({"name": "other", "body": "x"});
        if verb == "note.memory_save" {
            served.refuse(409, &caller, verb, other).await;
        }
    }
    served.memlog.close().await;
}
