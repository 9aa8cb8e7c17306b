//! Link: two records of a thread, and what the one says of the other.

use memlog_events::{
    batch::{Claim, Holder, Outcome},
    code::LinkCode,
    event::{Content, Facts, LinkedContentV1, LinkedV1},
    ids::{Digest, KeyPath, Micros, RecordId, RelationId, Slot},
};

use super::{HoldsRecords, id_digest};
use crate::domain::{Answered, Command, Decision, Fact, Inputs, Place, Rejection, thread::Thread};

/// A link to be.
#[derive(Clone, PartialEq, Debug)]
pub struct NewLink {
    /// Where it points.
    pub target: RecordId,
    /// What it says.
    pub link: LinkCode,
    /// When, if the client told.
    pub timestamp: Option<Micros>,
    /// The words on it.
    pub words: LinkedContentV1,
}

/// Links `source` to a record of the same thread.
#[derive(Clone, PartialEq, Debug)]
pub struct Link {
    /// Where it comes from.
    pub source: RecordId,
    /// The link.
    pub link: NewLink,
}

impl Answered for RelationId {
    fn outcome(&self) -> Outcome {
        Outcome { ids: vec![self.0], numbers: vec![5] }
    }

    fn from_outcome(outcome: &Outcome) -> Option<Self> {
        match (outcome.ids.as_slice(), outcome.numbers.as_slice()) {
            ([id], [5]) => Some(Self(*id)),
            _ => None,
        }
    }
}

/// How a link of a client's own type is known without its label. Two that say the same are one too many.
pub fn tuple_digest(
    scope_slot: Slot,
    source: RecordId,
    target: RecordId,
    link: LinkCode,
    words: &LinkedContentV1,
    inputs: &dyn Inputs,
) -> Option<Digest> {
    let label = words.label.as_deref().filter(|_| link == LinkCode::CUSTOM)?;
    let parts: [&[u8]; 4] = [b"relation", source.0.as_bytes(), target.0.as_bytes(), label.as_bytes()];
    Some(inputs.digest(scope_slot, &parts))
}

impl NewLink {
    /// The event that makes it, with claims on what must be unique.
    pub(super) fn linked(
        &self,
        source: RecordId,
        stream_slot: Slot,
        place: &Place,
        inputs: &mut dyn Inputs,
        decision: &mut Decision<()>,
    ) -> RelationId {
        let (relation, slot) = (RelationId(inputs.uuid()), inputs.slot());
        let keys = KeyPath { scope: place.scope_slot, stream: stream_slot, subject: slot };
        let holder = Holder { stream: place.key, id: relation.0, keys };
        let given = self.words.given_id.as_deref().map(|id| id_digest(place.scope_slot, id, inputs));
        let tuple = tuple_digest(place.scope_slot, source, self.target, self.link, &self.words, inputs);
        decision.claims.extend(given.into_iter().chain(tuple).map(|digest| Claim::Take(digest, holder)));
        let NewLink { target, link, timestamp, words } = self.clone();
        let facts = Facts::Linked(LinkedV1 { relation, slot, link, source, target, timestamp });
        decision.events.push(Fact { facts, content: Some((Content::Linked(words), keys)) });
        relation
    }
}

impl Command<Thread> for Link {
    type Answer = RelationId;

    fn decide(
        &self,
        state: &Thread,
        place: &Place,
        inputs: &mut dyn Inputs,
    ) -> Result<Decision<RelationId>, Rejection> {
        if !state.is_open() {
            return Err(Rejection::Gone);
        }
        let (records, target) = (state.records(), self.link.target);
        if !records.is_alive(self.source, inputs.now()) || !records.is_alive(target, inputs.now()) {
            return Err(Rejection::NoRecord);
        }
        if self.source == target {
            return Err(Rejection::LinkedToItself);
        }
        for (id, other) in records.between(self.source, target) {
            let same = other.link == self.link.link && other.link != LinkCode::CUSTOM;
            if other.source != self.source || same {
                return Err(Rejection::AlreadyLinked(id));
            }
        }
        let mut decision = Decision::nothing(());
        let relation = self.link.linked(self.source, state.stream_slot(), place, inputs, &mut decision);
        let Decision { events, claims, listed, .. } = decision;
        Ok(Decision { events, claims, listed, answer: relation })
    }
}

#[cfg(test)]
pub(super) mod tests {
    use memlog_events::event::ByV1;

    use super::*;
    use crate::domain::{record::Add, testing::*, thread::Create};

    pub(in crate::domain::record) fn to(target: RecordId, link: LinkCode) -> NewLink {
        let words = LinkedContentV1 {
            label: None,
            opposite: None,
            metadata: "{}".to_owned(),
            given_id: None,
            by: ByV1::default(),
        };
        NewLink { target, link, timestamp: None, words }
    }

    pub(in crate::domain::record) fn two() -> (Story<Thread>, RecordId, RecordId) {
        let mut given = Story::<Thread>::new();
        given.do_(Create(open("trip")));
        let mut add = |text| given.do_(Add { record: record(text), valid: true, link: None }).record;
        let (one, other) = (add("Lives in Porto"), add("Lives in Lisbon"));
        (given, one, other)
    }

    // One direction a pair: else each of two records could make the other invalid.
    #[test]
    fn a_pair_is_linked_one_way_and_once_by_each_type() {
        let (mut given, old, new) = two();
        let first = given.do_(Link { source: new, link: to(old, LinkCode::SUPERSEDES) });
        given.do_(Link { source: new, link: to(old, LinkCode::CONTRADICTS) });
        let mut refused = |source, target, link| given.try_(Link { source, link: to(target, link) }).expect_err("no");
        assert_eq!(refused(new, old, LinkCode::SUPERSEDES), Rejection::AlreadyLinked(first));
        assert!(matches!(refused(old, new, LinkCode::SUPPORTS), Rejection::AlreadyLinked(_)));
        assert_eq!(refused(new, new, LinkCode::SUPPORTS), Rejection::LinkedToItself);
        assert!(!given.state.records.is_valid(old, given.now()));
    }
}
