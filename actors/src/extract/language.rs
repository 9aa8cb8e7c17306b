//! Which rules a sentence falls under: English has many, eight other languages a few, and the rest none but "keep".

use std::sync::LazyLock;

use super::lex::{self, Kind};
use crate::telling::{Telling, Votes};

/// A language that has word lists here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    English,
    Spanish,
    Portuguese,
    French,
    German,
    Russian,
    Japanese,
    Korean,
    Chinese,
    /// Everything else: its sentences are kept as facts.
    Unknown,
}

/// Small words of each language written in Latin letters; shared ones count for each.
#[rustfmt::skip]
const SMALL: &[(Language, &[&str])] = &[
    (Language::English, &[
        "the", "is", "are", "was", "were", "i", "i'm", "i've", "i'll", "i'd", "my", "me", "we", "our", "you", "your",
        "he", "she", "his", "her", "they", "their", "it", "it's", "this", "that", "that's", "and", "of", "to", "in",
        "for", "with", "on", "at", "an", "from", "by", "have", "has", "not", "don't", "what", "how", "when", "who",
        "why", "where", "which", "please", "thanks", "hi", "hello", "hey", "never", "always", "will", "would", "can",
        "could", "should", "call", "wow", "ok", "okay", "bye", "let's", "there", "been", "remind", "todo", "use",
        "yes", "yeah", "lol", "haha", "good", "great", "so", "we're", "we've", "you're", "does", "do", "did", "had",
        "every", "sounds", "cool", "maybe", "but", "or", "if", "about", "actually", "explain", "nice", "no", "just",
        "still", "some", "all", "too", "more", "like", "need", "know", "go", "get", "got", "time", "long", "talk",
        "one", "been", "last", "next", "today", "tomorrow", "yesterday", "week", "then", "than", "into", "out", "up",
        "after", "before", "because", "him", "them", "us", "these", "those", "he's", "she's", "they're", "can't",
        "won't", "didn't", "isn't", "im", "what's", "gonna", "gotta", "there's", "wasn't", "ugh", "omg", "thx", "pls",
        "she", "any", "might", "paid", "went", "had", "same", "again", "error", "better", "feeling", "working", "second",
        "first", "day", "days", "month", "year", "home", "new", "old", "big", "little", "very", "really", "much", "many",
        "thing", "things", "people", "way", "here", "now", "well", "want", "think", "see", "say", "says", "said", "make",
        "made", "take", "took", "come", "came", "look", "looks", "work", "works", "feel", "feels", "love", "like", "hate",
        "while", "only", "over", "off", "down", "back", "its", "their", "because", "never", "again", "today", "tonight",
        "morning", "evening", "night", "weekend", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday",
    ]),
    (Language::Spanish, &[
        "el", "la", "los", "las", "un", "una", "es", "soy", "está", "y", "que", "de", "en", "con", "por", "para",
        "mi", "mis", "tu", "me", "se", "no", "lo", "al", "del", "como", "muy", "pero", "vivo", "tengo", "hola",
        "gracias", "siempre", "nunca", "ayer", "fui", "trabajo", "qué", "vale", "hasta", "adiós", "recuérdame",
        "muchas", "español", "sí", "buenos", "buenas", "responde", "debo", "cuando", "le", "les", "su", "sus", "nos",
        "ya", "ojalá", "tuviera", "pudiera", "fuera", "hay", "gusta", "encanta", "odio", "tenemos", "somos", "mañana", "hoy", "si", "hace", "cómo", "dónde", "cuánto", "tiene", "llama", "más", "antes", "desde", "te",
    ]),
    (Language::Portuguese, &[
        "o", "os", "um", "uma", "é", "sou", "está", "e", "que", "de", "em", "no", "na", "com", "por", "para", "meu",
        "minha", "não", "do", "da", "ao", "como", "muito", "mas", "moro", "tenho", "olá", "oi", "obrigado",
        "obrigada", "sempre", "nunca", "ontem", "fui", "trabalho", "você", "eu",
    ]),
    (Language::French, &[
        "le", "la", "les", "un", "une", "est", "suis", "et", "que", "de", "en", "dans", "avec", "pour", "mon", "ma",
        "mes", "je", "j'ai", "ne", "pas", "du", "au", "comme", "très", "mais", "bonjour", "merci", "toujours",
        "jamais", "hier", "nous", "vous", "il", "elle", "c'est", "j'habite", "salut", "des",
    ]),
    (Language::German, &[
        "der", "die", "das", "ein", "eine", "ist", "bin", "und", "dass", "von", "im", "in", "mit", "für", "mein",
        "meine", "ich", "nicht", "zu", "auf", "wie", "sehr", "aber", "hallo", "danke", "immer", "nie", "gestern",
        "wir", "sie", "er", "es", "habe", "wohne", "arbeite", "guten", "bitte",
    ]),
];

static TELLING: LazyLock<Telling<&str>> =
    LazyLock::new(|| Telling::new(SMALL.iter().map(|(_, small)| small.iter().copied())));
/// English among them.
const ENGLISH: usize = 0;

/// By script first, then by small words. A tie goes to the first, English; no small word at all is unknown.
pub(super) fn of(sentence: &str) -> Language {
    if let Some(by_script) = by_script(sentence) {
        return by_script;
    }
    let words: Vec<String> =
        lex::tokens(sentence).into_iter().filter(|token| token.kind == Kind::Word).map(|token| token.lower).collect();
    let mut votes = Votes::default();
    words.iter().for_each(|word| TELLING.vote(word.as_str(), &mut votes));
    let most = votes.most();
    // Interjections and names carry no small words; English is judged by its own lists and loses nothing else.
    if most.is_none() && words.len() <= 2 && sentence.is_ascii() {
        return Language::English;
    }
    // "in", "is" and "me" stand in many languages: by themselves they tell of none.
    const SHARED: &[&str] =
        &["in", "is", "was", "me", "no", "so", "on", "an", "at", "of", "had", "her", "over", "much", "day"];
    let english = |word: &String| !SHARED.contains(&word.as_str()) && TELLING.tells(word.as_str(), ENGLISH);
    if most == Some(ENGLISH) && words.len() >= 5 && !words.iter().any(english) {
        return Language::Unknown;
    }
    most.map_or(Language::Unknown, |at| SMALL[at].0)
}

fn by_script(sentence: &str) -> Option<Language> {
    let (mut latin, mut cyrillic, mut kana, mut hangul, mut han, mut other) = (0, 0, 0, 0, 0, 0);
    for c in sentence.chars().filter(|c| c.is_alphabetic()) {
        match c {
            '\u{3040}'..='\u{30ff}' => kana += 1,
            '\u{ac00}'..='\u{d7a3}' | '\u{1100}'..='\u{11ff}' | '\u{3130}'..='\u{318f}' => hangul += 1,
            '\u{4e00}'..='\u{9fff}' | '\u{3400}'..='\u{4dbf}' => han += 1,
            '\u{400}'..='\u{4ff}' => cyrillic += 1,
            'a'..='z' | 'A'..='Z' | '\u{c0}'..='\u{24f}' => latin += 1,
            _ => other += 1,
        }
    }
    let most = latin.max(cyrillic).max(kana + han).max(hangul).max(other);
    if most == 0 || most == latin {
        None
    } else if most == hangul {
        Some(Language::Korean)
    } else if most == kana + han {
        Some(if kana > 0 { Language::Japanese } else { Language::Chinese })
    } else if most == cyrillic {
        Some(Language::Russian)
    } else {
        Some(Language::Unknown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // A sentence under the wrong rules is dropped or mangled; an unknown one must be known as such.
    #[test]
    fn sentences_are_told_apart() {
        for (text, language) in [
            ("I live in Porto with my sister", Language::English),
            ("Vivo en Madrid con mi hermano", Language::Spanish),
            ("Eu moro em Lisboa com a minha irmã", Language::Portuguese),
            ("J'habite à Lyon avec mon frère", Language::French),
            ("Ich wohne in Berlin", Language::German),
            ("Я живу в Казани", Language::Russian),
            ("私は京都に住んでいます", Language::Japanese),
            ("저는 부산에 살아요", Language::Korean),
            ("我住在上海", Language::Chinese),
            ("Mieszkam w Krakowie od trzech lat", Language::Unknown),
            ("Ik woon in Utrecht met mijn vriendin", Language::Unknown),
            ("أعيش في القاهرة", Language::Unknown),
        ] {
            assert_eq!(of(text), language, "{text}");
        }
    }
}
