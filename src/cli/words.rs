//! Reads the words of the command line that are the API's: types, times, positions, metadata.

use memlog_actors::api::{AsOf, Said, Time, audit::Head};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

use crate::jobs::PARALLEL_MAX;

/// Stored text as a terminal may have it: lines and tabs stay, every other control character is shown as a mark, so that
/// nobody's memory can move the cursor or change the title of the window.
pub(super) fn harmless(text: &str) -> String {
    let shown = |c: char| if c.is_control() && c != '\n' && c != '\t' { char::REPLACEMENT_CHARACTER } else { c };
    text.chars().map(shown).collect()
}

/// A name of the wire, such as a type or a state; the error lists the names that there are.
pub(super) fn name<T: DeserializeOwned>(word: &str) -> Result<T, String> {
    serde_json::from_value(Value::String(word.to_owned())).map_err(|error| error.to_string())
}

/// A name of the wire, as it is written there.
pub(super) fn written<T: Serialize>(name: &T) -> String {
    match serde_json::to_value(name) {
        Ok(Value::String(word)) => word,
        _ => String::new(),
    }
}

/// An RFC 3339 time, a local one without zone (UTC), or a date.
pub(super) fn time(word: &str) -> Result<Time, String> {
    Time::parse(word)
}

/// The same, with the zone it is written in: which day it is there.
pub(super) fn said(word: &str) -> Result<Said, String> {
    Said::parse(word)
}

/// A global position, or else a time.
pub(super) fn as_of(word: &str) -> Result<AsOf, String> {
    match word.parse() {
        Ok(seq) => Ok(AsOf::Seq(seq)),
        Err(_) => Time::parse(word)
            .map(AsOf::Time)
            .map_err(|error| format!("neither a position of the log nor a time: {error}")),
    }
}

/// Extraction jobs at once.
pub(super) fn parallel(word: &str) -> Result<usize, String> {
    let number = word.parse().map_err(|_| "not a number".to_owned())?;
    if number > PARALLEL_MAX { Err(format!("at most {PARALLEL_MAX}")) } else { Ok(number) }
}

/// A JSON object.
pub(super) fn object(word: &str) -> Result<Map<String, Value>, String> {
    serde_json::from_str(word).map_err(|error| format!("not a JSON object: {error}"))
}

/// `seq:hash`, as `verify` prints it.
pub(super) fn head(word: &str) -> Result<Head, String> {
    let shape = || format!("expected SEQ:HASH as `memlog verify` prints it, got `{word}`");
    let (seq, hash) = word.split_once(':').ok_or_else(shape)?;
    let seq = seq.parse().map_err(|_| shape())?;
    if hash.len() != 64 || !hash.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(shape());
    }
    Ok(Head { seq, hash: hash.to_ascii_lowercase() })
}

#[cfg(test)]
mod tests {
    use memlog_actors::port::RecordType;

    use super::*;

    // A mistyped word must be caught before anything is opened, and the error must say what would have been right.
    #[test]
    fn words_that_are_not_the_apis_are_refused_with_those_that_are() {
        assert_eq!(name::<RecordType>("task"), Ok(RecordType::Task));
        assert!(name::<RecordType>("chore").is_err_and(|error| error.contains("`task`")));
        assert_eq!(written(&RecordType::Guideline), "guideline");
    }

    #[test]
    fn the_past_is_named_by_position_or_by_time() {
        assert_eq!(as_of("1234"), Ok(AsOf::Seq(1234)));
        assert_eq!(as_of("2026-07-01"), Time::parse("2026-07-01T00:00:00Z").map(AsOf::Time));
        assert!(as_of("yesterday").is_err());
    }

    #[test]
    fn a_head_is_a_position_and_a_whole_hash() {
        let hash = "AB".repeat(32);
        assert_eq!(head(&format!("7:{hash}")), Ok(Head { seq: 7, hash: hash.to_ascii_lowercase() }));
        assert!(head(&hash).is_err());
        assert!(head("7:abc").is_err());
    }

    // Whoever may talk to an agent must not talk to the terminal of the one who looks at its memory.
    #[test]
    fn stored_text_cannot_drive_the_terminal() {
        assert_eq!(harmless("a\n\tb"), "a\n\tb");
        assert_eq!(harmless("\u{1b}]0;owned\u{7}\r\u{9b}2J"), "\u{fffd}]0;owned\u{fffd}\u{fffd}\u{fffd}2J");
    }
}
