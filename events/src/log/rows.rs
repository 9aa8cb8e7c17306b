//! Keys and rows of the tables as bytes: what is settled in `events/README.md`, and its reverse.

use uuid::Uuid;

use super::Error;
use crate::{
    batch::{Committed, Holder, IdempotencyRow, ListKind, Listing, Outcome, Remembered},
    ids::{Digest, KeyPath, Micros, Partition, Position, Scope, Slot, StreamId, StreamKey, Version},
};

/// Copies fields one behind the other into an array whose length they fill exactly.
fn join<const N: usize>(fields: &[&[u8]]) -> [u8; N] {
    let mut out = [0; N];
    let mut at = 0;
    for field in fields {
        out[at..at + field.len()].copy_from_slice(field);
        at += field.len();
    }
    debug_assert_eq!(at, N);
    out
}

/// The `N` bytes at `at`. Every caller reads inside a row whose length its type or a check has settled.
pub(super) fn field<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let mut out = [0; N];
    out.copy_from_slice(&bytes[at..at + N]);
    out
}

fn be64(bytes: &[u8], at: usize) -> u64 {
    u64::from_be_bytes(field(bytes, at))
}

pub(super) fn le64(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(field(bytes, at))
}

pub(super) fn stream_bytes(key: StreamKey) -> [u8; 34] {
    let partition = key.partition.0.to_be_bytes();
    join(&[&partition, key.scope.0.as_bytes(), key.stream.0.as_bytes()])
}

pub(super) fn stream_of(bytes: &[u8]) -> StreamKey {
    StreamKey {
        partition: Partition(u16::from_be_bytes(field(bytes, 0))),
        scope: Scope(Uuid::from_bytes(field(bytes, 2))),
        stream: StreamId(Uuid::from_bytes(field(bytes, 18))),
    }
}

pub(super) fn event_key(key: StreamKey, version: Version) -> [u8; 42] {
    join(&[&stream_bytes(key), &version.0.to_be_bytes()])
}

pub(super) fn event_key_of(bytes: &[u8; 42]) -> (StreamKey, Version) {
    (stream_of(bytes), Version(be64(bytes, 34)))
}

pub(super) fn scope_bounds(partition: Partition, scope: Scope) -> ([u8; 42], [u8; 42]) {
    let key = |stream| StreamKey { partition, scope, stream: StreamId(stream) };
    (event_key(key(Uuid::nil()), Version(0)), event_key(key(Uuid::max()), Version(u64::MAX)))
}

pub(super) fn order_key(partition: Partition, position: Position) -> [u8; 10] {
    join(&[&partition.0.to_be_bytes(), &position.0.to_be_bytes()])
}

pub(super) fn order_key_of(bytes: &[u8; 10]) -> (Partition, Position) {
    (Partition(u16::from_be_bytes(field(bytes, 0))), Position(be64(bytes, 2)))
}

pub(super) fn order_row(key: StreamKey, version: Version) -> [u8; 40] {
    join(&[key.scope.0.as_bytes(), key.stream.0.as_bytes(), &version.0.to_be_bytes()])
}

/// The event's key that an order row points at.
pub(super) fn ordered(partition: Partition, row: &[u8; 40]) -> [u8; 42] {
    join(&[&partition.0.to_be_bytes(), row])
}

/// One group of batches made durable at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CommitRow {
    pub(super) last: Position,
    pub(super) count: u32,
    /// The latest time of any event up to and with these, so that times can be searched though clocks step back.
    pub(super) latest: Micros,
    pub(super) previous: [u8; 32],
    pub(super) hash: [u8; 32],
}

impl CommitRow {
    pub(super) fn to_bytes(self) -> [u8; 84] {
        join(&[&self.front(), &self.previous, &self.hash])
    }

    pub(super) fn parse(bytes: &[u8; 84]) -> Self {
        Self {
            last: Position(le64(bytes, 0)),
            count: u32::from_le_bytes(field(bytes, 8)),
            latest: Micros(i64::from_le_bytes(field(bytes, 12))),
            previous: field(bytes, 20),
            hash: field(bytes, 52),
        }
    }

    fn front(self) -> [u8; 20] {
        join(&[&self.last.0.to_le_bytes(), &self.count.to_le_bytes(), &self.latest.0.to_le_bytes()])
    }

    /// The commit chain: keyed BLAKE3 of the previous hash, first position, this row's numbers and the chain hashes of
    /// its events in the order of their positions.
    pub(super) fn chained(mut self, key: &[u8; 32], first: Position, chains: &[[u8; 32]]) -> Self {
        let mut hasher = blake3::Hasher::new_keyed(key);
        hasher.update(&self.previous).update(&first.0.to_le_bytes()).update(&self.front());
        for chain in chains {
            hasher.update(chain);
        }
        self.hash = *hasher.finalize().as_bytes();
        self
    }
}

fn path_bytes(keys: KeyPath) -> [u8; 24] {
    join(&[&keys.scope.0.to_le_bytes(), &keys.stream.0.to_le_bytes(), &keys.subject.0.to_le_bytes()])
}

fn path_of(bytes: &[u8], at: usize) -> KeyPath {
    KeyPath { scope: Slot(le64(bytes, at)), stream: Slot(le64(bytes, at + 8)), subject: Slot(le64(bytes, at + 16)) }
}

pub(super) fn holder_row(holder: &Holder) -> [u8; 74] {
    join(&[&stream_bytes(holder.stream), holder.id.as_bytes(), &path_bytes(holder.keys)])
}

pub(super) fn holder_of(row: &[u8; 74]) -> Holder {
    Holder { stream: stream_of(row), id: Uuid::from_bytes(field(row, 34)), keys: path_of(row, 50) }
}

pub(super) fn list_kind(kind: ListKind) -> u8 {
    match kind {
        ListKind::Profiles => 1,
        ListKind::Jobs => 2,
    }
}

pub(super) fn listing_key(namespace: [u8; 16], kind: ListKind, id: Uuid) -> [u8; 33] {
    join(&[&namespace, &[list_kind(kind)], id.as_bytes()])
}

pub(super) fn listing_row(listing: &Listing) -> [u8; 58] {
    join(&[&stream_bytes(listing.stream), &path_bytes(listing.keys)])
}

pub(super) fn listing_of(kind: ListKind, key: &[u8; 33], row: &[u8; 58]) -> Listing {
    Listing {
        namespace: field(key, 0),
        kind,
        id: Uuid::from_bytes(field(key, 17)),
        stream: stream_of(row),
        keys: listed_path(row),
    }
}

pub(super) fn listed_path(row: &[u8; 58]) -> KeyPath {
    path_of(row, 34)
}

/// Times before 1970 sort before later ones: the sign bit is flipped.
fn time_bytes(time: Micros) -> [u8; 8] {
    ((time.0 as u64) ^ (1 << 63)).to_be_bytes()
}

pub(super) fn expiry_key(at: Micros, key: StreamKey, slot: Slot) -> [u8; 50] {
    join(&[&time_bytes(at), &stream_bytes(key), &slot.0.to_be_bytes()])
}

/// Before every key of that time.
pub(super) fn expiry_from(at: Micros) -> [u8; 50] {
    join(&[&time_bytes(at), &[0; 42]])
}

pub(super) fn expiry_row(keys: KeyPath) -> [u8; 16] {
    join(&[&keys.scope.0.to_le_bytes(), &keys.stream.0.to_le_bytes()])
}

pub(super) fn expiry_of(key: &[u8; 50], row: &[u8; 16]) -> (Micros, StreamKey, KeyPath) {
    let at = Micros((be64(key, 0) ^ (1 << 63)) as i64);
    let keys = KeyPath { scope: Slot(le64(row, 0)), stream: Slot(le64(row, 8)), subject: Slot(be64(key, 42)) };
    (at, stream_of(&key[8..]), keys)
}

pub(super) fn erasure_key(position: Position, slot: Slot) -> [u8; 16] {
    join(&[&position.0.to_be_bytes(), &slot.0.to_be_bytes()])
}

pub(super) fn erasure_of(key: &[u8; 16]) -> (Position, Slot) {
    (Position(be64(key, 0)), Slot(be64(key, 8)))
}

pub(super) fn idempotency_key(hour: i64, key: Digest) -> [u8; 40] {
    join(&[&time_bytes(Micros(hour)), &key.0])
}

pub(super) fn hour_of(key: &[u8; 40]) -> i64 {
    (be64(key, 0) ^ (1 << 63)) as i64
}

/// Layout 1 of the row: layout, request 32, time 8, first, last and version 8 each, ids behind their count, numbers
/// behind theirs.
pub(super) fn remembered_row(row: &IdempotencyRow, committed: &Committed) -> Vec<u8> {
    let mut out = vec![1];
    out.extend_from_slice(&row.request.0);
    out.extend_from_slice(&row.time.0.to_le_bytes());
    for number in [committed.first.0, committed.last.0, committed.version.0] {
        out.extend_from_slice(&number.to_le_bytes());
    }
    out.extend_from_slice(&(row.outcome.ids.len() as u32).to_le_bytes());
    for id in &row.outcome.ids {
        out.extend_from_slice(id.as_bytes());
    }
    for number in &row.outcome.numbers {
        out.extend_from_slice(&number.to_le_bytes());
    }
    out
}

pub(super) fn remembered_of(key: Digest, bytes: &[u8]) -> Result<Remembered, Error> {
    const IDS_AT: usize = 69;
    let damaged = || Error::Row("idempotency");
    if bytes.len() < IDS_AT || bytes[0] != 1 {
        return Err(damaged());
    }
    let count = u32::from_le_bytes(field(bytes, 65)) as usize;
    let (ids, numbers) = bytes[IDS_AT..].split_at_checked(count.saturating_mul(16)).ok_or_else(damaged)?;
    if numbers.len() % 8 != 0 {
        return Err(damaged());
    }
    let outcome = Outcome {
        ids: ids.chunks_exact(16).map(|id| Uuid::from_bytes(field(id, 0))).collect(),
        numbers: numbers.chunks_exact(8).map(|number| le64(number, 0)).collect(),
    };
    Ok(Remembered {
        row: IdempotencyRow {
            key,
            request: Digest(field(bytes, 1)),
            time: Micros(i64::from_le_bytes(field(bytes, 33))),
            outcome,
        },
        committed: Committed {
            first: Position(le64(bytes, 41)),
            last: Position(le64(bytes, 49)),
            version: Version(le64(bytes, 57)),
        },
    })
}

pub(super) fn embedding_key(scope: Scope, subject: Slot, content: Version, chunk: u16, model: u32) -> [u8; 38] {
    join(&[
        scope.0.as_bytes(),
        &subject.0.to_be_bytes(),
        &content.0.to_be_bytes(),
        &chunk.to_be_bytes(),
        &model.to_be_bytes(),
    ])
}

/// Every row that `subject` seals.
pub(super) fn embedding_bounds(scope: Scope, subject: Slot) -> ([u8; 38], [u8; 38]) {
    let (low, high) = (Version(0), Version(u64::MAX));
    (embedding_key(scope, subject, low, 0, 0), embedding_key(scope, subject, high, u16::MAX, u32::MAX))
}

/// Name of the row that holds the layout of the whole log, u32.
pub(super) const META_FORMAT: &[u8] = b"format";
/// Name of the row that holds the oldest reader that understands the log, u32.
pub(super) const META_MIN_READER: &[u8] = b"min_reader";
/// Name of the row that holds the UUID shared with the vault.
pub(super) const META_INSTALLATION: &[u8] = b"installation";
/// Name of the row that holds the head's position and the next slot to hand out, u64 each.
pub(super) const META_STATE: &[u8] = b"state";

pub(super) fn state_row(head: Position, next_slot: u64) -> [u8; 16] {
    join(&[&head.0.to_le_bytes(), &next_slot.to_le_bytes()])
}
