//! `speaker.*`: who may be named as having said something.

use serde::{Deserialize, Serialize};

use super::{AsOf, Done, Time, verb};

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
