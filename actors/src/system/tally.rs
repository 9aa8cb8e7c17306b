//! How many events of each type every namespace has. Events are never taken out of the log, so that they are counted once: the first
//! question after a start reads all of it, a later one what was appended since.

use std::collections::{BTreeMap, HashMap};

use memlog_events::{
    ids::{Position, Scope},
    log::{Error, Log, Stored},
};

use super::lookup::{first_of_scope, namespace_begun};

/// Events read at once.
const PAGE_EVENTS: usize = 1_000;
/// Scopes whose namespace is kept in mind. Of any other the first event tells.
const KNOWN_MAX: usize = 10_000;

/// Events by type.
pub(super) type Counts = BTreeMap<&'static str, u64>;

/// What was counted so far.
#[derive(Debug, Default)]
pub(super) struct Tally {
    at: Position,
    /// By the digest of the namespace.
    counts: HashMap<[u8; 16], Counts>,
    known: HashMap<Scope, Option<[u8; 16]>>,
}

impl Tally {
    /// Those of one namespace up to the log's head, and the head with its hash.
    pub(super) fn of(&mut self, log: &Log, namespace: &[u8; 16]) -> Result<(Counts, (Position, [u8; 32])), Error> {
        let head = log.stats()?.head;
        while self.at < head.0 {
            let page = log.tail(self.at, PAGE_EVENTS)?;
            if page.is_empty() {
                break;
            }
            // What came after the head was read is for the next time.
            for event in page.iter().take_while(|event| event.head.position <= head.0) {
                if let Some(namespace) = self.namespace(log, event)? {
                    *self.counts.entry(namespace).or_default().entry(event.facts.name()).or_default() += 1;
                }
                self.at = event.head.position;
            }
        }
        Ok((self.counts.get(namespace).cloned().unwrap_or_default(), head))
    }

    /// Whose events lie in this one's scope.
    fn namespace(&mut self, log: &Log, event: &Stored) -> Result<Option<[u8; 16]>, Error> {
        let scope = event.head.key.scope;
        if let Some(known) = self.known.get(&scope) {
            return Ok(*known);
        }
        let found = first_of_scope(log, event)?.and_then(|first| namespace_begun(&first.facts));
        if self.known.len() >= KNOWN_MAX {
            self.known.clear();
        }
        self.known.insert(scope, found);
        Ok(found)
    }
}
