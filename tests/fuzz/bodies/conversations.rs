//! Files of conversations. What is read is within the limits of an ingest, so that a file is refused before any of it is stored; what
//! is refused is refused with its place.

use std::collections::BTreeMap;

use memlog::cli::{Format, messages};
use memlog_actors::{
    api::{Error, profile::Message},
    limits::{CONTENT_BYTES_MAX, ID_CHARS_MAX, SPEAKER_CHARS_MAX},
};
use serde_json::Value;

const FILE: &str = "talk.json";

/// JSON Lines.
pub fn jsonl(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let lines: Vec<&str> = text.lines().collect();
    match messages(text, FILE, Format::Jsonl) {
        Ok(read) => {
            assert_eq!(read.len(), lines.iter().filter(|line| !line.trim().is_empty()).count(), "a line was lost");
            read.iter().for_each(|(session, message)| within_limits(session.as_deref(), message));
            let again = messages(&written(&read), FILE, Format::Jsonl).expect("what was read can be written");
            assert_eq!(again, read, "written again it is something else");
        }
        Err(error) => {
            let place = told(&error).strip_prefix("line ").and_then(|rest| rest.split(':').next()?.parse().ok());
            let place: usize = place.unwrap_or_else(|| panic!("no line: {error}"));
            assert!((1..=lines.len().max(1)).contains(&place), "no such line: {error}");
            let before = lines[..lines.len().min(place - 1)].join("\n");
            assert!(
                before.trim().is_empty() || messages(&before, FILE, Format::Jsonl).is_ok(),
                "not the first: {error}"
            );
        }
    }
}

fn written(read: &[(Option<String>, Message)]) -> String {
    let mut text = String::new();
    for (session, message) in read {
        let mut line = serde_json::to_value(message).expect("messages can be written");
        if let Some(session) = session {
            line["session_id"] = Value::String(session.clone());
        }
        text.push_str(&line.to_string());
        text.push('\n');
    }
    text
}

/// LoCoMo's JSON.
pub fn locomo(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match messages(text, FILE, Format::Locomo) {
        Ok(read) => {
            let mut turns = 0;
            // A number that no type holds may stand in a field that is passed over; there is nothing to count by then.
            let Ok(samples) = serde_json::from_str::<Vec<Value>>(text) else { return };
            for sample in samples {
                let Ok(fields) = serde_json::from_value::<BTreeMap<String, Value>>(sample["conversation"].clone())
                else {
                    continue;
                };
                turns +=
                    fields.iter().filter(|(name, _)| is_session(name)).map(|(_, turns)| count(turns)).sum::<usize>();
            }
            assert_eq!(read.len(), turns, "a turn was lost, or read twice");
            for (session, message) in &read {
                assert!(message.timestamp.is_some() && message.speaker.is_some() && message.id.is_some());
                within_limits(session.as_deref(), message);
            }
        }
        Err(error) => assert!(!told(&error).is_empty(), "{error}"),
    }
}

fn is_session(name: &str) -> bool {
    let digits = name.strip_prefix("session_").unwrap_or_default();
    digits.parse::<u32>().is_ok_and(|number| number.to_string() == digits)
}

fn count(turns: &Value) -> usize {
    turns.as_array().map_or(0, Vec::len)
}

/// The place and the reason.
fn told(error: &Error) -> &str {
    let told = error.message.strip_prefix(FILE).and_then(|rest| rest.strip_prefix(", "));
    told.unwrap_or_else(|| panic!("the file is not named: {error}"))
}

fn within_limits(session: Option<&str>, message: &Message) {
    assert!(["user", "assistant", "system"].contains(&message.role.as_str()));
    assert!(!message.content.trim().is_empty() && message.content.len() <= CONTENT_BYTES_MAX);
    let speaker = message.speaker.as_deref().map(str::trim);
    let named = [(session, ID_CHARS_MAX), (message.id.as_deref(), ID_CHARS_MAX), (speaker, SPEAKER_CHARS_MAX)];
    for (name, chars_max) in named.into_iter().filter_map(|(name, max)| Some((name?, max))) {
        // A name is counted as it is stored, composed, which may be shorter than it was written.
        assert!(!name.trim().is_empty() && name.len() <= 4 * chars_max * 3 && !name.contains('\0'), "{name:?}");
    }
    if let Some(said) = message.timestamp {
        let shown = said.to_string();
        let again = memlog_actors::api::Said::parse(&shown).unwrap_or_else(|error| panic!("{shown}: {error}"));
        assert_eq!((again.time, again.offset_seconds), (said.time, said.offset_seconds), "{shown}");
    }
}
