//! A record and the messages that it was made from say the same thing: one of them is listed, not both.

use std::collections::{BTreeMap, BTreeSet};

use super::candidates::Candidates;
use super::corpus::Hit;
use super::weights::{CANDIDATES_MIN, RECORD_MISSES, REPEATS};

/// The documents to list, with their scores, in no order.
pub(super) fn fold(candidates: &Candidates, scores: &BTreeMap<u32, f32>) -> Vec<Hit> {
    let records = best_records(candidates);
    let tells = candidates.len() >= CANDIDATES_MIN;
    let spoken_for: BTreeSet<u32> = candidates
        .iter()
        .filter(|(message, candidate)| {
            tells
                && candidate.admitted
                && records.get(message).is_some_and(|best| candidate.text - candidates[best].text > RECORD_MISSES)
        })
        .map(|(message, _)| *message)
        .collect();
    let mut listed = Vec::new();
    let mut covered = BTreeSet::new();
    for (doc, candidate) in candidates.iter().filter(|(_, it)| it.admitted && !it.facts.is_message) {
        let sources = &candidate.facts.sources;
        if sources.iter().any(|source| spoken_for.contains(source)) {
            continue;
        }
        let stands_for: Vec<u32> = sources.iter().copied().filter(|source| records.get(source) == Some(doc)).collect();
        let own = scores[doc] - if stands_for.is_empty() && !sources.is_empty() { REPEATS } else { 0.0 };
        let score = stands_for.iter().filter_map(|source| scores.get(source)).copied().fold(own, f32::max);
        let matches =
            candidate.matches || stands_for.iter().any(|source| candidates.get(source).is_some_and(|it| it.matches));
        if matches {
            covered.extend(sources.iter().copied());
            listed.push(Hit { doc: *doc, score });
        }
    }
    let alone = candidates
        .iter()
        .filter(|(doc, it)| it.facts.is_message && it.admitted && it.matches && !covered.contains(doc));
    listed.extend(alone.map(|(doc, _)| Hit { doc: *doc, score: scores[doc] }));
    listed
}

/// For each message the record made from it whose own words match best; it alone takes the message's score, or several
/// records of one long message would crowd the page.
fn best_records(candidates: &Candidates) -> BTreeMap<u32, u32> {
    let mut best: BTreeMap<u32, u32> = BTreeMap::new();
    for (doc, candidate) in candidates.iter().filter(|(_, it)| it.admitted && !it.facts.is_message) {
        for source in &candidate.facts.sources {
            let so_far = best.entry(*source).or_insert(*doc);
            if candidates[so_far].text < candidate.text {
                *so_far = *doc;
            }
        }
    }
    best
}
