//! Acknowledged saves a second, by how many wait for their answers at once: redb alone, the log, and the whole of `profile.remember`.
//!
//! redb alone commits as many events at once as wait: that is the group commit that the log can do no better than. Everywhere each
//! save is an event of its own with the row of its idempotency key, and they go to many profiles in turn.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    time::{Duration, Instant},
};

use memlog_actors::{
    api::{Context, Idempotency, profile::Remember},
    bench::{Random, context, options, rate},
    port::RecordType,
    system::System,
};
use memlog_events::{
    bench::{EVENT_BYTES, Stream},
    log::{
        Log, Options,
        bare::{Bare, Tables},
    },
};
use tokio::task::{JoinSet, spawn_blocking};

use super::{
    Bench,
    plot::Chart,
    report::{A_SECOND, Figure, Part, Reach},
    unmeasured,
};
use crate::cli::fail::Fail;

/// Words of a statement: an event of it, which has its summary as well, is about as long as those that redb alone is given.
const WORDS: usize = 16;
/// The whole of a save but for what makes sense of it: its type is given, and nobody asks whether it is known.
const TOLD: &str = "profile.remember, type given, kept twice";
/// With the search for what says the same, and the type and summary found.
const REMEMBER: &str = "profile.remember";
/// How much slower than the group commit it rests on a save may be.
const TIMES_MAX: f64 = 2.0;
/// In flight where that counts: a busy server, and still 128 waiting clients.
const JUDGED_AT: usize = 128;

/// All contestants, on folders of their own.
struct Contest {
    alone: Bare,
    all_tables: Bare,
    log: Log,
    streams: Vec<Stream>,
    system: System,
    saved: Arc<AtomicUsize>,
    profiles: usize,
}

pub(super) async fn measure(bench: &Bench) -> Result<Part, Fail> {
    let folder = bench.temporary()?;
    let mut contest = Contest::new(folder.path(), bench.scale.profiles).await?;
    let mut figures = Vec::new();
    let mut chart = Chart::new("saves", "acknowledged saves a second", "in flight", "a second");
    for at in &bench.scale.in_flight {
        bench.note(&format!("saves, {at} in flight"));
        let mut rounds: [Vec<f64>; 5] = Default::default();
        for _ in 0..bench.scale.rounds {
            let (back, rates) = contest.round(*at, bench.scale.turn).await?;
            contest = back;
            for (all, rate) in rounds.iter_mut().zip(rates) {
                all.push(rate);
            }
        }
        let [alone, all_tables, log, told, remember] = rounds.map(|rounds| rate(&rounds));
        let judged = |figure: Figure| {
            if *at == JUDGED_AT { figure.reaching(Reach::Within(TIMES_MAX)) } else { figure }
        };
        let (one, all) = ("redb, one table", "redb, all tables");
        figures.extend([
            Figure::new(one, *at, A_SECOND, alone),
            Figure::new(all, *at, A_SECOND, all_tables).beside(one, alone),
            judged(Figure::new("the log", *at, A_SECOND, log).beside(all, all_tables)),
            judged(Figure::new(TOLD, *at, A_SECOND, told).beside(all, all_tables)),
            judged(Figure::new(REMEMBER, *at, A_SECOND, remember).beside(all, all_tables)),
        ]);
        let limits = [(one, alone), (all, all_tables)].map(|(name, rate)| (name, true, rate));
        let ours = [("the log", log), (TOLD, told), (REMEMBER, remember)].map(|(name, rate)| (name, false, rate));
        for (name, is_limit, rate) in limits.into_iter().chain(ours) {
            chart.add(name, is_limit, *at as f64, rate);
        }
    }
    contest.system.stop().await;
    let about = format!(
        "durable saves a second over {} profiles; redb commits as many at once as are in flight",
        bench.scale.profiles
    );
    Ok(Part { name: "saves", about, counts: "in flight", figures, took_s: 0.0, charts: vec![chart] })
}

impl Contest {
    async fn new(folder: &Path, profiles: usize) -> Result<Self, Fail> {
        let part = |name: &str| {
            let path = folder.join(name);
            std::fs::create_dir(&path).map_err(Fail::file(path.as_path())).map(|()| path)
        };
        let bare = |path: &Path, tables| Bare::create(path, tables, profiles, EVENT_BYTES).map_err(unmeasured);
        let log = Log::open(Options::new(part("log")?)).map_err(unmeasured)?;
        let streams = (0..profiles).map(|n| Stream::new(&log, n).map_err(unmeasured)).collect::<Result<_, _>>()?;
        let contest = Self {
            alone: bare(&part("alone")?, Tables::Events)?,
            all_tables: bare(&part("all")?, Tables::All)?,
            log,
            streams,
            // Without a model: what it takes is its own, and it lags behind a save.
            system: System::start(options(&part("system")?, None)).await?,
            saved: Arc::default(),
            profiles,
        };
        // Every profile is there and awake before anything is timed.
        let all = (0..profiles).map(|at| Remember { profile: format!("p{at}"), ..memory(at) });
        memlog_actors::bench::abreast(&contest.system, all).await?;
        Ok(contest)
    }

    /// One turn each. Takes itself along, since the first three hold up the thread they run on.
    async fn round(mut self, at: usize, turn: Duration) -> Result<(Self, [f64; 5]), Fail> {
        let blocking = move || {
            let alone = bare_turn(&mut self.alone, at, turn)?;
            let all_tables = bare_turn(&mut self.all_tables, at, turn)?;
            let log = log_turn(&self.log, &mut self.streams, at, turn)?;
            Ok::<_, Fail>((self, [alone, all_tables, log]))
        };
        let (back, [alone, all_tables, log]) = spawn_blocking(blocking).await.map_err(unmeasured)??;
        let told = |save: Remember| Remember { dedupe: Some(false), record_type: Some(RecordType::Fact), ..save };
        let told = back.remember_turn(at, turn, told).await?;
        let remember = back.remember_turn(at, turn, |save| save).await?;
        Ok((back, [alone, all_tables, log, told, remember]))
    }

    /// So many clients, each with one save at a time.
    async fn remember_turn(&self, at: usize, turn: Duration, how: fn(Remember) -> Remember) -> Result<f64, Fail> {
        let (before, began) = (self.saved.load(Ordering::Relaxed), Instant::now());
        let mut clients: JoinSet<Result<(), Fail>> = JoinSet::new();
        for _ in 0..at {
            let (system, saved, profiles) = (self.system.clone(), Arc::clone(&self.saved), self.profiles);
            clients.spawn(async move {
                // A busy machine may have used up the turn before the first one.
                loop {
                    let number = saved.fetch_add(1, Ordering::Relaxed);
                    // A step that meets every profile before it meets one again.
                    let request = Remember { profile: format!("p{}", number % profiles), ..memory(profiles + number) };
                    system.profile_remember(&once(number), how(request)).await?;
                    if began.elapsed() >= turn {
                        return Ok(());
                    }
                }
            });
        }
        while let Some(client) = clients.join_next().await {
            client.map_err(unmeasured)??;
        }
        Ok((self.saved.load(Ordering::Relaxed) - before) as f64 / began.elapsed().as_secs_f64())
    }
}

/// A command with a key of its own.
fn once(number: usize) -> Context {
    let idempotency = Idempotency { key: format!("save-{number}"), request: number.to_le_bytes().to_vec() };
    Context { idempotency: Some(idempotency), ..context() }
}

/// What nobody has said before.
fn memory(number: usize) -> Remember {
    let mut random = Random::new(3 + number as u64);
    random.below(2);
    Remember { content: format!("{} {number}", random.text(WORDS)), ..Remember::default() }
}

fn bare_turn(bare: &mut Bare, at: usize, turn: Duration) -> Result<f64, Fail> {
    let (before, began) = (bare.written(), Instant::now());
    loop {
        bare.commit(at).map_err(unmeasured)?;
        if began.elapsed() >= turn {
            break;
        }
    }
    Ok((bare.written() - before) as f64 / began.elapsed().as_secs_f64())
}

/// One thread that keeps so many batches of one event waiting.
fn log_turn(log: &Log, streams: &mut [Stream], at: usize, turn: Duration) -> Result<f64, Fail> {
    let (tell, told) = mpsc::sync_channel(at);
    let (mut sent, mut answered, began) = (0, 0, Instant::now());
    loop {
        let goes_on = sent == 0 || began.elapsed() < turn;
        if goes_on && sent - answered < at {
            let stream = sent % streams.len();
            let batch = streams[stream].batch(log, 1, true).map_err(unmeasured)?;
            let tell = tell.clone();
            log.submit(batch, Box::new(move |answer| drop(tell.send(answer))))
                .map_err(|_| unmeasured("the queue is full"))?;
            sent += 1;
        } else if answered == sent {
            break;
        } else {
            told.recv().map_err(unmeasured)?.map_err(unmeasured)?;
            answered += 1;
        }
    }
    Ok(answered as f64 / began.elapsed().as_secs_f64())
}
