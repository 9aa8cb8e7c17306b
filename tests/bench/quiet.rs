//! What a quiet profile notices of a crowd in another namespace: `cargo bench --bench quiet`. A thousand saves, ingests or searches are
//! in flight all the time, each shed one tried again when it was told to; meanwhile one caller searches and saves, one after the other.
//! Everything is real: nats-server, the door, the model (`deploy/fetch-model`). Times depend on the machine; the ratio is what counts.

#[path = "../support/mod.rs"]
mod support;

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use memlog::{
    client::{CallError, Client},
    door::connect,
    embed::{Encoder, ModelFolder},
};
use memlog_actors::{
    api::{Context, Verb, profile},
    extract::Local,
    limits::Limits,
    port::Embedder,
};
use support::{
    Nats,
    served::{Memlog, Wall},
};
use tokio::task::JoinSet;

/// Calls of the crowd in flight.
const CROWD: usize = 1_000;
/// Profiles of the crowd.
const PROFILES: usize = 10;
/// What the quiet profile holds, and each of the crowd's to begin with.
const MEMORIES: usize = 200;
/// Calls of the quiet profile that are measured, of each kind.
const ROUNDS: usize = 200;

#[derive(Clone, Copy, Debug)]
enum Flood {
    None,
    Saves,
    Ingests,
    Searches,
}

fn main() -> anyhow::Result<()> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(measured())
}

async fn measured() -> anyhow::Result<()> {
    let Some(nats) = Nats::start().await else { return Ok(()) };
    let model = ModelFolder::find(None).ok().map(|folder| Encoder::load(&folder)).transpose()?;
    println!("model: {}", model.as_ref().map_or("none, searches are by words", |model| model.name()));
    let embedder = model.map(|model| Arc::new(model) as Arc<dyn Embedder>);
    let data = tempfile::tempdir()?;
    let options = connect::Options::url(nats.url());
    let memlog =
        Memlog::open_timed(data.path(), options, Limits::default(), embedder, Arc::new(Local), Arc::new(Wall)).await;
    for number in 0..MEMORIES {
        for profile in 0..PROFILES {
            call(&memlog.client, "loud", save(&format!("p{profile}"), number)).await?;
        }
        call(&memlog.client, "quiet", save("q", number)).await?;
    }
    println!(
        "{:>10} {:>8} {:>9} {:>9} {:>9} {:>11} {:>10} {:>10}",
        "flood", "call", "p50 ms", "p99 ms", "p50 ratio", "p99 ratio", "crowd/s", "shed/s"
    );
    let mut alone = None;
    for flood in [Flood::None, Flood::Saves, Flood::Ingests, Flood::Searches] {
        let found = under(&memlog, flood).await?;
        let base = *alone.get_or_insert(found.times);
        for (place, name) in ["search", "save"].into_iter().enumerate() {
            let ([p50, p99], [base50, base99]) = (found.times[place], base[place]);
            println!(
                "{:>10} {name:>8} {p50:>9.2} {p99:>9.2} {:>9.1} {:>11.1} {:>10.0} {:>10.0}",
                format!("{flood:?}"),
                p50 / base50,
                p99 / base99,
                found.done,
                found.shed
            );
        }
    }
    memlog.close().await;
    Ok(())
}

struct Found {
    /// Median and 99th percentile in milliseconds, of searches and of saves.
    times: [[f64; 2]; 2],
    /// Of the crowd, a second.
    done: f64,
    shed: f64,
}

async fn under(memlog: &Memlog, flood: Flood) -> anyhow::Result<Found> {
    let over = Arc::new(AtomicBool::new(false));
    let (done, shed) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let mut crowd = JoinSet::new();
    for member in 0..CROWD {
        let (client, over, done, shed) = (memlog.client.clone(), over.clone(), done.clone(), shed.clone());
        crowd.spawn(async move {
            let mut number = member;
            while !over.load(Ordering::Relaxed) {
                number += CROWD;
                let profile = format!("p{}", number % PROFILES);
                let told = match flood {
                    Flood::None => return,
                    Flood::Saves => call(&client, "loud", save(&profile, number)).await.map(drop),
                    Flood::Ingests => call(&client, "loud", ingest(&profile, number)).await.map(drop),
                    Flood::Searches => call(&client, "loud", search(&profile, number)).await.map(drop),
                };
                match told {
                    Ok(()) => drop(done.fetch_add(1, Ordering::Relaxed)),
                    Err(CallError::Refused(error)) if error.fields.contains_key("retry_after_ms") => {
                        shed.fetch_add(1, Ordering::Relaxed);
                        let pause = error.fields["retry_after_ms"].as_u64().unwrap_or(100);
                        let mut again = tokio::time::interval(Duration::from_millis(pause));
                        // The first tick is at once.
                        again.tick().await;
                        again.tick().await;
                    }
                    Err(error) => panic!("{error}"),
                }
            }
        });
    }
    while !matches!(flood, Flood::None) && done.load(Ordering::Relaxed) < CROWD as u64 / 2 {
        tokio::task::yield_now().await;
    }
    let (begin, before) = (Instant::now(), [done.load(Ordering::Relaxed), shed.load(Ordering::Relaxed)]);
    let mut times = [Vec::new(), Vec::new()];
    for number in 0..ROUNDS {
        let asked = Instant::now();
        call(&memlog.client, "quiet", search("q", number)).await?;
        times[0].push(asked.elapsed().as_secs_f64() * 1e3);
        let told = Instant::now();
        call(&memlog.client, "quiet", save("q", MEMORIES + number)).await?;
        times[1].push(told.elapsed().as_secs_f64() * 1e3);
    }
    let seconds = begin.elapsed().as_secs_f64();
    let rate = |count: &AtomicU64, before: u64| (count.load(Ordering::Relaxed) - before) as f64 / seconds;
    let (done, shed) = (rate(&done, before[0]), rate(&shed, before[1]));
    over.store(true, Ordering::Relaxed);
    while crowd.join_next().await.is_some() {}
    let times = times.map(|mut times| {
        times.sort_by(f64::total_cmp);
        [times[times.len() / 2], times[times.len() * 99 / 100]]
    });
    Ok(Found { times, done, shed })
}

async fn call<V: Verb>(client: &Client, namespace: &str, request: V) -> Result<V::Reply, CallError> {
    let context = Context { namespace: namespace.to_owned(), ..Context::default() };
    client.call(&context, &request).await.map(|answer| answer.reply)
}

fn save(profile: &str, number: usize) -> profile::Remember {
    let content = format!("Box number {number} stands on shelf {} of the cellar, behind the door.", number % 7);
    profile::Remember { profile: profile.to_owned(), content, dedupe: Some(false), ..profile::Remember::default() }
}

fn ingest(profile: &str, number: usize) -> profile::Ingest {
    let content = format!("On day {number} I carried the boxes from the cellar to the yard.");
    let message = profile::Message { role: "user".to_owned(), content, ..profile::Message::default() };
    profile::Ingest { profile: profile.to_owned(), messages: vec![message], ..profile::Ingest::default() }
}

fn search(profile: &str, number: usize) -> profile::Search {
    let query = format!("on which shelf is box {number}");
    profile::Search { profile: profile.to_owned(), query, ..profile::Search::default() }
}
