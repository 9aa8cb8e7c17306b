//! What the conversation around a document adds to its own words.
//!
//! The weights are round and untuned, in units of one standard deviation of the candidates' scores. They were tried on
//! LoCoMo's ten conversations (5,882 turns), where 77 % of the evidence comes within the first ten, 74 % without
//! vectors. Weights fitted to nine of them gained one point on the tenth, too little to give up numbers that a reader
//! can remember.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::candidates::{Candidate, Candidates};
use super::corpus::Corpus;
use super::question::{DateSpan, Precision, Question};

/// The question names exactly one person, and this is that person's.
const SPEAKER_NAMED: f32 = 1.5;
/// A date in the question fits; scaled by how well.
const DATE_NAMED: f32 = 1.0;
/// Share of the positive score of the turn before.
const TURN_BEFORE: f32 = 0.2;
/// As much again when that turn asks: an answer seldom repeats the words of its question.
const TURN_BEFORE_ASKS: f32 = 0.2;
/// Share of the positive score of the turn after.
const TURN_AFTER: f32 = 0.2;
/// Share of each turn two away.
const TWO_AWAY: f32 = 0.1;
/// Share of the best score in the same thread.
const THREAD_BEST: f32 = 0.3;
/// What an assistant says is long, matches much and is seldom what was to be remembered.
const ASSISTANT: f32 = -1.0;
/// How near a date must be to a named day or month to count in part: things are told some days after they happen.
const NEAR_DAYS: i64 = 7;

/// The score of every candidate: its own words and what its surroundings add.
pub(super) fn scores(question: &Question, corpus: &impl Corpus, candidates: &mut Candidates) -> BTreeMap<u32, f32> {
    let named = question.named_alone(&corpus.speakers());
    let assistant = if question.addresses_assistant() { 0.0 } else { ASSISTANT };
    let best = best_by_thread(candidates);
    let mut scores = BTreeMap::new();
    let mut supported = Vec::new();
    for (doc, candidate) in candidates.iter() {
        let facts = &candidate.facts;
        let neighbours = if facts.is_message { neighbours(*doc, corpus, candidates) } else { 0.0 };
        if neighbours > 0.0 {
            supported.push(*doc);
        }
        let mut score = candidate.text + neighbours;
        score += facts.thread.and_then(|thread| best.get(&thread)).map_or(0.0, |best| THREAD_BEST * best);
        score += if facts.speaker.is_some() && facts.speaker == named { SPEAKER_NAMED } else { 0.0 };
        score += DATE_NAMED * question.dates.iter().map(|span| closeness(facts.at, span)).fold(0.0, f32::max);
        score += if facts.from_assistant { assistant } else { 0.0 };
        scores.insert(*doc, score);
    }
    for doc in supported {
        if let Some(candidate) = candidates.get_mut(&doc) {
            candidate.matches = true;
        }
    }
    scores
}

/// What the turns around a message add to it.
fn neighbours(doc: u32, corpus: &impl Corpus, candidates: &Candidates) -> f32 {
    let at = |offset| corpus.beside(doc, offset).and_then(|other| candidates.get(&other)).filter(|other| other.matches);
    let share = |weight: f32, other: &Candidate| weight * other.text.max(0.0);
    let before = at(-1).map_or(0.0, |turn| {
        let asks = if turn.facts.asks { TURN_BEFORE_ASKS } else { 0.0 };
        share(TURN_BEFORE + asks, turn)
    });
    let after = at(1).map_or(0.0, |turn| share(TURN_AFTER, turn));
    let far = [at(-2), at(2)].into_iter().flatten().map(|turn| share(TWO_AWAY, turn)).sum::<f32>();
    before + after + far
}

/// The best positive score in each thread.
fn best_by_thread(candidates: &Candidates) -> BTreeMap<u32, f32> {
    let mut best = BTreeMap::new();
    for candidate in candidates.values() {
        if let Some(thread) = candidate.facts.thread {
            let so_far = best.entry(thread).or_insert(0.0_f32);
            *so_far = so_far.max(candidate.text);
        }
    }
    best
}

/// How well an instant fits a named date: 1 within it (a year is vague: 0.5), 0.7 within a week of a day or a week.
fn closeness(at: Timestamp, span: &DateSpan) -> f32 {
    if at >= span.start && at < span.end {
        return if span.precision == Precision::Year { 0.5 } else { 1.0 };
    }
    let away =
        if at < span.start { span.start.as_second() - at.as_second() } else { at.as_second() - span.end.as_second() };
    let near = away <= NEAR_DAYS * 24 * 60 * 60;
    match span.precision {
        Precision::Day | Precision::Week if near => 0.7,
        _ => 0.0,
    }
}
