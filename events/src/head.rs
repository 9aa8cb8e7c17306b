//! The head of an event: what can be read without knowing any struct. Drawn, byte by byte, in `events/README.md`.
//!
//! A stored event is head, chain hash, facts, and the sealed content if it lies inline. The chain hash is a keyed
//! BLAKE3 over the previous one, the head and the facts; the head holds the sealed content's hash. So nothing can be
//! changed unseen, and a content that was erased or cut still verifies.

use uuid::Uuid;

use crate::{
    code::StreamKind,
    codec::CODEC_BINCODE_2_FIXED_LE,
    ids::{EventId, KeyPath, Micros, Partition, Position, Scope, Slot, StreamId, StreamKey, Version},
};

/// The first four bytes of every event.
pub const MAGIC: [u8; 4] = *b"MLEV";
/// The layout of [`Head`].
pub const HEAD_VERSION: u8 = 1;
/// Bytes of a head.
pub const HEAD_BYTES: usize = 172;
/// Bytes of the chain hash that follows it.
pub const CHAIN_BYTES: usize = 32;
/// Where the facts begin.
pub const FACTS_AT: usize = HEAD_BYTES + CHAIN_BYTES;
const CHECKSUM_AT: usize = HEAD_BYTES - 8;

/// Where the sealed content lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Place {
    /// There is none.
    #[default]
    None,
    /// Behind the facts (or cut off there since, once its key was dead).
    Inline,
    /// In a file of its own.
    Blob,
}

/// Everything about an event but what it says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Head {
    /// How the facts are encoded.
    pub codec: u8,
    /// The kind's number.
    pub kind: u16,
    /// The version of its struct.
    pub kind_version: u16,
    /// Where the stream lies.
    pub key: StreamKey,
    /// What kind of aggregate it is.
    pub stream_kind: StreamKind,
    /// Place in the log.
    pub position: Position,
    /// Place in the stream.
    pub version: Version,
    /// The event's own id.
    pub id: EventId,
    /// When it was decided.
    pub time: Micros,
    /// The slots whose keys seal the content.
    pub keys: KeyPath,
    /// Length of the facts with their codec byte.
    pub facts_bytes: u32,
    /// Length of the sealed content with its tag.
    pub content_bytes: u32,
    /// Where that is.
    pub place: Place,
    /// The seal's nonce.
    pub nonce: [u8; 12],
    /// BLAKE3 of the sealed content; zeros if there is none.
    pub content_hash: [u8; 32],
}

/// Why bytes are no head.
#[derive(Debug, Clone, thiserror::Error, PartialEq, Eq)]
pub enum Error {
    /// Too short, or another magic.
    #[error("not an event")]
    NotAnEvent,
    /// Of a later memlog.
    #[error("unknown head version {0}")]
    Version(u8),
    /// Head or facts are not what was written.
    #[error("checksum does not match")]
    Checksum,
    /// A field holds what it cannot.
    #[error("head field out of range")]
    Field,
}

impl Head {
    /// The head's bytes, checksum over it and the facts included.
    pub fn to_bytes(&self, facts: &[u8]) -> [u8; HEAD_BYTES] {
        debug_assert_eq!(facts.len(), self.facts_bytes as usize);
        let mut out = Writer { bytes: [0; HEAD_BYTES], at: 0 };
        out.put(&MAGIC);
        out.put(&[HEAD_VERSION, self.codec]);
        out.put(&self.kind.to_le_bytes());
        out.put(&self.kind_version.to_le_bytes());
        out.put(&self.key.partition.0.to_le_bytes());
        out.put(&[self.stream_kind.0, self.place as u8, 0, 0]);
        out.put(&self.position.0.to_le_bytes());
        out.put(&self.version.0.to_le_bytes());
        out.put(&self.time.0.to_le_bytes());
        out.put(self.key.scope.0.as_bytes());
        out.put(self.key.stream.0.as_bytes());
        out.put(self.id.0.as_bytes());
        for slot in [self.keys.scope, self.keys.stream, self.keys.subject] {
            out.put(&slot.0.to_le_bytes());
        }
        out.put(&self.facts_bytes.to_le_bytes());
        out.put(&self.content_bytes.to_le_bytes());
        out.put(&self.nonce);
        out.put(&self.content_hash);
        debug_assert_eq!(out.at, CHECKSUM_AT);
        let sum = checksum(&out.bytes[..CHECKSUM_AT], facts);
        out.put(&sum);
        out.bytes
    }

    /// Reads a head from the front of a stored event without looking at the facts.
    pub fn parse(event: &[u8]) -> Result<Self, Error> {
        let bytes: &[u8; HEAD_BYTES] = event.first_chunk().ok_or(Error::NotAnEvent)?;
        let mut from = Reader { bytes, at: 0 };
        if from.take() != MAGIC {
            return Err(Error::NotAnEvent);
        }
        let [version, codec] = from.take();
        if version != HEAD_VERSION {
            return Err(Error::Version(version));
        }
        let kind = u16::from_le_bytes(from.take());
        let kind_version = u16::from_le_bytes(from.take());
        let partition = Partition(u16::from_le_bytes(from.take()));
        let [stream_kind, place, zeros @ ..] = from.take::<4>();
        let place = match place {
            0 => Place::None,
            1 => Place::Inline,
            2 => Place::Blob,
            _ => return Err(Error::Field),
        };
        if codec != CODEC_BINCODE_2_FIXED_LE || zeros != [0, 0] {
            return Err(Error::Field);
        }
        let position = Position(from.u64());
        let version = Version(from.u64());
        let time = Micros(i64::from_le_bytes(from.take()));
        let scope = Scope(Uuid::from_bytes(from.take()));
        let stream = StreamId(Uuid::from_bytes(from.take()));
        Ok(Self {
            codec,
            kind,
            kind_version,
            key: StreamKey { partition, scope, stream },
            stream_kind: StreamKind(stream_kind),
            position,
            version,
            id: EventId(Uuid::from_bytes(from.take())),
            time,
            keys: KeyPath { scope: Slot(from.u64()), stream: Slot(from.u64()), subject: Slot(from.u64()) },
            facts_bytes: u32::from_le_bytes(from.take()),
            content_bytes: u32::from_le_bytes(from.take()),
            place,
            nonce: from.take(),
            content_hash: from.take(),
        })
    }
}

/// A stored event taken apart and checked against its checksum. Slices only: nothing is decoded.
#[derive(Clone, Copy, Debug)]
pub struct Parts<'a> {
    /// The head.
    pub head: Head,
    /// The stream's chain up to and with this event.
    pub chain: [u8; CHAIN_BYTES],
    /// The plain half, codec byte first.
    pub facts: &'a [u8],
    /// The sealed half, if it lies inline and was not cut off.
    pub sealed: Option<&'a [u8]>,
}

impl<'a> Parts<'a> {
    /// Takes a stored event apart.
    pub fn split(event: &'a [u8]) -> Result<Self, Error> {
        let head = Head::parse(event)?;
        let chain = *event[HEAD_BYTES..].first_chunk().ok_or(Error::NotAnEvent)?;
        let bodies = &event[FACTS_AT..];
        let (facts, rest) = bodies.split_at_checked(head.facts_bytes as usize).ok_or(Error::Checksum)?;
        if checksum(&event[..CHECKSUM_AT], facts) != event[CHECKSUM_AT..HEAD_BYTES] {
            return Err(Error::Checksum);
        }
        let sealed = match (head.place, rest.len()) {
            (_, 0) => None,
            (Place::Inline, n) if n == head.content_bytes as usize => Some(rest),
            _ => return Err(Error::Field),
        };
        Ok(Self { head, chain, facts, sealed })
    }
}

/// The next hash of a stream's chain.
pub fn chain(key: &[u8; 32], previous: &[u8; CHAIN_BYTES], head: &[u8; HEAD_BYTES], facts: &[u8]) -> [u8; CHAIN_BYTES] {
    let mut hasher = blake3::Hasher::new_keyed(key);
    hasher.update(previous).update(head).update(facts);
    *hasher.finalize().as_bytes()
}

fn checksum(head: &[u8], facts: &[u8]) -> [u8; 8] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(head).update(facts);
    let mut out = [0; 8];
    out.copy_from_slice(&hasher.finalize().as_bytes()[..8]);
    out
}

struct Writer {
    bytes: [u8; HEAD_BYTES],
    at: usize,
}

impl Writer {
    fn put(&mut self, field: &[u8]) {
        self.bytes[self.at..self.at + field.len()].copy_from_slice(field);
        self.at += field.len();
    }
}

struct Reader<'a> {
    bytes: &'a [u8; HEAD_BYTES],
    at: usize,
}

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let mut out = [0; N];
        out.copy_from_slice(&self.bytes[self.at..self.at + N]);
        self.at += N;
        out
    }

    fn u64(&mut self) -> u64 {
        u64::from_le_bytes(self.take())
    }
}
