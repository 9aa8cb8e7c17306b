//! Ranking by BM25. The filter sits inside the candidate search: a document that may not be seen never takes the place
//! of one that may.

use std::cell::RefCell;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use super::analyse::each_term;
use super::index::{Keyword, Posting};

/// The constants of BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bm25 {
    /// How soon a repeated term stops adding.
    pub k1: f32,
    /// How much a long document is held against it, 0 to 1.
    pub b: f32,
}

impl Default for Bm25 {
    /// On LoCoMo's chat `b` from 0.2 to 0.75 and `k1` from 0.9 to 1.5 differ by one point of recall, smaller being better;
    /// long assistant messages want `b` 0.75.
    fn default() -> Self {
        Self { k1: 1.2, b: 0.4 }
    }
}

/// A query as the index understands it. It holds for the index as it was when it was prepared.
#[derive(Clone, Debug, Default)]
pub struct Terms {
    /// By term number: its weight, inverse document frequency included.
    weighted: Vec<(u32, f32)>,
    /// Average length of a document, never 0.
    average: f32,
}

impl Terms {
    /// Whether no document can match: nothing but stop words and words that no document has.
    pub fn is_empty(&self) -> bool {
        self.weighted.is_empty()
    }

    /// Their numbers.
    pub(super) fn ids(&self) -> impl Iterator<Item = u32> + '_ {
        self.weighted.iter().map(|(term, _)| *term)
    }

    /// The number of distinct known terms.
    pub fn len(&self) -> usize {
        self.weighted.len()
    }
}

/// Sums of the scores by document, kept by the thread: zeroing one for every query would cost more than small queries.
#[derive(Default)]
struct Sums {
    /// All zero between queries.
    by_doc: Vec<f32>,
    touched: Vec<u32>,
}

thread_local! {
    static SUMS: RefCell<Sums> = RefCell::default();
}

impl Keyword {
    /// Analyses a query; terms that no document has are dropped. Stop words are never indexed, so a query of stop words
    /// alone is empty and finds nothing.
    pub fn prepare(&self, query: &str) -> Terms {
        let mut asked: Vec<(u32, usize, f32)> = Vec::new();
        each_term(query, &mut |term, kind| {
            if kind.weight() == 0.0 {
                return;
            }
            if let Some(id) = self.term(term) {
                asked.push((id, asked.len(), kind.weight() * self.inverse_frequency(id)));
            }
        });
        asked.sort_unstable_by_key(|&(id, at, _)| (id, at));
        asked.dedup_by(|again, first| {
            let same = again.0 == first.0;
            first.2 += if same { again.2 } else { 0.0 };
            same
        });
        // Summed in the query's order, a score is the same to the last bit in a rebuilt index that numbers terms otherwise.
        asked.sort_unstable_by_key(|&(_, at, _)| at);
        let weighted = asked.into_iter().map(|(id, _, weight)| (id, weight)).collect();
        let average = self.length as f32 / self.documents.max(1) as f32;
        Terms { weighted, average: average.max(1.0) }
    }

    /// How rare a word is here, by its rarest term: the more, the rarer; above that of any other if no document has it.
    pub fn rarity(&self, word: &str) -> f32 {
        let mut rarest: Option<f32> = None;
        each_term(word, &mut |term, _| {
            let unknown = (1.0 + (self.documents as f32 + 0.5) / 0.5).ln();
            let rare = self.term(term).map_or(unknown, |id| self.inverse_frequency(id));
            rarest = Some(rarest.map_or(rare, |so_far: f32| so_far.max(rare)));
        });
        rarest.unwrap_or_default()
    }

    /// `ln(1 + (N - n + 0.5) / (n + 0.5))`: Lucene's form, which is never negative.
    fn inverse_frequency(&self, term: u32) -> f32 {
        let having = self.postings[term as usize].len() as f32;
        (1.0 + (self.documents as f32 - having + 0.5) / (having + 0.5)).ln()
    }

    /// The `limit` best of the documents that `keep` lets through, best first; equal scores by document number.
    /// `keep` is asked only for documents that could enter the answer.
    pub fn best(&self, terms: &Terms, limit: usize, keep: &dyn Fn(u32) -> bool) -> Vec<(u32, f32)> {
        if limit == 0 || terms.is_empty() {
            return Vec::new();
        }
        // Taken out, not borrowed: `keep` may ask this very view something.
        let mut sums = SUMS.take();
        self.sum(terms, &mut sums);
        let mut best: BinaryHeap<Reverse<Hit>> = BinaryHeap::with_capacity(limit + 1);
        let mut bar = 0.0_f32;
        for &doc in &sums.touched {
            let score = std::mem::take(&mut sums.by_doc[doc as usize]);
            if score < bar {
                continue;
            }
            let hit = Hit { score, doc };
            let enters = best.len() < limit || best.peek().is_some_and(|worst| hit > worst.0);
            if enters && keep(doc) {
                best.push(Reverse(hit));
                if best.len() > limit {
                    best.pop();
                }
                if best.len() == limit {
                    bar = best.peek().map_or(0.0, |worst| worst.0.score);
                }
            }
        }
        sums.touched.clear();
        SUMS.set(sums);
        best.into_sorted_vec().into_iter().map(|Reverse(hit)| (hit.doc, hit.score)).collect()
    }

    fn sum(&self, terms: &Terms, sums: &mut Sums) {
        let [flat, slope] = self.norm(terms);
        for &(term, weight) in &terms.weighted {
            let Some(list) = self.postings.get(term as usize) else {
                continue;
            };
            if let Some(last) = list.last()
                && sums.by_doc.len() <= last.doc as usize
            {
                sums.by_doc.resize(last.doc as usize + 1, 0.0);
            }
            let weight = weight * (self.bm25.k1 + 1.0);
            for posting in list {
                let sum = &mut sums.by_doc[posting.doc as usize];
                // Every part is above zero, so zero says that the document is new here.
                if *sum == 0.0 {
                    sums.touched.push(posting.doc);
                }
                *sum += part(posting, weight, flat, slope);
            }
        }
    }

    /// The score of any document, 0.0 if it has none of the terms. The same number that [`Keyword::best`] gives.
    pub fn score(&self, terms: &Terms, doc: u32) -> f32 {
        let [flat, slope] = self.norm(terms);
        let mut sum = 0.0;
        for &(term, weight) in &terms.weighted {
            let Some(list) = self.postings.get(term as usize) else {
                continue;
            };
            if let Ok(at) = list.binary_search_by_key(&doc, |posting| posting.doc) {
                sum += part(&list[at], weight * (self.bm25.k1 + 1.0), flat, slope);
            }
        }
        sum
    }

    /// `k1 * (1 - b + b * length / average)` as `flat + slope * length`.
    fn norm(&self, terms: &Terms) -> [f32; 2] {
        let Bm25 { k1, b } = self.bm25;
        [k1 * (1.0 - b), k1 * b / terms.average.max(1.0)]
    }
}

#[inline]
fn part(posting: &Posting, weight: f32, flat: f32, slope: f32) -> f32 {
    let count = f32::from(posting.count);
    weight * count / (count + flat + slope * f32::from(posting.length))
}

/// Ordered by score, the lower number first among equals.
#[derive(Clone, Copy, PartialEq)]
struct Hit {
    score: f32,
    doc: u32,
}

impl Eq for Hit {}

impl PartialOrd for Hit {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Hit {
    fn cmp(&self, other: &Self) -> Ordering {
        self.score.total_cmp(&other.score).then(other.doc.cmp(&self.doc))
    }
}
