//! One line that says what a text says.

use unicode_segmentation::UnicodeSegmentation;

/// Longest summary, in characters.
const CHARS_MAX: usize = 120;

/// The first sentence without Markdown, on one line, cut between words where there are any, else between graphemes.
pub(super) fn of(text: &str) -> String {
    let first = super::sentences::split(text).into_iter().next();
    let line = plain_line(first.as_deref().unwrap_or(text));
    let line = if line.is_empty() { plain_line(text) } else { line };
    cut(&line)
}

/// White space made single, marks of Markdown gone.
fn plain_line(text: &str) -> String {
    let mut out = String::new();
    // A line of five times the limit is enough to cut from.
    let mut left = CHARS_MAX * 5;
    for word in text.split(|c: char| c.is_whitespace() || c.is_control()) {
        let word: String = word.chars().filter(|c| !matches!(c, '*' | '`' | '#' | '\u{200b}')).take(left).collect();
        if word.is_empty() || word == ">" {
            continue;
        }
        if !out.is_empty() {
            out.push(' ');
        }
        left = left.saturating_sub(word.chars().count() + 1);
        out.push_str(&word);
        if left == 0 {
            break;
        }
    }
    out
}

fn cut(line: &str) -> String {
    if line.chars().count() <= CHARS_MAX {
        return line.to_owned();
    }
    let mut kept = String::new();
    let mut length = 0;
    for grapheme in line.graphemes(true) {
        length += grapheme.chars().count();
        if length > CHARS_MAX - 1 {
            break;
        }
        kept.push_str(grapheme);
    }
    if kept.is_empty() {
        // One grapheme longer than a line: letters under a heap of accents.
        kept = line.chars().take(CHARS_MAX - 1).collect();
    }
    if let Some(space) = kept.rfind(' ').filter(|space| space * 2 > kept.len()) {
        kept.truncate(space);
    }
    let end = kept.trim_end_matches(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | ':' | '-' | '–')).len();
    kept.truncate(end);
    kept.push('…');
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    // Lists show summaries only: one line of bounded length, whatever was saved.
    #[test]
    fn a_summary_is_one_short_plain_line() {
        assert_eq!(of("**Lou** lives in\nPorto. And more."), "Lou lives in");
        assert_eq!(of("Lou lives in Porto. And more."), "Lou lives in Porto.");
        let long = of(&"word ".repeat(100));
        assert!(long.chars().count() <= CHARS_MAX && long.ends_with("word…"), "{long}");
        let unspaced = of(&"京".repeat(300));
        assert_eq!(unspaced.chars().count(), CHARS_MAX);
        let family = of(&"👨‍👩‍👧‍👦".repeat(60));
        assert!(family.trim_end_matches('…').graphemes(true).all(|g| g == "👨‍👩‍👧‍👦"), "{family}");
        assert!(of(&format!("e{}", "\u{301}".repeat(500))).chars().count() <= CHARS_MAX);
        assert_eq!(of("```\ncode only\n```"), "code only");
    }
}
