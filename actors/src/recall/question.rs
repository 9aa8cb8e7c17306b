//! What a question says besides its words: whom it names, which dates, and whether it asks about the assistant.

use std::borrow::Cow;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};
use unicode_segmentation::UnicodeSegmentation;

use crate::extract::dates;
pub use crate::extract::dates::Precision;
use crate::view::keyword::analyse::{fold, is_cyrillic, terms};

/// Words with which one asks for what somebody said, and not about what: "What did Bob say about the report?"
const FRAMES: [&str; 30] = [
    "say",
    "says",
    "said",
    "saying",
    "tell",
    "tells",
    "told",
    "telling",
    "mention",
    "mentions",
    "mentioned",
    "think",
    "thinks",
    "thought",
    "dice",
    "dijo",
    "cuenta",
    "contó",
    "piensa",
    "opina",
    "говорит",
    "говорил",
    "говорила",
    "сказал",
    "сказала",
    "думает",
    "думал",
    "думала",
    "рассказал",
    "рассказала",
];

/// The question without the words that only ask for somebody's words, which anything may contain; as it is when it is no
/// question, or nothing else would be left.
pub fn matter(question: &str) -> Cow<'_, str> {
    let framed = |word: &str| FRAMES.contains(&word.to_lowercase().as_str());
    if !super::asks(question) || !question.unicode_words().any(framed) {
        return Cow::Borrowed(question);
    }
    let rest: String = question.split_word_bounds().filter(|word| !framed(word)).collect();
    if terms(&rest).is_empty() { Cow::Borrowed(question) } else { Cow::Owned(rest) }
}

/// The longest ending of a name in any case: "Львом". More is another name: "Павлович".
const ENDING_CHARS_MAX: usize = 2;
/// The shortest root of a name that lost a vowel: "Льв".
const ROOT_CHARS_MIN: usize = 3;

/// A stretch of time named in the question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DateSpan {
    /// Its first instant.
    pub start: Timestamp,
    /// The first instant after it.
    pub end: Timestamp,
    /// How exactly it was named.
    pub precision: Precision,
    /// Whether no year was named, so that the one here is a guess: "in May".
    pub yearly: bool,
}

impl DateSpan {
    /// All the days that a text names, in UTC; `None` outside the times that can be told.
    pub fn of(found: &dates::Found) -> Option<DateSpan> {
        let &dates::Found { start, end, precision, yearly, .. } = found;
        Some(DateSpan { start: midnight(start)?, end: midnight(end)?, precision, yearly })
    }

    /// The same days of the years around an instant: of its own, and of those beside it, for a winter lies in two years, and New Year's
    /// Eve is a day away from New Year.
    pub(super) fn in_years_around(&self, at: Timestamp) -> impl Iterator<Item = DateSpan> {
        let day = |at: Timestamp| TimeZone::UTC.to_datetime(at).date();
        let (span, away) = (*self, i32::from(day(at).year()) - i32::from(day(self.start).year()));
        (away - 1..=away + 1).filter_map(move |years| {
            let moved = |at: Timestamp| midnight(day(at).checked_add(years.years()).ok()?);
            Some(DateSpan { start: moved(span.start)?, end: moved(span.end)?, ..span })
        })
    }
}

fn midnight(day: Date) -> Option<Timestamp> {
    TimeZone::UTC.to_timestamp(day.at(0, 0, 0, 0)).ok()
}

/// A question, with the dates that the caller found in it, resolved against the reference date.
#[derive(Clone, Debug)]
pub struct Question {
    /// Its words.
    pub text: String,
    /// The dates named in it.
    pub dates: Vec<DateSpan>,
}

impl Question {
    /// The one speaker whom the question names; `None` when it names nobody or several.
    pub(super) fn named_alone(&self, speakers: &[(u32, String)]) -> Option<u32> {
        let asked = folded(&self.text);
        let mut named = speakers.iter().filter(|(_, name)| names(&asked, &folded(name))).map(|(index, _)| *index);
        let first = named.next()?;
        named.all(|other| other == first).then_some(first)
    }

    /// Whether it asks what the assistant said or did; then nothing speaks against the assistant's own messages.
    pub(super) fn addresses_assistant(&self) -> bool {
        self.text
            .split(|c: char| !c.is_alphanumeric())
            .any(|word| ["you", "your", "assistant"].iter().any(|it| word.eq_ignore_ascii_case(it)))
    }
}

/// In lower case and without accents, which people leave out when they ask.
pub(super) fn folded(text: &str) -> String {
    fold(&text.to_lowercase()).into_owned()
}

/// Whether `text` names `name` in full or by its first part ("Caroline" for "Caroline Smith"). Both are folded.
pub(super) fn names(text: &str, name: &str) -> bool {
    let first = name.split_whitespace().next().unwrap_or(name);
    // A first part of one letter, or an article, would be found everywhere.
    let short = first.chars().count() < 3 && first.is_ascii();
    has_word(text, name) || (!short && first != "the" && (has_word(text, first) || declines(text, first)))
}

/// Whether a word of the text is the name with another ending: "у Анны" asks for Анна.
fn declines(text: &str, name: &str) -> bool {
    name.chars().all(is_cyrillic) && {
        let (stem, root) = (terms(name), without_fleeting_vowel(name));
        let ending = |word: &str| root.as_deref().and_then(|root| word.strip_prefix(root)).map(|it| it.chars().count());
        text.unicode_words().any(|word| {
            (!stem.is_empty() && terms(word) == stem) || ending(word).is_some_and(|letters| letters <= ENDING_CHARS_MAX)
        })
    }
}

/// What a name keeps in every case if it loses a vowel in them: "Павл" of "Павел" and "Павла", "Льв" of "Лев" and "Льву".
fn without_fleeting_vowel(name: &str) -> Option<String> {
    let mut letters: Vec<char> = name.chars().collect();
    let at = letters.len().checked_sub(2)?;
    let fleeting =
        matches!(letters[at], 'е' | 'о') && !is_vowel(letters[at + 1]) && at > 0 && !is_vowel(letters[at - 1]);
    if !fleeting {
        return None;
    }
    if letters[at - 1] == 'л' {
        // "Олег" keeps it, and is not "Ольга".
        letters[at] = if letters.len() == 3 { 'ь' } else { return None };
    } else {
        letters.remove(at);
    }
    // Less is no name any more: "дн" of "Дон" begins every day.
    (letters.len() >= ROOT_CHARS_MIN).then(|| letters.into_iter().collect())
}

fn is_vowel(c: char) -> bool {
    "аеиоуыэюяйь".contains(c)
}

/// Whether `word` stands in `text` without letters or digits touching it; scripts without spaces are exempt.
fn has_word(text: &str, word: &str) -> bool {
    if word.is_empty() {
        return false;
    }
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        [before, after].into_iter().flatten().all(|c| !c.is_alphanumeric() || is_unspaced(c))
    })
}

/// Scripts that write words without spaces between them, Hangul for its attached particles.
pub(super) fn is_unspaced(c: char) -> bool {
    matches!(
        c,
        '\u{0E00}'..='\u{0EFF}'
            | '\u{3040}'..='\u{30FF}'
            | '\u{3400}'..='\u{9FFF}'
            | '\u{AC00}'..='\u{D7AF}'
            | '\u{20000}'..='\u{3FFFF}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(text: &str, speakers: &[&str]) -> Option<u32> {
        let speakers: Vec<_> =
            speakers.iter().enumerate().map(|(index, name)| (index as u32, (*name).to_owned())).collect();
        Question { text: text.to_owned(), dates: vec![] }.named_alone(&speakers)
    }

    #[test]
    fn a_name_counts_only_as_a_whole_word_and_alone() {
        // Why: the boost is for one person; "Joan" inside "Joanna", or both people, must not move the ranking.
        assert_eq!(named("What does joanna write?", &["Joan", "Joanna"]), Some(1));
        assert_eq!(named("What is Caroline's identity?", &["Caroline", "Melanie"]), Some(0));
        assert_eq!(named("What do Caroline and Melanie share?", &["Caroline", "Melanie"]), None);
        assert_eq!(named("What happened?", &["Caroline"]), None);
        assert_eq!(named("Where did Jon go?", &["Jon Snow", "Gina"]), Some(0));
        assert_eq!(named("田中さんは何が好き?", &["田中", "鈴木"]), Some(0));
        assert_eq!(named("Где живёт Анна?", &["Анна"]), Some(0));
        // Names are declined, and accents are left out.
        assert_eq!(named("Что нового у Анны и её кота?", &["Анна", "Иван"]), Some(0));
        assert_eq!(named("Что обещал Иван?", &["Иванна", "Ян"]), None);
        assert_eq!(named("Что мы знаем про Павла?", &["Павел", "Анна"]), Some(0));
        assert_eq!(named("Когда приедут ко Льву?", &["Лев", "Анна"]), Some(0));
        assert_eq!(named("Когда приедут к Олегу?", &["Ольга", "Олег"]), Some(1));
        assert_eq!(named("Что купила Ольга?", &["Олег", "Ольга"]), Some(1));
        assert_eq!(named("Что было в середине дня?", &["Дон", "Анна"]), None);
        assert_eq!(named("Что купил Дон?", &["Дон", "Анна"]), Some(0));
        assert_eq!(named("que piensa lucia?", &["Lucía", "Mateo"]), Some(0));
    }

    #[test]
    fn asking_for_words_is_not_asking_about_saying() {
        // Why: "What did Bob say about the report?" is about the report; "The vet says" is no answer to it.
        assert_eq!(matter("What did Bob say about the report?"), "What did Bob  about the report?");
        assert_eq!(matter("Что Анна сказала про отчёт?"), "Что Анна  про отчёт?");
        for whole in ["Who said it?", "He said so.", "What does the saying mean for Bob's essay?"] {
            let left = matter(whole);
            assert!(left == whole || terms(&left).len() + 1 == terms(whole).len(), "{left}");
        }
        assert_eq!(matter("Who said that?"), "Who said that?");
    }

    #[test]
    fn you_is_the_assistant() {
        // Why: a question about the assistant's advice must find what the assistant said.
        let asks = |text: &str| Question { text: text.to_owned(), dates: vec![] }.addresses_assistant();
        assert!(asks("What did you recommend?"));
        assert!(!asks("What did the youth group do?"));
    }
}
