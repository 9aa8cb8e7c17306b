//! What the demo asks, and how it shows what it hears.

use comfy_table::Cell;
use memlog_actors::{
    api::{
        Time,
        profile::{Candidate, Message},
        record::{ItemType, Record},
    },
    recall::one_line,
};
use serde::Serialize;

use crate::cli::{
    screen::{DIM, GOOD, HEADING, Screen},
    tables,
    words::written,
};

/// Asked of all three sessions.
pub(super) const QUESTIONS: [&str; 3] = [CHANGED, "When does Jonas get married?", "What is Marta allergic to?"];
/// The first session answers this in another way than the second.
pub(super) const CHANGED: &str = "Is the kitchen going to be yellow or green?";
/// What finds the secret.
pub(super) const SECRET: &str = "Where is the spare key?";
/// A word of the secret that nothing else in the conversation has.
pub(super) const SECRET_WORD: &str = "flowerpot";

/// What an answer rests on.
#[derive(Debug, Serialize)]
pub(super) struct Source {
    id: String,
    #[serde(rename = "type")]
    item_type: ItemType,
    summary: String,
    speaker: Option<String>,
    session_id: Option<String>,
    /// When it was said or happens; of a message, when it was stored.
    at: Time,
    /// The messages that it was made from; a message is its own.
    messages: Vec<String>,
}

impl Source {
    /// A candidate, with its record unless it is a message.
    pub(super) fn of(candidate: &Candidate, record: Option<&Record>) -> Self {
        Self {
            id: candidate.id.clone(),
            item_type: candidate.item_type,
            summary: candidate.summary.clone(),
            speaker: candidate.speaker.clone(),
            session_id: candidate.session_id.clone(),
            at: record.map_or(candidate.created_at, |record| record.timestamp),
            messages: record.map_or_else(|| vec![candidate.id.clone()], |record| record.sources.clone()),
        }
    }
}

/// The sources as a table.
pub(super) fn sources(screen: &Screen, sources: &[Source]) -> String {
    if sources.is_empty() {
        return String::new();
    }
    let columns = [
        ("id", 0),
        ("source", 0),
        ("type", 100),
        ("who", 90),
        ("when (UTC)", 120),
        ("session", 140),
        ("from messages", 0),
    ];
    let mut grid = screen.grid(&columns);
    for source in sources {
        grid.add([
            Cell::new(&source.id),
            Cell::new(one_line(&source.summary, 80)),
            Cell::new(written(&source.item_type)),
            Cell::new(tables::or_dash(source.speaker.as_deref())),
            Cell::new(tables::moment(source.at)),
            Cell::new(tables::or_dash(source.session_id.as_deref())),
            Cell::new(source.messages.join(" ")),
        ]);
    }
    grid.into_table().to_string()
}

/// Messages as a play is printed.
pub(super) fn told(messages: &[Message]) -> String {
    let line = |message: &Message| match message.speaker.as_deref() {
        Some("me") | None => format!("{DIM}{:>9}  {}{DIM:#}", message.role, message.content),
        Some(name) => format!("{HEADING}{name:>9}{HEADING:#}  {}", message.content),
    };
    messages.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// A finding that must hold.
pub(super) fn checked(holds: bool, what: &str) -> String {
    if holds {
        format!("{GOOD}ok{GOOD:#}    {what}")
    } else {
        format!("{}NOT SO{:#}  {what}", crate::cli::screen::BAD, crate::cli::screen::BAD)
    }
}
