//! `audit.*`: the log itself, never its content.

use serde::{Deserialize, Serialize};

use super::{Time, verb};

/// One event of the log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// The global position.
    pub seq: u64,
    /// Its type, in the past tense.
    #[serde(rename = "type")]
    pub event_type: String,
    /// When.
    pub at: Time,
    /// `api`, `user:<id>` or `agent:<id>`; null once erased.
    pub by: Option<String>,
    /// The profile's name; null once it is gone.
    pub profile: Option<String>,
    /// The stream.
    pub stream: String,
    /// Its place in the stream.
    pub version: u64,
    /// The record, message or job it is about.
    pub record_id: Option<String>,
}

/// `audit.events`: ascending.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Events {
    /// Only this profile's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// Only this record's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub record_id: Option<String>,
    /// Only these types.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub types: Option<Vec<String>>,
    /// From this position on, inclusive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_seq: Option<u64>,
    /// 1 to 500, 20 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
}

/// Reply of `audit.events`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EventsPage {
    /// Ascending by `seq`.
    pub events: Vec<Event>,
}
verb!(Events, "audit", "events", EventsPage, audit_events);

/// A position and the commit chain's hash there, in hex.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Head {
    /// The position.
    pub seq: u64,
    /// 64 hex digits.
    pub hash: String,
}

/// `audit.verify`: checks every chain, hash and key.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Verify {
    /// A head seen before: proves that nothing was cut or rolled back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expect: Option<Head>,
}

/// The first place where the log does not hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Break {
    /// The stream.
    pub stream: String,
    /// The version in it.
    pub version: u64,
    /// What does not hold.
    pub reason: String,
}

/// Reply of `audit.verify`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verified {
    /// Whether everything holds.
    pub ok: bool,
    /// How many events were checked.
    pub events: u64,
    /// The log's head.
    pub head: Head,
    /// The first break, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_break: Option<Break>,
}
verb!(Verify, "audit", "verify", Verified, audit_verify);

/// `audit.export`: JSON Lines.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Export {
    /// Only this profile's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// From this position on, inclusive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_seq: Option<u64>,
    /// 1 to 500, 500 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
}

/// Reply of `audit.export`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Exported {
    /// One JSON object a line.
    pub lines: String,
    /// Where to go on; absent at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_seq: Option<u64>,
}
verb!(Export, "audit", "export", Exported, audit_export);

/// `audit.stats`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stats {}

/// Reply of `audit.stats`: of this namespace, but for `head`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Counted {
    /// Events.
    pub events: u64,
    /// Profiles.
    pub profiles: u64,
    /// Events by type.
    pub by_type: std::collections::BTreeMap<String, u64>,
    /// The log's head.
    pub head: Head,
}
verb!(Stats, "audit", "stats", Counted, audit_stats);
