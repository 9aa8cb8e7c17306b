//! What a writer is asked to append, and what it answers. Plain data: a client may build one without the log.

use uuid::Uuid;

use crate::{
    code::StreamKind,
    event::{Content, Facts},
    ids::{Digest, EventId, KeyPath, Micros, Position, Slot, StreamKey, Version},
};

/// An event before it has a place.
#[derive(Clone, PartialEq, Debug)]
pub struct Draft {
    /// A fresh UUIDv7.
    pub id: EventId,
    /// When it was decided.
    pub time: Micros,
    /// The plain half.
    pub facts: Facts,
    /// The sealed half and the slots whose keys seal it.
    pub content: Option<(Content, KeyPath)>,
}

/// One atomic append to one stream.
#[derive(Clone, PartialEq, Debug)]
pub struct Batch {
    /// Where to.
    pub key: StreamKey,
    /// What kind of aggregate.
    pub kind: StreamKind,
    /// The version that the stream must have; 0 for a new one.
    pub expected: Version,
    /// The events, in order; none if only an idempotency row is to be written.
    pub events: Vec<Draft>,
    /// Names taken or given back.
    pub claims: Vec<Claim>,
    /// Rows of the directory to add.
    pub listed: Vec<Listing>,
    /// The command's idempotency row, if it came with a key.
    pub idempotency: Option<IdempotencyRow>,
}

/// A change to a unique name, checked and made in the append's own transaction.
#[derive(Clone, PartialEq, Debug)]
pub enum Claim {
    /// Take a name: refused if a holder holds it whose slots are all alive, unless that holder is the same.
    Take(Digest, Holder),
    /// Give a name back: nothing happens if another holds it.
    Release(Digest, Holder),
}

/// Who holds a unique name. A holder any of whose slots is overwritten holds nothing any more.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Holder {
    /// The stream that took it (for a profile's name: the profile's own).
    pub stream: StreamKey,
    /// The thing named: a stream's, record's or message's UUID.
    pub id: Uuid,
    /// The slots it lives by.
    pub keys: KeyPath,
}

/// What the directory lists by namespace, newest last.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum ListKind {
    /// Profiles.
    Profiles,
    /// Extraction jobs.
    Jobs,
}

/// A row of the directory: (namespace, kind, id) -> where it lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Listing {
    /// Keyed digest of the namespace.
    pub namespace: [u8; 16],
    /// What is listed.
    pub kind: ListKind,
    /// A UUIDv7, so that the order of ids is the order of time.
    pub id: Uuid,
    /// The stream it lies in.
    pub stream: StreamKey,
    /// The slots it lives by: a row any of whose slots is dead is passed over and swept.
    pub keys: KeyPath,
}

/// Remembers a command by its idempotency key. Ids only: the reply is rebuilt from the log.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct IdempotencyRow {
    /// Keyed digest of namespace and key.
    pub key: Digest,
    /// Keyed digest of subject, body and caller.
    pub request: Digest,
    /// When it was decided; the row lives 24 hours from here.
    pub time: Micros,
    /// What the reply is rebuilt from.
    pub outcome: Outcome,
}

/// Ids and numbers a reply is rebuilt from; what they mean is the verb's business.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Outcome {
    /// Ids.
    pub ids: Vec<Uuid>,
    /// Numbers, codes.
    pub numbers: Vec<u64>,
}

/// Where a batch went.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Committed {
    /// Of its first event; of the log's head if it had none.
    pub first: Position,
    /// Of its last event; of the log's head if it had none.
    pub last: Position,
    /// The stream's version after it.
    pub version: Version,
}

/// A remembered command found again.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Remembered {
    /// The row.
    pub row: IdempotencyRow,
    /// Where its batch went.
    pub committed: Committed,
}

/// The slots that live only if all of these do.
impl KeyPath {
    /// The slots in use.
    pub fn slots(&self) -> impl Iterator<Item = Slot> + use<> {
        [self.scope, self.stream, self.subject].into_iter().filter(|slot| *slot != Slot::NONE)
    }
}
