//! The gate: what a session must have read before it does anything else.

use std::collections::HashMap;

use memlog::door::table::TABLE;
use serde_json::{Map, Value, json};

use super::*;

/// Values for a field that a verb asks for, until one is of its type.
fn values() -> [Value; 4] {
    [json!("x"), json!("memory"), json!(1), json!([{"role": "user", "content": "x"}])]
}

// Every verb of every noun but the three: a door that forgot the gate would be found here, and so would a verb that is new.
#[tokio::test(flavor = "multi_thread")]
async fn it_stands_in_front_of_every_verb() {
    let Some(served) = Served::start().await else { return };
    let (note, root) = (served.put("read me", "kCritical", json!({"level": "all"})).await, admin());
    let (session, critical) = served.connect(&root).await;
    assert_eq!(critical, 1);
    let (mut gated, mut open) = (0, Vec::new());
    for row in TABLE.rows() {
        let verb = format!("{}.{}", row.noun, row.verb);
        let (mut request, mut tried) = (Map::new(), HashMap::<String, usize>::new());
        let told = loop {
            match served.ask(&session, &verb, Value::Object(request.clone())).await {
                Err(error) if error.kind.code() == 400 && error.fields.contains_key("field") => {
                    let field = error.fields["field"].as_str().unwrap().to_owned();
                    if verb == "note.memory_load" {
                        break None;
                    }
                    let at = tried.entry(field.clone()).or_default();
                    let value =
                        values().get(*at).cloned().unwrap_or_else(|| panic!("{verb} wants another {field}: {error:?}"));
                    *at += 1;
                    request.insert(field, value);
                }
                Err(error) => break Some(error),
                Ok(_) => break None,
            }
        };
        match told {
            Some(error) => {
                assert_eq!(error.kind.code(), 428, "{verb}: {error:?}");
                assert_eq!(error.fields["unread"], json!([note]), "{verb}");
                gated += 1;
            }
            None => open.push(verb),
        }
    }
    assert_eq!(open, ["note.session_connect", "note.memory_list", "note.memory_load"]);
    assert_eq!(gated + 3, TABLE.rows().len());
    // A call without a session is not gated.
    served.get(&root, "memory.list", json!({})).await;
    served.memlog.close().await;
}

// Three sessions at once, two of one login: each has its own to read, and what one reads the others still have to.
#[tokio::test(flavor = "multi_thread")]
async fn each_session_reads_for_itself() {
    let Some(served) = Served::start().await else { return };
    let all = served.put("all", "kCritical", json!({"level": "all"})).await;
    let sales = served.put("sales", "kCritical", json!({"level": "group", "group": "sales"})).await;
    let bobs = served.put("bobs", "kCritical", json!({"level": "own", "login": "bob"})).await;
    served.put("not critical", "kDirect", json!({"level": "all"})).await;
    let ann = login("ann").groups("sales");
    let ((one, told_one), (two, told_two)) = tokio::join!(served.connect(&ann), served.connect(&ann));
    let (three, told_three) = served.connect(&login("bob")).await;
    assert_eq!([told_one, told_two, told_three], [2, 2, 2]);

    served.get(&one, "note.memory_load", json!({"ids": [all]})).await;
    assert_eq!(served.unread(&one).await, [sales]);
    let loaded = served.names(&one, "note.memory_load", json!({"critical": true})).await;
    assert_eq!(loaded, ["all", "sales"]);
    assert_eq!(served.unread(&one).await, [0; 0]);
    assert_eq!(served.unread(&two).await, [all, sales]);
    assert_eq!(served.unread(&three).await, [all, bobs]);
    // A refused load has loaded nothing.
    served.refuse(404, &three, "note.memory_load", json!({"ids": [all, bobs, sales]})).await;
    assert_eq!(served.unread(&three).await, [all, bobs]);
    // Groups are those of each call.
    assert_eq!(served.unread(&three.groups("sales")).await, [all, sales, bobs]);
    assert_eq!(served.unread(&two.groups("support")).await, [all]);
    // Past its gate a session does whatever its login may.
    served.own(&one, "done").await;
    served.get(&one, "memory.create", json!({"name": "company"})).await;

    // A session is its login's, and there are no others.
    let stolen = one.with("Memlog-User", "bob");
    for verb in ["note.kinds", "note.memory_list", "memory.list", "audit.stats"] {
        served.refuse(403, &stolen, verb, json!({})).await;
        for nobody in ["x", "0190b2a4-0000-7000-8000-000000000000"] {
            let error = served.refuse(404, &ann.session(nobody), verb, json!({})).await;
            assert_eq!(error.fields["session"], nobody, "{verb}");
        }
    }
    served.refuse(403, &stolen, "note.memory_load", json!({"critical": true})).await;
    served.connect(&stolen).await;
    let elsewhere = served
        .memlog
        .send(
            "memlog.v1.other.note.kinds",
            &[("Memlog-Session", &one.0.last().unwrap().1), ("Memlog-User", "ann")],
            "{}",
        )
        .await;
    assert_eq!(refused(elsewhere).kind.code(), 404);
    served.memlog.close().await;
}

// It closes again for what is added, by whatever change, and for nothing else; and a restart forgets none of it.
#[tokio::test(flavor = "multi_thread")]
async fn it_closes_again_for_what_is_added_and_outlives_a_restart() {
    let Some(served) = Served::start().await else { return };
    let ann = login("ann").groups("sales");
    let first = served.put("first", "kCritical", json!({"level": "all"})).await;
    let (session, _) = served.connect(&ann).await;
    served.get(&session, "note.memory_load", json!({"critical": true})).await;
    let other = served.put("other", "kDirect", json!({"level": "group", "group": "support"})).await;
    assert_eq!(served.unread(&session).await, [0; 0]);

    let change = async |request: Value| served.get(&admin(), "note.admin_save", request).await;
    // The text of what was read may change.
    change(json!({"id": first, "body": "<p>new</p>", "name": "new", "category": "c", "info": "i"})).await;
    change(json!({"id": first, "kind_key": "kCritical", "level": "all"})).await;
    assert_eq!(served.unread(&session).await, [0; 0]);
    // By a change of kind, which the session does not read yet; then of its group; then of its level.
    change(json!({"id": other, "kind_key": "kCritical"})).await;
    assert_eq!(served.unread(&session).await, [0; 0]);
    change(json!({"id": other, "group": "sales"})).await;
    assert_eq!(served.unread(&session).await, [other]);
    served.get(&session, "note.memory_load", json!({"ids": [other]})).await;
    assert_eq!(served.unread(&session).await, [0; 0]);
    change(json!({"id": other, "level": "all"})).await;
    assert_eq!(served.unread(&session).await, [other]);
    change(json!({"id": other, "kind_key": "kSkill"})).await;
    assert_eq!(served.unread(&session).await, [0; 0]);
    served.get(&session, "note.memory_load", json!({"ids": [other]})).await;
    change(json!({"id": other, "kind_key": "kCritical"})).await;
    assert_eq!(served.unread(&session).await, [other]);
    served.get(&session, "note.memory_load", json!({"critical": true})).await;
    // A login's own critical note closes it, too.
    let own = json!({"name": "mine", "body": "x", "kind_key": "kCritical"});
    let mine = id(&served.get(&session, "note.memory_save", own).await["note"]);
    assert_eq!(served.unread(&session).await, [mine]);

    let served = served.restart().await;
    assert_eq!(served.unread(&session).await, [mine]);
    served.refuse(403, &session.with("Memlog-User", "bob"), "note.kinds", json!({})).await;
    served.get(&session, "note.memory_load", json!({"critical": true})).await;
    // What was loaded as it was in the past does not count.
    let late = served.put("late", "kCritical", json!({"level": "all"})).await;
    let before = served.head().await;
    served.put("later", "kDefault", json!({"level": "all"})).await;
    served.get(&session, "note.memory_load", json!({"ids": [late], "as_of": {"seq": before}})).await;
    assert_eq!(served.unread(&session).await, [late]);
    served.get(&admin(), "note.admin_remove", json!({"id": late})).await;
    assert_eq!(served.unread(&session).await, [0; 0]);
    let served = served.restart().await;
    assert_eq!(served.unread(&session).await, [0; 0]);
    served.memlog.close().await;
}
