//! What no list can say of English: contractions with two meanings, who "the user" is, dates, light verbs, and two ways to say
//! that something still goes on or does not any more.

use super::{Author, inflect, order::POSSESSIVE};

/// A light verb, its noun, the verb that says the same, the preposition that goes with the noun and not with the verb, and what
/// follows the verb instead.
#[rustfmt::skip]
const LIGHT: &[[&str; 5]] = &[
    ["make", "decision", "decide", "", ""], ["take", "decision", "decide", "", ""], ["have", "discussion", "talk", "", ""],
    ["have", "conversation", "talk", "", ""], ["have", "talk", "talk", "", ""], ["have", "chat", "talk", "", ""],
    ["have", "argument", "argue", "", ""], ["have", "quarrel", "quarrel", "", ""], ["take", "walk", "walk", "", ""],
    ["take", "shower", "shower", "", ""], ["take", "nap", "nap", "", ""], ["make", "promise", "promise", "", ""],
    ["make", "plan", "plan", "", ""], ["make", "complaint", "complain", "", ""], ["make", "suggestion", "suggest", "", ""],
    ["make", "donation", "donate", "", ""], ["make", "purchase", "buy", "of", ""], ["pay", "visit", "visit", "to", ""],
    ["have", "preference", "prefer", "for", ""], ["have", "dislike", "dislike", "of", ""], ["have", "dislike", "dislike", "for", ""],
    ["have", "hatred", "hate", "of", ""], ["have", "love", "love", "for", ""], ["have", "love", "love", "of", ""],
    ["have", "need", "need", "for", ""], ["have", "plan", "plan", "", ""], ["have", "intention", "plan", "", ""],
    ["have", "wish", "want", "", ""], ["have", "desire", "want", "", ""], ["have", "hope", "hope", "", ""],
    ["have", "habit", "habitually", "of", ""], ["do", "repair", "repair", "of", ""], ["make", "payment", "pay", "", ""],
    ["make", "reservation", "reserve", "for", ""], ["make", "request", "ask", "for", "for"], ["give", "answer", "answer", "", ""],
    ["take", "look", "look", "", ""], ["have", "look", "look", "", ""], ["have", "sleep", "sleep", "", ""],
    ["have", "dream", "dream", "", ""], ["do", "drawing", "draw", "of", ""], ["give", "performance", "perform", "", ""],
];

/// Phrases with light verbs, in every form.
pub(super) fn light_verbs() -> Vec<(Vec<String>, Vec<String>)> {
    let words = |parts: &[&str]| parts.iter().filter(|part| !part.is_empty()).map(|part| (*part).to_owned()).collect();
    let mut phrases = Vec::new();
    for [light, noun, verb, lost, gained] in LIGHT {
        for (light, verb) in inflect::forms(light).iter().zip(inflect::forms(verb)) {
            for article in ["a", "an", "the"] {
                phrases.push((words(&[light, article, noun, lost]), words(&[&verb, gained])));
            }
        }
    }
    for (discuss, talk) in inflect::forms("discuss").iter().zip(inflect::forms("talk")) {
        phrases.push((words(&[discuss]), words(&[&talk, "about"])));
    }
    phrases
}

/// What must be known while every word is still there: whom "the user" means, and what an `'s` is short for.
pub(super) fn before(tokens: Vec<String>, author: Author) -> Vec<String> {
    let polite = tokens.iter().any(|word| matches!(word.as_str(), "please" | "thanks"));
    let mut words = Vec::with_capacity(tokens.len());
    for (at, word) in tokens.iter().enumerate() {
        let before = at.checked_sub(1).map_or("", |at| tokens[at].as_str());
        let next = tokens.get(at + 1).map_or("", String::as_str);
        match word.as_str() {
            POSSESSIVE if matches!(next, "been" | "got") => words.push("has".to_owned()),
            POSSESSIVE if PRONOUNS.contains(&before) || IS_BEFORE.contains(&next) => words.push("is".to_owned()),
            "'d" if WOULD_BEFORE.contains(&next) => words.push("would".to_owned()),
            "just" if polite && at == 0 => {}
            _ => words.push(word.clone()),
        }
    }
    if author == Author::Anyone { as_first_person(words) } else { words }
}

const PRONOUNS: [&str; 11] = ["he", "she", "it", "that", "there", "here", "who", "what", "where", "this", "how"];
const IS_BEFORE: [&str; 6] = ["a", "an", "the", "not", "going", "my"];
const WOULD_BEFORE: [&str; 7] = ["like", "love", "prefer", "rather", "be", "have", "want"];

/// Adverbs that stand between a subject and its verb.
const ADVERBS: [&str; 14] = [
    "always",
    "usually",
    "often",
    "sometimes",
    "never",
    "rarely",
    "still",
    "also",
    "really",
    "now",
    "currently",
    "only",
    "already",
    "no",
];

/// What only the user himself can be meant to own after "their": the verb's object is a thing.
const OF_THINGS: [&str; 24] = [
    "prefers", "likes", "loves", "wants", "has", "keeps", "uses", "needs", "walks", "enjoys", "lost", "sold", "bought",
    "forgot", "drives", "cleans", "washes", "hates", "plays", "wears", "broke", "spends", "works", "lives",
];

/// "The user" as "I", and the verb with it.
fn as_first_person(words: Vec<String>) -> Vec<String> {
    let mut out: Vec<String> = Vec::with_capacity(words.len());
    let mut agrees = false;
    let mut owner = Owner::Nobody;
    let mut at = 0;
    while at < words.len() {
        let word = words[at].as_str();
        let user = match word {
            "user" => Some(at),
            "the" | "this" if words.get(at + 1).is_some_and(|next| next == "user") => Some(at + 1),
            _ => None,
        };
        if let Some(user) = user {
            if words.get(user + 1).is_some_and(|next| next == POSSESSIVE) {
                out.push("my".to_owned());
                at = user + 2;
                continue;
            }
            let subject = out.last().is_none_or(|before| SUBJECT_AFTER.contains(&before.as_str()));
            out.push("i".to_owned());
            (agrees, owner) = (subject, if subject { Owner::User } else { Owner::Nobody });
            at = user + 1;
            continue;
        }
        let verb = agrees && !ADVERBS.contains(&word);
        if verb {
            agrees = word == "does" || word == "is";
            owner = if owner == Owner::User && OF_THINGS.contains(&word) || agrees { owner } else { Owner::Nobody };
            out.push(base(word));
        } else if matches!(word, "their" | "theirs" | "they" | "them") && owner == Owner::User {
            out.push(
                if word == "their" {
                    "my"
                } else if word == "theirs" {
                    "mine"
                } else {
                    "i"
                }
                .to_owned(),
            );
        } else {
            if word.ends_with('s') || word == "and" || PEOPLE.contains(&word) {
                owner = Owner::Nobody;
            }
            out.push(word.to_owned());
        }
        at += 1;
    }
    out
}

/// Whom a "their" means.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Owner {
    User,
    /// Somebody else could own it as well.
    Nobody,
}

const SUBJECT_AFTER: [&str; 10] = ["and", "but", "because", "when", "if", "that", "since", "while", "today", "now"];
const PEOPLE: [&str; 16] = [
    "people", "children", "wife", "husband", "brother", "sister", "mother", "father", "friend", "boss", "son",
    "daughter", "partner", "family", "team", "who",
];

/// The verb of "he" as the verb of "I".
fn base(verb: &str) -> String {
    match verb {
        "is" => "am".to_owned(),
        "has" => "have".to_owned(),
        "does" => "do".to_owned(),
        "goes" => "go".to_owned(),
        "was" | "always" | "this" | "his" | "its" | "as" => verb.to_owned(),
        _ => match verb {
            _ if verb.ends_with("ies") && verb.len() > 4 => format!("{}y", &verb[..verb.len() - 3]),
            _ if ["ches", "shes", "sses", "xes", "zzes"].iter().any(|end| verb.ends_with(end)) => {
                verb[..verb.len() - 2].to_owned()
            }
            _ if verb.ends_with('s') && !verb.ends_with("ss") => verb[..verb.len() - 1].to_owned(),
            _ => verb.to_owned(),
        },
    }
}

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// What is said in two ways with the words in different places.
pub(super) fn after(words: &mut Vec<String>) {
    dates(words);
    no_longer(words);
    going_on(words);
}

fn is_day(word: &str) -> bool {
    word.parse::<u32>().is_ok_and(|day| (1..=31).contains(&day))
}

/// `the 3rd of June` and `June 3` as `june 3`.
fn dates(words: &mut Vec<String>) {
    let mut at = 0;
    while at < words.len() {
        if !MONTHS.contains(&words[at].as_str()) {
            at += 1;
            continue;
        }
        if words.get(at + 1).is_some_and(|next| is_day(next)) {
            if words.get(at + 2).is_some_and(|next| next == "th") {
                words.remove(at + 2);
            }
            at += 2;
            continue;
        }
        let mut begin = at;
        for filler in ["of", "th"] {
            if begin > 0 && words[begin - 1] == filler {
                begin -= 1;
            }
        }
        if begin > 0 && is_day(&words[begin - 1]) {
            begin -= 1;
            let (month, day) = (words[at].clone(), words[begin].clone());
            if begin > 0 && words[begin - 1] == "the" {
                begin -= 1;
            }
            words.splice(begin..=at, [month, day]);
            at = begin + 2;
        } else {
            at += 1;
        }
    }
}

/// `do not … anymore` as `no longer …`.
fn no_longer(words: &mut Vec<String>) {
    // At the end it is about the verb; elsewhere it may be about how much.
    let Some(end) = words.iter().rposition(|word| word == "anymore").filter(|end| end + 1 == words.len()) else {
        return;
    };
    let found = words.windows(2).position(|pair| matches!(pair[0].as_str(), "do" | "does") && pair[1] == "not");
    let Some(at) = found.filter(|at| at + 2 < end) else { return };
    if words[at] == "does" {
        words[at + 2] = inflect::forms(&words[at + 2])[1].clone();
    }
    words.remove(end);
    words[at] = "no".to_owned();
    words[at + 1] = "longer".to_owned();
}

/// With a length or a beginning, `have lived` and `have been living` are the same; without one they are not.
fn going_on(words: &mut Vec<String>) {
    let Some(at) = words.iter().position(|word| word == "have" || word == "has") else { return };
    let going = words.get(at + 1).is_some_and(|word| word == "been");
    let verb = at + if going { 2 } else { 1 };
    let Some(form) = words.get(verb).cloned() else { return };
    let stem = inflect::stem(&form).to_owned();
    let tail = &words[verb..];
    let length = tail
        .iter()
        .position(|word| word == "for")
        .is_some_and(|at| tail[at..].iter().take(4).any(|word| LENGTHS.contains(&word.as_str())));
    // What was begun and is not done yet differs from what is done, unless it never is: one lives, and does not finish living.
    let beginning = tail.iter().any(|word| word == "since") && LASTING.contains(&stem.as_str());
    if (length || beginning)
        && (going && form.ends_with("ing") || !going && form != "been" && inflect::past_of(&form).is_some())
    {
        words.splice(at + 1..=verb, [format!("{stem}…")]);
    }
}

const LENGTHS: [&str; 12] =
    ["year", "years", "month", "months", "week", "weeks", "day", "days", "hour", "hours", "decades", "ages"];
/// Stems of verbs for what lasts.
const LASTING: [&str; 10] = ["liv", "work", "stay", "study", "teach", "play", "wait", "us", "sleep", "train"];
