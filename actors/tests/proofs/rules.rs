//! The small print of the wire API: limits to the byte, taken ids, filters, paging, and who sees whose events.

use memlog_actors::{
    api::{AsOf, Context, Error, audit, error::Kind, job, profile::*, record::ItemType, speaker},
    system::System,
};

use super::world::*;

fn assert_refused<T: std::fmt::Debug>(answer: Result<T, Error>, field: &str, limit: Option<u64>) {
    let error = answer.expect_err(field);
    let told = (error.kind, error.fields["field"].as_str(), error.fields.get("limit").and_then(|it| it.as_f64()));
    assert_eq!(told, (Kind::InvalidRequest, Some(field), limit.map(|limit| limit as f64)), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn limits_hold_at_the_exact_byte_and_character() {
    let world = World::new();
    let system = world.start().await;
    let save = async |request: Remember| system.profile_remember(&acme(), request).await;
    save(remember(&"é".repeat(16_384))).await.expect("32,768 bytes");
    assert_refused(save(remember(&("é".repeat(16_384) + "x"))).await, "content", Some(32_768));
    assert_refused(save(remember(" \n\t")).await, "content", None);
    let named = |profile: String| Remember { profile, ..remember("x") };
    save(named("日".repeat(100))).await.expect("100 characters");
    assert_refused(save(named("日".repeat(101))).await, "profile", Some(100));
    assert_refused(save(named("  ".to_owned())).await, "profile", Some(100));
    let in_session = |id: String| Remember { session_id: Some(id), ..remember("y") };
    save(in_session("s".repeat(64))).await.expect("64 characters");
    assert_refused(save(in_session("s".repeat(65))).await, "session_id", Some(64));
    let with = |text: usize| {
        let metadata = serde_json::json!({"a": "x".repeat(text)}).as_object().cloned();
        Remember { metadata, ..remember("z") }
    };
    let around = r#"{"a":""}"#.len();
    save(with(16_384 - around)).await.expect("16,384 bytes");
    assert_refused(save(with(16_385 - around)).await, "metadata", Some(16_384));
    assert_refused(save(Remember { ttl_days: Some(0.99), ..remember("t") }).await, "ttl_days", Some(1));

    let ask = async |query: String| system.profile_search(&acme(), Search { query, ..search("") }).await;
    ask("q".repeat(1_024)).await.expect("1,024 bytes");
    assert_refused(ask("q".repeat(1_025)).await, "query", Some(1_024));
    assert_refused(ask(" ".to_owned()).await, "query", None);
    let hits = |limit| Search { limit: Some(limit), ..search("q") };
    assert_refused(system.profile_search(&acme(), hits(101)).await, "limit", Some(100));
    assert_refused(system.profile_search(&acme(), hits(0)).await, "limit", Some(100));
    let page = |limit| Memories { limit: Some(limit), ..list() };
    system.profile_memories(&acme(), page(500)).await.expect("500");
    assert_refused(system.profile_memories(&acme(), page(501)).await, "limit", Some(500));

    let many = |count| ingest(None, (0..count).map(|n| message("user", &format!("m {n}"))).collect());
    system.profile_ingest(&acme(), many(500)).await.expect("500 messages");
    assert_refused(system.profile_ingest(&acme(), many(501)).await, "messages", Some(500));
    assert_refused(system.profile_ingest(&acme(), many(0)).await, "messages", Some(500));
    let long = ingest(None, vec![message("user", &"x".repeat(32_769))]);
    assert_refused(system.profile_ingest(&acme(), long).await, "messages[0].content", Some(32_768));
    let full = ingest(Some("full"), (0..500).map(|n| message("user", &format!("{n:03}").repeat(10_922))).collect());
    system.profile_ingest(&acme(), Ingest { wait: None, ..full }).await.expect("the largest conversation");
    let name = |length| speaker::Add { profile: ALICE.to_owned(), speaker: "さ".repeat(length) };
    system.speaker_add(&acme(), name(80)).await.expect("80 characters");
    assert_refused(system.speaker_add(&acme(), name(81)).await, "speaker", Some(80));
    system.stop().await;
}

// The id in a conflict is the one that the client knows, whoever holds it: another session's message, or this very batch's.
#[tokio::test(flavor = "multi_thread")]
async fn a_taken_id_is_named_as_the_client_knows_it() {
    let world = World::new();
    let system = world.start().await;
    let with_id = |id: &str, text: &str| Message { id: Some(id.to_owned()), ..message("user", text) };
    let send = async |session, messages| system.profile_ingest(&acme(), ingest(Some(session), messages)).await;
    send("one", vec![with_id("m-1", "hello")]).await.expect("stored");
    let head = system.health().seq;
    let taken = send("two", vec![with_id("m-1", "bye")]).await.expect_err("taken");
    assert_eq!((taken.kind, taken.fields["existing_id"].as_str()), (Kind::Conflict, Some("m-1")));
    let twice = send("two", vec![with_id("m-2", "a"), with_id("m-3", "b"), with_id("m-3", "c")]).await;
    let twice = twice.expect_err("twice");
    assert_eq!((twice.kind, twice.fields["existing_id"].as_str()), (Kind::Conflict, Some("m-3")));
    assert_eq!(system.health().seq, head, "a refused batch leaves nothing");
    // The same id elsewhere in the session it is held by is the same message; after deletion the id is free again.
    assert_eq!(send("one", vec![with_id("m-1", "hello")]).await.expect("known").reply.duplicates, 1);
    system.profile_delete_session(&acme(), delete_session("one")).await.expect("deleted");
    assert_eq!(send("two", vec![with_id("m-1", "bye")]).await.expect("free").reply.message_ids, ["m-1"]);
    system.stop().await;
}

async fn conversation(system: &System) -> (Ingested, String) {
    let add = speaker::Add { profile: ALICE.to_owned(), speaker: "Bob".to_owned() };
    system.speaker_add(&acme(), add).await.expect("added");
    let said = Message { speaker: Some("Bob".to_owned()), ..message("user", "I keep bees") };
    let reply =
        system.profile_ingest(&acme(), ingest(Some("trip"), vec![said, message("user", "Bees are fine")])).await;
    let metadata = serde_json::json!({"topic": "bees"}).as_object().cloned();
    let kept = Remember { metadata, ..remember("Buys bees in May") };
    let kept = system.profile_remember(&acme(), kept).await.expect("stored").reply.memory.id;
    (reply.expect("ingested").reply, kept)
}

#[tokio::test(flavor = "multi_thread")]
async fn filters_work_inside_the_search() {
    let world = World::new();
    let system = world.start().await;
    let (ingested, kept) = conversation(&system).await;
    let find = async |filter: Search| {
        let found = system.profile_search(&acme(), filter).await;
        found.map(|found| found.reply.memories)
    };
    let messages = find(Search { types: Some(vec![ItemType::Message]), ..search("bees") }).await.expect("found");
    assert!(messages.iter().all(|hit| ingested.message_ids.contains(&hit.id)) && messages.len() == 2);
    let bob = find(Search { speaker: Some("Bob".to_owned()), ..search("bees") }).await.expect("found");
    assert!(!bob.is_empty() && bob.iter().all(|hit| hit.speaker.as_deref() == Some("Bob")));
    let nobody = find(Search { speaker: Some("Eve".to_owned()), ..search("bees") }).await.expect_err("unknown");
    assert_eq!((nobody.kind, nobody.fields["speaker"].as_str()), (Kind::NotFound, Some("Eve")));
    assert_refused(find(Search { speaker: Some("ME".to_owned()), ..search("bees") }).await, "speaker", None);
    let elsewhere = find(Search { session_id: Some("nowhere".to_owned()), ..search("bees") }).await.expect("found");
    assert!(elsewhere.is_empty());
    let topic = serde_json::json!({"topic": "bees"}).as_object().cloned();
    let by_topic = find(Search { metadata_filter: topic, ..search("bees") }).await.expect("found");
    assert_eq!(by_topic.iter().map(|hit| &hit.id).collect::<Vec<_>>(), [&kept]);
    let all = find(search("bees")).await.expect("found");
    let sources: Vec<_> = all.iter().flat_map(|hit| &hit.sources).collect();
    assert!(all.iter().all(|hit| !sources.contains(&&hit.id)), "{all:?}");
    // A message is no memory.
    let id = &ingested.message_ids[0];
    let read = Memory { profile: ALICE.to_owned(), memory_id: id.clone(), as_of: None };
    assert_eq!(system.profile_memory(&acme(), read).await.expect_err("a message").kind, Kind::NotFound);
    assert_eq!(system.profile_forget(&acme(), forget(id)).await.expect_err("a message").kind, Kind::NotFound);
    system.stop().await;
}

// The last page has no cursor, however many dead profiles follow it; and a list of the past stays in the past.
#[tokio::test(flavor = "multi_thread")]
async fn lists_of_profiles_and_jobs_end_and_stay_in_their_moment() {
    let world = World::new();
    let system = world.start().await;
    for n in 0..6 {
        let request =
            Ingest { profile: format!("p{n}"), ..ingest(Some("s"), vec![message("user", &format!("says {n}"))]) };
        system.profile_ingest(&acme(), request).await.expect("ingested");
    }
    let seq = system.health().seq;
    for n in 0..6 {
        let more = Remember { profile: format!("p{n}"), ..remember("Something later") };
        system.profile_remember(&acme(), more).await.expect("stored");
        let more =
            Ingest { profile: format!("p{n}"), ..ingest(Some("s"), vec![message("user", &format!("later {n}"))]) };
        system.profile_ingest(&acme(), more).await.expect("ingested");
    }
    system.profile_delete(&acme(), Delete { profile: "p0".to_owned() }).await.expect("deleted");
    let as_of = Some(AsOf::Seq(seq));
    let page = |cursor, as_of, limit| List { limit: Some(limit), cursor, as_of };
    let first = system.profile_list(&acme(), page(None, as_of, 2)).await.expect("a page").reply;
    let second = system.profile_list(&acme(), page(first.cursor.clone(), None, 3)).await.expect("a page").reply;
    let names: Vec<_> = first.profiles.iter().chain(&second.profiles).map(|it| (&it.name[..], it.memories)).collect();
    assert_eq!(names, [("p5", 1), ("p4", 1), ("p3", 1), ("p2", 1), ("p1", 1)]);
    assert_eq!(second.cursor, None, "what follows is gone");
    let jobs = |cursor, as_of| job::List { limit: Some(3), cursor, as_of, ..job::List::default() };
    let first = system.job_list(&acme(), jobs(None, as_of)).await.expect("a page").reply;
    let second = system.job_list(&acme(), jobs(first.cursor, None)).await.expect("a page").reply;
    assert_eq!((first.jobs.len(), second.jobs.len(), second.cursor), (3, 2, None));
    system.stop().await;
}

// What was deleted since is not counted by reads of the past either.
#[tokio::test(flavor = "multi_thread")]
async fn the_past_shows_no_session_that_was_deleted_since() {
    let world = World::new();
    let system = world.start().await;
    for session in ["one", "two"] {
        let request = ingest(Some(session), vec![message("user", &format!("In {session}"))]);
        system.profile_ingest(&acme(), request).await.expect("ingested");
    }
    let as_of = Some(AsOf::Seq(system.health().seq));
    system.profile_delete_session(&acme(), delete_session("two")).await.expect("deleted");
    let get = Get { profile: ALICE.to_owned(), as_of };
    let then = system.profile_get(&acme(), get).await.expect("there").reply.profile;
    assert_eq!((then.memories, then.messages, then.sessions), (1, 1, 1));
    let summary = Summary { profile: ALICE.to_owned(), session_id: None, as_of };
    let summary = system.profile_summary(&acme(), summary).await.expect("summarised").reply.summary;
    assert!(summary.contains("In one") && !summary.contains("two"), "{summary}");
    let list = job::List { as_of, ..job::List::default() };
    let jobs = system.job_list(&acme(), list).await.expect("listed").reply.jobs;
    let shown: Vec<_> = jobs.iter().map(|job| (job.session_id.as_deref(), job.records.len())).collect();
    assert!(
        shown.contains(&(Some("one"), 1)) && !shown.iter().any(|(session, _)| *session == Some("two")),
        "{shown:?}"
    );
    assert!(shown.iter().all(|(session, records)| session.is_some() || *records == 0), "{shown:?}");
    system.stop().await;
}

// A namespace never sees an event of another, filtered by profile or not; pages and exports neither lose nor repeat.
#[tokio::test(flavor = "multi_thread")]
async fn audit_tells_each_namespace_its_own_and_all_of_it() {
    let world = World::new();
    let system = world.start().await;
    let other = Context { namespace: "acme2".to_owned(), ..Context::default() };
    let mut by = acme();
    by.caller.user = Some("ana".to_owned());
    for n in 0..10 {
        let text = format!("Says {n}");
        system.profile_remember(&by, remember(&text)).await.expect("stored");
        system.profile_remember(&other, remember(&text)).await.expect("stored");
    }
    let mut seen = Vec::new();
    for context in [&acme(), &other] {
        let mut from = None;
        let mut told = Vec::new();
        loop {
            let page = audit::Events { from_seq: from, limit: Some(3), ..audit::Events::default() };
            let page = system.audit_events(context, page).await.expect("a page").reply.events;
            let Some(last) = page.last() else { break };
            from = Some(last.seq + 1);
            told.extend(page);
        }
        assert!(told.is_sorted_by(|one, next| one.seq < next.seq));
        assert_eq!(told.iter().filter(|event| event.event_type == "saved").count(), 10);
        let mut lines = Vec::new();
        let mut from = None;
        loop {
            let export = audit::Export { from_seq: from, limit: Some(4), ..audit::Export::default() };
            let export = system.audit_export(context, export).await.expect("exported").reply;
            lines.extend(export.lines.lines().map(str::to_owned));
            from = export.next_seq;
            if from.is_none() {
                break;
            }
        }
        let exported: Vec<audit::Event> = lines.iter().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        assert_eq!(exported, told);
        let of_profile =
            audit::Events { profile: Some(ALICE.to_owned()), limit: Some(500), ..audit::Events::default() };
        assert_eq!(system.audit_events(context, of_profile).await.expect("events").reply.events, told);
        seen.push(told);
    }
    assert!(seen[0].iter().all(|event| seen[1].iter().all(|other| other.seq != event.seq)));
    assert!(seen[0].iter().all(|event| event.by.as_deref() == Some("user:ana")), "{:?}", seen[0]);
    let saved = seen[0].iter().find(|event| event.event_type == "saved").expect("saved");
    let of_record = audit::Events { record_id: saved.record_id.clone(), ..audit::Events::default() };
    assert_eq!(
        system.audit_events(&acme(), of_record.clone()).await.expect("events").reply.events,
        std::slice::from_ref(saved)
    );
    assert!(system.audit_events(&other, of_record).await.expect("events").reply.events.is_empty());
    system.stop().await;
}

// Superseding what no longer holds names the successor, unless that one was forgotten: then it is named nowhere.
#[tokio::test(flavor = "multi_thread")]
async fn a_forgotten_successor_is_named_nowhere() {
    let world = World::new();
    let system = world.start().await;
    let old = system.profile_remember(&acme(), remember("Lives in Porto")).await.expect("stored").reply.memory.id;
    let (profile, memory_id) = (ALICE.to_owned(), old.clone());
    let request = Supersede { profile, memory_id, content: "Lives in Lisbon".to_owned(), ..Supersede::default() };
    let new = system.profile_supersede(&acme(), request.clone()).await.expect("superseded").reply.memory.id;
    let error = system.profile_supersede(&acme(), request.clone()).await.expect_err("twice");
    assert_eq!(error.fields["superseded_by"].as_str(), Some(&new[..]));
    system.profile_forget(&acme(), forget(&new)).await.expect("forgotten");
    let error = system.profile_supersede(&acme(), request).await.expect_err("it stays invalid");
    assert_eq!((error.kind, error.fields.get("superseded_by")), (Kind::Conflict, None));
    let read = Memory { profile: ALICE.to_owned(), memory_id: old, as_of: None };
    assert_eq!(system.profile_memory(&acme(), read).await.expect("there").reply.memory.superseded_by, None);
    system.stop().await;
}

// Whoever is about to forget what somebody said is shown how much goes, however many messages are behind it.
#[tokio::test(flavor = "multi_thread")]
async fn a_large_page_counts_every_message_behind_it() {
    let world = World::new();
    let system = world.start().await;
    let add = speaker::Add { profile: ALICE.to_owned(), speaker: "Bob".to_owned() };
    system.speaker_add(&acme(), add).await.expect("added");
    let said = |n: usize| Message {
        speaker: Some("Bob".to_owned()),
        ..message("user", &format!("The shelf is full. It holds {n} books!"))
    };
    let messages = (0..230).map(said).collect();
    system.profile_ingest(&acme(), ingest(Some("shelf"), messages)).await.expect("ingested");
    let page = speaker::Memories {
        profile: ALICE.to_owned(),
        speaker: "Bob".to_owned(),
        limit: Some(500),
        ..Default::default()
    };
    let page = system.speaker_memories(&acme(), page).await.expect("listed").reply;
    assert_eq!((page.memories.len(), page.chunks, page.points_to_delete), (230, 920, 920));
    system.stop().await;
}
