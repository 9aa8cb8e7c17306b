//! One turn into statements: the order in which the rules are asked.

use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};

use super::dates::{self, Found, Precision};
use super::language::{self, Language};
use super::lex::{self, Kind};
use super::{clauses, filler, kind, known, person, sentences};
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
        out: Vec::new(),
    };
    for sentence in sentences::split(&turn.text) {
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
        if filler::is_small_talk(sentence, language, &self.company.names)
            || filler::is_question(sentence, language)
            || sentence.ends_with([':', '：'])
        {
            return;
        }
        let plain = lex::plain(sentence);
        let record_type = kind::of(sentence, language, dates::find(sentence, self.turn.said_at).as_ref());
        let standing = matches!(record_type, RecordType::Task | RecordType::Instruction);
        if standing || !filler::is_request(&plain, language) {
            self.keep(sentence, language, record_type, known::is_correction(&plain));
        }
    }

    fn english(&mut self, sentence: &str) {
        let correction = std::mem::take(&mut self.correction) | known::is_correction(&lex::plain(sentence));
        if announces(sentence) {
            self.correction = true;
            return;
        }
        if filler::is_small_talk(sentence, Language::English, &self.company.names) {
            return;
        }
        let mut body = clauses::opened(sentence, &self.company.names);
        if filler::is_small_talk(body, Language::English, &self.company.names) {
            return;
        }
        let spoken = person::with_subject(body);
        body = spoken.as_deref().unwrap_or(body);
        if let Some(order) = polite_order(body) {
            body = order;
        } else if filler::is_question(body, Language::English) {
            match clauses::before_question(body) {
                Some(statement) => body = statement,
                None => return,
            }
        }
        if correction && known::new_value(body).is_some() {
            return self.keep(body, Language::English, RecordType::Fact, true);
        }
        if self.is_dropped(body) {
            self.antecedent = None;
            return;
        }
        let resolved = self.resolved(body);
        self.antecedent = one_name(&resolved);
        let mut inherited = None;
        for part in clauses::split(&resolved) {
            let found = dates::find(part, self.turn.said_at);
            let record_type = kind::of(part, Language::English, found.as_ref());
            self.keep(part, Language::English, record_type, correction);
            // "I flew to Rome last week and I met Ann": both happened last week.
            if let Some(last) = self.out.last_mut().filter(|last| last.record_type == RecordType::Event) {
                last.timestamp = last.timestamp.or(inherited);
                inherited = last.timestamp;
            }
        }
    }

    /// A rule for ever is kept before anything else is asked; a what-if hides what would be a task.
    fn is_dropped(&self, body: &str) -> bool {
        let plain = lex::plain(body);
        if self.company.people_only
            && filler::is_courtesy(body, &plain, &self.company.names, dates::find(body, self.turn.said_at).is_some())
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
            || filler::is_request(&plain, Language::English)
            || filler::is_reaction(body, &plain)
    }

    /// "She weighs 12 kilos" behind "Biscuit is afraid of thunder" is about Biscuit.
    fn resolved(&self, body: &str) -> String {
        let Some(name) = &self.antecedent else {
            return body.to_owned();
        };
        for (pronoun, form) in
            [("She's ", " is "), ("He's ", " is "), ("She ", " "), ("He ", " "), ("Her ", "'s "), ("His ", "'s ")]
        {
            if let Some(rest) = body.strip_prefix(pronoun) {
                return format!("{name}{form}{rest}");
            }
        }
        body.to_owned()
    }

    fn keep(&mut self, said: &str, language: Language, record_type: RecordType, correction: bool) {
        let found = dates::find_all(said, self.turn.said_at);
        let dated = with_dates(said, &found, language);
        let content = if language == Language::English { self.attributed(&dated) } else { dated };
        let timed = matches!(record_type, RecordType::Event | RecordType::Task);
        let timestamp = found.first().filter(|_| timed).and_then(|found| instant(found, self.turn.said_at));
        self.out.push(Statement { record_type, content, said: said.to_owned(), timestamp, correction });
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
        "i changed my mind"
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
fn one_name(text: &str) -> Option<String> {
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

fn shown(found: &Found) -> String {
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

/// The instant that stands for a date: the start of its day in UTC, or the moment of speaking when that lies in it.
fn instant(found: &Found, said_at: Timestamp) -> Option<Timestamp> {
    let today = dates::day_of(said_at);
    if (found.start..found.end).contains(&today) && found.at == found.start {
        return Some(said_at);
    }
    TimeZone::UTC.to_timestamp(found.at.at(0, 0, 0, 0)).ok()
}
