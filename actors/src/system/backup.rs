//! Copies of the log for a restore, and the list of what was forgotten since. For who has the data folder, so neither is a verb.

use std::{fmt::Write as _, path::PathBuf};

use memlog_events::{
    code::StreamKind,
    ids::{EventId, Micros, Partition, Position, Scope, StreamId, StreamKey},
    log::{Again, Forgetting, Log},
};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::System;
use crate::api::audit::Head;

/// What a backup holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Copied {
    /// Its head: `verify --expect` proves later that it is this one.
    pub head: Head,
    /// Events.
    pub events: u64,
    /// Bytes of its files.
    pub bytes: u64,
}

/// The first line of a list.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Title {
    /// What follows this head.
    after: Head,
    /// How many lines there are.
    erasures: usize,
}

/// One forgetting.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    seq: u64,
    id: Uuid,
    partition: u16,
    scope: Uuid,
    stream: Uuid,
    stream_kind: u8,
    time_us: i64,
    kind: u16,
    version: u16,
    /// In hex, as the log has them: ids and numbers.
    facts: String,
}

impl System {
    /// Copies log and vault into two folders, which may be the same, while all goes on.
    pub async fn backup(&self, dir: PathBuf, vault: PathBuf) -> Result<Copied, String> {
        let log = self.inner.environment.log.clone();
        blocking(move || copy(&log, &dir, &vault)).await
    }

    /// What was forgotten after a head, as the lines of a list.
    pub async fn erasures(&self, after: Head) -> Result<String, String> {
        let log = self.inner.environment.log.clone();
        blocking(move || list(&log, &after)).await
    }
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T, String> + Send + 'static) -> Result<T, String> {
    let done = crate::blocking::run(work).await;
    done.unwrap_or_else(|_| Err("it failed inside; the log says where".to_owned()))
}

/// Copies a log and its vault. Blocking.
pub fn copy(log: &Log, dir: &std::path::Path, vault: &std::path::Path) -> Result<Copied, String> {
    let copied = log.backup(dir, vault).map_err(|error| error.to_string())?;
    let (position, hash) = copied.head;
    let hash = blake3::Hash::from_bytes(hash).to_hex().to_string();
    Ok(Copied { head: Head { seq: position.0, hash }, events: copied.events, bytes: copied.bytes })
}

/// What was forgotten after a head, as JSON Lines. Blocking.
pub fn list(log: &Log, after: &Head) -> Result<String, String> {
    let found = log.forgettings(head_of(after)?).map_err(|error| error.to_string())?;
    let found = found.ok_or_else(|| format!("the head {}:{} is not in this log", after.seq, after.hash))?;
    let mut lines = written(&Title { after: after.clone(), erasures: found.len() })?;
    for it in &found {
        let mut facts = String::with_capacity(it.facts.len() * 2);
        for byte in &it.facts {
            write!(facts, "{byte:02x}").map_err(|error| error.to_string())?;
        }
        lines += &written(&Line {
            seq: it.position.0,
            id: it.id.0,
            partition: it.key.partition.0,
            scope: it.key.scope.0,
            stream: it.key.stream.0,
            stream_kind: it.stream_kind.0,
            time_us: it.time.0,
            kind: it.kind.0,
            version: it.kind.1,
            facts,
        })?;
    }
    Ok(lines)
}

/// Forgets again what a list says. Blocking.
pub fn apply(log: &Log, lines: &str) -> Result<Again, String> {
    let mut lines = lines.lines();
    let title: Title = read(lines.next().unwrap_or_default())?;
    let list: Vec<Forgetting> = lines.map(|line| forgetting(read(line)?)).collect::<Result<_, String>>()?;
    if list.len() != title.erasures {
        return Err(format!("the list is not whole: it has {} of {} lines", list.len(), title.erasures));
    }
    log.forget_again(head_of(&title.after)?, &list).map_err(|error| error.to_string())
}

fn forgetting(line: Line) -> Result<Forgetting, String> {
    let digits = line.facts.as_bytes();
    let (pairs, rest) = digits.as_chunks::<2>();
    let byte = |pair: &[u8; 2]| u8::from_str_radix(str::from_utf8(pair).unwrap_or_default(), 16).ok();
    let facts: Option<Vec<u8>> = pairs.iter().map(byte).collect();
    let facts = facts.filter(|_| rest.is_empty()).ok_or("the list cannot be read: facts are hex digits")?;
    Ok(Forgetting {
        position: Position(line.seq),
        id: EventId(line.id),
        key: StreamKey {
            partition: Partition(line.partition),
            scope: Scope(line.scope),
            stream: StreamId(line.stream),
        },
        stream_kind: StreamKind(line.stream_kind),
        time: Micros(line.time_us),
        kind: (line.kind, line.version),
        facts,
    })
}

fn written(line: &impl Serialize) -> Result<String, String> {
    serde_json::to_string(line).map(|line| line + "\n").map_err(|error| error.to_string())
}

fn read<'a, T: Deserialize<'a>>(line: &'a str) -> Result<T, String> {
    serde_json::from_str(line).map_err(|error| format!("the list cannot be read: {error}"))
}

fn head_of(head: &Head) -> Result<(Position, [u8; 32]), String> {
    let hash = blake3::Hash::from_hex(&head.hash).map_err(|_| "a hash has 64 hex digits".to_owned())?;
    Ok((Position(head.seq), *hash.as_bytes()))
}
