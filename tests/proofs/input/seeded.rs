//! The bodies of the fuzz targets, without a fuzzer: each gets as many mutations of its seeds as a few seconds hold, the same ones
//! every time. `MEMLOG_FUZZ_SEED` mutates in another way, and `MEMLOG_FUZZ_RUNS` as often as it says.

use std::{fs, path::Path};

use fastrand::Rng;

use super::requests;

#[path = "../../fuzz/bodies/mod.rs"]
mod bodies;

/// Chosen once; another one may find something else, the same one finds the same.
const SEED: u64 = 20_260_504;
const INPUT_BYTES_MAX: usize = 16_384;

/// What readers trip over.
const WORDS: [&[u8]; 40] = [
    b"null",
    b"true",
    b"[]",
    b"{}",
    b"\"\"",
    b"-1",
    b"0",
    b"1.5",
    b"1e400",
    b"-0",
    b"18446744073709551616",
    b"9223372036854775808",
    b"\"\\u0000\"",
    b"\"\\ud800\"",
    b"\"\\udc00\\ud800\"",
    b"\xff",
    b"\xed\xa0\x80",
    b"\xc0\x80",
    b"\"$not\"",
    b"{\"$array_contains\":1}",
    b"{\"$array_contains_any\":[1]}",
    b"\"$\"",
    b"\"profile\"",
    b"\"messages\"",
    b"\"content\"",
    b"\"as_of\"",
    b"\"metadata\"",
    b"\"role\":\"user\"",
    b"\"session_1\"",
    b"\"session_01\"",
    b"_date_time",
    b"1:56 pm on 8 May, 9999",
    b"\"9999-12-31T23:59:59Z\"",
    b"\"-009999-01-01\"",
    b"\"2026-05-04T09:00:00+25:59\"",
    b"\xe2\x80\x8b",
    b"\xef\xbb\xbf",
    b"\xe2\x80\xae",
    b"\r\n",
    b"\n",
];

fn number(variable: &str, usual: u64) -> u64 {
    std::env::var(variable).map_or(usual, |value| value.parse().expect("a number"))
}

fn run(target: &str, runs: u64) {
    let (_, body) = bodies::BODIES.iter().find(|(name, _)| *name == target).expect("a body of this name");
    let (seed, runs) = (number("MEMLOG_FUZZ_SEED", SEED), number("MEMLOG_FUZZ_RUNS", runs));
    println!("{target}: MEMLOG_FUZZ_SEED={seed} MEMLOG_FUZZ_RUNS={runs}");
    let seeds = seeds(target);
    assert!(!seeds.is_empty(), "{target} has nothing to begin with");
    seeds.iter().for_each(|input| body(input));
    let mut rng = Rng::with_seed(seed);
    for at in 0..runs {
        let input = mutated(&seeds, &mut rng);
        let held = std::panic::catch_unwind(|| body(&input));
        assert!(held.is_ok(), "{target}, mutation {at} of seed {seed}: {}", input.escape_ascii());
    }
}

/// What the targets of `deploy/fuzz` begin with, too.
fn seeds(target: &str) -> Vec<Vec<u8>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut seeds = files(&root.join("tests/fuzz/seeds").join(target));
    match target {
        "event" => seeds.extend(files(&root.join("events/tests/golden"))),
        "request" => seeds.extend(requests::TEXT.lines().map(|line| {
            let parts: Vec<_> = line.splitn(3, ' ').collect();
            format!("{}\n{}", parts[0], parts[2]).into_bytes()
        })),
        _ => {}
    }
    seeds
}

/// In the order of their names, or another machine would mutate in another way.
fn files(folder: &Path) -> Vec<Vec<u8>> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("a readable folder").path()).collect();
    paths.sort();
    paths.iter().map(|path| fs::read(path).expect("a readable file")).collect()
}

fn mutated(seeds: &[Vec<u8>], rng: &mut Rng) -> Vec<u8> {
    let one = |rng: &mut Rng| &seeds[rng.usize(..seeds.len())];
    let mut input = one(rng).clone();
    for _ in 0..rng.usize(1..=5) {
        let at = rng.usize(..=input.len());
        let end = at + rng.usize(..=(input.len() - at).min(64));
        let word = WORDS[rng.usize(..WORDS.len())];
        match rng.u8(..9) {
            0 if at < input.len() => input[at] ^= 1 << rng.u8(..8),
            1 if at < input.len() => input[at] = rng.u8(..),
            2 => drop(input.splice(at..at, word.iter().copied())),
            3 => drop(input.drain(at..end)),
            4 => input.truncate(at),
            5 => {
                let again = input[at..end].repeat(rng.usize(1..200));
                input.splice(end..end, again);
            }
            6 => {
                let other = one(rng);
                let from = rng.usize(..=other.len());
                input.truncate(at);
                input.extend_from_slice(&other[from..]);
            }
            _ => value(&mut input, at, word),
        }
        input.truncate(INPUT_BYTES_MAX);
    }
    input
}

/// Puts a word in the place of the next value of an object.
fn value(input: &mut Vec<u8>, from: usize, word: &[u8]) {
    let colon = |part: &[u8]| part.iter().position(|byte| *byte == b':');
    let Some(start) = colon(&input[from..]).map(|at| from + at + 1).or_else(|| Some(colon(input)? + 1)) else { return };
    let length = input[start..].iter().position(|byte| b",}]".contains(byte)).unwrap_or(input.len() - start);
    input.splice(start..start + length, word.iter().copied());
}

/// Whatever lies on the disk is an event or it is refused.
#[test]
fn stored_events() {
    run("envelope", 60_000);
    run("event", 40_000);
}

/// Whatever comes to a verb is understood or it is refused by its field.
#[test]
fn requests_of_every_verb() {
    run("request", 60_000);
}

/// Whatever is taken as a filter keeps the laws of the language.
#[test]
fn metadata_filters() {
    run("filter", 60_000);
}

/// Whatever is read from a file can be stored.
#[test]
fn files_of_conversations() {
    run("jsonl", 40_000);
    run("locomo", 30_000);
}

/// Two runs that differ would find a fault once and never again.
#[test]
fn mutations_are_the_same_every_time() {
    let seeds = seeds("request");
    let twice = [SEED, SEED, SEED + 1].map(|seed| {
        let mut rng = Rng::with_seed(seed);
        (0..50).map(|_| mutated(&seeds, &mut rng)).collect::<Vec<_>>()
    });
    assert!(twice[0] == twice[1] && twice[1] != twice[2]);
}
