//! The profile: an isolated store; its speakers, and the records that belong to no thread.

mod add_speaker;
mod create;
mod delete;
mod remove_speaker;

use std::collections::BTreeMap;

pub use add_speaker::{AddSpeaker, Registered};
pub use create::Create;
pub use delete::Delete;
use memlog_events::{
    code::StreamKind,
    event::Facts,
    ids::{Digest, ImageId, MessageId, Micros, Slot, SpeakerId},
};
pub use remove_speaker::RemoveSpeaker;
use serde::{Deserialize, Serialize};

use super::{
    Aggregate,
    record::{HoldsRecords, Records},
};

/// A profile as decisions see it.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Profile {
    /// Its slot once it is created.
    pub slot: Option<Slot>,
    /// Whether it was deleted.
    pub deleted: bool,
    /// Living registrations by the keyed digest of their name.
    pub speakers: BTreeMap<SpeakerId, Digest>,
    /// Records that belong to no thread.
    pub records: Records,
}

impl Aggregate for Profile {
    const KIND: StreamKind = StreamKind::PROFILE;
    const SNAPSHOT_LAYOUT: u16 = 3;

    fn evolve(&mut self, facts: &Facts, _: Micros) {
        match facts {
            Facts::ProfileCreated(e) => self.slot = Some(e.slot),
            Facts::ProfileDeleted(_) => self.deleted = true,
            Facts::SpeakerAdded(e) => {
                self.speakers.insert(e.speaker, e.name_digest);
            }
            Facts::SpeakerRemoved(e) => {
                self.speakers.remove(&e.speaker);
            }
            other => self.records.evolve(other),
        }
    }
}

impl HoldsRecords for Profile {
    fn records(&self) -> &Records {
        &self.records
    }

    fn stream_slot(&self) -> Slot {
        Slot::NONE
    }

    fn is_open(&self) -> bool {
        self.slot.is_some() && !self.deleted
    }

    fn is_deleted(&self) -> bool {
        self.deleted
    }

    fn message_slot(&self, _: MessageId) -> Option<Slot> {
        None
    }

    fn expired_messages(&self, _: Micros) -> Vec<(MessageId, Slot)> {
        Vec::new()
    }

    fn expired_images(&self, _: Micros) -> Vec<(ImageId, Slot)> {
        Vec::new()
    }

    fn images_of(&self, _: &[MessageId]) -> Vec<(ImageId, Slot)> {
        Vec::new()
    }

    fn summary_slot(&self) -> Option<Slot> {
        None
    }
}
