//! Which lists hold for a statement: by script first, then by small words.

use super::{
    english::ENGLISH,
    european::{FRENCH, GERMAN, ITALIAN, OTHER, PORTUGUESE, RUSSIAN, SPANISH},
    lists::Lists,
};

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

/// In Latin letters the one with most small words and letters of its own, the first of several; none at all is a language without lists.
pub(super) fn of(text: &str) -> Language {
    let any = |from: char, to: char| text.chars().any(|c| (from..=to).contains(&c));
    if any('\u{3041}', '\u{30ff}') {
        return Language::Eastern(Eastern::Japanese);
    }
    if any('\u{ac00}', '\u{d7a3}') {
        return Language::Eastern(Eastern::Korean);
    }
    if any('\u{4e00}', '\u{9fff}') {
        return Language::Eastern(Eastern::Chinese);
    }
    if any('а', 'я') || any('А', 'Я') {
        return Language::Alphabetic(&RUSSIAN);
    }
    let lower = text.to_lowercase().replace('’', "'");
    let words: Vec<&str> =
        lower.split(|c: char| !c.is_alphanumeric() && c != '\'').flat_map(|word| [word, front(word)]).collect();
    let hits = |lists: &Lists| {
        let words = words
            .iter()
            .filter(|word| lists.telling.contains(word) || lists.numbers.iter().any(|(number, _)| number == *word))
            .count();
        words + lower.chars().filter(|c| lists.letters.contains(*c)).count()
    };
    let mut best: (&'static Lists, usize) = (&OTHER, 0);
    for lists in [&ENGLISH, &SPANISH, &FRENCH, &GERMAN, &PORTUGUESE, &ITALIAN] {
        let hits = hits(lists);
        if hits > best.1 {
            best = (lists, hits);
        }
    }
    Language::Alphabetic(best.0)
}

/// What stands before an apostrophe, with it: `l'`, `j'`; nothing if there is none.
fn front(word: &str) -> &str {
    word.find('\'').map_or("", |at| &word[..=at])
}
