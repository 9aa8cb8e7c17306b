//! The sentences that an answer may quote, and what each of them says of the question.

use super::answer::Candidate;
use super::asked::Wanted;
use super::question::matter;
use super::words::{Vocabulary, asks, day, sentences};
use crate::extract::dates;
use crate::view::HashMap;
use crate::view::keyword::analyse::terms;

/// Candidates further down are never quoted: they cost time and seldom add anything.
pub(super) const CANDIDATES_MAX: usize = 20;
/// Two sentences that share this part of the shorter one's words say the same.
const SAME_SHARE: f32 = 0.8;

/// A sentence that could be quoted.
pub(super) struct Sentence<'a> {
    pub(super) from: usize,
    /// Its place in its text.
    pub(super) at: usize,
    pub(super) candidate: &'a Candidate,
    pub(super) text: &'a str,
    /// Its own words, for telling repetitions.
    pub(super) words: Vec<u32>,
    /// The question's words that it, its speaker or its date says.
    pub(super) meets: Vec<u32>,
    /// Whether it has what the question asks for: a date, a number, a name, a reason.
    pub(super) offers: bool,
    /// Whether the question names its speaker.
    pub(super) theirs: bool,
    /// Whether its record answers as well: then it says how common its words are, and is not quoted.
    pub(super) repeats: bool,
}

/// The question's words. They have the first numbers, so that a number alone says whether the question has the word.
pub(super) struct Asked {
    words: Vocabulary,
    /// How many they are.
    pub(super) count: u32,
}

impl Asked {
    pub(super) fn of(question: &str) -> Self {
        let mut asked = terms(&matter(question));
        asked.sort_unstable();
        let mut words = Vocabulary::default();
        for term in &asked {
            words.number(term);
        }
        let count = words.len() as u32;
        Self { words, count }
    }

    fn has(&self, term: &str) -> bool {
        self.words.get(term).is_some_and(|number| number < self.count)
    }

    /// The words of a text, each once.
    fn set(&mut self, text: &str) -> Vec<u32> {
        let mut words = self.words.numbers(text);
        words.sort_unstable();
        words.dedup();
        words
    }

    /// Those of the question among them.
    pub(super) fn met<'a>(&self, words: &'a [u32]) -> &'a [u32] {
        &words[..words.partition_point(|number| *number < self.count)]
    }
}

/// What a candidate's speaker and date say of the question: the words they meet, and whether it names the speaker.
struct About {
    meets: Vec<u32>,
    theirs: bool,
}

/// Every sentence worth quoting: statements, or all there is when there are only questions.
pub(super) fn pool<'a>(question: &str, asked: &mut Asked, candidates: &'a [Candidate]) -> Vec<Sentence<'a>> {
    let wanted = Wanted::of(question);
    // Few people say much on few days.
    let mut abouts = HashMap::default();
    let mut quotable = |from: usize, candidate: &'a Candidate| {
        let who = candidate.speaker.as_deref().unwrap_or_default();
        let about: &About = abouts.entry((who, dates::day_of(candidate.said_at))).or_insert_with(|| {
            let words = asked.set(&format!("{who} {}", day(candidate.said_at)));
            let named = asked.set(who);
            About { meets: asked.met(&words).to_vec(), theirs: !asked.met(&named).is_empty() }
        });
        let quoted = sentences(&candidate.text).into_iter().enumerate().map(|(at, text)| {
            let words = asked.set(text);
            let mut meets = [asked.met(&words), &about.meets].concat();
            meets.sort_unstable();
            meets.dedup();
            let offers = wanted.is_offered(text, candidate.said_at, |term| asked.has(term));
            Sentence { from, at, candidate, text, words, meets, offers, theirs: about.theirs, repeats: false }
        });
        quoted.collect::<Vec<_>>()
    };
    let mut pool = Vec::new();
    for (from, candidate) in candidates.iter().enumerate().take(CANDIDATES_MAX) {
        let told = quotable(from, candidate);
        let mut said = candidate.message.as_deref().map_or_else(Vec::new, |message| quotable(from, message));
        for sentence in &mut said {
            sentence.repeats = told.iter().any(|told| answers_as_well(told, sentence));
        }
        pool.extend(told);
        pool.extend(said);
    }
    let says = |sentence: &Sentence<'_>| !asks(sentence.text) && !sentence.words.is_empty();
    if pool.iter().any(says) {
        pool.retain(says);
    }
    pool
}

/// Whether what a record tells is what its message says, with nothing of what is asked left out: then the message's own words only make
/// the answer longer.
fn answers_as_well(told: &Sentence<'_>, said: &Sentence<'_>) -> bool {
    same(&told.words, &said.words)
        && said.meets.iter().all(|word| told.meets.contains(word))
        && (told.offers || !said.offers)
}

pub(super) fn same(a: &[u32], b: &[u32]) -> bool {
    let (shorter, longer) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    let shared = shorter.iter().filter(|word| longer.binary_search(word).is_ok()).count();
    shared as f32 >= SAME_SHARE * shorter.len() as f32
}
