//! What the views of profiles take of memory, counted as it is taken: folding, loaded, or of the past. The sum never passes the budget.
//!
//! The figures are estimates by the views themselves. They are kept, not summed up anew: with a hundred thousand profiles loaded
//! nobody could afford to ask each.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

/// The bytes that all views may take together, and those that they take.
#[derive(Debug)]
pub(super) struct Budget {
    max: u64,
    used: AtomicU64,
}

impl Budget {
    pub(super) fn new(max: u64) -> Arc<Self> {
        Arc::new(Self { max, used: AtomicU64::new(0) })
    }

    pub(super) fn max(&self) -> u64 {
        self.max
    }

    pub(super) fn used(&self) -> u64 {
        self.used.load(Ordering::SeqCst)
    }

    /// Whether so many more fit under a part of the budget.
    pub(super) fn fits(&self, more: u64, of: u64) -> bool {
        self.used().saturating_add(more) <= of
    }
}

/// What the views of one profile take; dropped with them.
#[derive(Debug)]
pub(crate) struct Counted {
    budget: Arc<Budget>,
    bytes: AtomicU64,
}

impl Counted {
    /// Nothing yet.
    pub(super) fn nothing(budget: &Arc<Budget>) -> Self {
        Self { budget: Arc::clone(budget), bytes: AtomicU64::new(0) }
    }

    /// From now on it is so many, if that fits. Called by one at a time: who folds, or who holds the lock of the state.
    pub(super) fn set(&self, bytes: u64) -> bool {
        let before = self.bytes.load(Ordering::SeqCst);
        let change = |used: u64| {
            let after = used.saturating_sub(before).saturating_add(bytes);
            (bytes <= before || after <= self.budget.max).then_some(after)
        };
        let fits = self.budget.used.fetch_update(Ordering::SeqCst, Ordering::SeqCst, change).is_ok();
        if fits {
            self.bytes.store(bytes, Ordering::SeqCst);
        }
        fits
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::SeqCst)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.budget.used.fetch_sub(self.bytes(), Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_is_what_is_held_and_never_more_than_the_budget() {
        let budget = Budget::new(100);
        let (one, two) = (Counted::nothing(&budget), Counted::nothing(&budget));
        assert!(one.set(60) && two.set(40) && !two.set(41));
        assert_eq!((budget.used(), two.bytes()), (100, 40));
        assert!(one.set(10) && two.set(90));
        drop(two);
        assert_eq!(budget.used(), 10);
        assert!(budget.fits(90, 100) && !budget.fits(91, 100) && !budget.fits(80, 88));
    }
}
