//! What happens to a thread and its messages.

use serde::{Deserialize, Serialize};

use super::ByV1;
use crate::{
    code::RoleCode,
    ids::{Digest, ImageId, JobId, MessageId, Micros, PartId, Slot, SpeakerId},
};

/// `thread_created`, the first event of a thread's stream.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ThreadCreatedV1 {
    /// The thread's slot: overwriting it erases the whole thread.
    pub slot: Slot,
    /// Whether its id was derived from its first messages because none was given.
    pub derived: bool,
}

/// What it is called and whose it is.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ThreadCreatedContentV1 {
    /// The thread's (session's) id as clients know it.
    pub thread_id: String,
    /// The owner, if any.
    pub user_id: Option<String>,
    /// The agent, if any.
    pub agent_id: Option<String>,
    /// A JSON object as text.
    pub metadata: String,
    /// A JSON object as text.
    pub settings: String,
    /// Who created it.
    pub by: ByV1,
}

/// `thread_deleted`, the last event of a thread's stream; erases `slot`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ThreadDeletedV1 {
    /// The thread's slot.
    pub slot: Slot,
}

/// `message_appended`, as it was before it knew the speaker's clock.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct MessageAppendedV1 {
    /// The message.
    pub message: MessageId,
    /// Its slot.
    pub slot: Slot,
    /// Its place in the thread: 0, 1, 2, ...
    pub ordinal: u32,
    /// Who it is from.
    pub role: RoleCode,
    /// Of role, text, speaker and given timestamp: how a re-send is known. Keyed by the thread's slot.
    pub digest: Digest,
    /// Of the id that the client gave, if it gave one. Keyed by the profile's slot.
    pub id_digest: Option<Digest>,
    /// The registration under which it was said.
    pub speaker: Option<SpeakerId>,
    /// When it was said, if the client told.
    pub timestamp: Option<Micros>,
    /// From when on it is unreachable.
    pub expires_at: Option<Micros>,
}

/// `message_appended`, with the speaker's own clock.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct MessageAppendedV2 {
    /// The message.
    pub message: MessageId,
    /// Its slot.
    pub slot: Slot,
    /// Its place in the thread: 0, 1, 2, ...
    pub ordinal: u32,
    /// Who it is from.
    pub role: RoleCode,
    /// Of role, text, speaker and given timestamp: how a re-send is known. Keyed by the thread's slot.
    pub digest: Digest,
    /// Of the id that the client gave, if it gave one. Keyed by the profile's slot.
    pub id_digest: Option<Digest>,
    /// The registration under which it was said.
    pub speaker: Option<SpeakerId>,
    /// When it was said, if the client told.
    pub timestamp: Option<Micros>,
    /// How far the speaker's clock stood ahead of UTC, in seconds; 0 if the client told no zone.
    pub offset_seconds: i32,
    /// From when on it is unreachable.
    pub expires_at: Option<Micros>,
}

impl From<MessageAppendedV1> for MessageAppendedV2 {
    fn from(old: MessageAppendedV1) -> Self {
        let MessageAppendedV1 { message, slot, ordinal, role, digest, id_digest, speaker, timestamp, expires_at } = old;
        Self { message, slot, ordinal, role, digest, id_digest, speaker, timestamp, offset_seconds: 0, expires_at }
    }
}

/// What was said, as it was before messages had parts.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct MessageAppendedContentV1 {
    /// The text.
    pub text: String,
    /// The id that the client gave.
    pub given_id: Option<String>,
    /// The name of a role of the client's own.
    pub custom_role: Option<String>,
    /// A JSON object as text.
    pub metadata: String,
    /// Who sent it.
    pub by: ByV1,
}

/// What was said, in texts and images.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct MessageAppendedContentV2 {
    /// The text; of a message in parts, its text parts, a line each.
    pub text: String,
    /// Texts and images in order; none if the message is one text.
    pub parts: Vec<PartV1>,
    /// The id that the client gave.
    pub given_id: Option<String>,
    /// The name of a role of the client's own.
    pub custom_role: Option<String>,
    /// A JSON object as text.
    pub metadata: String,
    /// Who sent it.
    pub by: ByV1,
}

/// A part of a message: a text, or an image, which is a subject of its own.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PartV1 {
    /// The part; of an image, the same UUID as the image.
    pub part: PartId,
    /// A text.
    pub text: Option<String>,
    /// Or an image.
    pub image: Option<ImageId>,
}

impl From<MessageAppendedContentV1> for MessageAppendedContentV2 {
    fn from(old: MessageAppendedContentV1) -> Self {
        let MessageAppendedContentV1 { text, given_id, custom_role, metadata, by } = old;
        Self { text, parts: Vec::new(), given_id, custom_role, metadata, by }
    }
}

/// `message_updated`: its content (then that comes with the event), or only its time to live, is another one from here on.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct MessageUpdatedV1 {
    /// The message.
    pub message: MessageId,
    /// Its slot.
    pub slot: Slot,
    /// As in `message_appended`, of what the message says now.
    pub digest: Digest,
    /// From when on it is unreachable.
    pub expires_at: Option<Micros>,
    /// What that was before.
    pub expires_before: Option<Micros>,
}

/// `message_deleted`; erases each slot.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct MessageDeletedV1 {
    /// The messages and their slots.
    pub messages: Vec<(MessageId, Slot)>,
}

/// `summarised`: what the thread has been about so far, as a model put it. Until one is erased all summaries of a thread have the
/// same slot, so that forgetting any message of it takes every one of them.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SummarisedV1 {
    /// The slot of the thread's summaries.
    pub slot: Slot,
    /// The job that had it written.
    pub job: JobId,
    /// The ordinal of the last message that it covers.
    pub through: u32,
}

/// The summary.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SummarisedContentV1 {
    /// Plain text on one line.
    pub text: String,
    /// Nobody: a job has no caller.
    pub by: ByV1,
}

/// `summary_erased`: something that the summaries rest on is gone, and so are they; erases `slot`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SummaryErasedV1 {
    /// The slot of the thread's summaries.
    pub slot: Slot,
}
