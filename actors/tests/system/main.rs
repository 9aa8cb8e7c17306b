//! The system without a door: what every verb promises, on a real log in a temporary folder.

mod conversations;
#[path = "../proofs/world.rs"]
#[allow(dead_code, reason = "shared with the proofs, which use the rest")]
mod world;

use std::{collections::BTreeMap, sync::Arc};

use memlog_actors::{
    api::{AsOf, Context, Idempotency, Said, audit, error::Kind, job, profile::*, speaker},
    extract::Local,
    system::System,
};
use world::{DAY_MICROS, Letters, World, acme, message};

/// A world that reads what it is told as memlog does without a language model.
fn reading() -> World {
    World { extractor: Arc::new(Local), ..World::new() }
}

fn remember(profile: &str, content: &str) -> Remember {
    Remember { profile: profile.to_owned(), content: content.to_owned(), ..Remember::default() }
}

fn search(profile: &str, query: &str) -> Search {
    Search { profile: profile.to_owned(), query: query.to_owned(), ..Search::default() }
}

fn keyed(key: &str, request: &str) -> Context {
    let idempotency = Idempotency { key: key.to_owned(), request: request.as_bytes().to_vec() };
    Context { idempotency: Some(idempotency), ..acme() }
}

// The story that the README tells: a conversation goes in, memories come out, an answer names its sources.
#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_goes_in_and_an_answer_comes_out() {
    let world = reading();
    let system = world.start().await;
    let request = Ingest {
        profile: "alice".to_owned(),
        messages: vec![
            message("user", "Hi! I moved to Lisbon last week and I adopted a cat called Miso."),
            message("assistant", "Lovely! How is Miso settling in?"),
        ],
        session_id: Some("trip".to_owned()),
        wait: Some(true),
        timeout_s: None,
    };
    let ingested = system.profile_ingest(&acme(), request.clone()).await.expect("ingested").reply;
    assert_eq!((ingested.accepted, ingested.job_state), (2, Some(job::State::Done)));
    let again = system.profile_ingest(&acme(), request).await.expect("again").reply;
    assert_eq!((again.accepted, again.duplicates, &again.message_ids), (0, 2, &ingested.message_ids));

    let list = Memories { profile: "alice".to_owned(), ..Memories::default() };
    let memories = system.profile_memories(&acme(), list).await.expect("listed").reply.memories;
    assert!(!memories.is_empty() && memories.iter().all(|memory| memory.sources == ingested.message_ids[..1]));
    let ask = Recall { profile: "alice".to_owned(), query: "What is the cat called?".to_owned(), ..Recall::default() };
    let answer = system.profile_recall(&acme(), ask).await.expect("recalled").reply;
    assert!(answer.answer.contains("Miso"), "{}", answer.answer);
    assert_eq!(answer.count as usize, answer.candidates.len());
    system.stop().await;
}

// Acknowledged is durable, and a restart changes no answer; the cached vectors serve without being made again.
#[tokio::test(flavor = "multi_thread")]
async fn a_restart_changes_nothing() {
    let mut world = reading();
    world.embedder = Some(Arc::new(Letters));
    let system = world.start().await;
    for text in ["The cat is called Miso", "Alice lives in Lisbon", "Bob plays chess on Fridays"] {
        system.profile_remember(&acme(), remember("alice", text)).await.expect("stored");
    }
    let before = system.profile_search(&acme(), search("alice", "chess on which day")).await.expect("found").reply;
    assert_eq!(before.mode, "hybrid");
    system.stop().await;
    drop(system);
    let system = world.start().await;
    let rebuilt = system.rebuild(|_, _| ()).await.expect("rebuilt");
    assert_eq!((rebuilt.records, rebuilt.documents_from_cache, rebuilt.documents_embedded), (3, 3, 0));
    let after = system.profile_search(&acme(), search("alice", "chess on which day")).await.expect("found").reply;
    let ids = |found: &Found| found.memories.iter().map(|memory| (memory.id.clone(), memory.score)).collect::<Vec<_>>();
    assert_eq!(ids(&before), ids(&after));
    system.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn forgetting_is_gone_from_every_read_and_of_the_past() {
    let world = reading();
    let system = world.start().await;
    let stored = system.profile_remember(&acme(), remember("alice", "The safe code is 4711")).await.expect("stored");
    let id = stored.reply.memory.id;
    let seq = system.health().seq;
    let at = |as_of| Memory { profile: "alice".to_owned(), memory_id: id.clone(), as_of };
    system.profile_memory(&acme(), at(Some(AsOf::Seq(seq)))).await.expect("there");
    let forget = Forget { profile: "alice".to_owned(), memory_id: id.clone() };
    let gone = system.profile_forget(&acme(), forget.clone()).await.expect("forgotten").reply.memory;
    assert_eq!(gone.content, Some(Some("The safe code is 4711".to_owned())));
    for as_of in [None, Some(AsOf::Seq(seq))] {
        let error = system.profile_memory(&acme(), at(as_of)).await.expect_err("gone");
        assert_eq!(error.kind, Kind::NotFound);
    }
    let found =
        system.profile_search(&acme(), Search { as_of: Some(AsOf::Seq(seq)), ..search("alice", "safe code") }).await;
    assert!(found.expect("searched").reply.memories.is_empty());
    assert_eq!(system.profile_forget(&acme(), forget).await.expect_err("twice").kind, Kind::NotFound);
    let verified = system.audit_verify(&acme(), audit::Verify::default()).await.expect("verified").reply;
    assert!(verified.ok, "{verified:?}");
    let history = History { profile: "alice".to_owned(), memory_id: id, as_of: None };
    let events = system.profile_history(&acme(), history).await.expect("history").reply.events;
    let types: Vec<_> = events.iter().map(|it| it.event.event_type.as_str()).collect();
    assert_eq!(types, ["saved", "forgot"]);
    system.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_repeated_under_its_key_appends_nothing() {
    let world = reading();
    let system = world.start().await;
    let first = system.profile_remember(&keyed("k1", "a"), remember("alice", "Lives in Lisbon")).await.expect("stored");
    let head = system.health().seq;
    let again = system.profile_remember(&keyed("k1", "a"), remember("alice", "Lives in Lisbon")).await.expect("again");
    assert!(again.replayed && again.reply == first.reply && system.health().seq == head);
    let other =
        system.profile_remember(&keyed("k1", "b"), remember("alice", "Lives in Faro")).await.expect_err("other");
    assert_eq!(other.kind, Kind::Conflict);
    let id = first.reply.memory.id.clone();
    system.profile_forget(&acme(), Forget { profile: "alice".to_owned(), memory_id: id }).await.expect("forgotten");
    let bare = system.profile_remember(&keyed("k1", "a"), remember("alice", "Lives in Lisbon")).await.expect("again");
    assert!(bare.replayed);
    assert_eq!((bare.reply.memory.content, bare.reply.memory.summary), (Some(None), None));
    system.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn duplicates_are_answered_and_news_is_stored() {
    let world = reading();
    let system = world.start().await;
    let first =
        system.profile_remember(&acme(), remember("alice", "Allergic to peanuts.")).await.expect("stored").reply;
    let same = system.profile_remember(&acme(), remember("alice", "allergic to  PEANUTS")).await.expect("same").reply;
    assert_eq!((same.status, same.duplicate_of.as_ref()), (Stored::Duplicate, Some(&first.memory.id)));
    let news = system.profile_remember(&acme(), remember("alice", "Allergic to shellfish")).await.expect("news").reply;
    assert_eq!(news.status, Stored::Stored);
    let twins = (0..20).map(|_| {
        let system = system.clone();
        tokio::spawn(async move { system.profile_remember(&acme(), remember("alice", "Runs on Sundays")).await })
    });
    let mut stored = 0;
    for twin in twins.collect::<Vec<_>>() {
        stored += usize::from(twin.await.expect("joined").expect("answered").reply.status == Stored::Stored);
    }
    assert_eq!(stored, 1);
    system.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn superseding_keeps_the_old_one_out_of_sight() {
    let world = reading();
    let system = world.start().await;
    let add = speaker::Add { profile: "alice".to_owned(), speaker: "Bob".to_owned() };
    system.speaker_add(&acme(), add).await.expect("registered");
    let bob = Remember { speaker: Some("Bob".to_owned()), ..remember("alice", "Lives in Porto") };
    let old = system.profile_remember(&acme(), bob).await.expect("stored").reply.memory;
    let supersede = Supersede {
        profile: "alice".to_owned(),
        memory_id: old.id.clone(),
        content: "Lives in Lisbon".to_owned(),
        ..Supersede::default()
    };
    let new = system.profile_supersede(&acme(), supersede.clone()).await.expect("superseded").reply.memory;
    assert_eq!(new.speaker.as_deref(), Some("Bob"));
    let error = system.profile_supersede(&acme(), supersede).await.expect_err("twice");
    assert_eq!(error.fields["superseded_by"], new.id);
    let list = Memories { profile: "alice".to_owned(), ..Memories::default() };
    let listed = system.profile_memories(&acme(), list).await.expect("listed").reply.memories;
    assert_eq!(listed.iter().map(|memory| &memory.id).collect::<Vec<_>>(), [&new.id]);
    system.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_neither_lose_nor_repeat_under_writes() {
    let world = reading();
    let system = world.start().await;
    for n in 0..25 {
        system.profile_remember(&acme(), remember("alice", &format!("Fact number {n}"))).await.expect("stored");
    }
    let (mut cursor, mut seen) = (None, Vec::new());
    loop {
        let page = Memories { profile: "alice".to_owned(), limit: Some(4), cursor, ..Memories::default() };
        let page = system.profile_memories(&acme(), page).await.expect("a page").reply;
        seen.extend(page.memories.into_iter().map(|memory| memory.summary.expect("a summary")));
        system
            .profile_remember(&acme(), remember("alice", &format!("Meanwhile {}", seen.len())))
            .await
            .expect("stored");
        cursor = page.cursor;
        if cursor.is_none() {
            break;
        }
    }
    let expected: Vec<_> = (0..25).rev().map(|n| format!("Fact number {n}")).collect();
    assert_eq!(seen, expected);
    system.stop().await;
}

// Tenants, names that begin alike, and the same session id in two profiles never meet.
#[tokio::test(flavor = "multi_thread")]
async fn what_one_stores_no_other_sees() {
    let world = reading();
    let system = world.start().await;
    let other = Context { namespace: "acme-2".to_owned(), ..Context::default() };
    let said = |text: &str| Remember { session_id: Some("s".to_owned()), ..remember("alice", text) };
    system.profile_remember(&acme(), said("Likes tea")).await.expect("stored");
    system.profile_remember(&other, said("Likes coffee")).await.expect("stored");
    let longer = Remember { profile: "alice2".to_owned(), ..said("Likes water") };
    system.profile_remember(&acme(), longer).await.expect("stored");
    for (context, profile, expected) in
        [(acme(), "alice", "tea"), (other, "alice", "coffee"), (acme(), "alice2", "water")]
    {
        let found = system.profile_search(&context, search(profile, "likes")).await.expect("found").reply;
        assert_eq!(found.memories.len(), 1);
        assert!(found.memories[0].content.as_ref().expect("content").as_ref().expect("text").contains(expected));
        let delete = DeleteSession { profile: profile.to_owned(), session_id: "s".to_owned() };
        system.profile_delete_session(&context, delete).await.expect("deleted");
        let list = Memories { profile: profile.to_owned(), ..Memories::default() };
        assert!(system.profile_memories(&context, list).await.expect("listed").reply.memories.is_empty());
    }
    system.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_profile_is_gone_and_its_name_free() {
    let world = reading();
    let system = world.start().await;
    system.profile_remember(&acme(), remember("alice", "Likes tea")).await.expect("stored");
    system.profile_delete(&acme(), Delete { profile: "alice".to_owned() }).await.expect("deleted");
    system.profile_delete(&acme(), Delete { profile: "alice".to_owned() }).await.expect("twice is the same");
    let error = system.profile_search(&acme(), search("alice", "tea")).await.expect_err("gone");
    assert_eq!((error.kind, error.fields["profile"].as_str()), (Kind::NotFound, Some("alice")));
    let listed = system.profile_list(&acme(), List::default()).await.expect("listed").reply;
    assert!(listed.profiles.is_empty());
    system.profile_remember(&acme(), remember("alice", "Likes coffee")).await.expect("stored");
    let found = system.profile_search(&acme(), search("alice", "likes tea coffee")).await.expect("found").reply;
    assert_eq!(found.memories.len(), 1);
    system.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_expires_is_unreachable_by_the_clock_at_once() {
    let world = reading();
    let system = world.start().await;
    let short = Remember { ttl_days: Some(1.0), ..remember("alice", "Parks at spot 7") };
    let id = system.profile_remember(&acme(), short).await.expect("stored").reply.memory.id;
    let seq = system.health().seq;
    world.clock.forward(DAY_MICROS);
    for as_of in [None, Some(AsOf::Seq(seq))] {
        let read = Memory { profile: "alice".to_owned(), memory_id: id.clone(), as_of };
        assert_eq!(system.profile_memory(&acme(), read).await.expect_err("over").kind, Kind::NotFound);
    }
    assert!(system.profile_search(&acme(), search("alice", "spot")).await.expect("searched").reply.memories.is_empty());
    system.stop().await;
}

// Counted once and then on from there, a sum must stay what the events say: after more of them, of several namespaces and a restart.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_counted_is_what_is_told() {
    let world = reading();
    let system = world.start().await;
    let other = Context { namespace: "globex".to_owned(), ..Context::default() };
    let judge = async |system: &System, context: &Context, profiles: u64| {
        let told = system.audit_events(context, audit::Events { limit: Some(500), ..audit::Events::default() });
        let told = told.await.expect("told").reply.events;
        let counted = system.audit_stats(context, audit::Stats::default()).await.expect("counted").reply;
        let mut by_type = BTreeMap::<String, u64>::new();
        told.iter().for_each(|event| *by_type.entry(event.event_type.clone()).or_default() += 1);
        assert_eq!((counted.events, &counted.by_type), (told.len() as u64, &by_type));
        assert_eq!((counted.profiles, counted.head.seq), (profiles, system.health().seq));
    };
    judge(&system, &acme(), 0).await;
    for (profile, text) in
        [("alice", "The cat is called Miso"), ("bob", "Bob plays chess"), ("alice", "The kiln is on")]
    {
        system.profile_remember(&acme(), remember(profile, text)).await.expect("stored");
        system.profile_remember(&other, remember(profile, text)).await.expect("stored");
        judge(&system, &acme(), if text.contains("cat") { 1 } else { 2 }).await;
    }
    system.profile_delete(&acme(), Delete { profile: "bob".to_owned() }).await.expect("deleted");
    judge(&system, &acme(), 1).await;
    judge(&system, &other, 2).await;
    let system = world.restart(system).await;
    judge(&system, &acme(), 1).await;
    judge(&system, &other, 2).await;
    system.stop().await;
}
