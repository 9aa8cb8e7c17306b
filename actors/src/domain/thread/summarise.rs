//! Keep what a model wrote about a thread, asked for by a reader rather than by a job.

use memlog_events::{
    event::{ByV1, Content, Facts, SummarisedContentV1, SummarisedV1},
    ids::{JobId, KeyPath, MessageId, Slot},
};

use super::Thread;
use crate::domain::{Command, Decision, Fact, Inputs, Place, Rejection};

/// What a model wrote about a thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewSummary {
    /// Plain text on one line.
    pub text: String,
    /// The thread's `changes` when the messages for it were read.
    pub changes: u32,
}

/// Keeps a summary, unless a newer one is there or what it was written from is gone.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Summarise {
    /// The summary.
    pub summary: NewSummary,
    /// The last message that it covers.
    pub through: MessageId,
}

impl Command<Thread> for Summarise {
    type Answer = ();

    fn decide(&self, state: &Thread, place: &Place, inputs: &mut dyn Inputs) -> Result<Decision<()>, Rejection> {
        let slot = state.slot.filter(|_| !state.deleted).ok_or(Rejection::Gone)?;
        let through = *state.ordinals.get(&self.through).ok_or(Rejection::NoMessage)?;
        let job = JobId(inputs.uuid());
        let kept = summarised(&self.summary, job, through, slot, state, place, inputs);
        Ok(Decision::of(kept.into_iter().collect(), ()))
    }
}

/// The event, unless a newer summary is there or what this one was written from is gone.
pub(super) fn summarised(
    summary: &NewSummary,
    job: JobId,
    through: u32,
    thread_slot: Slot,
    state: &Thread,
    place: &Place,
    inputs: &mut dyn Inputs,
) -> Option<Fact> {
    // One that covers as much may take the place of one that was outdated by a correction.
    if summary.changes != state.changes || state.summary.is_some_and(|newest| newest.through > through) {
        return None;
    }
    let slot = state.summary.map_or_else(|| inputs.slot(), |summaries| summaries.slot);
    let content = SummarisedContentV1 { text: summary.text.clone(), by: ByV1::default() };
    let keys = KeyPath { scope: place.scope_slot, stream: thread_slot, subject: slot };
    let facts = Facts::Summarised(SummarisedV1 { slot, job, through });
    Some(Fact { facts, content: Some((Content::Summarised(content), keys)) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{
        testing::*,
        thread::{DeleteMessage, SummaryState},
    };

    fn summarise(through: MessageId, changes: u32) -> Summarise {
        Summarise { summary: NewSummary { text: "Lisbon.".to_owned(), changes }, through }
    }

    #[test]
    fn a_summary_is_kept_once_and_never_in_place_of_a_newer_one() {
        let mut given = Story::<Thread>::new();
        let said = given.do_(ingest("trip", &["I live in Lisbon", "and have a cat"])).messages;
        given.do_(summarise(said[1], 0));
        let kept = given.state.summary.expect("kept");
        assert_eq!((given.last().facts.name(), kept.through), ("summarised", 1));
        let before = given.names().len();
        given.do_(summarise(said[0], 0));
        assert_eq!((given.names().len(), given.state.summary), (before, Some(kept)));
        // One that was outdated by a correction is written anew over the same messages.
        given.do_(summarise(said[1], 0));
        assert_eq!(given.state.summary, Some(kept));
        let more = given.do_(ingest("trip", &["I live in Lisbon", "and have a cat", "and a dog"])).messages;
        given.do_(summarise(*more.last().expect("a message"), 0));
        assert_eq!(given.state.summary, Some(SummaryState { through: 2, ..kept }));
    }

    // A model may take a minute; what was forgotten meanwhile must not come back in its words.
    #[test]
    fn a_summary_of_what_is_gone_is_dropped() {
        let mut given = Story::<Thread>::new();
        let said = given.do_(ingest("trip", &["I live in Lisbon", "and have a cat"])).messages;
        given.do_(DeleteMessage { message: said[0], cascade: false, by: ByV1::default() });
        let before = given.names().len();
        given.do_(summarise(said[1], 0));
        assert_eq!((given.names().len(), given.state.summary), (before, None));
        given.do_(summarise(said[1], 1));
        assert!(given.state.summary.is_some());
    }

    #[test]
    fn there_must_be_a_thread_and_the_message() {
        let mut given = Story::<Thread>::new();
        let nobody = MessageId(uuid::Uuid::from_u128(7));
        assert_eq!(given.try_(summarise(nobody, 0)), Err(Rejection::Gone));
        given.do_(ingest("trip", &["I live in Lisbon"]));
        assert_eq!(given.try_(summarise(nobody, 0)), Err(Rejection::NoMessage));
    }
}
