//! Up to when the clock is believed, for what cannot be taken back: erasing what has expired, letting go of what a repeated
//! command is known by. A clock that jumps ahead hides what it says is over at once; it is erased once the clock has stood by
//! it for a while. Until then a clock that steps back brings it to light again.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use memlog_events::ids::Micros;
use tokio::time::Instant;

/// A step ahead from one look to the next that no busy machine explains.
const JUMP_MICROS: i64 = 3_600_000_000;

/// The clock's credit.
pub(super) struct Believed {
    wait: Duration,
    state: Mutex<State>,
}

#[derive(Clone, Copy, Default)]
struct State {
    /// None before the first look at a log without events.
    until: Option<Micros>,
    /// When a jump was seen, and the clock's time then.
    doubt: Option<(Instant, Micros)>,
}

impl Believed {
    /// `latest` is a time that the log has stood by: a clock that is wrong at the start has jumped, too.
    pub(super) fn new(latest: Option<Micros>, wait: Duration) -> Self {
        Self { wait, state: Mutex::new(State { until: latest, doubt: None }) }
    }

    /// The time that is believed when the clock says `now`; never later than that.
    pub(super) fn at(&self, now: Micros, moment: Instant) -> Micros {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let until = state.until.unwrap_or(now);
        let jumped = now.0.saturating_sub(until.0) > JUMP_MICROS;
        let stands = state.doubt.is_some_and(|(since, then)| {
            let passed = moment.saturating_duration_since(since);
            let told = now.0.saturating_sub(then.0);
            let expected = i64::try_from(passed.as_micros()).unwrap_or(i64::MAX).saturating_add(JUMP_MICROS);
            (0..=expected).contains(&told)
        });
        let waited = self.wait.is_zero()
            || stands && state.doubt.is_some_and(|(since, _)| moment.saturating_duration_since(since) >= self.wait);
        if !jumped || waited {
            *state = State { until: Some(now), doubt: None };
            return now;
        }
        if !stands {
            state.doubt = Some((moment, now));
        }
        until
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: i64 = JUMP_MICROS;
    const WAIT: Duration = Duration::from_secs(600);

    /// A clock and what is believed of it, by seconds that really pass.
    struct Watch {
        believed: Believed,
        start: Instant,
    }

    impl Watch {
        fn new(latest: Option<i64>) -> Self {
            Self { believed: Believed::new(latest.map(Micros), WAIT), start: Instant::now() }
        }

        fn at(&self, second: u64, clock: i64) -> i64 {
            self.believed.at(Micros(clock), self.start + Duration::from_secs(second)).0
        }
    }

    #[test]
    fn a_clock_that_goes_is_believed_and_so_is_one_that_is_set_back() {
        let watch = Watch::new(None);
        assert_eq!(watch.at(0, 5), 5);
        assert_eq!(watch.at(1, 5 + HOUR), 5 + HOUR, "a machine that slept");
        assert_eq!(watch.at(2, 7), 7);
        assert_eq!(watch.at(3, 8), 8, "from there it goes on");
    }

    #[test]
    fn a_jump_ahead_is_believed_once_it_has_stood_for_a_while() {
        let watch = Watch::new(Some(0));
        let ahead = 1_000 * HOUR;
        assert_eq!(watch.at(0, ahead), 0);
        assert_eq!(watch.at(599, ahead + 599_000_000), 0);
        assert_eq!(watch.at(600, ahead + 600_000_000), ahead + 600_000_000);
        assert_eq!(watch.at(601, ahead + 601_000_000), ahead + 601_000_000);
    }

    #[test]
    fn a_jump_ahead_and_back_is_never_believed() {
        let watch = Watch::new(Some(0));
        assert_eq!(watch.at(0, 1_000 * HOUR), 0);
        assert_eq!(watch.at(300, 300_000_000), 300_000_000);
        // Ahead again: the wait begins anew.
        assert_eq!(watch.at(400, 1_000 * HOUR), 300_000_000);
        assert_eq!(watch.at(700, 1_000 * HOUR), 300_000_000);
        // And further ahead, or a little back: the same.
        assert_eq!(watch.at(900, 5_000 * HOUR), 300_000_000);
        assert_eq!(watch.at(1_100, 4_000 * HOUR), 300_000_000);
        assert_eq!(watch.at(1_699, 4_000 * HOUR), 300_000_000);
        assert_eq!(watch.at(1_700, 4_000 * HOUR), 4_000 * HOUR);
    }
}
