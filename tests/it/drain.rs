//! Shutting down: what was accepted is finished and answered, what comes later is refused, and nothing that was
//! acknowledged is missing afterwards. The signal handler calls the same `close`.

use std::{sync::Arc, time::Duration};

use memlog::client::{CallError, Client};
use memlog_actors::{
    api::{error::Kind, profile},
    limits::Limits,
};

use crate::support::{
    Nats,
    served::{Memlog, call, refused, until},
};

fn remember(content: String) -> profile::Remember {
    profile::Remember { profile: "ann".to_owned(), content, dedupe: Some(false), ..profile::Remember::default() }
}

/// Writes until it is told to stop; the ids of what was acknowledged.
async fn write(client: Client, writer: usize) -> Vec<String> {
    let mut stored = Vec::new();
    for turn in 0.. {
        match call(&client, remember(format!("note {turn} of writer {writer}"))).await {
            Ok(reply) => stored.push(reply.memory.id),
            Err(CallError::NobodyAnswers) => break,
            Err(CallError::Refused(error)) if error.kind == Kind::Unavailable => break,
            Err(error) => panic!("neither done nor refused: {error}"),
        }
    }
    stored
}

#[tokio::test(flavor = "multi_thread")]
async fn a_close_under_load_loses_nothing_that_was_acknowledged() {
    let Some(nats) = Nats::start().await else { return };
    let data = tempfile::tempdir().unwrap();
    let memlog = Memlog::open(data.path(), nats.url(), Limits::default()).await;
    memlog.call(remember("first".to_owned())).await.unwrap();
    let writers: Vec<_> = (0..16).map(|writer| tokio::spawn(write(memlog.client.clone(), writer))).collect();
    until("the load is on", || async {
        let get = profile::Get { profile: "ann".to_owned(), as_of: None };
        memlog.call(get).await.unwrap().profile.memories > 50
    })
    .await;
    memlog.close().await;
    let mut stored = Vec::new();
    for writer in writers {
        stored.extend(writer.await.unwrap());
    }

    let again = Memlog::open(data.path(), nats.url(), Limits::default()).await;
    for memory_id in stored {
        let read = profile::Memory { profile: "ann".to_owned(), memory_id, as_of: None };
        again.call(read).await.unwrap();
    }
    again.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_under_way_are_finished_and_waits_are_broken_off() {
    let Some(nats) = Nats::start().await else { return };
    let data = tempfile::tempdir().unwrap();
    let memlog = Memlog::open(data.path(), nats.url(), Limits::default()).await;
    let message = profile::Message { role: "user".to_owned(), content: "hi there".to_owned(), ..Default::default() };
    let ingest = profile::Ingest { profile: "ann".to_owned(), messages: vec![message], ..Default::default() };
    memlog.call(profile::Ingest { wait: Some(true), ..ingest.clone() }).await.unwrap();
    let (embedding, extraction) = (memlog.embedding.clone(), memlog.extraction.clone());
    extraction.shut();
    let session = profile::Ingest { session_id: Some("other".to_owned()), ..ingest };
    memlog.call(session).await.unwrap();
    until("the extraction is under way", || async { extraction.waiting() > 0 }).await;
    let search = profile::Search { profile: "ann".to_owned(), query: "there".to_owned(), ..Default::default() };
    // It sees its own writes, so after it nothing but the next question waits to be embedded.
    memlog.call(search.clone()).await.unwrap();
    embedding.shut();

    let wait = profile::Wait { profile: "ann".to_owned(), timeout_s: Some(300.0), job_id: None };
    let client = memlog.client.clone();
    let wait = tokio::spawn(async move { call(&client, wait).await });
    let client = memlog.client.clone();
    let search = tokio::spawn(async move { call(&client, profile::Search { query: "hi".to_owned(), ..search }).await });
    until("the search is under way", || async { embedding.waiting() > 0 }).await;

    let client = memlog.client.clone();
    let closing = tokio::spawn(memlog.close());
    // The wait is broken off at once, whatever its own patience.
    assert_eq!(refused(wait.await.unwrap()).kind, Kind::Unavailable);
    until("nothing new is taken", || async {
        let get = profile::Get { profile: "ann".to_owned(), as_of: None };
        matches!(call(&client, get).await, Err(CallError::NobodyAnswers))
    })
    .await;
    assert!(!search.is_finished(), "the search is still held up");
    embedding.open();
    extraction.open();
    search.await.unwrap().expect("what was taken is answered");
    closing.await.unwrap();
}

/// A call that outlasts the deadline is told so; its client is not left to guess.
#[tokio::test(flavor = "multi_thread")]
async fn past_the_deadline_the_rest_is_told() {
    let Some(nats) = Nats::start().await else { return };
    let data = tempfile::tempdir().unwrap();
    let memlog = Memlog::open(data.path(), nats.url(), Limits::default()).await;
    let message = profile::Message { role: "user".to_owned(), content: "hi there".to_owned(), ..Default::default() };
    memlog.extraction.shut();
    let ingest = profile::Ingest {
        profile: "ann".to_owned(),
        messages: vec![message],
        wait: Some(true),
        timeout_s: Some(300.0),
        ..Default::default()
    };
    let client = memlog.client.clone();
    let held = tokio::spawn(async move { call(&client, ingest).await });
    let extraction = memlog.extraction.clone();
    until("the extraction is under way", || async { extraction.waiting() > 0 }).await;
    let serving = Arc::new(tokio::sync::Mutex::new(Some(memlog.serving)));
    let closing = tokio::spawn(async move {
        let serving = serving.lock().await.take().unwrap();
        serving.close(Duration::ZERO).await;
    });
    let error = refused(held.await.unwrap());
    assert_eq!(error.kind, Kind::Unavailable);
    assert!(error.message.contains("Nats-Msg-Id"), "{error}");
    extraction.open();
    closing.await.unwrap();
}
