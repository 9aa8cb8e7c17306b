//! Reading events back: a replay of the log against a scan of redb that looks at nothing, and the first search of a profile that
//! nobody has asked since the start. The files are in the system's cache, as they are where a server was restarted.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use memlog_actors::{
    api::profile::Search,
    bench::{Clusters, PROFILE, Times, context, filled, options, query, rate},
    system::System,
};
use memlog_events::{
    bench::Stream,
    ids::Position,
    log::{Log, Options, Sealed, open},
};
use tokio::task::spawn_blocking;

use super::{
    Bench,
    plot::Chart,
    report::{A_SECOND, Figure, Part, Reach},
    unmeasured,
};
use crate::cli::fail::Fail;

/// Events a second that are read and decoded, with nothing made of them.
const REPLAY_MIN: f64 = 500_000.0;
/// Records of a cold profile, and the milliseconds in which its first search should be answered.
const WAKING: (usize, f64) = (10_000, 50.0);
/// How long a stopped system may take to let go of its folder, and how often one looks.
const RELEASE_MAX: Duration = Duration::from_secs(30);
const RELEASE_LOOK_EVERY: Duration = Duration::from_millis(5);
/// Streams that the events are in, and events a commit.
const STREAMS: usize = 100;
const PER_COMMIT: usize = 1_000;

pub(super) async fn measure(bench: &Bench) -> Result<Part, Fail> {
    bench.note(&format!("replay of {} events", bench.scale.events));
    let (folder, events, rounds) = (bench.temporary()?, bench.scale.events, bench.scale.rounds);
    let path = folder.path().to_owned();
    let mut figures = spawn_blocking(move || replayed(&path, events, rounds)).await.map_err(unmeasured)??;
    let mut chart = Chart::new("replay", "the first search of a cold profile, median", "records", "ms");
    for size in &bench.scale.cold {
        bench.note(&format!("waking a profile of {size} records"));
        let (waking, scan) = woken(bench, *size).await?;
        let figure = Figure::times("the first search of a cold profile", *size, &waking)
            .beside("a scan of its rows", scan.p50());
        let reach = Reach::AtMost(WAKING.1);
        figures.push(if *size == WAKING.0 { figure.reaching(reach) } else { figure });
        chart.add("memlog", false, *size as f64, waking.p50());
        chart.add("a scan of its rows", true, *size as f64, scan.p50());
    }
    let about = "events read back, and the first search after a start; files in the system's cache".to_owned();
    Ok(Part { name: "replay", about, counts: "events, records", figures, took_s: 0.0, charts: vec![chart] })
}

fn replayed(folder: &Path, events: usize, rounds: usize) -> Result<Vec<Figure>, Fail> {
    let log = Log::open(Options::new(folder)).map_err(unmeasured)?;
    let mut streams = Vec::new();
    for n in 0..STREAMS {
        streams.push(Stream::new(&log, n).map_err(unmeasured)?);
    }
    for commit in 0..events.div_ceil(PER_COMMIT) {
        let many = PER_COMMIT.min(events - commit * PER_COMMIT);
        let batch = streams[commit % STREAMS].batch(&log, many, false).map_err(unmeasured)?;
        log.append(batch).map_err(unmeasured)?;
    }
    let mut rates: [Vec<f64>; 4] = Default::default();
    for _ in 0..rounds {
        let round: [&dyn Fn() -> Result<usize, Fail>; 4] = [
            &|| Ok(log.scan_bare().map_err(unmeasured)?.rows as usize),
            &|| by_stream(&log, &streams, false),
            &|| by_stream(&log, &streams, true),
            &|| by_position(&log),
        ];
        for (rates, one) in rates.iter_mut().zip(round) {
            let began = Instant::now();
            let read = one()?;
            if read != events {
                return Err(unmeasured(format!("{read} of {events} events were read")));
            }
            rates.push(read as f64 / began.elapsed().as_secs_f64());
        }
    }
    let [scan, facts, contents, tail] = rates.map(|rates| rate(&rates));
    let limit = "a scan of redb";
    Ok(vec![
        Figure::new(limit, events, A_SECOND, scan),
        Figure::new("replay by stream, facts", events, A_SECOND, facts)
            .beside(limit, scan)
            .reaching(Reach::AtLeast(REPLAY_MIN)),
        Figure::new("the same with every content opened", events, A_SECOND, contents).beside(limit, scan),
        Figure::new("replay by position, facts", events, A_SECOND, tail).beside(limit, scan),
    ])
}

fn by_stream(log: &Log, streams: &[Stream], contents: bool) -> Result<usize, Fail> {
    let mut read = 0;
    for Stream { key, .. } in streams {
        for event in log.scope(key.partition, key.scope) {
            let event = event.map_err(unmeasured)?;
            if contents && !matches!(log.open_content(&event).map_err(unmeasured)?, Sealed::Open(_)) {
                return Err(unmeasured("a content that was written could not be opened"));
            }
            read += 1;
        }
    }
    Ok(read)
}

fn by_position(log: &Log) -> Result<usize, Fail> {
    let (mut at, mut read) = (Position(0), 0);
    loop {
        let page = log.tail(at, PER_COMMIT).map_err(unmeasured)?;
        let Some(last) = page.last() else { return Ok(read) };
        at = last.head.position;
        read += page.len();
    }
}

/// The first search after each of several starts, and in between a scan of the same rows.
async fn woken(bench: &Bench, size: usize) -> Result<(Times, Times), Fail> {
    let folder = bench.temporary()?;
    let (system, _) = filled(folder.path(), size).await.map_err(unmeasured)?;
    system.stop().await;
    drop(system);
    let (mut wakings, mut scans) = (Vec::new(), Vec::new());
    for run in 0..bench.scale.wakings {
        let log = released(folder.path()).await?;
        scans.push(spawn_blocking(move || scanned(&log)).await.map_err(unmeasured)??);
        let system = System::start(options(folder.path(), Some(std::sync::Arc::new(Clusters::new(1))))).await?;
        let request = Search { profile: PROFILE.to_owned(), query: query(run), ..Search::default() };
        let began = Instant::now();
        let found = system.profile_search(&context(), request).await?.reply;
        wakings.push(began.elapsed());
        system.stop().await;
        if found.memories.is_empty() || found.mode != "hybrid" {
            return Err(unmeasured("a profile that was just woken found nothing"));
        }
    }
    Ok((Times::new(wakings), Times::new(scans)))
}

/// The log of a system that was stopped, whose views may be letting go of it still.
async fn released(folder: &Path) -> Result<Log, Fail> {
    let late = Instant::now() + RELEASE_MAX;
    loop {
        let path = folder.to_owned();
        match spawn_blocking(move || Log::open(Options::new(&path))).await.map_err(unmeasured)? {
            Err(open::Error::InUse(_)) if Instant::now() < late => tokio::time::sleep(RELEASE_LOOK_EVERY).await,
            opened => return opened.map_err(unmeasured),
        }
    }
}

/// Of the profile that has records: there is no other.
fn scanned(log: &Log) -> Result<Duration, Fail> {
    let page = log.tail(Position(0), 1).map_err(unmeasured)?;
    let key = page.first().ok_or_else(|| unmeasured("the profile is empty"))?.head.key;
    let began = Instant::now();
    std::hint::black_box(log.scan_scope_bare(key.partition, key.scope).map_err(unmeasured)?);
    Ok(began.elapsed())
}
