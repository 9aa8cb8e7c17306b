//! Evidence recall as the reference scorer defines it: of a question's evidence turns, the share that the first k hits
//! cover; the mean over the questions that have evidence.

use std::{collections::BTreeMap, time::Duration};

use serde::Serialize;

/// The cut-offs.
pub(super) const CUTS: [usize; 4] = [1, 5, 10, 20];
/// The category that has no answer in the conversation; left out of the headline.
const ADVERSARIAL: u32 = 5;

/// The share of `evidence` that the first k of `hits` cover, for every cut-off; a hit may cover several turns.
pub(super) fn fractions(evidence: &[String], hits: &[Vec<String>]) -> [f64; CUTS.len()] {
    CUTS.map(|cut| {
        let seen = |turn: &&String| hits.iter().take(cut).any(|sources| sources.contains(turn));
        evidence.iter().filter(seen).count() as f64 / evidence.len().max(1) as f64
    })
}

/// A mean over questions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(super) struct Mean {
    /// The questions.
    pub(super) questions: u64,
    /// The mean at each of [`CUTS`].
    pub(super) at: [f64; CUTS.len()],
}

/// Means by category, and over several.
#[derive(Debug, Default)]
pub(super) struct Tally {
    sums: BTreeMap<u32, (u64, [f64; CUTS.len()])>,
}

impl Tally {
    /// Adds a question; one without evidence does not count.
    pub(super) fn add(&mut self, category: u32, evidence: &[String], hits: &[Vec<String>]) {
        if evidence.is_empty() {
            return;
        }
        let (questions, sums) = self.sums.entry(category).or_default();
        *questions += 1;
        for (sum, fraction) in sums.iter_mut().zip(fractions(evidence, hits)) {
            *sum += fraction;
        }
    }

    fn mean(&self, of: impl Fn(u32) -> bool) -> Mean {
        let mut mean = Mean::default();
        for (_, (questions, sums)) in self.sums.iter().filter(|(category, _)| of(**category)) {
            mean.questions += questions;
            for (at, sum) in mean.at.iter_mut().zip(sums) {
                *at += sum;
            }
        }
        mean.at = mean.at.map(|sum| sum / mean.questions.max(1) as f64);
        mean
    }

    /// Each category, then the headline (1 to 4), then all.
    pub(super) fn rows(&self) -> Vec<(String, Mean)> {
        let mut rows: Vec<_> =
            self.sums.keys().map(|&category| (name(category), self.mean(|other| other == category))).collect();
        rows.push(("1-4".to_owned(), self.mean(|category| category != ADVERSARIAL)));
        rows.push(("all".to_owned(), self.mean(|_| true)));
        rows
    }
}

/// A category as LoCoMo's paper calls it.
pub(super) fn name(category: u32) -> String {
    match category {
        1 => "1 multi-hop".to_owned(),
        2 => "2 temporal".to_owned(),
        3 => "3 open-domain".to_owned(),
        4 => "4 single-hop".to_owned(),
        5 => "5 adversarial".to_owned(),
        other => other.to_string(),
    }
}

/// The time that `share` of the questions took at most, in milliseconds.
pub(super) fn percentile_ms(sorted: &[Duration], share: f64) -> f64 {
    let last = sorted.len().saturating_sub(1);
    let index = (last as f64 * share).round() as usize;
    sorted.get(index.min(last)).map_or(0.0, |time| time.as_secs_f64() * 1000.0)
}

/// The most memory this process has had, in bytes; none where the system does not say.
pub(super) fn peak_memory_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(ids: &[&str]) -> Vec<String> {
        ids.iter().map(|&id| id.to_owned()).collect()
    }

    // The figures go into the README beside others' that the reference scorer made, so they must mean the same.
    #[test]
    fn a_hit_counts_for_every_evidence_turn_that_it_covers_and_once() {
        let evidence = ids(&["a", "b", "c", "d"]);
        let hits = [ids(&["x"]), ids(&["a", "b"]), ids(&["a"]), ids(&[]), ids(&["y"]), ids(&["c"])];
        assert_eq!(fractions(&evidence, &hits), [0.0, 0.5, 0.75, 0.75]);
        assert_eq!(fractions(&evidence, &[]), [0.0; 4]);
    }

    #[test]
    fn the_headline_weighs_questions_not_categories_and_leaves_out_the_adversarial() {
        let mut tally = Tally::default();
        tally.add(4, &ids(&["a"]), &[ids(&["a"])]);
        tally.add(4, &ids(&["a"]), &[ids(&["a"])]);
        tally.add(1, &ids(&["a"]), &[]);
        tally.add(5, &ids(&["a"]), &[]);
        tally.add(4, &[], &[]);
        let rows = tally.rows();
        let headline = rows.iter().find(|(name, _)| name == "1-4").unwrap().1;
        assert_eq!(headline.questions, 3);
        assert!((headline.at[0] - 2.0 / 3.0).abs() < 1e-9);
        assert!((rows.last().unwrap().1.at[0] - 0.5).abs() < 1e-9);
    }

    #[test]
    fn percentiles_are_of_the_times_themselves() {
        let times: Vec<_> = (1..=101).map(Duration::from_millis).collect();
        assert!((percentile_ms(&times, 0.5) - 51.0).abs() < 1e-9);
        assert!((percentile_ms(&times, 0.99) - 100.0).abs() < 1e-9);
        assert!(percentile_ms(&[], 0.5).abs() < 1e-9);
    }
}
