//! What kind of thing a question asks for, and whether a sentence has one to offer: a date for "when", a number for "how
//! many", a name for "who" and "where", a reason for "why". It settles which of two sentences that meet the same words answers.

use std::cmp::Reverse;

use jiff::Timestamp;
use unicode_segmentation::UnicodeSegmentation;

use super::offers::Offers;
use crate::extract::dates;

/// What would answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// A date or a stretch of time.
    When,
    /// A person.
    Who,
    /// A place.
    Where,
    /// A number.
    HowMany,
    /// A reason.
    Why,
    /// Anything.
    What,
}

/// Words that ask, as they begin a question or stand in it where the language puts them.
#[rustfmt::skip]
const WHEN: [&str; 44] = [
    "when", "what day", "what date", "what month", "what year", "which day", "which month", "which year", "wann",
    "cuándo", "cuando", "qué día", "que dia", "qué mes", "que mes", "qué año", "qué fecha", "cuánto hace",
    "когда", "какого числа", "какое число", "какой день", "каком месяце", "каком году", "какой дате",
    "каким дням", "какие дни", "какого дня", "какого года", "с какого времени", "как давно",
    "いつ", "何日", "何月", "何年", "何曜日", "どの日", "언제", "며칠", "몇 월", "몇 년도", "무슨 요일", "어느 달", "어느 해",
];
const WHO: [&str; 10] = ["who", "whom", "whose", "quién", "quien", "кто", "кому", "誰", "누가", "누구"];
const WHERE: [&str; 7] = ["where", "dónde", "donde", "где", "куда", "どこ", "어디"];
const WHY: [&str; 7] = ["why", "por qué", "почему", "зачем", "なぜ", "どうして", "왜"];
/// How long something took is a number, too, though it begins as the question for a day does.
#[rustfmt::skip]
const HOW_MANY: [&str; 13] = [
    "how many", "how much", "how old", "how often", "cuántos", "cuántas", "сколько", "いくつ", "몇",
    "何日間", "何年間", "며칠 동안", "며칠간",
];
/// Numbers that are written out, as words of their own. Left out is what is mostly something else when it stands alone: Korean "네" is
/// "yes" in every polite reply, and Russian "пол" is a floor, for the half is written in one word with what it halves. "한" and "만"
/// stay: alone they count, and the particles that look the same are written in one word with what they belong to.
#[rustfmt::skip]
const NUMBERS: [&str; 98] = [
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "twenty",
    "thirty", "once", "twice", "both", "couple", "dozen", "hundred",
    "dos", "tres", "cuatro", "cinco", "seis", "siete", "ocho", "nueve", "diez", "doce", "trece", "catorce", "quince",
    "veinte", "treinta", "cuarenta", "cincuenta", "sesenta", "setenta", "ochenta", "noventa", "cien", "ciento",
    "doscientos", "trescientos", "cuatrocientos", "quinientos", "mil", "docena", "ambos",
    "семь", "семи", "один", "одна", "одного", "одной", "два", "две", "двух", "двое", "оба", "обе", "три", "трех", "трёх", "трое",
    "четыре", "четырех", "четырёх", "четверо", "сорок", "сорока", "сто", "ста", "двести", "триста", "четыреста",
    "дважды", "трижды", "пара", "пару", "полтора", "полторы",
    "하나", "둘", "셋", "넷", "한", "두", "세", "열", "스물", "서른", "마흔", "쉰", "백", "천", "만",
];
/// How longer ones begin, whatever their ending.
#[rustfmt::skip]
const NUMBERS_BEGIN: [&str; 23] = [
    "dieci", "veinti", "пять", "пяти", "шесть", "шести", "семьд", "семьс", "восемь", "восьми", "девять", "девяти", "десять",
    "десяти", "двадцат", "тридцат", "тысяч", "миллион", "девяност", "다섯", "여섯", "일곱", "여덟",
];
/// How they end.
const NUMBERS_END: [&str; 2] = ["надцать", "надцати"];
const REASONS: [&str; 9] = ["because", "since", "so that", "due to", "porque", "потому", "から", "ので", "때문"];

impl Wanted {
    /// By its first word that asks; of two that begin at one place by the longer.
    pub(super) fn of(question: &str) -> Self {
        let asked = question.to_lowercase();
        let kinds: [(Self, &[&str]); 5] = [
            (Self::HowMany, &HOW_MANY),
            (Self::When, &WHEN),
            (Self::Who, &WHO),
            (Self::Where, &WHERE),
            (Self::Why, &WHY),
        ];
        // Most words are looked for in vain, and those of other scripts surely.
        let ascii = asked.is_ascii();
        let place = |word: &&str| {
            let may_stand = !ascii || word.is_ascii();
            may_stand.then(|| Some((stands_at(&asked, word)?, Reverse(word.len())))).flatten()
        };
        let first = |words: &[&str]| words.iter().filter_map(place).min();
        let found = kinds.into_iter().filter_map(|(kind, words)| Some((first(words)?, kind)));
        found.min_by_key(|(place, _)| *place).map_or(Self::What, |(_, kind)| kind)
    }

    /// Whether a text may offer what is wanted; `offers` is asked only if that depends on it.
    pub(super) fn is_offered_by(self, offers: impl FnOnce() -> Offers) -> bool {
        match self {
            Self::When => offers().dated,
            Self::HowMany => offers().counts,
            Self::Who | Self::Where | Self::Why | Self::What => false,
        }
    }

    /// Whether a sentence offers what is wanted, beyond what the question says itself.
    pub(super) fn is_offered(self, sentence: &str, said_at: Timestamp, asked: impl Fn(&str) -> bool) -> bool {
        let lower = || sentence.to_lowercase();
        match self {
            Self::When => dates::find(sentence, dates::day_of(said_at)).is_some(),
            Self::HowMany => lower().unicode_words().any(|word| counts(word) && !asked(word)),
            Self::Who | Self::Where => names_something(sentence, asked),
            Self::Why => {
                let lower = lower();
                REASONS.iter().any(|reason| stands_at(&lower, reason).is_some())
            }
            Self::What => false,
        }
    }
}

/// Whether a word in lower case is a number.
pub(super) fn counts(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit())
        || NUMBERS.contains(&word)
        || NUMBERS_BEGIN.iter().any(|begin| word.starts_with(begin))
        || NUMBERS_END.iter().any(|end| word.ends_with(end))
}

/// Whether a text could have a digit or a word that is a number. Of English it is found out without splitting it into words, for few
/// texts have one; a text with other letters is always split, not one whose only other signs are dashes and quotation marks.
pub(super) fn may_count(text: &str) -> bool {
    let is_number = |word: &str| {
        word.len() >= 3
            && (NUMBERS.iter().any(|number| word.eq_ignore_ascii_case(number))
                || NUMBERS_BEGIN.iter().any(|begin| begins(word, begin)))
    };
    text.chars().any(|c| !c.is_ascii() && c.is_alphanumeric())
        || text.bytes().any(|byte| byte.is_ascii_digit())
        || text.split(|c: char| !c.is_ascii_alphabetic()).any(is_number)
}

/// Whether a word begins so, in whichever case of ASCII.
fn begins(word: &str, begin: &str) -> bool {
    word.get(..begin.len()).is_some_and(|beginning| beginning.eq_ignore_ascii_case(begin))
}

/// Where a word stands in a text, alone where its script sets words apart.
fn stands_at(text: &str, word: &str) -> Option<usize> {
    let spaced = word.chars().all(|c| (c as u32) < 0x1100);
    text.match_indices(word).map(|(at, _)| at).find(|at| {
        let before = text[..*at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        !spaced || [before, after].into_iter().flatten().all(|c| !c.is_alphanumeric())
    })
}

/// A capital inside the sentence that is not the question's own: most likely a name.
fn names_something(sentence: &str, asked: impl Fn(&str) -> bool) -> bool {
    let mut words = sentence.unicode_words();
    words.next();
    words.any(|word| {
        let capital = word.chars().next().is_some_and(char::is_uppercase) && word != "I" && !word.starts_with("I'");
        capital && !crate::view::keyword::analyse::terms(word).iter().any(|term| asked(term))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_asked_for_in_many_ways() {
        // Why: whoever asks "on what day" wants a date as much as who asks "when", in every language.
        for question in [
            "What day did Ann move?",
            "Which year was it?",
            "¿En qué mes se casó?",
            "С какого числа Анна живёт здесь?",
            "По каким дням у неё уроки?",
            "何曜日に行きますか？",
            "결혼식은 며칠이에요?",
        ] {
            assert_eq!(Wanted::of(question), Wanted::When, "{question}");
        }
        assert_eq!(Wanted::of("What did she do that day?"), Wanted::What);
        assert_eq!(Wanted::of("Сколько стоила лодка?"), Wanted::HowMany);
    }

    #[test]
    fn the_longer_of_two_words_says_what_is_asked() {
        // Why: "which month" begins in Korean as "how many" does, and "for how many days" in Japanese as "on which day".
        for question in ["결혼식은 몇 월이에요?", "몇 년도에 태어났어요?", "何日に行きますか？"]
        {
            assert_eq!(Wanted::of(question), Wanted::When, "{question}");
        }
        for question in ["고양이가 몇 마리예요?", "何日間いましたか？", "何年間住んでいますか？", "며칠 동안 있었어요?"]
        {
            assert_eq!(Wanted::of(question), Wanted::HowMany, "{question}");
        }
    }

    #[test]
    fn no_number_is_overlooked_by_the_quick_look() {
        // Why: what the quick look does not let through is never known to be a number.
        let begun = NUMBERS_BEGIN.iter().map(|begin| format!("{begin}x"));
        let ended = NUMBERS_END.iter().map(|end| format!("один{end}"));
        let more = ["veintidós", "veintidos", "пятьдесят", "7"].map(str::to_owned);
        for word in NUMBERS.iter().map(|word| (*word).to_owned()).chain(begun).chain(ended).chain(more) {
            assert!(may_count(&word) || !counts(&word), "{word}");
            assert!(may_count(&format!("And {}!", word.to_uppercase())), "{word}");
        }
        assert!(!may_count("The boat is red, and so is the tent."));
        assert!(!may_count("“The boat is red” – and so is the tent…"));
    }

    #[test]
    fn numbers_are_known_when_they_are_written_out() {
        // Why: people write "four hundred" in every language, and "how many" asks for just that.
        for word in [
            "7",
            "twelve",
            "cuatrocientos",
            "veintidós",
            "четыреста",
            "одиннадцати",
            "девятисот",
            "пятьдесят",
            "다섯",
            "두",
        ] {
            assert!(counts(word), "{word}");
        }
        for word in
            ["more", "often", "onion", "десна", "песок", "стол", "семья", "пятница", "пол", "mild", "세상", "네"]
        {
            assert!(!counts(word), "{word}");
        }
    }
}
