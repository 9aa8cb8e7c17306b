//! What a term is: how a text in any language becomes the words that the index counts.
//!
//! The text is brought to NFKC and split by the Unicode word rules. Words of scripts that put spaces between words are
//! lower-cased, freed of accents and possessives, and stemmed (Snowball: Russian for Cyrillic, English for Latin. A
//! Spanish word loses an ending by English rules, but it loses the same one in text and query). Runs of Chinese,
//! Japanese, Korean and Thai become single characters and overlapping pairs, which needs no dictionary. Numbers stay
//! whole; emoji, punctuation and stop words give nothing.

use std::borrow::Cow;

use rust_stemmers::{Algorithm, Stemmer};
use unicode_normalization::{UnicodeNormalization, char::is_combining_mark, is_nfkc};
use unicode_segmentation::UnicodeSegmentation;

use super::stop::is_stop;

/// A longer word (a key, a picture in base64) is cut here, so that one message cannot fill the dictionary's memory.
const WORD_CHARS_MAX: usize = 40;

/// How a term came about: it decides whether the term counts as length, and its weight in a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A stemmed word or a number.
    Word,
    /// A word as it was accented, beside the folded one: who types the accent is shown the accented text first.
    Accented,
    /// One ideograph: a word of its own, or half of one.
    Ideograph,
    /// One character of any other script without spaces; it alone says little.
    Character,
    /// One such character that stands alone in its run: all there is to look for.
    Lone,
    /// Two neighbouring characters of a run.
    Pair,
}

impl Kind {
    /// Whether the term adds to the length of its document. Every word and every character does once.
    pub fn has_length(self) -> bool {
        !matches!(self, Kind::Accented | Kind::Pair)
    }

    /// What the term weighs in a query. A run's pairs carry its meaning. Single ideographs find shorter words;
    /// single kana, Hangul or Thai characters of a longer run would only find noise.
    pub fn weight(self) -> f32 {
        match self {
            Kind::Word | Kind::Lone | Kind::Pair => 1.0,
            Kind::Accented => 0.5,
            Kind::Ideograph => 0.4,
            Kind::Character => 0.0,
        }
    }
}

/// The terms of a text, in order, repeated as often as they occur.
pub fn terms(text: &str) -> Vec<String> {
    let mut all = Vec::new();
    each_term(text, &mut |term, _| all.push(term.to_owned()));
    all
}

/// What a text is made of, before its words are looked at.
pub(super) enum Piece<'a> {
    /// A word that spaces set apart, as it stands in the text; [`word_terms`] gives its terms, which depend on nothing else.
    Word(&'a str),
    /// A term of a run of characters.
    Term(&'a str, Kind),
}

/// Hands every term of the text to `sink`, in order.
pub fn each_term(text: &str, sink: &mut dyn FnMut(&str, Kind)) {
    each_piece(text, &mut |piece| match piece {
        Piece::Word(word) => word_terms(word, sink),
        Piece::Term(term, kind) => sink(term, kind),
    });
}

/// Hands every piece of the text to `sink`, in order.
pub(super) fn each_piece(text: &str, sink: &mut dyn FnMut(Piece<'_>)) {
    let text = if text.is_ascii() || is_nfkc(text) { Cow::Borrowed(text) } else { Cow::Owned(text.nfkc().collect()) };
    let mut run: Vec<char> = Vec::new();
    let mut run_end = 0;
    for (at, word) in text.unicode_word_indices() {
        let spaceless = word.chars().next().is_some_and(is_spaceless);
        if !spaceless || at != run_end {
            flush_run(&mut run, sink);
        }
        if spaceless {
            run.extend(word.chars());
            run_end = at + word.len();
        } else {
            sink(Piece::Word(word));
        }
    }
    flush_run(&mut run, sink);
}

/// Scripts whose words are not set apart by spaces, and Hangul, whose words carry their particles.
pub fn is_spaceless(c: char) -> bool {
    matches!(c as u32,
        0x0E00..=0x0EFF // Thai, Lao
        | 0x1000..=0x109F // Burmese
        | 0x1100..=0x11FF | 0x3130..=0x318F | 0xA960..=0xA97F | 0xAC00..=0xD7FF // Hangul
        | 0x1780..=0x17FF // Khmer
        | 0x3005..=0x3007 | 0x3040..=0x30FF | 0x31F0..=0x31FF // kana and iteration marks
        | 0x3100..=0x312F) // Bopomofo
        || is_ideograph(c)
}

fn is_ideograph(c: char) -> bool {
    matches!(c as u32, 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xF900..=0xFAFF | 0x20000..=0x3FFFF)
}

fn flush_run(run: &mut Vec<char>, sink: &mut dyn FnMut(Piece<'_>)) {
    let mut buffer = [0; 8];
    for (i, &c) in run.iter().enumerate() {
        let kind = match c {
            _ if run.len() == 1 => Kind::Lone,
            c if is_ideograph(c) => Kind::Ideograph,
            _ => Kind::Character,
        };
        let first = c.encode_utf8(&mut buffer).len();
        sink(Piece::Term(std::str::from_utf8(&buffer[..first]).unwrap_or_default(), kind));
        if let Some(next) = run.get(i + 1) {
            let both = first + next.encode_utf8(&mut buffer[first..]).len();
            sink(Piece::Term(std::str::from_utf8(&buffer[..both]).unwrap_or_default(), Kind::Pair));
        }
    }
    run.clear();
}

/// Takes a word of the Unicode rules apart where those rules join too much: `Caroline's`, `l'amour`, `example.com`.
pub(super) fn word_terms(word: &str, sink: &mut dyn FnMut(&str, Kind)) {
    let lower = lower_case(word);
    let joined = |c: char| matches!(c, '\'' | '.' | '_' | ':' | ',' | '·');
    if !lower.contains(joined) || !lower.contains(char::is_alphabetic) {
        return one_word(&lower, sink);
    }
    // "don't", "isn't", "wouldn't": always an auxiliary, always a stop word.
    if lower.ends_with("n't") {
        return;
    }
    if lower.split(joined).all(|part| part.chars().count() <= 1) {
        let abbreviation: String = lower.chars().filter(|c| !joined(*c)).collect();
        return one_word(&abbreviation, sink);
    }
    let mut after_apostrophe = false;
    for part in lower.split_inclusive(joined) {
        let bare = part.trim_end_matches(joined);
        let ending = after_apostrophe && matches!(bare, "s" | "t" | "ll" | "re" | "ve" | "m" | "d");
        if !bare.is_empty() && !ending {
            one_word(bare, sink);
        }
        after_apostrophe = part.ends_with('\'');
    }
}

fn lower_case(word: &str) -> Cow<'_, str> {
    if word.bytes().all(|b| b.is_ascii() && !b.is_ascii_uppercase()) {
        return Cow::Borrowed(word);
    }
    let typographic = |c| {
        if matches!(c, '\u{2019}' | '\u{02BC}' | '\u{FF07}') { '\'' } else { c }
    };
    Cow::Owned(word.to_lowercase().chars().map(typographic).take(4 * WORD_CHARS_MAX).collect())
}

fn one_word(word: &str, sink: &mut dyn FnMut(&str, Kind)) {
    let word = match word.char_indices().nth(WORD_CHARS_MAX) {
        Some((end, _)) => &word[..end],
        None => word,
    };
    let folded = fold(word);
    if is_stop(&folded) {
        return;
    }
    sink(&stem(&folded), Kind::Word);
    if folded != word && !folded.chars().any(is_cyrillic) {
        sink(&stem(word), Kind::Accented);
    }
}

fn stem(word: &str) -> Cow<'_, str> {
    if word.chars().any(|c| c.is_numeric()) {
        return Cow::Borrowed(word);
    }
    match word.chars().next() {
        Some(c) if is_cyrillic(c) => Stemmer::create(Algorithm::Russian).stem(word),
        // Latin, with its extensions.
        Some(c) if (c as u32) < 0x250 => Stemmer::create(Algorithm::English).stem(word),
        _ => Cow::Borrowed(word),
    }
}

/// Letters of Cyrillic alphabets.
pub fn is_cyrillic(c: char) -> bool {
    matches!(c as u32, 0x400..=0x52F)
}

/// Without accents. Cyrillic keeps its letters ("й" is one), all but "ё", which most people write "е".
pub fn fold(word: &str) -> Cow<'_, str> {
    if word.is_ascii() {
        return Cow::Borrowed(word);
    }
    let mut folded = String::with_capacity(word.len());
    for c in word.chars() {
        match c {
            'ё' => folded.push('е'),
            c if c.is_ascii() || is_cyrillic(c) => folded.push(c),
            'ß' => folded.push_str("ss"),
            'æ' => folded.push_str("ae"),
            'œ' => folded.push_str("oe"),
            'þ' => folded.push_str("th"),
            'ø' => folded.push('o'),
            'đ' | 'ð' => folded.push('d'),
            'ł' => folded.push('l'),
            'ı' => folded.push('i'),
            // Latin, Greek and what NFKC could not compose; elsewhere a mark is part of the letter.
            c if (c as u32) < 0x590 || matches!(c as u32, 0x1E00..=0x1FFF) => {
                folded.extend(std::iter::once(c).nfd().filter(|part| !is_combining_mark(*part)));
            }
            c => folded.push(c),
        }
    }
    if folded == word { Cow::Borrowed(word) } else { Cow::Owned(folded) }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Possessives, contractions and abbreviations are how people write; each must meet the plain word in a query.
    #[test]
    fn english_words_lose_what_does_not_matter() {
        assert_eq!(terms("Caroline's running shoes"), ["carolin", "run", "shoe"]);
        assert_eq!(terms("Caroline’s"), terms("caroline"));
        assert_eq!(terms("I don't, we’ll, they're"), Vec::<String>::new());
        assert_eq!(terms("the U.S.A. at 5 p.m."), ["usa", "5", "pm"]);
        assert_eq!(terms("example.com snake_case v1.2"), ["exampl", "com", "snake", "case", "v1", "2"]);
    }

    #[test]
    fn numbers_stay_whole() {
        assert_eq!(terms("3.14 or 2,000 on 2023-05-07"), ["3.14", "2,000", "2023", "05", "07"]);
    }

    #[test]
    fn accents_are_folded_and_kept_beside() {
        assert_eq!(terms("café"), ["cafe", "café"]);
        assert_eq!(terms("Straße"), ["strass", "straße"]);
        assert_eq!(terms("ёлка"), terms("елка"));
        assert_eq!(terms("кошки"), terms("кошка"));
    }

    #[test]
    fn scripts_without_spaces_become_characters_and_pairs() {
        assert_eq!(terms("猫が"), ["猫", "猫が", "が"]);
        assert_eq!(terms("猫"), ["猫"]);
        assert_eq!(terms("我爱 AI 技术"), ["我", "我爱", "爱", "ai", "技", "技术", "术"]);
        assert_eq!(terms("ﾈｺ"), terms("ネコ"));
    }

    #[test]
    fn emoji_and_floods_are_harmless() {
        assert_eq!(terms("🎉👩‍👩‍👧 !!! ___"), Vec::<String>::new());
        assert_eq!(terms(&"x".repeat(100_000))[0].chars().count(), WORD_CHARS_MAX);
    }
}
