//! BEAM ("Beyond a Million Tokens", Tavakoli and others 2025, arXiv 2510.27246): long chats of a user with an assistant, and
//! questions that probe ten abilities.
//!
//! Read is what the benchmark's repository and its download script lay down: a folder for each chat with `chat.json` and
//! `probing_questions/probing_questions.json`, or a folder of such folders (`chats/100K`), or one JSON file with a chat, or
//! a list of them, as `{"conversation_id","chat","probing_questions"}`. Where there is a `chat_trunecated.json`, that is the
//! chat, as in the benchmark's own runs.
//!
//! * A chat is a list of batches `{"batch_number","time_anchor","turns"}`, or lists of messages, or, at ten million tokens,
//!   `{"plan-1": [batch, ...]}`. A batch is a session, `turns` are lists of messages `{"role","id","content","time_anchor"}`.
//!   Nobody has a name. The mark that the generator left after what the user says (`->-> 1,2`) is no part of it; messages
//!   that say nothing are left out.
//! * A time anchor (`March-15-2024`) is a day, its midnight in UTC, and holds until the next one; messages follow each other
//!   by a second. Before the first anchor no time is given.
//! * Questions are lists by ability. `source_chat_ids`, however deep their lists and however they are named, are the ids of
//!   the messages that answer; ids that no message has, or several, are left out. What is expected is `answer`,
//!   `ideal_answer` or `ideal_summary`. An abstention has no evidence and nothing that could be held; of instructions and
//!   preferences only the manner of the answer is described. Rubrics and all other fields are for judges that can read.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use jiff::{SignedDuration, Timestamp, civil::Date, fmt::strtime, tz::Offset};
use memlog_actors::{
    api::{Time, profile::Message},
    limits::{CONTENT_BYTES_MAX, QUERY_BYTES_MAX},
};
use serde::Deserialize;
use serde_json::Value;

use super::{
    Conversation, Session,
    sample::{Category, Question, Sample, turn},
};
use crate::cli::{fail::Fail, input};

/// One chat in one file.
struct Row {
    conversation_id: Value,
    chat: Value,
    probing_questions: Value,
}

#[derive(Deserialize)]
struct RawMessage {
    role: String,
    id: Value,
    #[serde(default)]
    content: String,
    #[serde(default)]
    time_anchor: Option<String>,
}

#[derive(Deserialize)]
struct RawQuestion {
    question: String,
    #[serde(default)]
    source_chat_ids: Value,
    #[serde(default, alias = "ideal_answer", alias = "ideal_summary")]
    answer: Option<String>,
}

/// Where something is wrong, and what.
type Wrong = (String, String);

/// Reads all chats of a folder or a file, in the order of their numbers.
pub(in crate::cli) fn samples(path: &Path) -> Result<Vec<Sample>, Fail> {
    if path.is_dir() {
        return of_folder(path);
    }
    let (text, file) = input::text(path)?;
    if let Some(samples) = of_text(&text, &file) {
        return samples;
    }
    let is_chat = CHATS.iter().any(|name| path.ends_with(name));
    match path.parent().filter(|folder| is_chat && folder.join(QUESTIONS).is_file()) {
        Some(folder) => Ok(vec![of_chat(folder, folder_name(folder))?]),
        None => {
            let reason = "not BEAM's: a folder of chats is wanted, or conversation_id, chat and probing_questions";
            Err(at(&file, ("line 1".to_owned(), reason.to_owned())))
        }
    }
}

/// Reads the chats of one file; none if it is of another shape.
pub(in crate::cli) fn of_text(text: &str, file: &str) -> Option<Result<Vec<Sample>, Fail>> {
    let rows = match serde_json::from_str(text).ok()? {
        Value::Array(rows) if !rows.is_empty() => rows,
        row @ Value::Object(_) => vec![row],
        _ => return None,
    };
    let rows: Vec<_> = rows.into_iter().map(row).collect::<Option<_>>()?;
    Some(rows.into_iter().map(|row| of_row(row).map_err(|wrong| at(file, wrong))).collect())
}

fn row(value: Value) -> Option<Row> {
    let Value::Object(mut fields) = value else { return None };
    let mut field = |name| fields.remove(name);
    let (conversation_id, chat) = (field("conversation_id")?, field("chat")?);
    Some(Row { conversation_id, chat, probing_questions: field("probing_questions")? })
}

fn at(file: &str, (place, reason): Wrong) -> Fail {
    Fail::Input { file: file.to_owned(), place, reason }
}

/// The names of a chat's file, the one that goes before first.
const CHATS: [&str; 2] = ["chat_trunecated.json", "chat.json"];
const QUESTIONS: &str = "probing_questions/probing_questions.json";

fn chat_file(folder: &Path) -> Option<PathBuf> {
    CHATS.iter().map(|name| folder.join(name)).find(|path| path.is_file())
}

fn folder_name(folder: &Path) -> String {
    folder.canonicalize().ok().and_then(|path| Some(path.file_name()?.to_str()?.to_owned())).unwrap_or_default()
}

fn of_folder(folder: &Path) -> Result<Vec<Sample>, Fail> {
    if chat_file(folder).is_some() {
        return Ok(vec![of_chat(folder, folder_name(folder))?]);
    }
    let mut found = Vec::new();
    chats(folder, "", &mut found)?;
    // The second before the tenth, as people count.
    found.sort_by_key(|(name, _)| name.split('-').map(|word| (word.len(), word.to_owned())).collect::<Vec<_>>());
    if found.is_empty() {
        let reason = format!("no chat here: a folder with chat.json and {QUESTIONS} is wanted, or several in one");
        return Err(Fail::Usage(format!("{}: {reason}", folder.display())));
    }
    found.into_iter().map(|(name, path)| of_chat(&path, name)).collect()
}

/// The folders of chats below one, with their ways to them: `100K-1`.
fn chats(folder: &Path, above: &str, found: &mut Vec<(String, PathBuf)>) -> Result<(), Fail> {
    for entry in std::fs::read_dir(folder).map_err(Fail::file(folder))? {
        let path = entry.map_err(Fail::file(folder))?.path();
        let Some(name) = path.file_name().and_then(|name| name.to_str()).filter(|_| path.is_dir()) else { continue };
        let way = if above.is_empty() { name.to_owned() } else { format!("{above}-{name}") };
        if chat_file(&path).is_some() { found.push((way, path)) } else { chats(&path, &way, found)? }
    }
    Ok(())
}

fn of_chat(folder: &Path, id: String) -> Result<Sample, Fail> {
    let read = |path: PathBuf| {
        let (text, file) = input::text(&path)?;
        let wrong = |error: serde_json::Error| at(&file, (format!("line {}", error.line()), error.to_string()));
        serde_json::from_str::<Value>(&text).map_err(wrong)
    };
    let chat = read(chat_file(folder).unwrap_or_else(|| folder.join(CHATS[1])))?;
    let questions = read(folder.join(QUESTIONS))?;
    sample(id, chat, questions).map_err(|wrong| at(&folder.display().to_string(), wrong))
}

fn of_row(row: Row) -> Result<Sample, Wrong> {
    let id = word(&row.conversation_id)
        .ok_or_else(|| ("conversation_id".to_owned(), "neither a text nor a number".to_owned()))?;
    sample(id.clone(), row.chat, row.probing_questions).map_err(|(place, reason)| (format!("{id}, {place}"), reason))
}

/// An id, whether it was written as a number or as a text.
fn word(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

fn sample(id: String, chat: Value, questions: Value) -> Result<Sample, Wrong> {
    let mut reading = Reading::default();
    reading.batches(chat, "")?;
    let questions = reading.questions(&id, questions)?;
    let conversation =
        Conversation { profile: Some(id.clone()), sessions: reading.sessions, ..Conversation::default() };
    Ok(Sample { id, conversation, questions })
}

/// What was read of a chat so far.
#[derive(Default)]
struct Reading {
    sessions: Vec<Session>,
    /// When the next message is said.
    clock: Option<Timestamp>,
    /// The messages that bear an id of the data.
    ids: BTreeMap<String, Vec<String>>,
    /// All messages' names.
    names: BTreeSet<String>,
}

impl Reading {
    fn batches(&mut self, chat: Value, plan: &str) -> Result<(), Wrong> {
        let Value::Array(batches) = chat else {
            return Err((format!("{plan}chat"), "not a list of batches".to_owned()));
        };
        for (index, batch) in batches.into_iter().enumerate() {
            let mut number = (index + 1).to_string();
            match batch {
                Value::Array(_) => self.batch(&format!("{plan}B{number}"), batch, None)?,
                Value::Object(mut fields) if fields.contains_key("turns") => {
                    number = fields.get("batch_number").and_then(word).unwrap_or(number);
                    let anchor = fields.get("time_anchor").and_then(Value::as_str).and_then(day);
                    self.batch(&format!("{plan}B{number}"), fields.remove("turns").unwrap_or_default(), anchor)?;
                }
                // The published table has every plan's name in every row, most of them empty.
                Value::Object(plans) => {
                    for (name, batches) in plans.into_iter().filter(|(_, batches)| !batches.is_null()) {
                        self.batches(batches, &format!("{plan}{name}-"))?;
                    }
                }
                _ => return Err((format!("{plan}B{number}"), "not a batch".to_owned())),
            }
        }
        Ok(())
    }

    fn batch(&mut self, name: &str, turns: Value, anchor: Option<Date>) -> Result<(), Wrong> {
        self.anchor(anchor);
        let mut session = Session::new(Some(name.to_owned()));
        self.turns(&mut session, name, turns)?;
        if !session.messages.is_empty() {
            self.sessions.push(session);
        }
        Ok(())
    }

    fn turns(&mut self, session: &mut Session, batch: &str, turns: Value) -> Result<(), Wrong> {
        match turns {
            Value::Array(turns) => turns.into_iter().try_for_each(|turn| self.turns(session, batch, turn)),
            other => {
                let message = serde_json::from_value(other).map_err(|error| (batch.to_owned(), error.to_string()))?;
                self.message(session, batch, message)
            }
        }
    }

    fn message(&mut self, session: &mut Session, batch: &str, raw: RawMessage) -> Result<(), Wrong> {
        self.anchor(raw.time_anchor.as_deref().and_then(day));
        let id = word(&raw.id).ok_or_else(|| (batch.to_owned(), "an id that is no number".to_owned()))?;
        let place = format!("{batch}, message {id}");
        if !matches!(raw.role.as_str(), "user" | "assistant") {
            return Err((place, format!("neither user nor assistant: `{}`", raw.role)));
        }
        let content = said(&raw.content).to_owned();
        if content.is_empty() {
            return Ok(());
        }
        if content.len() > CONTENT_BYTES_MAX {
            return Err((place, format!("{} bytes, {CONTENT_BYTES_MAX} at most", content.len())));
        }
        let timestamp = self.clock.map(|time| Time::from(time).into());
        self.clock = self.clock.and_then(|time| time.checked_add(SignedDuration::from_secs(1)).ok());
        let name = self.name(format!("{batch}:{id}"));
        self.ids.entry(id).or_default().push(name.clone());
        session.push(Message { role: raw.role, content, timestamp, speaker: None, id: Some(name) }, place);
        Ok(())
    }

    /// The data begins to number anew in places, and a message's name must be its own.
    fn name(&mut self, name: String) -> String {
        let mut own = name.clone();
        for number in 2.. {
            if self.names.insert(own.clone()) {
                break;
            }
            own = format!("{name}.{number}");
        }
        own
    }

    /// Goes to a day, unless it is that day already.
    fn anchor(&mut self, day: Option<Date>) {
        let Some(day) = day else { return };
        if self.clock.is_none_or(|time| Offset::UTC.to_datetime(time).date() != day) {
            self.clock = Offset::UTC.to_timestamp(day.at(0, 0, 0, 0)).ok();
        }
    }

    fn questions(&self, sample: &str, abilities: Value) -> Result<Vec<Question>, Wrong> {
        let Value::Object(abilities) = abilities else {
            let reason = "not lists by ability in JSON; the benchmark's download script writes them so";
            return Err(("probing_questions".to_owned(), reason.to_owned()));
        };
        let mut questions = Vec::new();
        for (ability, list) in abilities {
            let list: Vec<RawQuestion> =
                serde_json::from_value(list).map_err(|error| (ability.clone(), error.to_string()))?;
            for (index, raw) in list.into_iter().enumerate() {
                if raw.question.len() > QUERY_BYTES_MAX {
                    let reason = format!("{} bytes, {QUERY_BYTES_MAX} at most", raw.question.len());
                    return Err((format!("{ability}, question {}", index + 1), reason));
                }
                let mut evidence = Vec::new();
                self.evidence(sample, &raw.source_chat_ids, &mut evidence);
                let id = format!("{sample}/{ability}-{index}");
                let category = Category::Named(ability.clone());
                questions.push(Question { id, text: raw.question, answer: raw.answer, category, evidence });
            }
        }
        Ok(questions)
    }

    fn evidence(&self, sample: &str, ids: &Value, found: &mut Vec<String>) {
        match ids {
            Value::Array(ids) => ids.iter().for_each(|ids| self.evidence(sample, ids, found)),
            Value::Object(named) => named.values().for_each(|ids| self.evidence(sample, ids, found)),
            id => {
                let Some([only]) = word(id).and_then(|id| self.ids.get(&id)).map(Vec::as_slice) else { return };
                let name = turn(sample, only);
                if !found.contains(&name) {
                    found.push(name);
                }
            }
        }
    }
}

/// What was said, without the generator's mark.
fn said(content: &str) -> &str {
    let mark = |end: &str| end.chars().all(|c| c.is_ascii_digit() || matches!(c, ',' | ' ' | 'N' | '/' | 'A'));
    match content.rsplit_once("->->") {
        Some((said, end)) if mark(end) => said.trim(),
        _ => content.trim(),
    }
}

/// `March-15-2024`.
fn day(text: &str) -> Option<Date> {
    strtime::parse("%B-%d-%Y", text.trim()).ok()?.to_date().ok()
}

#[cfg(test)]
mod tests;
