//! The ranking itself: gather, score, fold, order; and where more thought is asked for, a second reading and the links of the first
//! hits.

use std::collections::BTreeSet;

use super::candidates::{Candidates, gather, weigh};
use super::corpus::{Corpus, Scored};
use super::fold::fold;
use super::question::Question;
use super::structure::scores;
use super::weights::{HEAD, Lens, MEANING, PLAIN, SEVERAL};

/// How a question is looked into: the wire's `thinking_level`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Breadth {
    /// One reading.
    #[default]
    Low,
    /// One reading, of enough candidates for a long page.
    Wide,
    /// A second reading, by meaning, and the links of the first hits.
    Medium,
    /// The same, and the first reading looks for several answers rather than one.
    High,
}

impl Breadth {
    /// How many documents each leg puts forward. On LoCoMo nothing was lost against scoring everything with 50; 100 say a little better
    /// how unusual a score is, and 400 find less that has to be put together from several places.
    pub fn candidates(self) -> usize {
        match self {
            Breadth::Low | Breadth::Medium | Breadth::High => 100,
            Breadth::Wide => 200,
        }
    }

    /// One reading, wide enough to fill a page of `limit` after folding.
    pub fn for_page(limit: usize) -> Self {
        if limit <= 50 { Breadth::Low } else { Breadth::Wide }
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
///
/// With more thought the question is read twice: what stands first stays first, and then come in turn the best of a second
/// reading that goes mostly by meaning, what the first hits are linked to, and the others of the first reading. On LoCoMo
/// that finds a tenth more of the evidence of questions that ask for a conclusion, and as much of the others.
pub fn rank(question: &Question, corpus: &impl Corpus, breadth: Breadth) -> Vec<Hit> {
    let candidates = gather(corpus, breadth.candidates());
    let read = |lens: &Lens| read(question, corpus, candidates.clone(), lens);
    let hits = match breadth {
        Breadth::Low | Breadth::Wide => read(&PLAIN),
        Breadth::Medium => in_turn(corpus, &read(&PLAIN), &read(&MEANING)),
        Breadth::High => in_turn(corpus, &read(&SEVERAL), &read(&MEANING)),
    };
    hits.iter().map(|hit| Hit { doc: hit.doc, score: 1.0 / (1.0 + (-hit.score / 4.0).exp()) }).collect()
}

/// The candidates in the order of one reading.
fn read(question: &Question, corpus: &impl Corpus, mut candidates: Candidates, lens: &Lens) -> Vec<Scored> {
    weigh(&mut candidates, lens, corpus.reads_question());
    let scores = scores(question, corpus, &mut candidates, lens);
    let mut hits = fold(&candidates, &scores);
    hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.doc.cmp(&b.doc)));
    hits
}

/// The head of the first reading, then one each of the second, of what the head is linked to, and of the first. No score is above the
/// one before it, so that they still order the hits.
fn in_turn(corpus: &impl Corpus, first: &[Scored], second: &[Scored]) -> Vec<Scored> {
    let (head, rest) = first.split_at(HEAD.min(first.len()));
    let listed: BTreeSet<u32> = first.iter().chain(second).map(|hit| hit.doc).collect();
    let linked: Vec<Scored> = head
        .iter()
        .flat_map(|hit| corpus.linked(hit.doc).into_iter().map(|doc| Scored { doc, score: hit.score }))
        .filter(|hit| !listed.contains(&hit.doc) && corpus.admits(hit.doc))
        .collect();
    let mut merged = head.to_vec();
    let mut seen: BTreeSet<u32> = head.iter().map(|hit| hit.doc).collect();
    let mut queues = [second.iter(), linked.iter(), rest.iter()];
    loop {
        let before = merged.len();
        for queue in &mut queues {
            if let Some(next) = queue.find(|hit| seen.insert(hit.doc)) {
                let bound = merged.last().map_or(next.score, |last| last.score);
                merged.push(Scored { doc: next.doc, score: next.score.min(bound) });
            }
        }
        if merged.len() == before {
            return merged;
        }
    }
}
