//! `thread.get_summary` with a model: what it wrote is kept, renewed when more was said, and never asked for about the past.

use memlog_actors::api::{
    AsOf,
    thread::{Create, ExtractionSettings, GetContextCard, GetSummary, Settings as OfThread},
};
use serde_json::json;

use super::*;
use crate::support::llm::{Reply, right};

async fn begin(system: &System, thread_id: &str, extraction: ExtractionSettings, card_tokens: Option<i64>) {
    let settings =
        OfThread { extraction: Some(extraction), context_card_token_limit: card_tokens, ..OfThread::default() };
    let create = Create {
        profile: ALICE.to_owned(),
        thread_id: Some(thread_id.to_owned()),
        settings: Some(settings),
        ..Create::default()
    };
    system.thread_create(&acme(), create).await.expect("created");
}

/// Only what is asked for is summarised.
fn seldom() -> ExtractionSettings {
    ExtractionSettings { summary_frequency: Some(100), ..ExtractionSettings::default() }
}

async fn summary(system: &System, thread_id: &str, except_last: Option<u64>, as_of: Option<AsOf>) -> String {
    let (profile, thread_id) = (ALICE.to_owned(), thread_id.to_owned());
    let request = GetSummary { profile, thread_id, except_last, as_of, token_budget: None };
    system.thread_get_summary(&acme(), request).await.expect("summarised").reply.content
}

/// How often the model was asked for a summary.
fn asked(world: &World) -> usize {
    world.llm.calls_of("summary").len()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_summary_that_is_asked_for_is_written_once_kept_and_renewed() {
    let world = World::new();
    let system = world.start().await;
    begin(&system, "trip", seldom(), None).await;
    let first = said("user", "I live in Porto");
    ingest(&system, "trip", vec![first.clone()]).await;
    assert_eq!(asked(&world), 0);
    let before = system.health().seq;
    assert_eq!(summary(&system, "trip", None, Some(AsOf::Seq(before))).await, "user: I live in Porto");
    assert_eq!(asked(&world), 0);
    let told = summary(&system, "trip", None, None).await;
    assert_eq!((told.as_str(), asked(&world)), ("Summary: I live in Porto", 1));
    assert_eq!((summary(&system, "trip", None, None).await, asked(&world)), (told.clone(), 1));
    let kept = system.health().seq;
    assert!(kept > before);
    ingest(&system, "trip", vec![first, said("user", "I have a cat"), said("user", "and a dog")]).await;
    // All but the last: the model is asked, and what is kept stays what it was.
    let prefix = summary(&system, "trip", Some(1), None).await;
    assert_eq!((prefix.as_str(), asked(&world)), ("Summary: I live in Porto I have a cat", 2));
    let then = summary(&system, "trip", None, Some(AsOf::Seq(system.health().seq - 1))).await;
    assert!(then.starts_with("Summary: I live in Porto\nuser: I have a cat"), "{then}");
    assert_eq!((summary(&system, "trip", Some(2), None).await, asked(&world)), (told.clone(), 2));
    let renewed = summary(&system, "trip", None, None).await;
    assert_eq!((renewed.as_str(), asked(&world)), ("Summary: I live in Porto I have a cat; and a dog", 3));
    assert_eq!(world.llm.calls_of("summary")[2].data()["previous"], json!("Summary: I live in Porto"));
    // A card shows what is kept and asks nobody.
    let request =
        GetContextCard { profile: ALICE.to_owned(), thread_id: "trip".to_owned(), ..GetContextCard::default() };
    let card = system.thread_get_context_card(&acme(), request.clone()).await.expect("a card").reply;
    assert_eq!((card.summary.as_str(), asked(&world)), (renewed.as_str(), 3));
    // What covers a message that is left out is not shown; nor is anything kept that tells of what was forgotten.
    let request = GetContextCard { except_last_messages: Some(1), ..request };
    let card = system.thread_get_context_card(&acme(), request).await.expect("a card").reply;
    assert_eq!(card.summary, "user: I live in Porto\nuser: I have a cat");
    system.stop().await;
    drop(system);
    // Replay asks nobody.
    let system = world.start().await;
    assert_eq!((summary(&system, "trip", None, None).await, asked(&world)), (renewed, 3));
    system.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn many_who_ask_at_once_ask_the_model_once() {
    let world = World::new();
    let system = world.start().await;
    begin(&system, "trip", seldom(), None).await;
    ingest(&system, "trip", vec![said("user", "I live in Porto")]).await;
    let asking: Vec<_> = (0..8)
        .map(|_| {
            let system = system.clone();
            tokio::spawn(async move { summary(&system, "trip", None, None).await })
        })
        .collect();
    for one in asking {
        assert_eq!(one.await.unwrap(), "Summary: I live in Porto");
    }
    assert_eq!(asked(&world), 1);
    system.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_fails_leaves_the_local_summary() {
    let mut world = World::new();
    world.settings.breaker_failures = 1_000;
    let system = world.start().await;
    begin(&system, "trip", seldom(), None).await;
    ingest(&system, "trip", vec![said("user", "I live in Porto")]).await;
    for reply in [Reply::Raw("{}"), Reply::Says("{}".to_owned()), Reply::Refuses] {
        world.llm.play(move |_| reply.clone());
        assert_eq!(summary(&system, "trip", None, None).await, "user: I live in Porto");
    }
    world.llm.play(right);
    assert_eq!(summary(&system, "trip", None, None).await, "Summary: I live in Porto");
    system.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thread_has_its_summaries_as_its_settings_say() {
    let world = World::new();
    let system = world.start().await;
    // None is kept; asked for, it is written each time.
    let never = ExtractionSettings { summary: Some(false), ..ExtractionSettings::default() };
    begin(&system, "never", never, None).await;
    ingest(&system, "never", vec![said("user", "I live in Porto")]).await;
    assert_eq!(asked(&world), 0);
    for times in 1..=2 {
        assert_eq!(
            (summary(&system, "never", None, None).await.as_str(), asked(&world)),
            ("Summary: I live in Porto", times)
        );
    }
    // Every second message.
    let second = ExtractionSettings { summary_frequency: Some(2), ..ExtractionSettings::default() };
    begin(&system, "second", second, None).await;
    let texts = ["one is first", "two is second", "three is third", "four is fourth", "five is fifth"];
    for (at, count) in [(1, 0), (2, 1), (3, 1), (4, 2), (5, 2)] {
        ingest(&system, "second", texts[..at].iter().map(|text| said("user", text)).collect()).await;
        assert_eq!(asked(&world) - 2, count, "{at}");
    }
    // Of what does not fit into the bound the newest is shown.
    begin(&system, "small", seldom(), Some(8)).await;
    ingest(&system, "small", vec![said("user", "I live in Porto by the river"), said("user", "I have a cat")]).await;
    assert_eq!(summary(&system, "small", None, None).await, "Summary: I have a cat");
    system.stop().await;
}

// A model may take a minute; what was forgotten meanwhile must not come back in its words.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_forgotten_while_the_model_writes_is_not_in_the_summary() {
    let world = World::new();
    let system = world.start().await;
    begin(&system, "trip", seldom(), None).await;
    ingest(&system, "trip", vec![said("user", "The code is 4711"), said("user", "I live in Porto")]).await;
    let request = Memories { profile: ALICE.to_owned(), limit: Some(10), ..Memories::default() };
    let listed = system.profile_memories(&acme(), request).await.expect("listed").reply.memories;
    let secret =
        listed.into_iter().find(|it| it.summary.as_deref().is_some_and(|it| it.contains("4711"))).expect("a memory").id;
    let (forgetting, runtime) = (system.clone(), tokio::runtime::Handle::current());
    world.llm.play(move |call| {
        if call.asked() == "summary" && call.data().to_string().contains("4711") {
            let forget = Forget { profile: ALICE.to_owned(), memory_id: secret.clone() };
            let forgotten = runtime.block_on(forgetting.profile_forget(&acme(), forget));
            assert!(forgotten.is_ok());
        }
        right(call)
    });
    assert_eq!(summary(&system, "trip", None, None).await, "user: I live in Porto");
    assert_eq!(summary(&system, "trip", None, None).await, "Summary: I live in Porto");
    system.stop().await;
}
