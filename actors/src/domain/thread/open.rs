//! Open: a thread begins, with the first thing that is put into it.

use memlog_events::{
    batch::{Claim, Holder},
    event::{ByV1, Content, Facts, ThreadCreatedContentV1, ThreadCreatedV1},
    ids::{Digest, KeyPath, Slot},
};

use crate::domain::{Decision, Fact, Inputs, Place};

/// How a thread begins.
#[derive(Clone, PartialEq, Debug)]
pub struct Open {
    /// The id that clients use.
    pub thread_id: String,
    /// Its keyed digest, which is claimed: unique in the profile, and free again after deletion.
    pub id_digest: Digest,
    /// Whether the id was derived from the messages.
    pub derived: bool,
    /// The owner.
    pub user_id: Option<String>,
    /// The agent.
    pub agent_id: Option<String>,
    /// A JSON object as text.
    pub metadata: String,
    /// A JSON object as text.
    pub settings: String,
    /// Who opens it.
    pub by: ByV1,
}

impl Open {
    /// The event that begins the thread, its claim, and its new slot.
    pub(crate) fn begin(&self, place: &Place, inputs: &mut dyn Inputs) -> (Decision<()>, Slot) {
        let slot = inputs.slot();
        let keys = KeyPath { scope: place.scope_slot, stream: slot, subject: Slot::NONE };
        let content = ThreadCreatedContentV1 {
            thread_id: self.thread_id.clone(),
            user_id: self.user_id.clone(),
            agent_id: self.agent_id.clone(),
            metadata: self.metadata.clone(),
            settings: self.settings.clone(),
            by: self.by.clone(),
        };
        let fact = Fact {
            facts: Facts::ThreadCreated(ThreadCreatedV1 { slot, derived: self.derived }),
            content: Some((Content::ThreadCreated(content), keys)),
        };
        let mut decision = Decision::of(vec![fact], ());
        let holder = Holder { stream: place.key, id: place.key.stream.0, keys };
        decision.claims.push(Claim::Take(self.id_digest, holder));
        (decision, slot)
    }
}
