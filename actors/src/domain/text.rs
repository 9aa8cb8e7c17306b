//! When two texts are the same statement to the letter: what is compared, before it is keyed.

use unicode_normalization::UnicodeNormalization;

/// The text without what carries no meaning of its own: case, width, white space, and punctuation at the ends of words.
///
/// Digits, inner punctuation (`3.5`, `don't`) and every letter stay, so no news is lost.
pub fn normalised(text: &str) -> String {
    let folded: String = text.nfkc().flat_map(char::to_lowercase).collect();
    let mut out = String::with_capacity(folded.len());
    for word in folded.split_whitespace() {
        let word = word.trim_matches(is_edge);
        if word.is_empty() {
            continue;
        }
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    if out.is_empty() { folded.split_whitespace().collect::<Vec<_>>().join(" ") } else { out }
}

/// Signs that end or open a word without changing it. `-`, `+`, `#`, `$`, `%` and the like do change it.
fn is_edge(c: char) -> bool {
    matches!(
        c,
        '.' | ','
            | ';'
            | ':'
            | '!'
            | '"'
            | '\''
            | '('
            | ')'
            | '…'
            | '“'
            | '”'
            | '‘'
            | '’'
            | '«'
            | '»'
            | '、'
            | '。'
            | '「'
            | '」'
            | '¡'
    )
}

#[cfg(test)]
mod tests {
    use super::normalised;

    // What is called the same to the letter decides what `dedupe` swallows without a model: it must not swallow news.
    #[test]
    fn case_space_and_closing_marks_do_not_count() {
        assert_eq!(normalised("  Allergic to   peanuts. "), normalised("allergic to Peanuts"));
        assert_eq!(normalised("ｆｕｌｌ width"), normalised("full width"));
    }

    #[test]
    fn numbers_signs_and_questions_count() {
        for (one, other) in [
            ("3.5 km", "35 km"),
            ("-5 degrees", "5 degrees"),
            ("he left", "he left?"),
            ("C++", "C"),
            ("résumé", "resume"),
        ] {
            assert_ne!(normalised(one), normalised(other), "{one} / {other}");
        }
    }

    #[test]
    fn marks_alone_stay_themselves() {
        assert_eq!(normalised("..."), "...");
    }
}
