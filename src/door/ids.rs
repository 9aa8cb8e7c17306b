//! Ids of requests: what a line of the log, a span and an error that a client was told have in common.
//!
//! A caller may bring its own in `Memlog-Request-Id`. It goes into logs, so it must look like an id: a text could be content, or a
//! second line. `Nats-Msg-Id` is none: it belongs to a command and its repeats, and may be made of anything.

use std::sync::atomic::{AtomicU64, Ordering};

use async_nats::HeaderMap;
use memlog_actors::api::Error;

/// The id of a request, on it and on the reply of a failure.
pub const REQUEST_ID: &str = "Memlog-Request-Id";
/// Longer than a UUID or a trace id.
pub const REQUEST_ID_CHARS_MAX: usize = 64;

/// Gives out ids.
#[derive(Debug)]
pub(super) struct RequestIds {
    /// Of this process on this server.
    node: String,
    next: AtomicU64,
}

impl RequestIds {
    /// `node` tells processes apart.
    pub(super) fn new(node: &str) -> Self {
        // The end of a NUID is what differs between those that are made one after the other.
        let tail = node.char_indices().nth_back(7).map_or(node, |(at, _)| &node[at..]);
        Self { node: tail.to_owned(), next: AtomicU64::new(1) }
    }

    /// The caller's, if it is one, or a new one.
    pub(super) fn of(&self, headers: Option<&HeaderMap>) -> String {
        let given = headers.and_then(|headers| super::reply::header(headers, REQUEST_ID));
        match given.map(str::trim).map(checked) {
            Some(Ok(id)) => id.to_owned(),
            _ => format!("{}-{:x}", self.node, self.next.fetch_add(1, Ordering::Relaxed)),
        }
    }
}

/// A request id that a caller brings.
pub(super) fn checked(value: &str) -> Result<&str, Error> {
    if value.len() > REQUEST_ID_CHARS_MAX {
        return Err(Error::past_limit(REQUEST_ID, REQUEST_ID_CHARS_MAX as u64, "characters"));
    }
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if value.is_empty() || !value.chars().all(plain) {
        return Err(Error::invalid(REQUEST_ID, format!("{REQUEST_ID} has letters, digits, -, _ and . alone")));
    }
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_id_never_becomes_one() {
        let ids = RequestIds::new("aVeryLongNuidABCDEFGH");
        let given = |value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert("memlog-request-id", value);
            ids.of(Some(&headers))
        };
        assert_eq!(given("0af7651916cd43dd-8448.eb_21"), "0af7651916cd43dd-8448.eb_21");
        assert_eq!(given(&"x".repeat(64)), "x".repeat(64));
        let made =
            [given(""), given("my mother's name"), given("a/b"), given(&"x".repeat(65)), given("é"), ids.of(None)];
        for (at, id) in made.iter().enumerate() {
            assert_eq!(*id, format!("ABCDEFGH-{:x}", at + 1));
        }
    }
}
