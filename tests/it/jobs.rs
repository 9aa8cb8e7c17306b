//! Extraction jobs through JetStream: ids alone travel, workers anywhere do them exactly once, and whatever the queue loses
//! the log hands out again.

use std::{process::Stdio, sync::Arc, time::Duration};

use async_nats::jetstream::{self, Context, stream::Info};
use futures::TryStreamExt;
use memlog_actors::{
    api::{audit, job, profile},
    limits::Limits,
    port::{ExtractFailed, Extracted, Extractor, RecordType, Work},
};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, BufReader};

use crate::support::{
    Nats,
    served::{Memlog, SmallNats, until},
};

/// A memlog whose jobs wait for workers elsewhere.
async fn without_workers() -> Option<(Nats, tempfile::TempDir, Memlog)> {
    let nats = Nats::start().await?;
    let data = tempfile::tempdir().unwrap();
    let limits = Limits { workers: 0, job_attempts_max: 2, ..Limits::default() };
    let memlog = Memlog::open(data.path(), nats.url(), limits).await;
    Some((nats, data, memlog))
}

fn ingest(profile: &str, session: &str, content: &str) -> profile::Ingest {
    let message =
        profile::Message { role: "user".to_owned(), content: content.to_owned(), ..profile::Message::default() };
    profile::Ingest {
        profile: profile.to_owned(),
        messages: vec![message],
        session_id: Some(session.to_owned()),
        ..profile::Ingest::default()
    }
}

async fn queued(memlog: &Memlog, profile: &str, session: &str, content: &str) -> String {
    memlog.call(ingest(profile, session, content)).await.unwrap().job_id.expect("a job")
}

async fn wait(memlog: &Memlog, profile: &str) {
    let wait = profile::Wait { profile: profile.to_owned(), timeout_s: Some(60.0), job_id: None };
    memlog.call(wait).await.expect("every job is done");
}

async fn shown(memlog: &Memlog, job_id: &str) -> job::Job {
    memlog.call(job::Get { job_id: job_id.to_owned(), as_of: None }).await.unwrap().job
}

async fn records(memlog: &Memlog, profile: &str) -> Vec<Option<String>> {
    let list = profile::Memories { profile: profile.to_owned(), limit: Some(500), ..profile::Memories::default() };
    let listed = memlog.call(list).await.unwrap().memories;
    listed.into_iter().map(|record| record.summary).collect()
}

/// The jobs in the order in which this happened to them.
async fn jobs_of(memlog: &Memlog, event: &str) -> Vec<String> {
    let request = audit::Events { types: Some(vec![event.to_owned()]), limit: Some(500), ..audit::Events::default() };
    let events = memlog.call(request).await.unwrap().events;
    events.into_iter().map(|event| event.record_id.expect("of a job")).collect()
}

async fn stream(context: &Context, name: &str) -> Info {
    context.get_stream(name).await.expect("the stream is there").cached_info().clone()
}

/// Waits until so many jobs are in the stream, and returns their bodies.
async fn bodies(context: &Context, name: &str, count: u64) -> Vec<Value> {
    until("the jobs have gone out", || async {
        let found = context.get_stream(name).await;
        found.is_ok_and(|stream| stream.cached_info().state.messages >= count)
    })
    .await;
    let stream = context.get_stream(name).await.unwrap();
    let first = stream.cached_info().state.first_sequence;
    let mut bodies = Vec::new();
    for sequence in first..first + count {
        let message = stream.get_raw_message(sequence).await.unwrap();
        bodies.push(serde_json::from_slice(&message.payload).unwrap());
    }
    bodies
}

/// Ids alone may lie in JetStream's files: what is forgotten could not be taken back from there. And a stream that captured
/// commands would keep every text that is said.
#[tokio::test(flavor = "multi_thread")]
async fn only_ids_travel_and_no_stream_takes_commands() {
    let Some((nats, _data, memlog)) = without_workers().await else { return };
    let context = jetstream::new(nats.client().await);
    let job = queued(&memlog, "ann", "trip", "I live in Lisbon").await;
    assert_eq!(bodies(&context, "memlog-jobs", 1).await, [json!({ "job": job })]);
    let streams: Vec<_> = context.streams().try_collect().await.unwrap();
    let subjects: Vec<_> = streams.iter().flat_map(|stream| stream.config.subjects.clone()).collect();
    assert!(subjects.len() >= 2, "{subjects:?}");
    for subject in subjects {
        assert!(subject.starts_with("memlog.jobs.v1.") || subject.starts_with("memlog.dead.v1."), "{subject}");
    }
    memlog.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_elsewhere_does_what_waits_and_the_queue_is_empty_afterwards() {
    let Some((nats, _data, memlog)) = without_workers().await else { return };
    let context = jetstream::new(nats.client().await);
    let job = queued(&memlog, "ann", "trip", "I live in Lisbon").await;
    assert_eq!(shown(&memlog, &job).await.state, job::State::Queued);
    memlog.extraction.shut();
    let workers = memlog.workers(2).await;
    until("the job is seen to run", || async { shown(&memlog, &job).await.state == job::State::Running }).await;
    memlog.extraction.open();
    wait(&memlog, "ann").await;
    let done = shown(&memlog, &job).await;
    assert_eq!((done.state, done.attempts, done.records.len()), (job::State::Done, 1, 1));
    until("the queue is empty", || async { stream(&context, "memlog-jobs").await.state.messages == 0 }).await;
    workers.close(Duration::from_secs(10)).await;
    memlog.close().await;
}

/// A profile that brings a year of conversations must not hold up another's one message.
#[tokio::test(flavor = "multi_thread")]
async fn profiles_take_turns() {
    let Some((_nats, _data, memlog)) = without_workers().await else { return };
    for session in 0..60 {
        queued(&memlog, "busy", &format!("session-{session}"), &format!("note {session}")).await;
    }
    let quiet = queued(&memlog, "quiet", "only", "I live in Lisbon").await;
    let workers = memlog.workers(1).await;
    wait(&memlog, "busy").await;
    wait(&memlog, "quiet").await;
    let place = jobs_of(&memlog, "extraction_completed").await.iter().position(|job| *job == quiet).unwrap();
    assert!(place <= 12, "the quiet profile's only job came as number {place}");
    workers.close(Duration::from_secs(10)).await;
    memlog.close().await;
}

/// A later turn may correct an earlier one, so a thread's jobs never overtake each other, whatever the number of workers.
#[tokio::test(flavor = "multi_thread")]
async fn a_thread_is_done_in_order() {
    let Some((_nats, _data, memlog)) = without_workers().await else { return };
    let workers = memlog.workers(8).await;
    for turn in 0..40 {
        let (user, assistant) = (format!("note {turn}"), format!("answer {turn}"));
        let session_id = Some(format!("session-{}", turn % 2));
        memlog.call(profile::AddTurn { profile: "ann".to_owned(), user, assistant, session_id }).await.unwrap();
    }
    wait(&memlog, "ann").await;
    let (asked, done) =
        (jobs_of(&memlog, "extraction_requested").await, jobs_of(&memlog, "extraction_completed").await);
    assert_eq!(done.len(), 40);
    for session in 0..2 {
        let of_session: Vec<_> = asked.iter().skip(session).step_by(2).collect();
        let in_order: Vec<_> = done.iter().filter(|job| of_session.contains(job)).collect();
        assert_eq!(in_order, of_session);
    }
    workers.close(Duration::from_secs(10)).await;
    memlog.close().await;
}

/// Queues deliver at least once; the result must be there exactly once.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_delivered_many_times_is_applied_once() {
    let Some((nats, _data, memlog)) = without_workers().await else { return };
    let context = jetstream::new(nats.client().await);
    memlog.extraction.shut();
    let workers = memlog.workers(4).await;
    let job = queued(&memlog, "ann", "trip", "I live in Lisbon").await;
    for _ in 0..3 {
        let copy = json!({ "job": job }).to_string();
        context.publish("memlog.jobs.v1.extract", copy.into()).await.unwrap().await.unwrap();
    }
    until("all have it", || async { memlog.extraction.waiting() == 4 }).await;
    memlog.extraction.open();
    wait(&memlog, "ann").await;
    until("the queue is empty", || async { stream(&context, "memlog-jobs").await.state.messages == 0 }).await;
    assert_eq!(jobs_of(&memlog, "extraction_completed").await, [job.as_str()]);
    assert_eq!(records(&memlog, "ann").await, [Some("I live in Lisbon".to_owned())]);
    workers.close(Duration::from_secs(10)).await;
    memlog.close().await;
}

/// The queue is a convenience: what it loses, the log knows.
#[tokio::test(flavor = "multi_thread")]
async fn a_wiped_queue_is_filled_again_from_the_log() {
    let Some((nats, _data, memlog)) = without_workers().await else { return };
    let context = jetstream::new(nats.client().await);
    for session in 0..20 {
        queued(&memlog, "ann", &format!("session-{session}"), &format!("note {session}")).await;
    }
    bodies(&context, "memlog-jobs", 1).await;
    context.delete_stream("memlog-jobs").await.unwrap();
    let workers = memlog.workers(2).await;
    wait(&memlog, "ann").await;
    assert_eq!(records(&memlog, "ann").await.len(), 20);
    // Emptied and not deleted, it still counts as it did.
    workers.close(Duration::from_secs(10)).await;
    queued(&memlog, "ann", "last", "I live in Lisbon").await;
    bodies(&context, "memlog-jobs", 1).await;
    context.get_stream("memlog-jobs").await.unwrap().purge().await.unwrap();
    let workers = memlog.workers(1).await;
    wait(&memlog, "ann").await;
    assert_eq!(records(&memlog, "ann").await.len(), 21);
    workers.close(Duration::from_secs(10)).await;
    memlog.close().await;
}

/// Fails in its own way for each kind of text.
struct Failing;

impl Extractor for Failing {
    fn extract(&self, work: &Work) -> Result<Vec<Extracted>, ExtractFailed> {
        let text = work.turns[0].text.as_str();
        let lie = Extracted {
            record_type: RecordType::Fact,
            content: text.to_owned(),
            summary: text.to_owned(),
            timestamp: None,
            sources: vec![0],
            corrects: None,
        };
        match text {
            "lasting" => Err(ExtractFailed::lasting("refused")),
            "passing" => Err(ExtractFailed::transient("rate_limited")),
            "talkative" => Err(ExtractFailed { code: "Ann lives in Lisbon".into(), transient: false }),
            "sourceless" => Ok(vec![Extracted { sources: vec![7], ..lie }]),
            "blank" => Ok(vec![Extracted { content: " ".to_owned(), ..lie }]),
            "vast" => Ok(vec![Extracted { content: "x".repeat(40_000), ..lie }]),
            _ => panic!("the extractor panicked"),
        }
    }

    fn classify(&self, content: &str) -> (RecordType, String) {
        (RecordType::Fact, content.to_owned())
    }
}

/// A failure is a visible job, a dead letter of ids and codes, and nothing else: no memory lost and none invented.
#[tokio::test(flavor = "multi_thread")]
async fn a_failed_job_is_seen_lies_among_the_dead_letters_and_can_be_retried() {
    let Some((nats, _data, memlog)) = without_workers().await else { return };
    let context = jetstream::new(nats.client().await);
    let workers = memlog.workers_with(2, Arc::new(Failing)).await;
    let expected = [
        ("lasting", "refused", 1),
        ("passing", "rate_limited", 2),
        ("talkative", "unknown", 1),
        ("sourceless", "malformed_result", 1),
        ("blank", "malformed_result", 1),
        ("vast", "malformed_result", 1),
        ("panicking", "extractor_panicked", 1),
    ];
    let mut letters = Vec::new();
    for (text, code, attempts) in expected {
        let job = queued(&memlog, "ann", text, text).await;
        until("it is given up", || async { shown(&memlog, &job).await.state == job::State::Failed }).await;
        let failed = shown(&memlog, &job).await;
        assert_eq!((failed.error.as_deref(), failed.attempts), (Some(code), attempts), "{text}");
        letters.push((job, code, attempts));
    }
    assert!(records(&memlog, "ann").await.is_empty());
    let search = profile::Search { profile: "ann".to_owned(), query: "lasting".to_owned(), ..Default::default() };
    assert!(!memlog.call(search).await.unwrap().memories.is_empty(), "the raw message stays");
    let dead = bodies(&context, "memlog-dead", letters.len() as u64).await;
    for (body, (job, code, attempts)) in dead.iter().zip(&letters) {
        let told = (&body["job"], &body["code"], &body["attempts"]);
        assert_eq!(told, (&json!(job), &json!(code), &json!(attempts)));
    }
    workers.close(Duration::from_secs(10)).await;

    let (job, ..) = &letters[0];
    memlog.call(job::Retry { job_id: job.clone() }).await.unwrap();
    let workers = memlog.workers(1).await;
    wait(&memlog, "ann").await;
    let done = shown(&memlog, job).await;
    assert_eq!((done.state, done.error, done.records.len()), (job::State::Done, None, 1));
    workers.close(Duration::from_secs(10)).await;
    memlog.close().await;
}

/// Who watches sees each step, and whoever stops reading ends it.
#[tokio::test(flavor = "multi_thread")]
async fn jobs_are_watched_as_they_happen_until_nobody_reads() {
    let Some((nats, data, memlog)) = without_workers().await else { return };
    let job = queued(&memlog, "ann", "trip", "I live in Lisbon").await;
    let mut watching = tokio::process::Command::new(env!("CARGO_BIN_EXE_memlog"))
        .args(["jobs", "--nats", nats.url(), "--namespace", "acme", "--json"])
        .env("XDG_CONFIG_HOME", data.path())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(watching.stdout.take().unwrap()).lines();
    let mut told = async || -> job::Job { serde_json::from_str(&lines.next_line().await.unwrap().unwrap()).unwrap() };
    let first = told().await;
    assert_eq!((&first.job_id, first.state), (&job, job::State::Queued));
    let workers = memlog.workers(1).await;
    let mut last = first.state;
    while last != job::State::Done {
        last = told().await.state;
    }
    drop(lines);
    queued(&memlog, "ann", "home", "I live in Porto").await;
    let ended = tokio::time::timeout(Duration::from_secs(60), watching.wait()).await.expect("it ends").unwrap();
    assert!(ended.success(), "{ended}");
    workers.close(Duration::from_secs(10)).await;
    memlog.close().await;
}

/// As many facts as the text says.
struct Many;

impl Extractor for Many {
    fn extract(&self, work: &Work) -> Result<Vec<Extracted>, ExtractFailed> {
        let fact = |number: usize| Extracted {
            record_type: RecordType::Fact,
            content: format!("fact number {number}"),
            summary: format!("fact number {number}"),
            timestamp: None,
            sources: vec![0],
            corrects: None,
        };
        Ok((0..work.turns[0].text.parse().expect("a number")).map(fact).collect())
    }

    fn classify(&self, content: &str) -> (RecordType, String) {
        (RecordType::Fact, content.to_owned())
    }
}

/// One message may say more than a batch of the log holds; it must neither be lost nor hold up the worker.
#[tokio::test(flavor = "multi_thread")]
async fn a_result_of_any_size_is_stored_as_one() {
    let Some((_nats, _data, memlog)) = without_workers().await else { return };
    let workers = memlog.workers_with(1, Arc::new(Many)).await;
    let job = queued(&memlog, "ann", "trip", "2500").await;
    wait(&memlog, "ann").await;
    let done = shown(&memlog, &job).await;
    assert_eq!((done.state, done.records.len()), (job::State::Done, 2_500));
    assert_eq!(jobs_of(&memlog, "extraction_completed").await, [job.as_str()]);
    workers.close(Duration::from_secs(10)).await;
    memlog.close().await;
}

/// Whatever else lands in the queue must not take the places of jobs.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_job_is_taken_out_of_the_queue() {
    let Some((nats, _data, memlog)) = without_workers().await else { return };
    let context = jetstream::new(nats.client().await);
    queued(&memlog, "ann", "trip", "I live in Lisbon").await;
    bodies(&context, "memlog-jobs", 1).await;
    for garbage in ["garbage", "{}", "{\"job\":7}", ""] {
        context.publish("memlog.jobs.v1.extract", garbage.into()).await.unwrap().await.unwrap();
    }
    let workers = memlog.workers(1).await;
    wait(&memlog, "ann").await;
    until("the queue is empty", || async { stream(&context, "memlog-jobs").await.state.messages == 0 }).await;
    workers.close(Duration::from_secs(10)).await;
    memlog.close().await;
}

/// Who is asked to end finishes what it has: the job is done once, and nobody waits for it to be delivered again.
#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_closes_finishes_what_it_has() {
    let Some((_nats, _data, memlog)) = without_workers().await else { return };
    memlog.extraction.shut();
    let workers = memlog.workers(1).await;
    let job = queued(&memlog, "ann", "trip", "I live in Lisbon").await;
    until("the job is under way", || async { memlog.extraction.waiting() == 1 }).await;
    let closing = tokio::spawn(workers.close(Duration::from_secs(30)));
    memlog.extraction.open();
    closing.await.unwrap();
    assert_eq!(shown(&memlog, &job).await.state, job::State::Done);
    memlog.close().await;
}

/// A save must never wait for the queue; what could not be handed out is done when a queue is there.
#[tokio::test(flavor = "multi_thread")]
async fn without_a_queue_messages_are_accepted_and_wait() {
    let Some(small) = SmallNats::start(1_000_000).await else { return };
    let data = tempfile::tempdir().unwrap();
    let memlog = Memlog::open(data.path(), &small.url, Limits::default()).await;
    let job = queued(&memlog, "ann", "trip", "I live in Lisbon").await;
    assert_eq!(shown(&memlog, &job).await.state, job::State::Queued);
    memlog.close().await;
    drop(small);
    let Some(nats) = Nats::start().await else { return };
    let memlog = Memlog::open(data.path(), nats.url(), Limits::default()).await;
    wait(&memlog, "ann").await;
    assert_eq!(shown(&memlog, &job).await.state, job::State::Done);
    memlog.close().await;
}
