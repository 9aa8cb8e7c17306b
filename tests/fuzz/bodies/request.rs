//! Requests of every verb, as the door reads them: a line with the verb, then the body. What is understood means the same when it is
//! written again; what is refused is refused as documented, with the field's name where the text is JSON.

use memlog::door::{
    DEPTH_MAX,
    table::{Row, TABLE},
};
use memlog_actors::api::{Error, error::Kind};
use serde_json::Value;

/// Longer paths are cut, with dots behind them.
const FIELD_CHARS_MAX: usize = 203;
/// A message names fields, limits and types, and never holds what the client sent at length.
const MESSAGE_CHARS_MAX: usize = 2_000;

/// A request. A first line that is no verb is some verb, so that a mutation of it is not wasted.
pub fn request(bytes: &[u8]) {
    let end = bytes.iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len());
    let (line, body) = (&bytes[..end], bytes.get(end + 1..).unwrap_or_default());
    let named = std::str::from_utf8(line).ok().and_then(|name| TABLE.place(name));
    let sum: usize = line.iter().map(|byte| usize::from(*byte)).sum();
    let row = &TABLE.rows()[named.unwrap_or(sum % TABLE.rows().len())];
    let told: Result<Value, _> =
        if body.is_empty() { Ok(Value::Object(Default::default())) } else { serde_json::from_slice(body) };
    match row.decode(body) {
        Ok(call) => {
            let Ok(Value::Object(fields)) = &told else { panic!("{row:?} understood what is no JSON object") };
            let strange = fields.keys().find(|name| !row.fields.contains(&name.as_str()));
            assert_eq!(strange, None, "{row:?} passed over a field");
            let deep = fields.values().map(depth).max().unwrap_or_default();
            assert!(deep < DEPTH_MAX, "{row:?} took {deep} levels");
            written_alike(row, &call.written().expect("requests can be written"));
        }
        Err(error) => refused(row, &error, told.as_ref().ok()),
    }
}

fn written_alike(row: &Row, once: &[u8]) {
    let again = row.decode(once).unwrap_or_else(|error| panic!("{row:?} does not read what it wrote: {error}"));
    let twice = again.written().expect("requests can be written");
    assert_eq!(String::from_utf8_lossy(&twice), String::from_utf8_lossy(once), "{row:?} means something else");
}

fn refused(row: &Row, error: &Error, told: Option<&Value>) {
    assert_eq!(error.kind, Kind::InvalidRequest, "{row:?}: {error}");
    let length = error.message.chars().count();
    assert!((1..=MESSAGE_CHARS_MAX).contains(&length), "{row:?}: a message of {length} characters");
    match error.fields.get("field") {
        Some(Value::String(field)) => assert!(field.chars().count() <= FIELD_CHARS_MAX, "{row:?}: {field}"),
        Some(other) => panic!("{row:?}: the field is {other}"),
        None => {
            let known = ["the body is not UTF-8", "the body must be one JSON object"].contains(&error.message.as_str());
            let placed = error.message.starts_with("the body is not JSON: ") && error.message.contains(" at line ");
            assert!(known || placed, "{row:?}: neither a field nor a position: {error}");
            assert!(!told.is_some_and(Value::is_object), "{row:?}: no field for a JSON object: {error}");
        }
    }
}

fn depth(value: &Value) -> usize {
    let below = match value {
        Value::Array(items) => items.iter().map(depth).max(),
        Value::Object(fields) => fields.values().map(depth).max(),
        _ => return 0,
    };
    1 + below.unwrap_or_default()
}
