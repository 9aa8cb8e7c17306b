//! What a question is made of, told from its words alone: of several people, several clauses or several things to choose between each is
//! a question that is looked into by itself. Whatever has none of these is one question, and is left as it is.

use unicode_segmentation::UnicodeSegmentation;

use super::question::{folded, is_unspaced, names};
use crate::view::keyword::analyse::terms;

/// Words that join two questions, if one that asks comes after them. A comma alone begins what is said of somebody: "Ann, who paints".
const JOIN: [&str; 11] = [" and ", "; ", " or ", " but ", " y ", " e ", " o ", " и ", " а ", " или ", " но "];
/// Words that ask. The longer ones of a language begin with these.
#[rustfmt::skip]
const ASKING: [&str; 37] = [
    "what", "when", "where", "who", "whom", "whose", "which", "why", "how",
    "qué", "que", "cuándo", "cuando", "dónde", "donde", "quién", "quien", "cuál", "cual", "cómo", "cuánto", "cuántos", "cuántas",
    "что", "какой", "какая", "какие", "какую", "когда", "где", "куда", "кто", "кому", "почему", "зачем", "как", "сколько",
];
/// Words between things of which one is to be chosen, or the time between which is asked for.
const BETWEEN: [&str; 6] = [" or ", " and ", " y ", " o ", " и ", " или "];
/// Words before two things that belong together: "between Lisbon and Porto".
const BRACKETS: [&str; 3] = ["between ", "entre ", "между "];

/// The simpler questions that this one is made of, none if it is one; `people` are the names of those who speak.
pub fn parts(question: &str, people: &[String], most: usize) -> Vec<String> {
    let mut parts = Vec::new();
    let asked = folded(question);
    let about = people.iter().find(|name| names(&asked, &folded(name)));
    for sentence in question.split_inclusive(['?', '？', '؟']) {
        for clause in clauses(sentence) {
            for choice in choices(clause) {
                parts.extend(by_person(&choice, people, about));
            }
        }
    }
    let mut seen = Vec::new();
    parts.retain(|part| {
        let words = terms(part);
        let new = !words.is_empty() && !seen.contains(&words);
        seen.push(words);
        new
    });
    parts.truncate(most);
    if parts.len() < 2 { Vec::new() } else { parts }
}

/// A sentence, cut before each further word that asks where one joins what is asked.
fn clauses(sentence: &str) -> Vec<&str> {
    let lower = lower(sentence);
    let mut cuts: Vec<(usize, usize)> = JOIN
        .iter()
        .flat_map(|join| lower.match_indices(join))
        .map(|(at, join)| (at, at + join.len()))
        .filter(|(at, after)| {
            let next = lower[*after..].unicode_words().next().unwrap_or_default();
            let says = |clause: &str| !terms(clause).is_empty();
            let asks = lower[*after..].starts_with(next) && ASKING.contains(&next);
            asks && says(&lower[..*at]) && says(&lower[*after..])
        })
        .collect();
    cuts.sort_unstable();
    let mut clauses = Vec::new();
    let mut from = 0;
    for (at, after) in cuts {
        if at >= from {
            clauses.push(&sentence[from..at]);
            from = after;
        }
    }
    clauses.push(&sentence[from..]);
    clauses
}

/// In lower case, but for letters that would be longer or shorter: a place in one is a place in the other.
fn lower(text: &str) -> String {
    let same = |c: char| c.to_lowercase().next().filter(|lower| lower.len_utf8() == c.len_utf8()).unwrap_or(c);
    text.chars().map(same).collect()
}

/// A clause for each of the things that it names to choose between; or the clause.
fn choices(clause: &str) -> Vec<String> {
    let lower = lower(clause);
    let bracketed = BRACKETS.iter().find_map(|word| lower.find(word).map(|at| at + word.len()));
    for word in BETWEEN {
        let Some(at) = lower.find(word) else { continue };
        let (before, after) = (&clause[..at], &clause[at + word.len()..]);
        if let Some(from) = bracketed.filter(|from| *from < at) {
            let head = clause[..from].trim_end();
            return vec![format!("{head} {}", &clause[from..at]), format!("{head} {after}")];
        }
        // After a comma stands nothing but the things: "What was first, the wedding or the fair?"
        if matches!(word, " or " | " o " | " или ")
            && let Some(comma) = before.rfind([',', ':'])
        {
            let head = &before[..comma];
            return vec![format!("{head},{}", &before[comma + 1..]), format!("{head}, {after}")];
        }
        let (first, second) = (name_at_end(before), name_at_start(after));
        if !first.is_empty() && !second.is_empty() {
            let (head, tail) = (&before[..before.len() - first.len()], &after[second.len()..]);
            return vec![format!("{head}{first}{tail}"), format!("{head}{second}{tail}")];
        }
    }
    vec![clause.to_owned()]
}

/// The words in capitals that a text ends with.
fn name_at_end(text: &str) -> &str {
    let mut from = text.len();
    for (at, word) in text.split_word_bound_indices().rev() {
        if is_capital(word) && at > 0 {
            from = at;
        } else if word != " " {
            break;
        }
    }
    &text[from..]
}

/// The words in capitals that a text begins with.
fn name_at_start(text: &str) -> &str {
    let mut to = 0;
    for (at, word) in text.split_word_bound_indices() {
        if is_capital(word) {
            to = at + word.len();
        } else if word != " " {
            break;
        }
    }
    &text[..to]
}

fn is_capital(word: &str) -> bool {
    word.chars().next().is_some_and(char::is_uppercase)
}

/// A question for each person that it names, without the others. One that names nobody is about the first whom the whole names: "and when
/// did she marry?"
fn by_person(question: &str, people: &[String], about: Option<&String>) -> Vec<String> {
    let asked = folded(question);
    let named: Vec<String> = people.iter().map(|name| folded(name)).filter(|name| names(&asked, name)).collect();
    match (&named[..], about) {
        ([], Some(about)) => vec![format!("{about}: {}", question.trim_start())],
        ([] | [_], _) => vec![question.to_owned()],
        (several, _) => {
            let alone = |kept: &String| {
                let others = several.iter().filter(|name| *name != kept);
                others.fold(question.to_owned(), |text, name| without(&text, name))
            };
            several.iter().map(alone).collect()
        }
    }
}

/// A text without a name, which is folded, or its first word.
fn without(text: &str, name: &str) -> String {
    if name.chars().all(is_unspaced) {
        return text.replace(name, "");
    }
    let parts: Vec<&str> = name.split_whitespace().collect();
    let is_name = |word: &str| {
        let word = folded(word);
        parts.contains(&word.trim_end_matches("'s").trim_end_matches("’s"))
    };
    text.split_word_bounds().filter(|word| !is_name(word)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(question: &str) -> Vec<String> {
        let people =
            ["Ann".to_owned(), "Bob Miller".to_owned(), "Анна".to_owned(), "さくら".to_owned(), "健太".to_owned()];
        let spaces = |part: String| part.split_whitespace().collect::<Vec<_>>().join(" ");
        parts(question, &people, 4).into_iter().map(spaces).collect()
    }

    #[test]
    fn one_question_is_left_as_it_is() {
        for question in [
            "What does Ann paint?",
            "What does Ann do when it rains and what",
            "What did the boat, which Ann painted, cost?",
            "How is rock and roll made?",
            "What and when",
            "",
            "?",
            "¿Qué pinta Ana?",
            "さくらは何を描きますか？",
        ] {
            assert_eq!(of(question), Vec::<String>::new(), "{question}");
        }
    }

    #[test]
    fn no_letter_is_cut() {
        // Why: some letters have another length in lower case, and a place behind one of them may lie inside another.
        for word in ["and", "or", "y", "и"] {
            for text in [
                "İİ, Ж {} ẞẞ ЖЖ or Ж?",
                "İ {} Жẞ, what and ẞ İ {} 健太?",
                "between İ {} ẞ and Ж",
                "{} {} {}",
                " {} , {} what",
            ] {
                let text = text.replace("{}", word);
                assert!(of(&text).iter().flat_map(|part| part.chars()).all(|c| text.contains(c)), "{text}");
            }
        }
    }

    #[test]
    fn people_are_asked_about_one_by_one() {
        assert_eq!(of("What do Ann and Bob both like?"), ["What do Ann both like?", "What do Bob both like?"]);
        assert_eq!(of("Is Ann's dog older than Bob's?").len(), 2);
        assert_eq!(of("さくらと健太は何が好きですか？").len(), 2);
    }

    #[test]
    fn clauses_are_asked_one_by_one() {
        assert_eq!(
            of("Where did Ann move, and when did she marry?"),
            ["Where did Ann move,", "Ann: when did she marry?"]
        );
        assert_eq!(of("Where does Ann live? What does she paint?").len(), 2);
        assert_eq!(of("¿Dónde vive Ana y cuándo se casó con Luis?").len(), 2);
        assert_eq!(of("Где живёт Анна и когда она вышла замуж?").len(), 2);
    }

    #[test]
    fn things_to_choose_between_are_looked_for_one_by_one() {
        assert_eq!(
            of("What did Ann do first, the wedding or the fair?"),
            ["What did Ann do first, the wedding", "What did Ann do first, the fair?"]
        );
        assert_eq!(of("Did Ann see Porto or Lisbon?"), ["Did Ann see Porto?", "Did Ann see Lisbon?"]);
        assert_eq!(
            of("How many days lie between the wedding and the fair?"),
            ["How many days lie between the wedding", "How many days lie between the fair?"]
        );
    }
}
