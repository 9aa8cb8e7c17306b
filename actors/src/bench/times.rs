//! Medians of what was timed, and taking turns so that other load on the machine hits all alike.

use std::time::{Duration, Instant};

/// How long each of several runs took, shortest first; never empty.
#[derive(Clone, Debug)]
pub struct Times(Vec<f64>);

impl Times {
    /// Of so many runs, at least one.
    pub fn new(times: impl IntoIterator<Item = Duration>) -> Self {
        let mut times: Vec<f64> = times.into_iter().map(|time| time.as_secs_f64() * 1e3).collect();
        times.sort_unstable_by(f64::total_cmp);
        if times.is_empty() {
            times.push(0.0);
        }
        Self(times)
    }

    /// The milliseconds within which this share of the runs was done.
    pub fn within(&self, share: f64) -> f64 {
        let last = self.0.len() - 1;
        self.0[((last as f64 * share).round() as usize).min(last)]
    }

    /// The median, in milliseconds.
    pub fn p50(&self) -> f64 {
        self.within(0.5)
    }

    /// What 99 in 100 took at most, in milliseconds.
    pub fn p99(&self) -> f64 {
        self.within(0.99)
    }
}

/// Times contestants in turns, each with the number of its run, after a round of other numbers to warm up: A B A B.
pub fn alternately<const N: usize>(runs: usize, mut contestants: [&mut dyn FnMut(usize); N]) -> [Times; N] {
    let mut times: [Vec<Duration>; N] = std::array::from_fn(|_| Vec::with_capacity(runs));
    for run in 0..runs / 4 + 1 {
        contestants.iter_mut().for_each(|contestant| contestant(runs + run));
    }
    for run in 0..runs {
        for (contestant, times) in contestants.iter_mut().zip(&mut times) {
            let began = Instant::now();
            contestant(run);
            times.push(began.elapsed());
        }
    }
    times.map(Times::new)
}

/// The median of rates, or of whatever was counted in several rounds.
pub fn rate(rounds: &[f64]) -> f64 {
    let mut sorted = rounds.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_lies_in_the_middle_and_the_late_ones_at_the_end() {
        let times = Times::new((1..=101).rev().map(Duration::from_millis));
        assert_eq!((times.p50(), times.p99(), times.within(1.0)), (51.0, 100.0, 101.0));
        assert_eq!(Times::new([]).p99(), 0.0);
        assert_eq!(rate(&[3.0, 100.0, 1.0]), 3.0);
    }

    #[test]
    fn contestants_take_turns() {
        let order = std::cell::RefCell::new(Vec::new());
        let mut one = |run: usize| order.borrow_mut().push(('a', run));
        let mut two = |run: usize| order.borrow_mut().push(('b', run));
        alternately(2, [&mut one, &mut two]);
        let measured: Vec<_> = order.into_inner().split_off(2);
        assert_eq!(measured, [('a', 0), ('b', 0), ('a', 1), ('b', 1)]);
    }
}
