//! Words, numbers and marks with their places: what every rule of the extractor reads instead of raw text.

use std::ops::Range;

/// What a token is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Letters, with apostrophes and hyphens inside.
    Word,
    /// ASCII digits.
    Number,
    /// Anything else that is not white space, one character.
    Mark,
}

/// One token and where it stands.
#[derive(Clone, Debug)]
pub(super) struct Token {
    pub(super) kind: Kind,
    /// Lower case, curly apostrophes straightened.
    pub(super) lower: String,
    /// Byte range in the text.
    pub(super) span: Range<usize>,
}

impl Token {
    /// Whether this is exactly that word or mark.
    pub(super) fn is(&self, text: &str) -> bool {
        self.lower == text
    }
}

fn apostrophe(c: char) -> bool {
    c == '\'' || c == '\u{2019}'
}

/// Splits in one pass; the tokens are in order and do not overlap.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let mut out = Vec::new();
    let mut chars = text.char_indices().peekable();
    while let Some((start, first)) = chars.next() {
        if first.is_whitespace() {
            continue;
        }
        let kind = match first {
            '0'..='9' => Kind::Number,
            _ if first.is_alphabetic() => Kind::Word,
            _ => Kind::Mark,
        };
        let mut end = start + first.len_utf8();
        while kind != Kind::Mark
            && let Some(&(at, c)) = chars.peek()
        {
            let next_is_letter = || text[at + c.len_utf8()..].chars().next().is_some_and(char::is_alphabetic);
            let joins = match kind {
                Kind::Number => c.is_ascii_digit(),
                _ => c.is_alphabetic() || is_combining(c) || ((apostrophe(c) || c == '-') && next_is_letter()),
            };
            if !joins {
                break;
            }
            end = at + c.len_utf8();
            chars.next();
        }
        out.push(Token { kind, lower: lower(&text[start..end]), span: start..end });
    }
    out
}

/// Accents written as characters of their own, and joiners inside words.
fn is_combining(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{3099}' | '\u{309a}' | '\u{200c}' | '\u{200d}')
}

/// Lower case with straight apostrophes, and with those that people leave out where only one word can be meant.
pub(super) fn lower(text: &str) -> String {
    let lower = match text.is_ascii() {
        true => text.to_ascii_lowercase(),
        false => text.to_lowercase().replace('\u{2019}', "'"),
    };
    match lower.as_str() {
        "dont" | "doesnt" | "didnt" | "isnt" | "arent" | "wasnt" | "werent" | "havent" | "hasnt" | "hadnt"
        | "couldnt" | "shouldnt" | "wouldnt" | "wont" | "cant" => format!("{}'t", &lower[..lower.len() - 1]),
        "ive" | "youve" | "weve" | "theyve" => format!("{}'ve", &lower[..lower.len() - 2]),
        "youre" | "theyre" => format!("{}'re", &lower[..lower.len() - 2]),
        "whats" | "thats" | "theres" | "heres" | "hows" | "wheres" => format!("{}'s", &lower[..lower.len() - 1]),
        _ => lower,
    }
}

/// Words and numbers of a text in lower case, without marks, joined by single spaces: what phrases are compared with.
pub(super) fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for token in tokens(text).iter().filter(|token| token.kind != Kind::Mark) {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(&token.lower);
    }
    out
}

/// Whether `plain` text begins with that phrase and a word ends there.
pub(super) fn opens_with(plain: &str, phrase: &str) -> bool {
    plain.strip_prefix(phrase).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}

/// Whether `plain` text holds that phrase as whole words.
pub(super) fn holds(plain: &str, phrase: &str) -> bool {
    holds_any(plain, &[phrase])
}

/// Whether `plain` text holds one of those phrases as whole words. Asked of many phrases for each sentence, so nothing is prepared for a
/// phrase, and each is looked at where a word begins.
pub(super) fn holds_any(plain: &str, phrases: &[&str]) -> bool {
    let begins = |at: usize| phrases.iter().any(|phrase| opens_with(&plain[at..], phrase));
    begins(0) || plain.match_indices(' ').any(|(space, _)| begins(space + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    // Every rule compares plain words; a contraction that fell apart or a phrase found inside a word would misfire them all.
    #[test]
    fn contractions_stay_whole_and_phrases_end_at_words() {
        assert_eq!(plain("I\u{2019}m 30, don't  ask!"), "i'm 30 don't ask");
        assert!(opens_with("thanks a lot", "thanks"));
        assert!(!opens_with("thanksgiving is near", "thanks"));
        assert!(holds("we will no longer go", "no longer"));
        assert!(holds_any("no more", &["no longer", "more"]) && !holds_any("no more", &["mor", "o more"]));
        for (text, phrase) in [("the unknown", "no"), ("no", "no longer"), ("", "no"), ("hé", "h"), ("übel", "bel")] {
            assert!(!holds(text, phrase), "{text}");
        }
    }
}
