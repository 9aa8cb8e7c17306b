//! What the conversation around a document adds to its own words.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::asked::Wanted;
use super::candidates::{Candidate, Candidates};
use super::corpus::Corpus;
use super::question::{DateSpan, Precision, Question};
use super::weights::{
    ASKS, ASSISTANT, DATE_IN_YEAR, DATE_NAMED, DATE_NEAR, Lens, NEAR_DAYS, OFFERS, SPEAKER_NAMED, TURN_AFTER,
    TURN_BEFORE, TURN_BEFORE_ASKS, TWO_AWAY, YEAR_GUESSED,
};

/// The score of every candidate: its own words and what its surroundings add.
pub(super) fn scores(
    question: &Question,
    corpus: &impl Corpus,
    candidates: &mut Candidates,
    lens: &Lens,
) -> BTreeMap<u32, f32> {
    let named = question.named_alone(&corpus.speakers());
    let assistant = if question.addresses_assistant() { 0.0 } else { ASSISTANT };
    offer(question, corpus, candidates);
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
        score += facts.thread.and_then(|thread| best.get(&thread)).map_or(0.0, |best| lens.thread * best);
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

/// What each text is worth by its kind: a question answers nothing, and a date or a number is what some questions want.
fn offer(question: &Question, corpus: &impl Corpus, candidates: &mut Candidates) {
    let wanted = Wanted::of(&question.text);
    for (doc, candidate) in candidates.iter_mut() {
        candidate.text += if candidate.facts.asks { ASKS } else { 0.0 };
        candidate.text += if wanted.is_offered_by(|| corpus.offers(*doc)) { OFFERS } else { 0.0 };
    }
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

/// How well an instant fits a named date: 1 within it, less in a year or beside a day or a week. Who says "in May" most likely means the
/// nearest, and may mean any.
fn closeness(at: Timestamp, span: &DateSpan) -> f32 {
    let here = closeness_here(at, span);
    if here > 0.0 || !span.yearly {
        return here;
    }
    YEAR_GUESSED * span.in_years_around(at).map(|span| closeness_here(at, &span)).fold(0.0, f32::max)
}

fn closeness_here(at: Timestamp, span: &DateSpan) -> f32 {
    if at >= span.start && at < span.end {
        return if span.precision == Precision::Year { DATE_IN_YEAR } else { 1.0 };
    }
    let away =
        if at < span.start { span.start.as_second() - at.as_second() } else { at.as_second() - span.end.as_second() };
    let near = away <= NEAR_DAYS * 24 * 60 * 60;
    match span.precision {
        Precision::Day | Precision::Week if near => DATE_NEAR,
        _ => 0.0,
    }
}
