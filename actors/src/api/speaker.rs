//! `speaker.*`: who may be named as having said something.

use serde::{Deserialize, Serialize};

use super::{AsOf, Done, Time, record::Record, verb};

/// `speaker.add`: adding a known name changes nothing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Add {
    /// The profile; created if new.
    pub profile: String,
    /// 1 to 80 characters; trimmed, NFC.
    pub speaker: String,
}

/// A registered speaker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Speaker {
    /// The name.
    pub speaker: String,
    /// Valid records under it.
    pub memories: u64,
    /// When it was registered.
    pub created_at: Time,
}

/// Reply of `speaker.add`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Added {
    /// As it is listed.
    pub speaker: Speaker,
}
verb!(Add, "speaker", "add", Added, speaker_add);

/// `speaker.list`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct List {
    /// The profile.
    pub profile: String,
    /// As the log stood then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_of: Option<AsOf>,
}

/// Reply of `speaker.list`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Listed {
    /// In order of registration.
    pub speakers: Vec<Speaker>,
    /// How many.
    pub count: u64,
    /// How many there may be.
    pub limit: u64,
}
verb!(List, "speaker", "list", Listed, speaker_list);

/// `speaker.remove`: memories stay, the tag goes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Remove {
    /// The profile.
    pub profile: String,
    /// The name.
    pub speaker: String,
}
verb!(Remove, "speaker", "remove", Done, speaker_remove);

/// `speaker.memories`: what one person said, newest first, without a question. Only valid records stored under the tag.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Memories {
    /// The profile.
    pub profile: String,
    /// A registered name, or `me`.
    pub speaker: String,
    /// 1 to 500, 20 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// `next_before` of the page before: what was created at this instant or earlier.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Time>,
    /// `next_skip_ids` of the page before: of that instant, what was shown already. At most 10,000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skip_ids: Option<Vec<String>>,
    /// As the log stood then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_of: Option<AsOf>,
}

/// Reply of `speaker.memories`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MemoriesPage {
    /// With content, as a search shows them.
    pub memories: Vec<Record>,
    /// Sentences behind this page: those of its memories and of the messages that would go with them.
    pub chunks: u64,
    /// The same number, under the name of what forgetting the page would erase.
    pub points_to_delete: u64,
    /// Where the next page begins; null on the last one.
    pub next_before: Option<Time>,
    /// What the next page leaves out, for several memories may share one instant; empty on the last one.
    pub next_skip_ids: Vec<String>,
}
verb!(Memories, "speaker", "memories", MemoriesPage, speaker_memories);
