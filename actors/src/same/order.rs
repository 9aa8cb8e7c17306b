//! The few changes of order that keep the meaning of a statement in plain form.
//!
//! Everything else is another statement: "Alice is taller than Ben", "from York to Hull", "I prefer tea to coffee".

use super::lists::Lists;

/// A part that moves has at most so many words.
const PART_WORDS_MAX: usize = 12;

/// Whether two statements have the same words in an order that means the same.
pub(super) fn same(one: &[String], two: &[String], lists: &Lists) -> bool {
    if one == two {
        return true;
    }
    if one.is_empty() || two.is_empty() {
        return false;
    }
    compound(one, two, lists)
        || compound(two, one, lists)
        || dative(one, two, lists)
        || dative(two, one, lists)
        || (one.len() == two.len() && same_words(one, two))
            && (listed(one, two, lists) || moved(one, two, lists) || moved(two, one, lists))
}

fn same_words(one: &[String], two: &[String]) -> bool {
    let sorted = |words: &[String]| {
        let mut words = words.to_vec();
        words.sort_unstable();
        words
    };
    sorted(one) == sorted(two)
}

fn holds(list: &[&str], word: &str) -> bool {
    list.contains(&word)
}

fn is_time(words: &[String], lists: &Lists) -> bool {
    // A stem of digits is that of a year.
    let begins = |word: &String, stem: &str| {
        word.starts_with(stem) && (word.len() == 4 || !stem.starts_with(|c: char| c.is_ascii_digit()))
    };
    words.iter().any(|word| holds(lists.times, word) || lists.time_stems.iter().any(|stem| begins(word, stem)))
}

/// Two ends of a list, the only thing that changed: `green and orange`.
fn listed(one: &[String], two: &[String], lists: &Lists) -> bool {
    let Some(first) = one.iter().zip(two).position(|(one, two)| one != two) else { return true };
    let last = one.iter().zip(two).rposition(|(one, two)| one != two).unwrap_or(first);
    let (part, other) = (&one[first..=last], &two[first..=last]);
    // At the beginning or the end of the whole, or else what follows could belong to the last of them alone.
    if first > 0 && last + 1 < one.len() && !holds(lists.openers, &one[last + 1]) {
        return false;
    }
    let Some(and) = part.iter().position(|word| holds(lists.ands, word)) else { return false };
    let (left, right) = (&part[..and], &part[and + 1..]);
    // `my mother and my father`, but not two things done one after the other.
    let alike = left.len() == 1 || left.len() == 2 && left[0] == right[0];
    left.len() == right.len()
        && alike
        && !left.iter().chain(right).any(|word| holds(lists.clauses, word) || holds(lists.openers, word))
        && [right, &part[and..=and], left].concat() == other
}

/// One part stands elsewhere: one at the front or the end at the other of the two, one that is nothing but time anywhere.
fn moved(one: &[String], two: &[String], lists: &Lists) -> bool {
    // Of two things that happen, a time says when the one or the other did.
    if one.iter().any(|word| REPORTS.contains(&word.as_str())) {
        return false;
    }
    for begin in 0..one.len() {
        // What stands after "when" or "and" belongs there, unless the whole clause moves.
        if one[..begin].iter().any(|word| holds(lists.clauses, word)) {
            break;
        }
        for end in begin + 1..=one.len().min(begin + PART_WORDS_MAX) {
            let (part, rest) = (&one[begin..end], [&one[..begin], &one[end..]].concat());
            let clause = holds(lists.clauses, &part[0]);
            if !rest.is_empty()
                && (clause || !part.iter().any(|word| holds(lists.clauses, word)))
                && fits(part, &rest, lists)
                && places(begin, end, one, lists).any(|at| reads([&rest[..at], part, &rest[at..]], two))
            {
                return true;
            }
        }
    }
    trailing(one, two, lists)
}

/// Whether parts, one behind the other, are these words. Nothing is copied: it is asked for every place of every part.
fn reads(parts: [&[String]; 3], mut words: &[String]) -> bool {
    for part in parts {
        match words.strip_prefix(part) {
            Some(rest) => words = rest,
            None => return false,
        }
    }
    words.is_empty()
}

/// Begin a clause of their own, often without a word between.
const REPORTS: [&str; 10] = ["tell", "told", "say", "said", "says", "think", "thought", "hope", "promise", "promised"];

/// Where in the rest a part may stand.
fn places(begin: usize, end: usize, words: &[String], lists: &Lists) -> impl Iterator<Item = usize> {
    let (part, rest) = (&words[begin..end], words.len() - (end - begin));
    let opens = part.len() > 1 && (holds(lists.openers, &part[0]) || holds(lists.clauses, &part[0]));
    let often = part[0].chars().all(char::is_numeric) && is_time(part, lists);
    let edge = (begin == 0 || end == words.len()) && (opens || often || is_time(&part[..1], lists));
    let anywhere = part.iter().all(|word| {
        is_time(std::slice::from_ref(word), lists)
            || holds(lists.openers, word)
            || word.chars().all(char::is_numeric)
            || TIME_PARTS.contains(&word.as_str())
    }) && is_time(part, lists);
    (0..=rest).filter(move |at| anywhere || edge && (*at == 0 || *at == rest))
}

/// Stand before a word of time and belong to it.
const TIME_PARTS: [&str; 8] = ["last", "next", "this", "other", "early", "late", "nächsten", "letzten"];

/// A part of time moves as a whole: what is left must not begin or end in a bare preposition.
fn fits(part: &[String], rest: &[String], lists: &Lists) -> bool {
    let bare =
        |words: &[String]| words.last().is_some_and(|word| holds(lists.openers, word) || holds(lists.ands, word));
    !bare(part) && !bare(rest)
}

/// The last two parts have changed places: `with Nadia about the budget`, `in Dover in 2015`.
fn trailing(one: &[String], two: &[String], lists: &Lists) -> bool {
    let Some(first) = one.iter().zip(two).position(|(one, two)| one != two) else { return true };
    let tail = &one[first..];
    let begins = holds(lists.openers, &tail[0]) && !one[..first].iter().any(|word| holds(lists.clauses, word));
    begins
        && (1..tail.len()).any(|at| {
            let (left, right) = tail.split_at(at);
            let related = [left, right].iter().all(|part| holds(lists.relations, &part[0])) && left[0] != right[0];
            (related || is_time(left, lists) != is_time(right, lists))
                && left.len() > 1
                && right.len() > 1
                && holds(lists.openers, &right[0])
                && !tail.iter().any(|word| holds(lists.clauses, word))
                && [right, left].concat() == two[first..]
        })
}

/// `the password for the wifi` and `the wifi password`, `the wedding of my sister` and `my sister's wedding`: `one` has the longer
/// form.
fn compound(one: &[String], two: &[String], lists: &Lists) -> bool {
    lists.compounds.iter().any(|(of, marked)| {
        let mark: Vec<String> = (!marked.is_empty()).then(|| (*marked).to_owned()).into_iter().collect();
        if one.len() + mark.len() != two.len() + 1 {
            return false;
        }
        (1..one.len()).filter(|at| one[*at] == *of).any(|at| {
            (at + 2..=one.len().min(at + 4)).any(|end| {
                let (part, rest) = (&one[at + 1..end], &one[end..]);
                // The word right before it, or with one more, is what it is of.
                (at.saturating_sub(2)..at)
                    .any(|begin| [&one[..begin], part, &mark, &one[begin..at], rest].concat() == two)
            })
        })
    })
}

/// `gave the laptop to my brother` and `gave my brother the laptop`: `one` has the longer form.
fn dative(one: &[String], two: &[String], lists: &Lists) -> bool {
    if one.len() != two.len() + 1 {
        return false;
    }
    let verbs = (0..one.len()).filter(|at| holds(lists.datives, &one[*at]));
    verbs.into_iter().any(|verb| {
        (verb + 2..one.len()).filter(|at| one[*at] == "to").any(|to| {
            (to + 2..=one.len().min(to + 4))
                .any(|end| [&one[..=verb], &one[to + 1..end], &one[verb + 1..to], &one[end..]].concat() == two)
        })
    })
}

/// Marks a possessor in English.
pub(super) const POSSESSIVE: &str = "'s";
