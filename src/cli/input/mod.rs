//! Conversations from files: `jsonl` and `locomo` read them into the same shape, `locomo` and `beam` data sets with their
//! questions into `sample`'s. A file is checked whole before any of it is sent, so that an error in its last line has stored nothing.

pub(super) mod beam;
pub(super) mod jsonl;
pub(super) mod locomo;
pub(super) mod questions;
pub(super) mod sample;

use std::{
    io::{self, Read as _},
    path::Path,
};

use memlog_actors::{
    api::{self, profile::Message},
    limits,
};

use super::fail::Fail;

/// The messages of one session, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Session {
    /// Its id, if the file or the caller gives one.
    pub(super) id: Option<String>,
    /// The messages.
    pub(super) messages: Vec<Message>,
    /// Where each came from: `line 7`, `session_2, turn 3`.
    pub(super) places: Vec<String>,
}

impl Session {
    /// A new one.
    pub(super) fn new(id: Option<String>) -> Self {
        Self { id, ..Self::default() }
    }

    /// Adds a message.
    pub(super) fn push(&mut self, message: Message, place: String) {
        self.messages.push(message);
        self.places.push(place);
    }

    /// What fits in one ingest each, with the places of its first and last message.
    pub(super) fn batches(&self) -> impl Iterator<Item = (&[Message], String)> {
        let size = limits::INGEST_MESSAGES_MAX;
        self.messages.chunks(size).zip(self.places.chunks(size)).map(|(messages, places)| {
            let place = match places {
                [] => String::new(),
                [only] => only.clone(),
                [first, .., last] => format!("{first} to {last}"),
            };
            (messages, place)
        })
    }
}

/// All that goes into one profile.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Conversation {
    /// The profile, if the file names one.
    pub(super) profile: Option<String>,
    /// Who speaks, in order of appearance, without the assistant.
    pub(super) speakers: Vec<String>,
    /// The sessions, in order.
    pub(super) sessions: Vec<Session>,
}

impl Conversation {
    /// How many messages there are.
    pub(super) fn len(&self) -> u64 {
        self.sessions.iter().map(|session| session.messages.len() as u64).sum()
    }

    /// Notes who speaks. `me` is the assistant and never registered.
    pub(super) fn meet(&mut self, speaker: Option<&str>) {
        if let Some(name) = speaker
            && name != "me"
            && !self.speakers.iter().any(|known| known == name)
        {
            self.speakers.push(name.to_owned());
        }
    }
}

/// What a file is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// Told by its beginning.
    #[default]
    Auto,
    /// One message a line.
    Jsonl,
    /// LoCoMo's list of conversations.
    Locomo,
}

/// The text of a file, or of stdin for `-`, and its name for errors.
pub(super) fn text(path: &Path) -> Result<(String, String), Fail> {
    let mut text = String::new();
    if path.as_os_str() == "-" {
        std::io::stdin().lock().read_to_string(&mut text).map_err(unread("stdin"))?;
        return Ok((text, "stdin".to_owned()));
    }
    let text = std::fs::read_to_string(path).map_err(unread(path.display().to_string()))?;
    Ok((text, path.display().to_string()))
}

/// An input that cannot be read as text: the input is wrong, and nothing was stored.
pub(super) fn unread(name: impl Into<String>) -> impl FnOnce(io::Error) -> Fail {
    let name = name.into();
    move |error| match error.kind() {
        io::ErrorKind::InvalidData => Fail::Usage(format!("{name}: not text in UTF-8")),
        _ => Fail::Usage(format!("{name}: {error}")),
    }
}

/// Whether a text is a JSON array of messages, or of nothing: what chat tools export, and what is not read here.
fn is_array_of_messages(text: &str) -> bool {
    let Ok(items) = serde_json::from_str::<Vec<serde_json::Value>>(text) else { return false };
    items.iter().all(|item| item.get("content").is_some() || item.get("role").is_some())
}

/// Reads the conversations of a text.
pub(super) fn conversations(text: &str, file: &str, format: Format) -> Result<Vec<Conversation>, Fail> {
    if format != Format::Locomo && text.trim_start().starts_with('[') && is_array_of_messages(text) {
        let reason =
            "a JSON array of messages; JSON Lines are wanted, one message a line: jq -c '.[]' FILE writes them";
        return Err(Fail::Input { file: file.to_owned(), place: "line 1".to_owned(), reason: reason.to_owned() });
    }
    let locomo = match format {
        Format::Auto => text.trim_start().starts_with('['),
        Format::Jsonl => false,
        Format::Locomo => true,
    };
    if locomo {
        let samples = locomo::samples(text, file)?;
        return Ok(samples.into_iter().map(|sample| sample.conversation).collect());
    }
    jsonl::conversation(text, file).map(|conversation| vec![conversation])
}

/// The messages of a text, each with its session: all that `memlog ingest` would send of it, in its order. A fault names `file` and
/// the place in it.
pub fn messages(text: &str, file: &str, format: Format) -> Result<Vec<(Option<String>, Message)>, api::Error> {
    let conversations = conversations(text, file, format).map_err(|fail| fail.as_api())?;
    let sessions = conversations.into_iter().flat_map(|conversation| conversation.sessions);
    let each = sessions.flat_map(|Session { id, messages, .. }| {
        let of_session = move |message| (id.clone(), message);
        messages.into_iter().map(of_session)
    });
    Ok(each.collect())
}
