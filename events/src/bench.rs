//! What measurements of the log write: made-up messages of an everyday length. For benches and `memlog bench`; nothing that serves
//! uses it.

use std::sync::atomic::{AtomicU64, Ordering};

use uuid::Uuid;

use crate::{
    batch::{Batch, Draft, IdempotencyRow, Outcome},
    code::{RoleCode, StreamKind},
    event::{ByV1, Content, Facts, MessageAppendedContentV2, MessageAppendedV2},
    ids::{
        Digest, EventId, KeyPath, MessageId, Micros, PARTITIONS, Partition, Scope, Slot, StreamId, StreamKey, Version,
    },
    log::Log,
    vault,
};

const TEXT: &str =
    "I moved to the house by the river last spring, and the dog still thinks that the old street is home. ";
/// Bytes of one such event as the log keeps it: head, facts and sealed content.
pub const EVENT_BYTES: usize = 628;

/// A stream of its own profile, and the version that it is at.
#[derive(Clone, Copy, Debug)]
pub struct Stream {
    /// Where it lies.
    pub key: StreamKey,
    keys: KeyPath,
    version: u64,
}

impl Stream {
    /// The `n`th new one.
    pub fn new(log: &Log, n: usize) -> Result<Self, vault::Error> {
        let slots = log.reserve(2)?;
        let partition = Partition((n % usize::from(PARTITIONS)) as u16);
        let key = StreamKey { partition, scope: Scope(fresh()), stream: StreamId(fresh()) };
        Ok(Self { key, keys: KeyPath { scope: slots[0], stream: slots[1], subject: Slot::NONE }, version: 0 })
    }

    /// The next batch of so many messages, which the stream is taken to have from now on; with the row of a command's key if asked.
    pub fn batch(&mut self, log: &Log, messages: usize, keyed: bool) -> Result<Batch, vault::Error> {
        let slots = log.reserve(messages)?;
        let expected = Version(self.version);
        self.version += messages as u64;
        Ok(Batch {
            key: self.key,
            kind: StreamKind::THREAD,
            expected,
            events: slots.into_iter().map(|slot| message(self.keys, slot)).collect(),
            claims: Vec::new(),
            listed: Vec::new(),
            idempotency: keyed.then(row),
        })
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

fn row() -> IdempotencyRow {
    let id = fresh();
    let digest = || Digest(*blake3::hash(id.as_bytes()).as_bytes());
    IdempotencyRow {
        key: digest(),
        request: digest(),
        time: Micros(0),
        outcome: Outcome { ids: vec![id], numbers: Vec::new() },
    }
}

fn fresh() -> Uuid {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    Uuid::from_u128(u128::from(NEXT.fetch_add(1, Ordering::Relaxed)) << 64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::Options;

    // The disk's limit is measured with rows of this size.
    #[test]
    fn an_event_takes_what_it_is_said_to_take() {
        let dir = tempfile::tempdir().unwrap();
        let log = Log::open(Options::new(dir.path())).unwrap();
        let mut stream = Stream::new(&log, 3).unwrap();
        for _ in 0..2 {
            let batch = stream.batch(&log, 5, true).unwrap();
            log.append(batch).unwrap();
        }
        let scanned = log.scan_bare().unwrap();
        assert_eq!(scanned.rows, 10);
        assert_eq!(scanned, log.scan_scope_bare(stream.key.partition, stream.key.scope).unwrap());
        assert_eq!(scanned.bytes / scanned.rows, EVENT_BYTES as u64);
    }
}
