//! What happened, in words that are the same whenever it happens again: ids, which are random, are left out.

use std::{collections::BTreeMap, fmt};

use memlog_actors::api::error::Kind;

use super::{
    calls::{Answered, Worked},
    command::{ACCOUNT, Asked, Command, GROUP},
    plan::Call,
};

#[derive(Debug, Default)]
pub(crate) struct Trace {
    pub(crate) lines: Vec<String>,
    /// How often what was done.
    pub(crate) tally: Tally,
}

pub(crate) type Tally = BTreeMap<String, usize>;

/// Lines that are shown of a run that failed.
const TAIL: usize = 160;

impl Trace {
    pub(crate) fn say(&mut self, line: fmt::Arguments<'_>) {
        self.lines.push(line.to_string());
    }

    pub(crate) fn count(&mut self, what: &str) {
        *self.tally.entry(what.to_owned()).or_default() += 1;
    }

    /// A call of which it was heard that it is done.
    pub(crate) fn count_call(&mut self, call: &Call, answered: Option<&Answered>) {
        match (call, answered) {
            (Call::Client(_), Some(Answered::Client(Ok((_, true))))) => self.count("a repeat"),
            (Call::Client(asked), Some(Answered::Client(Ok(_)))) => {
                self.count(asked.command.name());
                match asked.command {
                    Command::Save { login, .. } if login != ACCOUNT => self.count("a user's entry"),
                    Command::Post { to: Some(GROUP), .. } => self.count("a group's note"),
                    _ => {}
                }
            }
            (Call::Client(_), Some(Answered::Client(Err(error)))) if error.kind == Kind::CriticalUnread => {
                self.count("a closed gate");
            }
            (Call::Client(_), Some(Answered::Client(Err(error)))) if error.kind == Kind::Locked => {
                self.count("an open editor");
            }
            (Call::Worker { how, .. }, Some(Answered::Worker(Worked::Did(_) | Worked::Holds(..)))) => {
                self.count(&format!("a worker, {how:?}"));
            }
            (Call::Late(_), Some(Answered::Worker(Worked::Did(_)))) => self.count("a late result"),
            _ => {}
        }
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
        Call::Client(Asked { command, key, session }) => format!("{command:?} key {key:?} session {session:?}"),
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
