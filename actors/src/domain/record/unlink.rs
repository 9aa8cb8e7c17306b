//! Unlink: a link and the words on it are gone for real.

use memlog_events::{
    event::{ByV1, Facts, UnlinkedV1},
    ids::RelationId,
};

use super::HoldsRecords;
use crate::domain::{Command, Decision, Fact, Inputs, Place, Rejection, by_alone, thread::Thread};

/// Deletes one link.
#[derive(Clone, PartialEq, Debug)]
pub struct Unlink {
    /// The link.
    pub relation: RelationId,
    /// Who asks.
    pub by: ByV1,
}

impl Command<Thread> for Unlink {
    type Answer = ();

    fn decide(&self, state: &Thread, place: &Place, _: &mut dyn Inputs) -> Result<Decision<()>, Rejection> {
        if !state.is_open() {
            return Err(Rejection::Gone);
        }
        let link = state.records().relations.get(&self.relation).ok_or(Rejection::NoRecord)?;
        let facts = Facts::Unlinked(UnlinkedV1 { relation: self.relation, slot: link.slot });
        Ok(Decision::of(vec![Fact { facts, content: by_alone(&self.by, place, state.stream_slot()) }], ()))
    }
}

#[cfg(test)]
mod tests {
    use memlog_events::code::LinkCode;

    use super::*;
    use crate::domain::record::{
        Link,
        link::tests::{to, two},
    };

    #[test]
    fn what_a_link_made_invalid_holds_again_without_it() {
        let (mut given, old, new) = two();
        let relation = given.do_(Link { source: new, link: to(old, LinkCode::DUPLICATES) });
        given.do_(Unlink { relation, by: ByV1::default() });
        assert!(given.state.records.is_valid(old, given.now()));
        assert_eq!(given.last().facts.erases().len(), 1);
        let again = given.try_(Unlink { relation, by: ByV1::default() });
        assert_eq!(again.expect_err("refused"), Rejection::NoRecord);
    }
}
