//! What is taken off a sentence before it is read: openings and tails that say nothing, and a question behind a statement.

use super::filler;
use super::lex::{self, Kind, Token};

mod foreign;
mod split;

pub(super) use foreign::split_foreign;
pub(super) use split::{person_in, split};

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
    "personally", "lately", "agreed", "yea", "small correction", "quick correction", "change of plans", "change of plan",
    "small update", "quick update", "big news", "quick note", "long story short", "for next time", "next time", "to be fair", "in other news", "in short", "question", "quick question",
    "no wait", "oh wait", "one more thing", "heads up",
];
#[rustfmt::skip]
const UNMARKED: &[&str] = &[
    "actually", "also", "oh", "remember that", "please remember that", "note that", "please note that",
    "keep in mind that", "please keep in mind that", "as for me", "just so you know",
    "i wanted to let you know that", "i want you to know that", "you should know that", "i just wanted to say that",
    "i just wanted to mention that", "i should mention that", "i forgot to mention that", "by the way", "btw", "fyi",
    "i mean", "it turns out that", "it turns out", "turns out", "i have to say that", "i have to say", "i must say",
    "i think that", "i changed my mind and", "and", "but", "so", "yeah", "well", "ok", "okay", "yes", "hey", "hi", "yep",
    "nah", "nope", "anyway", "anyways", "plus",
    "oh and", "ok so", "okay so", "yeah so", "well so", "and also", "right so",
];

/// What people hang on behind a comma, or at the very end.
const TAILS: &[&str] = &[
    "like i told you",
    "as i told you",
    "like i said",
    "as i said",
    "as i mentioned",
    "as mentioned",
    "as you know",
    "by the way",
    "btw",
    "lol",
    "haha",
    "tbh",
    "thanks",
    "thank you",
    "thx",
    "you know",
    "just so you know",
    "fyi",
    "seriously",
    "to be honest",
    "i guess",
    "i think",
    "remember",
    "right",
    "ok",
    "okay",
];

/// Without a tail that says nothing; where it stood is the end.
pub(super) fn untailed(sentence: &str) -> &str {
    let tokens = lex::tokens(sentence);
    let words = tokens.iter().rposition(|token| token.kind != Kind::Mark).map_or(0, |last| last + 1);
    (1..=4.min(words.saturating_sub(3)))
        .rev()
        .find_map(|count| {
            let first = words - count;
            let phrase = tokens[first..words].iter().map(|t| t.lower.as_str()).collect::<Vec<_>>().join(" ");
            let apart = tokens[first - 1].kind == Kind::Mark
                || matches!(phrase.as_str(), "btw" | "lol" | "tbh" | "haha" | "thx");
            (apart && TAILS.contains(&phrase.as_str())).then(|| {
                let end = tokens[first].span.start;
                sentence[..end]
                    .trim_end_matches(|c: char| c.is_whitespace() || matches!(c, ',' | '-' | '–' | '—' | '('))
            })
        })
        .unwrap_or(sentence)
}

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
        let marked = empty_words(&tokens[..count]) || names.contains(&phrase) || greets(&phrase, names);
        match mark {
            Some(mark) if marked => Some(mark.span.end),
            None if count == 1 && tokens.len() > 1 && filler::is_interjection(&phrase) => Some(end),
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

/// One empty phrase or several in a row: "lol yes exactly".
fn empty_words(tokens: &[Token]) -> bool {
    tokens.is_empty()
        || (1..=tokens.len()).any(|count| {
            let phrase = tokens[..count].iter().map(|t| t.lower.as_str()).collect::<Vec<_>>().join(" ");
            (MARKED.contains(&phrase.as_str()) || filler::is_interjection(&phrase)) && empty_words(&tokens[count..])
        })
}

/// "So I moved" but not "so much"; "but my dog" but not "but for".
fn begins(opening: &Token, next: &Token) -> bool {
    const JOINING: &[&str] = &[
        "so", "and", "but", "yeah", "well", "oh", "ok", "okay", "yes", "hey", "hi", "yep", "nah", "nope", "anyway",
        "anyways", "plus",
    ];
    let joins = JOINING.contains(&opening.lower.as_str());
    !joins
        || matches!(
            next.lower.as_str(),
            "i" | "i'm"
                | "i've"
                | "i'll"
                | "im"
                | "my"
                | "we"
                | "we're"
                | "our"
                | "he"
                | "she"
                | "so"
                | "still"
                | "that"
                | "that's"
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

/// The statement in front of a question: "I live in Porto, what is good there?" gives "I live in Porto".
pub(super) fn before_question(sentence: &str) -> Option<&str> {
    let tokens = lex::tokens(sentence);
    let at = (1..tokens.len()).find(|at| {
        let rest = &sentence[tokens[*at].span.end..];
        matches!(tokens[*at].lower.as_str(), "," | "-" | "–" | "—" | ";") && filler::asks(&lex::plain(rest))
    })?;
    let left = &tokens[..at];
    let mine = left.first().is_some_and(|t| {
        matches!(t.lower.as_str(), "i" | "i'm" | "im" | "i've" | "my" | "we" | "we're" | "we've" | "our")
    });
    (mine && left.len() >= 4).then(|| sentence[..tokens[at].span.start].trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

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
