//! What a model writes: answers, summaries and types. Each has a local text behind it, so that no failure of the model is one of
//! the caller; and what was forgotten or corrected is in none of them.

use memlog::{
    door::connect,
    serve::{Nats as Server, Options as Serve, Serving},
};
use memlog_actors::api::{
    AsOf,
    audit::Verify,
    error::Kind,
    job,
    profile::*,
    record::{ItemType, Record},
    speaker,
};
use serde_json::json;

use super::*;
use crate::support::{
    Nats,
    llm::{Reply, right},
};

async fn answer(system: &System, thinking_level: ThinkingLevel) -> Recalled {
    let request = Recall {
        profile: ALICE.to_owned(),
        query: "Where does the user live?".to_owned(),
        thinking_level: Some(thinking_level),
        ..Recall::default()
    };
    system.profile_recall(&acme(), request).await.expect("answered").reply
}

async fn summary(system: &System) -> String {
    summary_as_of(system, None).await
}

async fn summary_as_of(system: &System, as_of: Option<AsOf>) -> String {
    let request = Summary { profile: ALICE.to_owned(), session_id: None, as_of };
    system.profile_summary(&acme(), request).await.expect("summarised").reply.summary
}

async fn remember(system: &System, request: Remember) -> Record {
    let request = Remember { profile: ALICE.to_owned(), content: "Buy milk for tea.".to_owned(), ..request };
    system.profile_remember(&acme(), request).await.expect("stored").reply.memory
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_answers_when_there_is_time_to_think() {
    let world = World::new();
    let system = world.start().await;
    ingest(&system, "trip", vec![said("user", "I live in Porto")]).await;
    let low = answer(&system, ThinkingLevel::Low).await;
    assert_eq!(world.llm.calls_of("answer").len(), 0);
    let high = answer(&system, ThinkingLevel::High).await;
    assert_eq!(high.answer, "It says \"Noted: I live in Porto\" [1]");
    assert_eq!((low.count, low.answer.contains("[1]")), (high.count, true));
    let data = world.llm.calls_of("answer")[0].data();
    assert_eq!((&data["question"], &data["sources"][0]["n"]), (&json!("Where does the user live?"), &json!(1)));
    // A model that finds no answer in the sources says so by saying nothing.
    world.llm.play(|_| Reply::Says(json!({ "sentences": [] }).to_string()));
    let nothing = answer(&system, ThinkingLevel::Medium).await;
    assert_eq!((nothing.answer.as_str(), nothing.count), ("", high.count));
    system.stop().await;
}

// Two things have to be found, and neither has a word of the question.
#[tokio::test(flavor = "multi_thread")]
async fn a_model_takes_a_question_apart() {
    const PARTS: [&str; 2] = ["When was Marta born?", "When was Igor born?"];
    let world = World::new();
    let system = world.start().await;
    let talk = |at: usize| said("user", &format!("Is the older sibling of Tom in town {at}?"));
    let told = ["Marta was born in 1980.", "Igor was born in 1975."].map(|text| said("user", text));
    ingest(&system, "family", (0..20).map(talk).chain(told).collect()).await;
    let found = async |level| {
        let request = Recall {
            profile: ALICE.to_owned(),
            query: "Which sibling of Tom is older?".to_owned(),
            thinking_level: Some(level),
            limit: Some(10),
            ..Recall::default()
        };
        let told = system.profile_recall(&acme(), request).await.expect("answered").reply;
        let has = |word: &str| told.candidates.iter().any(|it| it.summary.contains(word));
        (has("1980"), has("1975"))
    };
    let parts = |questions: serde_json::Value| {
        world.llm.play(move |call| match call.asked() {
            "questions" => Reply::Says(json!({ "questions": questions }).to_string()),
            _ => right(call),
        });
    };
    parts(json!([]));
    assert_eq!(found(ThinkingLevel::High).await, (false, false));
    parts(json!(PARTS));
    assert_eq!(found(ThinkingLevel::Low).await, (false, false));
    let before = world.llm.calls_of("questions");
    assert_eq!(before[0].data()["question"], json!("Which sibling of Tom is older?"));
    for level in [ThinkingLevel::Medium, ThinkingLevel::High] {
        assert_eq!(found(level).await, (true, true));
    }
    assert_eq!(world.llm.calls_of("questions").len(), before.len() + 2, "low asks nobody");
    // A filter that means nothing is refused before anybody is asked.
    let before = world.llm.calls_of("questions").len();
    let wrong = Recall {
        profile: ALICE.to_owned(),
        query: "Which sibling of Tom is older?".to_owned(),
        thinking_level: Some(ThinkingLevel::High),
        metadata_filter: json!({ "kind": { "$like": 7 } }).as_object().cloned(),
        ..Recall::default()
    };
    assert_eq!(system.profile_recall(&acme(), wrong).await.expect_err("refused").kind, Kind::InvalidRequest);
    assert_eq!(world.llm.calls_of("questions").len(), before);
    // What cannot be asked is no part.
    parts(json!(["?"]));
    assert_eq!(found(ThinkingLevel::High).await, (false, false));
    system.stop().await;
}

// No failure of the model is one of the caller: the answer is then the one that memlog gives without it.
#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_fails_leaves_the_local_answer() {
    let mut world = World::new();
    (world.settings.answer_s_max, world.settings.breaker_failures) = (1, 2);
    let system = world.start().await;
    ingest(&system, "trip", vec![said("user", "I live in Porto")]).await;
    let invented = json!({ "sentences": [{ "text": "In Rome.", "sources": [99] }] }).to_string();
    let wrong = [Reply::Raw("{}"), Reply::Says(invented), Reply::Refuses, Reply::Hangs, Reply::Status(500, None)];
    let mut answers = Vec::new();
    for reply in wrong {
        world.llm.play(move |_| reply.clone());
        answers.push(answer(&system, ThinkingLevel::High).await.answer);
    }
    // The two failures that pass came last, so the model rests now, and is not even asked.
    let asked = world.llm.calls().len();
    answers.push(answer(&system, ThinkingLevel::High).await.answer);
    assert_eq!(world.llm.calls().len(), asked);
    system.stop().await;
    drop(system);
    world.settings = Settings::default();
    let system = world.start().await;
    let local = answer(&system, ThinkingLevel::High).await.answer;
    assert!(local.contains("[1]"), "{local}");
    assert_eq!(answers, vec![local; 6]);
    system.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_is_summarised_as_it_grows_and_replay_asks_nobody() {
    let world = World::new();
    let system = world.start().await;
    ingest(&system, "trip", vec![said("user", "I live in Porto"), said("system", "Be brief")]).await;
    let first = system.health().seq;
    ingest(
        &system,
        "trip",
        vec![said("user", "I live in Porto"), said("system", "Be brief"), said("user", "I have a cat")],
    )
    .await;
    let calls = world.llm.calls_of("summary");
    let texts =
        |n: usize| calls[n].data()["messages"].as_array().unwrap().iter().map(|it| it["text"].clone()).collect();
    let (one, two): (Vec<_>, Vec<_>) = (texts(0), texts(1));
    assert_eq!((one, &calls[0].data()["previous"]), (vec![json!("I live in Porto")], &json!(null)));
    assert_eq!((two, &calls[1].data()["previous"]), (vec![json!("I have a cat")], &json!("Summary: I live in Porto")));
    let now = summary(&system).await;
    assert!(now.contains("Summary: I live in Porto I have a cat") && !now.contains("Said last"), "{now}");
    let then = summary_as_of(&system, Some(AsOf::Seq(first))).await;
    assert!(then.contains("Summary: I live in Porto\n"), "{then}");

    let asked = world.llm.calls().len();
    system.stop().await;
    drop(system);
    let system = world.start().await;
    system.rebuild(|_, _| {}).await.expect("rebuilt");
    assert_eq!(summary(&system).await, now);
    assert_eq!(world.llm.calls().len(), asked);
    system.stop().await;
}

// A summary that does not know the last message would tell of yesterday as if it were today.
#[tokio::test(flavor = "multi_thread")]
async fn a_summary_that_lags_or_fails_leaves_the_local_text() {
    let world = World::new();
    let system = world.start().await;
    ingest(&system, "trip", vec![said("user", "I live in Porto")]).await;
    for wrong in [r#"{"summary":""}"#, r##"{"summary":"x","delete":"all"}"##, "Ignore the schema"] {
        world.llm.play(move |call| match call.asked() {
            "summary" => Reply::Says(wrong.to_owned()),
            _ => right(call),
        });
        let (_, job) = ingest(&system, "trip", vec![said("user", "I live in Porto"), said("user", wrong)]).await;
        assert_eq!(job.state, job::State::Done, "the memories are kept all the same");
        let shown = summary(&system).await;
        assert!(shown.contains("Said last") && !shown.contains("Summary:"), "{shown}");
    }
    // The next one tells all that came since the last that was right.
    world.llm.play(right);
    ingest(&system, "trip", vec![said("user", "I live in Porto"), said("user", "I have a cat")]).await;
    let call = world.llm.calls_of("summary").pop().expect("asked");
    assert_eq!(call.data()["messages"].as_array().map(Vec::len), Some(4));
    assert!(summary(&system).await.contains("I have a cat"));
    system.stop().await;
}

// What was forgotten is in no summary, not in one of the past, and not in what the next one is made from.
#[tokio::test(flavor = "multi_thread")]
async fn a_summary_goes_with_what_is_forgotten() {
    let world = World::new();
    let system = world.start().await;
    let (_, job) = ingest(&system, "trip", vec![said("user", "I live in Porto")]).await;
    ingest(&system, "trip", vec![said("user", "I live in Porto"), said("user", "I have a cat")]).await;
    let before = system.health().seq;
    assert!(summary(&system).await.contains("Summary: I live in Porto"));
    let forget = Forget { profile: ALICE.to_owned(), memory_id: job.records[0].clone() };
    system.profile_forget(&acme(), forget).await.expect("forgotten");
    for shown in [summary(&system).await, summary_as_of(&system, Some(AsOf::Seq(before))).await] {
        assert!(!shown.contains("Porto") && !shown.contains("Summary:"), "{shown}");
    }
    ingest(&system, "trip", vec![said("user", "I have a dog")]).await;
    let call = world.llm.calls_of("summary").pop().expect("asked");
    assert!(!call.body.to_string().contains("Porto"), "{}", call.body);
    assert_eq!(call.data()["previous"], json!(null));
    let shown = summary(&system).await;
    assert!(shown.contains("Summary: I have a cat; I have a dog"), "{shown}");

    let delete = DeleteSession { profile: ALICE.to_owned(), session_id: "trip".to_owned() };
    system.profile_delete_session(&acme(), delete).await.expect("deleted");
    assert!(!summary(&system).await.contains("Summary:"));
    ingest(&system, "trip", vec![said("user", "I like tea")]).await;
    assert!(summary(&system).await.contains("Summary: I like tea"));
    assert!(system.audit_verify(&acme(), Verify::default()).await.expect("verified").reply.ok);
    system.stop().await;
}

// A name that was taken back is shown nowhere; a summary says who said what.
#[tokio::test(flavor = "multi_thread")]
async fn a_summary_goes_with_a_name_that_is_removed() {
    let world = World::new();
    let system = world.start().await;
    let speaker = || "Ana".to_owned();
    let add = speaker::Add { profile: ALICE.to_owned(), speaker: speaker() };
    system.speaker_add(&acme(), add).await.expect("added");
    ingest(&system, "trip", vec![Message { speaker: Some(speaker()), ..said("user", "I live in Porto") }]).await;
    assert_eq!(world.llm.calls_of("summary")[0].data()["messages"][0]["speaker"], "Ana");
    assert!(summary(&system).await.contains("Summary: I live in Porto"));
    let remove = speaker::Remove { profile: ALICE.to_owned(), speaker: speaker() };
    system.speaker_remove(&acme(), remove).await.expect("removed");
    assert!(!summary(&system).await.contains("Summary:"));
    ingest(&system, "trip", vec![said("user", "I have a cat")]).await;
    let call = world.llm.calls_of("summary").pop().expect("asked");
    assert_eq!((&call.data()["previous"], call.body.to_string().contains("Ana")), (&json!(null), false));
    system.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_corrected_is_told_by_no_summary() {
    let world = World::new();
    let system = world.start().await;
    let (_, job) = ingest(&system, "trip", vec![said("user", "I live in Porto")]).await;
    let supersede = Supersede {
        profile: ALICE.to_owned(),
        memory_id: job.records[0].clone(),
        content: "The user lives in Rome.".to_owned(),
        ..Supersede::default()
    };
    system.profile_supersede(&acme(), supersede).await.expect("superseded");
    let shown = summary(&system).await;
    assert!(shown.contains("lives in Rome") && !shown.contains("Summary:"), "{shown}");
    ingest(&system, "trip", vec![said("user", "I live in Porto"), said("user", "I have a cat")]).await;
    let shown = summary(&system).await;
    assert!(shown.contains("Summary: I have a cat"), "{shown}");
    assert_eq!(world.llm.calls_of("type").len(), 0, "whoever corrects has said what it is");
    system.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_finds_the_type_unless_it_is_told_or_fails() {
    let mut world = World::new();
    (world.settings.classify_s_max, world.settings.breaker_failures) = (1, 100);
    let system = world.start().await;
    let found = remember(&system, Remember::default()).await;
    assert_eq!((found.item_type, world.llm.calls_of("type").len()), (ItemType::Task, 1));
    // What is stored already is not asked about again.
    assert_eq!(remember(&system, Remember::default()).await.id, found.id);
    let record_type = Some(memlog_actors::port::RecordType::Event);
    let told = remember(&system, Remember { record_type, dedupe: Some(false), ..Remember::default() }).await;
    assert_eq!((told.item_type, world.llm.calls_of("type").len()), (ItemType::Event, 1));
    let mut types = Vec::new();
    for reply in [Reply::Hangs, Reply::Status(503, None), Reply::Says(r#"{"type":"admin"}"#.to_owned()), Reply::Refuses]
    {
        world.llm.play(move |_| reply.clone());
        types.push(remember(&system, Remember { dedupe: Some(false), ..Remember::default() }).await.item_type);
    }
    system.stop().await;
    drop(system);
    world.settings = Settings::default();
    let system = world.start().await;
    let local = remember(&system, Remember { dedupe: Some(false), ..Remember::default() }).await.item_type;
    assert_eq!(types, [local; 4]);
    system.stop().await;
}

// Workers elsewhere ask the node for what a summary is made of, and leave it with their results.
#[tokio::test(flavor = "multi_thread")]
async fn a_worker_behind_nats_summarises_too() {
    let Some(nats) = Nats::start().await else { return };
    let world = World::new();
    let connection = connect::Options::url(nats.url());
    let options = Serve { system: world.options(), nats: Server::Running(connection.clone()), workers: 1, replicas: 1 };
    let serving = Serving::open(options).await.expect("memlog serves");
    ingest(serving.system(), "trip", vec![said("user", "I live in Porto")]).await;
    assert!(summary(serving.system()).await.contains("Summary: I live in Porto"));
    serving.close(std::time::Duration::from_secs(30)).await;
    nats.stop().await;
}
