//! What the log does in a second: appends by the number of events a commit carries, and replays of them.
//!
//! `cargo bench -p memlog-events`. The disk decides the small commits and the processor the large ones, so trust
//! ratios.

use std::{sync::mpsc, time::Instant};

use memlog_events::{
    batch::{Batch, Draft},
    code::{RoleCode, StreamKind},
    event::{ByV1, Content, Facts, MessageAppendedContentV2, MessageAppendedV2},
    ids::*,
    log::{Log, Options, Sealed},
};
use uuid::Uuid;

const TEXT: &str =
    "I moved to the house by the river last spring, and the dog still thinks that the old street is home. ";

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
    let streams: Vec<_> = (0..writers).map(|n| stream(&log, n)).collect();
    let begun = Instant::now();
    for round in 0..rounds {
        for (key, keys) in &streams {
            let tell = tell.clone();
            let done = Box::new(move |answer| tell.send(answer).expect("somebody waits"));
            log.submit(batch(&log, *key, *keys, round, 1), done).expect("room");
        }
        for _ in 0..writers {
            told.recv().expect("an answer").expect("appended");
        }
    }
    let rate = f64::from(writers) * rounds as f64 / begun.elapsed().as_secs_f64();
    let commits = log.stats().expect("figures").commits;
    println!("{writers} writers, one event each: {rate:.0} appends/s in {commits} commits");
}

type Stream = (StreamKey, KeyPath);

fn append(log: &Log, per_commit: usize, commits: u64) -> (f64, Vec<Stream>) {
    let streams: Vec<_> = (0..10).map(|n| stream(log, n)).collect();
    let begun = Instant::now();
    for commit in 0..commits {
        let (key, keys) = streams[(commit % 10) as usize];
        let expected = commit / 10 * per_commit as u64;
        log.append(batch(log, key, keys, expected, per_commit)).expect("appended");
    }
    (commits as f64 * per_commit as f64 / begun.elapsed().as_secs_f64(), streams)
}

fn replay(log: &Log, streams: &[Stream], with_content: bool) -> f64 {
    let begun = Instant::now();
    let mut events = 0;
    for (key, _) in streams {
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

fn stream(log: &Log, n: u16) -> Stream {
    let slots = log.reserve(2).expect("slots");
    let (scope, stream) = (Scope(fresh()), StreamId(fresh()));
    let key = StreamKey { partition: Partition(n % PARTITIONS), scope, stream };
    (key, KeyPath { scope: slots[0], stream: slots[1], subject: Slot::NONE })
}

fn batch(log: &Log, key: StreamKey, keys: KeyPath, expected: u64, events: usize) -> Batch {
    let slots = log.reserve(events).expect("slots");
    Batch {
        key,
        kind: StreamKind::THREAD,
        expected: Version(expected),
        events: slots.into_iter().map(|slot| message(keys, slot)).collect(),
        claims: Vec::new(),
        listed: Vec::new(),
        idempotency: None,
    }
}

fn message(keys: KeyPath, slot: Slot) -> Draft {
    let facts = MessageAppendedV2 {
        message: MessageId(fresh()),
        slot,
        ordinal: 0,
        role: RoleCode::USER,
        digest: Digest([1; 32]),
        id_digest: None,
        speaker: None,
        timestamp: None,
        offset_seconds: 0,
        expires_at: None,
    };
    let content = MessageAppendedContentV2 {
        text: TEXT.repeat(3),
        parts: Vec::new(),
        given_id: None,
        custom_role: None,
        metadata: "{}".to_owned(),
        by: ByV1::default(),
    };
    Draft {
        id: EventId(fresh()),
        time: Micros(0),
        facts: Facts::MessageAppended(facts),
        content: Some((Content::MessageAppended(content), KeyPath { subject: slot, ..keys })),
    }
}

fn fresh() -> Uuid {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(1);
    Uuid::from_u128(u128::from(NEXT.fetch_add(1, Ordering::Relaxed)) << 64)
}
