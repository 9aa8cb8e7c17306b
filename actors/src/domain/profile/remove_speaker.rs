//! Remove a speaker: the tag goes from every read, for good; the records stay.

use memlog_events::{
    event::{ByV1, Facts, SpeakerRemovedV1},
    ids::{Slot, SpeakerId},
};

use super::Profile;
use crate::domain::{Command, Decision, Fact, Inputs, Place, Rejection, by_alone, record::HoldsRecords};

/// Ends one registration.
#[derive(Clone, PartialEq, Debug)]
pub struct RemoveSpeaker {
    /// The registration.
    pub speaker: SpeakerId,
    /// Who ends it.
    pub by: ByV1,
}

impl Command<Profile> for RemoveSpeaker {
    type Answer = ();

    fn decide(&self, state: &Profile, place: &Place, _: &mut dyn Inputs) -> Result<Decision<()>, Rejection> {
        if !state.is_open() {
            return Err(Rejection::Gone);
        }
        if !state.speakers.contains_key(&self.speaker) {
            return Err(Rejection::NoSpeaker);
        }
        let facts = Facts::SpeakerRemoved(SpeakerRemovedV1 { speaker: self.speaker });
        Ok(Decision::of(vec![Fact { facts, content: by_alone(&self.by, place, Slot::NONE) }], ()))
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::domain::testing::*;

    #[test]
    fn who_is_not_registered_cannot_be_removed() {
        let mut given = Story::<Profile>::new();
        given.do_(create_profile());
        let nobody = RemoveSpeaker { speaker: SpeakerId(Uuid::from_u128(7)), by: ByV1::default() };
        assert_eq!(given.try_(nobody).expect_err("refused"), Rejection::NoSpeaker);
    }
}
