//! The conversation on the left, and beside each message what was made from it.

use std::collections::BTreeMap;

use comfy_table::Cell;
use memlog_actors::{
    api::{
        AsOf,
        profile::Memories,
        record::{Record, Status},
        thread::{Content, Message, Part, PartType, Thread},
    },
    recall::one_line,
};
use serde::Serialize;

use crate::cli::{
    Shell,
    fail::Fail,
    screen::{HEADING, Screen},
    tables,
    words::{harmless, written},
};

/// Characters of a message that are drawn; `get_messages` has the rest.
const MESSAGE_CHARS: usize = 400;
/// Memories a page.
const PAGE: u64 = 500;

/// A thread as it is drawn.
#[derive(Debug, Serialize)]
pub(super) struct Drawn {
    /// Itself.
    pub(super) thread: Thread,
    /// Some of its messages, in order.
    pub(super) messages: Vec<Message>,
    /// All its memories, without their contents.
    pub(super) memories: Vec<Record>,
}

/// All memories of a thread in one status.
pub(super) async fn memories(
    shell: &Shell,
    thread_id: &str,
    status: Status,
    as_of: Option<AsOf>,
) -> Result<Vec<Record>, Fail> {
    let (mut all, mut cursor) = (Vec::new(), None);
    loop {
        let request = Memories {
            profile: shell.profile(),
            session_id: Some(thread_id.to_owned()),
            status: Some(status),
            limit: Some(PAGE),
            cursor: cursor.take(),
            as_of,
            ..Memories::default()
        };
        let page = shell.call(request).await?;
        all.extend(page.memories);
        cursor = page.cursor;
        if cursor.is_none() {
            return Ok(all);
        }
    }
}

/// As people see it.
pub(super) fn people(screen: &Screen, drawn: &Drawn) -> String {
    let mut made: BTreeMap<&str, Vec<&Record>> = BTreeMap::new();
    let mut saved = Vec::new();
    for memory in drawn.memories.iter().rev() {
        match memory.sources.as_slice() {
            [] => saved.push(memory),
            // Drawn once, beside the message that decided it.
            [first, ..] => made.entry(first).or_default().push(memory),
        }
    }
    let id = harmless(&drawn.thread.thread_id);
    let mut text = format!("{HEADING}thread {id}{HEADING:#}\n");
    let mut table = screen.table(&["message", "memories made from it"]);
    for message in &drawn.messages {
        let who = message.speaker.as_deref().unwrap_or(&message.role);
        let when = tables::moment(message.timestamp);
        let said = format!("{} ({when})\n{}", harmless(who), harmless(&shown(&message.content)));
        let gave = made.remove(message.id.as_str()).unwrap_or_default();
        table.add_row([Cell::new(said), Cell::new(list(&gave))]);
    }
    if drawn.messages.is_empty() {
        text += "nothing was said yet\n";
    } else {
        text += &format!("{table}\n");
    }
    if !saved.is_empty() {
        text += &format!("\n{HEADING}saved by themselves{HEADING:#}\n{}\n", list(&saved));
    }
    let elsewhere: usize = made.values().map(Vec::len).sum();
    if elsewhere > 0 {
        text += &format!("\n{elsewhere} more from messages that are not shown here\n");
    }
    text
}

fn shown(content: &Content<Part>) -> String {
    let text = match content {
        Content::Text(text) => text.clone(),
        Content::Parts(parts) => {
            let part = |part: &Part| match part.part_type {
                PartType::Text => part.text.clone().unwrap_or_default(),
                PartType::Image => {
                    let shows = part.description.clone().flatten();
                    shows.map_or_else(|| "[image]".to_owned(), |shows| format!("[image: {shows}]"))
                }
            };
            parts.iter().map(part).collect::<Vec<_>>().join("\n")
        }
    };
    match text.char_indices().nth(MESSAGE_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

fn list(memories: &[&Record]) -> String {
    let line = |memory: &&Record| {
        let holds = if memory.status == Status::Valid { "" } else { " (does not hold any more)" };
        let said = one_line(memory.summary.as_deref().unwrap_or("(forgotten)"), 160);
        format!("{}: {}{holds}", written(&memory.item_type), harmless(&said))
    };
    memories.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    // What was said and what came of it stand side by side; nothing of it drives the terminal.
    #[test]
    fn a_conversation_is_drawn_with_what_it_gave() {
        let at = "2026-03-02T10:00:00Z";
        let message = |id: &str, role: &str, content: serde_json::Value| {
            json!({"id": id, "role": role, "content": content, "timestamp": at, "metadata": {}, "speaker": null,
                "expires_at": null, "created_at": at, "updated_at": at})
        };
        let memory = |summary: &str, sources: serde_json::Value, status: &str| {
            json!({"id": summary, "type": "fact", "summary": summary, "profile": "p", "session_id": "t", "user_id": null,
                "agent_id": null, "speaker": null, "metadata": {}, "status": status, "timestamp": at, "expires_at": null,
                "version": 1, "sources": sources, "superseded_by": null, "created_at": at, "updated_at": at})
        };
        let drawn = Drawn {
            thread: serde_json::from_value(json!({"thread_id": "t", "user_id": null, "agent_id": null, "metadata": {},
                "settings": {}, "message_count": 2, "created_at": at, "updated_at": at}))
            .unwrap(),
            messages: vec![
                serde_json::from_value(message("1", "user", json!("I live in\u{1b} Porto"))).unwrap(),
                serde_json::from_value(message(
                    "2",
                    "assistant",
                    json!([{"id": "a", "type": "text", "text": "Look"}, {"id": "b", "type": "image", "description": "a map"}]),
                ))
                .unwrap(),
            ],
            memories: vec![
                serde_json::from_value(memory("likes tea", json!([]), "valid")).unwrap(),
                serde_json::from_value(memory("lives in Porto", json!(["1"]), "invalid")).unwrap(),
                serde_json::from_value(memory("has a cat", json!(["9"]), "valid")).unwrap(),
            ],
        };
        insta::assert_snapshot!(people(&Screen::plain_of(90), &drawn));
    }
}
