//! Answers that verbs of threads have in common, in the form in which a repeat of the command finds them again.

use memlog_events::batch::Outcome;

use crate::domain::{Answered, Command, Decision, Inputs, Place, Rejection, thread::Thread};

/// How many were deleted or changed: 0 or 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Count(pub(crate) u64);

impl Answered for Count {
    fn outcome(&self) -> Outcome {
        Outcome { ids: Vec::new(), numbers: vec![9, self.0] }
    }

    fn from_outcome(outcome: &Outcome) -> Option<Self> {
        match outcome.numbers.as_slice() {
            [9, count] => Some(Self(*count)),
            _ => None,
        }
    }
}

/// A command that answers with how many it changed, which is one, or none if that went away since it was looked up: a repeat must hear so
/// again, and do nothing to what has its id by then.
#[derive(Clone, Debug)]
pub(crate) struct Counted<C>(pub(crate) C);

impl<C: Command<Thread>> Command<Thread> for Counted<C> {
    type Answer = Count;

    fn decide(&self, state: &Thread, place: &Place, inputs: &mut dyn Inputs) -> Result<Decision<Count>, Rejection> {
        match self.0.decide(state, place, inputs) {
            Ok(Decision { events, claims, listed, .. }) => Ok(Decision { events, claims, listed, answer: Count(1) }),
            Err(Rejection::NoRecord) => Ok(Decision::nothing(Count(0))),
            Err(other) => Err(other),
        }
    }
}

/// What is carried out, or answered, under a thread's longest time to live: a repeat must hear the same warnings, also when
/// the thread is gone by then.
#[derive(Clone, Debug)]
pub(crate) struct Under<T> {
    /// The command, or its answer.
    pub(crate) inner: T,
    /// In days.
    pub(crate) longest: Option<f64>,
}

/// Stands for no bound: no number of days has these bits.
const NO_BOUND: u64 = u64::MAX;

impl<T: Answered> Answered for Under<T> {
    fn outcome(&self) -> Outcome {
        let mut outcome = self.inner.outcome();
        outcome.numbers.push(self.longest.map_or(NO_BOUND, f64::to_bits));
        outcome
    }

    fn from_outcome(outcome: &Outcome) -> Option<Self> {
        let mut outcome = outcome.clone();
        let longest = outcome.numbers.pop()?;
        let longest = (longest != NO_BOUND).then(|| f64::from_bits(longest));
        Some(Self { inner: T::from_outcome(&outcome)?, longest })
    }
}

impl<C: Command<Thread>> Command<Thread> for Under<C> {
    type Answer = Under<C::Answer>;

    fn decide(
        &self,
        state: &Thread,
        place: &Place,
        inputs: &mut dyn Inputs,
    ) -> Result<Decision<Under<C::Answer>>, Rejection> {
        let Decision { events, claims, listed, answer } = self.inner.decide(state, place, inputs)?;
        Ok(Decision { events, claims, listed, answer: Under { inner: answer, longest: self.longest } })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{
        record::{DeleteRecord, Remember},
        testing::{Story, ingest, record},
        thread::MessageDeleted,
    };

    // Two who delete the same at once: the later finds nothing left. That is an answer, kept for a repeat, and no refusal.
    #[test]
    fn what_went_away_under_way_is_counted_as_none() {
        let mut given = Story::<Thread>::new();
        given.do_(ingest("trip", &["I live in Lisbon"]));
        let id = given.do_(Remember { open: None, record: record("Lives in Lisbon") }).record;
        let delete = || Counted(DeleteRecord { record: id, by: memlog_events::event::ByV1::default() });
        assert_eq!(given.do_(delete()), Count(1));
        let before = given.names().len();
        assert_eq!(given.do_(delete()), Count(0));
        assert_eq!(given.names().len(), before, "nothing changed");
    }

    #[test]
    fn answers_come_back_whole() {
        assert_eq!(Count::from_outcome(&Count(1).outcome()), Some(Count(1)));
        for longest in [None, Some(0.0), Some(30.5)] {
            let answer = Under { inner: MessageDeleted { message: None, records: Vec::new() }, longest };
            let again = Under::<MessageDeleted>::from_outcome(&answer.outcome()).expect("read");
            assert_eq!((again.inner, again.longest), (answer.inner, longest));
        }
    }
}
