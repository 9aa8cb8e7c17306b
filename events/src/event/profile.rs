//! What happens to a profile.

use serde::{Deserialize, Serialize};

use super::ByV1;
use crate::ids::{Digest, Slot, SpeakerId};

/// `profile_created`, the first event of a profile's own stream.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ProfileCreatedV1 {
    /// The profile's slot: overwriting it erases the whole profile.
    pub slot: Slot,
    /// Keyed digest of the namespace, so that one namespace's profiles can be told apart without names.
    pub namespace: [u8; 16],
}

/// What it was created as.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ProfileCreatedContentV1 {
    /// The namespace's token.
    pub namespace: String,
    /// The profile's name.
    pub name: String,
    /// Who created it.
    pub by: ByV1,
}

/// `profile_deleted`, the last event of a profile's own stream; erases `slot`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ProfileDeletedV1 {
    /// The profile's slot.
    pub slot: Slot,
}

/// `speaker_added`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SpeakerAddedV1 {
    /// This registration.
    pub speaker: SpeakerId,
    /// The name's slot.
    pub slot: Slot,
    /// Of the name, keyed by the profile's slot: how the same name is known.
    pub name_digest: Digest,
}

/// Whose registration it is.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SpeakerAddedContentV1 {
    /// Trimmed, NFC.
    pub name: String,
    /// Who registered it.
    pub by: ByV1,
}

/// `speaker_removed`: the tag goes from every read; the log keeps its history.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SpeakerRemovedV1 {
    /// The registration that ended.
    pub speaker: SpeakerId,
}
