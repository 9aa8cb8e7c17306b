//! Every event, one file a family. The structs are frozen: what a released version wrote, every later one reads.
//!
//! *Facts* are plain: opaque ids, numbers, times, codes. *Content* is all that a person could mind and is sealed by one
//! subject's key. The enums here are for code to match on; they never reach the disk - the codec writes
//! `(kind, version)` and the bare struct.

mod extraction;
mod image;
mod note;
mod notebook;
mod profile;
mod record;
mod registry;
mod thread;

use serde::{Deserialize, Serialize};

pub use extraction::*;
pub use image::*;
pub use note::*;
pub use notebook::*;
pub use profile::*;
pub use record::*;
pub use registry::*;
pub use thread::*;

use crate::ids::{Micros, Slot};

/// Who did it. Part of contents, since a user's id is a name.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct ByV1 {
    /// The user that the caller acted for.
    pub user: Option<String>,
    /// The agent that called.
    pub agent: Option<String>,
}

/// The content of events that have nothing else to say.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct ByContentV1 {
    /// Who did it.
    pub by: ByV1,
}

macro_rules! events {
    ($($variant:ident($facts:ty) = $kind:literal, $name:literal $(, $content:ident($content_ty:ty))?;)+) => {
        /// The plain half of an event, latest versions.
        #[derive(Clone, PartialEq, Debug)]
        #[allow(missing_docs, reason = "each variant is documented at its struct")]
        pub enum Facts { $($variant($facts),)+ }

        /// The sealed half, latest versions.
        #[derive(Clone, PartialEq, Debug)]
        #[allow(missing_docs, reason = "each variant is documented at its struct")]
        pub enum Content {
            $($($content($content_ty),)?)+
            /// Only who did it.
            By(ByContentV1),
        }

        impl Facts {
            /// The kind's number, for ever.
            pub fn kind(&self) -> u16 { match self { $(Self::$variant(_) => $kind,)+ } }
            /// The kind's name on the wire, in the past tense.
            pub fn name(&self) -> &'static str { match self { $(Self::$variant(_) => $name,)+ } }
        }

        /// Each kind's number under its own name, for the codec to match on.
        #[allow(non_upper_case_globals, missing_docs, reason = "named after the variants")]
        pub mod kind { $(pub const $variant: u16 = $kind;)+ }

        /// Numbers and names of every kind.
        pub const KINDS: &[(u16, &str)] = &[$(($kind, $name),)+];
    };
}

events! {
    ProfileCreated(ProfileCreatedV1) = 1, "profile_created", ProfileCreated(ProfileCreatedContentV1);
    ProfileDeleted(ProfileDeletedV1) = 2, "profile_deleted";
    SpeakerAdded(SpeakerAddedV1) = 3, "speaker_added", SpeakerAdded(SpeakerAddedContentV1);
    SpeakerRemoved(SpeakerRemovedV1) = 4, "speaker_removed";
    ThreadCreated(ThreadCreatedV1) = 10, "thread_created", ThreadCreated(ThreadCreatedContentV1);
    ThreadDeleted(ThreadDeletedV1) = 11, "thread_deleted";
    MessageAppended(MessageAppendedV2) = 12, "message_appended", MessageAppended(MessageAppendedContentV2);
    MessageDeleted(MessageDeletedV1) = 13, "message_deleted";
    Summarised(SummarisedV1) = 14, "summarised", Summarised(SummarisedContentV1);
    SummaryErased(SummaryErasedV1) = 15, "summary_erased";
    MessageUpdated(MessageUpdatedV1) = 16, "message_updated", MessageUpdated(MessageAppendedContentV2);
    Saved(SavedV1) = 20, "saved", Saved(SavedContentV1);
    Superseded(SupersededV1) = 21, "superseded";
    Linked(LinkedV1) = 22, "linked", Linked(LinkedContentV1);
    Unlinked(UnlinkedV1) = 23, "unlinked";
    Forgot(ForgotV1) = 24, "forgot";
    Expired(ExpiredV1) = 25, "expired";
    Updated(UpdatedV1) = 26, "updated", Updated(SavedContentV1);
    StatusSet(StatusSetV1) = 27, "status_set";
    Relinked(RelinkedV1) = 28, "relinked", Relinked(LinkedContentV1);
    ExtractionRequested(ExtractionRequestedV1) = 30, "extraction_requested";
    ExtractionCompleted(ExtractionCompletedV1) = 31, "extraction_completed";
    ExtractionFailed(ExtractionFailedV1) = 32, "extraction_failed";
    ImageAdded(ImageAddedV1) = 33, "image_added", ImageAdded(ImageAddedContentV1);
    ImageStored(ImageStoredV1) = 34, "image_stored", ImageStored(ImageStoredContentV1);
    ImageUpdated(ImageUpdatedV1) = 35, "image_updated", ImageUpdated(ImageAddedContentV1);
    ImageDeleted(ImageDeletedV1) = 36, "image_deleted";
    EntrySaved(EntrySavedV1) = 40, "entry_saved", EntrySaved(EntrySavedContentV1);
    EntryForgot(EntryForgotV1) = 41, "entry_forgot";
    RegistryCreated(RegistryCreatedV1) = 50, "registry_created", RegistryCreated(RegistryCreatedContentV1);
    MemoryCreated(MemoryCreatedV1) = 51, "memory_created", MemoryCreated(MemoryCreatedContentV1);
    MemoryUpdated(MemoryUpdatedV1) = 52, "memory_updated", MemoryUpdated(MemoryUpdatedContentV1);
    Trashed(TrashedV1) = 53, "trashed";
    Restored(RestoredV1) = 54, "restored";
    Purged(PurgedV1) = 55, "purged";
    AgentCreated(AgentCreatedV1) = 60, "agent_created", AgentCreated(AgentCreatedContentV1);
    AgentUpdated(AgentUpdatedV1) = 61, "agent_updated", AgentUpdated(AgentUpdatedContentV1);
    Attached(AttachedV1) = 62, "attached";
    AgentDeleted(AgentDeletedV1) = 63, "agent_deleted";
    NoteSaved(NoteSavedV1) = 70, "note_saved", NoteSaved(NoteSavedContentV1);
    NoteRemoved(NoteRemovedV1) = 71, "note_removed";
    NoteKindAdded(NoteKindAddedV1) = 72, "note_kind_added", NoteKindAdded(NoteKindAddedContentV1);
    SessionConnected(SessionConnectedV1) = 73, "session_connected";
    NotesLoaded(NotesLoadedV1) = 74, "notes_loaded";
    EditorOpened(EditorOpenedV1) = 75, "editor_opened";
    EditorClosed(EditorClosedV1) = 76, "editor_closed";
}

impl Facts {
    /// The slots that this event condemns: the writer overwrites them once the event is durable.
    pub fn erases(&self) -> Vec<Slot> {
        match self {
            Self::ProfileDeleted(e) => vec![e.slot],
            Self::ThreadDeleted(e) => vec![e.slot],
            Self::MessageDeleted(e) => e.messages.iter().map(|m| m.1).collect(),
            Self::SummaryErased(e) => vec![e.slot],
            Self::Unlinked(e) => vec![e.slot],
            Self::ImageDeleted(e) => e.images.iter().map(|image| image.1).collect(),
            Self::EntryForgot(e) => vec![e.slot],
            Self::Restored(e) => vec![e.ticket],
            Self::Purged(e) => vec![e.slot, e.ticket],
            Self::AgentDeleted(e) => vec![e.slot],
            Self::NoteRemoved(e) => vec![e.slot],
            Self::Forgot(e) => std::iter::once(e.slot)
                .chain(e.messages.iter().map(|m| m.1))
                .chain(e.relations.iter().map(|r| r.1))
                .collect(),
            Self::Expired(e) => {
                let records = e.records.iter().map(|r| r.1);
                let messages = e.messages.iter().map(|m| m.1);
                records.chain(messages).chain(e.relations.iter().map(|r| r.1)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The same event without the slots that a log does not know: those of subjects that came later.
    pub fn erasing_only(self, known: impl Fn(Slot) -> bool) -> Self {
        let kept = |slot: Slot| if known(slot) { slot } else { Slot::NONE };
        fn retain<T>(all: &mut Vec<(T, Slot)>, known: impl Fn(Slot) -> bool) {
            all.retain(|(_, slot)| known(*slot));
        }
        let mut facts = self;
        match &mut facts {
            Self::ProfileDeleted(e) => e.slot = kept(e.slot),
            Self::ThreadDeleted(e) => e.slot = kept(e.slot),
            Self::MessageDeleted(e) => retain(&mut e.messages, &known),
            Self::SummaryErased(e) => e.slot = kept(e.slot),
            Self::Unlinked(e) => e.slot = kept(e.slot),
            Self::ImageDeleted(e) => retain(&mut e.images, &known),
            Self::EntryForgot(e) => e.slot = kept(e.slot),
            Self::Restored(e) => e.ticket = kept(e.ticket),
            Self::Purged(e) => (e.slot, e.ticket) = (kept(e.slot), kept(e.ticket)),
            Self::AgentDeleted(e) => e.slot = kept(e.slot),
            Self::NoteRemoved(e) => e.slot = kept(e.slot),
            Self::Forgot(e) => {
                e.slot = kept(e.slot);
                retain(&mut e.messages, &known);
                retain(&mut e.relations, &known);
            }
            Self::Expired(e) => {
                retain(&mut e.records, &known);
                retain(&mut e.messages, &known);
                retain(&mut e.relations, &known);
            }
            _ => {}
        }
        facts
    }

    /// When the subject that this event creates or changes becomes unreachable, and its slot.
    pub fn expiry(&self) -> Option<(Micros, Slot)> {
        match self {
            Self::MessageAppended(e) => e.expires_at.map(|at| (at, e.slot)),
            Self::MessageUpdated(e) => e.expires_at.map(|at| (at, e.slot)),
            Self::Saved(e) => e.expires_at.map(|at| (at, e.slot)),
            Self::Updated(e) => e.expires_at.map(|at| (at, e.slot)),
            Self::ImageAdded(e) => e.expires_at.map(|at| (at, e.slot)),
            Self::ImageUpdated(e) => e.expires_at.map(|at| (at, e.slot)),
            Self::Trashed(e) => Some((e.expires_at, e.ticket)),
            _ => None,
        }
    }

    /// When the subject would have become unreachable before this event, and its slot.
    pub fn expiry_before(&self) -> Option<(Micros, Slot)> {
        match self {
            Self::MessageUpdated(e) => e.expires_before.map(|at| (at, e.slot)),
            Self::Updated(e) => e.expires_before.map(|at| (at, e.slot)),
            Self::ImageUpdated(e) => e.expires_before.map(|at| (at, e.slot)),
            _ => None,
        }
    }
}

impl Content {
    /// Who did it.
    pub fn by(&self) -> &ByV1 {
        match self {
            Self::ProfileCreated(c) => &c.by,
            Self::SpeakerAdded(c) => &c.by,
            Self::ThreadCreated(c) => &c.by,
            Self::MessageAppended(c) | Self::MessageUpdated(c) => &c.by,
            Self::Summarised(c) => &c.by,
            Self::Saved(c) | Self::Updated(c) => &c.by,
            Self::Linked(c) | Self::Relinked(c) => &c.by,
            Self::ImageAdded(c) | Self::ImageUpdated(c) => &c.by,
            Self::ImageStored(c) => &c.by,
            Self::EntrySaved(c) => &c.by,
            Self::RegistryCreated(c) => &c.by,
            Self::MemoryCreated(c) => &c.by,
            Self::MemoryUpdated(c) => &c.by,
            Self::AgentCreated(c) => &c.by,
            Self::AgentUpdated(c) => &c.by,
            Self::NoteSaved(c) => &c.by,
            Self::NoteKindAdded(c) => &c.by,
            Self::By(c) => &c.by,
        }
    }
}
