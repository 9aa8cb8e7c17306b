//! Questions that date what they ask by another event: "What did Ann play before she moved to Porto?" The event is looked up first, and
//! its day then dates the question; of "before June 2023" the words say the day themselves.

use jiff::{Timestamp, civil::Date};

use super::question::{DateSpan, Precision};
use crate::extract::dates;
use crate::view::keyword::analyse::terms;

/// Which side of the event is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// What was before it.
    Before,
    /// What came after it.
    After,
    /// What has been from it on.
    Since,
}

/// A question taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relative {
    /// What is asked, without the event where enough is left.
    pub asked: String,
    /// The event.
    pub event: String,
    /// On which side of it.
    pub side: Side,
}

/// Words after which the event follows, the longer first.
const LEADING: [(&str, Side); 16] = [
    (" before ", Side::Before),
    (" prior to ", Side::Before),
    (" after ", Side::After),
    (" since ", Side::Since),
    (" antes de que ", Side::Before),
    (" antes de ", Side::Before),
    (" después de que ", Side::After),
    (" después de ", Side::After),
    (" desde que ", Side::Since),
    (" до того, как ", Side::Before),
    (" до того как ", Side::Before),
    (" перед тем как ", Side::Before),
    (" перед тем, как ", Side::Before),
    (" после того, как ", Side::After),
    (" после того как ", Side::After),
    (" после ", Side::After),
];
/// Words that the event comes before.
const TRAILING: [(&str, Side); 6] = [
    ("前に", Side::Before),
    ("後に", Side::After),
    ("てから", Side::After),
    ("전에", Side::Before),
    ("후에", Side::After),
    ("뒤에", Side::After),
];
/// Verbs that take "after" with them: "look after the dog", "called after her aunt"; "before" means the time after them, too.
const BOUND_BY_AFTER: [&str; 11] =
    ["look", "looks", "looked", "looking", "take", "takes", "took", "named", "called", "ask", "asked"];
/// Times that are counted from the event: "the day after tomorrow", "the night before the wedding".
const COUNTED: [&str; 5] = ["day", "week", "month", "year", "night"];
/// Fewer words than these do not say what is looked for; then the whole question does.
const TERMS_MIN: usize = 2;

impl Relative {
    /// None for a question that names no event by such a word.
    pub fn of(question: &str) -> Option<Self> {
        let lower = question.to_lowercase();
        // Where lower case has other lengths, as in Turkish, places in one are none in the other.
        if lower.len() != question.len() {
            return None;
        }
        let leading = LEADING.iter().find_map(|(word, side)| {
            let at = lower.find(word)?;
            Some((question.get(..at)?, question.get(at + word.len()..)?, *side, word.trim()))
        });
        let trailing = || {
            TRAILING.iter().find_map(|(word, side)| {
                let at = lower.find(word)?;
                Some((question.get(at + word.len()..)?, question.get(..at)?, *side, *word))
            })
        };
        let (rest, event, side, word) = leading.or_else(trailing)?;
        let last = rest.split_whitespace().next_back().unwrap_or_default().to_lowercase();
        if (word == "after" && BOUND_BY_AFTER.contains(&&*last)) || (side != Side::Since && COUNTED.contains(&&*last)) {
            return None;
        }
        let event = event.trim_end_matches(|c: char| !c.is_alphanumeric());
        if terms(event).is_empty() {
            return None;
        }
        let asked = if terms(rest).len() < TERMS_MIN { question } else { rest };
        Some(Self { asked: asked.trim().to_owned(), event: event.trim().to_owned(), side })
    }

    /// All time on its side of the date that the event is, if it is one.
    pub fn dated(&self, reference: Date) -> Option<DateSpan> {
        let found = dates::find(&self.event, reference)?;
        let span = DateSpan::of(&found)?;
        Some(match self.side {
            Side::Before | Side::Since => self.span(span.start),
            Side::After => self.span(span.end),
        })
    }

    /// All time on its side of an event.
    pub fn span(&self, event: Timestamp) -> DateSpan {
        let (start, end) = match self.side {
            Side::Before => (Timestamp::MIN, event),
            Side::After | Side::Since => (event, Timestamp::MAX),
        };
        DateSpan { start, end, precision: Precision::Month, yearly: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_taken_out_in_each_language() {
        // Why: its words would else find the event itself, which is not what is asked for.
        for (question, asked, event, side) in [
            (
                "Which sport did Ann play before she moved to Porto?",
                "Which sport did Ann play",
                "she moved to Porto",
                Side::Before,
            ),
            ("What did Ann do after the fire?", "What did Ann do after the fire?", "the fire", Side::After),
            ("¿Qué tocaba Ana antes de mudarse a Oporto?", "¿Qué tocaba Ana", "mudarse a Oporto", Side::Before),
            ("Что Анна купила после переезда?", "Что Анна купила", "переезда", Side::After),
            ("引っ越す前に何の楽器を習っていた?", "何の楽器を習っていた?", "引っ越す", Side::Before),
            ("이사하기 전에 무슨 악기를 배웠어?", "무슨 악기를 배웠어?", "이사하기", Side::Before),
        ] {
            let found = Relative::of(question);
            let expected = Relative { asked: asked.to_owned(), event: event.to_owned(), side };
            assert_eq!(found, Some(expected), "{question}");
        }
    }

    #[test]
    fn a_date_is_its_own_event() {
        // Why: nobody need have spoken of June 2023 for it to be known when it was.
        let reference = "2024-03-01".parse().unwrap();
        let at = |day: &str| format!("{day}T00:00:00Z").parse::<Timestamp>().unwrap();
        let span = |question: &str| Relative::of(question).unwrap().dated(reference).map(|span| (span.start, span.end));
        assert_eq!(span("Where did Ann live before June 2023?"), Some((Timestamp::MIN, at("2023-06-01"))));
        assert_eq!(span("Where did Ann live after June 2023?"), Some((at("2023-07-01"), Timestamp::MAX)));
        // What is asked since a time is asked of that time, too.
        assert_eq!(span("Where has Ann lived since June 2023?"), Some((at("2023-06-01"), Timestamp::MAX)));
        assert_eq!(span("Where has Ann lived since last year?"), Some((at("2023-01-01"), Timestamp::MAX)));
        assert_eq!(span("Where did Ann live before she moved?"), None);
    }

    #[test]
    fn a_verb_takes_only_its_own_word_along() {
        // Why: "take after" is one word in two, and "take before" is not.
        for (question, event, side) in [
            ("Which pills did Ann take before the trip to Oslo?", "the trip to Oslo", Side::Before),
            ("What was Ann's boat called before the fire?", "the fire", Side::Before),
            ("Which name was Ann's boat called since June 2023?", "June 2023", Side::Since),
            ("What happened in her best year since the fire?", "the fire", Side::Since),
        ] {
            let found = Relative::of(question).map(|it| (it.event, it.side));
            assert_eq!(found, Some((event.to_owned(), side)), "{question}");
        }
    }

    #[test]
    fn what_names_no_event_stays_whole() {
        // Why: a word that only looks like it must not tear a question apart.
        for question in [
            "What is Ann's favourite afternoon tea?",
            "Who did Ann ask to look after her dog in Oslo?",
            "What does Ann plan for the day after tomorrow?",
            "Who was Ann's boat named after?",
            "Whom does Ann's son take after in the family?",
            "Who was called after her aunt in Porto?",
            "What did Ann eat the night before the wedding?",
            "Was it there before?",
            "before",
            "",
            "前に",
            "İ before x",
        ] {
            assert_eq!(Relative::of(question), None, "{question}");
        }
    }
}
