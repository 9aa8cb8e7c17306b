//! What happens to the entries of a notebook (a memory in the words of the API), in the notebook's own stream.

use serde::{Deserialize, Serialize};

use super::ByV1;
use crate::ids::{Digest, EntryId, Slot};

/// `entry_saved`: an entry has a new version. All versions of an entry have the same slot, so that forgetting it takes every one
/// of them; an entry saved again after it was forgotten is another entry.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct EntrySavedV1 {
    /// The entry.
    pub entry: EntryId,
    /// Its slot.
    pub slot: Slot,
    /// Of the user whose layer it lies in; none is the account's. Keyed by the notebook's slot.
    pub layer: Option<Digest>,
    /// Of its name: how the same entry is known again. Keyed by the notebook's slot.
    pub name_digest: Digest,
    /// 1, 2, 3, ... for each name of a layer, also across forgetting.
    pub version: u64,
}

/// What it says.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct EntrySavedContentV1 {
    /// Its name.
    pub name: String,
    /// One line; none if the version before it has it.
    pub description: Option<String>,
    /// Markdown.
    pub content: String,
    /// The user whose layer it lies in.
    pub user_id: Option<String>,
    /// Who saved it.
    pub by: ByV1,
}

/// `entry_forgot`: the entry and all its versions are gone; erases `slot`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct EntryForgotV1 {
    /// The entry.
    pub entry: EntryId,
    /// Its slot.
    pub slot: Slot,
}
