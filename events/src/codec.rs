//! Structs to bytes and back: the only place that names bincode.
//!
//! Encoding 1, for ever: bincode 2, little-endian, integers of fixed width, lengths as u64, options and enums by a
//! leading number; UUIDs are 16 bare bytes. Every body starts with the encoding's number (the *codec byte*). bincode
//! misreads a changed struct in silence, so a struct that was released is never edited: a new version gets a new
//! struct, a new row in the `match` below and a `From<old>` lift, and what no body may do is leave bytes over.

use serde::{Serialize, de::DeserializeOwned};

use crate::event::*;

/// The number of the only encoding so far.
pub const CODEC_BINCODE_2_FIXED_LE: u8 = 1;

/// The largest body that is decoded; a longer length inside one is damage, not data.
const DECODED_BYTES_MAX: usize = 64 << 20;

/// Version numbers of content kinds share the numbers of their event; this one goes with any event.
const CONTENT_BY: u16 = 0;

/// Why bytes could not be read.
#[derive(Debug, Clone, thiserror::Error, PartialEq, Eq)]
pub enum Error {
    /// Written by a version that this one does not know.
    #[error("unknown kind {kind} version {version}")]
    Unknown {
        /// The kind's number.
        kind: u16,
        /// Its version.
        version: u16,
    },
    /// Written with an encoding that this version does not know.
    #[error("unknown codec {0}")]
    Codec(u8),
    /// The bytes end too early or hold what the struct cannot.
    #[error("damaged body")]
    Damaged,
    /// More bytes than the struct took.
    #[error("{0} bytes left over")]
    LeftOver(usize),
}

fn config() -> impl bincode::config::Config {
    bincode::config::standard().with_little_endian().with_fixed_int_encoding().with_limit::<DECODED_BYTES_MAX>()
}

#[expect(clippy::disallowed_methods, reason = "this is the place that has the right to")]
fn write<T: Serialize>(mut out: Vec<u8>, value: &T) -> Vec<u8> {
    // A vector takes any length, and frozen structs hold nothing that serde refuses.
    bincode::serde::encode_into_std_write(value, &mut out, config()).expect("frozen structs always encode");
    out
}

#[expect(clippy::disallowed_methods, reason = "this is the place that has the right to")]
fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T, Error> {
    let (value, used) = bincode::serde::decode_from_slice(body, config()).map_err(|_| Error::Damaged)?;
    match body.len() - used {
        0 => Ok(value),
        left => Err(Error::LeftOver(left)),
    }
}

fn behind_codec(bytes: &[u8]) -> Result<&[u8], Error> {
    match bytes {
        [CODEC_BINCODE_2_FIXED_LE, body @ ..] => Ok(body),
        [other, ..] => Err(Error::Codec(*other)),
        [] => Err(Error::Damaged),
    }
}

/// Bytes of what is rebuilt and never migrated (a snapshot, say), codec byte first. Not for events.
pub fn encode_rebuilt<T: Serialize>(value: &T) -> Vec<u8> {
    write(vec![CODEC_BINCODE_2_FIXED_LE], value)
}

/// The reverse of [`encode_rebuilt`]; an error means: build it again.
pub fn decode_rebuilt<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Error> {
    read(behind_codec(bytes)?)
}

macro_rules! facts {
    ($($variant:ident: $version:literal $latest:ident $(, $old:literal $old_struct:ident)*;)+) => {
        /// The version of the struct that [`encode_facts`] writes.
        pub fn facts_version(facts: &Facts) -> u16 {
            match facts { $(Facts::$variant(_) => $version,)+ }
        }

        /// The plain half of an event, codec byte first.
        pub fn encode_facts(facts: &Facts) -> Vec<u8> {
            let out = vec![CODEC_BINCODE_2_FIXED_LE];
            match facts { $(Facts::$variant(body) => write::<$latest>(out, body),)+ }
        }

        /// Reads what any released version wrote and lifts it to the latest struct.
        pub fn decode_facts(kind: u16, version: u16, bytes: &[u8]) -> Result<Facts, Error> {
            let body = behind_codec(bytes)?;
            Ok(match (kind, version) {
                $(
                    (kind::$variant, $version) => Facts::$variant(read::<$latest>(body)?),
                    $((kind::$variant, $old) => Facts::$variant(read::<$old_struct>(body)?.into()),)*
                )+
                _ => return Err(Error::Unknown { kind, version }),
            })
        }
    };
}

// The latest version of each kind; older ones follow on the same line: `Saved: 2 SavedV2, 1 SavedV1;`.
facts! {
    ProfileCreated: 1 ProfileCreatedV1;
    ProfileDeleted: 1 ProfileDeletedV1;
    SpeakerAdded: 1 SpeakerAddedV1;
    SpeakerRemoved: 1 SpeakerRemovedV1;
    ThreadCreated: 1 ThreadCreatedV1;
    ThreadDeleted: 1 ThreadDeletedV1;
    MessageAppended: 2 MessageAppendedV2, 1 MessageAppendedV1;
    MessageDeleted: 1 MessageDeletedV1;
    Summarised: 1 SummarisedV1;
    SummaryErased: 1 SummaryErasedV1;
    MessageUpdated: 1 MessageUpdatedV1;
    Saved: 1 SavedV1;
    Superseded: 1 SupersededV1;
    Linked: 1 LinkedV1;
    Unlinked: 1 UnlinkedV1;
    Forgot: 1 ForgotV1;
    Expired: 1 ExpiredV1;
    Updated: 1 UpdatedV1;
    StatusSet: 1 StatusSetV1;
    Relinked: 1 RelinkedV1;
    ExtractionRequested: 1 ExtractionRequestedV1;
    ExtractionCompleted: 1 ExtractionCompletedV1;
    ExtractionFailed: 1 ExtractionFailedV1;
    ImageAdded: 1 ImageAddedV1;
    ImageStored: 1 ImageStoredV1;
    ImageUpdated: 1 ImageUpdatedV1;
    ImageDeleted: 1 ImageDeletedV1;
    EntrySaved: 1 EntrySavedV1;
    EntryForgot: 1 EntryForgotV1;
    RegistryCreated: 1 RegistryCreatedV1;
    MemoryCreated: 1 MemoryCreatedV1;
    MemoryUpdated: 1 MemoryUpdatedV1;
    Trashed: 1 TrashedV1;
    Restored: 1 RestoredV1;
    Purged: 1 PurgedV1;
    AgentCreated: 1 AgentCreatedV1;
    AgentUpdated: 1 AgentUpdatedV1;
    Attached: 1 AttachedV1;
    AgentDeleted: 1 AgentDeletedV1;
    NoteSaved: 1 NoteSavedV1;
    NoteRemoved: 1 NoteRemovedV1;
    NoteKindAdded: 1 NoteKindAddedV1;
    SessionConnected: 1 SessionConnectedV1;
    NotesLoaded: 1 NotesLoadedV1;
    EditorOpened: 1 EditorOpenedV1;
    EditorClosed: 1 EditorClosedV1;
}

/// The first reader that knows this version of a kind. A log that holds one refuses earlier readers.
pub fn reader_of(facts_kind: u16, version: u16) -> u32 {
    match (facts_kind, version) {
        (kind::Summarised | kind::SummaryErased, _) => 2,
        // Written with the second version of its content.
        (kind::MessageAppended, 2) => 3,
        (kind::MessageUpdated | kind::Updated | kind::StatusSet | kind::Relinked, _) => 3,
        (kind::ImageAdded..=kind::ImageDeleted, _) => 3,
        (kind::EntrySaved..=kind::EditorClosed, _) => 3,
        _ => 1,
    }
}

macro_rules! contents {
    ($($variant:ident = $kind:expr, $version:literal $latest:ident $(, $old:literal $old_struct:ident)*;)+) => {
        /// The sealed half before it is sealed: codec byte, kind u16, version u16, struct. The kind is the event's, or
        /// 0 for [`Content::By`], and its version moves apart from the facts'.
        pub fn encode_content(content: &Content) -> Vec<u8> {
            let mut out = vec![CODEC_BINCODE_2_FIXED_LE];
            match content {
                $(Content::$variant(body) => {
                    out.extend_from_slice(&u16::to_le_bytes($kind));
                    out.extend_from_slice(&u16::to_le_bytes($version));
                    write::<$latest>(out, body)
                })+
            }
        }

        /// Reads what any released version wrote and lifts it to the latest struct.
        pub fn decode_content(bytes: &[u8]) -> Result<Content, Error> {
            let (named, body) = behind_codec(bytes)?.split_at_checked(4).ok_or(Error::Damaged)?;
            let kind = u16::from_le_bytes([named[0], named[1]]);
            let version = u16::from_le_bytes([named[2], named[3]]);
            $(
                if (kind, version) == ($kind, $version) {
                    return Ok(Content::$variant(read::<$latest>(body)?));
                }
                $(if (kind, version) == ($kind, $old) {
                    return Ok(Content::$variant(read::<$old_struct>(body)?.into()));
                })*
            )+
            Err(Error::Unknown { kind, version })
        }
    };
}

contents! {
    By = CONTENT_BY, 1 ByContentV1;
    ProfileCreated = kind::ProfileCreated, 1 ProfileCreatedContentV1;
    SpeakerAdded = kind::SpeakerAdded, 1 SpeakerAddedContentV1;
    ThreadCreated = kind::ThreadCreated, 1 ThreadCreatedContentV1;
    MessageAppended = kind::MessageAppended, 2 MessageAppendedContentV2, 1 MessageAppendedContentV1;
    MessageUpdated = kind::MessageUpdated, 1 MessageAppendedContentV2;
    Summarised = kind::Summarised, 1 SummarisedContentV1;
    Saved = kind::Saved, 1 SavedContentV1;
    Updated = kind::Updated, 1 SavedContentV1;
    Linked = kind::Linked, 1 LinkedContentV1;
    Relinked = kind::Relinked, 1 LinkedContentV1;
    ImageAdded = kind::ImageAdded, 1 ImageAddedContentV1;
    ImageStored = kind::ImageStored, 1 ImageStoredContentV1;
    ImageUpdated = kind::ImageUpdated, 1 ImageAddedContentV1;
    EntrySaved = kind::EntrySaved, 1 EntrySavedContentV1;
    RegistryCreated = kind::RegistryCreated, 1 RegistryCreatedContentV1;
    MemoryCreated = kind::MemoryCreated, 1 MemoryCreatedContentV1;
    MemoryUpdated = kind::MemoryUpdated, 1 MemoryUpdatedContentV1;
    AgentCreated = kind::AgentCreated, 1 AgentCreatedContentV1;
    AgentUpdated = kind::AgentUpdated, 1 AgentUpdatedContentV1;
    NoteSaved = kind::NoteSaved, 1 NoteSavedContentV1;
    NoteKindAdded = kind::NoteKindAdded, 1 NoteKindAddedContentV1;
}
