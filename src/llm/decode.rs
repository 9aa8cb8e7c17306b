//! What is accepted of a model: JSON of our schema to the letter, about the messages and records that it was shown. Anything
//! else is malformed as a whole, since an answer that is wrong in one place cannot be trusted in another.

use std::collections::BTreeSet;

use jiff::{Timestamp, civil, tz::TimeZone};
use memlog_actors::{
    domain::text::normalised,
    limits::{CAPTION_CHARS_MAX, CONTENT_BYTES_MAX, QUERY_BYTES_MAX},
    port::{PARTS_MAX, RecordType, Relation, Sentence},
    recall::one_line,
};
use serde::{Deserialize, Deserializer, de::DeserializeOwned};

/// More memories than this in one answer are a model that runs in circles.
const MEMORIES_MAX: usize = 200;
/// A summary of a session: 120 words are asked for, this many characters are taken.
const SUMMARY_CHARS_MAX: usize = 2_000;
/// One sentence of an answer.
const SENTENCE_CHARS_MAX: usize = 1_000;

/// The answer is not what was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Malformed;

/// What an answer may refer to.
pub(super) struct Shown<'a> {
    /// The numbers of the messages.
    pub(super) messages: &'a [usize],
    /// How many of the known records, from the first.
    pub(super) known: usize,
}

/// A memory, as the model told it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Told {
    pub(super) record_type: RecordType,
    pub(super) content: String,
    pub(super) timestamp: Option<Timestamp>,
    pub(super) sources: Vec<usize>,
    pub(super) corrects: Option<usize>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Fact,
    Event,
    Instruction,
    Task,
}

impl From<Kind> for RecordType {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Fact => Self::Fact,
            Kind::Event => Self::Event,
            Kind::Instruction => Self::Instruction,
            Kind::Task => Self::Task,
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Memories {
    memories: Vec<Memory>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Memory {
    #[serde(rename = "type")]
    kind: Kind,
    content: String,
    #[serde(deserialize_with = "present")]
    date: Option<String>,
    sources: Vec<usize>,
    #[serde(deserialize_with = "present")]
    corrects: Option<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Related {
    links: Vec<Link>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Link {
    n: usize,
    #[serde(rename = "type")]
    relation: Relation,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Shortened {
    text: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Classified {
    #[serde(rename = "type")]
    kind: Kind,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Summarised {
    summary: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Captioned {
    description: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Answered {
    sentences: Vec<Cited>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TakenApart {
    questions: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Cited {
    text: String,
    sources: Vec<usize>,
}

/// A field that may be null and may not be missing.
fn present<'de, T: Deserialize<'de>, D: Deserializer<'de>>(input: D) -> Result<Option<T>, D::Error> {
    Option::deserialize(input)
}

fn read<T: DeserializeOwned>(answer: &str) -> Result<T, Malformed> {
    serde_json::from_str(answer).map_err(|_| Malformed)
}

/// What a memory says of the `known` older ones, each named at most once.
pub(super) fn links(answer: &str, known: usize) -> Result<Vec<(usize, Relation)>, Malformed> {
    let Related { links } = read(answer)?;
    let mut named = BTreeSet::new();
    let link = |Link { n, relation }: Link| (n < known && named.insert(n)).then_some((n, relation)).ok_or(Malformed);
    links.into_iter().map(link).collect()
}

/// A shortened message: shorter than it was, and not empty.
pub(super) fn shortened(answer: &str, bytes_before: usize) -> Result<String, Malformed> {
    let Shortened { text } = read(answer)?;
    let text = text.trim().to_owned();
    let plain = !text.contains(|c: char| c.is_control() && c != '\n' && c != '\t');
    (says_something(&text) && plain && text.len() < bytes_before).then_some(text).ok_or(Malformed)
}

/// The parts of a question: each can be asked, says something else than the others and than the whole.
pub(super) fn parts(answer: &str, question: &str) -> Result<Vec<String>, Malformed> {
    let TakenApart { questions } = read(answer)?;
    if questions.len() > PARTS_MAX {
        return Err(Malformed);
    }
    // With its mark or without, it is the same question.
    let words = |text: &str| normalised(text.trim_end_matches(|c: char| !c.is_alphanumeric()));
    let mut asked = BTreeSet::from([words(question)]);
    let mut parts = Vec::with_capacity(questions.len());
    for part in questions {
        let part = part.trim();
        if !says_something(part) || part.len() > QUERY_BYTES_MAX || part.contains(char::is_control) {
            return Err(Malformed);
        }
        if asked.insert(words(part)) {
            parts.push(part.to_owned());
        }
    }
    Ok(parts)
}

/// The memories.
pub(super) fn memories(answer: &str, shown: &Shown<'_>) -> Result<Vec<Told>, Malformed> {
    let Memories { memories } = read(answer)?;
    if memories.len() > MEMORIES_MAX {
        return Err(Malformed);
    }
    memories.into_iter().map(|memory| told(memory, shown)).collect()
}

fn told(memory: Memory, shown: &Shown<'_>) -> Result<Told, Malformed> {
    let content = memory.content.trim().to_owned();
    let control = |c: char| c.is_control() && c != '\n' && c != '\t';
    if !says_something(&content) || content.len() > CONTENT_BYTES_MAX || content.contains(control) {
        return Err(Malformed);
    }
    let mut sources: Vec<usize> = Vec::new();
    for source in memory.sources {
        if !shown.messages.contains(&source) {
            return Err(Malformed);
        }
        if !sources.contains(&source) {
            sources.push(source);
        }
    }
    if sources.is_empty() || memory.corrects.is_some_and(|at| at >= shown.known) {
        return Err(Malformed);
    }
    let timestamp = memory.date.as_deref().map(date).transpose()?;
    Ok(Told { record_type: memory.kind.into(), content, timestamp, sources, corrects: memory.corrects })
}

/// Whether normalising leaves anything to compare.
fn says_something(content: &str) -> bool {
    content.chars().any(char::is_alphanumeric) && !normalised(content).is_empty()
}

/// RFC 3339, or a day, which begins at midnight UTC as everywhere here.
fn date(text: &str) -> Result<Timestamp, Malformed> {
    if let Ok(timestamp) = text.parse() {
        return Ok(timestamp);
    }
    let day: civil::Date = strictly_a_day(text).ok_or(Malformed)?;
    TimeZone::UTC.to_timestamp(day.at(0, 0, 0, 0)).map_err(|_| Malformed)
}

/// `2026-05-04` and nothing after it: a time without its zone would be a guess.
fn strictly_a_day(text: &str) -> Option<civil::Date> {
    (text.len() == "2026-05-04".len()).then(|| text.parse().ok()).flatten()
}

/// The type.
pub(super) fn kind(answer: &str) -> Result<RecordType, Malformed> {
    read(answer).map(|Classified { kind }| kind.into())
}

/// The summary.
pub(super) fn summary(answer: &str) -> Result<String, Malformed> {
    let Summarised { summary } = read(answer)?;
    one_line_of(&summary, SUMMARY_CHARS_MAX)
}

/// What an image shows.
pub(super) fn caption(answer: &str) -> Result<String, Malformed> {
    let Captioned { description } = read(answer)?;
    one_line_of(&description, CAPTION_CHARS_MAX)
}

/// The text on one line, if it says something in at most so many characters.
fn one_line_of(text: &str, chars_max: usize) -> Result<String, Malformed> {
    let fits = says_something(text) && text.chars().count() <= chars_max;
    if fits { Ok(one_line(text, chars_max)) } else { Err(Malformed) }
}

/// The sentences of an answer; sources are counted from 1 in it, and from 0 from here on.
pub(super) fn sentences(answer: &str, sources: usize, sentences_max: usize) -> Result<Vec<Sentence>, Malformed> {
    let Answered { sentences } = read(answer)?;
    if sentences.len() > sentences_max {
        return Err(Malformed);
    }
    let cited = |Cited { text, sources: of }: Cited| {
        let of: BTreeSet<usize> = of.into_iter().collect();
        if of.is_empty() || !of.iter().all(|n| (1..=sources).contains(n)) {
            return Err(Malformed);
        }
        let text = one_line_of(&text, SENTENCE_CHARS_MAX)?;
        Ok(Sentence { text, sources: of.into_iter().map(|n| n - 1).collect() })
    };
    sentences.into_iter().map(cited).collect()
}

#[cfg(test)]
#[path = "tests/decode.rs"]
mod tests;
