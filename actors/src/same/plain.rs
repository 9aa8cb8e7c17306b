//! A statement in plain form: what carries no meaning left out, what is written in several ways written in one.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{Arc, LazyLock, Mutex, PoisonError},
};

use unicode_normalization::UnicodeNormalization;

use super::{Author, WORDS_MAX, english::ENGLISH, grammar, inflect, lists::Lists, order, voice};

/// A statement in plain form.
#[derive(Debug)]
pub(super) struct Form {
    /// Everything run together.
    joined: String,
    /// It speaks of the user in the third person, and the user was left out.
    of_user: bool,
    /// Its words, in the passive and in the active.
    readings: Vec<Vec<String>>,
    /// The same with what is said of the user said by himself.
    own_readings: Vec<Vec<String>>,
}

/// None of a statement that is too long.
pub(super) fn form(text: &str, lists: &'static Lists, author: Author) -> Option<Form> {
    let tokens = tokens(text, lists);
    if tokens.len() > WORDS_MAX {
        return None;
    }
    let joined = joined(&tokens);
    let (words, of_user) = plain(tokens, &prepared(lists), author);
    let own = if of_user { first_person(&words, lists) } else { Vec::new() };
    let voices = |all: Vec<Vec<String>>| all.into_iter().flat_map(|words| voice::readings(words, lists)).collect();
    Some(Form { joined, of_user, readings: voices(vec![words]), own_readings: voices(own) })
}

/// Whether two statements of a language with spaces say the same.
pub(super) fn same(one: &Form, two: &Form, lists: &Lists) -> bool {
    if one.joined == two.joined {
        return true;
    }
    // Of two that both name the user, or neither, nobody need be somebody else.
    let readings = |form: &Form, other: &Form| form.of_user && !other.of_user;
    let ones = if readings(one, two) { &one.own_readings } else { &one.readings };
    let twos = if readings(two, one) { &two.own_readings } else { &two.readings };
    ones.iter().any(|one| twos.iter().any(|two| order::same(one, two, lists)))
}

/// What else could stand for a statement's words.
pub(super) fn other_words(form: &Form, lists: &'static Lists) -> Vec<String> {
    let prepared = prepared(lists);
    let words = form.readings.iter().chain(&form.own_readings).flatten();
    let words: BTreeSet<&String> = words.filter_map(|word| prepared.others.get(word)).flatten().collect();
    words.into_iter().cloned().collect()
}

/// A language's lists, ready to be looked up.
pub(super) struct Prepared {
    lists: &'static Lists,
    words: HashMap<String, Vec<String>>,
    /// The other way round: every word that is written as another, and that other itself.
    others: HashMap<String, Vec<String>>,
    numbers: HashMap<&'static str, Vec<String>>,
    phrases: Vec<(Vec<String>, Vec<String>)>,
    /// Numbers of the phrases that begin with a word.
    beginning: HashMap<String, Vec<usize>>,
}

/// Made once a language.
fn prepared(lists: &'static Lists) -> Arc<Prepared> {
    static MADE: LazyLock<Mutex<HashMap<&'static str, Arc<Prepared>>>> = LazyLock::new(Mutex::default);
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    Arc::clone(made.entry(lists.name).or_insert_with(|| Arc::new(prepare(lists))))
}

fn prepare(lists: &'static Lists) -> Prepared {
    let split = |text: &str| -> Vec<String> {
        fold(text).split(' ').filter(|word| !word.is_empty()).map(str::to_owned).collect()
    };
    let mut words = HashMap::new();
    for group in lists.synonyms {
        let group = split(group);
        for word in &group[1..] {
            words.insert(word.clone(), vec![group[0].clone()]);
        }
    }
    for group in lists.verbs {
        let mut bases = group.split(' ');
        let Some(first) = bases.next().map(inflect::forms) else { continue };
        for form in bases.map(inflect::forms) {
            for (form, first) in form.into_iter().zip(&first) {
                words.entry(form).or_insert_with(|| vec![first.clone()]);
            }
        }
    }
    let mut others: HashMap<String, Vec<String>> = HashMap::new();
    for (word, first) in &words {
        let first: &Vec<String> = first;
        let others = others.entry(first[0].clone()).or_insert_with(|| first.clone());
        others.push(word.clone());
    }
    let mut phrases: Vec<_> = lists.phrases.iter().map(|(from, to)| (split(from), split(to))).collect();
    if lists.name == ENGLISH.name {
        phrases.extend(grammar::light_verbs());
    }
    let numbers = lists.numbers.iter().map(|(word, number)| (*word, split(number))).collect();
    let mut beginning: HashMap<String, Vec<usize>> = HashMap::new();
    for (number, (from, _)) in phrases.iter().enumerate() {
        beginning.entry(from[0].clone()).or_default().push(number);
    }
    Prepared { lists, words, others, numbers, phrases, beginning }
}

/// Lower case and compatibility forms, one kind of apostrophe and dash, ё as е.
fn fold(text: &str) -> String {
    let lower = text.nfkc().flat_map(char::to_lowercase);
    lower
        .map(|c| match c {
            '’' | '‘' | '`' | '´' => '\'',
            '–' | '—' | '−' => '-',
            'ё' => 'е',
            other => other,
        })
        .collect()
}

/// Words, numbers and the signs that change something, in order.
pub(super) fn tokens(text: &str, lists: &Lists) -> Vec<String> {
    let folded = fold(text).replace("a.m.", "a.m").replace("p.m.", "p.m");
    let chars: Vec<char> = folded.chars().collect();
    let mut tokens: Vec<String> = Vec::new();
    let mut at = 0;
    while at < chars.len() {
        let (c, before) = (chars[at], at.checked_sub(1).map(|at| chars[at]));
        let next = |offset: usize| chars.get(at + offset).copied().unwrap_or(' ');
        if c.is_numeric() {
            let end =
                run(&chars, at, |c, next| c.is_numeric() || (matches!(c, '.' | ',' | ':' | '/') && next.is_numeric()));
            tokens.push(number(&chars[at..end], lists.thousands));
            at = end;
        } else if c.is_alphabetic() {
            let end = run(&chars, at, |c, next| {
                c.is_alphabetic() || is_mark(c) || (matches!(c, '\'' | '.') && next.is_alphabetic())
            });
            word(&chars[at..end].iter().collect::<String>(), lists, &mut tokens);
            at = end;
        } else {
            let minus = matches!(c, '-' | '.' | ',') && next(1).is_numeric() && before.is_none_or(char::is_whitespace);
            // Spaces and the signs around words say nothing; any other sign may.
            if minus
                || !(c.is_whitespace()
                    || c.is_control()
                    || matches!(c, '-' | '.' | ',' | ';' | ':' | '!' | '¡' | '¿')
                    || is_bracket(c))
            {
                tokens.push(sign(c));
            }
            at += 1;
        }
    }
    money(&mut tokens);
    tokens
}

fn is_mark(c: char) -> bool {
    ('\u{300}'..='\u{36f}').contains(&c)
}

fn is_bracket(c: char) -> bool {
    matches!(c, '"' | '\'' | '(' | ')' | '[' | ']' | '«' | '»' | '“' | '”' | '„' | '…' | '‹' | '›' | '_' | '*')
}

fn sign(c: char) -> String {
    match c {
        '&' => "and".to_owned(),
        other => other.to_string(),
    }
}

/// Where a run that `goes_on` through a character, given the one after, ends.
fn run(chars: &[char], from: usize, goes_on: impl Fn(char, char) -> bool) -> usize {
    let rest = chars[from..].iter().enumerate();
    let mut rest = rest.map(|(at, c)| (from + at, goes_on(*c, chars.get(from + at + 1).copied().unwrap_or(' '))));
    rest.find(|(_, goes_on)| !goes_on).map_or(chars.len(), |(at, _)| at)
}

/// `2,000` as `2000`, `9:00` as `9`.
fn number(chars: &[char], thousands: char) -> String {
    let text: String = chars.iter().collect();
    let mut groups = text.split(thousands);
    let first =
        groups.next().is_some_and(|group| (1..=3).contains(&group.len()) && group.chars().all(char::is_numeric));
    let mut rest = groups.clone().peekable();
    let grouped =
        first && rest.peek().is_some() && groups.all(|group| group.len() == 3 && group.chars().all(char::is_numeric));
    if grouped {
        return text.replace(thousands, "");
    }
    text.strip_suffix(":00").map_or(text.clone(), str::to_owned)
}

/// A word, taken apart where two are written as one.
fn word(word: &str, lists: &Lists, tokens: &mut Vec<String>) {
    let after_number = tokens.last().is_some_and(|last| last.ends_with(char::is_numeric));
    let mut push = |word: &str| {
        if !word.is_empty() {
            tokens.push(word.to_owned());
        }
    };
    if after_number && matches!(word, "am" | "a.m" | "pm" | "p.m") {
        return push(if word.starts_with('a') { "a.m." } else { "p.m." });
    }
    let word = word.replace('.', "");
    if lists.name != ENGLISH.name {
        return match word.find('\'') {
            Some(at) => {
                push(&word[..=at]);
                push(&word[at + 1..]);
            }
            None => push(&word),
        };
    }
    let (stem, end) = word.find('\'').map_or((word.as_str(), ""), |at| word.split_at(at));
    match (stem, end) {
        ("ca", _) | ("can", "'t") => ["can", "not"].into_iter().for_each(push),
        ("cannot", _) => ["can", "not"].into_iter().for_each(push),
        ("won", "'t") => ["will", "not"].into_iter().for_each(push),
        ("let", "'s") => ["let", "us"].into_iter().for_each(push),
        (_, "'t") if stem.ends_with('n') => [&stem[..stem.len() - 1], "not"].into_iter().for_each(push),
        (_, "'re") => [stem, "are"].into_iter().for_each(push),
        (_, "'m") => [stem, "am"].into_iter().for_each(push),
        (_, "'ve") => [stem, "have"].into_iter().for_each(push),
        (_, "'ll") => [stem, "will"].into_iter().for_each(push),
        _ => [stem, end].into_iter().for_each(push),
    }
}

/// `$2000` and `2000$` as `2000 dollars`.
fn money(tokens: &mut [String]) {
    for at in 0..tokens.len() {
        let name = match tokens[at].as_str() {
            "$" => "dollars",
            "€" => "euros",
            "£" => "pounds",
            _ => continue,
        };
        tokens[at] = name.to_owned();
        if tokens.get(at + 1).is_some_and(|next| next.starts_with(char::is_numeric)) {
            tokens.swap(at, at + 1);
        }
    }
}

/// Everything run together, numbers kept apart: `part-time` is `part time`, and `10 12` is not `1012`.
fn joined(tokens: &[String]) -> String {
    let mut joined = String::new();
    for token in tokens {
        if joined.ends_with(char::is_numeric) && token.starts_with(char::is_numeric) {
            joined.push(' ');
        }
        joined.push_str(token);
    }
    joined
}

/// The words, and whether the user was left out of them.
fn plain(tokens: Vec<String>, prepared: &Prepared, author: Author) -> (Vec<String>, bool) {
    let lists = prepared.lists;
    let english = lists.name == ENGLISH.name;
    let mut words = if english { grammar::before(tokens, author) } else { tokens };
    words = numbers(words, prepared);
    phrases(&mut words, prepared);
    let words = words.into_iter().flat_map(|word| prepared.words.get(&word).cloned().unwrap_or_else(|| vec![word]));
    let mut words: Vec<String> = words.collect();
    let of_user = author == Author::Anyone && words.iter().any(|word| word == USER);
    if author == Author::Anyone {
        words.retain(|word| word != USER);
    }
    if english {
        grammar::after(&mut words);
    }
    // The last word of all may be a part of the verb: in German `ein` is.
    let last = words.pop();
    words.retain(|word| !lists.empty.contains(&word.as_str()));
    words.extend(last);
    (words, of_user)
}

/// Stands for "the user" where a language leaves out its "I".
const USER: &str = "§";

/// Replaces phrases in the order of their list, looking only at those whose first word is there.
fn phrases(words: &mut Vec<String>, prepared: &Prepared) {
    let beginning = |word: &String| prepared.beginning.get(word).into_iter().flatten().copied();
    let mut due: BTreeSet<usize> = words.iter().flat_map(beginning).collect();
    while let Some(number) = due.pop_first() {
        let (from, to) = &prepared.phrases[number];
        let mut at = 0;
        while let Some(found) = (at..words.len()).find(|at| words[*at..].starts_with(from)) {
            words.splice(found..found + from.len(), to.iter().cloned());
            at = found + to.len();
            due.extend(to.iter().flat_map(beginning).filter(|later| *later > number));
        }
    }
}

/// Number words as digits: `twenty five` as 25, `two thousand` as 2000.
fn numbers(words: Vec<String>, prepared: &Prepared) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut last_was_word = false;
    for word in words {
        let Some(number) = prepared.numbers.get(word.as_str()) else {
            last_was_word = false;
            out.push(word);
            continue;
        };
        let value = |text: &str| text.parse::<u64>().ok();
        let before = out.last().and_then(|last| value(last));
        match (before, value(&number[0])) {
            (Some(before), Some(unit)) if matches!(unit, 100 | 1_000 | 1_000_000) && before < 1_000 => {
                out.pop();
                out.push((before * unit).to_string());
            }
            (Some(tens), Some(unit)) if last_was_word && tens >= 20 && tens % 10 == 0 && tens < 100 && unit < 10 => {
                out.pop();
                out.push((tens + unit).to_string());
                out.extend(number[1..].iter().cloned());
            }
            _ => out.extend(number.iter().cloned()),
        }
        last_was_word = true;
    }
    out
}

/// What somebody says of himself where another says it of the user: the first verb in the first person.
fn first_person(words: &[String], lists: &Lists) -> Vec<Vec<String>> {
    // Where the "I" is written, the verb may be the same; where it is left out, the verb alone says who is meant.
    let mut readings = if lists.drops_i { Vec::new() } else { vec![words.to_vec()] };
    for at in 0..words.len().min(FIRST_VERB_MAX) {
        for (first, third) in lists.persons {
            let changed = match (first.strip_prefix('='), third.strip_prefix('=')) {
                (Some(first), Some(third)) => (words[at] == third).then(|| first.to_owned()),
                _ => words[at]
                    .strip_suffix(third)
                    .filter(|stem| stem.chars().count() >= 2)
                    .map(|stem| format!("{stem}{first}")),
            };
            if let Some(changed) = changed {
                let mut reading = words.to_vec();
                reading[at] = changed;
                readings.push(reading);
            }
        }
    }
    readings
}

/// The verb stands among the first so many words: after a negation, or a time.
const FIRST_VERB_MAX: usize = 3;
