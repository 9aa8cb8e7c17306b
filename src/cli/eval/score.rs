//! How well what was found covers a question's evidence, each figure as the field's reference scorer for LoCoMo defines it,
//! so that a run file scored there gives the same numbers.
//!
//! A hit may cover several turns; each counts once. The text of a hit is taken as a quarter of its characters in tokens, one
//! at least.

use serde::Serialize;

use super::run::Retrieved;

/// The cut-offs of recall, in hits.
pub(super) const CUTS: [usize; 4] = [1, 5, 10, 20];
/// The budgets of recall, in tokens.
pub(super) const BUDGETS: [u32; 3] = [512, 1_024, 2_048];
/// The hits of `all_10` and `tokens_10`.
const TEN: usize = 10;
/// How many figures there are.
const FIGURES: usize = CUTS.len() + 1 + 1 + BUDGETS.len() + 1;
/// Their names, in the order of [`Scores::figures`].
pub(super) const NAMES: [&str; FIGURES] = [
    "recall@1",
    "recall@5",
    "recall@10",
    "recall@20",
    "all@10",
    "MRR",
    "recall in 512 tokens",
    "recall in 1,024 tokens",
    "recall in 2,048 tokens",
    "tokens of the first 10",
];

/// Of one question, or the means over several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(super) struct Scores {
    /// The share of the evidence in the first hits, at each of [`CUTS`] (`frac@k`).
    pub(super) at: [f64; CUTS.len()],
    /// 1 if all of it is in the first ten (`all@10`).
    pub(super) all_10: f64,
    /// One over the rank of the first hit that covers any of it, or 0 (`mrr`).
    pub(super) mrr: f64,
    /// The share in the hits that fit into each of [`BUDGETS`], in the order of their rank up to the first that does not
    /// (`bfrac@B`).
    pub(super) within: [f64; BUDGETS.len()],
    /// Tokens of the first ten hits.
    pub(super) tokens_10: f64,
}

impl Scores {
    /// Of one question; none without evidence.
    pub(super) fn of(evidence: &[String], hits: &[Retrieved]) -> Option<Self> {
        let mut turns: Vec<&str> = evidence.iter().map(String::as_str).collect();
        turns.sort_unstable();
        turns.dedup();
        if turns.is_empty() {
            return None;
        }
        let share = |hits: &[Retrieved]| {
            let covered = turns.iter().filter(|turn| hits.iter().any(|hit| hit.covers(turn))).count();
            covered as f64 / turns.len() as f64
        };
        let first = |count: usize| hits.get(..count).unwrap_or(hits);
        let rank = hits.iter().position(|hit| turns.iter().any(|turn| hit.covers(turn)));
        Some(Self {
            at: CUTS.map(|cut| share(first(cut))),
            all_10: if share(first(TEN)) < 1.0 { 0.0 } else { 1.0 },
            mrr: rank.map_or(0.0, |rank| 1.0 / (rank + 1) as f64),
            within: BUDGETS.map(|budget| share(first(fitting(hits, f64::from(budget))))),
            tokens_10: first(TEN).iter().map(tokens).sum(),
        })
    }

    /// All figures, in the order of [`NAMES`].
    pub(super) fn figures(&self) -> [f64; FIGURES] {
        let [at_1, at_5, at_10, at_20] = self.at;
        let [in_512, in_1024, in_2048] = self.within;
        [at_1, at_5, at_10, at_20, self.all_10, self.mrr, in_512, in_1024, in_2048, self.tokens_10]
    }

    /// The means over questions; zeroes over none.
    pub(super) fn mean<'a>(of: impl Iterator<Item = &'a Self>) -> Self {
        let (mut sums, mut count) = ([0.0; FIGURES], 0_u64);
        for scores in of {
            count += 1;
            for (sum, figure) in sums.iter_mut().zip(scores.figures()) {
                *sum += figure;
            }
        }
        let [at_1, at_5, at_10, at_20, all_10, mrr, in_512, in_1024, in_2048, tokens_10] =
            sums.map(|sum| sum / count.max(1) as f64);
        Self { at: [at_1, at_5, at_10, at_20], all_10, mrr, within: [in_512, in_1024, in_2048], tokens_10 }
    }
}

/// How many hits, best first, fit into so many tokens; one that is too long ends the list, whatever comes after it.
fn fitting(hits: &[Retrieved], budget: f64) -> usize {
    let mut used = 0.0;
    let fits = |hit: &&Retrieved| {
        used += tokens(hit);
        used <= budget
    };
    hits.iter().take_while(fits).count()
}

/// What the text of a hit costs.
fn tokens(hit: &Retrieved) -> f64 {
    (hit.text.chars().count() as f64 / 4.0).max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(ids: &[&str]) -> Vec<String> {
        ids.iter().map(|&id| id.to_owned()).collect()
    }

    fn hit(turns: &[&str], characters: usize) -> Retrieved {
        Retrieved { source_ids: ids(turns), text: "ß".repeat(characters) }
    }

    // The figures stand in the README beside others' that the reference scorer made, so they must mean the same. Worked out
    // by hand from its definitions.
    #[test]
    fn a_hit_counts_for_every_evidence_turn_that_it_covers_and_once() {
        let evidence = ids(&["a", "b", "c", "d", "a"]);
        let hits = [
            hit(&["x"], 1_000),  // 250 tokens, 250 so far
            hit(&["a", "b"], 0), // 1 token at least, 251
            hit(&["a"], 1_046),  // 261.5, 512.5: past 512
            hit(&[], 2),         // 1, would fit into 512 again, but the list has ended
            hit(&["y"], 4),      // 1
            hit(&["c"], 2_036),  // 509, 1,023.5
            hit(&["d"], 2_049),  // 512.25, 1,535.75: past 1,024
        ];
        let scores = Scores::of(&evidence, &hits).unwrap();
        assert_eq!(scores.at, [0.0, 0.5, 1.0, 1.0]);
        assert_eq!((scores.all_10, scores.mrr), (1.0, 0.5));
        assert_eq!(scores.within, [0.5, 0.75, 1.0]);
        assert_eq!(scores.tokens_10, 1_535.75);
    }

    #[test]
    fn nothing_found_is_nothing_covered_and_no_evidence_is_no_question() {
        assert_eq!(Scores::of(&ids(&["a"]), &[]), Some(Scores::default()));
        assert_eq!(Scores::of(&[], &[hit(&["a"], 4)]), None);
        let first_too_long = [hit(&["a"], 2_049), hit(&["a"], 4)];
        assert_eq!(Scores::of(&ids(&["a"]), &first_too_long).unwrap().within, [0.0, 1.0, 1.0]);
    }

    // What a multi-hop answer needs: one turn that is only eleventh spoils it.
    #[test]
    fn all_in_ten_wants_every_turn_among_the_first_ten() {
        let mut hits: Vec<_> = (0..9).map(|_| hit(&["x"], 4)).collect();
        hits.insert(3, hit(&["a"], 40));
        hits.push(hit(&["b"], 400));
        let scores = Scores::of(&ids(&["a", "b"]), &hits).unwrap();
        assert_eq!((scores.all_10, scores.at), (0.0, [0.0, 0.5, 0.5, 1.0]));
        assert_eq!((scores.mrr, scores.tokens_10), (0.25, 19.0));
        let mean = Scores::mean([scores, Scores::of(&ids(&["a"]), &hits).unwrap()].iter());
        assert_eq!((mean.all_10, mean.at[1]), (0.5, 0.75));
        assert_eq!(mean.figures().len(), NAMES.len());
    }
}
