//! Small helpers on text that answers and summaries share: one line, sentences, dates.

use jiff::Timestamp;
use unicode_segmentation::UnicodeSegmentation;

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
pub(crate) fn sentences(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for line in text.lines() {
        let mut open = String::new();
        for piece in line.unicode_sentences() {
            open.push_str(piece);
            let last = open.split_whitespace().next_back().unwrap_or_default().to_lowercase();
            if !ABBREVIATIONS.contains(&last.trim_start_matches('(')) {
                keep(&mut found, &open);
                open.clear();
            }
        }
        keep(&mut found, &open);
    }
    found
}

fn keep(found: &mut Vec<String>, sentence: &str) {
    let sentence = sentence.trim();
    if sentence.chars().any(char::is_alphanumeric) {
        found.push(sentence.to_owned());
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
    fn questions_end_in_any_mark() {
        // Why: the turn after a question is its likely answer, in every language.
        assert!(asks("Really?") && asks("Really?! ") && asks("元気ですか？") && asks("(is it?)"));
        assert!(!asks("Really.") && !asks("a; b;") && !asks(""));
    }
}
