//! Jobs whose extractor fails: tried again while that may help, failed for good and visible, tried once more on demand.

use std::sync::{
    Arc, Barrier,
    atomic::{AtomicUsize, Ordering},
};

use memlog_actors::{
    api::{error::Kind, job, profile::*},
    port::{ExtractFailed, Extracted, Extractor, RecordType, Work},
};

use super::world::*;

#[tokio::test(flavor = "multi_thread")]
async fn a_passing_failure_is_tried_again_and_counted() {
    let mut world = World::new();
    world.extractor = Arc::new(OneEach { failures: 2.into(), finally: false });
    let system = world.start().await;
    let request = ingest(Some("trip"), vec![message("user", "I have a cat")]);
    let reply = system.profile_ingest(&acme(), request).await.expect("ingested").reply;
    assert_eq!(reply.job_state, Some(job::State::Done));
    let get = job::Get { job_id: reply.job_id.expect("a job"), as_of: None };
    let job = system.job_get(&acme(), get).await.expect("a job").reply.job;
    assert_eq!((job.attempts, job.error, job.records.len()), (3, None, 1));
    system.stop().await;
}

// `wait` succeeds though the job fails; the messages stay, the failure has a code, and a retry makes the records.
#[tokio::test(flavor = "multi_thread")]
async fn a_final_failure_is_visible_and_can_be_retried() {
    let mut world = World::new();
    world.extractor = Arc::new(OneEach { failures: 1.into(), finally: true });
    let system = world.start().await;
    let request = ingest(Some("trip"), vec![message("user", "I have a cat")]);
    let reply = system.profile_ingest(&acme(), request).await.expect("ingested").reply;
    assert_eq!(reply.job_state, Some(job::State::Failed));
    let job_id = reply.job_id.expect("a job");
    let failed = job::List { state: Some(job::State::Failed), ..job::List::default() };
    let listed = system.job_list(&acme(), failed).await.expect("listed").reply.jobs;
    let shown: Vec<_> = listed.iter().map(|job| (&job.job_id, job.attempts, job.error.as_deref())).collect();
    assert_eq!(shown, [(&job_id, 1, Some("told_to_fail"))]);
    let found = system.profile_search(&acme(), search("cat")).await.expect("found").reply.memories;
    assert_eq!(found.iter().map(|hit| &hit.id).collect::<Vec<_>>(), [&reply.message_ids[0]]);
    // A wait for a job that has failed is over; one for a job that is not there is 404.
    let wait = |id: &str| Wait { profile: ALICE.to_owned(), job_id: Some(id.to_owned()), timeout_s: Some(20.0) };
    system.profile_wait(&acme(), wait(&job_id)).await.expect("over");
    let nobody = "018f0000-0000-7000-8000-000000000000";
    assert_eq!(system.profile_wait(&acme(), wait(nobody)).await.expect_err("nobody's").kind, Kind::NotFound);

    let system = world.restart(system).await;
    let retry = job::Retry { job_id: job_id.clone() };
    let job = system.job_retry(&acme(), retry).await.expect("queued").reply.job;
    assert_eq!(job.error, None);
    system.profile_wait(&acme(), wait(&job_id)).await.expect("done");
    let get = job::Get { job_id, as_of: None };
    let job = system.job_get(&acme(), get).await.expect("a job").reply.job;
    assert_eq!((job.state, job.records.len()), (job::State::Done, 1));
    system.stop().await;
}

// A wait that runs out is 504; the stop of the system ends a long one at once.
#[tokio::test(flavor = "multi_thread")]
async fn every_wait_ends() {
    let mut world = World::new();
    world.limits.workers = 0;
    let system = world.start().await;
    let request = Ingest { wait: None, ..ingest(Some("trip"), vec![message("user", "I have a cat")]) };
    system.profile_ingest(&acme(), request).await.expect("ingested");
    let wait = |timeout| Wait { profile: ALICE.to_owned(), job_id: None, timeout_s: Some(timeout) };
    assert_eq!(system.profile_wait(&acme(), wait(0.0)).await.expect_err("open").kind, Kind::Timeout);
    let long = tokio::spawn({
        let (system, wait) = (system.clone(), wait(3_600.0));
        async move { system.profile_wait(&acme(), wait).await }
    });
    tokio::task::yield_now().await;
    system.stop().await;
    assert_eq!(long.await.expect("joined").expect_err("stopped").kind, Kind::Unavailable);
}

// One that has expired says nothing any more: what it said is extracted again.
#[tokio::test(flavor = "multi_thread")]
async fn an_expired_record_does_not_swallow_what_is_said_again() {
    let world = World::new();
    let system = world.start().await;
    let short =
        Remember { ttl_days: Some(1.0), session_id: Some("trip".to_owned()), ..remember(&fact_of("I have a cat")) };
    system.profile_remember(&acme(), short).await.expect("stored");
    world.clock.forward(DAY_MICROS);
    let request = ingest(Some("trip"), vec![message("user", "I have a cat")]);
    system.profile_ingest(&acme(), request).await.expect("ingested");
    assert_eq!(system.profile_memories(&acme(), list()).await.expect("listed").reply.memories.len(), 1);
    system.stop().await;
}

/// Ends only when the test does, too.
struct Together {
    begun: AtomicUsize,
    end: Barrier,
}

impl Extractor for Together {
    fn extract(&self, work: &Work) -> Result<Vec<Extracted>, ExtractFailed> {
        self.begun.fetch_add(1, Ordering::SeqCst);
        self.end.wait();
        OneEach::default().extract(work)
    }

    fn classify(&self, content: &str) -> (RecordType, String) {
        OneEach::default().classify(content)
    }
}

// Two results come in while the system stops; the first moves the log's head, and the second must not wait for who has stopped
// reading it. A model may have been paid for both.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn what_workers_have_in_their_hands_at_the_stop_is_stored() {
    let mut world = World::new();
    world.limits.workers = 2;
    let together = Arc::new(Together { begun: AtomicUsize::new(0), end: Barrier::new(3) });
    world.extractor = Arc::<Together>::clone(&together);
    let system = world.start().await;
    for session in ["one", "two"] {
        let request = Ingest { wait: None, ..ingest(Some(session), vec![message("user", session)]) };
        system.profile_ingest(&acme(), request).await.expect("ingested");
    }
    while together.begun.load(Ordering::SeqCst) < 2 {
        tokio::task::yield_now().await;
    }
    let stopping = tokio::spawn({
        let system = system.clone();
        async move { system.stop().await }
    });
    while system.health().ready {
        tokio::task::yield_now().await;
    }
    tokio::task::spawn_blocking(move || together.end.wait()).await.expect("both go on");
    stopping.await.expect("stopped");
    drop(system);
    world.extractor = Arc::<OneEach>::default();
    world.limits.workers = 0;
    let system = world.start().await;
    let listed = system.job_list(&acme(), job::List::default()).await.expect("listed").reply.jobs;
    assert_eq!(listed.iter().map(|job| job.state).collect::<Vec<_>>(), [job::State::Done; 2]);
    system.stop().await;
}
