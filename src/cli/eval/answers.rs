//! What recall's answer holds, without a judge: whether every word of the expected answer is in it, whatever the order, and
//! how long it is. Numbers and dates must be there as they are expected, so a right answer in other words counts as wrong;
//! figures of this kind compare versions with each other, not with what a reader would say.

use std::collections::{BTreeMap, BTreeSet};

use memlog_actors::api::profile::ResponseLength;
use serde::Serialize;

use super::score::name;

/// The lengths that may be asked for.
pub(super) const LENGTHS: [ResponseLength; 3] = [ResponseLength::Short, ResponseLength::Medium, ResponseLength::Long];

/// Means over questions at one length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(super) struct Held {
    /// The share of questions whose expected answer is wholly in the answer.
    pub(super) whole: f64,
    /// The share of the expected answer's words that are in it.
    pub(super) words: f64,
    /// Tokens of the answer: its UTF-8 bytes by four, rounded up.
    pub(super) tokens: f64,
}

/// A category, its questions, and what answers hold at each of [`LENGTHS`].
pub(super) type Row = (String, u64, [Held; LENGTHS.len()]);

/// Sums by category.
#[derive(Debug, Default)]
pub(super) struct Answers {
    sums: BTreeMap<u32, (u64, [Held; LENGTHS.len()])>,
}

impl Answers {
    /// Adds a question that has an expected answer of at least one word; any other does not count.
    pub(super) fn add(&mut self, category: u32, expected: &str, answers: &[String; LENGTHS.len()]) {
        let expected = words(expected);
        if expected.is_empty() {
            return;
        }
        let (questions, sums) = self.sums.entry(category).or_default();
        *questions += 1;
        for (sum, answer) in sums.iter_mut().zip(answers) {
            let held = expected.intersection(&words(answer)).count();
            sum.whole += f64::from(u8::from(held == expected.len()));
            sum.words += held as f64 / expected.len() as f64;
            sum.tokens += answer.len().div_ceil(4) as f64;
        }
    }

    /// Each category, then all.
    pub(super) fn rows(&self) -> Vec<Row> {
        let mean = |of: &dyn Fn(u32) -> bool| {
            let (mut questions, mut means) = (0, [Held::default(); LENGTHS.len()]);
            for (_, (count, sums)) in self.sums.iter().filter(|(category, _)| of(**category)) {
                questions += count;
                for (mean, sum) in means.iter_mut().zip(sums) {
                    *mean = Held {
                        whole: mean.whole + sum.whole,
                        words: mean.words + sum.words,
                        tokens: mean.tokens + sum.tokens,
                    };
                }
            }
            let count = questions.max(1) as f64;
            let share =
                |sum: Held| Held { whole: sum.whole / count, words: sum.words / count, tokens: sum.tokens / count };
            (questions, means.map(share))
        };
        let each = self.sums.keys().map(|category| (name(*category), mean(&|other| other == *category)));
        let all = std::iter::once(("all".to_owned(), mean(&|_| true)));
        each.chain(all).map(|(name, (questions, means))| (name, questions, means)).collect()
    }
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
        let mut answers = Answers::default();
        let said = |text: &str| [text.to_owned(), format!("{text} 7 May"), String::new()];
        answers.add(2, "The 7th, May", &said("On 7th: “a May walk”"));
        answers.add(2, "7 May", &said("Seven"));
        answers.add(1, "a, the", &said("x"));
        answers.add(1, "Rex & Tom", &said("Rex."));
        let rows = answers.rows();
        assert_eq!(
            rows.iter().map(|row| (row.0.as_str(), row.1)).collect::<Vec<_>>(),
            [("1 multi-hop", 1), ("2 temporal", 2), ("all", 3)]
        );
        let [short, medium, long] = rows[1].2;
        assert_eq!((short.whole, short.words, short.tokens), (0.5, 0.5, 4.0));
        assert_eq!((medium.whole, long.whole, long.tokens), (1.0, 0.0, 0.0));
        assert_eq!((rows[0].2[0].whole, rows[0].2[0].words), (0.0, 0.5));
    }
}
