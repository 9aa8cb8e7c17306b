//! Which lists hold for a statement: by script first, then by small words.

use std::sync::LazyLock;

use super::{
    english::ENGLISH,
    european::{FRENCH, GERMAN, ITALIAN, OTHER, PORTUGUESE, RUSSIAN, SPANISH},
    lists::Lists,
};
use crate::telling::{Telling, Votes};

/// A language, as far as it is compared in a way of its own.
#[derive(Clone, Copy, Debug)]
pub(super) enum Language {
    Alphabetic(&'static Lists),
    Eastern(Eastern),
}

impl PartialEq for Language {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Alphabetic(one), Self::Alphabetic(two)) => one.name == two.name,
            (Self::Eastern(one), Self::Eastern(two)) => one == two,
            _ => false,
        }
    }
}

/// One that is compared as a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Eastern {
    Japanese,
    Korean,
    Chinese,
}

/// Languages in Latin letters; of two that fit equally well the first is meant.
const LATIN: [&Lists; 6] = [&ENGLISH, &SPANISH, &FRENCH, &GERMAN, &PORTUGUESE, &ITALIAN];

static WORDS: LazyLock<Telling<&str>> = LazyLock::new(|| {
    Telling::new(LATIN.map(|lists| lists.telling.iter().chain(lists.numbers.iter().map(|(number, _)| number)).copied()))
});
static LETTERS: LazyLock<Telling<char>> = LazyLock::new(|| Telling::new(LATIN.map(|lists| lists.letters.chars())));

/// In Latin letters the one with most small words and letters of its own, the first of several; none at all is a language without lists.
pub(super) fn of(text: &str) -> Language {
    if !text.is_ascii()
        && let Some(language) = by_letters(text)
    {
        return language;
    }
    let lower = text.to_lowercase().replace('’', "'");
    let words = lower.split(|c: char| !c.is_alphanumeric() && c != '\'').flat_map(|word| [word, front(word)]);
    let mut votes = Votes::default();
    words.for_each(|word| WORDS.vote(word, &mut votes));
    lower.chars().filter(|c| !c.is_ascii()).for_each(|c| LETTERS.vote(&c, &mut votes));
    Language::Alphabetic(votes.most().map_or(&OTHER, |at| LATIN[at]))
}

/// One that its script tells.
fn by_letters(text: &str) -> Option<Language> {
    let any = |from: char, to: char| text.chars().any(|c| (from..=to).contains(&c));
    if any('\u{3041}', '\u{30ff}') {
        return Some(Language::Eastern(Eastern::Japanese));
    }
    if any('\u{ac00}', '\u{d7a3}') {
        return Some(Language::Eastern(Eastern::Korean));
    }
    if any('\u{4e00}', '\u{9fff}') {
        return Some(Language::Eastern(Eastern::Chinese));
    }
    (any('а', 'я') || any('А', 'Я')).then_some(Language::Alphabetic(&RUSSIAN))
}

/// What stands before an apostrophe, with it: `l'`, `j'`; nothing if there is none.
fn front(word: &str) -> &str {
    word.find('\'').map_or("", |at| &word[..=at])
}
