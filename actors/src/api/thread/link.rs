//! Links between memories of one thread.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    super::{AsOf, Time, given::given, record::ItemType, verb},
    DeletedOne,
};

/// `thread.link_records`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkRecords {
    /// The profile.
    pub profile: String,
    /// The thread.
    pub thread_id: String,
    /// A memory of this thread.
    pub source_record_id: String,
    /// What it is.
    pub source_record_type: ItemType,
    /// Another memory of this thread.
    pub target_record_id: String,
    /// What it is.
    pub target_record_type: ItemType,
    /// `supersedes`, `contradicts`, `refines`, `supports`, `duplicates`, or a label of the client's own.
    pub relation_type: String,
    /// A custom label as read from the target; the same label when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opposite_relation_type: Option<String>,
    /// 1 to 64 characters, unique in the profile; made when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relation_id: Option<String>,
    /// The client's own time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<Time>,
    /// The client's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Map<String, Value>>,
}

/// Reply of `thread.link_records`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkedRecords {
    /// The link's id.
    pub relation_id: String,
}
verb!(LinkRecords, "thread", "link_records", LinkedRecords, thread_link_records);

/// `thread.update_record_link`: what is left out stays.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UpdateRecordLink {
    /// The profile.
    pub profile: String,
    /// The thread.
    pub thread_id: String,
    /// The link.
    pub relation_id: String,
    /// A built-in type brings its own opposite label along.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relation_type: Option<String>,
    /// Of a custom type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opposite_relation_type: Option<String>,
    /// Null clears it.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "given")]
    pub timestamp: Option<Option<Time>>,
    /// In place of the old ones, not merged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Map<String, Value>>,
}

/// Reply of `thread.update_record_link`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkUpdated {
    /// 0 or 1.
    pub updated: u64,
}
verb!(UpdateRecordLink, "thread", "update_record_link", LinkUpdated, thread_update_record_link);

/// `thread.delete_record_link`: by `relation_id` alone, or by all five of the others.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeleteRecordLink {
    /// The profile.
    pub profile: String,
    /// The thread.
    pub thread_id: String,
    /// The link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relation_id: Option<String>,
    /// Its source, as stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_record_id: Option<String>,
    /// What that is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_record_type: Option<ItemType>,
    /// Its target, as stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_record_id: Option<String>,
    /// What that is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_record_type: Option<ItemType>,
    /// Its label, as read from the source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relation_type: Option<String>,
}
verb!(DeleteRecordLink, "thread", "delete_record_link", DeletedOne, thread_delete_record_link);

/// `thread.list_record_links`: both directions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ListRecordLinks {
    /// The profile.
    pub profile: String,
    /// The thread.
    pub thread_id: String,
    /// A memory of this thread.
    pub record_id: String,
    /// As the log stood then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_of: Option<AsOf>,
}

/// Which way a link goes, seen from one of its ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// From it.
    Outgoing,
    /// To it.
    Incoming,
}

/// A link, seen from one of its ends; source and target are as stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordLink {
    /// Its id.
    pub relation_id: String,
    /// The label as read from the record asked for.
    pub relation_type: String,
    /// Which way it goes, seen from there.
    pub direction: Direction,
    /// From.
    pub source_record_id: String,
    /// What that is.
    pub source_record_type: ItemType,
    /// To.
    pub target_record_id: String,
    /// What that is.
    pub target_record_type: ItemType,
    /// The client's own.
    pub metadata: Map<String, Value>,
    /// The client's own time; null if it gave none.
    pub timestamp: Option<Time>,
}

/// Reply of `thread.list_record_links`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordLinks {
    /// Oldest first.
    pub links: Vec<RecordLink>,
}
verb!(ListRecordLinks, "thread", "list_record_links", RecordLinks, thread_list_record_links);
