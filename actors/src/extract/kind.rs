//! Fact, event, instruction or task: how a person would file a statement.

use super::dates::{self, Found};
use super::language::Language;
use super::lex::{self, holds, holds_any, opens_with};
use super::verbs;
use crate::port::RecordType;

mod cues;

/// The type of one statement; `dated` is the first date that it names.
pub(super) fn of(sentence: &str, language: Language, dated: Option<&Found>) -> RecordType {
    let plain = lex::plain(sentence);
    if is_task(&plain, language) {
        RecordType::Task
    } else if is_instruction(&plain, language) {
        RecordType::Instruction
    } else if is_event(sentence, &plain, language, dated) {
        RecordType::Event
    } else {
        RecordType::Fact
    }
}

/// How the agent is to behave from now on.
pub(super) fn is_instruction(plain: &str, language: Language) -> bool {
    if language != Language::English {
        return cues::FOREIGN_RULES
            .iter()
            .any(|(starts, needs)| starts_so(plain, starts, language) && (needs.is_empty() || plain.contains(needs)));
    }
    let polite = without_please(plain);
    if cues::NOT_RULES.iter().any(|start| opens_with(polite, start)) {
        return false;
    }
    if cues::RULES.iter().any(|start| opens_with(polite, start)) {
        return true;
    }
    standing_order(polite) || conditional(plain) || spared(polite)
}

/// "Give me only short recipes", "show amounts in euros, always".
fn standing_order(polite: &str) -> bool {
    let first = polite.split(' ').next().unwrap_or("");
    cues::SERVING.contains(&first) && holds_any(polite, cues::STANDING)
}

/// Words that make a rule and are none by themselves.
pub(super) fn is_standing(plain: &str) -> bool {
    cues::STANDING.contains(&plain) || matches!(plain, "from here on" | "going forward")
}

/// "When I ask for code, answer in Rust": a condition, then an order.
fn conditional(plain: &str) -> bool {
    const ORDERS: &[&str] = &["always", "never", "please", "don't", "only", "just", "keep", "do not"];
    let starts =
        ["when ", "whenever ", "if i ask", "if i paste", "if i send", "for code ", "for emails ", "every time "]
            .iter()
            .any(|start| plain.starts_with(start));
    let words: Vec<&str> = plain.split(' ').collect();
    let order = |at: usize| {
        // "When I write": the verb of the condition is no order.
        let told =
            matches!(words[at - 1], "i" | "we" | "you" | "to" | "they" | "usually" | "i'd" | "can" | "will" | "should");
        !told && (ORDERS.contains(&words[at]) && at + 1 < words.len() || cues::SERVING.contains(&words[at]))
    };
    starts
        && (3..words.len()).any(order)
        && !plain.starts_with("when was")
        && !holds_any(plain, &["i was", "i always", "i never"])
}

/// "No recipes with cilantro please".
fn spared(polite: &str) -> bool {
    polite.starts_with("no ") && (polite.ends_with(" please") || polite.contains(" please "))
}

/// Something to be done.
pub(super) fn is_task(plain: &str, language: Language) -> bool {
    if language != Language::English {
        return cues::FOREIGN_TASKS.iter().any(
            |cue| {
                if spaced(language) { holds(plain, cue) } else { plain.contains(cue) }
            },
        );
    }
    let polite = without_please(plain);
    if holds_any(plain, cues::NOT_TASKS) {
        return false;
    }
    if cues::TASK_OPENINGS.iter().any(|start| opens_with(polite, start)) || holds_any(plain, cues::DUTIES) {
        return true;
    }
    promised(plain).is_some_and(|verb| cues::COMMITMENTS.contains(&verb))
}

/// The assistant says that it will do something later.
pub(super) fn is_promise(plain: &str, language: Language) -> bool {
    if language != Language::English {
        return cues::FOREIGN_PROMISES.iter().any(|cue| plain.contains(cue));
    }
    let dated = dates::are_in(plain);
    let later = dated || holds_any(plain, &["later", "next", "soon", "once", "as soon as", "afterwards"]);
    let owed = |verb: &str| cues::PROMISES.contains(&verb) || later && !cues::AT_ONCE.contains(&verb);
    promised(plain).is_some_and(owed) && !holds_any(plain, &["if you", "let me know"])
}

/// The verb behind "I'll" or "I will" at the beginning, or behind a few words that say when.
fn promised(plain: &str) -> Option<&str> {
    let starts = ["i'll ", "i will ", "i am going to ", "i'm going to ", "we'll ", "we will "];
    let rest = starts.iter().find_map(|start| plain.strip_prefix(start)).or_else(|| {
        let (at, start) =
            starts.iter().find_map(|start| plain.find(&format!(" {start}")).map(|at| (at, start.len() + 1)))?;
        let lead = &plain[..at];
        let when = lead.split(' ').count() <= 4
            && (dates::are_in(lead) || matches!(lead, "then" | "next" | "later" | "after that" | "first"));
        when.then(|| &plain[at + start..])
    })?;
    rest.split(' ')
        .find(|word| !verbs::is_adverb(word) && *word != "be" && *word != "make" && *word != "sure" && *word != "to")
}

fn is_event(sentence: &str, plain: &str, language: Language, dated: Option<&Found>) -> bool {
    if language != Language::English {
        return dated.is_some();
    }
    let habit = [
        "every",
        "each",
        "usually",
        "always",
        "often",
        "sometimes",
        "never",
        "since",
        "daily",
        "weekly",
        "no longer",
        "anymore",
    ];
    let due = dated.is_some() && holds_any(plain, &["is due", "are due", "deadline", "expires", "runs out"]);
    if due {
        return true;
    }
    if holds_any(plain, &habit) || dated.is_none() && holds(plain, "used to") {
        return false;
    }
    if let Some(found) = dated {
        // "2024 will be …" and "the 2019 model" tell of a thing; a day, week or month tells when.
        let words: Vec<_> = plain.split(' ').collect();
        return found.precision < super::dates::Precision::Year
            || words.iter().any(|word| verbs::is_past(word) || matches!(*word, "will" | "going" | "born"));
    }
    happened(&lex::tokens(sentence))
}

/// A past form that tells of one happening: not "was tired", not "is based", not "has moved".
fn happened(tokens: &[lex::Token]) -> bool {
    #[rustfmt::skip]
    const BEFORE: &[&str] = &[
        "a", "an", "the", "my", "our", "his", "her", "very", "so", "too", "am", "is", "are", "be", "been", "i'm",
        "he's", "she's", "it's", "we're", "they're", "you're", "has", "have", "i've", "we've", "they've", "and",
        "of", "with", "not", "really", "more", "most", "get", "gets", "that", "which", "dog", "cat", "they", "to",
        "for", "in", "as",
    ];
    // The first verb decides; in "is trying to eat less processed food" the past form is none.
    let verb = tokens
        .iter()
        .enumerate()
        .take(10)
        .find(|(i, token)| verbs::is_verb(&token.lower) || *i == 0 && token.lower.ends_with("ing"));
    verb.is_some_and(|(i, token)| {
        let before = if i == 0 { "" } else { tokens[i - 1].lower.as_str() };
        verbs::is_past(&token.lower) && !cues::STATES.contains(&token.lower.as_str()) && !BEFORE.contains(&before)
    })
}

fn without_please(plain: &str) -> &str {
    ["please ", "pls ", "plz ", "and "].iter().find_map(|word| plain.strip_prefix(word)).unwrap_or(plain)
}

fn spaced(language: Language) -> bool {
    !matches!(language, Language::Japanese | Language::Chinese | Language::Korean)
}

fn starts_so(plain: &str, start: &str, language: Language) -> bool {
    if start.is_empty() {
        return true;
    }
    if spaced(language) {
        let polite =
            ["por favor ", "пожалуйста ", "bitte "].iter().find_map(|p| plain.strip_prefix(p)).unwrap_or(plain);
        opens_with(polite, start) || start.contains(' ') && holds(plain, start)
    } else {
        plain.contains(start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::{dates, language};

    fn kind(text: &str) -> RecordType {
        let found = dates::find(text, "2024-03-13".parse().unwrap());
        of(text, language::of(text), found.as_ref())
    }

    // The type decides where a memory shows up; these are the cases people agree on.
    #[test]
    fn statements_are_filed_as_a_person_would() {
        use RecordType::{Event, Fact, Instruction, Task};
        for (text, expected) in [
            ("I live in Porto.", Fact),
            ("I always eat breakfast at seven.", Fact),
            ("I've lived in Berlin since 2019.", Fact),
            ("She is based in Chennai.", Fact),
            ("I have to say I like it.", Fact),
            ("I went to a concert.", Event),
            ("The wedding is on 4 May 2024.", Event),
            ("I will fly home next week.", Event),
            ("Always answer in French.", Instruction),
            ("From now on, be brief.", Instruction),
            ("Call me Lou.", Instruction),
            ("Please don't use emojis.", Instruction),
            ("When I ask for code, always use Rust.", Instruction),
            ("Don't forget to water the plants.", Task),
            ("Remind me to call Ann.", Task),
            ("I need to buy milk.", Task),
            ("We must submit it by Friday.", Task),
            ("I'll send the report on Monday.", Task),
            ("Recuérdame llamar a Lucía mañana.", Task),
            ("Responde siempre en español.", Instruction),
            ("Всегда отвечай по-русски.", Instruction),
            ("必ず日本語で答えてください。", Instruction),
            ("항상 한국어로 대답해 주세요.", Instruction),
            ("Вчера мы ездили на дачу.", Event),
        ] {
            assert_eq!(kind(text), expected, "{text}");
        }
    }

    // An assistant talks of what it does all the time; only what it will do later is owed.
    #[test]
    fn promises_are_told_from_phrases() {
        assert!(is_promise("i'll send you a list tomorrow", Language::English));
        assert!(is_promise("i will remind you on monday", Language::English));
        assert!(!is_promise("i'll be happy to help", Language::English));
        assert!(!is_promise("i'll explain how it works", Language::English));
    }
}
