//! What happens to records and their links, in a thread's stream or in the profile's own.

use serde::{Deserialize, Serialize};

use super::ByV1;
use crate::{
    code::{LinkCode, TypeCode},
    ids::{Digest, JobId, MessageId, Micros, RecordId, RelationId, Slot, SpeakerId},
};

/// `saved`: a record exists.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SavedV1 {
    /// The record.
    pub record: RecordId,
    /// Its slot.
    pub slot: Slot,
    /// What it is.
    pub record_type: TypeCode,
    /// The registration under which it was said.
    pub speaker: Option<SpeakerId>,
    /// When what it tells happened, if known.
    pub timestamp: Option<Micros>,
    /// From when on it is unreachable.
    pub expires_at: Option<Micros>,
    /// The messages it was made from.
    pub sources: Vec<MessageId>,
    /// The extraction that made it, if one did.
    pub job: Option<JobId>,
    /// Of its normalised text: how the same statement is known again. Keyed by the profile's slot.
    pub fingerprint: Digest,
    /// Of the id that the client gave, if it gave one. Keyed by the profile's slot.
    pub id_digest: Option<Digest>,
}

/// What it says.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SavedContentV1 {
    /// The text.
    pub content: String,
    /// One line.
    pub summary: String,
    /// A JSON object as text.
    pub metadata: String,
    /// The id that the client gave.
    pub given_id: Option<String>,
    /// The owner.
    pub user_id: Option<String>,
    /// The agent.
    pub agent_id: Option<String>,
    /// Who saved it.
    pub by: ByV1,
}

/// `updated`: a record's content (then that comes with the event), or only its times, are others from here on.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct UpdatedV1 {
    /// The record.
    pub record: RecordId,
    /// Its slot.
    pub slot: Slot,
    /// When what it tells happened, if known.
    pub timestamp: Option<Micros>,
    /// From when on it is unreachable.
    pub expires_at: Option<Micros>,
    /// What that was before.
    pub expires_before: Option<Micros>,
    /// As in `saved`, of what the record says now.
    pub fingerprint: Digest,
}

/// `status_set`: somebody said whether the record holds. What links say of it comes on top.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct StatusSetV1 {
    /// The record.
    pub record: RecordId,
    /// Whether it holds.
    pub valid: bool,
}

/// `superseded`: `old` is invalid from here on, whatever becomes of `new`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SupersededV1 {
    /// The record of this stream that no longer holds.
    pub old: RecordId,
    /// The record, of any stream of the profile, that took its place.
    pub new: RecordId,
}

/// `linked`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct LinkedV1 {
    /// The link.
    pub relation: RelationId,
    /// Its slot.
    pub slot: Slot,
    /// What it says.
    pub link: LinkCode,
    /// Where it comes from.
    pub source: RecordId,
    /// Where it points.
    pub target: RecordId,
    /// When, if the client told.
    pub timestamp: Option<Micros>,
}

/// The words on a link.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct LinkedContentV1 {
    /// The label of a type of the client's own, read from the source.
    pub label: Option<String>,
    /// The same, read from the target.
    pub opposite: Option<String>,
    /// A JSON object as text.
    pub metadata: String,
    /// The id that the client gave.
    pub given_id: Option<String>,
    /// Who linked.
    pub by: ByV1,
}

/// `relinked`: a link says something else from here on; its ends stay.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RelinkedV1 {
    /// The link.
    pub relation: RelationId,
    /// Its slot.
    pub slot: Slot,
    /// What it says.
    pub link: LinkCode,
    /// When, if the client told.
    pub timestamp: Option<Micros>,
}

/// `unlinked`; erases `slot`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct UnlinkedV1 {
    /// The link.
    pub relation: RelationId,
    /// Its slot.
    pub slot: Slot,
}

/// `forgot`: a record, the messages it was made from and its links are gone; erases every slot named.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ForgotV1 {
    /// The record.
    pub record: RecordId,
    /// Its slot.
    pub slot: Slot,
    /// Its source messages.
    pub messages: Vec<(MessageId, Slot)>,
    /// The links at either end of it.
    pub relations: Vec<(RelationId, Slot)>,
}

/// `expired`: the time of these is over; erases every slot named.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ExpiredV1 {
    /// Records.
    pub records: Vec<(RecordId, Slot)>,
    /// Messages.
    pub messages: Vec<(MessageId, Slot)>,
    /// Links at either end of those records.
    pub relations: Vec<(RelationId, Slot)>,
}
