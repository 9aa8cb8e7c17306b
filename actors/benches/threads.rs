//! How long a thread's reads take in a whole system, from the call to the reply, without a network: a context card over a long
//! thread, and a search that follows links. Vectors come from a stand-in for a model, in no time; add what the model takes.
//!
//! `cargo bench -p memlog-actors --bench threads`

use std::{sync::Arc, time::Instant};

use memlog_actors::{
    api::{
        Context,
        record::ItemType,
        thread::{
            AddMemory, AddMessages, Content, Create, ExtractionSettings, GetContextCard, LinkRecords, NewMessage,
            Search, Settings,
        },
    },
    extract::Local,
    limits::Limits,
    port::{Clock, EmbedFailed, Embedder, Purpose},
    system::{Options, System},
};
use tokio::task::JoinSet;

const PROFILE: &str = "bench";
const MESSAGES: usize = 10_000;
const MEMORIES: usize = 19_000;
const LINKS: usize = 76_000;
/// Commands under way at once.
const ABREAST: usize = 128;
const RUNS: usize = 200;

/// xorshift64*.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % end
    }

    /// By Zipf's law among 5,000 words.
    fn word(&mut self) -> String {
        let uniform = self.below(1 << 24) as f64 / f64::from(1 << 24);
        format!("w{}", (uniform * 5_000_f64.ln()).exp() as u64)
    }

    fn text(&mut self, words: usize) -> String {
        (0..words).map(|_| self.word()).collect::<Vec<_>>().join(" ")
    }
}

/// Alike texts are near: each word turns the vector its own way.
struct Words;

impl Embedder for Words {
    fn name(&self) -> &str {
        "words"
    }

    fn fingerprint(&self) -> u32 {
        1
    }

    fn dimensions(&self) -> usize {
        384
    }

    fn embed(&self, text: &str, _: Purpose) -> Result<Vec<f32>, EmbedFailed> {
        let mut vector = vec![0.01_f32; 384];
        for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
            let mut random = Random(word.bytes().fold(7, |sum: u64, byte| sum.wrapping_mul(31) + u64::from(byte)));
            (0..8).for_each(|_| vector[random.below(384)] += 1.0);
        }
        let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
        Ok(vector.into_iter().map(|x| x / length).collect())
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
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        card().await;
        hops().await;
    });
}

async fn start(folder: &tempfile::TempDir) -> System {
    let options = Options {
        data_dir: folder.path().to_owned(),
        vault_dir: None,
        limits: Limits::default(),
        embedder: Some(Arc::new(Words)),
        extractor: Arc::new(Local),
        narrator: None,
        queue: None,
        clock: Arc::new(Wall),
    };
    let system = System::start(options).await.expect("started");
    let extraction = Some(ExtractionSettings { enabled: Some(false), ..ExtractionSettings::default() });
    let create = Create {
        profile: PROFILE.to_owned(),
        thread_id: Some("t".to_owned()),
        settings: Some(Settings { extraction, ..Settings::default() }),
        ..Create::default()
    };
    system.thread_create(&context(), create).await.expect("created");
    system
}

fn context() -> Context {
    Context { namespace: "acme".to_owned(), ..Context::default() }
}

async fn memories(system: &System, count: usize, random: &mut Random) {
    let texts: Vec<String> = (0..count).map(|_| random.text(12)).collect();
    abreast(texts.into_iter().enumerate(), |(at, content)| {
        let add = AddMemory {
            profile: PROFILE.to_owned(),
            thread_id: "t".to_owned(),
            content,
            memory_id: Some(format!("m{at}")),
            autonomous_linking: Some(false),
            ..AddMemory::default()
        };
        let system = system.clone();
        async move { drop(system.thread_add_memory(&context(), add).await.expect("saved")) }
    })
    .await;
}

/// All of them, some at once.
async fn abreast<T, F: Future<Output = ()> + Send + 'static>(
    all: impl Iterator<Item = T>,
    mut one: impl FnMut(T) -> F,
) {
    let mut under_way = JoinSet::new();
    for it in all {
        if under_way.len() == ABREAST {
            under_way.join_next().await;
        }
        under_way.spawn(one(it));
    }
    under_way.join_all().await;
}

async fn card() {
    let folder = tempfile::tempdir().expect("a folder");
    let system = start(&folder).await;
    let mut random = Random(11);
    for _ in 0..MESSAGES / 500 {
        let said = |at: usize, text| NewMessage {
            role: ["user", "assistant"][at % 2].to_owned(),
            content: Content::Text(text),
            ..NewMessage::default()
        };
        let messages = (0..500).map(|at| said(at, random.text(25))).collect();
        let add =
            AddMessages { profile: PROFILE.to_owned(), thread_id: "t".to_owned(), messages, ..AddMessages::default() };
        system.thread_add_messages(&context(), add).await.expect("added");
    }
    memories(&system, 2_000, &mut random).await;
    let plain = GetContextCard { profile: PROFILE.to_owned(), thread_id: "t".to_owned(), ..GetContextCard::default() };
    let by_type = [(ItemType::Memory, 5), (ItemType::Message, 5), (ItemType::Preference, 2), (ItemType::Guideline, 2)];
    let full = GetContextCard {
        max_recent_messages: Some(20),
        except_last_messages: Some(20),
        max_relevant_results: Some(20),
        min_relevant_results_by_type: Some(by_type.into_iter().collect()),
        ..plain.clone()
    };
    println!("a context card over {MESSAGES} messages and 2000 memories, ms");
    for (name, request) in [("by default", plain), ("20 recent, 20 results, 4 types", full)] {
        let times = times(|_| {
            let (system, request) = (system.clone(), request.clone());
            async move { system.thread_get_context_card(&context(), request).await.expect("a card").reply.content.len() }
        });
        told(name, times.await);
    }
    system.stop().await;
}

async fn hops() {
    let folder = tempfile::tempdir().expect("a folder");
    let system = start(&folder).await;
    let mut random = Random(13);
    memories(&system, MEMORIES, &mut random).await;
    // Each of them to four others, all forward, so that no pair has both directions.
    let steps: Vec<usize> = (0..LINKS / MEMORIES).map(|at| 1 + at * 977 + random.below(900)).collect();
    let pairs = (0..MEMORIES).flat_map(|from| steps.iter().map(move |step| (from, (from + step) % MEMORIES)));
    abreast(pairs.collect::<Vec<_>>().into_iter(), |(from, to)| {
        let link = LinkRecords {
            profile: PROFILE.to_owned(),
            thread_id: "t".to_owned(),
            source_record_id: format!("m{from}"),
            source_record_type: ItemType::Memory,
            target_record_id: format!("m{to}"),
            target_record_type: ItemType::Memory,
            relation_type: "supports".to_owned(),
            opposite_relation_type: None,
            relation_id: None,
            timestamp: None,
            metadata: None,
        };
        let system = system.clone();
        async move { drop(system.thread_link_records(&context(), link).await.expect("linked")) }
    })
    .await;
    let queries: Vec<String> = (0..RUNS).map(|_| random.text(6)).collect();
    println!("a search of {MEMORIES} memories with {LINKS} links, 10 results, ms");
    for (name, num_hops, linked) in [
        ("no hops", None, None),
        ("5 hops, 100 linked each", Some(5), None),
        ("5 hops, 1000 linked each", Some(5), Some(1_000)),
    ] {
        let times = times(|run| {
            let search = Search {
                profile: PROFILE.to_owned(),
                thread_id: "t".to_owned(),
                query: queries[run].clone(),
                num_hops,
                max_linked_results: linked,
                ..Search::default()
            };
            let system = system.clone();
            async move { system.thread_search(&context(), search).await.expect("found").reply.results.len() }
        });
        told(name, times.await);
    }
    system.stop().await;
}

/// Milliseconds of each run, sorted, after one round to warm up.
async fn times<F: Future<Output = usize>>(run: impl Fn(usize) -> F) -> Vec<f64> {
    let mut times = Vec::with_capacity(RUNS);
    for at in 0..2 * RUNS {
        let start = Instant::now();
        std::hint::black_box(run(at % RUNS).await);
        times.push(start.elapsed().as_secs_f64() * 1e3);
    }
    let mut times = times.split_off(RUNS);
    times.sort_by(f64::total_cmp);
    times
}

fn told(name: &str, times: Vec<f64>) {
    let (median, late) = (times[times.len() / 2], times[times.len() * 99 / 100]);
    println!("{name:>32}: p50 {median:.2}, p99 {late:.2}");
}
