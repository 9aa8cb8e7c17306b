//! "Frida is eleven and needs drops": two facts with one subject, which the second is given back.

use super::super::super::lex::Token;
use super::super::super::verbs;
use super::{Sides, is_own, long_enough, person_in};

/// Words on the left that reach over the joint: in "I like to read and write" the second verb is no statement.
#[rustfmt::skip]
const REACHING: &[&str] = &[
    "to", "can", "can't", "cannot", "will", "would", "could", "should", "must", "might", "may", "i'll", "i'd", "we'll", "we'd", "let",
    "help", "helps", "make", "makes", "who", "which", "that", "if", "when", "because", "while", "where", "than", "both", "either",
];

/// Verbs that are things as often.
#[rustfmt::skip]
const THINGS: &[&str] = &[
    "call", "care", "climb", "cook", "dance", "drink", "help", "hike", "hope", "look", "love", "paint", "play", "read", "ride",
    "run", "share", "sleep", "swim", "travel", "use", "visit", "walk", "watch", "work", "start", "end", "cost", "change", "offer",
    "move", "turn", "stop", "show", "point", "count", "cover",
];

/// The subject that the right side shares with the left, where both tell how things are.
pub(super) fn subject(sides: &Sides<'_>) -> Option<String> {
    let first = sides.left.first()?;
    if !(sides.joint.is("and") || sides.joint.is("but"))
        || sides.left.iter().any(|t| REACHING.contains(&t.lower.as_str()))
    {
        return None;
    }
    let own = matches!(first.lower.as_str(), "i" | "i'm" | "im" | "we" | "we're");
    let subject = if own {
        if first.lower.starts_with('i') { "I".to_owned() } else { "we".to_owned() }
    } else if is_own(&first.lower) && !matches!(first.lower.as_str(), "my" | "our") {
        return None;
    } else {
        person_in(sides.text, sides.left)
            .filter(|_| main_verb(sides.left).is_some_and(|verb| is_present(verb, false)))?
    };
    let left = if matches!(first.lower.as_str(), "i" | "we") {
        sides
            .left
            .iter()
            .skip(1)
            .find(|token| !verbs::is_adverb(&token.lower))
            .is_some_and(|t| is_present(&t.lower, true))
    } else {
        true
    };
    let right = sides.right.iter().find(|token| !verbs::is_adverb(&token.lower))?;
    let at = sides.right.iter().position(|token| token.span == right.span)?;
    let next = sides.right.get(at + 1).map_or("", |token| token.lower.as_str());
    let thing = THINGS
        .iter()
        .any(|thing| right.lower.strip_prefix(thing).is_some_and(|end| matches!(end, "" | "s" | "es")))
        && matches!(next, "in" | "of" | "on" | "with" | "by" | "for" | "along" | "together" | "and" | "," | "." | "");
    let apart = long_enough(sides.right) && !sides.points_back();
    (left && is_present(&right.lower, own) && !thing && apart).then_some(subject)
}

fn main_verb(tokens: &[Token]) -> Option<&str> {
    tokens.iter().skip(1).map(|token| token.lower.as_str()).find(|word| verbs::is_finite(word))
}

/// A verb of what is so: the bare form for "I" and "we", an "s" for everybody else.
fn is_present(word: &str, own: bool) -> bool {
    if own {
        return verbs::is_common(word) || matches!(word, "am" | "are" | "have" | "don't" | "haven't");
    }
    let ends = word.ends_with('s') && !word.contains('\'') && verbs::is_finite(word) && !verbs::is_past(word);
    ends && word != "was" || matches!(word, "isn't" | "doesn't" | "hasn't")
}
