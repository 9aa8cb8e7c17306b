//! Ids and numbers that the log is written in. All are opaque: none carries a name.

use std::fmt;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// A UUID as its 16 bytes in binary (the `uuid` crate's own way puts eight bytes of length before them) and as text
/// elsewhere.
mod bare {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use uuid::Uuid;

    pub(super) fn serialize<S: Serializer>(id: &Uuid, to: S) -> Result<S::Ok, S::Error> {
        if to.is_human_readable() { id.serialize(to) } else { id.as_bytes().serialize(to) }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Uuid, D::Error> {
        if from.is_human_readable() {
            Uuid::deserialize(from)
        } else {
            Ok(Uuid::from_bytes(<[u8; 16]>::deserialize(from)?))
        }
    }
}

macro_rules! uuid_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(#[serde(with = "bare")] pub Uuid);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

uuid_id!(
    /// One incarnation of a profile, or a namespace's registry with its notebooks: what lies together in the log.
    Scope
);
uuid_id!(
    /// One incarnation of an aggregate. The own stream of a profile or a registry has the UUID of its scope; a notebook's has
    /// the memory's id, and that of a namespace's notes an id made from the scope's.
    StreamId
);
uuid_id!(
    /// One event.
    EventId
);
uuid_id!(
    /// A record: a memory of any type.
    RecordId
);
uuid_id!(
    /// A message of a thread.
    MessageId
);
uuid_id!(
    /// One registration of a speaker; a name removed and added again is another registration.
    SpeakerId
);
uuid_id!(
    /// A typed link between two records.
    RelationId
);
uuid_id!(
    /// An extraction job.
    JobId
);
uuid_id!(
    /// An image of a thread.
    ImageId
);
uuid_id!(
    /// A part of a message.
    PartId
);

uuid_id!(
    /// An entry of a notebook, from its first save until it is forgotten.
    EntryId
);
uuid_id!(
    /// A session of the notes' gate.
    SessionId
);
uuid_id!(
    /// An agent of a namespace's registry.
    AgentId
);

impl SpeakerId {
    /// The assistant itself, `me`: never registered, always allowed.
    pub const ME: Self = Self(Uuid::from_u128(1));
}

impl Scope {
    /// The stream of the profile itself.
    pub fn own_stream(self) -> StreamId {
        StreamId(self.0)
    }

    /// The stream of a namespace's notes: the scope's id as a UUIDv8, which no other stream has, since theirs are UUIDv7.
    pub fn notes_stream(self) -> StreamId {
        StreamId(Uuid::new_v8(*self.0.as_bytes()))
    }
}

/// Global place of an event: strictly increasing, gaps allowed, below 2^53. 0 is before the first.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Position(pub u64);

/// Place of an event in its stream: 1, 2, 3, ... without gaps. 0 is an empty stream.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Version(pub u64);

/// Which share of a cluster's work a profile belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Partition(pub u16);

/// How many partitions there are, for ever: the number is in every key.
pub const PARTITIONS: u16 = 64;

/// Microseconds since 1970-01-01T00:00:00Z.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Micros(pub i64);

/// Number of a vault slot, and so the name of a subject: never used twice. 0 is no slot.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Slot(pub u64);

impl Slot {
    /// The absent slot.
    pub const NONE: Self = Self(0);
}

/// A fingerprint keyed by a vault secret: equal texts of one scope have equal digests, and the text cannot be tried out
/// without the vault.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Digest(pub [u8; 32]);

/// Where a stream lies.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct StreamKey {
    /// Its share of the cluster.
    pub partition: Partition,
    /// Its profile.
    pub scope: Scope,
    /// The stream itself.
    pub stream: StreamId,
}

/// The slots that a content's key is derived from. Overwriting any of them erases it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct KeyPath {
    /// The profile's.
    pub scope: Slot,
    /// The thread's or notebook's; `Slot::NONE` if the content belongs to none.
    pub stream: Slot,
    /// The record's, message's, ...; `Slot::NONE` if the content dies only with its stream or profile.
    pub subject: Slot,
}
