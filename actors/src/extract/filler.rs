//! What nobody keeps: greetings, thanks, agreement, questions, requests of the moment, what-ifs and mere reactions.

use super::language::Language;
use super::lex::{self, holds_any, opens_with};
use super::verbs;

mod foreign;
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
    if language == Language::English { asks(&plain) } else { foreign::asks(bare, &plain, language) }
}

/// English: words that open a question, in the order of a question, whether its mark is there or not.
pub(super) fn asks(plain: &str) -> bool {
    if lists::ASKING.iter().any(|start| opens_with(plain, start)) {
        return true;
    }
    let mut words = plain.split(' ');
    let (first, second, third) = (words.next().unwrap_or(""), words.next().unwrap_or(""), words.next().unwrap_or(""));
    let subject = lists::ASKED.contains(&second);
    match first {
        // "What I like is tea" and "how he works" tell; "what a day" does not ask, but nobody keeps it either.
        "what" | "how" | "why" | "which" | "who" | "whose" | "where" => !lists::TOLD.contains(&second),
        "when" => lists::INVERTING.contains(&second) && !matches!(second, "have" | "has"),
        "is" | "are" | "does" if !third.is_empty() => {
            !second.ends_with("ing") && !matches!(second, "not" | "now" | "still" | "also" | "too" | "so")
        }
        "is" | "are" | "am" | "was" | "were" | "does" | "did" | "should" | "could" | "would" | "has" => {
            subject || !second.is_empty() && third.is_empty() || matches!(second, "anyone" | "anybody" | "it's")
        }
        "can" | "will" | "shall" => subject,
        // "Do the dishes" and "have a nice day" ask nothing.
        "do" | "have" => matches!(
            second,
            "i" | "you" | "u" | "we" | "they" | "these" | "those" | "people" | "anyone" | "your" | "our"
        ),
        "any" => lists::ANY.contains(&second) || lists::ANY.contains(&third),
        _ => false,
    }
}

/// Sounds: "mmm", "ugh", "haha", "lol", "jajaja", "ахаха", "ㅋㅋ".
pub(super) fn is_interjection(word: &str) -> bool {
    let made_of = |letters: &str| word.chars().all(|c| letters.contains(c));
    let doubled = word.chars().count() >= 3;
    matches!(
        word,
        "omg"
            | "lol"
            | "lmao"
            | "rofl"
            | "xd"
            | "wow"
            | "yay"
            | "yum"
            | "phew"
            | "oops"
            | "meh"
            | "huh"
            | "eh"
            | "ew"
            | "ah"
            | "oh"
            | "aw"
            | "ugh"
            | "hm"
            | "mm"
            | "um"
            | "uh"
            | "argh"
            | "btw"
            | "gosh"
            | "ay"
            | "uf"
            | "uff"
            | "ой"
            | "ох"
            | "эх"
            | "ух"
            | "ура"
            | "ого"
            | "блин"
            | "笑"
            | "草"
    ) || doubled
        && (made_of("ha")
            || made_of("ja")
            || made_of("hm")
            || made_of("aw")
            || made_of("oh")
            || made_of("ugh")
            || made_of("lo")
            || made_of("jei")
            || made_of("hei"))
        && !matches!(word, "hoo" | "loo")
        || doubled && (made_of("ах") || made_of("хе") || made_of("хи"))
        || word.chars().count() >= 2
            && (made_of("ㅋ") || made_of("ㅎ") || made_of("ㅠㅜ") || made_of("はは") || made_of("へ") || made_of("w"))
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
        let word = rest.split(' ').next().unwrap_or(rest);
        let phrase = phrase.copied().or_else(|| is_interjection(word).then_some(word));
        let name = names.iter().find(|name| opens_with(rest, name)).map(String::as_str);
        // After a greeting one unknown word is a name.
        let called = (greeted && !unspaced && !rest.contains(' ')).then_some(rest);
        let Some(taken) = phrase.or(name).or(called) else {
            return false;
        };
        greeted = true;
        rest = rest[taken.len()..].trim_start();
    }
    true
}

/// Asks for something now rather than for ever: "Explain lifetimes", "Dame una receta", "教えてください".
pub(super) fn is_request(plain: &str, language: Language) -> bool {
    let polite = ["please ", "pls ", "plz ", "por favor ", "now please ", "now ", "then ", "again ", "just "]
        .iter()
        .find_map(|word| plain.strip_prefix(word))
        .unwrap_or(plain);
    match language {
        Language::English => {
            let first = polite.split(' ').next().unwrap_or("");
            // "Change of plans" and "Play is over" ask for nothing.
            let thing = matches!(polite.split(' ').nth(1), Some("of" | "is" | "was" | "are" | "were" | "has"));
            lists::ORDERS.contains(&first) && !polite.starts_with("check in ") && !thing
        }
        _ => foreign::requests(plain, polite, language),
    }
}

/// Other languages: a wish, or something that is not so.
pub(super) fn is_unreal(plain: &str, language: Language) -> bool {
    foreign::unreal(plain, language)
}

/// Other languages: a cry and nothing else, "¡Qué bien!", "какая прелесть!!", "かわいい！！".
pub(super) fn is_cry(sentence: &str, plain: &str, language: Language) -> bool {
    foreign::cries(sentence, plain, language)
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
        || holds_any(
            plain,
            &["hypothetically", "for the sake of argument", "would be nice", "would be great", "would be cool"],
        )
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
    // "It's my birthday": whose it is says enough.
    let named = names_something(sentence, 1) || holds_any(plain, &["my", "our"]);
    let most = if opens_with(plain, "there's") { 5 } else { 9 };
    vague.iter().any(|start| opens_with(plain, start)) && words <= most && !named
        || words <= 6
            && ["went fine", "went well", "went great", "went good", "went ok", "went okay"]
                .iter()
                .any(|end| plain.ends_with(end))
        || is_fragment(sentence, plain)
        || is_passing(sentence, plain)
        || is_hearsay(plain)
        || is_machine_output(sentence)
}

/// "They upped it", "so tired rn": no name, no number, and nobody knows later who or what was meant.
fn is_fragment(sentence: &str, plain: &str) -> bool {
    let words: Vec<&str> = plain.split(' ').collect();
    let nobody = matches!(
        words[0],
        "they" | "it" | "that" | "this" | "they've" | "they're" | "everything" | "something" | "nothing" | "anything"
    );
    let verb = words.iter().any(|word| verbs::is_finite(word) || word.ends_with("ing") || lists::TOLD.contains(word));
    let mood = words.len() <= 6 && matches!(words[0], "so" | "too" | "very" | "super" | "really" | "kinda");
    let own =
        words.iter().any(|word| matches!(*word, "my" | "our" | "me" | "us" | "allergic" | "vegan" | "vegetarian"));
    // "The blue one looks better": of what was just shown.
    let shown = words.len() <= 9
        && words.windows(3).any(|three| matches!(three[0], "the" | "this" | "that") && three[2] == "one");
    (nobody && words.len() <= 5
        || mood && !words.contains(&"i")
        || shown
        || !verb && !own && words.len() <= 4 && words[0] != "no")
        && !names_something(sentence, 0)
}

/// "I'm so tired today", "feeling a bit better now": true for an hour.
fn is_passing(sentence: &str, plain: &str) -> bool {
    let feeling = ["i'm", "i am", "im", "i feel", "feeling"].iter().any(|start| opens_with(plain, start));
    let soon_over = ["today", "right now", "rn", "atm", "at the moment", "a bit better", "better now"];
    feeling && plain.split(' ').count() <= 6 && holds_any(plain, &soon_over) && !names_something(sentence, 1)
}

/// "The article claims that …": what somebody wrote for everybody is not about the speaker.
fn is_hearsay(plain: &str) -> bool {
    let words: Vec<&str> = plain.split(' ').take(6).collect();
    let source = words.iter().position(|word| lists::SOURCES.contains(word));
    source.is_some_and(|at| {
        at <= 2
            && words[..at]
                .iter()
                .all(|word| matches!(*word, "the" | "this" | "an" | "a" | "one" | "some" | "new" | "that"))
            && words.get(at + 1).is_some_and(|verb| lists::CLAIMING.contains(verb))
    })
}

/// Whether a name or a number stands behind the first words; a sentence in lower case may name things without showing it.
fn names_something(sentence: &str, skip: usize) -> bool {
    lex::tokens(sentence).iter().enumerate().skip(skip).any(|(i, token)| {
        token.kind == lex::Kind::Number
            || lists::NUMBERS.contains(&token.lower.as_str()) && !token.is("one")
            || i > 0 && sentence[token.span.clone()].starts_with(char::is_uppercase) && !token.lower.starts_with('i')
    })
}

/// Whether a number stands in plain words.
pub(super) fn counts(plain: &str) -> bool {
    plain.split(' ').any(|word| lists::NUMBERS.contains(&word) || word.starts_with(|c: char| c.is_ascii_digit()))
}

/// "TypeError: …", "fatal: …", "$ git push": a machine speaks.
fn is_machine_output(sentence: &str) -> bool {
    let first = sentence.split_whitespace().next().unwrap_or("");
    let head = first.trim_end_matches(':');
    let query = matches!(first, "SELECT" | "INSERT" | "UPDATE" | "DELETE" | "CREATE" | "ALTER" | "DROP")
        && sentence.split_whitespace().skip(1).any(|word| matches!(word, "FROM" | "INTO" | "SET" | "TABLE" | "INDEX"));
    query
        || sentence.starts_with("$ ")
        || sentence.starts_with("File \"")
        || sentence.starts_with("Traceback ")
        || first.ends_with(':')
            && (head.ends_with("Error")
                || head.ends_with("Exception")
                || matches!(
                    head.to_lowercase().as_str(),
                    "error" | "fatal" | "warning" | "traceback" | "panic" | "exception"
                ))
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
    let praise = holds_any(
        plain,
        &["so", "amazing", "awesome", "stunning", "beautiful", "lovely", "great", "cute", "incredible", "yummy"],
    );
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
