//! Memories without a model: a careful reader of everyday sentences, English first, harmless in every other language.
//!
//! Pure: text in, memories out; no clock, no I/O, no actor. What it cannot read it keeps as a fact or leaves alone; it never
//! invents, and raw messages stay searchable whatever it drops. Time is linear in the text.

use std::collections::{HashMap, HashSet};

use jiff::civil::Date;

use crate::limits::CONTENT_BYTES_MAX;
use crate::port::{ExtractFailed, Extracted, Extractor, RecordType, Relation, Role, Turn, Work};
use crate::same::{Author, Statement};

mod clauses;
mod contrast;
pub mod dates;
mod filler;
mod kind;
mod known;
mod language;
mod lex;
mod person;
mod sentences;
mod summary;
mod turn;
mod verbs;

pub(crate) use turn::shown;

/// Whether a text is in English, as far as its script and its small words tell.
pub(crate) fn is_english(text: &str) -> Option<bool> {
    match language::of(text) {
        language::Language::English => Some(true),
        language::Language::Unknown if text.is_ascii() => None,
        _ => Some(false),
    }
}

/// The extractor that needs no model.
#[derive(Clone, Copy, Debug, Default)]
pub struct Local;

impl Extractor for Local {
    fn extract(&self, work: &Work) -> Result<Vec<Extracted>, ExtractFailed> {
        Ok(extract(work))
    }

    fn classify(&self, content: &str) -> (RecordType, String) {
        let first = sentences::split(content).into_iter().find(|sentence| !sentence.ends_with(':'));
        let first = first.as_deref().unwrap_or(content);
        let language = language::of(first);
        let said = if language == language::Language::English { clauses::opened(first, &[]) } else { first };
        // Only whether there is a date matters here, not which.
        let found = dates::find(said, Date::ZERO);
        (kind::of(said, language, found.as_ref()), summary::of(content))
    }

    fn line(&self, content: &str) -> String {
        summary::of(content)
    }

    fn waits(&self) -> bool {
        false
    }
}

/// What a new statement says of older ones, where it is plain: that it says the same, or that a change of mind takes one's place.
pub(crate) fn relate(new: &str, known: &[String], said_at: jiff::Timestamp) -> Vec<(usize, Relation)> {
    let statement = Statement::new(new, Author::Anyone);
    let same = known.iter().position(|old| Statement::new(old, Author::Anyone).says_the_same(&statement));
    if let Some(at) = same {
        return vec![(at, Relation::Duplicates)];
    }
    let turn = Turn { role: Role::User, speaker: None, said_at, offset_seconds: 0, text: new.to_owned() };
    let work = Work { turns: vec![turn], known: known.to_vec(), ..Work::default() };
    // Of a text that says several things, nobody can say that all of it takes one record's place.
    match extract(&work).as_slice() {
        [one] => one.corrects.filter(|at| *at < known.len()).map(|at| (at, Relation::Supersedes)).into_iter().collect(),
        _ => Vec::new(),
    }
}

fn extract(work: &Work) -> Vec<Extracted> {
    let mut known = known::Known::new(&work.known, &work.known_by, orders(work));
    let mut out: Vec<Extracted> = Vec::new();
    let mut seen: HashMap<String, usize> = HashMap::new();
    let mut before = last_said(work);
    for (index, turn) in work.turns.iter().enumerate() {
        for statement in turn::statements(turn, &company(work, turn)) {
            let mut content = shortened(statement.content);
            let mut corrects = None;
            let value = statement.correction.then(|| known::new_value(&statement.said)).flatten();
            if let Some(value) = value {
                // A new value without the record that it belongs to would be a riddle.
                let Some((at, filled)) = known.filled(value, &before) else {
                    continue;
                };
                (corrects, content) = (Some(at), shortened(filled));
            } else if known.repeats(&content, turn.speaker.as_deref()) {
                continue;
            } else if statement.correction {
                let old = statement.replaced.as_deref();
                corrects = old.and_then(|old| known.holding(old, &content)).or_else(|| known.corrected(&content));
            }
            match seen.get(&lex::plain(&content)) {
                Some(&at) => add_source(&mut out[at], index),
                None => {
                    seen.insert(lex::plain(&content), out.len());
                    before.clone_from(&content);
                    let corrects = corrects.map(|at| known.replace(at));
                    known.add(content.clone());
                    let summary = summary::of(&content);
                    out.push(Extracted {
                        record_type: statement.record_type,
                        content,
                        summary,
                        timestamp: statement.timestamp,
                        sources: vec![index],
                        corrects,
                    });
                }
            }
        }
    }
    out
}

/// The last statement before these turns: what "it's Porto now" is about.
fn last_said(work: &Work) -> String {
    let person = work.before.iter().rev().find(|turn| matches!(turn.role, Role::User | Role::Other));
    let last = person.and_then(|turn| turn::statements(turn, &company(work, turn)).pop());
    last.map(|statement| statement.content).unwrap_or_default()
}

fn add_source(memory: &mut Extracted, index: usize) {
    if !memory.sources.contains(&index) {
        memory.sources.push(index);
    }
}

/// Sentences of system messages: what a turn repeats from them is not news.
fn orders(work: &Work) -> Vec<String> {
    let turns = work.before.iter().chain(&work.turns);
    turns.filter(|turn| turn.role == Role::System).flat_map(|turn| sentences::split(&turn.text)).collect()
}

/// The others in the talk, and whether an agent is among them.
fn company(work: &Work, this: &Turn) -> turn::Company {
    let others: HashSet<&str> = work
        .before
        .iter()
        .chain(&work.turns)
        .filter_map(|turn| turn.speaker.as_deref())
        .filter(|name| this.speaker.as_deref() != Some(*name))
        .collect();
    let mut names: Vec<String> = others
        .into_iter()
        .flat_map(|name| [lex::plain(name), lex::plain(name.split(' ').next().unwrap_or(name))])
        .filter(|name| !name.is_empty())
        .collect();
    names.sort_unstable();
    names.dedup();
    let agent = work.before.iter().chain(&work.turns).any(|turn| turn.role == Role::Assistant);
    turn::Company { people_only: !agent && !names.is_empty(), names }
}

/// Writing names and dates out makes a text longer; a record has a limit.
fn shortened(mut content: String) -> String {
    if content.len() > CONTENT_BYTES_MAX {
        let mut end = CONTENT_BYTES_MAX;
        while !content.is_char_boundary(end) {
            end -= 1;
        }
        content.truncate(end);
    }
    content
}

#[cfg(test)]
mod tests;
