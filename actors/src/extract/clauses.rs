//! One sentence, two facts: split where it is safe, and the openings that say nothing taken off.

use super::lex::{self, Kind, Token};
use super::verbs;

/// Words that open a sentence and say nothing. The first list needs a mark behind it, the second does not.
#[rustfmt::skip]
const MARKED: &[&str] = &[
    "yes", "yeah", "yep", "yup", "no", "nope", "nah", "ok", "okay", "well", "oh", "ah", "hey", "hi", "hello", "wow",
    "sure", "right", "so", "anyway", "anyways", "by the way", "btw", "fyi", "as you know", "honestly",
    "to be honest", "tbh", "of course", "haha", "lol", "thanks", "thank you", "great", "cool", "nice", "perfect",
    "good morning", "good evening", "good question", "sorry", "unfortunately", "hmm", "hm", "um", "note", "update",
    "fun fact", "just so you know", "for the record", "for context", "as i said", "as mentioned", "as i mentioned",
    "like i said", "speaking of which", "good news", "bad news", "guess what", "aw", "aww", "totally", "exactly",
    "definitely", "actually", "correction", "i changed my mind", "i've changed my mind", "scratch that", "wait",
    "i meant", "i agree", "hi there", "hey there", "true", "same here", "me too", "and", "but", "luckily",
    "fortunately", "sadly", "as for me", "for me", "also", "woohoo", "yay", "c'mon", "ah ha ha", "ha ha", "omg", "anyhow",
    "personally", "lately", "agreed", "yea",
];
#[rustfmt::skip]
const UNMARKED: &[&str] = &[
    "actually", "also", "oh", "remember that", "please remember that", "note that", "please note that",
    "keep in mind that", "please keep in mind that", "as for me", "just so you know",
    "i wanted to let you know that", "i want you to know that", "you should know that", "i just wanted to say that",
    "i just wanted to mention that", "i should mention that", "i forgot to mention that", "by the way", "btw", "fyi",
    "i mean", "it turns out that", "it turns out", "turns out", "i have to say that", "i have to say", "i must say",
    "i think that", "i changed my mind and", "and", "but", "so", "yeah", "well",
];

/// Without the words at its beginning that carry nothing; a name of somebody else before a comma is one of them.
pub(super) fn opened<'a>(sentence: &'a str, names: &[String]) -> &'a str {
    let mut rest = sentence;
    // Each round takes at least one word; a sentence that is all openings is small talk and was dropped before.
    for _ in 0..6 {
        let Some(at) = opening(rest, names) else {
            break;
        };
        if rest[at..].trim().is_empty() {
            break;
        }
        rest = rest[at..].trim_start();
    }
    rest
}

/// Where the opening ends.
fn opening(text: &str, names: &[String]) -> Option<usize> {
    let head_end = text.char_indices().nth(60).map_or(text.len(), |(at, _)| at);
    let tokens = lex::tokens(&text[..head_end]);
    let longest = tokens.iter().take(7).take_while(|token| token.kind != Kind::Mark).count();
    (1..=longest).rev().find_map(|count| {
        let phrase = tokens[..count].iter().map(|t| t.lower.as_str()).collect::<Vec<_>>().join(" ");
        let end = tokens[count - 1].span.end;
        let mark =
            tokens.get(count).filter(|t| matches!(t.lower.as_str(), "," | ":" | "-" | "–" | "—" | "!" | "." | "…"));
        let marked = MARKED.contains(&phrase.as_str()) || names.contains(&phrase) || greets(&phrase, names);
        match mark {
            Some(mark) if marked => Some(mark.span.end),
            None if UNMARKED.contains(&phrase.as_str())
                && tokens.len() > count
                && (count > 1 || begins(&tokens[0], &tokens[1])) =>
            {
                Some(end)
            }
            _ => None,
        }
    })
}

/// "So I moved" but not "so much"; "but my dog" but not "but for".
fn begins(opening: &Token, next: &Token) -> bool {
    let joins = matches!(opening.lower.as_str(), "so" | "and" | "but" | "yeah" | "well" | "oh");
    !joins
        || matches!(
            next.lower.as_str(),
            "i" | "i'm"
                | "i've"
                | "i'll"
                | "my"
                | "we"
                | "we're"
                | "our"
                | "he"
                | "she"
                | "the"
                | "by"
                | "actually"
                | "instead"
                | "then"
                | "now"
                | "last"
                | "this"
                | "yesterday"
        )
}

fn greets(phrase: &str, names: &[String]) -> bool {
    phrase.split_once(' ').is_some_and(|(hey, name)| {
        matches!(hey, "hey" | "hi" | "hello" | "thanks" | "yeah" | "wow" | "yes")
            && (names.iter().any(|n| n == name) || !name.contains(' '))
    })
}

/// The statements of one English sentence.
pub(super) fn split(sentence: &str) -> Vec<&str> {
    let tokens = lex::tokens(sentence);
    if tokens.first().is_none_or(|first| subordinate(&first.lower)) {
        return vec![sentence];
    }
    let mut parts = Vec::new();
    let mut from = 0;
    for i in 1..tokens.len() {
        let Some(skip) = cut_here(&tokens, i) else {
            continue;
        };
        let left = &tokens[first_of(&tokens, from)..i];
        let right = &tokens[i + skip..];
        if stands_alone(left) && stands_alone(right) {
            parts.push(sentence[from..tokens[i].span.start].trim_end_matches(|c: char| c.is_whitespace() || c == ','));
            from = tokens[i + skip].span.start;
        }
    }
    parts.push(&sentence[from..]);
    parts
}

fn first_of(tokens: &[Token], from: usize) -> usize {
    tokens.partition_point(|token| token.span.start < from)
}

/// How many tokens join the two statements, if two can meet here.
fn cut_here(tokens: &[Token], i: usize) -> Option<usize> {
    let skip = match tokens[i].lower.as_str() {
        "and" | "but" => 1,
        ";" => 1,
        _ => return None,
    };
    let subject = tokens.get(i + skip)?;
    matches!(subject.lower.as_str(), "i" | "i'm" | "i've" | "i'll" | "my").then_some(skip)
}

/// Subject and verb are there, so nothing is torn apart ("my sister | and I live").
fn stands_alone(tokens: &[Token]) -> bool {
    let words: Vec<&str> = tokens.iter().filter(|t| t.kind == Kind::Word).map(|t| t.lower.as_str()).collect();
    let Some(first) = words.first() else {
        return false;
    };
    let pronoun = matches!(
        *first,
        "i" | "i'm" | "i've" | "i'll" | "we" | "we're" | "we've" | "he" | "she" | "they" | "my" | "our"
    );
    let glued = first.contains('\'');
    let enough = words.len() >= 3 || glued && words.len() >= 2;
    let verb = glued
        || *first == "i"
        || words
            .iter()
            .skip(1)
            .any(|word| verbs::is_verb(word) || word.len() > 4 && word.ends_with('s') && *first == "my");
    // "I think that … and I …", "when I …": the second may hang on the first.
    let hangs = words.iter().any(|word| {
        matches!(
            *word,
            "if" | "because" | "when" | "while" | "that" | "whether" | "unless" | "between" | "both" | "until" | "than"
        )
    });
    pronoun && enough && verb && !hangs
}

fn subordinate(word: &str) -> bool {
    matches!(
        word,
        "if" | "when"
            | "while"
            | "because"
            | "although"
            | "though"
            | "since"
            | "as"
            | "after"
            | "before"
            | "once"
            | "unless"
            | "until"
            | "whenever"
            | "between"
            | "both"
    )
}

/// The statement in front of a question: "I live in Porto, what is good there?" gives "I live in Porto".
pub(super) fn before_question(sentence: &str) -> Option<&str> {
    let tokens = lex::tokens(sentence);
    let at = tokens.windows(2).position(|pair| {
        matches!(pair[0].lower.as_str(), "," | "-" | "–" | "—" | ";")
            && matches!(
                pair[1].lower.as_str(),
                "what"
                    | "what's"
                    | "how"
                    | "which"
                    | "where"
                    | "can"
                    | "could"
                    | "would"
                    | "do"
                    | "should"
                    | "is"
                    | "are"
                    | "any"
                    | "why"
                    | "who"
            )
    })?;
    let left = &tokens[..at];
    let mine =
        left.first().is_some_and(|t| matches!(t.lower.as_str(), "i" | "i'm" | "i've" | "my" | "we" | "we're" | "our"));
    (mine && left.len() >= 4).then(|| sentence[..tokens[at].span.start].trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    // A split in the wrong place makes two wrong memories of one right one.
    #[test]
    fn sentences_split_only_where_both_sides_stand_alone() {
        for (text, parts) in [
            ("I'm vegetarian and I'm allergic to peanuts.", vec!["I'm vegetarian", "I'm allergic to peanuts."]),
            (
                "I prefer window seats, and I never check in luggage.",
                vec!["I prefer window seats", "I never check in luggage."],
            ),
            (
                "My bank is Millennium and my salary arrives on the 25th.",
                vec!["My bank is Millennium", "my salary arrives on the 25th."],
            ),
            ("My sister and I live in Rome.", vec!["My sister and I live in Rome."]),
            ("When I was ten and I lived in Rome, it rained.", vec!["When I was ten and I lived in Rome, it rained."]),
            ("I cook because I like it and I save money.", vec!["I cook because I like it and I save money."]),
        ] {
            assert_eq!(split(text), parts, "{text}");
        }
    }

    // Openings differ every time and would hide that two memories say the same.
    #[test]
    fn openings_are_taken_off() {
        for (text, rest) in [
            ("Yeah, I painted it.", "I painted it."),
            ("Oh, by the way, I moved.", "I moved."),
            ("Well, actually I moved.", "I moved."),
            ("Hey Mel, I moved.", "I moved."),
            ("Mel, I moved.", "I moved."),
            ("Correction: my dog weighs 14 kilos.", "my dog weighs 14 kilos."),
            ("Remember that I'm allergic.", "I'm allergic."),
            ("Yes.", "Yes."),
        ] {
            assert_eq!(opened(text, &["mel".into()]), rest, "{text}");
        }
    }
}
