//! What is made of conversations, and what answers once a part of it was corrected.

use memlog_actors::api::record::Record;

use super::*;

// The message behind a superseded record says the old thing in good words: it must not answer before its correction.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_corrected_does_not_answer() {
    let world = reading();
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
    let world = reading();
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
    let mut world = reading();
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

// Nobody need have a language model: the question's own words say that two things are asked, and each is looked for alone.
#[tokio::test(flavor = "multi_thread")]
async fn a_question_of_two_is_taken_apart_by_its_words() {
    let world = reading();
    let system = world.start().await;
    for name in ["Ann", "Bob"] {
        let add = speaker::Add { profile: "alice".to_owned(), speaker: name.to_owned() };
        system.speaker_add(&acme(), add).await.expect("added");
    }
    let say = async |who: &str, content: String| {
        let request = Remember { speaker: Some(who.to_owned()), ..remember("alice", &content) };
        system.profile_remember(&acme(), request).await.expect("stored");
    };
    for what in ["Maja", "Tern", "Rosa", "Skua", "Olga", "Gull", "Vega", "Lark"] {
        say("Ann", format!("I paint the boat {what} in the harbour")).await;
    }
    for day in 1..30 {
        say("Ann", format!("Bob will eat with us on 2026-06-{day:02}")).await;
    }
    say("Bob", "I eat soup".to_owned()).await;
    let asked = async |thinking_level| {
        let query = "Which boats does Ann paint in the harbour, and what does Bob eat?".to_owned();
        let ask = Recall { query, thinking_level: Some(thinking_level), limit: Some(6), ..Recall::default() };
        let ask = Recall { profile: "alice".to_owned(), ..ask };
        let found = system.profile_recall(&acme(), ask).await.expect("recalled").reply.candidates;
        found.into_iter().filter(|it| it.speaker.as_deref() == Some("Bob")).count()
    };
    assert_eq!(asked(ThinkingLevel::Low).await, 0, "else the test would show nothing");
    assert_eq!((asked(ThinkingLevel::Medium).await, asked(ThinkingLevel::High).await), (1, 1));
    system.stop().await;
}

async fn listed(system: &System, status: Option<&str>) -> Vec<Record> {
    let status = status.map(|name| serde_json::from_value(name.into()).expect("a status"));
    let list = Memories { profile: "alice".to_owned(), status, ..Memories::default() };
    system.profile_memories(&acme(), list).await.expect("listed").reply.memories
}

// "Yesterday", said before midnight in Lima, is not the day before the server's. The offset is no part of what a message is:
// the same conversation in another zone's writing is a re-send, after a restart, too.
#[tokio::test(flavor = "multi_thread")]
async fn days_are_those_of_the_speakers_own_clock() {
    let world = reading();
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
    let days = |records: Vec<Record>| {
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
    let world = reading();
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
    let world = reading();
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
    let world = reading();
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

// "Last summer" is another one a year later, and a month that no year was told of is the nearest.
#[tokio::test(flavor = "multi_thread")]
async fn a_question_is_dated_from_its_reference_date() {
    let world = reading();
    let system = world.start().await;
    let told = ["2022", "2023"].into_iter().zip(["tennis", "rowing"]);
    let told =
        told.map(|(year, sport)| said("user", &format!("My sport is {sport}."), &format!("{year}-07-10T09:00:00Z")));
    system.profile_ingest(&acme(), session("life", told.collect())).await.expect("ingested");
    for (when, asked_on, sport) in [
        ("last summer", "2023-02-01", "tennis"),
        ("last summer", "2024-02-01", "rowing"),
        ("in 2022", "2024-02-01", "tennis"),
        ("in 2023", "2024-02-01", "rowing"),
        ("in July", "2022-09-01", "tennis"),
        ("in July", "2023-09-01", "rowing"),
    ] {
        let ask = |extra: serde_json::Value| {
            let mut ask = serde_json::json!({"profile": "alice", "query": format!("Which favourite sport {when}?")});
            ask["reference_date"] = asked_on.into();
            ask.as_object_mut().expect("an object").extend(extra.as_object().expect("an object").clone());
            ask
        };
        let search = serde_json::from_value(ask(serde_json::json!({"limit": 2}))).expect("a request");
        let found = system.profile_search(&acme(), search).await.expect("found").reply.memories;
        let first = found[0].content.clone().flatten().unwrap_or_default();
        assert!(first.contains(sport), "{when}, asked on {asked_on}: {first}");
        let recall = serde_json::from_value(ask(serde_json::json!({"response_length": "short"}))).expect("a request");
        let answer = system.profile_recall(&acme(), recall).await.expect("recalled").reply.answer;
        assert!(answer.contains(sport), "{when}, asked on {asked_on}: {answer}");
    }
    system.stop().await;
}
