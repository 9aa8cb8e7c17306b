//! The door as a client meets it: it can be discovered, refuses every mistake with its code, type and field, and sheds
//! load rather than keep everybody waiting.

use memlog::{client::CallError, door::table::TABLE};
use memlog_actors::{
    api::{audit, error::Kind, profile},
    limits::Limits,
};
use serde_json::{Value, json};

use crate::support::{
    Nats,
    served::{Memlog, call, refused, until},
};

async fn opened(limits: Limits) -> Option<(Nats, tempfile::TempDir, Memlog)> {
    let nats = Nats::start().await?;
    let data = tempfile::tempdir().unwrap();
    let memlog = Memlog::open(data.path(), nats.url(), limits).await;
    Some((nats, data, memlog))
}

fn few(calls_max: usize) -> Limits {
    Limits { calls_max, ..Limits::default() }
}

fn get() -> profile::Get {
    profile::Get { profile: "ann".to_owned(), as_of: None }
}

fn search() -> profile::Search {
    profile::Search { profile: "ann".to_owned(), query: "what".to_owned(), ..profile::Search::default() }
}

fn ingest(wait: bool, content: &str) -> profile::Ingest {
    let message =
        profile::Message { role: "user".to_owned(), content: content.to_owned(), ..profile::Message::default() };
    profile::Ingest {
        profile: "ann".to_owned(),
        messages: vec![message],
        wait: wait.then_some(true),
        ..profile::Ingest::default()
    }
}

async fn asked(memlog: &Memlog, subject: &str) -> Value {
    serde_json::from_slice(&memlog.send(subject, &[], "").await.unwrap()).unwrap()
}

/// Any NATS tool must find the verbs, and operators must see how often they fail.
#[tokio::test(flavor = "multi_thread")]
async fn it_is_discovered_and_counts() {
    let Some((_nats, _data, memlog)) = opened(Limits::default()).await else { return };
    let ping = asked(&memlog, "$SRV.PING").await;
    let id = ping["id"].as_str().unwrap();
    assert_eq!(asked(&memlog, &format!("$SRV.PING.memlog.{id}")).await, ping);
    let info = asked(&memlog, "$SRV.INFO.memlog").await;
    let subjects: Vec<_> =
        info["endpoints"].as_array().unwrap().iter().map(|end| end["subject"].as_str().unwrap()).collect();
    assert_eq!(subjects.len(), TABLE.rows().len());
    for noun in ["profile.search", "job.get", "audit.verify", "speaker.add"] {
        assert!(subjects.contains(&format!("memlog.v1.*.{noun}").as_str()), "{noun}");
    }
    memlog.call(get()).await.unwrap();
    refused(memlog.send("memlog.v1.acme.profile.get", &[], "[]").await);
    let stats = asked(&memlog, "$SRV.STATS.memlog").await;
    let found = stats["endpoints"].as_array().unwrap().iter().find(|end| end["name"] == "profile-get").unwrap();
    assert_eq!((&found["num_requests"], &found["num_errors"]), (&json!(2), &json!(1)));
    assert_eq!(found["last_error"], "400:invalid_request_error");
    memlog.close().await;
}

/// Mistakes that the door itself finds, before any rule about memories is asked.
#[tokio::test(flavor = "multi_thread")]
async fn malformed_calls_name_their_field() {
    let Some((_nats, _data, memlog)) = opened(Limits::default()).await else { return };
    let long = format!("memlog.v1.{}.profile.get", "n".repeat(33));
    for (subject, headers, body, field) in [
        ("memlog.v1.acme.profile.get", vec![], r#"{"profle":"a"}"#, Some("profle")),
        ("memlog.v1.acme.profile.get", vec![], "{}", Some("profile")),
        ("memlog.v1.acme.profile.get", vec![], "", Some("profile")),
        ("memlog.v1.acme.profile.get", vec![], "{", None),
        ("memlog.v1.acme.profile.get", vec![], "[1]", None),
        ("memlog.v1.acme.profile.get", vec![("Memlog-Role", "root")], r#"{"profile":"a"}"#, Some("Memlog-Role")),
        ("memlog.v1.acme.profile.get", vec![("Memlog-Usr", "a")], r#"{"profile":"a"}"#, Some("Memlog-Usr")),
        ("memlog.v1.acme.profile.gett", vec![], r#"{"profile":"a"}"#, Some("verb")),
        ("memlog.v1.acme.nonsense.get", vec![], "", Some("verb")),
        ("memlog.v1.acme", vec![], "", Some("verb")),
        ("memlog.v1.acme.profile", vec![], "", Some("verb")),
        ("memlog.v1.acme.profile.ingest.extra", vec![], "", Some("verb")),
        ("memlog.v1.acme.profile.ingest.extra.more", vec![], "", Some("verb")),
        ("memlog.v1.a$me.profile.get", vec![], r#"{"profile":"a"}"#, Some("namespace")),
        (long.as_str(), vec![], r#"{"profile":"a"}"#, Some("namespace")),
    ] {
        let error = refused(memlog.send(subject, &headers, body).await);
        assert_eq!(error.kind, Kind::InvalidRequest, "{subject} {body}");
        assert_eq!(error.fields.get("field").and_then(Value::as_str), field, "{subject} {body}: {error:?}");
    }
    // A namespace of the full length is one.
    memlog.send(&format!("memlog.v1.{}.profile.get", "n".repeat(32)), &[], r#"{"profile":"a"}"#).await.unwrap();
    memlog.close().await;
}

/// Two memlogs under one name would each get half of the calls, for two different logs.
#[tokio::test(flavor = "multi_thread")]
async fn a_second_memlog_on_one_server_is_refused() {
    let Some((nats, _data, memlog)) = opened(Limits::default()).await else { return };
    let connection = memlog::door::Options::url(nats.url());
    let second = memlog::door::NatsDoor::open(memlog.serving.system().clone(), connection.clone()).await;
    assert!(matches!(second, Err(memlog::door::Error::Occupied(_))), "{second:?}");
    let client = memlog.client.clone();
    memlog.close().await;
    assert!(matches!(call(&client, get()).await, Err(CallError::NobodyAnswers)));
}

/// Past the bound a client hears at once when to come back; nothing queues up unseen.
#[tokio::test(flavor = "multi_thread")]
async fn too_many_calls_are_shed_at_once() {
    let Some((_nats, _data, memlog)) = opened(few(1)).await else { return };
    memlog.call(ingest(true, "what a day")).await.unwrap();
    // A search waits for everything to be embedded: whatever waits after this one is the next search itself.
    memlog.call(search()).await.unwrap();
    memlog.embedding.shut();
    let client = memlog.client.clone();
    // Another question: one that was asked before needs no model.
    let other = profile::Search { query: "which day".to_owned(), ..search() };
    let held = tokio::spawn(async move { call(&client, other).await });
    until("the search is under way", || async { memlog.embedding.waiting() > 0 }).await;
    let error = refused(memlog.call(get()).await);
    assert_eq!(error.kind, Kind::Unavailable);
    assert!(error.fields["retry_after_ms"].as_u64().unwrap() > 0);
    memlog.embedding.open();
    held.await.unwrap().unwrap();
    memlog.call(get()).await.unwrap();
    memlog.close().await;
}

/// Who waits behind others that wait for a model hears in time that it was for nothing.
#[tokio::test(flavor = "multi_thread")]
async fn a_turn_that_does_not_come_is_given_up() {
    const CALLS: usize = 60;
    let limits = Limits { turn_wait_ms_max: 200, ..Limits::default() };
    let Some((_nats, _data, memlog)) = opened(limits).await else { return };
    memlog.call(ingest(true, "what a day")).await.unwrap();
    memlog.call(search()).await.unwrap();
    memlog.embedding.shut();
    let mut calls = tokio::task::JoinSet::new();
    for number in 0..CALLS {
        let (client, other) = (memlog.client.clone(), profile::Search { query: format!("day {number}"), ..search() });
        calls.spawn(async move { call(&client, other).await });
    }
    // None is answered while the model stands still, so whoever hears something is refused.
    let error = refused(calls.join_next().await.unwrap().unwrap());
    assert_eq!(error.kind, Kind::Unavailable);
    assert!(error.message.contains("take too long"), "{error:?}");
    assert!(error.fields["retry_after_ms"].as_u64().unwrap() > 0);
    // Reads that ask no model have turns of their own, and commands too.
    memlog.call(get()).await.unwrap();
    memlog.call(ingest(false, "and another")).await.unwrap();
    // Whoever has a turn keeps it, and is answered.
    memlog.embedding.open();
    let mut refused = 1;
    while let Some(reply) = calls.join_next().await {
        match reply.unwrap() {
            Ok(_) => {}
            Err(CallError::Refused(error)) if error.kind == Kind::Unavailable => refused += 1,
            Err(error) => panic!("{error:?}"),
        }
    }
    assert!(refused < CALLS, "nobody was answered");
    memlog.call(search()).await.unwrap();
    memlog.close().await;
}

/// Whoever waits for an extraction waits minutes; the others must not notice.
#[tokio::test(flavor = "multi_thread")]
async fn waiting_calls_do_not_starve_the_rest() {
    let Some((_nats, _data, memlog)) = opened(few(1)).await else { return };
    memlog.extraction.shut();
    let client = memlog.client.clone();
    let held = tokio::spawn(async move { call(&client, ingest(true, "one")).await });
    until("the extraction is under way", || async { memlog.extraction.waiting() > 0 }).await;
    let wait = profile::Wait { profile: "ann".to_owned(), timeout_s: Some(60.0), job_id: None };
    assert_eq!(refused(memlog.call(wait.clone()).await).kind, Kind::Unavailable);
    for _ in 0..20 {
        memlog.call(get()).await.unwrap();
    }
    memlog.extraction.open();
    held.await.unwrap().unwrap();
    memlog.call(wait).await.unwrap();
    memlog.close().await;
}

/// Followers of the feed learn that something happened, and nothing of what was said.
#[tokio::test(flavor = "multi_thread")]
async fn the_feed_tells_of_changes_without_content() {
    use futures::StreamExt;
    let Some((_nats, _data, memlog)) = opened(Limits::default()).await else { return };
    let mut changes = memlog.client.nats().subscribe("memlog.v1.acme.events.>").await.unwrap();
    memlog.client.nats().flush().await.unwrap();
    memlog.call(remember("the kettle is blue")).await.unwrap();
    let mut last = 0;
    loop {
        let next = tokio::time::timeout(std::time::Duration::from_secs(60), changes.next());
        let change = next.await.expect("the change is told").unwrap();
        let text = String::from_utf8(change.payload.to_vec()).unwrap();
        assert!(!text.contains("kettle") && !text.contains("ann"), "{text}");
        let told: Value = serde_json::from_str(&text).unwrap();
        let seq = told["seq"].as_u64().unwrap();
        assert!(seq > last, "{text} after {last}");
        last = seq;
        assert!(change.subject.ends_with(told["type"].as_str().unwrap()), "{}", change.subject);
        if told["type"] == "saved" {
            break;
        }
    }
    let logged =
        memlog.call(audit::Events { types: Some(vec!["saved".to_owned()]), ..Default::default() }).await.unwrap();
    assert_eq!(logged.events[0].seq, last);
    memlog.close().await;
}

fn remember(content: &str) -> profile::Remember {
    profile::Remember { profile: "ann".to_owned(), content: content.to_owned(), ..profile::Remember::default() }
}

/// A reply that the server would not carry is refused by name, instead of a client that waits for nothing.
#[tokio::test(flavor = "multi_thread")]
async fn a_reply_too_large_for_the_server_is_refused() {
    let Some(small) = crate::support::served::SmallNats::start(65_536).await else { return };
    let data = tempfile::tempdir().unwrap();
    let memlog = Memlog::open(data.path(), &small.url, Limits::default()).await;
    for name in ["one", "two", "three"] {
        memlog.call(remember(&format!("{name} {}", "kettle ".repeat(4_000)))).await.unwrap();
    }
    let search = |limit| profile::Search { query: "kettle".to_owned(), limit: Some(limit), ..search() };
    let error = refused(memlog.call(search(3)).await);
    assert_eq!((error.kind, &error.fields["field"]), (Kind::InvalidRequest, &json!("limit")));
    assert_eq!(memlog.call(search(1)).await.unwrap().memories.len(), 1);
    memlog.close().await;
}

/// The client library gives up its connection over a header that is no text, and its task over a stray carriage return;
/// neither may close the door for everybody else.
#[tokio::test(flavor = "multi_thread")]
async fn hostile_headers_do_not_close_the_door() {
    use tokio::io::AsyncWriteExt;
    let Some((nats, _data, memlog)) = opened(Limits::default()).await else { return };
    for value in [&b"a\rb"[..], b"\xff\xfe"] {
        let mut raw = tokio::net::TcpStream::connect(nats.url().trim_start_matches("nats://")).await.unwrap();
        let header = [b"NATS/1.0\r\nMemlog-User: ", value, b"\r\n\r\n"].concat();
        let publish = format!("HPUB memlog.v1.acme.profile.get {} {}\r\n", header.len(), header.len() + 2);
        let lines =
            [b"CONNECT {\"verbose\":false,\"headers\":true}\r\n", publish.as_bytes(), &header, b"{}\r\n"].concat();
        raw.write_all(&lines).await.unwrap();
        raw.write_all(b"PING\r\n").await.unwrap();
        raw.flush().await.unwrap();
        // The server has passed the message on when it answers what came after it.
        read_until(&mut raw, b"PONG").await;
        // A call that was on its way when the connection broke is lost; its client asks again.
        let patience = std::time::Duration::from_secs(2);
        until("the door answers", || async {
            matches!(tokio::time::timeout(patience, memlog.call(get())).await, Ok(Ok(_)))
        })
        .await;
    }
    memlog.close().await;
}

async fn read_until(stream: &mut tokio::net::TcpStream, word: &[u8]) {
    use tokio::io::AsyncReadExt;
    let mut read = Vec::new();
    while !read.windows(word.len()).any(|part| part == word) {
        assert!(stream.read_buf(&mut read).await.unwrap() > 0, "the server closed the connection");
    }
}
