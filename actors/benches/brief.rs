//! What an agent pays for being shown its memories before every turn: `agent.brief` of ten attached memories of a hundred entries
//! each, through the service without the network, idle and while somebody writes. Times depend on the machine.
//!
//! `cargo bench -p memlog-actors --bench brief`

use std::{
    hint::black_box,
    sync::Arc,
    time::{Duration, Instant},
};

use jiff::Timestamp;
use memlog_actors::{
    api::{Context, agent, memory},
    limits::Limits,
    port::{Clock, ExtractFailed, Extracted, Extractor, RecordType, Work},
    system::{Options, System},
};

const MEMORIES: usize = 10;
const ENTRIES: usize = 100;
const BRIEFS: usize = 2_000;

struct Wall;

impl Clock for Wall {
    #[expect(clippy::disallowed_methods, reason = "a measurement's clock is the wall's")]
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }
}

/// Nothing is extracted here.
struct Nothing;

impl Extractor for Nothing {
    fn extract(&self, _: &Work) -> Result<Vec<Extracted>, ExtractFailed> {
        Ok(Vec::new())
    }

    fn classify(&self, content: &str) -> (RecordType, String) {
        (RecordType::Fact, content.to_owned())
    }
}

fn account() -> Context {
    Context { namespace: "bench".to_owned(), ..Context::default() }
}

fn ann() -> Context {
    let mut context = account();
    context.caller.user = Some("ann".to_owned());
    context
}

async fn save(system: &System, context: &Context, memory: &str, entry: usize, round: usize) {
    let request = memory::Save {
        id: Some(memory.to_owned()),
        entry: format!("entry-{entry:03}"),
        content: format!(
            "Round {round}. {}",
            "What there is to know about it, in some eighty characters of text. ".repeat(20)
        ),
        description: Some(format!("What everybody should know about matter number {entry}")),
        ..memory::Save::default()
    };
    system.memory_save(context, request).await.expect("saved");
}

/// Memories with entries, every fifth in a user's layer; the agent that reads them, and the first memory.
async fn filled(system: &System) -> (String, String) {
    let mut memories = Vec::new();
    for place in 0..MEMORIES {
        let request = memory::Create { name: format!("memory-{place}"), description: None };
        let id = system.memory_create(&account(), request).await.expect("created").reply.memory.id;
        for entry in 0..ENTRIES {
            let context = if entry % 5 == 0 { ann() } else { account() };
            save(system, &context, &id, entry, 0).await;
        }
        memories.push(agent::Attachment { memory: id, writes: false });
    }
    let first = memories[0].memory.clone();
    let request = agent::Create { name: "support".to_owned(), memories: Some(memories), instructions: None };
    (system.agent_create(&account(), request).await.expect("created").reply.agent.id, first)
}

async fn briefs(system: &System, agent: &str, format: Option<agent::Format>) -> Vec<Duration> {
    let mut took = Vec::with_capacity(BRIEFS);
    for _ in 0..BRIEFS {
        let request = agent::Brief { agent: agent.to_owned(), format, as_of: None };
        let began = Instant::now();
        let brief = system.agent_brief(&ann(), request).await.expect("briefed").reply;
        took.push(began.elapsed());
        assert_eq!(black_box(brief).entries.len(), MEMORIES * ENTRIES);
    }
    took.sort_unstable();
    took
}

fn print(what: &str, took: &[Duration]) {
    let at = |share: usize| took[took.len() * share / 100].as_secs_f64() * 1e6;
    println!("{what:28} p50 {:6.0} us   p90 {:6.0} us   p99 {:6.0} us", at(50), at(90), at(99));
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let folder = tempfile::tempdir().expect("a folder");
    let options = Options {
        data_dir: folder.path().to_owned(),
        vault_dir: None,
        limits: Limits::default(),
        embedder: None,
        extractor: Arc::new(Nothing),
        narrator: None,
        queue: None,
        clock: Arc::new(Wall),
    };
    let system = System::start(options).await.expect("started");
    let (agent, memory) = filled(&system).await;
    println!("{MEMORIES} memories of {ENTRIES} entries, {BRIEFS} briefs");
    print("idle", &briefs(&system, &agent, None).await);
    print("idle, with Markdown", &briefs(&system, &agent, Some(agent::Format::Markdown)).await);
    let writer = {
        let system = system.clone();
        tokio::spawn(async move {
            for round in 1.. {
                save(&system, &account(), &memory, 1, round).await;
            }
        })
    };
    print("while one writer saves", &briefs(&system, &agent, None).await);
    writer.abort();
    // Nobody looks at how it ended: it was told to.
    drop(writer.await);
    system.stop().await;
}
