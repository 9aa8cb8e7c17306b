//! What the log does in a second: appends by the number of events a commit carries, and replays of them.
//!
//! `cargo bench -p memlog-events`. The disk decides the small commits and the processor the large ones, so trust
//! ratios. `memlog bench saves replay` puts redb alone beside it.

use std::{sync::mpsc, time::Instant};

use memlog_events::{
    bench::Stream,
    log::{Log, Options, Sealed},
};

fn main() {
    println!(
        "{:>14} {:>14} {:>14} {:>16} {:>16}",
        "events/commit", "commits", "appends/s", "replay facts/s", "with content/s"
    );
    for (per_commit, commits) in [(1, 1_000), (10, 500), (100, 200), (1_000, 50)] {
        let dir = tempfile::tempdir().expect("a folder");
        let log = Log::open(Options::new(dir.path())).expect("a log");
        let (appends, streams) = append(&log, per_commit, commits);
        let facts = replay(&log, &streams, false);
        let contents = replay(&log, &streams, true);
        println!("{per_commit:>14} {commits:>14} {appends:>14.0} {facts:>16.0} {contents:>16.0}");
    }
    together();
}

/// Many writers of one event each: what the group commit makes of them.
fn together() {
    let dir = tempfile::tempdir().expect("a folder");
    let log = Log::open(Options::new(dir.path())).expect("a log");
    let (tell, told) = mpsc::sync_channel(4_096);
    let (writers, rounds) = (200, 50);
    let mut streams = streams(&log, writers);
    let begun = Instant::now();
    for _ in 0..rounds {
        for stream in &mut streams {
            let tell = tell.clone();
            let done = Box::new(move |answer| tell.send(answer).expect("somebody waits"));
            log.submit(stream.batch(&log, 1, false).expect("slots"), done).expect("room");
        }
        for _ in 0..writers {
            told.recv().expect("an answer").expect("appended");
        }
    }
    let rate = (writers * rounds) as f64 / begun.elapsed().as_secs_f64();
    let commits = log.stats().expect("figures").commits;
    println!("{writers} writers, one event each: {rate:.0} appends/s in {commits} commits");
}

fn streams(log: &Log, count: usize) -> Vec<Stream> {
    (0..count).map(|n| Stream::new(log, n).expect("slots")).collect()
}

fn append(log: &Log, per_commit: usize, commits: usize) -> (f64, Vec<Stream>) {
    let mut streams = streams(log, 10);
    let begun = Instant::now();
    for commit in 0..commits {
        let batch = streams[commit % 10].batch(log, per_commit, false).expect("slots");
        log.append(batch).expect("appended");
    }
    ((commits * per_commit) as f64 / begun.elapsed().as_secs_f64(), streams)
}

fn replay(log: &Log, streams: &[Stream], with_content: bool) -> f64 {
    let begun = Instant::now();
    let mut events = 0;
    for Stream { key, .. } in streams {
        for event in log.scope(key.partition, key.scope) {
            let event = event.expect("readable");
            if with_content {
                let content = log.open_content(&event).expect("readable");
                assert!(matches!(content, Sealed::Open(_)));
            }
            events += 1;
        }
    }
    f64::from(events) / begun.elapsed().as_secs_f64()
}
