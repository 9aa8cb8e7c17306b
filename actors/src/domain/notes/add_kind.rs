//! Add a kind: notes may be of it from then on, and count as `kDefault`.

use memlog_events::{
    code::KindCode,
    event::{ByV1, Content, Facts, NoteKindAddedContentV1, NoteKindAddedV1},
};

use super::{Notes, Numbered, built_in, kind_digest};
use crate::{
    domain::{Command, Decision, Fact, Inputs, Place, Rejection},
    limits::NOTE_KINDS_MAX,
};

/// Adds a kind.
#[derive(Clone, PartialEq, Debug)]
pub struct AddKind {
    /// What notes name it by.
    pub kind_key: String,
    /// For people.
    pub title: String,
    /// Who adds it.
    pub by: ByV1,
}

impl Command<Notes> for AddKind {
    type Answer = Numbered;

    fn decide(&self, state: &Notes, place: &Place, inputs: &mut dyn Inputs) -> Result<Decision<Numbered>, Rejection> {
        let key_digest = kind_digest(&self.kind_key, place, inputs);
        if built_in(&self.kind_key).is_some() || state.kinds.contains_key(&key_digest) {
            return Err(Rejection::KindTaken);
        }
        let added = state.kinds.len() as u64;
        if added >= NOTE_KINDS_MAX {
            return Err(Rejection::TooManyKinds);
        }
        // Kinds are never taken away, so their number is the next one's.
        let kind = KindCode(KindCode::DEFAULT.0 + 1 + u32::try_from(added).map_err(|_| Rejection::TooManyKinds)?);
        let content =
            NoteKindAddedContentV1 { kind_key: self.kind_key.clone(), title: self.title.clone(), by: self.by.clone() };
        let facts = Facts::NoteKindAdded(NoteKindAddedV1 { kind, key_digest });
        let content = super::sealed(Content::NoteKindAdded(content), memlog_events::ids::Slot::NONE, place);
        Ok(Decision::of(vec![Fact { facts, content }], Numbered(u64::from(kind.0))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::testing::Story;

    fn add(key: &str) -> AddKind {
        AddKind { kind_key: key.to_owned(), title: "Law".to_owned(), by: ByV1::default() }
    }

    // A key names one kind for ever: were it two, a note would change its rank unseen.
    #[test]
    fn a_key_names_one_kind() {
        let mut given = Story::<Notes>::new();
        assert_eq!((given.do_(add("kLaw")).0, given.do_(add("klaw")).0), (5, 6));
        for taken in ["kLaw", "kCritical", "kDefault"] {
            assert_eq!(given.try_(add(taken)).expect_err("refused"), Rejection::KindTaken, "{taken}");
        }
        assert_eq!(super::super::counts_as(KindCode(6)), KindCode::DEFAULT);
    }
}
