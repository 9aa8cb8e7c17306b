//! Trash: a memory goes out of sight with all that is in it, for thirty days; its name is free at once.

use memlog_events::{
    batch::Outcome,
    event::{ByV1, Facts, TrashedV1},
    ids::{Micros, StreamId},
};
use uuid::Uuid;

use super::{Registry, told};
use crate::{
    domain::{Answered, Command, Decision, Fact, Inputs, Place, Rejection},
    limits::TRASH_DAYS,
};

/// Puts a memory into the trash.
#[derive(Clone, PartialEq, Debug)]
pub struct Trash {
    /// The memory.
    pub memory: StreamId,
    /// Who deletes it.
    pub by: ByV1,
}

/// How long it lies there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Trashed {
    /// The memory.
    pub memory: Uuid,
    /// Since when.
    pub deleted_at: Micros,
    /// Until when.
    pub expires_at: Micros,
}

impl Answered for Trashed {
    fn outcome(&self) -> Outcome {
        let numbers = [self.deleted_at, self.expires_at].map(|time| time.0.cast_unsigned());
        Outcome { ids: vec![self.memory], numbers: numbers.to_vec() }
    }

    fn from_outcome(outcome: &Outcome) -> Option<Self> {
        let ([memory], [deleted_at, expires_at]) = (outcome.ids.as_slice(), outcome.numbers.as_slice()) else {
            return None;
        };
        let [deleted_at, expires_at] = [*deleted_at, *expires_at].map(|time| Micros(time.cast_signed()));
        Some(Self { memory: *memory, deleted_at, expires_at })
    }
}

impl Command<Registry> for Trash {
    type Answer = Trashed;

    fn decide(&self, state: &Registry, place: &Place, inputs: &mut dyn Inputs) -> Result<Decision<Trashed>, Rejection> {
        let memory = state.memory(self.memory)?;
        if memory.agent.is_some() {
            return Err(Rejection::OwnMemory(memory.agent));
        }
        state.unattached(self.memory)?;
        let (fact, expires_at) = trashed(state, self.memory, &self.by, place, inputs)?;
        let answer = Trashed { memory: self.memory.0, deleted_at: inputs.now(), expires_at };
        Ok(Decision::of(vec![fact], answer))
    }
}

/// The event, and when the memory is purged.
pub(super) fn trashed(
    state: &Registry,
    memory: StreamId,
    by: &ByV1,
    place: &Place,
    inputs: &mut dyn Inputs,
) -> Result<(Fact, Micros), Rejection> {
    const DAY_MICROS: i64 = 86_400_000_000;
    let slot = state.memory(memory)?.slot;
    let expires_at = Micros(inputs.now().0.saturating_add(TRASH_DAYS * DAY_MICROS));
    let facts = Facts::Trashed(TrashedV1 { memory, ticket: inputs.slot(), expires_at });
    Ok((told(facts, by, place, slot), expires_at))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{
        registry::{Purge, PurgeDue, Restore},
        testing::{create_agent, create_memory, registry},
    };

    const DAY: i64 = 86_400_000_000;

    fn trash(memory: Uuid) -> Trash {
        Trash { memory: StreamId(memory), by: ByV1::default() }
    }

    fn restore(memory: Uuid) -> Restore {
        Restore { memory: StreamId(memory), by: ByV1::default() }
    }

    // What was thrown away by mistake comes back whole; what another took the name of meanwhile waits for another name.
    #[test]
    fn what_is_trashed_can_be_restored_unless_its_name_was_taken() {
        let mut given = registry();
        let company = given.do_(create_memory(None, "company")).0;
        given.do_(trash(company));
        assert_eq!(given.try_(trash(company)).expect_err("refused"), Rejection::NoMemory);
        let other = given.do_(create_memory(None, "company")).0;
        assert_eq!(given.try_(restore(company)).expect_err("refused"), Rejection::NameTaken(other));
        given.do_(trash(other));
        given.do_(restore(company));
        assert_eq!(given.last().facts.erases().len(), 1, "the ticket alone: nothing expires any more");
        assert_eq!(given.try_(restore(company)).expect_err("refused"), Rejection::NoMemory);
        let taken = given.try_(create_memory(None, "company")).expect_err("refused");
        assert_eq!(taken, Rejection::NameTaken(company));
    }

    // After thirty days it is gone by the clock, and the keeper erases it; what was restored is left alone.
    #[test]
    fn thirty_days_and_not_a_moment_longer() {
        let mut given = registry();
        let [kept, gone, later] = ["kept", "gone", "later"].map(|name| given.do_(create_memory(Some("ann"), name)).0);
        given.do_(trash(kept));
        let trashed = given.do_(trash(gone));
        assert_eq!(trashed.expires_at.0 - trashed.deleted_at.0, 30 * DAY);
        given.do_(restore(kept));
        given.advance(30 * DAY - 1);
        given.do_(trash(later));
        assert!(given.do_(PurgeDue(given.now())).0.is_empty());
        given.advance(1);
        assert_eq!(given.try_(restore(gone)).expect_err("refused"), Rejection::NoMemory);
        let by_hand = Purge { memory: StreamId(gone), by: ByV1::default() };
        assert_eq!(given.try_(by_hand).expect_err("refused"), Rejection::NoMemory);
        assert_eq!(given.do_(PurgeDue(given.now())).0, [gone]);
        assert_eq!(given.last().facts.erases().len(), 2);
        given.do_(Purge { memory: StreamId(later), by: ByV1::default() });
        assert_eq!(given.state.memories.len(), 1);
    }

    // What an agent reads must not vanish under it, and its own goes with it alone.
    #[test]
    fn what_is_attached_stays_and_an_agents_own_goes_with_it() {
        let mut given = registry();
        let company = given.do_(create_memory(None, "company")).0;
        let agent = given.do_(create_agent(None, "support", &[(company, false)])).0;
        let agent = memlog_events::ids::AgentId(agent);
        assert_eq!(given.try_(trash(company)).expect_err("refused"), Rejection::AttachedBy(vec![agent]));
        let own = given.state.agents[&agent].memory.0;
        assert_eq!(given.try_(trash(own)).expect_err("refused"), Rejection::OwnMemory(Some(agent)));
        given.do_(super::super::DeleteAgent { agent, by: ByV1::default() });
        given.do_(trash(company));
        given.do_(restore(own));
        given.do_(trash(own));
    }
}
