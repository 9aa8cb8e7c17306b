//! What recall's answer holds, without a judge: whether every word of the expected answer is in it, whatever the order, and
//! how long it is. Numbers and dates must be there as they are expected, so a right answer in other words counts as wrong;
//! figures of this kind compare versions with each other, not with what a reader would say.

use std::collections::BTreeSet;

use memlog_actors::{api::profile::ResponseLength, view::keyword::analyse::is_spaceless};
use serde::Serialize;

/// The lengths that may be asked for.
pub(super) const LENGTHS: [ResponseLength; 3] = [ResponseLength::Short, ResponseLength::Medium, ResponseLength::Long];

/// Of one answer, or the means over several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(super) struct Held {
    /// 1 if the expected answer is wholly in the answer.
    pub(super) whole: f64,
    /// The share of the expected answer's words that are in it.
    pub(super) words: f64,
    /// Tokens of the answer: its UTF-8 bytes by four, rounded up.
    pub(super) tokens: f64,
}

/// What the answers to one question hold at each of [`LENGTHS`]; none if no word is expected.
pub(super) fn held(expected: &str, answers: &[String; LENGTHS.len()]) -> Option<[Held; LENGTHS.len()]> {
    let spaceless = expected.chars().any(is_spaceless).then(|| bare(expected));
    let expected = words(expected);
    if expected.is_empty() {
        return None;
    }
    let mut all = [Held::default(); LENGTHS.len()];
    // Where no spaces part the words, the letters in a row are what can be looked for.
    let literal = |answer: &str| spaceless.as_ref().is_some_and(|expected| bare(answer).contains(expected));
    for (held, answer) in all.iter_mut().zip(answers) {
        let there = expected.intersection(&words(answer)).count();
        *held = Held {
            whole: f64::from(u8::from(there == expected.len() || literal(answer))),
            words: there as f64 / expected.len() as f64,
            tokens: answer.len().div_ceil(4) as f64,
        };
    }
    Some(all)
}

/// The means over questions; zeroes over none.
pub(super) fn mean<'a>(of: impl Iterator<Item = &'a [Held; LENGTHS.len()]>) -> [Held; LENGTHS.len()] {
    let (mut sums, mut count) = ([Held::default(); LENGTHS.len()], 0_u64);
    for question in of {
        count += 1;
        for (sum, held) in sums.iter_mut().zip(question) {
            sum.whole += held.whole;
            sum.words += held.words;
            sum.tokens += held.tokens;
        }
    }
    let count = count.max(1) as f64;
    sums.map(|sum| Held { whole: sum.whole / count, words: sum.words / count, tokens: sum.tokens / count })
}

/// Letters and digits alone, in lower case.
fn bare(text: &str) -> String {
    text.to_lowercase().chars().filter(|c| c.is_alphanumeric()).collect()
}

/// The words that count: lower case, without punctuation and articles, each once.
fn words(text: &str) -> BTreeSet<String> {
    let lower = text.to_lowercase();
    let all = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    all.filter(|word| !matches!(*word, "a" | "an" | "the")).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    // The figures stand in the README; they must mean what their heading says, to be worked out by hand.
    #[test]
    fn an_answer_holds_what_all_words_of_the_expected_one_are_in() {
        let said = |text: &str| [text.to_owned(), format!("{text} 7 May"), String::new()];
        let walk = held("The 7th, May", &said("On 7th: “a May walk”")).unwrap();
        let seven = held("7 May", &said("Seven")).unwrap();
        assert_eq!(held("a, the", &said("x")), None);
        let [short, medium, long] = mean([walk, seven].iter());
        assert_eq!((short.whole, short.words, short.tokens), (0.5, 0.5, 4.0));
        assert_eq!((medium.whole, long.whole, long.tokens), (1.0, 0.0, 0.0));
        let rex = held("Rex & Tom", &said("Rex.")).unwrap();
        assert_eq!((rex[0].whole, rex[0].words), (0.0, 0.5));
        let kyoto = held("京都の 寺", &said("先週、京都の寺に行った。")).unwrap();
        let nara = held("奈良の寺", &said("先週、京都の寺に行った。")).unwrap();
        assert_eq!((kyoto[0].whole, nara[0].whole), (1.0, 0.0));
    }
}
