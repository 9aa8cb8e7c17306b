//! What messages are about, in a few words each, without a language model: the rarest words that they dwell on, together with the
//! words that stand beside them. A language without a stop list has its common words known by how common they are.

use std::collections::{HashMap, HashSet};

use unicode_normalization::char::is_combining_mark;

use super::words::{one_line, sentences};
use crate::view::keyword::analyse::terms;

/// Topics of a card.
const TOPICS_MAX: usize = 5;
/// Words of a topic: the last ones of a longer run, where the noun stands.
const WORDS_MAX: usize = 3;
/// A topic is cut here.
const CHARS_MAX: usize = 60;
/// A word this much more common than the rarest says nothing.
const COMMON: f32 = 0.25;
/// What a name is worth more, as far as capitals tell.
const NAMED: f32 = 1.3;
/// What the words beside the best one add.
const BESIDE: f32 = 0.3;
/// What each message back takes off.
const OLDER: f32 = 0.9;

/// Words that are no stop words to a search but say nothing of what a talk is about.
#[rustfmt::skip]
const WEAK: &[&str] = &[
    "able", "actually", "add", "again", "agree", "ah", "already", "also", "always", "amazing", "anybody", "anyone",
    "anything", "anyway", "ask", "asked", "away", "awesome", "back", "bad", "best", "better", "big", "bit", "book",
    "bring", "bye", "call", "called", "came", "come", "cool", "dear", "definitely", "done", "else", "enjoy", "enough",
    "even", "ever", "every", "everyone", "everything", "far", "feel", "feeling", "felt", "fine", "first", "found", "fun",
    "gave", "get", "getting", "give", "glad", "go", "goes", "going", "gone", "gonna", "good", "got", "great", "guess",
    "guys", "haha", "happen", "happened", "happy", "hello", "help", "hey", "hi", "hope", "idea", "interesting",
    "just", "keep", "kind", "kinda", "knew", "know", "known", "last", "lately", "later", "least", "let", "lets",
    "like", "liked", "likes", "little", "long", "look", "looking", "lot", "lots", "love", "loved", "loves", "made",
    "make", "makes", "making", "many", "maybe", "mean", "means", "might", "minute", "moment", "month", "months",
    "much", "must", "name", "need", "needs", "never", "new", "next", "nice", "nope", "nothing", "often", "oh", "ok",
    "okay", "old", "one", "ones", "people", "perhaps", "person", "place", "please", "pretty", "probably", "put",
    "quite", "ready", "real", "really", "remember", "right", "said", "saw", "say", "saying", "says", "see", "seems",
    "seen", "shall", "show", "since", "somebody", "someone", "something", "sometimes", "soon", "sorry", "sort",
    "start", "started", "still", "stuff", "super", "sure", "take", "taken", "taking", "talk", "talking", "tell",
    "telling", "thank", "thanks", "thing", "things", "think", "thinking", "thought", "time", "times", "today",
    "together", "told", "tomorrow", "tonight", "took", "totally", "tried", "try", "trying", "two", "understand",
    "use", "used", "using", "usually", "wait", "wanna", "want", "wanted", "wants", "way", "week", "weeks", "welcome",
    "well", "went", "whatever", "wonderful", "wow", "yeah", "year", "years", "yep", "yes", "yesterday", "yet",
    "you're",
];

/// What the characters of a word are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Script {
    /// Written with spaces between words.
    Spaced,
    Ideographs,
    Katakana,
}

/// A word where it stands.
struct Word<'a> {
    text: &'a str,
    /// What a search knows it by; the same for its other forms.
    stem: String,
    /// Begins with a capital, and not because a sentence does.
    named: bool,
}

/// Words that stand together with nothing but spaces between, each with its place.
struct Run<'a> {
    sentence: &'a str,
    words: Vec<(usize, Word<'a>)>,
    age: usize,
}

/// A stretch of a run that may be a topic.
struct Phrase<'a> {
    text: &'a str,
    stems: Vec<&'a str>,
    worth: f32,
}

/// At most five topics of messages, given oldest first, best first. `rarity` tells how rare a word is where these were said.
pub fn topics(texts: &[&str], rarity: &dyn Fn(&str) -> f32) -> Vec<String> {
    let told: Vec<(usize, &str)> = texts
        .iter()
        .rev()
        .enumerate()
        .flat_map(|(age, text)| sentences(text).into_iter().map(move |it| (age, it)))
        .collect();
    let runs: Vec<Run<'_>> = told.iter().flat_map(|(age, sentence)| runs(sentence, *age)).collect();
    let words = || runs.iter().flat_map(|run| run.words.iter().map(|(_, word)| word));
    let mut counts: HashMap<&str, f32> = HashMap::new();
    words().for_each(|word| *counts.entry(&word.stem).or_insert(0.0) += 1.0);
    let rare: HashMap<&str, f32> = words().map(|word| (word.stem.as_str(), rarity(word.text))).collect();
    let rarest = rare.values().copied().fold(0.0, f32::max);
    let weight = |word: &Word<'_>| {
        let rare = rare[word.stem.as_str()];
        let often = 1.0 + counts[word.stem.as_str()].ln();
        if rare < COMMON * rarest { 0.0 } else { rare * often * if word.named { NAMED } else { 1.0 } }
    };
    let mut ranked: Vec<Phrase<'_>> = runs.iter().flat_map(|run| phrases(run, &weight)).collect();
    // Stable: of equals the newest message's first comes first.
    ranked.sort_by(|one, other| other.worth.total_cmp(&one.worth));
    let mut said: HashSet<&str> = HashSet::new();
    let mut found = Vec::new();
    for phrase in ranked {
        if found.len() < TOPICS_MAX && !phrase.stems.iter().any(|stem| said.contains(stem)) {
            said.extend(phrase.stems);
            found.push(one_line(phrase.text, CHARS_MAX));
        }
    }
    found
}

/// The stretches of a run between its common words; of a longer one the end.
fn phrases<'a>(run: &'a Run<'a>, weight: &dyn Fn(&Word<'_>) -> f32) -> Vec<Phrase<'a>> {
    let mut found = Vec::new();
    for words in run.words.split(|(_, word)| weight(word) <= 0.0) {
        let words = &words[words.len().saturating_sub(WORDS_MAX)..];
        let (Some((from, _)), Some((at, last))) = (words.first(), words.last()) else { continue };
        let best = words.iter().map(|(_, word)| weight(word)).fold(0.0, f32::max);
        let all: f32 = words.iter().map(|(_, word)| weight(word)).sum();
        let worth = (best + BESIDE * (all - best)) * OLDER.powi(i32::try_from(run.age).unwrap_or(i32::MAX));
        let text = &run.sentence[*from..at + last.text.len()];
        found.push(Phrase { text, stems: words.iter().map(|(_, word)| word.stem.as_str()).collect(), worth });
    }
    found
}

fn runs(sentence: &str, age: usize) -> Vec<Run<'_>> {
    let mut found: Vec<Vec<(usize, Word<'_>)>> = Vec::new();
    let (mut open, mut end) = (Vec::new(), 0);
    for (place, (at, text, script)) in words(sentence).into_iter().enumerate() {
        if sentence[end..at].chars().any(|c| !matches!(c, ' ' | '\u{a0}')) {
            found.push(std::mem::take(&mut open));
        }
        end = at + text.len();
        match stem(text, script) {
            Some(stem) => {
                let named = place > 0 && text.chars().next().is_some_and(char::is_uppercase);
                open.push((at, Word { text, stem, named }));
            }
            None => found.push(std::mem::take(&mut open)),
        }
    }
    found.push(open);
    found.into_iter().map(|words| Run { sentence, words, age }).collect()
}

/// None for a word that says nothing.
fn stem(word: &str, script: Script) -> Option<String> {
    let length = word.chars().count();
    let lower = word.to_lowercase();
    let says = match script {
        Script::Spaced => length >= 3 && word.chars().any(char::is_alphabetic) && !word.starts_with(char::is_numeric),
        Script::Ideographs | Script::Katakana => length >= 2,
    };
    if !says || WEAK.binary_search(&lower.as_str()).is_ok() {
        return None;
    }
    let stems = terms(word);
    (!stems.is_empty()).then(|| stems.join(" "))
}

/// The words of a text and where they begin. Of scripts without spaces only runs of ideographs and of katakana, which are mostly
/// nouns; the rest of these scripts is left out.
fn words(text: &str) -> Vec<(usize, &str, Script)> {
    let mut found: Vec<(usize, &str, Script)> = Vec::new();
    let mut open: Option<(usize, Script)> = None;
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        let inside = open.is_some_and(|(_, script)| {
            script_of(c) == Some(script)
                || (script == Script::Spaced && (matches!(c, '\'' | '’' | '-') || is_joined(c)))
        });
        if inside {
            continue;
        }
        if let Some((from, script)) = open.take() {
            let word = text[from..at].trim_end_matches(['\'', '’', '-']);
            let word = word.strip_suffix("'s").or_else(|| word.strip_suffix("’s")).unwrap_or(word);
            found.push((from, word, script));
        }
        open = script_of(c).map(|script| (at, script));
    }
    found
}

/// Vowel signs, viramas and the like, which are no letters and part no word.
fn is_joined(c: char) -> bool {
    is_combining_mark(c) || matches!(c, '\u{200c}' | '\u{200d}')
}

fn script_of(c: char) -> Option<Script> {
    match c as u32 {
        0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xF900..=0xFAFF | 0x20000..=0x3FFFF => Some(Script::Ideographs),
        0x30A1..=0x30FA | 0x30FC => Some(Script::Katakana),
        0x0E00..=0x0EFF | 0x1000..=0x109F | 0x1780..=0x17FF | 0x3005..=0x30FF => None,
        _ => c.is_alphanumeric().then_some(Script::Spaced),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(texts: &[&str]) -> Vec<String> {
        topics(texts, &|_| 1.0)
    }

    #[test]
    fn the_list_is_in_order() {
        assert!(WEAK.is_sorted());
    }

    #[test]
    fn topics_are_what_is_talked_about() {
        assert_eq!(of(&["Tell me about pizza"]), ["pizza"]);
        assert_eq!(of(&["I really want to plan the Rome itinerary, please!"])[0], "Rome itinerary");
        let trip = of(&["We fly to Oslo in June.", "Oslo is cold. Is the Oslo airport far?", "Pack warm socks."]);
        assert_eq!(trip[0], "Oslo airport");
        assert!(trip.contains(&"Pack warm socks".to_owned()) && trip.len() <= 5, "{trip:?}");
        assert_eq!(of(&["Hi! Yes, thanks. I know, that's great :)"]), Vec::<String>::new());
        assert_eq!(of(&["12 345 !!! 🙂", ""]), Vec::<String>::new());
    }

    // What everybody says all the time is no topic, also where no list knows the language.
    #[test]
    fn common_words_are_known_by_how_common_they_are() {
        let rarity = |word: &str| if word == "Fahrrad" { 4.0 } else { 0.5 };
        assert_eq!(topics(&["Ich habe mein Fahrrad verloren"], &rarity), ["Fahrrad"]);
        assert_eq!(topics(&["Heute regnet es. Mein Fahrrad!"], &rarity).len(), 1);
    }

    #[test]
    fn scripts_without_spaces_give_their_nouns_or_nothing() {
        assert_eq!(of(&["明日は京都でコーヒーを飲みます。"]), ["明日", "京都", "コーヒー"]);
        assert_eq!(of(&["สวัสดีครับ"]), Vec::<String>::new());
    }

    // A sign that stands above or below a letter is no letter by itself, and no end of a word.
    #[test]
    fn no_word_is_cut_at_its_signs() {
        for (text, words) in [
            ("मेरी बिल्ली का नाम मोती है", &["बिल्ली", "मोती"][..]),
            ("আমার বিড়ালের নাম মিষ্টি", &["বিড়ালের", "মিষ্টি"]),
            ("என் பூனையின் பெயர் முத்து", &["பூனையின்", "முத்து"]),
            ("నా పిల్లి పేరు ముత్యం", &["పిల్లి", "ముత్యం"]),
        ] {
            let told = of(&[text]).join(" ");
            let whole: Vec<&str> = told.split(' ').collect();
            assert!(whole.iter().all(|word| text.split(' ').any(|it| it == *word)), "{told}");
            assert!(words.iter().any(|word| whole.contains(word)), "{told}");
        }
    }

    #[test]
    fn a_flood_is_one_short_topic() {
        let told = of(&[&"x".repeat(30_000)]);
        assert!(told.len() == 1 && told[0].chars().count() <= CHARS_MAX);
    }
}
