//! Conversations from files: `jsonl` and `locomo` read them into the same shape. A file is checked whole before any of it
//! is sent, so that an error in its last line has stored nothing.

pub(super) mod jsonl;
pub(super) mod locomo;

use std::{
    io::Read as _,
    path::{Path, PathBuf},
};

use memlog_actors::{api::profile::Message, limits};

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
pub(super) enum Format {
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
        std::io::stdin().lock().read_to_string(&mut text).map_err(Fail::file("stdin"))?;
        return Ok((text, "stdin".to_owned()));
    }
    let text = std::fs::read_to_string(path).map_err(Fail::file(PathBuf::from(path)))?;
    Ok((text, path.display().to_string()))
}

/// Reads the conversations of a text.
pub(super) fn conversations(text: &str, file: &str, format: Format) -> Result<Vec<Conversation>, Fail> {
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
