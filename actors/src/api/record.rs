//! What memories look like everywhere.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::Time;
use crate::port::RecordType;

/// What a hit or a listed thing is: a record of one of seven types, a raw message or an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the seven types are documented at `RecordType`")]
pub enum ItemType {
    Memory,
    Fact,
    Event,
    Instruction,
    Task,
    Guideline,
    Preference,
    /// A raw message.
    Message,
    /// An image, found by what is said to be on it.
    Image,
}

impl ItemType {
    /// Whether it is a record, of any of the seven types.
    pub fn is_record(self) -> bool {
        !matches!(self, Self::Message | Self::Image)
    }

    /// As on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Fact => "fact",
            Self::Event => "event",
            Self::Instruction => "instruction",
            Self::Task => "task",
            Self::Guideline => "guideline",
            Self::Preference => "preference",
            Self::Message => "message",
            Self::Image => "image",
        }
    }
}

impl From<RecordType> for ItemType {
    fn from(record_type: RecordType) -> Self {
        match record_type {
            RecordType::Memory => Self::Memory,
            RecordType::Fact => Self::Fact,
            RecordType::Event => Self::Event,
            RecordType::Instruction => Self::Instruction,
            RecordType::Task => Self::Task,
            RecordType::Guideline => Self::Guideline,
            RecordType::Preference => Self::Preference,
        }
    }
}

/// Whether a record holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It holds.
    Valid,
    /// It was set so, or a link says so.
    Invalid,
}

/// A record, or a raw message among search results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The client's id if it gave one, else a UUIDv7.
    pub id: String,
    /// What it is.
    #[serde(rename = "type")]
    pub item_type: ItemType,
    /// One line; null in a replayed reply whose record is gone.
    pub summary: Option<String>,
    /// The text. Left out in lists; null in a replayed reply whose record is gone.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "nullable")]
    pub content: Option<Option<String>>,
    /// The profile's name.
    pub profile: String,
    /// The session (thread) it belongs to.
    pub session_id: Option<String>,
    /// The owner.
    pub user_id: Option<String>,
    /// The agent.
    pub agent_id: Option<String>,
    /// Who said it, if tagged.
    pub speaker: Option<String>,
    /// The client's own.
    pub metadata: Map<String, Value>,
    /// Whether it holds.
    pub status: Status,
    /// When what it tells happened, else when it was created.
    pub timestamp: Time,
    /// From when on it is unreachable.
    pub expires_at: Option<Time>,
    /// Of this record.
    pub version: u64,
    /// Ids of the messages it was made from.
    pub sources: Vec<String>,
    /// The record that took its place.
    pub superseded_by: Option<String>,
    /// When it was stored.
    pub created_at: Time,
    /// When it last changed.
    pub updated_at: Time,
    /// How well it answers, 0 to 1; in search results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f32>,
    /// What is linked to it, when hops were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub linked: Option<Vec<Linked>>,
}

/// A record found by following links.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Linked {
    /// Its id.
    pub id: String,
    /// Its type.
    pub record_type: ItemType,
    /// Its text.
    pub content: String,
    /// Who said it, if tagged.
    pub speaker: Option<String>,
    /// The label of the link by which it was reached, as seen from where one came.
    pub relation_type: String,
    /// How many links away.
    pub hops: u32,
}

/// A field that may be absent, null, or there.
mod nullable {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[allow(clippy::ref_option, reason = "serde gives the field by reference")]
    pub(super) fn serialize<S: Serializer>(value: &Option<Option<String>>, serializer: S) -> Result<S::Ok, S::Error> {
        value.clone().flatten().serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<String>>, D::Error> {
        Option::<String>::deserialize(deserializer).map(Some)
    }
}
