//! The ranking itself: gather, score, fold, order; and where more thought is asked for, a second reading and the links of the first
//! hits.

use std::collections::BTreeSet;

use super::candidates::{Candidates, gather, weigh};
use super::corpus::{Corpus, Hit};
use super::fold::fold;
use super::question::{Question, matter};
use super::structure::scores;
use super::topics::topics;
use super::weights::{HEAD, LINKED_FROM_A_HIT, Lens, MEANING, PLAIN, SEVERAL};
use crate::view::keyword::analyse::terms;

/// How a question is looked into: the wire's `thinking_level`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Breadth {
    /// One reading.
    #[default]
    Low,
    /// One reading, of enough candidates for a long page.
    Wide,
    /// A second reading, by meaning, the links of the first hits, and what else is said of that which they tell of.
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

/// Everything that matches, best first, equal scores by document number. Empty when nothing does.
///
/// A score is `1 / (1 + e^(-s/4))` of the summed standard scores `s`, so between 0 and 1: 0.5 is the average candidate of this question,
/// and some 0.9 stands out clearly. It orders the hits of one question; between questions it says nothing.
///
/// With more thought the question is read twice: what stands first stays first, and then come in turn the best of a second
/// reading that goes mostly by meaning, what the first hits are linked to, what else is said of the thing or the person that they tell
/// of, and the others of the first reading. On LoCoMo's first ten that finds 54 instead of 49 percent of the evidence of questions that ask
/// for a conclusion, and of those with one plain answer 89 instead of 91.
pub fn rank(question: &Question, corpus: &impl Corpus, breadth: Breadth) -> Vec<Hit> {
    let candidates = gather(corpus, breadth.candidates());
    let twice = |candidates: Candidates, lens: &Lens| {
        let first = read(question, corpus, candidates.clone(), lens);
        let second = read(question, corpus, candidates, &MEANING);
        let third = followed(question, corpus, &first, breadth.candidates());
        in_turn(corpus, &first, second, third)
    };
    let hits = match breadth {
        Breadth::Low | Breadth::Wide => read(question, corpus, candidates, &PLAIN),
        Breadth::Medium => twice(candidates, &PLAIN),
        Breadth::High => twice(candidates, &SEVERAL),
    };
    hits.iter().map(|hit| Hit { doc: hit.doc, score: 1.0 / (1.0 + (-hit.score / 4.0).exp()) }).collect()
}

/// The hits of a question among those of its parts: what stands first stays first, then come in turn the best of each part and the
/// others.
pub fn among_parts(corpus: &impl Corpus, hits: &[Hit], parts: &[Vec<Hit>]) -> Vec<Hit> {
    let (head, rest) = hits.split_at(HEAD.min(hits.len()));
    let queues: Vec<_> = parts.iter().cloned().chain([rest.to_vec()]).collect();
    after_head(corpus, head, &queues)
}

/// The candidates in the order of one reading.
fn read(question: &Question, corpus: &impl Corpus, mut candidates: Candidates, lens: &Lens) -> Vec<Hit> {
    weigh(&mut candidates, lens, corpus.reads_question());
    let scores = scores(question, corpus, &mut candidates, lens);
    let mut hits = fold(&candidates, &scores);
    hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.doc.cmp(&b.doc)));
    hits
}

/// What is found when the question is asked together with that which its first hits tell of, and it does not name: "Sweden" for where
/// somebody's grandmother is from. One topic; a second one leads away more often than to an answer.
fn followed(question: &Question, corpus: &impl Corpus, first: &[Hit], candidates: usize) -> Vec<Hit> {
    let head: Vec<u32> = first.iter().take(HEAD).map(|hit| hit.doc).collect();
    let mut texts = corpus.texts(&head);
    // The last text is the one that counts most.
    texts.reverse();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let known: Vec<String> =
        terms(&question.text).into_iter().chain(corpus.speakers().iter().flat_map(|(_, name)| terms(name))).collect();
    let is_new = |topic: &String| terms(topic).iter().any(|term| !known.contains(term));
    let Some(topic) = topics(&texts, &|word| corpus.rarity(word)).into_iter().find(is_new) else { return Vec::new() };
    let led = corpus.with_words(&format!("{topic} {}", matter(&question.text)));
    read(question, &led, gather(&led, candidates), &SEVERAL)
}

/// The head of the first reading, then one each of the second, of what the head is linked to, of the third, and of the first.
fn in_turn(corpus: &impl Corpus, first: &[Hit], second: Vec<Hit>, third: Vec<Hit>) -> Vec<Hit> {
    let (head, rest) = first.split_at(HEAD.min(first.len()));
    let listed: BTreeSet<u32> = first.iter().chain(&second).map(|hit| hit.doc).collect();
    let linked: Vec<Hit> = head
        .iter()
        .flat_map(|hit| {
            let others = corpus.linked(hit.doc).into_iter().filter(|doc| !listed.contains(doc));
            others.take(LINKED_FROM_A_HIT).map(|doc| Hit { doc, score: hit.score })
        })
        .collect();
    after_head(corpus, head, &[second, linked, third, rest.to_vec()])
}

/// The head, then one each of the queues in turn. No score is above the one before it, so that they still order the hits.
fn after_head(corpus: &impl Corpus, head: &[Hit], queues: &[Vec<Hit>]) -> Vec<Hit> {
    let mut page = Page { corpus, hits: Vec::new(), seen: BTreeSet::new(), told: BTreeSet::new() };
    for hit in head {
        page.add(*hit);
    }
    let mut queues: Vec<_> = queues.iter().map(|queue| queue.iter()).collect();
    loop {
        let before = page.hits.len();
        for queue in &mut queues {
            // The first that has something to add.
            queue.any(|hit| page.add(*hit));
        }
        if page.hits.len() == before {
            return page.hits;
        }
    }
}

/// Hits of several readings on one page. What one reading lists as a record another may list as its message: the first that
/// comes stands for both.
struct Page<'a, C> {
    corpus: &'a C,
    hits: Vec<Hit>,
    seen: BTreeSet<u32>,
    /// Messages that a record here was made from.
    told: BTreeSet<u32>,
}

impl<C: Corpus> Page<'_, C> {
    /// Whether it was added.
    fn add(&mut self, hit: Hit) -> bool {
        let Some(facts) = self.corpus.doc(hit.doc) else { return false };
        let twice = if facts.is_message {
            self.told.contains(&hit.doc)
        } else {
            facts.sources.iter().any(|message| self.seen.contains(message))
        };
        if twice || !self.seen.insert(hit.doc) {
            return false;
        }
        self.told.extend(facts.sources);
        let bound = self.hits.last().map_or(hit.score, |last| last.score);
        self.hits.push(Hit { doc: hit.doc, score: hit.score.min(bound) });
        true
    }
}
