//! What nobody keeps: greetings, thanks, agreement, questions, requests of the moment, what-ifs and mere reactions.

use super::language::Language;
use super::lex::{self, holds, opens_with};

mod lists;

/// Whether a sentence asks something.
pub(super) fn is_question(sentence: &str, language: Language) -> bool {
    let bare = sentence.trim_end_matches(|c: char| {
        c.is_whitespace() || matches!(c, '"' | '”' | ')' | '」' | '.' | '。' | '!' | '！' | '~') || is_emoji(c)
    });
    if bare.ends_with(['?', '？', '؟']) || sentence.starts_with('¿') {
        return true;
    }
    let plain = lex::plain(sentence);
    match language {
        Language::English => lists::ASKING.iter().any(|start| opens_with(&plain, start)),
        Language::Japanese => ["か", "かな", "かしら", "でしょう"].iter().any(|end| bare.ends_with(end)),
        Language::Korean => ["까", "까요", "나요", "니", "는지요", "을까"].iter().any(|end| bare.ends_with(end)),
        Language::Chinese => ["吗", "呢", "么"].iter().any(|end| bare.ends_with(end)),
        _ => false,
    }
}

/// Whether nothing is left of a sentence once greetings, thanks and agreement are taken away. `names` are people one may greet.
pub(super) fn is_small_talk(sentence: &str, language: Language, names: &[String]) -> bool {
    let plain = lex::plain(sentence);
    if plain.is_empty() {
        return true;
    }
    if lists::THANKS.iter().any(|start| opens_with(&plain, start)) && !opens_with(&plain, "thanks to") {
        return true;
    }
    let unspaced = matches!(language, Language::Japanese | Language::Chinese);
    if unspaced && lists::UNSPACED_THANKS.iter().any(|word| plain.contains(word)) {
        return true;
    }
    let mut rest = plain.as_str();
    let mut greeted = false;
    while !rest.is_empty() {
        let phrase = lists::SMALL_TALK
            .iter()
            .filter(|phrase| if unspaced { rest.starts_with(**phrase) } else { opens_with(rest, phrase) })
            .max_by_key(|p| p.len());
        let name = names.iter().find(|name| opens_with(rest, name)).map(String::as_str);
        // After a greeting one unknown word is a name.
        let called = (greeted && !unspaced && !rest.contains(' ')).then_some(rest);
        let Some(taken) = phrase.copied().or(name).or(called) else {
            return false;
        };
        greeted = true;
        rest = rest[taken.len()..].trim_start();
    }
    true
}

/// Asks for something now rather than for ever: "Explain lifetimes", "Dame una receta", "教えてください".
pub(super) fn is_request(plain: &str, language: Language) -> bool {
    let polite = plain.strip_prefix("please ").or_else(|| plain.strip_prefix("por favor ")).unwrap_or(plain);
    match language {
        Language::English => {
            let first = polite.split(' ').next().unwrap_or("");
            lists::ORDERS.contains(&first) && !polite.starts_with("check in ")
        }
        Language::Spanish | Language::Portuguese | Language::French | Language::German | Language::Russian => {
            lists::FOREIGN_ORDERS.iter().any(|order| {
                opens_with(polite, order) || polite.strip_prefix("пожалуйста ").is_some_and(|p| opens_with(p, order))
            })
        }
        Language::Japanese => {
            ["ください", "くれ", "ほしい", "お願いします"].iter().any(|end| plain.ends_with(end))
                && !plain.contains("覚え")
        }
        Language::Korean => {
            ["주세요", "줘", "주십시오"].iter().any(|end| plain.ends_with(end)) && !plain.contains("기억")
        }
        Language::Chinese => {
            ["请帮", "帮我", "请写", "请解释", "请翻译", "告诉我", "给我"].iter().any(|start| plain.starts_with(start))
        }
        Language::Unknown => false,
    }
}

/// English only: an if, a wish or a guess.
pub(super) fn is_hypothetical(plain: &str) -> bool {
    const KEPT: &[&str] = &[
        "i'd love to",
        "i'd like to",
        "i would love to",
        "i would like to",
        "i'd rather",
        "i would rather",
        "i'd prefer",
        "i would prefer",
    ];
    lists::HYPOTHETICAL.iter().any(|start| opens_with(plain, start))
        && !KEPT.iter().any(|start| opens_with(plain, start))
        || ["hypothetically", "for the sake of argument", "would be nice", "would be great", "would be cool"]
            .iter()
            .any(|phrase| holds(plain, phrase))
}

/// English only: says something about the other's words or feelings and nothing that lasts.
pub(super) fn is_reaction(sentence: &str, plain: &str) -> bool {
    if lists::REACTIONS.iter().any(|start| opens_with(plain, start)) {
        return true;
    }
    // "It's hard." "This was fun": with no name and no number in it, nobody knows later what it was about.
    let vague = [
        "it's",
        "it is",
        "it was",
        "it feels",
        "it felt",
        "this is",
        "this was",
        "that was",
        "that'll",
        "it'll",
        "those are",
        "these are",
        "they're",
        "there's",
    ];
    let words = plain.split(' ').count();
    let named = lex::tokens(sentence).iter().skip(1).any(|token| {
        token.kind == lex::Kind::Number
            || sentence[token.span.clone()].starts_with(char::is_uppercase) && !token.lower.starts_with('i')
    });
    vague.iter().any(|start| opens_with(plain, start)) && words <= 9 && !named
}

/// English, in a talk between people: orders and advice for the other, and sentences in which nobody and nothing is named.
pub(super) fn is_courtesy(sentence: &str, plain: &str, names: &[String], dated: bool) -> bool {
    let tokens = lex::tokens(sentence);
    let any = |words: &[&str]| tokens.iter().any(|token| words.contains(&token.lower.as_str()));
    let own = any(&[
        "i", "i'm", "i've", "i'll", "i'd", "my", "me", "we", "we're", "we've", "we'll", "our", "us", "mine", "myself",
    ]);
    let other = any(&["you", "you're", "you've", "you'll", "you'd", "your", "yours", "y'all", "yourself"]);
    let for_agent =
        ["call me", "from now on", "remind me", "todo", "please"].iter().any(|start| opens_with(plain, start));
    if for_agent || dated && own {
        return false;
    }
    let order = lists::PUSHING.iter().any(|start| opens_with(plain, start));
    let name = |token: &lex::Token| {
        sentence[token.span.clone()].starts_with(char::is_uppercase) && !names.contains(&token.lower)
    };
    let named = tokens.iter().skip(1).any(|token| token.kind == lex::Kind::Number || name(token));
    let definite = matches!(
        tokens.first().map(|token| token.lower.as_str()),
        Some("the" | "he" | "she" | "his" | "her" | "he's" | "she's")
    );
    let praise =
        ["so", "amazing", "awesome", "stunning", "beautiful", "lovely", "great", "cute", "incredible", "yummy"]
            .iter()
            .any(|word| holds(plain, word));
    other || order || !own && !named && !dated && (!definite || praise)
}

fn is_emoji(c: char) -> bool {
    matches!(c, '\u{1f000}'..='\u{1faff}' | '\u{2600}'..='\u{27bf}' | '\u{fe0f}' | '\u{200d}')
}

#[cfg(test)]
mod tests {
    use super::*;

    // A store full of "Thanks!" is what makes people turn memory off.
    #[test]
    fn small_talk_is_known_in_many_languages() {
        for text in [
            "Hey Mel!",
            "Thanks so much, that helps!",
            "Ok, great.",
            "No worries, bye!",
            "¡Hola!",
            "Muchas gracias por tu ayuda.",
            "Vale, perfecto.",
            "Hasta luego.",
            "Привет!",
            "Спасибо большое!",
            "Хорошо, понял.",
            "こんにちは。",
            "ありがとうございます！",
            "わかりました。",
            "감사합니다!",
            "네, 알겠습니다.",
            "안녕히 주무세요.",
            "Merci beaucoup !",
            "Guten Morgen!",
            "Obrigado!",
            "谢谢你！",
            "你好！",
            "👍",
            "...",
        ] {
            assert!(is_small_talk(text, crate::extract::language::of(text), &["mel".into()]), "{text}");
        }
        for text in
            ["Thanks to my brother I found a flat.", "Hello Kitty is my favourite brand.", "こんにちはと言いました。"]
        {
            assert!(!is_small_talk(text, crate::extract::language::of(text), &[]), "{text}");
        }
    }

    // Questions come without their mark as well.
    #[test]
    fn questions_are_known_with_and_without_their_mark() {
        for text in [
            "How are you",
            "Is it better?",
            "¿Cuánto cuesta?",
            "いくらかかりますか",
            "뭐가 좋을까요",
            "你好吗",
            "Can you help me.",
        ] {
            assert!(is_question(text, crate::extract::language::of(text)), "{text}");
        }
        assert!(!is_question("I am fine.", Language::English));
    }
}
