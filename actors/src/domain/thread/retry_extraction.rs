//! Retry an extraction: a failed job is promised again.

use memlog_events::{
    event::{ByV1, ExtractionRequestedV1, Facts},
    ids::JobId,
};

use super::{JobState, Thread};
use crate::domain::{Command, Decision, Fact, Inputs, Place, Rejection, by_alone};

/// Promises a failed job again.
#[derive(Clone, PartialEq, Debug)]
pub struct RetryExtraction {
    /// The job.
    pub job: JobId,
    /// Who asks.
    pub by: ByV1,
}

impl Command<Thread> for RetryExtraction {
    type Answer = ();

    fn decide(&self, state: &Thread, place: &Place, _: &mut dyn Inputs) -> Result<Decision<()>, Rejection> {
        let slot = state.slot.filter(|_| !state.deleted).ok_or(Rejection::Gone)?;
        let (job, messages) = state.jobs.get(&self.job).ok_or(Rejection::NoJob)?;
        if *job != JobState::Failed {
            return Err(Rejection::NotFailed);
        }
        let again = ExtractionRequestedV1 { job: self.job, messages: messages.clone() };
        let fact = Fact { facts: Facts::ExtractionRequested(again), content: by_alone(&self.by, place, slot) };
        Ok(Decision::of(vec![fact], ()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{testing::*, thread::FailExtraction};

    #[test]
    fn only_a_failed_job_is_tried_again() {
        let mut given = Story::<Thread>::new();
        let job = given.do_(ingest("trip", &["I live in Lisbon"])).job.expect("job");
        let retry = RetryExtraction { job, by: ByV1::default() };
        assert_eq!(given.try_(retry.clone()).expect_err("refused"), Rejection::NotFailed);
        given.do_(FailExtraction { job, code: "timeout".into(), attempts: 1 });
        given.do_(retry);
        assert_eq!(given.state.jobs[&job].0, JobState::Open);
    }
}
