//! Relink: a link says something else; its ends stay.

use memlog_events::{
    batch::{Claim, Holder},
    code::LinkCode,
    event::{Content, Facts, LinkedContentV1, RelinkedV1},
    ids::{KeyPath, Micros, RelationId},
};

use super::{HoldsRecords, tuple_digest};
use crate::domain::{Command, Decision, Fact, Inputs, Place, Rejection, thread::Thread};

/// Changes what a link says.
#[derive(Clone, PartialEq, Debug)]
pub struct Relink {
    /// The link.
    pub relation: RelationId,
    /// What it says now.
    pub link: LinkCode,
    /// Its time now.
    pub timestamp: Option<Micros>,
    /// The words on it before.
    pub words_before: LinkedContentV1,
    /// The words on it now.
    pub words: LinkedContentV1,
}

impl Command<Thread> for Relink {
    type Answer = ();

    fn decide(&self, state: &Thread, place: &Place, inputs: &mut dyn Inputs) -> Result<Decision<()>, Rejection> {
        if !state.is_open() {
            return Err(Rejection::Gone);
        }
        let records = state.records();
        let link = records.relations.get(&self.relation).ok_or(Rejection::NoRecord)?;
        let (slot, source, target) = (link.slot, link.source, link.target);
        if !records.is_alive(source, inputs.now()) || !records.is_alive(target, inputs.now()) {
            return Err(Rejection::NoRecord);
        }
        let same = |other: LinkCode| other == self.link && other != LinkCode::CUSTOM;
        if let Some((id, _)) =
            records.between(source, target).find(|(id, other)| *id != self.relation && same(other.link))
        {
            return Err(Rejection::AlreadyLinked(id));
        }
        let keys = KeyPath { scope: place.scope_slot, stream: state.stream_slot(), subject: slot };
        let holder = Holder { stream: place.key, id: self.relation.0, keys };
        let tuple = |link, words: &LinkedContentV1, inputs: &dyn Inputs| {
            tuple_digest(place.scope_slot, source, target, link, words, inputs)
        };
        let before = tuple(link.link, &self.words_before, inputs);
        let now = tuple(self.link, &self.words, inputs);
        let facts = RelinkedV1 { relation: self.relation, slot, link: self.link, timestamp: self.timestamp };
        let content = Some((Content::Relinked(self.words.clone()), keys));
        let mut decision = Decision::of(vec![Fact { facts: Facts::Relinked(facts), content }], ());
        if before != now {
            decision.claims.extend(before.map(|digest| Claim::Release(digest, holder)));
            decision.claims.extend(now.map(|digest| Claim::Take(digest, holder)));
        }
        Ok(decision)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::record::{
        Link,
        link::tests::{to, two},
    };

    // Validity is derived from links and undone with them.
    #[test]
    fn what_a_link_made_invalid_holds_again_when_it_says_something_else() {
        let (mut given, old, new) = two();
        let relation = given.do_(Link { source: new, link: to(old, LinkCode::REFINES) });
        assert!(!given.state.records.is_valid(old, given.now()));
        let words = to(old, LinkCode::SUPPORTS).words;
        let relink =
            |link| Relink { relation, link, timestamp: None, words_before: words.clone(), words: words.clone() };
        given.do_(relink(LinkCode::SUPPORTS));
        assert!(given.state.records.is_valid(old, given.now()));
        let other = given.do_(Link { source: new, link: to(old, LinkCode::REFINES) });
        let refused = given.try_(relink(LinkCode::REFINES));
        assert_eq!(refused.expect_err("refused"), Rejection::AlreadyLinked(other));
    }
}
