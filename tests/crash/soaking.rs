//! A soak: node, workers and nats-server die at random, JetStream's files go with some of them, and all the while messages come
//! in. In the end every accepted one has been extracted exactly once.
//!
//! `MEMLOG_SOAK_MINUTES=20 cargo test --test crash soak -- --nocapture` runs as long as told; without it some seconds.

use std::{
    collections::BTreeMap,
    fs,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use memlog::client::{CallError, Client};
use memlog_actors::api::{
    audit,
    error::Kind,
    job,
    profile::{self, Ingest, Message},
};
use rustix::process::{Pid, Signal, kill_process};
use tokio::{process::Child, sync::watch, time::timeout};

use crate::world::{Served, World, call, random};

/// Without a wish.
const SECONDS: u64 = 20;
/// Clients that send, each one message after the other.
const WRITERS: usize = 4;
/// The least time between two messages of one client: extraction, which is killed all the time, must be able to keep up.
const PACE: Duration = Duration::from_millis(25);
const PROFILES: usize = 6;
const SESSIONS: usize = 40;
const WORKERS: usize = 3;
/// How long a call may take before it is repeated under its key.
const ANSWER_MAX: Duration = Duration::from_secs(5);
/// How long everything may take to be done after the last death. A job whose worker died waits half a minute, and the next of
/// its session may have the same fate.
const QUIET_MAX: Duration = Duration::from_secs(300);

fn wanted() -> Duration {
    let minutes = std::env::var("MEMLOG_SOAK_MINUTES").ok();
    let minutes = minutes.map(|text| text.parse::<u64>().expect("MEMLOG_SOAK_MINUTES is a number of minutes"));
    Duration::from_secs(minutes.map_or(SECONDS, |minutes| minutes * 60))
}

/// A message with a word of its own.
fn message(writer: usize, number: usize) -> (String, String, Ingest) {
    let letters = |mut n: usize| {
        let mut word = String::new();
        while n > 0 {
            word.push(char::from(b'a' + (n % 16) as u8));
            n /= 16;
        }
        word
    };
    let word = format!("Q{}x{}x", letters(writer + 1), letters(number + 1));
    let place = writer * 7 + number;
    let profile = format!("profile-{}", place % PROFILES);
    let content = format!("My neighbour {word} collects stamps from Norway.");
    let message = Message { role: "user".to_owned(), content, ..Message::default() };
    let session_id = Some(format!("session-{}", place % SESSIONS));
    let ingest = Ingest { profile: profile.clone(), messages: vec![message], session_id, ..Ingest::default() };
    (word, profile, ingest)
}

/// Sends until it is told to stop; each message until it is acknowledged, whatever dies meanwhile.
async fn write(
    client: Client,
    writer: usize,
    stop: Arc<AtomicBool>,
    count: Arc<watch::Sender<u64>>,
) -> Vec<(String, String)> {
    let mut accepted = Vec::new();
    let mut pace = tokio::time::interval(PACE);
    for number in 0.. {
        pace.tick().await;
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let (word, profile, ingest) = message(writer, number);
        let key = format!("key-{word}");
        loop {
            match timeout(ANSWER_MAX, call(&client, Some(&key), &ingest)).await {
                Ok(Ok(answer)) => {
                    assert_eq!(answer.reply.accepted, 1, "{word}");
                    count.send_modify(|count| *count += 1);
                    break accepted.push((profile, word));
                }
                Ok(Err(CallError::Refused(error))) => {
                    assert!(matches!(error.kind, Kind::Unavailable | Kind::Timeout), "{error}");
                }
                Ok(Err(CallError::NobodyAnswers | CallError::Transport(_))) | Err(_) => {}
                Ok(Err(error)) => panic!("{error}"),
            }
            pace.tick().await;
        }
    }
    accepted
}

/// What dies and comes back.
struct Crowd<'a> {
    world: &'a World,
    node: Option<Served>,
    workers: Vec<Child>,
    deaths: [u32; 4],
}

impl<'a> Crowd<'a> {
    async fn start(world: &'a World) -> Self {
        let node = Some(world.serve_with(&["--workers", "0"]).await);
        let workers = (0..WORKERS).map(|_| world.worker(2, None)).collect();
        Self { world, node, workers, deaths: [0; 4] }
    }

    async fn kill_one(&mut self) {
        match random("death", 0, 8) {
            0..3 => self.kill_node().await,
            3..6 => self.kill_worker().await,
            6 => self.kill_nats(false).await,
            _ => self.kill_nats(true).await,
        }
    }

    async fn kill_node(&mut self) {
        self.deaths[0] += 1;
        if let Some(node) = self.node.take() {
            node.kill().await;
        }
        self.node = Some(self.world.serve_with(&["--workers", "0"]).await);
    }

    async fn kill_worker(&mut self) {
        self.deaths[1] += 1;
        let place = random("worker", 0, WORKERS);
        self.workers[place].start_kill().unwrap();
        self.workers[place].wait().await.unwrap();
        self.workers[place] = self.world.worker(2, None);
    }

    async fn kill_nats(&mut self, wipe: bool) {
        self.deaths[if wipe { 3 } else { 2 }] += 1;
        let nats = self.world.nats();
        let mut status = nats.server().status();
        let pid = status.borrow_and_update().pid.and_then(|pid| Pid::from_raw(i32::try_from(pid).ok()?));
        let pid = pid.expect("the server runs");
        kill_process(pid, Signal::KILL).unwrap();
        if wipe {
            // Before the supervisor starts it again, or under its eyes: disks fail at any time.
            fs::remove_dir_all(nats.store()).unwrap_or_default();
        }
        let back = status.wait_for(|status| status.pid.is_some_and(|now| Pid::from_raw(now as i32) != Some(pid)));
        back.await.expect("the server comes back");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_soak_of_deaths_extracts_every_accepted_message_once() {
    let Some(world) = World::on_given_server().await else { return };
    let mut crowd = Crowd::start(&world).await;
    let options = memlog::door::connect::Options::url(world.nats().url());
    let stop = Arc::new(AtomicBool::new(false));
    let count = Arc::new(watch::Sender::new(0));
    let mut acknowledged = count.subscribe();
    let mut writers = Vec::new();
    for writer in 0..WRITERS {
        let client = Client::connect(&options).await.unwrap();
        writers.push(tokio::spawn(write(client, writer, Arc::clone(&stop), Arc::clone(&count))));
    }
    let (begun, wanted) = (Instant::now(), wanted());
    while begun.elapsed() < wanted {
        let until = *acknowledged.borrow() + random("acknowledgements to the next death", 1, 200) as u64;
        acknowledged.wait_for(|count| *count >= until).await.expect("the writers go on");
        crowd.kill_one().await;
    }
    stop.store(true, Ordering::Relaxed);
    let mut accepted: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for writer in writers {
        for (profile, word) in writer.await.unwrap() {
            accepted.entry(profile).or_default().push(word);
        }
    }
    let node = crowd.node.as_ref().expect("a node runs");
    for (profile, words) in &accepted {
        check(node, profile, words).await;
    }
    let verified = node.call(audit::Verify::default()).await;
    assert!(verified.ok, "{:?}", verified.first_break);
    let [nodes, workers, servers, wiped] = crowd.deaths;
    let count: usize = accepted.values().map(Vec::len).sum();
    eprintln!(
        "{count} messages accepted and extracted once in {} s; killed: node {nodes}, workers {workers}, nats-server {servers}, \
         with its files {wiped}",
        begun.elapsed().as_secs()
    );
}

/// Every job is done, and each word is in exactly one memory.
async fn check(node: &Served, profile: &str, words: &[String]) {
    let quiet = async {
        let wait = profile::Wait { profile: profile.to_owned(), timeout_s: Some(30.0), job_id: None };
        while node.ask(wait.clone()).await.is_err() {}
    };
    timeout(QUIET_MAX, quiet).await.expect("every job is settled in time");
    for state in [job::State::Failed, job::State::Queued, job::State::Running] {
        let list = job::List { profile: Some(profile.to_owned()), state: Some(state), ..job::List::default() };
        let jobs = node.call(list).await.jobs;
        assert!(jobs.is_empty(), "{profile}: {jobs:?}");
    }
    let mut found: BTreeMap<String, usize> = BTreeMap::new();
    let mut cursor = None;
    loop {
        let list =
            profile::Memories { profile: profile.to_owned(), limit: Some(500), cursor, ..profile::Memories::default() };
        let page = node.call(list).await;
        for record in page.memories {
            let summary = record.summary.expect("a record has a summary");
            let word = summary.split(' ').find(|word| word.starts_with('Q') && word.ends_with('x'));
            *found.entry(word.unwrap_or(&summary).to_owned()).or_default() += 1;
        }
        cursor = page.cursor;
        if cursor.is_none() {
            break;
        }
    }
    let expected: BTreeMap<String, usize> = words.iter().map(|word| (word.clone(), 1)).collect();
    assert_eq!(found, expected, "{profile}");
}
