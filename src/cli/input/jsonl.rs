//! JSON Lines: `{"role","content","timestamp?","speaker?","id?","session_id?"}`, one message a line. Lines with the same
//! `session_id` are one session, wherever they stand; those without one are one session of their own.

use memlog_actors::{
    api::{Said, profile::Message},
    system::{check_message, check_names},
};
use serde::Deserialize;

use super::{Conversation, Session};
use crate::cli::fail::Fail;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    role: String,
    content: String,
    timestamp: Option<Said>,
    speaker: Option<String>,
    id: Option<String>,
    session_id: Option<String>,
}

/// The messages of a text. Blank lines are skipped.
pub(in crate::cli) fn conversation(text: &str, file: &str) -> Result<Conversation, Fail> {
    let mut conversation = Conversation::default();
    for (index, text) in text.lines().enumerate().filter(|(_, text)| !text.trim().is_empty()) {
        let place = format!("line {}", index + 1);
        let wrong = |reason| Fail::Input { file: file.to_owned(), place: place.clone(), reason };
        let line: Line = serde_json::from_str(text).map_err(|error| wrong(reason(&error)))?;
        let Line { role, content, timestamp, speaker, id, session_id } = line;
        let message = Message { role, content, timestamp, speaker, id };
        let checked = check_message("", &message).and_then(|()| check_names(None, session_id.as_deref()));
        checked.map_err(|error| wrong(error.message))?;
        conversation.meet(message.speaker.as_deref());
        let sessions = &mut conversation.sessions;
        let known = sessions.iter().position(|session| session.id == session_id).unwrap_or_else(|| {
            sessions.push(Session::new(session_id));
            sessions.len() - 1
        });
        sessions[known].push(message, place);
    }
    if conversation.sessions.is_empty() {
        let reason = "no messages: expected one JSON object a line, such as {\"role\":\"user\",\"content\":\"...\"}";
        return Err(Fail::Input { file: file.to_owned(), place: "line 1".to_owned(), reason: reason.to_owned() });
    }
    Ok(conversation)
}

/// Why a line is not a message; its place in the line, since serde's own line is always 1 here.
fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let words = text.split(" at line ").next().unwrap_or(&text);
    if error.column() == 0 { words.to_owned() } else { format!("{words}, at column {}", error.column()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Exports of chat tools mix sessions and leave fields out; what belongs together must arrive together, in order.
    #[test]
    fn lines_are_grouped_by_session_in_order() {
        let text = r#"{"role":"user","content":"The kettle is broken.","session_id":"a","speaker":"Ines","id":"m1"}
{"role":"assistant","content":"Since when?","session_id":"a","speaker":"me"}

{"role":"user","content":"I sold the boat.","timestamp":"2026-03-01T10:00:00"}
{"role":"user","content":"Since Monday.","session_id":"a","speaker":"Ines"}"#;
        let conversation = conversation(text, "chat.jsonl").unwrap();
        assert_eq!(conversation.speakers, ["Ines"]);
        let ids: Vec<_> = conversation.sessions.iter().map(|session| session.id.as_deref()).collect();
        assert_eq!(ids, [Some("a"), None]);
        assert_eq!(conversation.sessions[0].places, ["line 1", "line 2", "line 5"]);
        assert_eq!(conversation.sessions[1].messages[0].timestamp, Said::parse("2026-03-01T10:00:00Z").ok());
    }

    #[test]
    fn errors_name_the_line_and_what_is_wrong_with_it() {
        let refusal = |line: &str| {
            let text = format!("{{\"role\":\"user\",\"content\":\"Hello.\"}}\n{line}\n");
            conversation(&text, "chat.jsonl").unwrap_err().to_string()
        };
        insta::assert_snapshot!(
            [
                refusal("{\"role\":\"user\"}"),
                refusal("{\"role\":\"user\",\"content\":\"Hi.\",\"speeker\":\"Ines\"}"),
                refusal("{\"role\":\"user\",\"content\":\"  \"}"),
                refusal("{\"role\":\"user\",\"content\":\"Hi.\",\"timestamp\":\"soon\"}"),
                refusal("role: user"),
            ]
            .join("\n"),
            @r"
        chat.jsonl, line 2: missing field `content`, at column 15
        chat.jsonl, line 2: unknown field `speeker`, expected one of `role`, `content`, `timestamp`, `speaker`, `id`, `session_id`, at column 40
        chat.jsonl, line 2: content must not be blank
        chat.jsonl, line 2: must be an RFC 3339 time such as 2026-05-04T09:00:00Z (a date alone is its midnight, UTC), at column 50
        chat.jsonl, line 2: expected value, at column 1
        "
        );
        assert!(conversation("\n", "empty.jsonl").unwrap_err().to_string().contains("no messages"));
    }
}
