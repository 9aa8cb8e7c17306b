//! The system without a door: what every verb promises, on a real log in a temporary folder.

use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering},
};

use jiff::Timestamp;
use memlog_actors::{
    api::{AsOf, Context, Idempotency, Said, audit, error::Kind, job, profile::*, record::Record, speaker},
    extract::Local,
    limits::Limits,
    port::{Clock, EmbedFailed, Embedder, Purpose},
    system::{Options, System},
};
use tempfile::TempDir;

/// A clock that a test moves; it also ticks a microsecond a look, as real ones do.
#[derive(Default)]
struct Moved(AtomicI64);

impl Clock for Moved {
    fn now(&self) -> Timestamp {
        let tick = self.0.fetch_add(1, Ordering::SeqCst);
        Timestamp::from_microsecond(1_780_000_000_000_000 + tick).expect("in range")
    }
}

/// Vectors that stand for nothing but the letters of a text: enough to prove the plumbing.
struct Letters;

impl Embedder for Letters {
    fn name(&self) -> &str {
        "letters"
    }

    fn fingerprint(&self) -> u32 {
        7
    }

    fn dimensions(&self) -> usize {
        32
    }

    fn embed(&self, text: &str, _: Purpose) -> Result<Vec<f32>, EmbedFailed> {
        let mut vector = [0.01_f32; 32];
        for c in text.chars() {
            vector[c as usize % 32] += 1.0;
        }
        let length = vector.iter().map(|v| v * v).sum::<f32>().sqrt();
        Ok(vector.iter().map(|v| v / length).collect())
    }
}

struct World {
    folder: TempDir,
    clock: Arc<Moved>,
    embedder: Option<Arc<dyn Embedder>>,
}

impl World {
    fn new() -> Self {
        Self { folder: TempDir::new().expect("a folder"), clock: Arc::default(), embedder: None }
    }

    async fn start(&self) -> System {
        let options = Options {
            data_dir: self.folder.path().to_owned(),
            vault_dir: None,
            limits: Limits::default(),
            embedder: self.embedder.clone(),
            extractor: Arc::new(Local),
            narrator: None,
            queue: None,
            clock: Arc::<Moved>::clone(&self.clock),
        };
        System::start(options).await.expect("started")
    }
}

fn acme() -> Context {
    Context { namespace: "acme".to_owned(), ..Context::default() }
}

fn remember(profile: &str, content: &str) -> Remember {
    Remember { profile: profile.to_owned(), content: content.to_owned(), ..Remember::default() }
}

fn message(role: &str, content: &str) -> Message {
    Message { role: role.to_owned(), content: content.to_owned(), ..Message::default() }
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
    let world = World::new();
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
    let mut world = World::new();
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
    let world = World::new();
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
    let world = World::new();
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
    let world = World::new();
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
    let world = World::new();
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
    let world = World::new();
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
    let world = World::new();
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
    let world = World::new();
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
    let world = World::new();
    let system = world.start().await;
    let short = Remember { ttl_days: Some(1.0), ..remember("alice", "Parks at spot 7") };
    let id = system.profile_remember(&acme(), short).await.expect("stored").reply.memory.id;
    let seq = system.health().seq;
    world.clock.0.fetch_add(86_400_000_000, Ordering::SeqCst);
    for as_of in [None, Some(AsOf::Seq(seq))] {
        let read = Memory { profile: "alice".to_owned(), memory_id: id.clone(), as_of };
        assert_eq!(system.profile_memory(&acme(), read).await.expect_err("over").kind, Kind::NotFound);
    }
    assert!(system.profile_search(&acme(), search("alice", "spot")).await.expect("searched").reply.memories.is_empty());
    system.stop().await;
}

// The message behind a superseded record says the old thing in good words: it must not answer before its correction.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_corrected_does_not_answer() {
    let world = World::new();
    let system = world.start().await;
    let request = Ingest {
        profile: "alice".to_owned(),
        messages: vec![message("user", "I live in Porto.")],
        wait: Some(true),
        ..Ingest::default()
    };
    system.profile_ingest(&acme(), request).await.expect("ingested");
    let list = Memories { profile: "alice".to_owned(), ..Memories::default() };
    let old = system.profile_memories(&acme(), list).await.expect("listed").reply.memories.remove(0);
    let supersede = Supersede {
        profile: "alice".to_owned(),
        memory_id: old.id,
        content: "The user lives in Lisbon".to_owned(),
        ..Supersede::default()
    };
    system.profile_supersede(&acme(), supersede).await.expect("superseded");
    let found = system.profile_search(&acme(), search("alice", "Where do I live, Porto?")).await.expect("found").reply;
    let said: Vec<_> = found.memories.iter().filter_map(|memory| memory.content.clone().flatten()).collect();
    assert_eq!(said, ["The user lives in Lisbon"]);
    let all = Search { include_invalid: Some(true), ..search("alice", "Porto") };
    assert!(!system.profile_search(&acme(), all).await.expect("found").reply.memories.is_empty());
    system.stop().await;
}

// A message that says what was corrected since is not quoted either, though another record that was made from it still holds.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_corrected_is_not_quoted_under_what_holds() {
    let world = World::new();
    let system = world.start().await;
    let request = Ingest {
        profile: "alice".to_owned(),
        messages: vec![message("user", "I live in Porto. I am allergic to peanuts, and they grow all around Porto.")],
        wait: Some(true),
        ..Ingest::default()
    };
    system.profile_ingest(&acme(), request).await.expect("ingested");
    let list = Memories { profile: "alice".to_owned(), ..Memories::default() };
    let records = system.profile_memories(&acme(), list).await.expect("listed").reply.memories;
    assert!(records.len() > 1, "{records:?}");
    let summary = |memory: &Record| memory.summary.clone().unwrap_or_default();
    let old = records.iter().find(|memory| summary(memory).contains("lives in Porto")).expect("made");
    let recall = async |include_invalid| {
        let ask = Recall {
            profile: "alice".to_owned(),
            query: "What grows all around Porto, is the user allergic?".to_owned(),
            include_invalid: Some(include_invalid),
            response_length: Some(ResponseLength::Long),
            ..Recall::default()
        };
        system.profile_recall(&acme(), ask).await.expect("recalled").reply.answer
    };
    let supersede = Supersede {
        profile: "alice".to_owned(),
        memory_id: old.id.clone(),
        content: "The user lives in Lisbon".to_owned(),
        ..Supersede::default()
    };
    system.profile_supersede(&acme(), supersede).await.expect("superseded");
    let answer = recall(false).await;
    assert!(answer.contains("peanuts") && !answer.contains("I live in Porto"), "{answer}");
    let all = recall(true).await;
    assert!(all.contains("Porto"), "{all}");
    system.stop().await;
}

// In a profile of two documents, the message and the fact made from it, the fact answers: standard scores of two say nothing.
#[tokio::test(flavor = "multi_thread")]
async fn a_small_profile_answers_with_its_fact() {
    let mut world = World::new();
    world.embedder = Some(Arc::new(Letters));
    let system = world.start().await;
    let messages = vec![message("user", "I am allergic to peanuts.")];
    let request = Ingest { profile: "alice".to_owned(), messages, wait: Some(true), ..Ingest::default() };
    system.profile_ingest(&acme(), request).await.expect("ingested");
    let found = system.profile_search(&acme(), search("alice", "What am I allergic to?")).await.expect("found").reply;
    let types: Vec<_> = found.memories.iter().map(|memory| memory.item_type).collect();
    assert_eq!(types, [memlog_actors::api::record::ItemType::Fact]);
    system.stop().await;
}

fn said(role: &str, content: &str, timestamp: &str) -> Message {
    Message { timestamp: Said::parse(timestamp).ok(), ..message(role, content) }
}

fn session(id: &str, messages: Vec<Message>) -> Ingest {
    Ingest {
        profile: "alice".to_owned(),
        messages,
        session_id: Some(id.to_owned()),
        wait: Some(true),
        ..Ingest::default()
    }
}

async fn listed(system: &System, status: Option<&str>) -> Vec<memlog_actors::api::record::Record> {
    let status = status.map(|name| serde_json::from_value(name.into()).expect("a status"));
    let list = Memories { profile: "alice".to_owned(), status, ..Memories::default() };
    system.profile_memories(&acme(), list).await.expect("listed").reply.memories
}

// "Yesterday", said before midnight in Lima, is not the day before the server's. The offset is no part of what a message is:
// the same conversation in another zone's writing is a re-send, after a restart, too.
#[tokio::test(flavor = "multi_thread")]
async fn days_are_those_of_the_speakers_own_clock() {
    let world = World::new();
    let system = world.start().await;
    let talk = |times: [&str; 2]| {
        session(
            "lima",
            vec![
                said("user", "I saw the dentist yesterday.", times[0]),
                said("user", "Tonight at 9 I play chess with Rosa.", times[1]),
            ],
        )
    };
    let request = talk(["2026-03-13T23:30:00-05:00", "2026-03-13T19:30:00-05:00"]);
    let first = system.profile_ingest(&acme(), request).await.expect("ingested").reply;
    let days = |records: Vec<memlog_actors::api::record::Record>| {
        let mut days: Vec<_> = records.into_iter().map(|it| (it.summary, it.timestamp.to_string())).collect();
        days.sort();
        days
    };
    let expected = [
        ("The user saw the dentist yesterday (12 March 2026).", "2026-03-12T00:00:00Z"),
        ("Tonight (13 March 2026) at 9 the user plays chess with Rosa.", "2026-03-13T00:00:00Z"),
    ];
    let expected = expected.map(|(summary, day)| (Some(summary.to_owned()), day.to_owned()));
    assert_eq!(days(listed(&system, None).await), expected);

    let found = system.profile_search(&acme(), search("alice", "dentist chess")).await.expect("found").reply;
    assert!(found.memories.iter().all(|memory| memory.timestamp.to_string().ends_with('Z')));
    system.stop().await;
    drop(system);
    let system = world.start().await;
    let elsewhere = talk(["2026-03-14T04:30:00Z", "2026-03-14T09:30:00+09:00"]);
    let again = system.profile_ingest(&acme(), elsewhere).await.expect("again").reply;
    assert_eq!((again.accepted, again.duplicates, again.message_ids), (0, 2, first.message_ids));
    assert_eq!(days(listed(&system, None).await), expected);
    system.stop().await;
}

// A change of mind takes the old statement out of sight and nothing out of the log: in one conversation that comes in whole, and
// from one session to the next.
#[tokio::test(flavor = "multi_thread")]
async fn a_change_of_mind_supersedes_and_never_deletes() {
    let world = World::new();
    let system = world.start().await;
    let texts = |records: &[memlog_actors::api::record::Record]| {
        let mut texts: Vec<_> = records.iter().filter_map(|it| it.summary.clone()).collect();
        texts.sort();
        texts
    };
    let turns = [message("user", "I live in Lisbon."), message("user", "Actually it's Porto now.")];
    system.profile_ingest(&acme(), session("one", turns.to_vec())).await.expect("ingested");
    assert_eq!(texts(&listed(&system, None).await), ["The user lives in Porto."]);

    let turns = vec![message("user", "I no longer live in Porto, I moved to Braga.")];
    system.profile_ingest(&acme(), session("two", turns)).await.expect("ingested");
    // The record of another session is set aside by a command of its own, right behind the result.
    let superseded = async {
        while texts(&listed(&system, None).await).contains(&"The user lives in Porto.".to_owned()) {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(30), superseded).await.expect("superseded");
    assert!(texts(&listed(&system, None).await).iter().any(|text| text.contains("Braga")));
    let past = listed(&system, Some("invalid")).await;
    assert_eq!(texts(&past), ["The user lives in Lisbon.", "The user lives in Porto."]);
    assert!(past.iter().all(|old| old.superseded_by.is_some()), "{past:?}");
    system.stop().await;
}

// What the assistant owes is a task; what it chats is nobody's memory.
#[tokio::test(flavor = "multi_thread")]
async fn the_assistants_promises_become_tasks() {
    let world = World::new();
    let system = world.start().await;
    let turns = vec![
        message("user", "Thanks! If I had a boat I would sail to Crete."),
        message("assistant", "What a dream! Crete is lovely in May. I'll send you a list of harbours tomorrow."),
    ];
    system.profile_ingest(&acme(), session("boat", turns)).await.expect("ingested");
    let records = listed(&system, None).await;
    let [task] = records.as_slice() else { panic!("one promise: {records:?}") };
    assert_eq!(task.item_type, memlog_actors::api::record::ItemType::Task);
    assert!(task.summary.clone().is_some_and(|line| line.starts_with("The assistant will send the user a list")));
    system.stop().await;
}
// "Before I moved" is a time that only the conversation knows.
#[tokio::test(flavor = "multi_thread")]
async fn a_question_may_be_dated_by_an_event() {
    let world = World::new();
    let system = world.start().await;
    let said = |month: &str, text: &str| said("user", text, &format!("2024-{month}-10T09:00:00Z"));
    let told = vec![said("01", "My sport is tennis."), said("06", "I moved."), said("09", "My sport is rowing.")];
    system.profile_ingest(&acme(), session("life", told)).await.expect("ingested");
    for (side, sport) in [("before", "tennis"), ("after", "rowing")] {
        let query = format!("Which favourite sport {side} I moved?");
        let ask = serde_json::json!({"profile": "alice", "query": query, "thinking_level": "high"});
        let found = system.profile_recall(&acme(), serde_json::from_value(ask).expect("a request")).await;
        let answer = found.expect("recalled").reply.answer;
        assert!(answer.lines().next().unwrap_or_default().contains(sport), "{side}: {answer}");
    }
    system.stop().await;
}
