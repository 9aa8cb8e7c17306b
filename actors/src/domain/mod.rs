//! The rules: what each command decides, given what the stream has told so far.
//!
//! Pure: no actor, no runtime, no clock, no disk. Time, new ids, new slots and keyed digests are inputs. `decide` says
//! which events follow from a command, or why none may; `evolve` folds an event into the state and cannot fail. State
//! is made of facts alone, so it is the same whether or not the contents have been erased.
//!
//! To add a command: a file named by its verb, in the folder of the aggregate (in `record` when threads and profiles both
//! take it), with the struct, its [`Command::decide`] and its tests in the words of `testing`: given, when, then. A new
//! aggregate is a folder with a state that implements [`Aggregate`].

pub mod notebook;
pub mod notes;
pub mod profile;
pub mod record;
pub mod registry;
pub mod text;
pub mod thread;

#[cfg(test)]
pub(crate) mod testing;

use memlog_events::{
    batch::{Claim, Listing, Outcome},
    code::StreamKind,
    event::{ByV1, Content, Facts},
    ids::{AgentId, Digest, KeyPath, MessageId, Micros, RecordId, RelationId, Slot, StreamKey},
};
use serde::{Serialize, de::DeserializeOwned};
use uuid::Uuid;

/// What a decision needs besides state and command.
pub trait Inputs {
    /// Now.
    fn now(&self) -> Micros;
    /// A fresh UUIDv7, greater than every one before.
    fn uuid(&mut self) -> Uuid;
    /// A fresh vault slot.
    fn slot(&mut self) -> Slot;
    /// A fingerprint keyed by a slot.
    fn digest(&self, slot: Slot, parts: &[&[u8]]) -> Digest;
}

/// One event to be, with its sealed half.
#[derive(Clone, PartialEq, Debug)]
pub struct Fact {
    /// The plain half.
    pub facts: Facts,
    /// The sealed half and what seals it.
    pub content: Option<(Content, KeyPath)>,
}

/// What a command leads to.
#[derive(Clone, PartialEq, Debug)]
pub struct Decision<T> {
    /// What happened; nothing if the command changes nothing.
    pub events: Vec<Fact>,
    /// Unique names taken or given back with it.
    pub claims: Vec<Claim>,
    /// Rows of the directory that come with it.
    pub listed: Vec<Listing>,
    /// What the caller hears.
    pub answer: T,
}

impl<T> Decision<T> {
    /// Nothing happens.
    pub fn nothing(answer: T) -> Self {
        Self { events: Vec::new(), claims: Vec::new(), listed: Vec::new(), answer }
    }

    /// These events happen.
    pub fn of(events: Vec<Fact>, answer: T) -> Self {
        Self { events, claims: Vec::new(), listed: Vec::new(), answer }
    }
}

/// Why a command may not be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    /// The stream was deleted, or never began: look it up again.
    #[error("the stream is gone")]
    Gone,
    /// No such record here.
    #[error("no such record")]
    NoRecord,
    /// The record no longer holds.
    #[error("the record is superseded")]
    Superseded(Option<RecordId>),
    /// The id that the client gave is another's.
    #[error("the id is taken")]
    IdTaken(Uuid),
    /// As many speakers as there may be.
    #[error("too many speakers")]
    SpeakerLimit(u64),
    /// No such registration.
    #[error("no such speaker")]
    NoSpeaker,
    /// No such job here.
    #[error("no such job")]
    NoJob,
    /// Only a failed job can be tried again.
    #[error("the job has not failed")]
    NotFailed,
    /// No such message here.
    #[error("no such message")]
    NoMessage,
    /// No such image here.
    #[error("no such image")]
    NoImage,
    /// The image is part of a message, with which it lives and dies.
    #[error("the image is part of a message")]
    Attached(MessageId),
    /// The two records are linked this way already, or the other way round.
    #[error("the records are linked already")]
    AlreadyLinked(RelationId),
    /// A record cannot be linked to itself.
    #[error("a record cannot be linked to itself")]
    LinkedToItself,
    /// No such memory here, or not where the command looks for it: in the trash, or out of it.
    #[error("no such memory")]
    NoMemory,
    /// No such agent.
    #[error("no such agent")]
    NoAgent,
    /// No such entry in this layer.
    #[error("no such entry")]
    NoEntry,
    /// A name that is unique among its owner's is this one's.
    #[error("the name is taken")]
    NameTaken(Uuid),
    /// The entry is at another version than the caller saw, or is not there.
    #[error("the entry is at another version")]
    VersionMoved(Option<u64>),
    /// A new entry says in one line what it holds.
    #[error("a new entry needs a description")]
    NotDescribed,
    /// These agents attach it.
    #[error("the memory is attached")]
    AttachedBy(Vec<AgentId>),
    /// It is an agent's own, and cannot be named, deleted or attached to that agent.
    #[error("the memory is an agent's own")]
    OwnMemory(Option<AgentId>),
    /// Not of the scope that may attach it so.
    #[error("the memory is of another scope")]
    NotYours,
    /// No such note that the caller may change.
    #[error("no such note")]
    NoNote,
    /// An editor holds the notes.
    #[error("an editor holds the notes")]
    NotesHeld,
    /// The registry of kinds does not have it.
    #[error("no such kind of notes")]
    NoKind,
    /// The registry of kinds has it already.
    #[error("there is a kind of that key")]
    KindTaken,
    /// As many kinds as there may be.
    #[error("too many kinds of notes")]
    TooManyKinds,
    /// The level needs this field, or does not go with it.
    #[error("{0} does not go with the level")]
    Misplaced(&'static str),
    /// The session was never given out, or ended.
    #[error("no such session")]
    NoSession,
}

/// The state of one kind of stream.
pub trait Aggregate: Default + Send + Sync + Serialize + DeserializeOwned + 'static {
    /// What kind of stream.
    const KIND: StreamKind;
    /// Changes whenever a snapshot of the state could be read wrongly; older snapshots are then ignored.
    const SNAPSHOT_LAYOUT: u16;

    /// Folds one event in.
    fn evolve(&mut self, facts: &Facts, time: Micros);
}

/// What every command knows of where it acts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// The stream.
    pub key: StreamKey,
    /// The profile's slot.
    pub scope_slot: Slot,
}

/// A command on one kind of stream.
pub trait Command<A: Aggregate>: Clone + Send + 'static {
    /// What the caller hears; ids and numbers, so that it can be remembered.
    type Answer: Answered;

    /// Which events follow, or why none may.
    fn decide(&self, state: &A, place: &Place, inputs: &mut dyn Inputs) -> Result<Decision<Self::Answer>, Rejection>;
}

/// An answer that fits an idempotency row.
pub trait Answered: Clone + Send + 'static {
    /// As ids and numbers.
    fn outcome(&self) -> Outcome;
    /// Back again; none if the row was written by another verb.
    fn from_outcome(outcome: &Outcome) -> Option<Self>;
}

impl Answered for () {
    fn outcome(&self) -> Outcome {
        Outcome::default()
    }

    fn from_outcome(_: &Outcome) -> Option<Self> {
        Some(())
    }
}

/// The content of an event that says only who did it; it dies with the stream.
pub(crate) fn by_alone(by: &ByV1, place: &Place, stream_slot: Slot) -> Option<(Content, KeyPath)> {
    let keys = KeyPath { scope: place.scope_slot, stream: stream_slot, subject: Slot::NONE };
    Some((Content::By(memlog_events::event::ByContentV1 { by: by.clone() }), keys))
}
