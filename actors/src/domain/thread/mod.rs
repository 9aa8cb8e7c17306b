//! The thread: a conversation - its messages, the records made from them, their links and its extraction jobs.

mod add_image;
mod apply_extraction;
mod create;
mod delete;
mod delete_image;
mod delete_message;
mod fail_extraction;
mod image;
mod ingest;
mod open;
mod resend;
mod retry_extraction;
mod summarise;
mod update_image;
mod update_message;

use std::collections::BTreeMap;

pub use add_image::{AddImage, ImageKept};
pub use apply_extraction::{Applied, ApplyExtraction, Found, Said};
pub use create::Create;
pub use delete::Delete;
pub use delete_image::{DeleteImage, ImageDeleted};
pub use delete_message::{DeleteMessage, MessageDeleted};
pub use fail_extraction::FailExtraction;
pub use image::{ImageState, NewImage};
pub use ingest::{Append, Extraction, Ingest, Ingested, NewMessage, resend_digest};
use memlog_events::{
    code::StreamKind,
    event::Facts,
    ids::{Digest, ImageId, JobId, MessageId, Micros, Slot, SpeakerId},
};
pub use open::Open;
pub use resend::{Match, matched};
pub use retry_extraction::RetryExtraction;
use serde::{Deserialize, Serialize};
pub use summarise::{NewSummary, Summarise};
pub use update_image::UpdateImage;
pub use update_message::{MessageUpdated, UpdateMessage};

use super::{
    Aggregate,
    record::{HoldsRecords, Records, invalidates},
};

/// A message as decisions see it. One that is gone keeps its place and digest, or the next full re-send would bring it back.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct MessageState {
    /// The message.
    pub id: MessageId,
    /// Its slot; none once it is gone.
    pub slot: Option<Slot>,
    /// How a re-send is known.
    pub digest: Digest,
    /// Of the id that the client gave.
    pub id_digest: Option<Digest>,
    /// Whose words.
    pub speaker: Option<SpeakerId>,
    /// When it was said, if the client told.
    pub timestamp: Option<Micros>,
    /// Unreachable from here on.
    pub expires_at: Option<Micros>,
}

/// How far a job is, as the log tells it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum JobState {
    /// Promised.
    Open,
    /// Completed.
    Done,
    /// Given up.
    Failed,
}

/// The summaries of a thread as decisions see them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SummaryState {
    /// The slot of all of them.
    pub slot: Slot,
    /// The ordinal of the last message that the newest covers.
    pub through: u32,
}

/// A thread as decisions see it.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Thread {
    /// Its slot once it has begun.
    pub slot: Option<Slot>,
    /// Whether it was deleted.
    pub deleted: bool,
    /// All messages it ever took, by ordinal.
    pub messages: Vec<MessageState>,
    /// Ordinal by id.
    pub ordinals: BTreeMap<MessageId, u32>,
    /// Its records and links.
    pub records: Records,
    /// Its jobs and the messages each looks at.
    pub jobs: BTreeMap<JobId, (JobState, Vec<MessageId>)>,
    /// The first message, by ordinal, that no extraction was asked for yet.
    pub unasked: u32,
    /// Living images.
    pub images: BTreeMap<ImageId, ImageState>,
    /// Its summaries, if it has any.
    pub summary: Option<SummaryState>,
    /// How often something of it was erased, changed or superseded: a summary that was begun before the last time may repeat it.
    pub changes: u32,
}

impl Thread {
    fn gone(&mut self, messages: impl Iterator<Item = MessageId>) {
        for id in messages {
            if let Some(ordinal) = self.ordinals.get(&id) {
                self.messages[*ordinal as usize].slot = None;
            }
        }
    }

    /// A message that is there and whose time is not over.
    pub fn living(&self, id: MessageId, now: Micros) -> Option<&MessageState> {
        let message = &self.messages[*self.ordinals.get(&id)? as usize];
        let alive = message.slot.is_some() && message.expires_at.is_none_or(|at| at > now);
        alive.then_some(message)
    }

    /// An image that is there and whose time is not over.
    pub fn living_image(&self, id: ImageId, now: Micros) -> Option<&ImageState> {
        self.images.get(&id).filter(|image| image.expires_at.is_none_or(|at| at > now))
    }
}

impl Aggregate for Thread {
    const KIND: StreamKind = StreamKind::THREAD;
    const SNAPSHOT_LAYOUT: u16 = 4;

    fn evolve(&mut self, facts: &Facts, _: Micros) {
        self.records.evolve(facts);
        if changes(facts) {
            self.changes += 1;
        }
        match facts {
            Facts::ThreadCreated(e) => self.slot = Some(e.slot),
            Facts::ThreadDeleted(_) => self.deleted = true,
            Facts::MessageAppended(e) => {
                self.ordinals.insert(e.message, self.messages.len() as u32);
                self.messages.push(MessageState {
                    id: e.message,
                    slot: Some(e.slot),
                    digest: e.digest,
                    id_digest: e.id_digest,
                    speaker: e.speaker,
                    timestamp: e.timestamp,
                    expires_at: e.expires_at,
                });
            }
            Facts::MessageUpdated(e) => {
                if let Some(ordinal) = self.ordinals.get(&e.message) {
                    let message = &mut self.messages[*ordinal as usize];
                    (message.digest, message.expires_at) = (e.digest, e.expires_at);
                }
            }
            Facts::MessageDeleted(e) => self.gone(e.messages.iter().map(|m| m.0)),
            Facts::Forgot(e) => self.gone(e.messages.iter().map(|m| m.0)),
            Facts::Expired(e) => self.gone(e.messages.iter().map(|m| m.0)),
            Facts::Summarised(e) => self.summary = Some(SummaryState { slot: e.slot, through: e.through }),
            Facts::SummaryErased(_) => self.summary = None,
            Facts::ExtractionRequested(e) => {
                self.asked(&e.messages);
                self.jobs.insert(e.job, (JobState::Open, e.messages.clone()));
            }
            Facts::ExtractionCompleted(e) => self.set_job(e.job, JobState::Done),
            Facts::ExtractionFailed(e) => self.set_job(e.job, JobState::Failed),
            other => image::evolve(&mut self.images, other),
        }
    }
}

/// Whether an event erases, changes or supersedes something that its thread said.
pub(crate) fn changes(facts: &Facts) -> bool {
    match facts {
        Facts::MessageDeleted(_) | Facts::MessageUpdated(_) | Facts::Forgot(_) | Facts::Expired(_) => true,
        Facts::Superseded(_) | Facts::Updated(_) => true,
        Facts::StatusSet(e) => !e.valid,
        Facts::Linked(e) => invalidates(e.link),
        Facts::Relinked(e) => invalidates(e.link),
        _ => false,
    }
}

impl Thread {
    /// A job may leave out messages that are gone, but none that is there before its last.
    fn asked(&mut self, messages: &[MessageId]) {
        let ordinals: Vec<u32> = messages.iter().filter_map(|id| self.ordinals.get(id)).copied().collect();
        // One that looks at a changed message again asks for nothing new.
        if let Some(last) = ordinals.iter().max().filter(|_| ordinals.iter().any(|at| *at >= self.unasked)) {
            self.unasked = last + 1;
        }
    }

    fn set_job(&mut self, id: JobId, state: JobState) {
        if let Some(job) = self.jobs.get_mut(&id) {
            job.0 = state;
        }
    }
}

impl HoldsRecords for Thread {
    fn records(&self) -> &Records {
        &self.records
    }

    fn stream_slot(&self) -> Slot {
        self.slot.unwrap_or_default()
    }

    fn is_open(&self) -> bool {
        self.slot.is_some() && !self.deleted
    }

    fn is_deleted(&self) -> bool {
        self.deleted
    }

    fn message_slot(&self, id: MessageId) -> Option<Slot> {
        self.messages[*self.ordinals.get(&id)? as usize].slot
    }

    fn expired_messages(&self, now: Micros) -> Vec<(MessageId, Slot)> {
        let over = |message: &&MessageState| message.expires_at.is_some_and(|at| at <= now);
        self.messages.iter().filter(over).filter_map(|message| Some((message.id, message.slot?))).collect()
    }

    fn expired_images(&self, now: Micros) -> Vec<(ImageId, Slot)> {
        let over = |image: &ImageState| image.expires_at.is_some_and(|at| at <= now);
        self.images.iter().filter(|(_, image)| over(image)).map(|(id, image)| (*id, image.slot)).collect()
    }

    fn images_of(&self, messages: &[MessageId]) -> Vec<(ImageId, Slot)> {
        let theirs = |image: &ImageState| image.message.is_some_and(|message| messages.contains(&message));
        self.images.iter().filter(|(_, image)| theirs(image)).map(|(id, image)| (*id, image.slot)).collect()
    }

    fn summary_slot(&self) -> Option<Slot> {
        self.summary.map(|summary| summary.slot)
    }
}
