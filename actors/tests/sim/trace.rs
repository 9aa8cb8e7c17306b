//! What happened, in words that are the same whenever it happens again: ids, which are random, are left out.

use std::fmt;

use super::{
    calls::{Answered, Worked},
    plan::Call,
};

#[derive(Debug, PartialEq)]
pub(crate) struct Trace {
    pub(crate) seed: u64,
    pub(crate) lines: Vec<String>,
}

/// Lines that are shown of a run that failed.
const TAIL: usize = 160;

impl Trace {
    pub(crate) fn new(seed: u64) -> Self {
        Self { seed, lines: Vec::new() }
    }

    pub(crate) fn say(&mut self, line: fmt::Arguments<'_>) {
        self.lines.push(line.to_string());
    }

    /// Of all lines.
    pub(crate) fn hash(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        for line in &self.lines {
            hasher.update(line.as_bytes()).update(b"\n");
        }
        hasher.finalize().to_hex()[..16].to_owned()
    }

    pub(crate) fn tail(&self) -> String {
        self.lines[self.lines.len().saturating_sub(TAIL)..].join("\n")
    }
}

/// A call and what came of it.
pub(crate) fn line(call: &Call, answered: Option<&Answered>) -> String {
    let call = match call {
        Call::Client { command, key } => format!("{command:?} key {key:?}"),
        Call::Worker { how, .. } => format!("a worker, {how:?}"),
        Call::Late(at) => format!("a late result, {at}"),
    };
    let heard = match answered {
        None => "nothing is heard".to_owned(),
        Some(Answered::Client(Ok((_, replayed)))) => format!("done{}", if *replayed { " before" } else { "" }),
        Some(Answered::Client(Err(error))) => format!("{:?}", error.kind),
        Some(Answered::Worker(Worked::Moot)) => "moot".to_owned(),
        Some(Answered::Worker(Worked::Closed(words))) => format!("closed {words:?}"),
        Some(Answered::Worker(Worked::Did(words))) => format!("did {words:?}"),
        Some(Answered::Worker(Worked::Holds(_, _, words))) => format!("holds {words:?}"),
    };
    format!("{call}: {heard}")
}
