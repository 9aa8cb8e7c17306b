//! "Not 8080", "instead of Rome", "не Волга, а": what a sentence says is no longer so.

use super::language::Language;
use super::lex::{self, Kind};

/// Words behind which an old value stands, up to the next mark.
const AHEAD: &[(Language, &[&str])] = &[
    (
        Language::English,
        &[", not ", ", and not ", " instead of ", " rather than ", " isn't ", " is not ", " isnt ", " aren't "],
    ),
    (
        Language::Spanish,
        &[" en vez de ", " en lugar de ", "ya no es ", "ya no son ", "ya no voy a ", "ya no vamos a ", ", no "],
    ),
    (Language::Portuguese, &[" em vez de ", "já não é ", "não é mais "]),
    (Language::French, &[" au lieu de ", " et pas ", "n'est plus "]),
    (Language::German, &[" statt ", " anstatt ", ", nicht ", "nicht mehr "]),
    (Language::Russian, &["вместо ", " не в ", " не на ", " не "]),
];

/// The same where the words follow the old value.
const BEHIND: &[(Language, &[&str])] = &[
    (Language::Japanese, &["じゃなくて", "ではなく", "じゃなく", "の代わりに", "をやめて"]),
    (Language::Korean, &["가 아니라", "이 아니라", " 말고", " 대신"]),
];

/// The old value, if the sentence names one and says what holds instead.
pub(super) fn replaced(sentence: &str, language: Language) -> Option<String> {
    let lower = lex::lower(sentence);
    if let Some((_, cues)) = BEHIND.iter().find(|(of, _)| *of == language) {
        let at = cues.iter().find_map(|cue| lower.find(cue))?;
        let head = &lower[..at];
        let value = if language == Language::Korean {
            head.split_whitespace().next_back()?
        } else {
            // Behind the last particle or mark: "五月は沖縄", "ホテルは桜館".
            head.rsplit(['は', 'を', 'に', '、', ' ', '。']).next()?
        };
        return (!value.is_empty()).then(|| value.to_owned());
    }
    let (_, cues) = AHEAD.iter().find(|(of, _)| *of == language)?;
    let (at, cue) = cues.iter().find_map(|cue| lower.find(cue).map(|at| (at, *cue)))?;
    let rest = lower[at + cue.len()..].trim_end_matches(['.', '!', ' ', '…']);
    // A decimal point ends nothing.
    let decimal = |at: usize| rest[at..].starts_with('.') && rest[at + 1..].starts_with(|c: char| c.is_ascii_digit());
    let marks = rest.match_indices([',', '.', ';', '!', '?', '(', ':', '–', '—']);
    let end = marks.map(|(at, _)| at).find(|at| !decimal(*at)).unwrap_or(rest.len());
    let denies = matches!(
        cue.trim(),
        "isn't" | "is not" | "isnt" | "aren't" | "ya no es" | "ya no son" | "не" | "не в" | "не на"
    );
    // "Isn't 850, it's 870": a new value must follow what only denies.
    let russian =
        language == Language::Russian && denies && !rest[end..].trim_start_matches([',', ' ']).starts_with("а ");
    if denies && end == rest.len() || russian {
        return None;
    }
    let few = lex::tokens(&rest[..end]).iter().filter(|token| token.kind != Kind::Mark).count() <= 5;
    let value = rest[..end].trim();
    (few && !value.is_empty()).then(|| value.to_owned())
}

/// Without a fragment in front that only says what is over: "not junior anymore, …", "no longer at the bank: …".
pub(super) fn without_lead(sentence: &str) -> &str {
    let lower = lex::lower(sentence);
    if !lower.starts_with("not ") && !lower.starts_with("no longer ") && !lower.starts_with("no more ") {
        return sentence;
    }
    let Some(end) = sentence.find([',', ':', ';']).filter(|end| sentence[..*end].split_whitespace().count() <= 7)
    else {
        return sentence;
    };
    let rest = sentence[end + 1..].trim_start();
    if rest.split_whitespace().count() >= 3 { rest } else { sentence }
}

#[cfg(test)]
mod tests {
    use super::*;

    // The old value is the surest sign of which record a correction means.
    #[test]
    fn an_old_value_is_found_where_a_new_one_is_given() {
        for (sentence, language, old) in [
            ("The port is 9090 now, not 8080.", Language::English, Some("8080")),
            ("Pixel is 4.9 kg, not 4.2 kg", Language::English, Some("4.2 kg")),
            ("We go to Rome instead of Oslo", Language::English, Some("oslo")),
            ("the rent isn't 850, it's 870", Language::English, Some("850")),
            ("My flat isn't big.", Language::English, None),
            ("El hotel ya no es el Sol, ahora es el Mar", Language::Spanish, Some("el sol")),
            ("Едем не в Сочи, а в Казань", Language::Russian, Some("сочи")),
            ("Я не ем мясо, но люблю рыбу", Language::Russian, None),
            ("ホテルは桜館ではなく松屋です", Language::Japanese, Some("桜館")),
            ("제주도 말고 부산에 가요", Language::Korean, Some("제주도")),
        ] {
            assert_eq!(replaced(sentence, language).as_deref(), old, "{sentence}");
        }
        assert_eq!(without_lead("Not at the bank anymore, I work for Ann now"), "I work for Ann now");
        assert_eq!(without_lead("Not bad."), "Not bad.");
    }
}
