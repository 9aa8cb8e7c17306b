//! How much is measured.

use std::time::Duration;

/// The sizes of every section.
#[derive(Clone, Debug)]
pub(super) struct Scale {
    /// What they are called in a report.
    pub(super) name: &'static str,
    /// Pages that are synced to tell what the disk takes.
    pub(super) syncs: usize,
    /// Profiles that saves go to.
    pub(super) profiles: usize,
    /// Saves that wait for their answers at once.
    pub(super) in_flight: Vec<usize>,
    /// How long one contestant saves before it is the next one's turn, and how often each has its turn.
    pub(super) turn: Duration,
    pub(super) rounds: usize,
    /// Calls of each verb, and records in the profile that is called.
    pub(super) calls: usize,
    pub(super) called_records: usize,
    /// Vectors to search among.
    pub(super) vectors: Vec<usize>,
    /// Records to search among.
    pub(super) records: Vec<usize>,
    /// Questions.
    pub(super) questions: usize,
    /// Events to replay.
    pub(super) events: usize,
    /// Records of a profile that is woken, and how often it is.
    pub(super) cold: Vec<usize>,
    pub(super) wakings: usize,
    /// Records that are weighed, and profiles of ten records each that idle.
    pub(super) weighed: usize,
    pub(super) idle: usize,
}

impl Scale {
    /// For a first look.
    pub(super) fn quick() -> Self {
        Self {
            name: "quick",
            syncs: 100,
            profiles: 1_000,
            in_flight: vec![1, 128],
            turn: Duration::from_millis(400),
            rounds: 3,
            calls: 300,
            called_records: 1_000,
            vectors: vec![1_000, 10_000],
            records: vec![1_000, 10_000],
            questions: 100,
            events: 50_000,
            cold: vec![1_000, 10_000],
            wakings: 5,
            weighed: 5_000,
            idle: 500,
        }
    }

    /// What the README tells of.
    pub(super) fn usual() -> Self {
        Self {
            name: "usual",
            syncs: 300,
            profiles: 5_000,
            in_flight: vec![1, 16, 128, 1_000],
            turn: Duration::from_millis(1_000),
            rounds: 7,
            calls: 2_000,
            vectors: vec![1_000, 10_000, 100_000],
            records: vec![1_000, 10_000, 100_000],
            questions: 300,
            events: 500_000,
            wakings: 11,
            weighed: 20_000,
            idle: 2_000,
            ..Self::quick()
        }
    }

    /// A million as well.
    pub(super) fn full() -> Self {
        let sizes = vec![1_000, 10_000, 100_000, 1_000_000];
        let cold = vec![1_000, 10_000, 100_000];
        Self { name: "full", vectors: sizes.clone(), records: sizes, events: 2_000_000, cold, ..Self::usual() }
    }

    /// Enough to see that it works.
    #[cfg(test)]
    pub(super) fn tiny() -> Self {
        Self {
            name: "tiny",
            syncs: 3,
            profiles: 4,
            in_flight: vec![1, 6],
            turn: Duration::from_millis(5),
            rounds: 1,
            calls: 4,
            called_records: 12,
            vectors: vec![150],
            records: vec![150],
            questions: 4,
            events: 40,
            cold: vec![30],
            wakings: 2,
            weighed: 50,
            idle: 3,
        }
    }
}
