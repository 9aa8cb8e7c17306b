//! What was forgotten since a position, and forgetting it again in an older copy of the log: a backup still has the keys of all
//! that was forgotten after it was made, so whoever restores it must do that before anybody reads.
//!
//! The list holds the forgetting events themselves, which are facts: opaque ids and numbers. Each is appended again under its own
//! id, so that views, verification and a second try all see what they are used to.

use std::collections::HashSet;

use super::{Error, Log, append, verify};
use crate::{
    batch::{Batch, Draft},
    code::StreamKind,
    codec,
    event::Facts,
    ids::{EventId, Micros, Position, Slot, StreamKey, Version},
};

/// A forgetting event, without who asked for it.
#[derive(Clone, PartialEq, Debug)]
pub struct Forgetting {
    /// Where it lies in the log that told of it.
    pub position: Position,
    /// Its id.
    pub id: EventId,
    /// Its stream.
    pub key: StreamKey,
    /// The kind of that.
    pub stream_kind: StreamKind,
    /// When.
    pub time: Micros,
    /// Kind and version of its facts.
    pub kind: (u16, u16),
    /// Its facts, as the log has them.
    pub facts: Vec<u8>,
}

/// What came of forgetting again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Again {
    /// Events appended.
    pub applied: u64,
    /// Events about what this log never had, or that were applied before.
    pub passed: u64,
}

/// Why it is not forgotten again.
#[derive(Debug, thiserror::Error)]
pub enum NotAgain {
    /// The list follows a head that is not in this log.
    #[error("the list is not of this log: position {} with its hash is not in it", .0.0)]
    OtherLog(Position),
    /// Numbers of subjects are used again after a restore, so the list could hit others.
    #[error("this log was written to since, at position {}: restore the backup anew and apply the list first", .0.0)]
    WrittenSince(Position),
    /// An event of the list cannot be read.
    #[error("the list cannot be read: {0}")]
    Unreadable(#[from] codec::Error),
    /// It could not be appended; what came before it is applied.
    #[error(transparent)]
    Append(#[from] append::Error),
    /// The log could not be read.
    #[error(transparent)]
    Log(#[from] Error),
}

/// Events read at once.
const PAGE_EVENTS: usize = 1_000;

impl Log {
    /// Every forgetting after a head of this log, in order; `None` if it is not in it.
    pub fn forgettings(&self, after: (Position, [u8; 32])) -> Result<Option<Vec<Forgetting>>, Error> {
        if !verify::is_in(&self.0.core, after)? {
            return Ok(None);
        }
        let (mut at, mut found) = (after.0, Vec::new());
        loop {
            let page = self.tail(at, PAGE_EVENTS)?;
            let Some(last) = page.last() else { return Ok(Some(found)) };
            at = last.head.position;
            for event in page {
                // What comes back from the trash erases the ticket of its time there, and nothing that anybody said.
                if matches!(event.facts, Facts::Restored(_)) || event.facts.erases().is_empty() {
                    continue;
                }
                found.push(Forgetting {
                    position: event.head.position,
                    id: event.head.id,
                    key: event.head.key,
                    stream_kind: event.head.stream_kind,
                    time: event.head.time,
                    kind: (event.facts.kind(), codec::facts_version(&event.facts)),
                    facts: codec::encode_facts(&event.facts),
                });
            }
        }
    }

    /// Forgets again what a list says, which follows the head `after`. Only in a log that nothing else was written to since that
    /// head. A second time changes nothing. Blocking.
    pub fn forget_again(&self, after: (Position, [u8; 32]), list: &[Forgetting]) -> Result<Again, NotAgain> {
        let core = &self.0.core;
        if !verify::is_in(core, after)? {
            return Err(NotAgain::OtherLog(after.0));
        }
        let listed: HashSet<EventId> = list.iter().map(|it| it.id).collect();
        let mut done = HashSet::new();
        let mut at = after.0;
        loop {
            let page = self.tail(at, PAGE_EVENTS)?;
            let Some(last) = page.last() else { break };
            at = last.head.position;
            for event in &page {
                if !listed.contains(&event.head.id) {
                    return Err(NotAgain::WrittenSince(event.head.position));
                }
                done.insert(event.head.id);
            }
        }
        let mut again = Again::default();
        for it in list {
            let facts =
                codec::decode_facts(it.kind.0, it.kind.1, &it.facts)?.erasing_only(|slot| core.vault.is_known(slot));
            let erases = facts.erases().iter().any(|slot| *slot != Slot::NONE);
            let expected = self.version(it.key)?;
            if !erases || expected == Version(0) || done.contains(&it.id) {
                again.passed += 1;
                continue;
            }
            let events = vec![Draft { id: it.id, time: it.time, facts, content: None }];
            let (claims, listed, idempotency) = Default::default();
            self.append(Batch { key: it.key, kind: it.stream_kind, expected, events, claims, listed, idempotency })?;
            again.applied += 1;
        }
        Ok(again)
    }
}
