//! The notebook: the entries of one memory, in layers, each with its versions. Who may write which layer is decided before a
//! command gets here; the rules of names, agents and trash are the registry's.

mod forget;
mod save;

use std::collections::BTreeMap;

use memlog_events::{
    code::StreamKind,
    event::{ByV1, Content, Facts},
    ids::{Digest, EntryId, KeyPath, Micros, Slot},
};
use serde::{Deserialize, Serialize};

pub use forget::ForgetEntry;
pub use save::{SaveEntry, SavedEntry};

use super::{Aggregate, Inputs, Place};

/// A notebook as decisions see it.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Notebook {
    /// Every name that was ever saved, by the digests of its layer and its own.
    pub names: BTreeMap<Address, Name>,
    entries: BTreeMap<EntryId, Address>,
}

/// Where an entry is found: the digest of its layer's user (none is the account's) and of its name.
pub type Address = (Option<Digest>, Digest);

/// What a name of one layer has been.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Name {
    /// The last version that was used, which is never used again.
    pub version: u64,
    /// The entry and its slot, unless it was forgotten.
    pub living: Option<(EntryId, Slot)>,
}

impl Aggregate for Notebook {
    const KIND: StreamKind = StreamKind::NOTEBOOK;
    const SNAPSHOT_LAYOUT: u16 = 1;

    fn evolve(&mut self, facts: &Facts, _: Micros) {
        match facts {
            Facts::EntrySaved(e) => {
                let address = (e.layer, e.name_digest);
                self.names.insert(address, Name { version: e.version, living: Some((e.entry, e.slot)) });
                self.entries.insert(e.entry, address);
            }
            Facts::EntryForgot(e) => {
                if let Some(name) = self.entries.remove(&e.entry).and_then(|address| self.names.get_mut(&address)) {
                    name.living = None;
                }
            }
            _ => {}
        }
    }
}

/// An entry that a command is about, in the words of the caller.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EntryName {
    /// The memory's slot.
    pub notebook: Slot,
    /// The user whose layer it lies in; none is the account's.
    pub user: Option<String>,
    /// Its name.
    pub name: String,
}

impl EntryName {
    /// Where it is found. `digest` is keyed by the memory's slot.
    pub fn address(&self, digest: impl Fn(&[&[u8]]) -> Digest) -> Address {
        let layer = self.user.as_ref().map(|user| digest(&[b"layer", user.as_bytes()]));
        (layer, digest(&[b"entry", self.name.as_bytes()]))
    }

    fn at(&self, inputs: &dyn Inputs) -> Address {
        self.address(|parts| inputs.digest(self.notebook, parts))
    }

    /// What an event says of who did it, and what seals it.
    fn by(&self, by: &ByV1, place: &Place) -> Option<(Content, KeyPath)> {
        super::by_alone(by, place, self.notebook)
    }
}
