//! How long `profile.search` takes in a whole system, from the call to the reply, without a network and beyond what the model
//! takes for the question: a stand-in gives vectors that lie in clusters as those of sentences do, in no time. Each row is a
//! filter, the sizes side by side in one run. Last, what it takes to catch up after the model was changed, beyond the model.
//!
//! `cargo bench -p memlog-actors --bench search [-- SIZE...]`; 10000 and 100000 by default.

use std::{sync::Arc, time::Instant};

use memlog_actors::{
    api::{
        Context,
        profile::{Recall, Remember, Search},
        record::ItemType,
        speaker,
    },
    extract::Local,
    limits::Limits,
    port::{Clock, EmbedFailed, Embedder, Purpose, RecordType},
    system::{Options, System},
};
use serde_json::json;
use tokio::task::JoinSet;

const DIMENSIONS: usize = 384;
const PROFILE: &str = "bench";
/// What records are about; each has words of its own.
const TOPICS: usize = 400;
/// Commands under way at once.
const ABREAST: usize = 128;
const RUNS: usize = 300;

/// xorshift64*.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33
    }

    fn below(&mut self, end: usize) -> usize {
        self.next() as usize % end
    }

    fn uniform(&mut self) -> f32 {
        (self.next() >> 7) as f32 / (1 << 24) as f32
    }

    /// By Zipf's law among 20,000 words.
    fn word(&mut self) -> String {
        format!("w{}", (f64::from(self.uniform()) * 20_000_f64.ln()).exp() as u64)
    }

    /// Half of the words of every text belong to its topic.
    fn text(&mut self, topic: usize, words: usize) -> String {
        let word = |random: &mut Self, at: usize| match at % 2 {
            0 => format!("t{topic}x{}", random.below(30)),
            _ => random.word(),
        };
        (0..words).map(|at| word(self, at)).collect::<Vec<_>>().join(" ")
    }
}

/// Texts of one topic lie near each other, all of them lean one way, and each has something of its own.
struct Clusters {
    fingerprint: u32,
    lean: Vec<f32>,
    topics: Vec<Vec<f32>>,
}

impl Clusters {
    fn new(fingerprint: u32) -> Self {
        let mut random = Random(5);
        let mut vector = || (0..DIMENSIONS).map(|_| (0..3).map(|_| 2.0 * random.uniform() - 1.0).sum()).collect();
        Self { fingerprint, lean: vector(), topics: (0..TOPICS).map(|_| vector()).collect() }
    }
}

impl Embedder for Clusters {
    fn name(&self) -> &str {
        "clusters"
    }

    fn fingerprint(&self) -> u32 {
        self.fingerprint
    }

    fn dimensions(&self) -> usize {
        DIMENSIONS
    }

    fn embed(&self, text: &str, _: Purpose) -> Result<Vec<f32>, EmbedFailed> {
        let topic = text.split_whitespace().find_map(|word| word.strip_prefix('t')?.split_once('x')?.0.parse().ok());
        let topic: &[f32] = &self.topics[topic.unwrap_or(0) % TOPICS];
        let mut random = Random(text.bytes().fold(7, |sum: u64, byte| sum.wrapping_mul(31) + u64::from(byte)) | 1);
        let own = || 1.5 * (2.0 * random.uniform() - 1.0);
        let mut vector: Vec<f32> = std::iter::repeat_with(own).take(DIMENSIONS).collect();
        for ((part, topic), lean) in vector.iter_mut().zip(topic).zip(&self.lean) {
            *part += topic + lean;
        }
        let length = vector.iter().map(|part| part * part).sum::<f32>().sqrt();
        vector.iter_mut().for_each(|part| *part /= length);
        Ok(vector)
    }
}

struct Wall;

impl Clock for Wall {
    #[expect(clippy::disallowed_methods, reason = "a measurement runs by the wall's clock")]
    fn now(&self) -> jiff::Timestamp {
        jiff::Timestamp::now()
    }
}

fn main() {
    let sizes: Vec<usize> = std::env::args().filter_map(|size| size.parse().ok()).collect();
    let sizes = if sizes.is_empty() { vec![10_000, 100_000] } else { sizes };
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let mut systems = Vec::new();
        for size in sizes {
            systems.push((size, filled(size).await));
        }
        println!("{:>44} {:>9} {:>8} {:>8}", "ms", "records", "p50", "p99");
        for (name, request) in requests() {
            for (size, (_, system)) in &systems {
                told(name, *size, times(|run| search(system, &request, run)).await);
            }
        }
        for (size, (_, system)) in &systems {
            told("recall, a short answer", *size, times(|run| recall(system, run)).await);
        }
        for (_, (_, system)) in systems {
            system.stop().await;
        }
        caught_up().await;
    });
}

/// Profiles that nobody uses, and memories in each.
const COLD: (usize, usize) = (2_000, 20);

/// Another model, and then the first again, which has all its vectors and finds nothing to do.
async fn caught_up() {
    let folder = tempfile::tempdir().expect("a folder");
    let (profiles, each) = COLD;
    let system = start(&folder, 1).await;
    let mut random = Random(17);
    let records = (0..profiles * each).map(|at| Remember {
        profile: format!("p{}", at % profiles),
        speaker: None,
        session_id: None,
        ..record(at, &mut random)
    });
    abreast(&system, records.collect()).await;
    system.stop().await;
    drop(system);
    for (name, fingerprint) in [("embedded anew", 2), ("nothing to do", 1), ("walked already", 1)] {
        let system = start(&folder, fingerprint).await;
        let began = Instant::now();
        while system.health().catching_up {
            tokio::time::sleep(std::time::Duration::from_millis(1)).await;
        }
        let took = began.elapsed().as_secs_f64();
        println!("{profiles} cold profiles of {each} memories, {name}: {took:.2} s, 0.5 of it before it begins");
        system.stop().await;
    }
}

async fn start(folder: &tempfile::TempDir, fingerprint: u32) -> System {
    let options = Options {
        data_dir: folder.path().to_owned(),
        vault_dir: None,
        // Each question goes to the model, so that all rows hold the same way there and back.
        limits: Limits { query_cache_entries_max: 0, ..Limits::default() },
        embedder: Some(Arc::new(Clusters::new(fingerprint))),
        extractor: Arc::new(Local),
        narrator: None,
        queue: None,
        clock: Arc::new(Wall),
    };
    System::start(options).await.expect("started")
}

/// Saves all of them, some at once.
async fn abreast(system: &System, requests: Vec<Remember>) {
    let mut under_way = JoinSet::new();
    for request in requests {
        if under_way.len() == ABREAST {
            under_way.join_next().await;
        }
        let system = system.clone();
        under_way.spawn(async move { drop(system.profile_remember(&context(), request).await.expect("saved")) });
    }
    under_way.join_all().await;
}

fn context() -> Context {
    Context { namespace: "acme".to_owned(), ..Context::default() }
}

/// A system with so many records, all of them embedded.
async fn filled(size: usize) -> (tempfile::TempDir, System) {
    let folder = tempfile::tempdir().expect("a folder");
    let system = start(&folder, 1).await;
    for name in ["Ines", "Tomas"] {
        let add = speaker::Add { profile: PROFILE.to_owned(), speaker: name.to_owned() };
        system.speaker_add(&context(), add).await.expect("registered");
    }
    let began = Instant::now();
    let mut random = Random(11);
    abreast(&system, (0..size).map(|at| record(at, &mut random)).collect()).await;
    let all = Search { query: "t1x1".to_owned(), ..search_of() };
    while system.profile_search(&context(), all.clone()).await.is_err() {}
    let rate = size as f64 / began.elapsed().as_secs_f64();
    println!("{size} records saved and indexed, {rate:.0}/s");
    (folder, system)
}

/// Half of them in sessions of some hundred, a third each of three types, a tenth with metadata that is asked for.
fn record(at: usize, random: &mut Random) -> Remember {
    let place = ["office", "home"][at % 2];
    let metadata = json!({"place": place, "rank": at % 10});
    let types = [RecordType::Fact, RecordType::Event, RecordType::Preference];
    let topic = random.below(TOPICS);
    Remember {
        profile: PROFILE.to_owned(),
        content: random.text(topic, 8 + at % 16),
        record_type: Some(types[at % 3]),
        session_id: at.is_multiple_of(2).then(|| format!("s{}", at % 200)),
        speaker: Some(["Ines", "Tomas", "me"][at % 3].to_owned()),
        metadata: metadata.as_object().cloned(),
        dedupe: Some(false),
        ..Remember::default()
    }
}

fn search_of() -> Search {
    Search { profile: PROFILE.to_owned(), ..Search::default() }
}

fn requests() -> Vec<(&'static str, Search)> {
    let rank = json!({"rank": 3}).as_object().cloned();
    vec![
        ("no filter, 10 results", search_of()),
        ("no filter, 100 results", Search { limit: Some(100), ..search_of() }),
        ("one type of three", Search { types: Some(vec![ItemType::Fact]), ..search_of() }),
        ("one speaker of three", Search { speaker: Some("Ines".to_owned()), ..search_of() }),
        ("one session of a hundred", Search { session_id: Some("s4".to_owned()), ..search_of() }),
        ("metadata, one record in ten", Search { metadata_filter: rank, ..search_of() }),
    ]
}

/// A question of seven words on one topic; each run another one.
fn query(run: usize) -> String {
    let mut random = Random(1 + run as u64);
    random.next();
    let topic = random.below(TOPICS);
    random.text(topic, 7)
}

async fn search(system: &System, request: &Search, run: usize) -> usize {
    let request = Search { query: query(run), ..request.clone() };
    system.profile_search(&context(), request).await.expect("found").reply.memories.len()
}

async fn recall(system: &System, run: usize) -> usize {
    let request = Recall { profile: PROFILE.to_owned(), query: query(run), ..Recall::default() };
    system.profile_recall(&context(), request).await.expect("recalled").reply.answer.len()
}

/// Milliseconds of each run, sorted, after one round of other questions to warm up.
async fn times<F: Future<Output = usize>>(run: impl Fn(usize) -> F) -> Vec<f64> {
    for at in 0..RUNS {
        std::hint::black_box(run(RUNS + at).await);
    }
    let mut times = Vec::with_capacity(RUNS);
    for at in 0..RUNS {
        let begin = Instant::now();
        std::hint::black_box(run(at).await);
        times.push(begin.elapsed().as_secs_f64() * 1e3);
    }
    times.sort_by(f64::total_cmp);
    times
}

fn told(name: &str, size: usize, times: Vec<f64>) {
    let (median, late) = (times[times.len() / 2], times[times.len() * 99 / 100]);
    println!("{name:>44} {size:>9} {median:>8.2} {late:>8.2}");
}
