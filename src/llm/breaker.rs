//! Lets an endpoint that keeps failing rest: after some failures in a row no call is made for a while, then a single one tries
//! whether it is well again. The clock is an input.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

/// One endpoint's.
#[derive(Debug)]
pub(super) struct Breaker {
    failures_max: u64,
    pause: Duration,
    state: Mutex<State>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Calls are made; so many failed in a row.
    Closed(u64),
    /// None is made before then.
    Open(Instant),
    /// One is under way that decides.
    Trying,
}

/// Leave to make one call. Dropped without a word, by a panic, it counts as a failure.
#[derive(Debug)]
pub(super) struct Pass<'a> {
    breaker: &'a Breaker,
    begun: Instant,
    told: bool,
}

impl Breaker {
    pub(super) fn new(failures_max: u64, pause: Duration) -> Self {
        Self { failures_max, pause, state: Mutex::new(State::Closed(0)) }
    }

    /// None while the endpoint rests.
    pub(super) fn enter(&self, now: Instant) -> Option<Pass<'_>> {
        let mut state = self.state();
        match *state {
            State::Closed(_) => {}
            State::Open(until) if now >= until => *state = State::Trying,
            State::Open(_) | State::Trying => return None,
        }
        Some(Pass { breaker: self, begun: now, told: false })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn failed(&self, now: Instant) {
        let mut state = self.state();
        let failures = match *state {
            State::Closed(failures) => failures + 1,
            State::Trying => self.failures_max,
            // Calls that were under way when it opened change nothing.
            State::Open(_) => return,
        };
        if failures >= self.failures_max {
            tracing::warn!(
                pause_s = self.pause.as_secs(),
                "the language model keeps failing; it is not called for a while"
            );
            *state = State::Open(now + self.pause);
        } else {
            *state = State::Closed(failures);
        }
    }

    fn succeeded(&self) {
        let mut state = self.state();
        if !matches!(*state, State::Closed(_)) {
            tracing::info!("the language model answers again");
        }
        *state = State::Closed(0);
    }
}

impl Pass<'_> {
    /// The endpoint answered, whatever it said.
    pub(super) fn succeeded(mut self) {
        self.told = true;
        self.breaker.succeeded();
    }

    /// It did not.
    pub(super) fn failed(mut self, now: Instant) {
        self.told = true;
        self.breaker.failed(now);
    }
}

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        if !self.told {
            self.breaker.failed(self.begun);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAUSE: Duration = Duration::from_secs(30);

    fn open(now: Instant) -> Breaker {
        let breaker = Breaker::new(3, PAUSE);
        for _ in 0..3 {
            breaker.enter(now).expect("closed").failed(now);
        }
        breaker
    }

    // A dead endpoint must not cost every job its deadline.
    #[test]
    fn it_opens_after_failures_in_a_row_only() {
        let now = Instant::now();
        let breaker = Breaker::new(3, PAUSE);
        for _ in 0..5 {
            breaker.enter(now).expect("closed").failed(now);
            breaker.enter(now).expect("closed").failed(now);
            breaker.enter(now).expect("closed").succeeded();
        }
        assert!(open(now).enter(now + PAUSE - Duration::from_nanos(1)).is_none());
    }

    // After the rest one call decides for all; a crowd would knock over what has just stood up.
    #[test]
    fn one_call_tries_it_again() {
        let now = Instant::now();
        let breaker = open(now);
        let later = now + PAUSE;
        let pass = breaker.enter(later).expect("tried");
        assert!(breaker.enter(later).is_none());
        pass.failed(later);
        assert!(breaker.enter(later + PAUSE / 2).is_none());
        breaker.enter(later + PAUSE).expect("tried").succeeded();
        let (one, two) = (breaker.enter(later), breaker.enter(later));
        assert!(one.is_some() && two.is_some());
    }

    // A try that panics must not leave the breaker waiting for its word for ever.
    #[test]
    fn a_try_without_a_word_failed() {
        let now = Instant::now();
        let breaker = open(now);
        drop(breaker.enter(now + PAUSE).expect("tried"));
        assert!(breaker.enter(now + PAUSE + PAUSE / 2).is_none());
        assert!(breaker.enter(now + PAUSE + PAUSE).is_some());
    }

    // A slow success of before must not be lost, and a slow failure must not lengthen the rest.
    #[test]
    fn calls_of_before_it_opened() {
        let now = Instant::now();
        let breaker = Breaker::new(1, PAUSE);
        let slow = breaker.enter(now).expect("closed");
        let other = breaker.enter(now).expect("closed");
        breaker.enter(now).expect("closed").failed(now);
        slow.failed(now + PAUSE);
        assert!(breaker.enter(now + PAUSE / 2).is_none());
        other.succeeded();
        assert!(breaker.enter(now + PAUSE / 2).is_some());
    }
}
