//! Which documents are looked at closely, and how well their own words match.

use std::collections::{BTreeMap, BTreeSet};

use super::corpus::{Corpus, Doc};
use super::weights::{BELOW, COSINE_POWER, LENGTH, Lens, RECORD_TELLS, UNREAD};

/// One document under consideration.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub(super) facts: Doc,
    pub(super) admitted: bool,
    /// Shares a word with the question or lies above the cosine floor.
    pub(super) matches: bool,
    /// Its keyword score, zero when no word is shared.
    words: f32,
    /// Its cosine, where there is a model.
    cosine: Option<f32>,
    /// Weighted sum of the z-scores of both legs and of the length, and what its records and its kind add.
    pub(super) text: f32,
}

/// Candidates by document number: the order makes every sum over them the same each time.
pub(super) type Candidates = BTreeMap<u32, Candidate>;

/// The best `limit` of each leg, their neighbours and the messages that records were made from. Both legs are computed
/// for every candidate of either: fusing only what both happened to list loses more than one leg alone. Empty when
/// nothing matches: no word is shared, and no vector is nearer than the floor.
pub(super) fn gather(corpus: &impl Corpus, limit: usize) -> Candidates {
    let keyword = corpus.keyword_best(limit);
    let vector = corpus.vector_best(limit);
    let floor = corpus.cosine_floor();
    let near = vector.as_ref().is_some_and(|hits| hits.iter().any(|hit| hit.score >= floor));
    if keyword.is_empty() && !near {
        return Candidates::new();
    }
    let seeds: BTreeSet<u32> = keyword.iter().chain(vector.iter().flatten()).map(|hit| hit.doc).collect();
    let candidate = |(doc, facts)| {
        let (words, cosine) = (corpus.keyword_score(doc), corpus.vector_score(doc));
        let matches = words > 0.0 || cosine.is_some_and(|cosine| cosine >= floor);
        (doc, Candidate { facts, admitted: corpus.admits(doc), matches, words, cosine, text: 0.0 })
    };
    with_company(corpus, &seeds).into_iter().map(candidate).collect()
}

/// Scores every candidate's own text. `reads` says whether the model has learnt the question's language.
pub(super) fn weigh(candidates: &mut Candidates, lens: &Lens, reads: bool) {
    let meaning = if reads { 1.0 } else { UNREAD };
    let each = |of: &dyn Fn(&Candidate) -> Option<f32>| z_scores(candidates.values().map(of).collect());
    let words = each(&|it| Some(it.words.powf(lens.power)));
    let meanings = each(&|it| it.cosine.map(|cosine| cosine.max(0.0).powi(COSINE_POWER)));
    let lengths = each(&|it| Some((1.0 + it.facts.terms as f32).ln()));
    for (at, candidate) in candidates.values_mut().enumerate() {
        candidate.text = lens.keyword * words[at] + meaning * meanings[at] + LENGTH * lengths[at];
    }
    let told: Vec<(u32, f32)> = candidates
        .values()
        .filter(|it| !it.facts.is_message)
        .flat_map(|record| record.facts.sources.iter().map(|message| (*message, record.text)))
        .collect();
    for (message, text) in best_of(told) {
        if let Some(message) = candidates.get_mut(&message) {
            message.text += RECORD_TELLS * (text - message.text).max(0.0);
        }
    }
}

/// The best score for each message.
fn best_of(told: Vec<(u32, f32)>) -> BTreeMap<u32, f32> {
    let mut best = BTreeMap::new();
    for (message, text) in told {
        let so_far = best.entry(message).or_insert(text);
        *so_far = so_far.max(text);
    }
    best
}

/// The seeds, the messages that seeds were made from, and the messages before and after either.
fn with_company(corpus: &impl Corpus, seeds: &BTreeSet<u32>) -> BTreeMap<u32, Doc> {
    let mut found = BTreeMap::new();
    let add = |found: &mut BTreeMap<u32, Doc>, doc: u32| {
        if let std::collections::btree_map::Entry::Vacant(slot) = found.entry(doc)
            && let Some(facts) = corpus.doc(doc)
        {
            slot.insert(facts);
        }
    };
    for seed in seeds {
        add(&mut found, *seed);
        for source in found.get(seed).map(|facts| facts.sources.clone()).unwrap_or_default() {
            add(&mut found, source);
        }
    }
    let messages: Vec<u32> = found.iter().filter(|(_, facts)| facts.is_message).map(|(doc, _)| *doc).collect();
    for neighbour in messages.iter().flat_map(|doc| [corpus.beside(*doc, -1), corpus.beside(*doc, 1)]).flatten() {
        add(&mut found, neighbour);
    }
    found
}

/// Distances from the mean in standard deviations, downwards no further than [`BELOW`]. What is unknown counts as the mean, as does all
/// when nothing differs.
fn z_scores(scores: Vec<Option<f32>>) -> Vec<f32> {
    let known: Vec<f32> = scores.iter().flatten().copied().collect();
    let count = known.len().max(1) as f32;
    let mean = known.iter().sum::<f32>() / count;
    let deviation = (known.iter().map(|score| (score - mean).powi(2)).sum::<f32>() / count).sqrt();
    let z = |score: f32| {
        if deviation > 1e-6 { ((score - mean) / deviation).max(-BELOW) } else { 0.0 }
    };
    scores.into_iter().map(|score| score.map_or(0.0, z)).collect()
}
