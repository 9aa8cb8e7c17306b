//! The trash: out of sight at once, back with everything, gone for good on request.

use futures::StreamExt as _;
use serde_json::{Value, json};

use super::{ACCOUNT, Served, text, user};

fn ids(listed: &Value) -> Vec<&str> {
    listed["items"].as_array().unwrap().iter().map(|item| text(item, "id")).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_deleted_comes_back_with_everything() {
    let Some(served) = Served::start().await else { return };
    let ann = user("ann");
    let company = served.memory(&ACCOUNT, "company").await;
    served.save(&ACCOUNT, &company, "tone", "Warm.").await;
    served.save(&ACCOUNT, &company, "tone", "Warmer.").await;
    served.save(&ann, &company, "tone", "Dry.").await;
    let before = served.head().await;
    let shown = served.get(&ACCOUNT, "memory.get", json!({"id": company})).await;
    let trash = served.get(&ACCOUNT, "memory.delete", json!({"id": company})).await["trash"].clone();
    assert_eq!((text(&trash, "id"), &trash["kind"], &trash["name"]), (&*company, &json!("memory"), &json!("company")));
    let times = ["deleted_at", "expires_at"].map(|field| text(&trash, field).parse::<jiff::Timestamp>().unwrap());
    assert_eq!((times[1] - times[0]).as_secs(), 30 * 86_400);
    // Out of every read, also of the past; its name is free.
    for (verb, request) in [
        ("memory.get", json!({"id": company})),
        ("memory.get", json!({"name": "company"})),
        ("memory.read", json!({"id": company, "entry": "tone"})),
        ("memory.read", json!({"id": company, "entry": "tone", "as_of": {"seq": before}})),
        ("memory.search", json!({"id": company, "query": "warm", "as_of": {"seq": before}})),
        ("memory.save", json!({"id": company, "entry": "tone", "content": "x"})),
        ("memory.delete", json!({"id": company})),
    ] {
        served.refuse(404, &ACCOUNT, verb, request).await;
    }
    for as_of in [Value::Null, json!({"seq": before})] {
        let request = if as_of.is_null() { json!({}) } else { json!({"as_of": as_of}) };
        assert_eq!(served.get(&ACCOUNT, "memory.list", request).await["memories"], json!([]));
    }
    let other = served.memory(&ACCOUNT, "company").await;
    let taken = served.refuse(409, &ACCOUNT, "trash.restore", json!({"id": company})).await;
    assert_eq!(taken.fields["existing_id"], *other);
    served.get(&ACCOUNT, "memory.update", json!({"id": other, "name": "later"})).await;
    let mut back = served.get(&ACCOUNT, "trash.restore", json!({"id": company})).await;
    back["memory"]["updated_at"] = shown["memory"]["updated_at"].clone();
    assert_eq!(back, shown);
    served.refuse(404, &ACCOUNT, "trash.restore", json!({"id": company})).await;
    let history = served.get(&ACCOUNT, "memory.history", json!({"id": company, "entry": "tone"})).await;
    assert_eq!(
        history["versions"].as_array().unwrap().iter().map(|it| text(it, "content")).collect::<Vec<_>>(),
        ["Warm.", "Warmer."]
    );
    assert_eq!(
        served.get(&ann, "memory.read", json!({"id": company, "entry": "tone"})).await["entry"]["content"],
        "Dry."
    );
    assert_eq!(served.save(&ann, &company, "tone", "Drier.").await["version"], 2);
    served.memlog.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_attached_stays_and_an_agents_own_goes_with_it() {
    let Some(served) = Served::start().await else { return };
    let company = served.memory(&ACCOUNT, "company").await;
    let attach = json!([{"memory": company, "writes": true}]);
    let support = served.agent(&ACCOUNT, "support", attach.clone()).await;
    served.agent(&user("ann"), "helper", json!([{"memory": company}])).await;
    let error = served.refuse(409, &ACCOUNT, "memory.delete", json!({"id": company})).await;
    let told = error.fields["attached_to"].as_array().unwrap();
    assert_eq!((told.len(), &told[0]), (2, &json!({"id": support["id"], "name": "support", "writes": true})));
    // Other users' agents are none of a user's business.
    let seen = served.get(&user("bob"), "memory.get", json!({"id": company})).await;
    assert_eq!(seen["memory"]["attached_to"], json!([{"id": support["id"], "name": "support", "writes": true}]));

    let own = text(&support, "memory_id");
    served.save(&ACCOUNT, own, "todo", "Nothing.").await;
    let error = served.refuse(409, &ACCOUNT, "memory.delete", json!({"id": own})).await;
    assert_eq!(error.fields["attached_to"][0]["id"], support["id"]);
    assert_eq!(
        served.refuse(400, &ACCOUNT, "memory.update", json!({"id": own, "name": "x"})).await.fields["field"],
        "name"
    );
    served.get(&ACCOUNT, "memory.update", json!({"id": own, "description": "Its own"})).await;
    // Another agent may attach it, and then it stays.
    let other = served.agent(&ACCOUNT, "other", json!([{"memory": own}])).await;
    let error = served.refuse(409, &ACCOUNT, "agent.delete", json!({"id": support["id"]})).await;
    assert_eq!(error.fields["attached_to"][0]["id"], other["id"]);
    served.get(&ACCOUNT, "agent.update", json!({"id": other["id"], "memories": []})).await;
    served.get(&ACCOUNT, "agent.delete", json!({"id": support["id"]})).await;
    served.refuse(404, &ACCOUNT, "agent.get", json!({"name": "support"})).await;
    let listed = served.get(&ACCOUNT, "trash.list", json!({})).await;
    assert_eq!((ids(&listed), &listed["items"][0]["kind"]), (vec![own], &json!("agent_memory")));
    // Restored it is a memory like any other.
    let back = served.get(&ACCOUNT, "trash.restore", json!({"id": own})).await;
    assert_eq!((&back["memory"]["agent_id"], &back["memory"]["entry_count"]), (&Value::Null, &json!(1)));
    served.get(&ACCOUNT, "memory.update", json!({"id": own, "name": "inherited"})).await;
    served.get(&ACCOUNT, "memory.delete", json!({"id": own})).await;
    served.memlog.close().await;
}

// Purged at once, and every trace of what it said with it; the audit log shows what happened, and the feed tells it, without a word.
#[tokio::test(flavor = "multi_thread")]
async fn a_purge_is_for_good_and_the_log_shows_what_happened() {
    let Some(served) = Served::start().await else { return };
    let subject = "memlog.v1.acme.events.registry.>";
    let mut feed = served.memlog.client.nats().subscribe(subject).await.unwrap();
    served.memlog.client.nats().flush().await.unwrap();
    let ann = user("ann");
    let diary = served.memory(&ann, "diary").await;
    served.save(&ann, &diary, "cat", "Miso.").await;
    let agent = served.agent(&ann, "helper", json!([{"memory": diary, "writes": true}])).await;
    served.get(&ann, "agent.update", json!({"id": agent["id"], "memories": []})).await;
    let before = served.head().await;
    for _ in 0..2 {
        served.get(&ann, "memory.delete", json!({"id": diary})).await;
        served.get(&ann, "trash.restore", json!({"id": diary})).await;
    }
    served.get(&ann, "memory.delete", json!({"id": diary})).await;
    served.get(&ann, "trash.purge", json!({"id": diary})).await;
    served.refuse(404, &ann, "trash.restore", json!({"id": diary})).await;
    served.refuse(404, &ann, "trash.purge", json!({"id": diary})).await;
    assert_eq!(served.get(&ann, "trash.list", json!({})).await["items"], json!([]));
    assert_eq!(served.get(&ann, "trash.list", json!({"as_of": {"seq": before + 1}})).await["items"], json!([]));
    for verb in ["memory.read", "memory.history"] {
        served.refuse(404, &ann, verb, json!({"id": diary, "entry": "cat", "as_of": {"seq": before}})).await;
    }
    served.memory(&ann, "diary").await;

    let events = served.get(&ACCOUNT, "audit.events", json!({"record_id": diary, "limit": 100})).await;
    let types: Vec<_> = events["events"].as_array().unwrap().iter().map(|it| text(it, "type")).collect();
    let moved = ["trashed", "restored", "trashed", "restored", "trashed", "purged"];
    assert_eq!(types, [&["memory_created", "entry_saved", "attached", "attached"][..], &moved].concat());
    let by = served.get(&ACCOUNT, "audit.events", json!({"types": ["purged"]})).await;
    assert_eq!((&by["events"][0]["by"], &by["events"][0]["profile"]), (&json!("user:ann"), &Value::Null));
    assert!(!events.to_string().contains("Miso") && !events.to_string().contains("diary"));
    let foreign = served.memlog.send("memlog.v1.other.audit.events", &[], "{}").await.unwrap();
    assert_eq!(serde_json::from_slice::<Value>(&foreign).unwrap()["events"], json!([]));
    let stats = served.get(&ACCOUNT, "audit.stats", json!({})).await;
    assert_eq!((&stats["by_type"]["trashed"], &stats["profiles"]), (&json!(3), &json!(0)));
    assert_eq!(served.get(&ACCOUNT, "audit.verify", json!({})).await["ok"], true);
    let told = async {
        let mut types = Vec::new();
        while types.last().is_none_or(|last| last != "purged") {
            let change = feed.next().await.unwrap();
            types.push(change.subject.rsplit('.').next().unwrap().to_owned());
        }
        types
    };
    let told = tokio::time::timeout(std::time::Duration::from_secs(60), told).await.unwrap();
    assert_eq!(told[..2], ["registry_created", "memory_created"]);
    assert_eq!(told[told.len() - 6..], moved);
    served.memlog.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_trash_is_paged_what_was_deleted_last_first() {
    let Some(served) = Served::start().await else { return };
    let mut expected = Vec::new();
    for place in 0..5 {
        expected.insert(0, served.memory(&ACCOUNT, &format!("m{place}")).await);
    }
    // Not in the order of their creation.
    for id in [2, 0, 4, 1, 3] {
        served.get(&ACCOUNT, "memory.delete", json!({"id": expected[id]})).await;
    }
    let order: Vec<String> = [3, 1, 4, 0, 2].map(|at: usize| expected[at].clone()).to_vec();
    let (mut shown, mut request) = (Vec::new(), json!({"limit": 2}));
    loop {
        let page = served.get(&ACCOUNT, "trash.list", request.clone()).await;
        shown.extend(ids(&page).into_iter().map(str::to_owned));
        let Some(cursor) = page.get("cursor") else { break };
        request["cursor"] = cursor.clone();
    }
    assert_eq!(shown, order);
    served.memlog.close().await;
}
