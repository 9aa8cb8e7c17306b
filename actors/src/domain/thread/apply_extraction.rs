//! Apply an extraction: what a worker found becomes records, once.

use std::collections::BTreeSet;

use memlog_events::{
    batch::Outcome,
    code::TypeCode,
    event::{ByV1, ExtractionCompletedV1, Facts, SavedContentV1},
    ids::{Digest, JobId, MessageId, Micros, RecordId, SpeakerId},
};

use super::{
    JobState, Thread,
    summarise::{NewSummary, summarised},
};
use crate::domain::{
    Answered, Command, Decision, Fact, Inputs, Place, Rejection,
    record::{HoldsRecords, NewRecord, replaced},
};

/// One memory that a worker found.
#[derive(Clone, PartialEq, Debug)]
pub struct Found {
    /// What it is.
    pub record_type: TypeCode,
    /// The statement.
    pub content: String,
    /// One line.
    pub summary: String,
    /// When it happened, if the words say so.
    pub timestamp: Option<Micros>,
    /// A JSON object as text: what it takes over from its messages.
    pub metadata: String,
    /// The messages that say so; the first one's speaker is the record's.
    pub sources: Vec<MessageId>,
    /// The record of this thread that it corrects.
    pub corrects: Option<RecordId>,
    /// Or the place of an earlier one of the same result: said and taken back in one breath.
    pub revises: Option<usize>,
}

/// Applies a job's result. Delivered twice, it changes nothing the second time.
#[derive(Clone, PartialEq, Debug)]
pub struct ApplyExtraction {
    /// The job.
    pub job: JobId,
    /// How many tries it took.
    pub attempts: u32,
    /// What was found.
    pub found: Vec<Found>,
    /// Statements that valid records of the profile's other streams already make, and under whose tag.
    pub known: Said,
    /// The summary of the thread, if one was written.
    pub summary: Option<NewSummary>,
    /// What earlier parts of the same result came to: a batch of the log does not hold any number of records.
    pub earlier: Vec<Option<RecordId>>,
    /// Another part follows, and the job is not done yet. Should it never come, the job is done again, and what was stored says
    /// then what is known.
    pub more: bool,
}

/// The records made, in the order of what was found; none for what was dropped.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Applied(pub Vec<Option<RecordId>>);

impl Answered for Applied {
    fn outcome(&self) -> Outcome {
        Outcome { ids: self.0.iter().flatten().map(|id| id.0).collect(), numbers: Vec::new() }
    }

    fn from_outcome(outcome: &Outcome) -> Option<Self> {
        Some(Self(outcome.ids.iter().map(|id| Some(RecordId(*id))).collect()))
    }
}

impl Command<Thread> for ApplyExtraction {
    type Answer = Applied;

    fn decide(&self, state: &Thread, place: &Place, inputs: &mut dyn Inputs) -> Result<Decision<Applied>, Rejection> {
        let slot = state.slot.filter(|_| !state.deleted).ok_or(Rejection::Gone)?;
        let (job, messages) = state.jobs.get(&self.job).ok_or(Rejection::NoJob)?;
        if *job == JobState::Done {
            return Ok(Decision::nothing(Applied::default()));
        }
        // What is found twice in one result is found once.
        let mut said = self.known.clone();
        let mut decision = Decision::of(Vec::new(), self.earlier.clone());
        for found in &self.found {
            let fresh = self.record(found, state, inputs).filter(|record| {
                let fingerprint = record.fingerprint(place.scope_slot, inputs);
                let known = state.records().says(fingerprint, record.speaker, inputs.now());
                !known && said.insert((record.speaker, fingerprint))
            });
            let Some(record) = fresh else {
                decision.answer.push(None);
                continue;
            };
            let (id, saved, _) = record.saved(slot, place, inputs);
            decision.events.push(saved);
            let stored = found.corrects.filter(|old| state.records().holds(*old, inputs.now()));
            let earlier = || found.revises.and_then(|at| decision.answer.get(at).copied().flatten());
            if let Some(old) = stored.or_else(earlier) {
                decision.events.extend(replaced(old, id, &ByV1::default(), slot, place, inputs));
            }
            decision.answer.push(Some(id));
        }
        if self.more {
            let Decision { events, claims, listed, answer } = decision;
            return Ok(Decision { events, claims, listed, answer: Applied(answer) });
        }
        let records: Vec<_> = decision.answer.iter().flatten().copied().collect();
        let dropped = (decision.answer.len() - records.len()) as u32;
        let completed = ExtractionCompletedV1 { job: self.job, records, attempts: self.attempts, dropped };
        decision.events.push(Fact { facts: Facts::ExtractionCompleted(completed), content: None });
        let through = messages.iter().filter_map(|id| state.ordinals.get(id)).copied().max();
        if let (Some(summary), Some(through)) = (&self.summary, through) {
            decision.events.extend(summarised(summary, self.job, through, slot, state, place, inputs));
        }
        let Decision { events, claims, listed, answer } = decision;
        Ok(Decision { events, claims, listed, answer: Applied(answer) })
    }
}

/// Fingerprints of statements and the tag each stands under.
pub type Said = BTreeSet<(Option<SpeakerId>, Digest)>;

impl ApplyExtraction {
    /// The record to be, unless every message it rests on is gone or the profile already says so.
    fn record(&self, found: &Found, state: &Thread, inputs: &dyn Inputs) -> Option<NewRecord> {
        let living = found.sources.iter().filter_map(|id| state.living(*id, inputs.now()));
        let living: Vec<_> = living.collect();
        let first = *living.first()?;
        let sources: Vec<_> = living.iter().map(|message| message.id).collect();
        let record = NewRecord {
            record_type: found.record_type,
            speaker: first.speaker,
            // Said when its message was, unless the words tell another time.
            timestamp: found.timestamp.or(first.timestamp),
            // The words of none of them may outlive it.
            expires_at: living.iter().filter_map(|message| message.expires_at).min(),
            sources,
            job: Some(self.job),
            content: SavedContentV1 {
                content: found.content.clone(),
                summary: found.summary.clone(),
                metadata: found.metadata.clone(),
                given_id: None,
                user_id: None,
                agent_id: None,
                by: ByV1::default(),
            },
        };
        Some(record)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{
        record::{Expire, Forget},
        testing::*,
        thread::SummaryState,
    };

    fn found(text: &str, source: MessageId) -> Found {
        Found {
            record_type: TypeCode::FACT,
            content: text.to_owned(),
            summary: text.to_owned(),
            timestamp: None,
            metadata: "{}".to_owned(),
            sources: vec![source],
            corrects: None,
            revises: None,
        }
    }

    fn apply(job: JobId, found: Vec<Found>) -> ApplyExtraction {
        ApplyExtraction {
            job,
            attempts: 1,
            found,
            known: BTreeSet::new(),
            summary: None,
            earlier: Vec::new(),
            more: false,
        }
    }

    fn summarising(job: JobId, changes: u32) -> ApplyExtraction {
        let summary = Some(NewSummary { text: "Lisbon.".to_owned(), changes });
        ApplyExtraction { summary, ..apply(job, Vec::new()) }
    }

    // Queues deliver at least once: the second delivery must change nothing.
    #[test]
    fn applied_exactly_once() {
        let mut given = Story::<Thread>::new();
        let answer = given.do_(ingest("trip", &["I live in Lisbon"]));
        let result = apply(answer.job.expect("job"), vec![found("Lives in Lisbon", answer.messages[0])]);
        given.do_(result.clone());
        let before = given.names().len();
        given.do_(result);
        assert_eq!(given.names().len(), before);
        assert_eq!(given.state.records.records.len(), 1);
    }

    // A conversation of last year that is taken in today is about last year.
    #[test]
    fn a_record_is_of_the_time_its_message_was_said() {
        let mut given = Story::<Thread>::new();
        let mut conversation = ingest("trip", &["I live in Lisbon"]);
        conversation.messages[0].timestamp = Some(Micros(77));
        let answer = given.do_(conversation);
        given.do_(apply(answer.job.expect("job"), vec![found("Lives in Lisbon", answer.messages[0])]));
        let saved = given.facts().find_map(|facts| match facts {
            Facts::Saved(saved) => Some(saved.timestamp),
            _ => None,
        });
        assert_eq!(saved, Some(Some(Micros(77))));
    }

    #[test]
    fn what_is_known_already_is_dropped_and_counted() {
        let mut given = Story::<Thread>::new();
        let answer = given.do_(ingest("trip", &["I live in Lisbon"]));
        let twice = vec![found("Lives in Lisbon", answer.messages[0]), found("lives in Lisbon.", answer.messages[0])];
        let applied = given.do_(apply(answer.job.expect("job"), twice));
        assert!(applied.0[0].is_some() && applied.0[1].is_none());
    }

    // The profile's other sessions are looked at before the command; what they say arrives with it.
    #[test]
    fn what_another_session_says_under_the_same_tag_is_dropped() {
        let mut given = Story::<Thread>::new();
        let answer = given.do_(ingest("trip", &["I live in Lisbon"]));
        let job = answer.job.expect("job");
        let result = apply(job, vec![found("Lives in Lisbon", answer.messages[0])]);
        let said = given.fingerprint("lives in lisbon");
        let other_tag = (Some(SpeakerId(uuid::Uuid::from_u128(9))), said);
        assert!(given.would(ApplyExtraction { known: BTreeSet::from([other_tag]), ..result.clone() }).0[0].is_some());
        assert_eq!(given.would(ApplyExtraction { known: BTreeSet::from([(None, said)]), ..result }).0, [None]);
    }

    #[test]
    fn results_that_rest_on_forgotten_messages_are_dropped() {
        let mut given = Story::<Thread>::new();
        let one = given.do_(ingest("trip", &["I live in Lisbon"]));
        let made = given.do_(apply(one.job.expect("job"), vec![found("Lives in Lisbon", one.messages[0])]));
        let two = given.do_(ingest("trip", &["I live in Lisbon", "and have a cat"]));
        given.do_(Forget { record: made.0[0].expect("made"), holds: true, by: ByV1::default() });
        let late = given.do_(apply(two.job.expect("job"), vec![found("From Lisbon", one.messages[0])]));
        assert_eq!(late.0, [None]);
        assert_eq!(given.last().facts.name(), "extraction_completed");
    }

    // A whole conversation comes in at once as often as turn by turn, and means the same.
    #[test]
    fn a_correction_within_one_result_supersedes_and_deletes_nothing() {
        let mut given = Story::<Thread>::new();
        let said = given.do_(ingest("trip", &["I live in Lisbon", "actually it is Porto now"]));
        let old = found("Lives in Lisbon", said.messages[0]);
        let new = Found { revises: Some(0), ..found("Lives in Porto", said.messages[1]) };
        let early = Found { revises: Some(7), ..found("Has a cat", said.messages[1]) };
        let made = given.do_(apply(said.job.expect("job"), vec![old, early, new])).0;
        let valid = |at: usize| given.state.records().is_valid(made[at].expect("made"), given.now());
        assert_eq!((valid(0), valid(1), valid(2)), (false, true, true));
        assert_eq!(given.state.records().records.len(), 3);
    }

    #[test]
    fn a_correction_supersedes_and_deletes_nothing() {
        let mut given = Story::<Thread>::new();
        let one = given.do_(ingest("trip", &["I live in Lisbon"]));
        let old = given.do_(apply(one.job.expect("job"), vec![found("Lives in Lisbon", one.messages[0])])).0[0];
        let two = given.do_(ingest("trip", &["I live in Lisbon", "actually it is Porto now"]));
        let correction = Found { corrects: old, ..found("Lives in Porto", two.messages[1]) };
        given.do_(apply(two.job.expect("job"), vec![correction]));
        let records = given.state.records();
        assert_eq!(records.records.len(), 2);
        assert!(!records.is_valid(old.expect("made"), given.now()));
    }

    // All summaries of a thread share a key, so that one overwritten slot takes every one of them.
    #[test]
    fn summaries_go_with_anything_that_is_forgotten() {
        let mut given = Story::<Thread>::new();
        let one = given.do_(ingest("trip", &["I live in Lisbon"]));
        let job = one.job.expect("job");
        let made = ApplyExtraction { found: vec![found("Lives in Lisbon", one.messages[0])], ..summarising(job, 0) };
        let record = given.do_(made).0[0].expect("made");
        let first = given.state.summary.expect("summarised");
        let two = given.do_(ingest("trip", &["I live in Lisbon", "and have a cat"]));
        given.do_(summarising(two.job.expect("job"), 0));
        assert_eq!(given.state.summary, Some(SummaryState { through: 1, ..first }));
        given.do_(Forget { record, holds: true, by: ByV1::default() });
        assert_eq!((given.last().facts.erases(), given.state.summary), (vec![first.slot], None));
        let three = given.do_(ingest("trip", &["I live in Lisbon", "and have a cat", "and a dog"]));
        given.do_(summarising(three.job.expect("job"), 1));
        assert_ne!(given.state.summary.expect("a new one").slot, first.slot);
    }

    // A model may take a minute; what was forgotten meanwhile must not come back in its words.
    #[test]
    fn a_summary_of_what_is_gone_is_dropped() {
        let mut given = Story::<Thread>::new();
        let one = given.do_(ingest("trip", &["I live in Lisbon"]));
        let made = apply(one.job.expect("job"), vec![found("Lives in Lisbon", one.messages[0])]);
        let record = given.do_(made).0[0].expect("made");
        let two = given.do_(ingest("trip", &["I live in Lisbon", "and have a cat"]));
        given.do_(Forget { record, holds: true, by: ByV1::default() });
        given.do_(summarising(two.job.expect("job"), 0));
        assert_eq!((given.last().facts.name(), given.state.summary), ("extraction_completed", None));
    }

    // Somebody retries an old job that had failed.
    #[test]
    fn an_older_summary_does_not_take_the_place_of_a_newer_one() {
        let mut given = Story::<Thread>::new();
        let one = given.do_(ingest("trip", &["I live in Lisbon"]));
        let two = given.do_(ingest("trip", &["I live in Lisbon", "and have a cat"]));
        given.do_(summarising(two.job.expect("job"), 0));
        given.do_(summarising(one.job.expect("job"), 0));
        assert_eq!(given.last().facts.name(), "extraction_completed");
        assert_eq!(given.state.summary.map(|summary| summary.through), Some(1));
    }

    #[test]
    fn summaries_go_with_anything_that_expires() {
        let mut given = Story::<Thread>::new();
        let mut conversation = ingest("trip", &["The code is 7", "I live in Lisbon"]);
        conversation.messages[0].expires_at = Some(Micros(given.now().0 + 10));
        let job = given.do_(conversation).job.expect("job");
        given.do_(summarising(job, 0));
        let slot = given.state.summary.expect("summarised").slot;
        given.advance(10);
        given.do_(Expire(given.now()));
        assert_eq!((given.last().facts.erases(), given.state.summary), (vec![slot], None));
    }
}
