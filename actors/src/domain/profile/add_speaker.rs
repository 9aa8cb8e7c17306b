//! Add a speaker: from here on records may be tagged with the name.

use memlog_events::{
    batch::Outcome,
    event::{ByV1, Content, Facts, SpeakerAddedContentV1, SpeakerAddedV1},
    ids::{KeyPath, Slot, SpeakerId},
};

use super::Profile;
use crate::domain::{Answered, Command, Decision, Fact, Inputs, Place, Rejection, record::HoldsRecords};

/// Registers a name; a known one changes nothing.
#[derive(Clone, PartialEq, Debug)]
pub struct AddSpeaker {
    /// Trimmed and NFC.
    pub name: String,
    /// As many as there may be.
    pub speakers_max: u64,
    /// Who registers it.
    pub by: ByV1,
}

/// The registration of the name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Registered(pub SpeakerId);

impl Answered for Registered {
    fn outcome(&self) -> Outcome {
        Outcome { ids: vec![self.0.0], numbers: Vec::new() }
    }

    fn from_outcome(outcome: &Outcome) -> Option<Self> {
        outcome.ids.first().map(|id| Self(SpeakerId(*id)))
    }
}

impl Command<Profile> for AddSpeaker {
    type Answer = Registered;

    fn decide(
        &self,
        state: &Profile,
        place: &Place,
        inputs: &mut dyn Inputs,
    ) -> Result<Decision<Registered>, Rejection> {
        if !state.is_open() {
            return Err(Rejection::Gone);
        }
        let name_digest = inputs.digest(place.scope_slot, &[b"speaker", self.name.as_bytes()]);
        if let Some((known, _)) = state.speakers.iter().find(|(_, digest)| **digest == name_digest) {
            return Ok(Decision::nothing(Registered(*known)));
        }
        if state.speakers.len() as u64 >= self.speakers_max {
            return Err(Rejection::SpeakerLimit(self.speakers_max));
        }
        let (speaker, slot) = (SpeakerId(inputs.uuid()), inputs.slot());
        let keys = KeyPath { scope: place.scope_slot, stream: Slot::NONE, subject: slot };
        let content = SpeakerAddedContentV1 { name: self.name.clone(), by: self.by.clone() };
        let fact = Fact {
            facts: Facts::SpeakerAdded(SpeakerAddedV1 { speaker, slot, name_digest }),
            content: Some((Content::SpeakerAdded(content), keys)),
        };
        Ok(Decision::of(vec![fact], Registered(speaker)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{profile::RemoveSpeaker, testing::*};

    fn add(name: &str) -> AddSpeaker {
        AddSpeaker { name: name.to_owned(), speakers_max: 2, by: ByV1::default() }
    }

    #[test]
    fn a_known_name_is_the_same_registration_and_case_matters() {
        let mut given = Story::<Profile>::new();
        given.do_(create_profile());
        let bob = given.do_(add("Bob"));
        assert_eq!(given.do_(add("Bob")), bob);
        assert_ne!(given.do_(add("bob")), bob);
    }

    // The limit counts living registrations, and a name added again is another registration: old tags revive nothing.
    #[test]
    fn the_limit_counts_who_is_registered_now() {
        let mut given = Story::<Profile>::new();
        given.do_(create_profile());
        let first = given.do_(add("Bob"));
        given.do_(add("Иван"));
        assert_eq!(given.try_(add("さくら")).expect_err("refused"), Rejection::SpeakerLimit(2));
        given.do_(RemoveSpeaker { speaker: first.0, by: ByV1::default() });
        assert_ne!(given.do_(add("Bob")), first);
    }
}
