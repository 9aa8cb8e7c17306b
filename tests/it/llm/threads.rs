//! A model and the settings of a thread: what it is told, what it is shown, and the links it makes.

use memlog_actors::api::{record::Status, thread};
use serde_json::{Value, json};

use super::*;
use crate::support::llm::{Reply, right};

const TRIP: &str = "trip";

async fn create(system: &System, settings: Value) {
    let settings = Some(serde_json::from_value(settings).expect("settings"));
    let profile = ALICE.to_owned();
    let request = thread::Create { profile, thread_id: Some(TRIP.to_owned()), settings, ..Default::default() };
    system.thread_create(&acme(), request).await.expect("created");
}

/// Adds messages and waits until they are extracted from.
async fn say(system: &System, texts: &[&str]) {
    let message = |text: &&str| thread::NewMessage {
        role: "user".to_owned(),
        content: thread::Content::Text((*text).to_owned()),
        ..Default::default()
    };
    let (profile, thread_id) = (ALICE.to_owned(), TRIP.to_owned());
    let messages = texts.iter().map(message).collect();
    let request = thread::AddMessages { profile, thread_id, messages, ..Default::default() };
    system.thread_add_messages(&acme(), request).await.expect("added");
    let (profile, thread_id) = (ALICE.to_owned(), TRIP.to_owned());
    let wait = thread::WaitForMemoryExtraction { profile, thread_id, timeout: None };
    system.thread_wait(&acme(), wait).await.expect("extracted");
}

fn memory(content: &str, id: &str) -> thread::AddMemory {
    let (profile, thread_id) = (ALICE.to_owned(), TRIP.to_owned());
    let memory_id = Some(id.to_owned());
    thread::AddMemory { profile, thread_id, content: content.to_owned(), memory_id, ..Default::default() }
}

async fn add(system: &System, request: thread::AddMemory) -> thread::MemoryAdded {
    system.thread_add_memory(&acme(), request).await.expect("saved").reply
}

async fn links(system: &System, id: &str) -> Vec<(String, String)> {
    let (profile, thread_id) = (ALICE.to_owned(), TRIP.to_owned());
    let request = thread::ListRecordLinks { profile, thread_id, record_id: id.to_owned(), as_of: None };
    let listed = system.thread_list_record_links(&acme(), request).await.expect("listed").reply;
    listed.links.into_iter().map(|link| (link.relation_type, link.target_record_id)).collect()
}

async fn status(system: &System, id: &str) -> Status {
    let request = Memory { profile: ALICE.to_owned(), memory_id: id.to_owned(), as_of: None };
    system.profile_memory(&acme(), request).await.expect("found").reply.memory.status
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thread_says_what_its_model_is_told_and_shown() {
    let world = World::new();
    let system = world.start().await;
    let extraction = json!({"window": 3, "custom_instructions": "Keep only what is about food.", "token_limit": 2_000});
    create(
        &system,
        json!({"extraction": extraction, "max_message_tokens": 25, "message_shortening_input_token_limit": 50}),
    )
    .await;
    say(&system, &["one", "two", "three"]).await;
    let long = "I had a very long dinner. ".repeat(40);
    say(&system, &[&long, "and tea"]).await;
    let calls = world.llm.calls_of("memories");
    assert!(
        calls.iter().all(|call| call.system().ends_with("Besides, for these messages: Keep only what is about food."))
    );
    let second = calls[1].data();
    // A window of three, two of which are new.
    assert_eq!(second["earlier"].as_array().map(Vec::len), Some(1));
    assert_eq!(second["messages"][0]["text"], "In short: I had a very long di");
    let shortening = world.llm.calls_of("shortened")[0].data();
    assert_eq!(shortening["text"].as_str().map(str::len), Some(200));
    assert_eq!(shortening["words_max"], 18);
    // What is stored stays as it was said.
    let (profile, thread_id) = (ALICE.to_owned(), TRIP.to_owned());
    let request = thread::GetMessages { profile, thread_id, start: Some(3), ..Default::default() };
    let shown = system.thread_get_messages(&acme(), request).await.expect("shown").reply;
    assert_eq!(shown.messages[0].content, thread::Content::Text(long));
    system.stop().await;
}

// A message that cannot be shortened is cut, and its job succeeds all the same.
#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_cannot_be_shortened_is_cut() {
    for answer in
        [Reply::Refuses, Reply::Says("{}".to_owned()), Reply::Says(json!({"text": "x".repeat(9_000)}).to_string())]
    {
        let world = World::new();
        world.llm.play(move |call| if call.asked() == "shortened" { answer.clone() } else { right(call) });
        let system = world.start().await;
        create(&system, json!({"max_message_tokens": 10})).await;
        say(&system, &[&"й".repeat(500)]).await;
        let data = world.llm.calls_of("memories")[0].data();
        assert_eq!(data["messages"][0]["text"].as_str().map(str::len), Some(40));
        system.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_memory_is_linked_to_those_that_it_is_about() {
    let world = World::new();
    let system = world.start().await;
    create(&system, json!({})).await;
    add(&system, memory("Ann lives in Porto", "porto")).await;
    add(&system, memory("Ann lives near the sea", "sea")).await;
    assert!(links(&system, "sea").await.is_empty());
    world.llm.play(|call| match call.asked() {
        "links" => {
            let of = |wanted: &str| {
                let known = call.data()["known"].as_array().cloned().unwrap_or_default();
                known.iter().find(|it| it["text"] == wanted).map(|it| it["n"].clone()).unwrap()
            };
            let links = json!([{"n": of("Ann lives in Porto"), "type": "supersedes"}, {"n": of("Ann lives near the sea"), "type": "supports"}]);
            Reply::Says(json!({"links": links}).to_string())
        }
        _ => right(call),
    });
    add(&system, memory("Ann lives in Lisbon now", "lisbon")).await;
    let mut made = links(&system, "lisbon").await;
    made.sort();
    let link = |label: &str, target: &str| (label.to_owned(), target.to_owned());
    assert_eq!(made, [link("supersedes", "porto"), link("supports", "sea")]);
    assert_eq!((status(&system, "porto").await, status(&system, "sea").await), (Status::Invalid, Status::Valid));
    // Told not to, it asks nobody.
    let asked = world.llm.calls_of("links").len();
    add(&system, thread::AddMemory { autonomous_linking: Some(false), ..memory("Ann lives in Faro", "faro") }).await;
    assert_eq!(world.llm.calls_of("links").len(), asked);
    system.stop().await;
}

// Whatever the model does, the memory is saved; and where it fails, what is plain is linked without it.
#[tokio::test(flavor = "multi_thread")]
async fn failing_to_link_never_fails_the_save() {
    let wrong = |links: Value| Reply::Says(json!({"links": links}).to_string());
    for answer in [
        wrong(json!([{"n": 7, "type": "supports"}])),
        wrong(json!([{"n": 0, "type": "resembles"}])),
        wrong(json!([{"n": 0, "type": "supports"}, {"n": 0, "type": "refines"}])),
        Reply::Drops,
        Reply::Status(500, None),
    ] {
        let world = World::new();
        world.llm.play(move |call| if call.asked() == "links" { answer.clone() } else { right(call) });
        let system = world.start().await;
        create(&system, json!({})).await;
        add(&system, memory("Ann likes green tea", "a")).await;
        add(&system, memory("Ann has a cat", "b")).await;
        assert!(links(&system, "b").await.is_empty());
        add(&system, memory("Ann likes green tea.", "c")).await;
        assert_eq!(links(&system, "c").await, [("duplicates".to_owned(), "a".to_owned())]);
        system.stop().await;
    }
}
