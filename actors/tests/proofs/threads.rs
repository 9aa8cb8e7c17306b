//! Threads under a clock that a test holds: what has expired is nowhere.

use memlog_actors::{
    api::{
        AsOf, Time,
        error::Kind,
        profile::*,
        record::{ItemType, Status},
        speaker, thread,
    },
    system::System,
};
use memlog_events::ids::Micros;

use super::{erasure::assert_nowhere, world::*};

const THREAD: &str = "trip";

pub(crate) fn address() -> (String, String) {
    (ALICE.to_owned(), THREAD.to_owned())
}

pub(crate) async fn create(system: &System) {
    let (profile, thread_id) = address();
    let off = thread::ExtractionSettings { enabled: Some(false), ..Default::default() };
    let settings = Some(thread::Settings { extraction: Some(off), ..Default::default() });
    let request = thread::Create { profile, thread_id: Some(thread_id), settings, ..Default::default() };
    system.thread_create(&acme(), request).await.expect("created");
}

pub(crate) fn memory(id: &str, content: &str) -> thread::AddMemory {
    let (profile, thread_id) = address();
    let memory_id = Some(id.to_owned());
    thread::AddMemory { profile, thread_id, content: content.to_owned(), memory_id, ..Default::default() }
}

pub(crate) fn changing(id: &str) -> thread::UpdateMemory {
    let (profile, thread_id) = address();
    thread::UpdateMemory { profile, thread_id, memory_id: id.to_owned(), ..Default::default() }
}

pub(crate) fn linking(source: &str, target: &str, relation_type: &str) -> thread::LinkRecords {
    let (profile, thread_id) = address();
    thread::LinkRecords {
        profile,
        thread_id,
        source_record_id: source.to_owned(),
        source_record_type: ItemType::Memory,
        target_record_id: target.to_owned(),
        target_record_type: ItemType::Memory,
        relation_type: relation_type.to_owned(),
        opposite_relation_type: None,
        relation_id: None,
        timestamp: None,
        metadata: None,
    }
}

/// Everything that any read shows, at that moment, as one text.
async fn shown(system: &System, as_of: Option<AsOf>) -> String {
    let (profile, thread_id) = address();
    let mut all = String::new();
    let mut add = |what: &str, told: String| all += &format!("{what}: {told}\n");
    let request =
        thread::GetMessages { profile: profile.clone(), thread_id: thread_id.clone(), as_of, ..Default::default() };
    match system.thread_get_messages(&acme(), request).await {
        Ok(told) => add("messages", format!("{:?}", told.reply)),
        Err(error) => assert_eq!(error.kind, Kind::NotFound, "{error}"),
    }
    for status in [Status::Valid, Status::Invalid] {
        let request = Memories { status: Some(status), as_of, limit: Some(500), ..list() };
        add("list", format!("{:?}", system.profile_memories(&acme(), request).await.expect("listed").reply));
    }
    for query in ["velvet", "marmalade", "quince"] {
        let request =
            Search { as_of, include_invalid: Some(true), num_hops: Some(5), expand: Some(true), ..search(query) };
        add("search", format!("{:?}", system.profile_search(&acme(), request).await.expect("found").reply));
        let request = Recall { profile: profile.clone(), query: query.to_owned(), as_of, ..Default::default() };
        add("recall", format!("{:?}", system.profile_recall(&acme(), request).await.expect("recalled").reply));
        let request = thread::Search {
            profile: profile.clone(),
            thread_id: thread_id.clone(),
            query: query.to_owned(),
            num_hops: Some(5),
            as_of,
            ..Default::default()
        };
        match system.thread_search(&acme(), request).await {
            Ok(told) => add("thread.search", format!("{:?}", told.reply)),
            Err(error) => assert_eq!(error.kind, Kind::NotFound, "{error}"),
        }
    }
    all += &of_the_thread(system, as_of).await;
    let mut add = |what: &str, told: String| all += &format!("{what}: {told}\n");
    for id in ["short", "long"] {
        let request = thread::ListRecordLinks {
            profile: profile.clone(),
            thread_id: thread_id.clone(),
            record_id: id.to_owned(),
            as_of,
        };
        if let Ok(told) = system.thread_list_record_links(&acme(), request).await {
            add("links", format!("{:?}", told.reply));
        }
        let request = Memory { profile: profile.clone(), memory_id: id.to_owned(), as_of };
        if let Ok(told) = system.profile_memory(&acme(), request).await {
            add("memory", format!("{:?}", told.reply));
        }
    }
    let request =
        speaker::Memories { profile: profile.clone(), speaker: "Ann".to_owned(), as_of, ..Default::default() };
    match system.speaker_memories(&acme(), request).await {
        Ok(told) => add("speaker", format!("{:?}", told.reply)),
        Err(error) => assert_eq!(error.kind, Kind::NotFound, "{error}"),
    }
    let request = Summary { profile, session_id: Some(thread_id), as_of };
    add("summary", format!("{:?}", system.profile_summary(&acme(), request).await.expect("told").reply));
    all
}

/// What an agent is shown of the thread, and its message by itself.
async fn of_the_thread(system: &System, as_of: Option<AsOf>) -> String {
    let mut all = String::new();
    let mut add = |what: &str, told: String| all += &format!("{what}: {told}\n");
    let (profile, thread_id) = address();
    let request = thread::GetMessage { profile, thread_id, message_id: "m".to_owned(), as_of, ..Default::default() };
    if let Ok(told) = system.thread_get_message(&acme(), request).await {
        add("message", format!("{:?}", told.reply));
    }
    let (profile, thread_id) = address();
    let request =
        thread::GetContextCard { profile, thread_id, max_recent_messages: Some(9), as_of, ..Default::default() };
    if let Ok(told) = system.thread_get_context_card(&acme(), request).await {
        add("card", format!("{:?}", told.reply));
    }
    let (profile, thread_id) = address();
    if let Ok(told) =
        system.thread_get_summary(&acme(), thread::GetSummary { profile, thread_id, as_of, ..Default::default() }).await
    {
        add("thread.summary", format!("{:?}", told.reply));
    }
    all
}

async fn filled(system: &System) {
    let add = speaker::Add { profile: ALICE.to_owned(), speaker: "Ann".to_owned() };
    system.speaker_add(&acme(), add).await.expect("added");
    create(system).await;
    let (profile, thread_id) = address();
    let message = thread::NewMessage {
        role: "user".to_owned(),
        content: thread::Content::Text("marmalade, said Ann".to_owned()),
        id: Some("m".to_owned()),
        ..Default::default()
    };
    let ttl_days = Some(memlog_actors::api::given::OneOrEach::One(Some(2.0)));
    let request = thread::AddMessages { profile, thread_id, messages: vec![message], ttl_days, ..Default::default() };
    system.thread_add_messages(&acme(), request).await.expect("added");
    let said_by = Some("Ann".to_owned());
    let long = thread::AddMemory { speaker: said_by.clone(), ..memory("long", "quince is kept") };
    system.thread_add_memory(&acme(), long).await.expect("saved");
    let short = thread::AddMemory {
        ttl_days: Some(Some(2.0)),
        speaker: said_by,
        memory_id_to_link: Some("long".to_owned()),
        link_type: Some("refines".to_owned()),
        ..memory("short", "velvet is for two days")
    };
    system.thread_add_memory(&acme(), short).await.expect("saved");
}

// On every path and at any moment of the past, by the clock at once; and later on no disk.
#[tokio::test(flavor = "multi_thread")]
async fn what_has_expired_is_nowhere() {
    let world = World::new();
    let system = world.start().await;
    filled(&system).await;
    let moments: Vec<u64> = (1..=system.health().seq).collect();
    let then = Time(Micros(world.clock.micros()));
    for secret in ["velvet is", "marmalade, said", "quince is"] {
        assert!(shown(&system, None).await.contains(secret), "{secret} is there to begin with");
    }
    assert!(shown(&system, None).await.contains("status: Invalid"));
    world.clock.forward(2 * DAY_MICROS);
    let mut asked: Vec<Option<AsOf>> = moments.iter().map(|seq| Some(AsOf::Seq(*seq))).collect();
    asked.extend([None, Some(AsOf::Time(then))]);
    for as_of in asked {
        let told = shown(&system, as_of).await;
        for secret in ["velvet is", "marmalade, said"] {
            assert!(!told.contains(secret), "{as_of:?}: {secret} in {told}");
        }
    }
    // What it said of another one is taken back with it.
    let now = shown(&system, None).await;
    assert!(now.contains("quince is") && !now.contains("status: Invalid"), "{now}");
    // It cannot be refreshed, linked or deleted any more.
    let refresh = thread::UpdateMemory { ttl_days: Some(None), ..changing("short") };
    assert_eq!(system.thread_update_memory(&acme(), refresh).await.expect_err("refused").kind, Kind::NotFound);
    let (profile, thread_id) = address();
    let refresh = thread::UpdateMessage {
        profile,
        thread_id,
        message_id: "m".to_owned(),
        ttl_days: Some(None),
        ..Default::default()
    };
    assert_eq!(system.thread_update_message(&acme(), refresh).await.expect_err("refused").kind, Kind::NotFound);
    let linked = system.thread_link_records(&acme(), linking("long", "short", "supports")).await;
    assert_eq!(linked.expect_err("refused").kind, Kind::NotFound);
    let system = world.restart(system).await;
    assert!(!shown(&system, None).await.contains("velvet is"));
    assert_nowhere(world.folder.path(), &[b"velvet is".to_vec(), b"marmalade, said".to_vec()]);
    system.stop().await;
}

// The past shows what was said then, for as long as it may be shown now: a life made shorter hides it there as well, and one made
// longer hides nothing.
#[tokio::test(flavor = "multi_thread")]
async fn a_life_made_longer_or_shorter_is_so_in_the_past_as_well() {
    let world = World::new();
    let system = world.start().await;
    filled(&system).await;
    let before = Some(AsOf::Seq(system.health().seq));
    assert!(shown(&system, before).await.contains("velvet is"));
    let longer = thread::UpdateMemory { ttl_days: Some(Some(9.0)), ..changing("short") };
    system.thread_update_memory(&acme(), longer).await.expect("refreshed");
    let shorter = thread::UpdateMemory { ttl_days: Some(Some(1.0)), ..changing("long") };
    system.thread_update_memory(&acme(), shorter).await.expect("shortened");
    for _ in 0..2 {
        world.clock.forward(DAY_MICROS);
        for as_of in [None, before] {
            let told = shown(&system, as_of).await;
            assert!(told.contains("velvet is") && !told.contains("quince is"), "{as_of:?}: {told}");
        }
    }
    world.clock.forward(8 * DAY_MICROS);
    assert!(!shown(&system, before).await.contains("velvet is"));
    // The housekeeping finds what is due by its new time: erased, it has no name any more by which it could be asked for.
    let erased = async {
        for id in ["short", "long"] {
            let history = || History { profile: ALICE.to_owned(), memory_id: id.to_owned(), as_of: None };
            while system.profile_history(&acme(), history()).await.is_ok() {
                tokio::task::yield_now().await;
            }
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(60), erased).await.expect("erased");
    system.stop().await;
}

// Whether a text has a date is found out when a question first asks for one, and kept: a text that is changed has lost what was found.
#[tokio::test(flavor = "multi_thread")]
async fn the_date_that_a_question_wants_is_looked_for_in_what_the_text_says_now() {
    let world = World::new();
    let system = world.start().await;
    filled(&system).await;
    let (dated, bare) = ("the dentist wants to see her on 14 June", "the dentist wants to see her in his old practice");
    let saved = [("one", dated), ("two", bare)].map(|(id, content)| memory(id, content));
    for memory in saved {
        system.thread_add_memory(&acme(), memory).await.expect("saved");
    }
    async fn first(system: &System) -> String {
        let query = "When does the dentist want to see her?".to_owned();
        let asked = Search { profile: ALICE.to_owned(), query, ..Search::default() };
        system.profile_search(&acme(), asked).await.expect("found").reply.memories[0].id.clone()
    }
    assert_eq!(first(&system).await, "one");
    for (id, content) in [("one", bare), ("two", dated)] {
        let change = thread::UpdateMemory { content: Some(content.to_owned()), ..changing(id) };
        system.thread_update_memory(&acme(), change).await.expect("changed");
    }
    assert_eq!(first(&system).await, "two");
    // Found out anew by views that were folded at once.
    let system = world.restart(system).await;
    assert_eq!(first(&system).await, "two");
    system.stop().await;
}
