//! Fail an extraction: given up for now; the messages stay and the job is visible as failed.

use std::borrow::Cow;

use memlog_events::{
    event::{ExtractionFailedV1, Facts},
    ids::JobId,
};

use super::{JobState, Thread};
use crate::domain::{Command, Decision, Fact, Inputs, Place, Rejection};

/// Marks an open job as failed.
#[derive(Clone, PartialEq, Debug)]
pub struct FailExtraction {
    /// The job.
    pub job: JobId,
    /// A stable code.
    pub code: Cow<'static, str>,
    /// How many tries were made.
    pub attempts: u32,
}

impl Command<Thread> for FailExtraction {
    type Answer = ();

    fn decide(&self, state: &Thread, _: &Place, _: &mut dyn Inputs) -> Result<Decision<()>, Rejection> {
        if state.slot.is_none() || state.deleted {
            return Err(Rejection::Gone);
        }
        let (job, _) = state.jobs.get(&self.job).ok_or(Rejection::NoJob)?;
        if *job != JobState::Open {
            return Ok(Decision::nothing(()));
        }
        let failed =
            ExtractionFailedV1 { job: self.job, code: self.code.clone().into_owned(), attempts: self.attempts };
        Ok(Decision::of(vec![Fact { facts: Facts::ExtractionFailed(failed), content: None }], ()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::testing::*;

    #[test]
    fn failed_once_and_the_messages_stay() {
        let mut given = Story::<Thread>::new();
        let job = given.do_(ingest("trip", &["I live in Lisbon"])).job.expect("job");
        let fail = FailExtraction { job, code: "malformed_answer".into(), attempts: 5 };
        given.do_(fail.clone());
        given.do_(fail);
        assert_eq!(given.names().iter().filter(|name| **name == "extraction_failed").count(), 1);
        assert!(given.state.messages[0].slot.is_some());
    }
}
