//! Purge: what lies in the trash is gone for good, at once on request and by itself when its time is over.

use memlog_events::{
    batch::Outcome,
    event::{ByV1, Facts, PurgedV1},
    ids::{Micros, Slot, StreamId},
};
use uuid::Uuid;

use super::{Named, Registry, told};
use crate::domain::{Answered, Command, Decision, Inputs, Place, Rejection};

/// Erases a memory that lies in the trash.
#[derive(Clone, PartialEq, Debug)]
pub struct Purge {
    /// The memory.
    pub memory: StreamId,
    /// Who purges it.
    pub by: ByV1,
}

impl Command<Registry> for Purge {
    type Answer = Named;

    fn decide(&self, state: &Registry, place: &Place, inputs: &mut dyn Inputs) -> Result<Decision<Named>, Rejection> {
        let (memory, ticket) = state.in_trash(self.memory, inputs.now())?;
        let facts = Facts::Purged(PurgedV1 { memory: self.memory, slot: memory.slot, ticket });
        // Its own slot is overwritten; who did it stays known.
        Ok(Decision::of(vec![told(facts, &self.by, place, Slot::NONE)], Named(self.memory.0)))
    }
}

/// Erases whatever had lain in the trash for its time by then: the keeper's command.
#[derive(Clone, PartialEq, Debug)]
pub struct PurgeDue(pub Micros);

/// The memories that were purged.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Purged(pub Vec<Uuid>);

impl Answered for Purged {
    fn outcome(&self) -> Outcome {
        Outcome { ids: self.0.clone(), numbers: Vec::new() }
    }

    fn from_outcome(outcome: &Outcome) -> Option<Self> {
        Some(Self(outcome.ids.clone()))
    }
}

/// Memories purged in one batch; the keeper asks again while more are due.
const PURGED_MAX: usize = 200;

impl Command<Registry> for PurgeDue {
    type Answer = Purged;

    fn decide(&self, state: &Registry, _: &Place, inputs: &mut dyn Inputs) -> Result<Decision<Purged>, Rejection> {
        let now = self.0.min(inputs.now());
        let (mut events, mut purged) = (Vec::new(), Vec::new());
        for (id, memory) in &state.memories {
            let Some((ticket, _)) = memory.trashed.filter(|(_, until)| *until <= now) else { continue };
            if events.len() == PURGED_MAX {
                break;
            }
            let facts = Facts::Purged(PurgedV1 { memory: *id, slot: memory.slot, ticket });
            events.push(crate::domain::Fact { facts, content: None });
            purged.push(id.0);
        }
        Ok(Decision::of(events, Purged(purged)))
    }
}
