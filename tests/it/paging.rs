//! `speaker.memories` page by page: what one person said, newest first, also where many memories share one instant.

use memlog_actors::{
    api::{AsOf, error::Kind, profile::*, speaker},
    limits::Limits,
};
use serde_json::json;

use crate::{
    speakers::{conversation, opened, said_by, saying},
    support::served::{Memlog, refused},
};

async fn add(memlog: &Memlog, name: &str) {
    let add = speaker::Add { profile: "team".to_owned(), speaker: name.to_owned() };
    memlog.call(add).await.unwrap();
}

/// One conversation, extracted in one commit: all that comes of it shares one instant.
async fn talk(memlog: &Memlog, session: &str, said: &[(&str, &str)]) {
    let message = |(speaker, content): &(&str, &str)| Message {
        role: "user".to_owned(),
        content: (*content).to_owned(),
        speaker: Some((*speaker).to_owned()),
        ..Message::default()
    };
    memlog.call(conversation(session, said.iter().map(message).collect())).await.unwrap();
}

/// All pages of this size, each with the cursor of the one before.
async fn pages(memlog: &Memlog, first: speaker::Memories) -> Vec<speaker::MemoriesPage> {
    let mut pages: Vec<speaker::MemoriesPage> = Vec::new();
    let mut next = first;
    loop {
        let page = memlog.call(next.clone()).await.unwrap();
        (next.before, next.skip_ids) = (page.next_before, Some(page.next_skip_ids.clone()));
        pages.push(page);
        if next.before.is_none() {
            assert_eq!(next.skip_ids, Some(vec![]), "the last page leaves nothing to skip");
            return pages;
        }
    }
}

fn texts(pages: &[speaker::MemoriesPage]) -> Vec<String> {
    pages.iter().flat_map(|page| &page.memories).map(|it| it.content.clone().flatten().unwrap()).collect()
}

// Both halves of the cursor are needed because one extraction stores many memories at one instant: nothing may be lost or
// come twice, whatever the page's size, and what is stored meanwhile comes first on a later look and in no later page.
#[tokio::test(flavor = "multi_thread")]
async fn pages_lose_nothing_and_repeat_nothing_where_memories_share_an_instant() {
    let Some((_nats, _data, memlog)) = opened(Limits::default()).await else { return };
    add(&memlog, "Bob").await;
    add(&memlog, "Ana").await;
    memlog.call(saying(Some("Bob"), "first")).await.unwrap();
    talk(
        &memlog,
        "one",
        &[("Bob", "a one"), ("Bob", "a two"), ("Ana", "a three"), ("Bob", "a four"), ("Bob", "a five")],
    )
    .await;
    memlog.call(saying(Some("Bob"), "between")).await.unwrap();
    talk(&memlog, "two", &[("Ana", "b one"), ("Bob", "b two"), ("Bob", "b three"), ("Bob", "b four")]).await;
    memlog.call(saying(None, "nobody's")).await.unwrap();

    let whole = pages(&memlog, said_by("Bob")).await;
    assert_eq!(whole.len(), 1, "20 fit the first page");
    let whole = texts(&whole);
    assert_eq!(whole.len(), 9);
    assert_eq!((whole[3].as_str(), whole[8].as_str()), ("between", "first"), "newest first");
    let shared = memlog.call(said_by("Bob")).await.unwrap().memories;
    assert_eq!(shared[0].created_at, shared[2].created_at, "one commit, one instant");
    for limit in 1..=9 {
        let page = speaker::Memories { limit: Some(limit), ..said_by("Bob") };
        assert_eq!(texts(&pages(&memlog, page).await), whole, "pages of {limit}");
    }
    // Written between two pages, it belongs to neither.
    let first = memlog.call(speaker::Memories { limit: Some(2), ..said_by("Bob") }).await.unwrap();
    memlog.call(saying(Some("Bob"), "late")).await.unwrap();
    let (before, skip_ids) = (first.next_before, Some(first.next_skip_ids));
    let rest = pages(&memlog, speaker::Memories { before, skip_ids, ..said_by("Bob") }).await;
    assert_eq!(texts(&rest), whole[2..]);
    assert_eq!(memlog.call(said_by("Bob")).await.unwrap().memories[0].summary.as_deref(), Some("late"));
    memlog.close().await;
}

// `before` is a time that a person may choose, and includes what was created then.
#[tokio::test(flavor = "multi_thread")]
async fn before_includes_its_instant_and_the_past_is_read_as_it_was() {
    let Some((_nats, _data, memlog)) = opened(Limits::default()).await else { return };
    add(&memlog, "Bob").await;
    let mut stored = Vec::new();
    for text in ["one", "two", "three"] {
        stored.push(memlog.call(saying(Some("Bob"), text)).await.unwrap().memory);
    }
    let seq = memlog.call(memlog_actors::api::audit::Stats::default()).await.unwrap().head.seq;
    let from = |before| speaker::Memories { before: Some(before), ..said_by("Bob") };
    let page = memlog.call(from(stored[1].created_at)).await.unwrap();
    assert_eq!(texts(&[page]), ["two", "one"]);
    let just_before = memlog_actors::api::Time(memlog_events::ids::Micros(stored[0].created_at.0.0 - 1));
    assert!(memlog.call(from(just_before)).await.unwrap().memories.is_empty());

    let (profile, memory_id) = ("team".to_owned(), stored[2].id.clone());
    let correction =
        Supersede { profile: profile.clone(), memory_id, content: "four".to_owned(), ..Supersede::default() };
    memlog.call(correction).await.unwrap();
    memlog.call(Forget { profile, memory_id: stored[0].id.clone() }).await.unwrap();
    assert_eq!(texts(&[memlog.call(said_by("Bob")).await.unwrap()]), ["four", "two"], "what holds, and is there");
    let then = speaker::Memories { as_of: Some(AsOf::Seq(seq)), ..said_by("Bob") };
    assert_eq!(texts(&[memlog.call(then).await.unwrap()]), ["three", "two"], "as it was, but for what is forgotten");
    memlog.close().await;
}

// Whoever is about to forget a page is shown how much goes: sentences, those of the messages behind included, each once.
#[tokio::test(flavor = "multi_thread")]
async fn chunks_are_the_sentences_that_forgetting_the_page_erases() {
    let Some((_nats, _data, memlog)) = opened(Limits::default()).await else { return };
    add(&memlog, "Bob").await;
    memlog.call(saying(Some("Bob"), "Tea is hot. Coffee is not! Is cocoa?")).await.unwrap();
    memlog.call(saying(Some("Bob"), "🙂")).await.unwrap();
    let page = memlog.call(said_by("Bob")).await.unwrap();
    assert_eq!((page.memories.len(), page.chunks, page.points_to_delete), (2, 4, 4));
    // A memory made of a message takes the message with it.
    talk(&memlog, "one", &[("Bob", "私は猫が好きです。犬も好きです。")]).await;
    let page = memlog.call(speaker::Memories { limit: Some(1), ..said_by("Bob") }).await.unwrap();
    assert_eq!((page.memories.len(), page.chunks, page.points_to_delete), (1, 4, 4), "of this page alone");
    let page = memlog.call(said_by("Bob")).await.unwrap();
    assert_eq!((page.memories.len(), page.points_to_delete), (3, 8));
    memlog.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_out_of_range_or_half_a_cursor_is_refused_by_its_field() {
    let Some((_nats, _data, memlog)) = opened(Limits::default()).await else { return };
    add(&memlog, "Bob").await;
    let now = memlog.call(saying(Some("Bob"), "one")).await.unwrap().memory.created_at;
    let with = |limit| speaker::Memories { limit: Some(limit), ..said_by("Bob") };
    memlog.call(with(500)).await.unwrap();
    for limit in [0, 501] {
        let error = refused(memlog.call(with(limit)).await);
        assert_eq!((&error.fields["field"], &error.fields["limit"]), (&json!("limit"), &json!(500)));
    }
    let skipping = |before, ids: usize| speaker::Memories {
        before,
        skip_ids: Some((0..ids).map(|id| id.to_string()).collect()),
        ..said_by("Bob")
    };
    assert_eq!(refused(memlog.call(skipping(None, 1)).await).fields["field"], "before");
    memlog.call(skipping(None, 0)).await.unwrap();
    memlog.call(skipping(Some(now), 10_000)).await.unwrap();
    let error = refused(memlog.call(skipping(Some(now), 10_001)).await);
    assert_eq!((&error.fields["field"], &error.fields["limit"]), (&json!("skip_ids"), &json!(10_000)));
    let wrong =
        memlog.send("memlog.v1.acme.speaker.memories", &[], r#"{"profile":"team","speaker":"Bob","cursor":"x"}"#);
    assert_eq!(refused(wrong.await).fields["field"], "cursor");
    let elsewhere = speaker::Memories { profile: "nobody's".to_owned(), ..said_by("Bob") };
    assert_eq!(refused(memlog.call(elsewhere).await).kind, Kind::NotFound);
    memlog.close().await;
}
