//! Small helpers on text that answers and summaries share: one line, sentences, words as numbers, dates.

use jiff::Timestamp;
use unicode_segmentation::UnicodeSegmentation;

use crate::view::{HashMap, keyword::analyse::each_term};

/// Abbreviations after which English goes on with a capital letter.
const ABBREVIATIONS: [&str; 9] = ["dr.", "mr.", "mrs.", "ms.", "st.", "e.g.", "i.e.", "vs.", "prof."];

/// The text on a single line of at most `chars_max` characters: every kind of break and white space becomes one space;
/// control and direction-changing characters go, so that stored text cannot rearrange what surrounds it.
pub fn one_line(text: &str, chars_max: usize) -> String {
    let mut line = String::with_capacity(text.len());
    for word in text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty()) {
        if !line.is_empty() {
            line.push(' ');
        }
        line.extend(word.chars().filter(|c| !turns_direction(*c)));
    }
    let line = line.trim().to_owned();
    match line.char_indices().nth(chars_max) {
        Some(_) => {
            let kept: String = line.chars().take(chars_max.saturating_sub(1)).collect();
            format!("{}…", kept.trim_end())
        }
        None => line,
    }
}

/// Marks that reverse or isolate the direction of the text after them.
pub(super) fn turns_direction(c: char) -> bool {
    matches!(c, '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

/// The sentences of a text, in order, trimmed, none empty. Line breaks end a sentence; abbreviations do not.
pub(crate) fn sentences(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for line in text.lines() {
        if is_one_sentence(line) {
            keep(&mut found, line);
            continue;
        }
        let (mut start, mut end) = (0, 0);
        for piece in line.split_sentence_bounds() {
            end += piece.len();
            let last = line[start..end].split_whitespace().next_back().unwrap_or_default().to_lowercase();
            if !ABBREVIATIONS.contains(&last.trim_start_matches('(')) {
                keep(&mut found, &line[start..end]);
                start = end;
            }
        }
        keep(&mut found, &line[start..]);
    }
    found
}

/// Whether a line is surely one sentence: in ASCII, with nothing that could end one before its last word. Most lines are, and are spared
/// the tables of Unicode.
fn is_one_sentence(line: &str) -> bool {
    let ended = line.trim_end_matches(|c: char| c.is_ascii_whitespace() || matches!(c, '"' | '\'' | ')' | ']' | '}'));
    let said = ended.trim_end_matches(['.', '!', '?']);
    line.is_ascii() && !said.contains(['.', '!', '?', '\r', '\u{1C}', '\u{1D}', '\u{1E}'])
}

fn keep<'a>(found: &mut Vec<&'a str>, sentence: &'a str) {
    let sentence = sentence.trim();
    if sentence.chars().any(char::is_alphanumeric) {
        found.push(sentence);
    }
}

/// Terms as numbers, from 0 in the order in which they are met: sets of numbers are compared without a look at letters.
#[derive(Default)]
pub(super) struct Vocabulary(HashMap<String, u32>);

impl Vocabulary {
    /// The numbers of a text's terms, in order, repeated as often as they occur.
    pub(super) fn numbers(&mut self, text: &str) -> Vec<u32> {
        let mut numbers = Vec::new();
        each_term(text, &mut |term, _| numbers.push(self.number(term)));
        numbers
    }

    /// The number of a term.
    pub(super) fn number(&mut self, term: &str) -> u32 {
        if let Some(number) = self.0.get(term) {
            return *number;
        }
        let next = self.0.len() as u32;
        self.0.insert(term.to_owned(), next);
        next
    }

    /// The number of a term that was met.
    pub(super) fn get(&self, term: &str) -> Option<u32> {
        self.0.get(term).copied()
    }

    /// How many terms were met.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}

/// Whether a text ends in a question mark of any script, quotes and brackets aside.
pub fn asks(text: &str) -> bool {
    let end = text
        .trim_end_matches(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ')' | ']' | '»' | '”' | '’' | '!'));
    // The last is the Greek question mark, which only looks like a semicolon.
    end.ends_with(['?', '？', '؟', '\u{37E}'])
}

/// "8 May 2023", in UTC.
pub(super) fn day(at: Timestamp) -> String {
    at.strftime("%-d %B %Y").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_stays_one_line() {
        // Why: whatever is stored, the line it is shown on must not end early, grow without end, or run backwards.
        assert_eq!(one_line("a\n\n# b\u{2028}c\u{85}d\te\u{0}f", 80), "a # b c d e f");
        assert_eq!(one_line("safe \u{202E}txt.exe", 80), "safe txt.exe");
        assert_eq!(one_line("abcdef", 4), "abc…");
        assert_eq!(one_line("ключ", 4), "ключ");
    }

    #[test]
    fn sentences_survive_abbreviations_and_scripts() {
        // Why: an answer cut at "Dr." says nothing.
        assert_eq!(sentences("I saw Dr. Smith. He helped!\nOk"), ["I saw Dr. Smith.", "He helped!", "Ok"]);
        assert_eq!(sentences("我去了北京。很好！"), ["我去了北京。", "很好！"]);
        assert!(sentences(" ... 🙂").is_empty());
    }

    #[test]
    fn a_line_that_is_surely_one_sentence_is_one() {
        // Why: the quick look must never say otherwise than the rules of Unicode.
        let ends =
            ["", ".", "!", "?!", "...", ".)", ".\"", "! ", ".' ", " ,", ".\u{1C}b", ";", "\u{85}c", "\rd", "\u{B}e"];
        let begins =
            ["", "a", "(a", "a b", "Dr", "a. b", "A.B", "a? B", "\"Hi.\" a", "3.5 km", "e.g", "a, b: c", "a\u{C}B"];
        for (begin, end) in begins.iter().flat_map(|begin| ends.iter().map(move |end| (begin, end))) {
            let line = format!("{begin}{end}");
            if is_one_sentence(&line) {
                assert_eq!(line.split_sentence_bounds().count().max(1), 1, "{line:?}");
            }
        }
        assert!(is_one_sentence("I went to Lisbon, twice.") && !is_one_sentence("I went. Twice."));
    }

    #[test]
    fn questions_end_in_any_mark() {
        // Why: the turn after a question is its likely answer, in every language.
        assert!(asks("Really?") && asks("Really?! ") && asks("元気ですか？") && asks("(is it?)"));
        assert!(!asks("Really.") && !asks("a; b;") && !asks(""));
    }
}
