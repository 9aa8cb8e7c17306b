//! Update a message: what it says, or how long it lives, is another from here on.

use memlog_events::{
    batch::Outcome,
    event::{ByV1, Content, Facts, ImageUpdatedV1, MessageUpdatedV1},
    ids::{JobId, KeyPath, MessageId, Micros, Slot},
};

use super::{NewMessage, Thread, image, ingest, resend_digest};
use crate::domain::{
    Answered, Command, Decision, Fact, Inputs, Place, Rejection, by_alone,
    record::{HoldsRecords, summary_erased},
};

/// Changes a message. Role and time stay.
#[derive(Clone, PartialEq, Debug)]
pub struct UpdateMessage {
    /// The message.
    pub message: MessageId,
    /// All that it says now, metadata included, if that changes.
    pub said: Option<NewMessage>,
    /// Whether its text or parts are new, so that its images go and memories are made from it again.
    pub rewritten: bool,
    /// From when on it is unreachable now.
    pub expires_at: Option<Micros>,
    /// Whether memories are made from messages of this thread.
    pub extract: bool,
    /// Keyed digest of the namespace, for the list of jobs.
    pub namespace_digest: [u8; 16],
    /// Who changes it.
    pub by: ByV1,
}

/// What became of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MessageUpdated {
    /// The message.
    pub message: MessageId,
    /// The extraction, if one was asked for.
    pub job: Option<JobId>,
}

impl Answered for MessageUpdated {
    fn outcome(&self) -> Outcome {
        Outcome { ids: std::iter::once(self.message.0).chain(self.job.map(|job| job.0)).collect(), numbers: vec![2] }
    }

    fn from_outcome(outcome: &Outcome) -> Option<Self> {
        match (outcome.ids.as_slice(), outcome.numbers.as_slice()) {
            ([message], [2]) => Some(Self { message: MessageId(*message), job: None }),
            ([message, job], [2]) => Some(Self { message: MessageId(*message), job: Some(JobId(*job)) }),
            _ => None,
        }
    }
}

impl Command<Thread> for UpdateMessage {
    type Answer = MessageUpdated;

    fn decide(
        &self,
        state: &Thread,
        place: &Place,
        inputs: &mut dyn Inputs,
    ) -> Result<Decision<MessageUpdated>, Rejection> {
        let stream_slot = state.slot.filter(|_| !state.deleted).ok_or(Rejection::Gone)?;
        let message = state.living(self.message, inputs.now()).ok_or(Rejection::NoMessage)?;
        let slot = message.slot.ok_or(Rejection::NoMessage)?;
        let keys = KeyPath { scope: place.scope_slot, stream: stream_slot, subject: slot };
        let digest = |said: &NewMessage| resend_digest(said, |parts| inputs.digest(stream_slot, parts));
        let facts = MessageUpdatedV1 {
            message: self.message,
            slot,
            digest: self.said.as_ref().map_or(message.digest, digest),
            expires_at: self.expires_at,
            expires_before: message.expires_at,
        };
        let content = match &self.said {
            Some(said) => Some((Content::MessageUpdated(said.content.clone()), keys)),
            None => by_alone(&self.by, place, stream_slot),
        };
        let moved = self.expires_at != message.expires_at;
        let mut decision = Decision::of(vec![Fact { facts: Facts::MessageUpdated(facts), content }], ());
        if self.rewritten {
            decision.events.extend(image::deleted(state.images_of(&[self.message])));
            for new in self.said.iter().flat_map(|said| &said.images) {
                new.added(Some(self.message), self.expires_at, stream_slot, place, inputs, &mut decision);
            }
        } else if moved {
            self.move_images(state, stream_slot, place, &mut decision);
        }
        // A summary may repeat what is not said any more.
        decision.events.extend(self.said.as_ref().and_then(|_| summary_erased(state)));
        let again = self.again(state);
        let job = ingest::request(&again, self.namespace_digest, &self.by, stream_slot, place, inputs, &mut decision);
        let Decision { events, claims, listed, .. } = decision;
        Ok(Decision { events, claims, listed, answer: MessageUpdated { message: self.message, job } })
    }
}

impl UpdateMessage {
    /// The message, if memories are to be made from it once more. One that no extraction was asked for yet is read as it is now
    /// when its turn comes.
    fn again(&self, state: &Thread) -> Vec<MessageId> {
        let blank = self.said.as_ref().is_none_or(|said| said.content.text.trim().is_empty());
        let read_before = state.ordinals.get(&self.message).is_some_and(|at| *at < state.unasked);
        let again = self.rewritten && self.extract && !blank && read_before;
        again.then_some(self.message).into_iter().collect()
    }

    /// An image of a message lives as long as the message.
    fn move_images(&self, state: &Thread, stream_slot: Slot, place: &Place, decision: &mut Decision<()>) {
        for (image, it) in state.images.iter().filter(|(_, it)| it.message == Some(self.message)) {
            let facts = ImageUpdatedV1 {
                image: *image,
                slot: it.slot,
                form: it.form,
                timestamp: it.timestamp,
                expires_at: self.expires_at,
                expires_before: it.expires_at,
            };
            let content = by_alone(&self.by, place, stream_slot);
            decision.events.push(Fact { facts: Facts::ImageUpdated(facts), content });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{
        testing::*,
        thread::{Extraction, Ingest},
    };

    fn update(id: MessageId, text: &str) -> UpdateMessage {
        UpdateMessage {
            message: id,
            said: Some(message(text)),
            rewritten: true,
            expires_at: None,
            extract: true,
            namespace_digest: [7; 16],
            by: ByV1::default(),
        }
    }

    #[test]
    fn a_new_text_is_extracted_again_and_known_by_what_it_says_now() {
        let mut given = Story::<Thread>::new();
        let said = given.do_(ingest("trip", &["I live in Porto"]));
        let changed = given.do_(update(said.messages[0], "I live in Lisbon"));
        assert_eq!(given.names()[3..], ["message_updated", "extraction_requested"]);
        assert_eq!(given.state.jobs[&changed.job.expect("job")].1, said.messages);
        assert_eq!(given.do_(ingest("trip", &["I live in Lisbon"])).accepted, 0);
    }

    // Its turn comes, and the frequency of extraction must not change by it.
    #[test]
    fn what_waits_for_its_extraction_is_not_asked_for_apart() {
        let mut given = Story::<Thread>::new();
        let every = Ingest { extraction: Extraction::Every(3), ..ingest("trip", &["a", "b"]) };
        let said = given.do_(every.clone());
        assert_eq!(given.do_(update(said.messages[1], "c")).job, None);
        let grown = Ingest { messages: vec![message("a"), message("c"), message("d")], ..every };
        let job = given.do_(grown).job.expect("three");
        assert_eq!(given.state.jobs[&job].1.len(), 3);
    }

    #[test]
    fn emptied_it_stays_and_nothing_is_made_from_it() {
        let mut given = Story::<Thread>::new();
        let said = given.do_(ingest("trip", &["I live in Porto"]));
        assert_eq!(given.do_(update(said.messages[0], "")).job, None);
        assert!(given.state.living(said.messages[0], given.now()).is_some());
    }

    #[test]
    fn what_has_expired_cannot_be_refreshed() {
        let mut given = Story::<Thread>::new();
        let mut short = ingest("trip", &["parking spot 7"]);
        short.messages[0].expires_at = Some(Micros(given.now().0 + 10));
        let said = given.do_(short);
        given.advance(10);
        let refused = given.try_(update(said.messages[0], "x"));
        assert_eq!(refused.expect_err("refused"), Rejection::NoMessage);
    }
}
