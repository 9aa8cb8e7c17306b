//! What the log counts of its own work, for whoever watches it: numbers alone, kept in atomics, read when somebody asks.
//! Nothing is decided by any of it.

use std::{
    fs,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use super::Log;

/// Upper bounds of the classes of a commit's time, in microseconds: a quiet disk takes 150, a busy one thousands.
const COMMIT_MICROS: [u64; 12] =
    [100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 1_000_000, 10_000_000];
/// The same of its events; `group_events_max` bounds them.
const COMMIT_EVENTS: [u64; 12] = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 10_000];

/// How many values fell into each class. Counting is two atomic additions.
#[derive(Debug)]
pub struct Classes<const N: usize> {
    bounds: &'static [u64; N],
    counts: [AtomicU64; N],
    above: AtomicU64,
    sum: AtomicU64,
}

/// Values by classes, at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spread {
    /// Upper bound, inclusive, and how many values are not above it: each class counts those before it, too.
    pub classes: Vec<(u64, u64)>,
    /// All values, those above the last bound, too.
    pub count: u64,
    /// Their sum.
    pub sum: u64,
}

impl<const N: usize> Classes<N> {
    /// None yet. The bounds ascend.
    pub fn new(bounds: &'static [u64; N]) -> Self {
        let counts = std::array::from_fn(|_| AtomicU64::new(0));
        Self { bounds, counts, above: AtomicU64::new(0), sum: AtomicU64::new(0) }
    }

    /// One more.
    pub fn add(&self, value: u64) {
        let class = self.bounds.partition_point(|bound| *bound < value);
        self.counts.get(class).unwrap_or(&self.above).fetch_add(1, Ordering::Relaxed);
        self.sum.fetch_add(value, Ordering::Relaxed);
    }

    /// All of them now.
    pub fn spread(&self) -> Spread {
        let mut count = 0;
        let mut classes = Vec::with_capacity(N);
        for (bound, class) in self.bounds.iter().zip(&self.counts) {
            count += class.load(Ordering::Relaxed);
            classes.push((*bound, count));
        }
        count += self.above.load(Ordering::Relaxed);
        Spread { classes, count, sum: self.sum.load(Ordering::Relaxed) }
    }
}

/// What the writer counts.
#[derive(Debug)]
pub(super) struct Meter {
    micros: Classes<12>,
    events: Classes<12>,
}

impl Default for Meter {
    fn default() -> Self {
        Self { micros: Classes::new(&COMMIT_MICROS), events: Classes::new(&COMMIT_EVENTS) }
    }
}

impl Meter {
    /// A commit with so many events took so long, its sync included.
    pub(super) fn committed(&self, events: u64, took: Duration) {
        self.micros.add(u64::try_from(took.as_micros()).unwrap_or(u64::MAX));
        self.events.add(events);
    }
}

/// How the log is doing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Load {
    /// Batches that wait for the writer, those being sealed included.
    pub queue_batches: u64,
    /// Their bytes, as far as they are sealed.
    pub queue_bytes: u64,
    /// How long durable commits took, in microseconds, since it was opened.
    pub commit_micros: Spread,
    /// How many events each of them had.
    pub commit_events: Spread,
    /// The file of the log, in bytes; 0 if it cannot be told.
    pub log_bytes: u64,
    /// The file of the vault.
    pub vault_bytes: u64,
    /// Contents in files of their own.
    pub blob_bytes: u64,
}

impl Log {
    /// How it is doing. Asks the file system for two lengths, and walks nothing.
    pub fn load(&self) -> Load {
        let core = &self.0.core;
        let (queue_batches, queue_bytes) = core.queue.load();
        Load {
            queue_batches,
            queue_bytes,
            commit_micros: core.meter.micros.spread(),
            commit_events: core.meter.events.spread(),
            log_bytes: fs::metadata(core.dir.join(super::open::FILE)).map_or(0, |file| file.len()),
            vault_bytes: core.vault.bytes(),
            blob_bytes: core.blobs.bytes(),
        }
    }

    /// Why nothing is appended for now, if that is so.
    pub fn failure(&self) -> Option<String> {
        self.0.core.failure()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whoever draws these must find each value in every class that is wide enough for it.
    #[test]
    fn values_fall_into_their_classes() {
        let classes = Classes::new(&[10, 100]);
        [0, 10, 11, 100, 101].into_iter().for_each(|value| classes.add(value));
        assert_eq!(classes.spread(), Spread { classes: vec![(10, 2), (100, 4)], count: 5, sum: 222 });
    }
}
