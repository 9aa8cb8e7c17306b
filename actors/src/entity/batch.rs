//! From a decision to the batch that the log takes.

use memlog_events::{
    batch::{Batch, Claim, Draft, IdempotencyRow, Listing, Outcome},
    code::StreamKind,
    ids::{Digest, EventId, Micros, Version},
};

use super::Environment;
use crate::domain::{Fact, Place};

/// What makes a command idempotent, keyed by a vault secret.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Key {
    /// Of namespace and the client's key.
    pub key: Digest,
    /// Of subject, body and caller.
    pub request: Digest,
}

impl Key {
    pub(super) fn row(self, time: Micros, outcome: Outcome) -> IdempotencyRow {
        IdempotencyRow { key: self.key, request: self.request, time, outcome }
    }
}

/// Where a batch goes.
pub(super) struct Shape<'a> {
    pub(super) place: &'a Place,
    pub(super) kind: StreamKind,
    pub(super) version: Version,
}

impl Shape<'_> {
    pub(super) fn batch(
        &self,
        events: Vec<Fact>,
        claims: Vec<Claim>,
        listed: Vec<Listing>,
        idempotency: Option<IdempotencyRow>,
        time: Micros,
        environment: &Environment,
    ) -> Batch {
        let draft =
            |fact: Fact| Draft { id: EventId(environment.uuid()), time, facts: fact.facts, content: fact.content };
        Batch {
            key: self.place.key,
            kind: self.kind,
            expected: self.version,
            events: events.into_iter().map(draft).collect(),
            claims,
            listed,
            idempotency,
        }
    }
}
