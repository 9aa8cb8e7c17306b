//! One turn into statements: the order in which the rules are asked.

use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};

use super::dates::{self, Found, Precision};
use super::language::{self, Language};
use super::lex::{self, Kind};
use super::{clauses, contrast, filler, kind, known, person, sentences};
use crate::port::{RecordType, Role, Turn};

/// What one turn says, before it is held against what is known.
#[derive(Debug)]
pub(super) struct Statement {
    pub(super) record_type: RecordType,
    /// With the speaker and the dates written out.
    pub(super) content: String,
    /// As it was said, openings taken off.
    pub(super) said: String,
    pub(super) timestamp: Option<Timestamp>,
    /// Whether the words announce a change.
    pub(super) correction: bool,
    /// What is no longer so, if it is named: "not 8080", "instead of Rome".
    pub(super) replaced: Option<String>,
}

/// Who else is in the talk.
pub(super) struct Company {
    /// The others' names in lower case, first names too.
    pub(super) names: Vec<String>,
    /// People talk to each other and no agent is among them: orders and advice are not for it, and what is said of the world in
    /// general is courtesy.
    pub(super) people_only: bool,
}

/// A turn under work.
struct Reading<'a> {
    turn: &'a Turn,
    company: &'a Company,
    language: Language,
    /// The one person or thing of the sentence before, for a "she" that follows.
    antecedent: Option<String>,
    /// A sentence that only says "I changed my mind" belongs to the next one.
    correction: bool,
    /// What the sentence says is no longer so.
    replaced: Option<String>,
    out: Vec<Statement>,
}

/// The statements of a turn.
pub(super) fn statements(turn: &Turn, company: &Company) -> Vec<Statement> {
    if turn.role == Role::System {
        return Vec::new();
    }
    let mut reading = Reading {
        turn,
        company,
        language: language::of(&turn.text),
        antecedent: None,
        correction: false,
        replaced: None,
        out: Vec::new(),
    };
    for sentence in sentences::split(&turn.text) {
        reading.replaced = None;
        let language = reading.language_of(&sentence);
        if turn.role == Role::Assistant {
            reading.assistant(&sentence, language);
        } else if language == Language::English {
            reading.english(&sentence);
        } else {
            reading.foreign(&sentence, language);
        }
    }
    reading.out
}

impl Reading<'_> {
    /// A few words alone tell less than the whole turn does.
    fn language_of(&self, sentence: &str) -> Language {
        let own = language::of(sentence);
        if own == Language::Unknown && sentence.is_ascii() { self.language } else { own }
    }

    fn assistant(&mut self, sentence: &str, language: Language) {
        let body =
            if language == Language::English { clauses::opened(sentence, &self.company.names) } else { sentence };
        if !filler::is_question(body, language) && kind::is_promise(&lex::plain(body), language) {
            self.keep(body, language, RecordType::Task, false);
        }
    }

    fn foreign(&mut self, sentence: &str, language: Language) {
        let sentence = self.greeted(sentence, language);
        let plain = lex::plain(sentence);
        if filler::is_small_talk(sentence, language, &self.company.names)
            || filler::is_question(sentence, language)
            || filler::is_unreal(&plain, language)
            || filler::is_cry(sentence, &plain, language)
            || sentence.ends_with([':', '：'])
        {
            return;
        }
        self.replaced = contrast::replaced(sentence, language);
        let correction = self.replaced.is_some() || known::is_correction(&plain);
        // What says how it was and how it is belongs together.
        let parts = if self.replaced.is_some() { vec![sentence] } else { clauses::split_foreign(sentence, language) };
        for part in parts {
            let plain = lex::plain(part);
            let record_type = kind::of(part, language, dates::find(part, self.turn.day()).as_ref());
            let standing = matches!(record_type, RecordType::Task | RecordType::Instruction);
            let empty = filler::is_small_talk(part, language, &self.company.names);
            if !empty && (standing || !filler::is_request(&plain, language)) {
                self.keep(part, language, record_type, correction);
            }
        }
    }

    /// Without "Hola," and the like in front.
    fn greeted<'s>(&self, sentence: &'s str, language: Language) -> &'s str {
        let Some((head, rest)) = sentence.split_once([',', '、', '!', '！']) else {
            return sentence;
        };
        let empty = !rest.trim().is_empty() && filler::is_small_talk(head, language, &self.company.names);
        if empty { rest.trim_start() } else { sentence }
    }

    fn english(&mut self, sentence: &str) {
        let sentence = clauses::untailed(sentence);
        self.replaced = contrast::replaced(sentence, Language::English);
        let told = self.replaced.is_some() || known::is_correction(&lex::plain(sentence));
        let correction = std::mem::take(&mut self.correction) | told;
        if announces(sentence) {
            self.correction = true;
            return;
        }
        let Some(body) = self.body(sentence) else {
            return;
        };
        if correction && known::new_value(&body).is_some() {
            return self.keep(&body, Language::English, RecordType::Fact, true);
        }
        if self.is_dropped(&body) {
            self.antecedent = None;
            return;
        }
        let parts = clauses::split(&body);
        let several = parts.len() > 1;
        let mut inherited = None;
        for part in parts {
            let part = clauses::opened(&part, &self.company.names);
            let part = self.resolved(part);
            if several && (filler::is_question(&part, Language::English) || self.says_nothing(&part)) {
                continue;
            }
            self.antecedent = clauses::person_in(&part, &lex::tokens(&part));
            let found = dates::find(&part, self.turn.day());
            let record_type = kind::of(&part, Language::English, found.as_ref());
            self.keep(&part, Language::English, record_type, correction);
            // "I flew to Rome last week and I met Ann": both happened last week.
            if let Some(last) = self.out.last_mut().filter(|last| last.record_type == RecordType::Event) {
                last.timestamp = last.timestamp.or(inherited);
                inherited = last.timestamp;
            }
        }
    }

    /// What an English sentence says once greetings and openings are off it; none if that is nothing, or a question.
    fn body(&self, sentence: &str) -> Option<String> {
        let empty = |text: &str| filler::is_small_talk(text, Language::English, &self.company.names);
        if empty(sentence) {
            return None;
        }
        let body = contrast::without_lead(clauses::opened(sentence, &self.company.names));
        if empty(body) {
            return None;
        }
        let spoken = person::with_subject(body);
        let body = spoken.as_deref().unwrap_or(body);
        if let Some(order) = polite_order(body) {
            return Some(order.to_owned());
        }
        if !filler::is_question(body, Language::English) {
            return Some(body.to_owned());
        }
        clauses::before_question(body).map(str::to_owned)
    }

    /// A part of a longer sentence that would be dropped if it stood alone.
    fn says_nothing(&self, part: &str) -> bool {
        let plain = lex::plain(part);
        let kept = kind::is_instruction(&plain, Language::English) || kind::is_task(&plain, Language::English);
        !kept && (filler::is_request(&plain, Language::English) || filler::is_reaction(part, &plain))
    }

    /// A rule for ever is kept before anything else is asked; a what-if hides what would be a task.
    fn is_dropped(&self, body: &str) -> bool {
        let plain = lex::plain(body);
        if self.company.people_only
            && filler::is_courtesy(body, &plain, &self.company.names, dates::find(body, self.turn.day()).is_some())
        {
            return true;
        }
        if kind::is_instruction(&plain, Language::English) {
            return false;
        }
        if body.ends_with(':') || filler::is_hypothetical(&plain) {
            return true;
        }
        if kind::is_task(&plain, Language::English) {
            return false;
        }
        let few = plain.split(' ').count() < 3;
        few && !plain.starts_with("i'm ")
            // Of several statements in one sentence each is asked by itself.
            || clauses::split(body).len() == 1
                && (filler::is_request(&plain, Language::English) || filler::is_reaction(body, &plain))
    }

    /// "She weighs 12 kilos" behind "Biscuit is afraid of thunder" is about Biscuit.
    fn resolved(&self, body: &str) -> String {
        let Some(name) = &self.antecedent else {
            return body.to_owned();
        };
        const FORMS: &[(&str, &str)] =
            &[("she's ", " is "), ("he's ", " is "), ("she ", " "), ("he ", " "), ("her ", "'s "), ("his ", "'s ")];
        let lower = lex::lower(body);
        for (pronoun, form) in FORMS {
            if let (true, Some(rest)) = (lower.starts_with(pronoun), body.get(pronoun.len()..)) {
                return format!("{name}{form}{rest}");
            }
        }
        body.to_owned()
    }

    fn keep(&mut self, said: &str, language: Language, record_type: RecordType, correction: bool) {
        let found = dates::find_all(said, self.turn.day());
        let dated = with_dates(said, &found, language);
        let content = if language == Language::English { self.attributed(&dated) } else { dated };
        let timed = matches!(record_type, RecordType::Event | RecordType::Task);
        let timestamp = found.first().filter(|_| timed).and_then(|found| instant(found, self.turn));
        let replaced = self.replaced.clone().filter(|_| correction);
        self.out.push(Statement { record_type, content, said: said.to_owned(), timestamp, correction, replaced });
    }

    /// With the speaker in place of "I", or named in front where "we" or nobody is the subject.
    fn attributed(&self, said: &str) -> String {
        let assistant = self.turn.role == Role::Assistant;
        let name = self.turn.speaker.as_deref().unwrap_or(if assistant { "the assistant" } else { "the user" });
        if assistant {
            let said = person::third(said, name).unwrap_or_else(|| said.to_owned());
            return person::second(&said, "the user");
        }
        if let Some(said) = person::third(said, name) {
            return said;
        }
        let tokens = lex::tokens(said);
        let ours = tokens.iter().any(|t| {
            matches!(
                t.lower.as_str(),
                "we" | "our" | "us" | "we're" | "we've" | "we'll" | "we'd" | "ours" | "ourselves"
            )
        });
        let said = person::capitalised(said);
        if ours { format!("{} says: {said}", person::capitalised(name)) } else { said }
    }
}

/// "Could you remind me to call Ann?" is the task, asked nicely; so is a rule.
fn polite_order(body: &str) -> Option<&str> {
    const ASKING: &[&str] = &[
        "can you please ",
        "could you please ",
        "would you please ",
        "will you please ",
        "can you ",
        "could you ",
        "would you ",
        "will you ",
    ];
    let lower = lex::lower(body);
    let start = ASKING.iter().find(|start| lower.starts_with(**start))?.len();
    let order = body.get(start..)?.trim_end_matches(['?', '.', '!', ' ']);
    let plain = lex::plain(order);
    let standing =
        ["remind me", "always", "never", "from now on", "call me"].iter().any(|cue| lex::opens_with(&plain, cue));
    standing.then_some(order)
}

/// A sentence that says only that something has changed.
fn announces(sentence: &str) -> bool {
    matches!(
        lex::plain(sentence).as_str(),
        "change of plans"
            | "change of plan"
            | "plans changed"
            | "plans have changed"
            | "i changed my mind"
            | "i've changed my mind"
            | "scratch that"
            | "correction"
            | "actually"
            | "wait"
            | "actually no"
            | "no wait"
            | "sorry i was wrong"
            | "i was wrong"
    )
}

/// The only name in a statement: a run of capitalised words, but for months, weekdays and the first word when it is a small one.
pub(super) fn one_name(text: &str) -> Option<String> {
    let tokens = lex::tokens(text);
    let mut names: Vec<std::ops::Range<usize>> = Vec::new();
    for (i, token) in tokens.iter().enumerate().filter(|(_, token)| token.kind == Kind::Word) {
        let first = i == 0
            && !tokens.get(1).is_some_and(|next| {
                super::verbs::is_verb(&next.lower)
                    && token.lower.len() > 3
                    && !token.is("this")
                    && !token.is("that")
                    && !token.is("there")
                    && !token.is("they")
            });
        let capital = text[token.span.clone()].starts_with(char::is_uppercase);
        if !capital || first || token.lower == "i" || token.lower.starts_with("i'") || dates::names_time(&token.lower) {
            continue;
        }
        match names.last_mut() {
            Some(last) if text[last.end..token.span.start].trim().is_empty() => last.end = token.span.end,
            _ => names.push(token.span.clone()),
        }
    }
    match names.as_slice() {
        [only] => Some(text[only.clone()].trim_end_matches("'s").trim_end_matches("’s").to_owned()),
        _ => None,
    }
}

/// "yesterday" gets its date behind it; what is a date already stays as it is.
fn with_dates(said: &str, found: &[Found], language: Language) -> String {
    let mut out = String::with_capacity(said.len() + 24 * found.len());
    let mut copied = 0;
    for date in found.iter().filter(|date| !date.absolute) {
        out.push_str(&said[copied..date.span.end]);
        let spaced = !matches!(language, Language::Japanese | Language::Chinese);
        if spaced {
            out.push(' ');
        }
        let shown = if language == Language::English { shown(date) } else { date.at.to_string() };
        out.push_str(&format!("({shown})"));
        copied = date.span.end;
    }
    out.push_str(&said[copied..]);
    out
}

/// A date as people write it, as exact as it was named.
pub(crate) fn shown(found: &Found) -> String {
    let day = || found.at.strftime("%-d %B %Y").to_string();
    match found.precision {
        Precision::Day => day(),
        Precision::Week if found.start.saturating_add(2.days()) == found.end => format!("weekend of {}", day()),
        Precision::Week if found.at == found.start => format!("week of {}", day()),
        Precision::Week => format!("around {}", day()),
        Precision::Month if found.start.month() == found.end.yesterday().map_or(0, |last| last.month()) => {
            found.at.strftime("%B %Y").to_string()
        }
        Precision::Month => format!("from {}", found.start.strftime("%B %Y")),
        Precision::Year => found.at.year().to_string(),
    }
}

/// The instant that stands for a date: the start of its day in UTC, or the moment of speaking when that lies in it. Its day in
/// UTC, in which times are shown, is always the one that the words mean, wherever they were said.
fn instant(found: &Found, turn: &Turn) -> Option<Timestamp> {
    let today = turn.day();
    if (found.start..found.end).contains(&today) && found.at == found.start && dates::day_of(turn.said_at) == today {
        return Some(turn.said_at);
    }
    TimeZone::UTC.to_timestamp(found.at.at(0, 0, 0, 0)).ok()
}
