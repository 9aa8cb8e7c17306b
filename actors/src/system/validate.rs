//! What a request may say, checked before anything happens: each refusal names the field and the limit.

use std::str::FromStr;

use memlog_events::ids::Micros;
use serde_json::{Map, Value};
use unicode_normalization::UnicodeNormalization;

use super::Inner;
use crate::{
    api::{self, Context, Error, Time},
    limits::{
        AGENT_CHARS_MAX, CONTENT_BYTES_MAX, DESCRIPTION_CHARS_MAX, ENTRY_CHARS_MAX, HITS_DEFAULT, HITS_MAX,
        ID_CHARS_MAX, LOGIN_CHARS_MAX, METADATA_BYTES_MAX, METADATA_FILTER_BYTES_MAX, NOTEBOOK_CHARS_MAX, PAGE_DEFAULT,
        PAGE_MAX, PROFILE_CHARS_MAX, QUERY_BYTES_MAX, SPEAKER_CHARS_MAX, TTL_DAYS_MAX, WAIT_S_DEFAULT, WAIT_S_MAX,
    },
};

/// Refuses a namespace that is not a token, and everything while memlog shuts down.
pub(crate) fn context(inner: &Inner, context: &Context) -> Result<(), Error> {
    if *inner.stopping.borrow() {
        return Err(Error::unavailable("memlog is shutting down", super::lookup::RETRY_MS));
    }
    // A log that takes no writes for now refuses commands itself, and can still be read.
    if !inner.environment.log.is_open() {
        return Err(Error::unavailable("the log is closed", super::lookup::RETRY_MS));
    }
    api::check_namespace(&context.namespace)
}

fn chars(field: &str, text: &str, max: usize) -> Result<(), Error> {
    if is_blank(text) {
        return Err(Error::invalid(field, format!("{field} must not be blank")).with("limit", max));
    }
    if text.chars().count() > max {
        return Err(Error::past_limit(field, max as u64, "characters"));
    }
    if text.chars().any(char::is_control) {
        return Err(Error::invalid(field, format!("{field} must not contain control characters")));
    }
    Ok(())
}

/// Nothing that anybody could see: white space, control characters, and the marks that take no room.
fn is_blank(text: &str) -> bool {
    let unseen = |c: char| matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{feff}');
    text.chars().all(|c| c.is_whitespace() || c.is_control() || unseen(c))
}

/// A profile's name.
pub(crate) fn profile(name: &str) -> Result<(), Error> {
    chars("profile", name, PROFILE_CHARS_MAX)
}

/// A short name of the client's own.
pub(crate) fn name(field: &str, text: &str, max: usize) -> Result<(), Error> {
    chars(field, text, max)
}

/// An id that a client gives or asks for.
pub(crate) fn id(field: &str, id: &str) -> Result<(), Error> {
    chars(field, id, ID_CHARS_MAX)
}

/// A memory's name: a token that is easy to type and to put into a path.
pub(crate) fn notebook(name: &str) -> Result<(), Error> {
    token("name", name)
}

/// The same of anything else that has such a name.
pub(crate) fn token(field: &str, name: &str) -> Result<(), Error> {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    if name.len() > NOTEBOOK_CHARS_MAX {
        return Err(Error::past_limit(field, NOTEBOOK_CHARS_MAX as u64, "characters"));
    }
    if name.is_empty() || !name.bytes().all(allowed) {
        let message = format!("{field} must be 1 to {NOTEBOOK_CHARS_MAX} of A-Z, a-z, 0-9, ., _ and -");
        return Err(Error::invalid(field, message).with("limit", NOTEBOOK_CHARS_MAX));
    }
    Ok(())
}

/// An agent's name.
pub(crate) fn agent(name: &str) -> Result<(), Error> {
    line("name", name, AGENT_CHARS_MAX)
}

/// An entry's name.
pub(crate) fn entry(name: &str) -> Result<(), Error> {
    line("entry", name, ENTRY_CHARS_MAX)
}

/// The one line that says what something holds.
pub(crate) fn description(text: Option<&str>) -> Result<(), Error> {
    text.map_or(Ok(()), |text| line("description", text, DESCRIPTION_CHARS_MAX))
}

/// The same where the empty string takes away what is there.
pub(crate) fn change(field: &str, text: Option<&str>) -> Result<(), Error> {
    change_of(field, text, DESCRIPTION_CHARS_MAX)
}

/// The same of another length.
pub(crate) fn change_of(field: &str, text: Option<&str>, max: usize) -> Result<(), Error> {
    text.filter(|text| !text.is_empty()).map_or(Ok(()), |text| line(field, text, max))
}

/// A login or a group, as the headers of a call can name it.
pub(crate) fn caller(field: &str, name: &str) -> Result<(), Error> {
    chars(field, name, LOGIN_CHARS_MAX)?;
    if name.trim() != name || (field == "group" && name.contains(',')) {
        return Err(Error::invalid(
            field,
            format!("no call can name this {field}: it has a comma or spaces around it"),
        ));
    }
    Ok(())
}

/// What an agent is told to do; empty is nothing.
pub(crate) fn instructions(text: Option<&str>) -> Result<(), Error> {
    text.filter(|text| !text.is_empty()).map_or(Ok(()), |text| content("instructions", text))
}

/// A text that stays on one line wherever it is shown.
pub(crate) fn line(field: &str, text: &str, max: usize) -> Result<(), Error> {
    chars(field, text, max)?;
    if text.contains(['\u{2028}', '\u{2029}']) {
        return Err(Error::invalid(field, format!("{field} must be one line")));
    }
    Ok(())
}

/// A text that is to be kept.
pub(crate) fn content(field: &str, text: &str) -> Result<(), Error> {
    bytes(field, text, CONTENT_BYTES_MAX)
}

/// A question.
pub(crate) fn query(text: &str) -> Result<(), Error> {
    bytes("query", text, QUERY_BYTES_MAX)
}

fn bytes(field: &str, text: &str, max: usize) -> Result<(), Error> {
    if text.len() > max {
        return Err(Error::past_limit(field, max as u64, "bytes"));
    }
    if is_blank(text) {
        return Err(Error::invalid(field, format!("{field} must not be blank")));
    }
    Ok(())
}

/// Metadata as the text that is stored.
pub(crate) fn metadata(fields: Option<&Map<String, Value>>) -> Result<String, Error> {
    let Some(fields) = fields else { return Ok("{}".to_owned()) };
    let text = serde_json::to_string(fields).map_err(|error| Error::invalid("metadata", error.to_string()))?;
    if text.len() > METADATA_BYTES_MAX {
        return Err(Error::past_limit("metadata", METADATA_BYTES_MAX as u64, "bytes of JSON"));
    }
    Ok(text)
}

/// A speaker's name, trimmed and NFC.
pub(crate) fn speaker(name: &str) -> Result<String, Error> {
    let name: String = name.trim().nfc().collect();
    // What was sent is shown again, as far as a name goes: a refusal is no longer than that, whatever came.
    let shown = || name.chars().take(SPEAKER_CHARS_MAX).collect::<String>();
    chars("speaker", &name, SPEAKER_CHARS_MAX).map_err(|error| error.with("speaker", shown()))?;
    if name != "me" && name.to_lowercase() == "me" {
        let message = "the assistant is 'me' in lower case; no other casing of it is a name";
        return Err(Error::invalid("speaker", message).with("speaker", name));
    }
    Ok(name)
}

/// How many a page of a list shows.
pub(crate) fn page(limit: Option<u64>) -> Result<usize, Error> {
    within("limit", limit.unwrap_or(PAGE_DEFAULT), 1, PAGE_MAX)
}

/// How many hits a search shows.
pub(crate) fn hits(limit: Option<u64>) -> Result<usize, Error> {
    within("limit", limit.unwrap_or(HITS_DEFAULT), 1, HITS_MAX)
}

/// How many a list names.
pub(crate) fn list<T>(field: &str, items: Option<&Vec<T>>, max: usize) -> Result<(), Error> {
    match items {
        Some(items) if items.len() > max => Err(Error::past_limit(field, max as u64, "items")),
        _ => Ok(()),
    }
}

/// A filter over metadata: that it could mean something, and is no larger than what it is held against.
pub(crate) fn metadata_filter(filter: Option<&Map<String, Value>>) -> Result<(), Error> {
    let Some(filter) = filter else { return Ok(()) };
    let text = serde_json::to_string(filter).map_err(|error| Error::invalid("metadata_filter", error.to_string()))?;
    if text.len() > METADATA_FILTER_BYTES_MAX {
        return Err(Error::past_limit("metadata_filter", METADATA_FILTER_BYTES_MAX as u64, "bytes of JSON"));
    }
    super::filter::check(filter)
}

/// A number within its bounds.
pub(crate) fn within(field: &str, value: u64, min: u64, max: u64) -> Result<usize, Error> {
    if (min..=max).contains(&value) {
        return Ok(usize::try_from(value).unwrap_or(usize::MAX));
    }
    Err(Error::invalid(field, format!("{field} must be {min} to {max}")).with("limit", max))
}

/// How long to wait.
pub(crate) fn timeout(seconds: Option<f64>) -> Result<std::time::Duration, Error> {
    let seconds = seconds.unwrap_or(WAIT_S_DEFAULT);
    if seconds.is_finite() && (0.0..=WAIT_S_MAX).contains(&seconds) {
        return Ok(std::time::Duration::from_secs_f64(seconds));
    }
    Err(Error::invalid("timeout_s", format!("timeout_s must be 0 to {WAIT_S_MAX} seconds")).with("limit", WAIT_S_MAX))
}

/// When something expires.
pub(crate) fn expiry(ttl_days: Option<f64>, now: Micros) -> Result<Option<Micros>, Error> {
    const DAY_MICROS: f64 = 86_400e6;
    let Some(days) = ttl_days else { return Ok(None) };
    if days.is_finite() && (1.0..=TTL_DAYS_MAX).contains(&days) {
        #[allow(clippy::cast_possible_truncation, reason = "at most a hundred years in microseconds")]
        return Ok(Some(Micros(now.0 + (days * DAY_MICROS) as i64)));
    }
    let message = format!("ttl_days must be 1 to {TTL_DAYS_MAX} days");
    Err(Error::invalid("ttl_days", message).with("limit", if days < 1.0 { 1.0 } else { TTL_DAYS_MAX }))
}

/// A time that a client gives must be one that can be shown again.
pub(crate) fn time(field: &str, time: Option<Time>) -> Result<Option<Micros>, Error> {
    match time {
        Some(time) if jiff::Timestamp::from_microsecond(time.0.0).is_err() => {
            let (first, last) = (jiff::Timestamp::MIN, jiff::Timestamp::MAX);
            Err(Error::invalid(field, format!("{field} must be between {first} and {last}"))
                .with("limit", last.to_string()))
        }
        other => Ok(other.map(|time| time.0)),
    }
}

/// Text from a cursor's part.
pub(crate) fn parsed<T: FromStr>(text: Option<&str>) -> Option<T> {
    text?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::{content, is_blank, profile};

    // What nobody can see cannot be asked for again.
    #[test]
    fn what_nobody_can_see_is_blank() {
        for blank in ["", " ", "\t\n", "\u{200b}", "\u{feff} \u{2060}", "\0", "\u{3000}"] {
            assert!(is_blank(blank) && content("content", blank).is_err() && profile(blank).is_err(), "{blank:?}");
        }
        for seen in ["a", "日", "🙂", "\u{200d}a", "."] {
            assert!(!is_blank(seen) && content("content", seen).is_ok(), "{seen:?}");
        }
    }
}
