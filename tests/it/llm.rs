//! memlog with a language model, through a stand-in that is right, slow, wrong, cut off, rate-limited, refusing or down. What is
//! proved each time: the job ends as it must, the messages are kept, and nothing is lost or made up.

mod captions;
mod command;
mod extracting;
mod narrating;
mod summarising;
mod threads;

use memlog::llm::{Settings, build, settings::Fallback};
use memlog_actors::{
    api::{Context, job, profile::*},
    limits::Limits,
    system::{Options, System},
};
use tempfile::TempDir;

use crate::support::{
    llm::{MODEL, StandIn},
    served::Wall,
};

/// A system whose language model is the stand-in.
struct World {
    folder: TempDir,
    llm: StandIn,
    settings: Settings,
}

impl World {
    fn new() -> Self {
        let (llm, folder) = (StandIn::start(), tempfile::tempdir().expect("a folder"));
        let settings = Settings { url: Some(llm.url()), model: Some(MODEL.to_owned()), ..Settings::default() };
        Self { folder, llm, settings }
    }

    /// With the same settings, but its own endpoint.
    fn at_its_own_model(mut self) -> Self {
        self.settings.url = Some(self.llm.url());
        self
    }

    fn options(&self) -> Options {
        let (extractor, narrator) = build(&self.settings).expect("valid settings");
        Options {
            data_dir: self.folder.path().to_owned(),
            vault_dir: None,
            limits: Limits { job_attempts_max: 2, ..Limits::default() },
            embedder: None,
            extractor,
            narrator,
            queue: None,
            clock: std::sync::Arc::new(Wall),
        }
    }

    async fn start(&self) -> System {
        System::start(self.options()).await.expect("started")
    }
}

const ALICE: &str = "alice";

fn acme() -> Context {
    Context { namespace: "acme".to_owned(), ..Context::default() }
}

fn said(role: &str, content: &str) -> Message {
    Message { role: role.to_owned(), content: content.to_owned(), ..Message::default() }
}

/// Takes messages in and waits for their job; what became of it.
async fn ingest(system: &System, session: &str, messages: Vec<Message>) -> (Ingested, job::Job) {
    let request = Ingest {
        profile: ALICE.to_owned(),
        messages,
        session_id: Some(session.to_owned()),
        wait: Some(true),
        timeout_s: Some(60.0),
    };
    let reply = system.profile_ingest(&acme(), request).await.expect("ingested").reply;
    let job_id = reply.job_id.clone().expect("a job");
    let job = system.job_get(&acme(), job::Get { job_id, as_of: None }).await.expect("the job").reply.job;
    (reply, job)
}

/// What is remembered, as search shows it: contents of records, and of messages that no record stands for.
async fn found(system: &System, query: &str) -> (Vec<String>, Vec<String>) {
    let request = Search { profile: ALICE.to_owned(), query: query.to_owned(), limit: Some(100), ..Search::default() };
    let hits = system.profile_search(&acme(), request).await.expect("found").reply.memories;
    let (records, messages): (Vec<_>, Vec<_>) =
        hits.into_iter().partition(|hit| hit.item_type != memlog_actors::api::record::ItemType::Message);
    let text = |record: memlog_actors::api::record::Record| record.content.flatten().expect("a content");
    (records.into_iter().map(text).collect(), messages.into_iter().map(text).collect())
}

/// How many records there are.
async fn memories(system: &System) -> usize {
    let request = Memories { profile: ALICE.to_owned(), limit: Some(500), ..Memories::default() };
    system.profile_memories(&acme(), request).await.expect("listed").reply.memories.len()
}
