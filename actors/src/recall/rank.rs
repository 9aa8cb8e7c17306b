//! The ranking itself: gather, score, fold, order.

use super::candidates::gather;
use super::corpus::Corpus;
use super::fold::fold;
use super::question::Question;
use super::structure::scores;

/// How widely to look before ranking: the wire's `thinking_level`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Breadth {
    /// The best 50 of each leg: on LoCoMo nothing was lost against scoring everything.
    #[default]
    Low,
    /// 150 of each.
    Medium,
    /// 400 of each.
    High,
}

impl Breadth {
    /// How many documents each leg puts forward.
    pub fn candidates(self) -> usize {
        match self {
            Breadth::Low => 50,
            Breadth::Medium => 150,
            Breadth::High => 400,
        }
    }

    /// Wide enough to fill a page of `limit` after folding.
    pub fn for_page(limit: usize) -> Self {
        if limit <= 25 { Breadth::Low } else { Breadth::Medium }
    }
}

/// A document that answers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// The document.
    pub doc: u32,
    /// Between 0 and 1: `1 / (1 + e^(-s/4))` of the summed standard scores `s`, so 0.5 is the average candidate
    /// of this question and some 0.9 stands out clearly. It orders the hits of one question; between questions it says
    /// nothing.
    pub score: f32,
}

/// Everything that matches, best first, equal scores by document number. Empty when nothing does.
pub fn rank(question: &Question, corpus: &impl Corpus, breadth: Breadth) -> Vec<Hit> {
    let mut candidates = gather(corpus, breadth.candidates());
    let scores = scores(question, corpus, &mut candidates);
    let mut hits = fold(&candidates, &scores);
    hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.doc.cmp(&b.doc)));
    hits.iter().map(|hit| Hit { doc: hit.doc, score: 1.0 / (1.0 + (-hit.score / 4.0).exp()) }).collect()
}
