//! A whole system with made-up records in it, and what it is asked.

use std::{path::Path, sync::Arc, time::Instant};

use serde_json::{Map, Value, json};
use tokio::task::JoinSet;

use super::{Clusters, Random, TOPICS};
use crate::{
    api::{
        Context, Error,
        error::Kind,
        profile::{Remember, Search},
        record::ItemType,
        speaker,
    },
    extract::Local,
    limits::Limits,
    port::{Clock, Embedder, RecordType},
    system::{Options, StartError, System},
};

/// Whose records they are.
pub const PROFILE: &str = "bench";
/// Commands under way at once while it is filled.
const ABREAST: usize = 128;
/// Searches that may be refused because much is still to be embedded, each after half a minute.
const SEARCHES_MAX: usize = 240;
/// Room for the views of a million records.
const MEMORY_BUDGET_BYTES: u64 = 16 << 30;

/// The wall's clock.
pub struct Wall;

impl Clock for Wall {
    #[expect(clippy::disallowed_methods, reason = "a measurement runs by the wall's clock")]
    fn now(&self) -> jiff::Timestamp {
        jiff::Timestamp::now()
    }
}

/// Who asks.
pub fn context() -> Context {
    Context { namespace: "bench".to_owned(), ..Context::default() }
}

/// What a system is started with; every question goes to the model, so that all rows of a table hold the same way there and back.
pub fn options(folder: &Path, embedder: Option<Arc<dyn Embedder>>) -> Options {
    let limits = Limits { query_cache_entries_max: 0, memory_budget_bytes: MEMORY_BUDGET_BYTES, ..Limits::default() };
    Options {
        data_dir: folder.to_owned(),
        vault_dir: None,
        limits,
        embedder,
        extractor: Arc::new(Local),
        narrator: None,
        queue: None,
        clock: Arc::new(Wall),
    }
}

/// Saves all of them, some at once.
pub async fn abreast(system: &System, requests: impl IntoIterator<Item = Remember>) -> Result<(), Error> {
    let mut under_way: JoinSet<Result<(), Error>> = JoinSet::new();
    for request in requests {
        if under_way.len() == ABREAST
            && let Some(saved) = under_way.join_next().await
        {
            saved.map_err(|error| Error::unavailable(error.to_string(), 0))??;
        }
        let system = system.clone();
        under_way.spawn(async move { system.profile_remember(&context(), request).await.map(drop) });
    }
    while let Some(saved) = under_way.join_next().await {
        saved.map_err(|error| Error::unavailable(error.to_string(), 0))??;
    }
    Ok(())
}

/// A system on a folder with so many records in one profile, all of them embedded, and what that took a second.
pub async fn filled(folder: &Path, size: usize) -> Result<(System, f64), Filling> {
    let system = System::start(options(folder, Some(Arc::new(Clusters::new(1))))).await?;
    for name in ["Ines", "Tomas"] {
        let add = speaker::Add { profile: PROFILE.to_owned(), speaker: name.to_owned() };
        system.speaker_add(&context(), add).await?;
    }
    let began = Instant::now();
    let mut random = Random::new(11);
    abreast(&system, (0..size).map(|at| record(at, &mut random))).await?;
    let all = Search { profile: PROFILE.to_owned(), query: "t1x1".to_owned(), ..Search::default() };
    // A search waits until all is embedded, and is refused when that takes long.
    let mut tries = 0;
    while let Err(refused) = system.profile_search(&context(), all.clone()).await {
        tries += 1;
        if refused.kind != Kind::Timeout || tries == SEARCHES_MAX {
            return Err(refused.into());
        }
    }
    Ok((system, size as f64 / began.elapsed().as_secs_f64()))
}

/// Why there is no filled system.
#[derive(Debug, thiserror::Error)]
pub enum Filling {
    /// It did not start.
    #[error(transparent)]
    Start(#[from] StartError),
    /// It refused a record.
    #[error(transparent)]
    Refused(#[from] Error),
}

/// Half of them in sessions of some hundred, a third each of three types, of each type a third each of three speakers, with metadata
/// that one in two, ten, a hundred and a thousand share.
pub fn record(at: usize, random: &mut Random) -> Remember {
    let types = [RecordType::Fact, RecordType::Event, RecordType::Preference];
    let topic = random.below(TOPICS);
    let metadata = json!({"two": at % 2, "ten": at % 10, "hundred": at % 100, "thousand": at % 1_000});
    Remember {
        profile: PROFILE.to_owned(),
        content: random.text_on(topic, 8 + at % 16),
        record_type: Some(types[at % 3]),
        session_id: at.is_multiple_of(2).then(|| format!("s{}", at % 200)),
        speaker: Some(["Ines", "Tomas", "me"][at / 3 % 3].to_owned()),
        metadata: object(metadata),
        dedupe: Some(false),
        ..Remember::default()
    }
}

fn object(value: Value) -> Option<Map<String, Value>> {
    value.as_object().cloned()
}

/// A search, but for its question.
#[derive(Clone, Debug)]
pub struct Filter {
    /// What it lets through.
    pub name: &'static str,
    /// The request.
    pub request: Search,
}

/// What narrows the searches that are measured.
pub fn filters() -> Vec<Filter> {
    let all = || Search { profile: PROFILE.to_owned(), ..Search::default() };
    let metadata = |value: Value| Search { metadata_filter: object(value), ..all() };
    let filter = |name, request| Filter { name, request };
    vec![
        filter("no filter, 10 results", all()),
        filter("no filter, 100 results", Search { limit: Some(100), ..all() }),
        filter("one type of three", Search { types: Some(vec![ItemType::Fact]), ..all() }),
        filter("one speaker of three", Search { speaker: Some("Ines".to_owned()), ..all() }),
        filter("one session of a hundred", Search { session_id: Some("s4".to_owned()), ..all() }),
        filter("metadata, 1 in 2", metadata(json!({"two": 1}))),
        filter("metadata, 1 in 100", metadata(json!({"hundred": 3}))),
        filter("metadata, 1 in 1,000", metadata(json!({"thousand": 3}))),
    ]
}

/// A question of seven words on one topic; each run another one.
pub fn query(run: usize) -> String {
    let mut random = Random::new(1 + run as u64);
    random.below(2);
    let topic = random.below(TOPICS);
    random.text_on(topic, 7)
}
