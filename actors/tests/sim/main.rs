//! The simulation: the domain, the log, the outbox and the directory on a computer that is simulated too, run from one seed against a
//! plain model.
//!
//! Everything is done on one thread, in an order that the seed decides: the runtime has one thread and a clock that stands, what
//! blocks is done in line, and the log's writer has its turns from here. Ids, which are random, are compared by nothing.
//! `MEMLOG_SIM_SEEDS` says how many seeds are run, `MEMLOG_SIM_SEED` which one alone, `MEMLOG_SIM_STEPS` how long their histories are.
//!
//! To add a command: a line in `command`, how it is sent in `send`, what it does to the plain model in `plain`, and when that is in
//! `plan`; what can be read of it in `look`.

mod calls;
mod command;
mod disk;
mod judge;
mod look;
mod orders;
mod plain;
mod plan;
#[path = "../../../events/src/log/tests/platter.rs"]
mod platter;
mod ports;
mod random;
mod run;
mod send;
mod step;
mod trace;
#[path = "../proofs/world.rs"]
#[allow(dead_code, reason = "shared with the proofs, which use the rest")]
mod world;

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use command::NAMES;
use run::history;
use trace::Tally;

/// What runs it.
const COMMAND: &str = "cargo test -p memlog-actors --test sim every_seed -- --nocapture";
/// What must have happened in an ordinary run, beside every command: else it would prove less than it says.
const HAPPENS: [&str; 18] = [
    "a repeat",
    "asked again",
    "a closed gate",
    "an open editor",
    "a worker, Whole",
    "a worker, Twice",
    "a worker, Hold",
    "a worker, Lost",
    "a worker, Transient",
    "a worker, Lasting",
    "a worker, Malformed",
    "a late result",
    "a power cut",
    "a power cut at a sync",
    "a full disk",
    "a user's entry",
    "a group's note",
    "a notebook's past",
];
/// Seeds of an ordinary run.
const SEEDS: u64 = 200;

/// What the environment says.
fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|given| given.parse().unwrap_or_else(|_| panic!("{name} is no number: {given}")))
}

// Nothing is lost, invented or left lying, whatever dies at whatever moment.
#[test]
fn every_seed_is_explained_by_the_plain_model() {
    if let Some(seed) = number("MEMLOG_SIM_SEED") {
        let trace = history(seed);
        println!("{}\nseed {seed}: trace {}", trace.lines.join("\n"), trace.hash());
        return;
    }
    let (seeds, next, all) = (number("MEMLOG_SIM_SEEDS").unwrap_or(SEEDS), AtomicU64::new(0), Mutex::new(Tally::new()));
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let work = || {
        let mut failed = Vec::new();
        loop {
            let seed = next.fetch_add(1, Ordering::SeqCst);
            if seed >= seeds {
                return failed;
            }
            match catch_unwind(AssertUnwindSafe(|| history(seed))) {
                Ok(trace) => {
                    println!("seed {seed}: trace {}", trace.hash());
                    let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
                    trace.tally.into_iter().for_each(|(what, count)| *all.entry(what).or_default() += count);
                }
                Err(_) => {
                    println!("seed {seed} failed; alone again: MEMLOG_SIM_SEED={seed} {COMMAND}");
                    failed.push(seed);
                }
            }
        }
    };
    let failed: Vec<u64> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("joined")).collect()
    });
    assert!(failed.is_empty(), "seeds {failed:?} failed; one alone: MEMLOG_SIM_SEED={} {COMMAND}", failed[0]);
    let all = all.into_inner().unwrap_or_else(PoisonError::into_inner);
    println!("{all:?}");
    let never: Vec<_> = NAMES.into_iter().chain(HAPPENS).filter(|what| !all.contains_key(*what)).collect();
    assert!(seeds < SEEDS || never.is_empty(), "never done: {never:?}");
}

// A seed that fails is of use only if it fails again.
#[test]
fn one_seed_is_one_history() {
    for seed in [3, 11, 42, 1_000_003] {
        let (first, again) = (history(seed), history(seed));
        let differs = first.lines.iter().zip(&again.lines).position(|(one, other)| one != other);
        assert_eq!(differs.map(|at| (&first.lines[at], &again.lines[at])), None, "seed {seed}");
        assert_eq!((first.hash(), first.lines.len()), (again.hash(), again.lines.len()), "seed {seed}");
    }
}
