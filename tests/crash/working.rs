//! `kill -9` of a worker and of the node while a language model thinks: time is lost, and nothing else.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    time::Duration,
};

use memlog_actors::api::{job, profile};

use crate::{
    support::{
        llm::{Reply, StandIn, noted, right},
        served::until,
    },
    world::{Served, World},
};

/// The queue waits 30 s.
const LONGER_THAN_THE_QUEUE_WAITS: Duration = Duration::from_secs(33);
const TEXT: &str = "I moved to Lisbon.";

async fn ingest(node: &Served) -> String {
    let message = profile::Message { role: "user".to_owned(), content: TEXT.to_owned(), ..profile::Message::default() };
    let ingest = profile::Ingest { profile: "ann".to_owned(), messages: vec![message], ..profile::Ingest::default() };
    node.call(ingest).await.job_id.expect("a job")
}

/// The one memory is there, by one job, at this try.
async fn done(node: &Served, job_id: &str, attempts: u32) {
    let wait = profile::Wait { profile: "ann".to_owned(), timeout_s: Some(80.0), job_id: None };
    node.call(wait).await;
    let job = node.call(job::Get { job_id: job_id.to_owned(), as_of: None }).await.job;
    assert_eq!((job.state, job.records.len(), job.attempts), (job::State::Done, 1, attempts));
    let memory_id = job.records[0].clone();
    let memory = profile::Memory { profile: "ann".to_owned(), memory_id, as_of: None };
    assert_eq!(node.call(memory).await.memory.content.flatten(), Some(noted(TEXT)));
}

/// A worker that dies takes nothing along: the queue gives its job to another one.
#[tokio::test(flavor = "multi_thread")]
async fn the_job_of_a_killed_worker_is_done_by_another() {
    let Some(world) = World::on_given_server().await else { return };
    let node = world.serve_with(&["--workers", "0"]).await;
    let llm = StandIn::start();
    llm.play(|_| Reply::Hangs);
    let mut worker = world.worker(1, Some(&llm));
    let job = ingest(&node).await;
    until("the model is asked", || async { !llm.calls().is_empty() }).await;
    worker.kill().await.unwrap();
    llm.play(right);
    let _other = world.worker(1, Some(&llm));
    done(&node, &job, 2).await;
    node.stop().await;
}

/// A model may take longer than the queue waits for a silent worker: whoever works says so, and nobody else is given the job.
#[tokio::test(flavor = "multi_thread")]
async fn a_job_that_takes_long_is_not_given_to_another() {
    let Some(world) = World::on_given_server().await else { return };
    let node = world.serve_with(&["--workers", "0"]).await;
    let llm = StandIn::start();
    llm.latency(LONGER_THAN_THE_QUEUE_WAITS);
    let _workers = [world.worker(1, Some(&llm)), world.worker(1, Some(&llm))];
    let job = ingest(&node).await;
    done(&node, &job, 1).await;
    assert_eq!(llm.calls_of("memories").len(), 1, "one worker asked, once");
    node.stop().await;
}

/// What a model has said was paid for: the worker keeps it until a node is there to take it, and does not ask again.
#[tokio::test(flavor = "multi_thread")]
async fn a_node_killed_while_the_model_thinks_gets_the_result_when_it_is_back() {
    let Some(world) = World::on_given_server().await else { return };
    let node = world.serve_with(&["--workers", "0"]).await;
    let llm = StandIn::start();
    let (think, thought) = mpsc::sync_channel(1);
    let asked = Arc::new(AtomicBool::new(false));
    let tell = Arc::clone(&asked);
    llm.play(move |call| {
        if call.asked() == "memories" {
            tell.store(true, Ordering::SeqCst);
            thought.recv().unwrap();
        }
        right(call)
    });
    let _worker = world.worker(1, Some(&llm));
    let job = ingest(&node).await;
    until("the model is asked", || async { asked.load(Ordering::SeqCst) }).await;
    let get = job::Get { job_id: job.clone(), as_of: None };
    assert_eq!(node.call(get).await.job.state, job::State::Running);
    node.kill().await;
    think.send(()).unwrap();
    until("the model has answered", || async { !llm.calls_of("memories").is_empty() }).await;
    let node = world.serve_with(&["--workers", "0"]).await;
    done(&node, &job, 1).await;
    assert_eq!(llm.calls_of("memories").len(), 1, "the model is asked once");
    node.stop().await;
}
