//! Which documents are looked at closely, and how well their own words match.

use std::collections::{BTreeMap, BTreeSet};

use super::corpus::{Corpus, Doc};

/// One document under consideration.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub(super) facts: Doc,
    pub(super) admitted: bool,
    /// Shares a word with the question or lies above the cosine floor.
    pub(super) matches: bool,
    /// Sum of the z-scores of both legs; zero is the candidates' mean.
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
    let facts = with_company(corpus, &seeds);
    let words = z_scores(facts.keys().map(|doc| Some(corpus.keyword_score(*doc))).collect());
    let cosines: Vec<_> = facts.keys().map(|doc| corpus.vector_score(*doc)).collect();
    let meaning = z_scores(cosines.clone());
    let scored = facts.into_iter().zip(words).zip(meaning).zip(cosines);
    scored
        .map(|((((doc, facts), words), meaning), cosine)| {
            let matches = corpus.keyword_score(doc) > 0.0 || cosine.is_some_and(|cosine| cosine >= floor);
            (doc, Candidate { facts, admitted: corpus.admits(doc), matches, text: words + meaning })
        })
        .collect()
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

/// Distances from the mean in standard deviations. What is unknown counts as the mean, as does all when nothing
/// differs.
fn z_scores(scores: Vec<Option<f32>>) -> Vec<f32> {
    let known: Vec<f32> = scores.iter().flatten().copied().collect();
    let count = known.len().max(1) as f32;
    let mean = known.iter().sum::<f32>() / count;
    let deviation = (known.iter().map(|score| (score - mean).powi(2)).sum::<f32>() / count).sqrt();
    let z = |score: f32| {
        if deviation > 1e-6 { (score - mean) / deviation } else { 0.0 }
    };
    scores.into_iter().map(|score| score.map_or(0.0, z)).collect()
}
