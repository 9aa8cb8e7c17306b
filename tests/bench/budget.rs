//! Memory beside the budget: `cargo bench --bench budget -- profiles [N [MIB]]` touches N profiles (100,000) once each,
//! `-- records [N [MIB]]` puts N records (1,000,000) into one and searches it. MIB is `memory_budget_bytes` in MiB, its default when
//! left out. Searches are by words: a model would only take its hours. What is resident besides is the process itself, the log's cache
//! (128 MiB at most) and the actors that are awake.

use std::{
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Instant,
};

use anyhow::Context as _;
use memlog_actors::{
    api::{Context, Error, profile},
    extract::Local,
    limits::Limits,
    port::Clock,
    system::{Options, System},
};
use tokio::task::JoinSet;

/// Calls at once.
const AT_ONCE: usize = 256;
/// Lines of a run.
const LINES: usize = 10;

struct Wall;

impl Clock for Wall {
    #[expect(clippy::disallowed_methods, reason = "a measurement's clock is the wall's")]
    fn now(&self) -> jiff::Timestamp {
        jiff::Timestamp::now()
    }
}

fn main() -> anyhow::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let number = |at: usize| words.get(at).map(|word| word.parse::<usize>()).transpose();
    let mut limits = Limits::default();
    if let Some(mib) = number(2).context("MIB is a number")? {
        limits.memory_budget_bytes = (mib as u64) << 20;
    }
    let n = number(1).context("N is a number")?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let data = tempfile::tempdir()?;
        let system = started(data.path().to_owned(), limits).await?;
        match words.first().map(String::as_str) {
            Some("profiles") => profiles(&system, n.unwrap_or(100_000)).await?,
            Some("records") => records(&system, n.unwrap_or(1_000_000)).await?,
            _ => println!("cargo bench --bench budget -- profiles|records [N [MIB]]"),
        }
        system.stop().await;
        Ok(())
    })
}

async fn started(data_dir: PathBuf, limits: Limits) -> anyhow::Result<System> {
    let (vault_dir, embedder, narrator, queue) = (None, None, None, None);
    let clock = Arc::new(Wall);
    let options = Options { data_dir, vault_dir, limits, embedder, extractor: Arc::new(Local), narrator, queue, clock };
    Ok(System::start(options).await?)
}

async fn profiles(system: &System, n: usize) -> anyhow::Result<()> {
    head();
    each(system, "saved in", n, n, |system, number| async move {
        let told = save(&format!("profile-{number}"), number);
        system.profile_remember(&acme(), told).await.map(drop)
    })
    .await?;
    each(system, "searched", n, n, |system, number| async move {
        let asked = search(&format!("profile-{number}"));
        system.profile_search(&acme(), asked).await.map(drop)
    })
    .await
}

async fn records(system: &System, n: usize) -> anyhow::Result<()> {
    head();
    each(system, "saved", n, n, |system, number| async move {
        system.profile_remember(&acme(), save("one", number)).await.map(drop)
    })
    .await?;
    each(system, "searched", 100, n, |system, _| async move {
        system.profile_search(&acme(), search("one")).await.map(drop)
    })
    .await
}

/// Does it for so many, and tells how it stands `LINES` times.
async fn each<F: Future<Output = Result<(), Error>> + Send + 'static>(
    system: &System,
    what: &str,
    n: usize,
    lines_of: usize,
    call: impl Fn(System, usize) -> F,
) -> anyhow::Result<()> {
    let refused = Arc::new(AtomicU64::new(0));
    let mut tasks = JoinSet::new();
    let begin = Instant::now();
    let line = (n.min(lines_of) / LINES).max(1);
    for number in 1..=n {
        if tasks.len() >= AT_ONCE {
            tasks.join_next().await.context("a call")??;
        }
        let (call, counted) = (call(system.clone(), number), refused.clone());
        tasks.spawn(async move {
            match call.await {
                Ok(()) => {}
                Err(error) if error.fields.get("field").is_some_and(|field| field == "memory_budget_bytes") => {
                    counted.fetch_add(1, Ordering::Relaxed);
                }
                Err(error) => panic!("{error}"),
            }
        });
        if number % line == 0 {
            tell(system, what, number, refused.load(Ordering::Relaxed), begin)?;
        }
    }
    while let Some(done) = tasks.join_next().await {
        done?;
    }
    tell(system, what, n, refused.load(Ordering::Relaxed), begin)
}

fn head() {
    println!(
        "{:>10} {:>9} {:>9} {:>9} {:>12} {:>12} {:>9} {:>9}",
        "", "calls", "refused", "loaded", "counted MiB", "budget MiB", "RSS MiB", "seconds"
    );
}

fn tell(system: &System, what: &str, number: usize, refused: u64, begin: Instant) -> anyhow::Result<()> {
    let (health, budget) = (system.health(), system.limits().memory_budget_bytes);
    let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
    println!(
        "{what:>10} {number:>9} {refused:>9} {:>9} {:>12.1} {:>12.1} {:>9.1} {:>9.1}",
        health.profiles_loaded,
        mib(health.views_bytes),
        mib(budget),
        mib(resident()?),
        begin.elapsed().as_secs_f64()
    );
    Ok(())
}

/// What of this process is in memory.
fn resident() -> anyhow::Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status").context("only Linux tells what is resident")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("VmRSS")?;
    let kib: u64 = line.split_whitespace().next().context("a number")?.parse()?;
    Ok(kib << 10)
}

fn acme() -> Context {
    Context { namespace: "acme".to_owned(), ..Context::default() }
}

fn save(profile: &str, number: usize) -> profile::Remember {
    let content = format!(
        "Box number {number} stands on shelf {} of the cellar, behind the door of room {}.",
        number % 977,
        number % 31
    );
    profile::Remember { profile: profile.to_owned(), content, dedupe: Some(false), ..profile::Remember::default() }
}

fn search(profile: &str) -> profile::Search {
    profile::Search {
        profile: profile.to_owned(),
        query: "on which shelf is the box".to_owned(),
        ..profile::Search::default()
    }
}
