//! Attach: which memories an agent reads besides its own, in order, and which of them it writes. Part of creating an agent and of
//! changing one.

use memlog_events::{
    event::{AttachedV1, ByV1, Facts},
    ids::{AgentId, Digest, Slot, StreamId},
};

use super::{Registry, told};
use crate::domain::{Fact, Place, Rejection};

/// Memories, each with whether it may be written.
pub type Attachments = Vec<(StreamId, bool)>;

impl Registry {
    /// Refuses what an agent of that owner may not attach: what is not there, what is another user's, and writing what is not of
    /// its own scope.
    pub(super) fn may_attach(
        &self,
        owner: Option<Digest>,
        own: Option<StreamId>,
        memories: &Attachments,
    ) -> Result<(), Rejection> {
        for (id, writes) in memories {
            let memory = self.memory(*id)?;
            if own == Some(*id) {
                return Err(Rejection::OwnMemory(memory.agent));
            }
            if memory.owner != owner {
                match (owner, memory.owner) {
                    (Some(_), None) if !writes => {}
                    (Some(_), Some(_)) => return Err(Rejection::NoMemory),
                    // A user may not have the account's written, nor the account give a user's to everyone's agents.
                    _ => return Err(Rejection::NotYours),
                }
            }
        }
        Ok(())
    }
}

/// The event, if anything changes.
pub(super) fn attached(
    (agent, slot): (AgentId, Slot),
    before: &Attachments,
    now: &Attachments,
    by: &ByV1,
    place: &Place,
) -> Option<Fact> {
    let kept = |id: &StreamId| now.iter().any(|(other, _)| other == id);
    let detached = before.iter().map(|(id, _)| *id).filter(|id| !kept(id)).collect();
    let facts = Facts::Attached(AttachedV1 { agent, memories: now.clone(), detached });
    (before != now).then(|| told(facts, by, place, slot))
}
