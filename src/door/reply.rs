//! Replies and failures as NATS messages, and back again for the client.

use async_nats::{HeaderMap, header::HeaderName};
use bytes::Bytes;
use memlog_actors::api::{Error, error::Kind};
use serde_json::{Map, Value, json};

use super::{HEADER_MESSAGE_BYTES_MAX, headers::REPLAYED, table::Reply};

/// The failure's code, by the NATS Services API.
pub const ERROR_CODE: &str = "Nats-Service-Error-Code";
/// The failure's message, by the NATS Services API.
pub const ERROR_MESSAGE: &str = "Nats-Service-Error";
/// `NATS/1.0`, line ends, and `: ` and a line end for each header.
const HEADER_BYTES_BASE: usize = 12;
const HEADER_BYTES_EACH: usize = 4;

/// A message to be sent: headers, if any, and a body.
#[derive(Debug)]
pub struct Outgoing {
    /// None of them for a plain success.
    pub headers: HeaderMap,
    /// One JSON object.
    pub body: Bytes,
}

impl Outgoing {
    /// How much of the server's `max_payload` it takes.
    pub fn bytes(&self) -> usize {
        let headers = self.headers.iter().flat_map(|(name, values)| {
            let name: &str = name.as_ref();
            values.iter().map(move |value| name.len() + value.as_str().len() + HEADER_BYTES_EACH)
        });
        let base = if self.headers.is_empty() { 0 } else { HEADER_BYTES_BASE };
        self.body.len() + base + headers.sum::<usize>()
    }
}

/// Whether an answer may go there: anywhere but to subjects that begin with `memlog.` or with `$`.
///
/// The subject of an answer is the caller's to choose and memlog's to publish on, and memlog may publish where a tenant may not: on
/// another's verbs and feed, on the desk of workers, on what the server itself listens to (`$JS.API`, where the empty reply of a deletion
/// is the order to delete a stream). Who asks for that is not answered, and nothing is done. Any other subject may be somebody's inbox:
/// whose, nobody can tell, so that what keeps others' answers out of it is that its name cannot be guessed.
pub fn may_answer(to: &str) -> bool {
    !to.starts_with('$') && to.split('.').next() != Some("memlog")
}

/// The message for a reply that fits, and for one that does not, the refusal.
pub fn encode(result: Result<Reply, Error>, payload_bytes_max: usize) -> (Outgoing, Option<Error>) {
    let refused = match result {
        Ok(reply) => {
            let mut headers = HeaderMap::new();
            if reply.replayed {
                headers.insert(REPLAYED, "true");
            }
            let outgoing = Outgoing { headers, body: reply.body.into() };
            if outgoing.bytes() <= payload_bytes_max {
                return (outgoing, None);
            }
            Error::invalid("limit", "the reply does not fit into a message of this NATS server; ask for less at once")
                .with("limit", payload_bytes_max as u64)
        }
        Err(error) => error,
    };
    (failure(&refused), Some(refused))
}

/// The message for a failure.
pub fn failure(error: &Error) -> Outgoing {
    let mut body = Map::new();
    body.insert("type".to_owned(), error.kind.name().into());
    body.insert("message".to_owned(), error.message.clone().into());
    for (name, value) in &error.fields {
        body.entry(name.clone()).or_insert_with(|| value.clone());
    }
    let mut headers = HeaderMap::new();
    headers.insert(ERROR_CODE, error.kind.code().to_string());
    headers.insert(ERROR_MESSAGE, header_safe(&error.message));
    Outgoing { headers, body: json!({"type": "error", "error": body}).to_string().into() }
}

/// One line of ASCII: a header cannot hold line ends, and not every client reads UTF-8 there.
pub fn header_safe(message: &str) -> String {
    let mut safe = String::new();
    for char in message.chars() {
        let escaped = match char {
            ' '..='~' => char.to_string(),
            _ => char.escape_default().to_string(),
        };
        if safe.len() + escaped.len() > HEADER_MESSAGE_BYTES_MAX {
            safe.push_str("...");
            break;
        }
        safe.push_str(&escaped);
    }
    safe
}

/// Every kind of failure.
pub(super) const KINDS: [Kind; 9] = [
    Kind::InvalidRequest,
    Kind::Authentication,
    Kind::Permission,
    Kind::NotFound,
    Kind::Conflict,
    Kind::Locked,
    Kind::CriticalUnread,
    Kind::Unavailable,
    Kind::Timeout,
];

/// The failure in a message, if it is one; the body wins over the header, which is cut.
pub fn failed(headers: Option<&HeaderMap>, body: &[u8]) -> Option<Error> {
    let headers = headers?;
    let code: u16 = header(headers, ERROR_CODE)?.parse().unwrap_or(Kind::Unavailable.code());
    let by_code = KINDS.into_iter().find(|kind| kind.code() == code).unwrap_or(Kind::Unavailable);
    let told = header(headers, ERROR_MESSAGE).unwrap_or_default().to_owned();
    let Some(Value::Object(mut fields)) = error_of(body) else { return Some(Error::new(by_code, told)) };
    let mut text = |name| match fields.remove(name) {
        Some(Value::String(text)) => Some(text),
        _ => None,
    };
    let kind = text("type").and_then(|name| KINDS.into_iter().find(|kind| kind.name() == name)).unwrap_or(by_code);
    let message = text("message").unwrap_or(told);
    Some(Error { kind, message, fields })
}

fn error_of(body: &[u8]) -> Option<Value> {
    let mut body: Value = serde_json::from_slice(body).ok()?;
    Some(body.get_mut("error")?.take())
}

/// A header by its name, whatever its case.
pub fn header<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let (_, values) = headers.iter().find(|(found, _): &(&HeaderName, _)| name.eq_ignore_ascii_case(found.as_ref()))?;
    values.first().map(async_nats::HeaderValue::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The documented shape, to the letter: clients in other languages read it.
    #[test]
    fn a_failure_has_code_type_message_and_fields() {
        for (error, code, body) in [
            (
                Error::past_limit("content", 32_768, "bytes"),
                "400",
                json!({"type": "invalid_request_error", "message": "content is past its limit of 32768 bytes",
                    "field": "content", "limit": 32_768}),
            ),
            (
                Error::not_found("speaker", "Zoë"),
                "404",
                json!({"type": "not_found_error", "message": "no such speaker: Zoë", "speaker": "Zoë"}),
            ),
            (
                Error::taken("name", "id-1"),
                "409",
                json!({"type": "conflict_error", "message": "name is taken", "existing_id": "id-1"}),
            ),
            (
                Error::unavailable("busy", 100),
                "503",
                json!({"type": "unavailable_error", "message": "busy", "retry_after_ms": 100}),
            ),
            (Error::timeout("late"), "504", json!({"type": "timeout_error", "message": "late"})),
        ] {
            let sent = failure(&error);
            assert_eq!(header(&sent.headers, ERROR_CODE), Some(code));
            let found: Value = serde_json::from_slice(&sent.body).unwrap();
            assert_eq!(found, json!({"type": "error", "error": body}));
            assert_eq!(failed(Some(&sent.headers), &sent.body), Some(error));
        }
    }

    #[test]
    fn no_answer_goes_to_subjects_of_memlog_or_of_the_server() {
        for any in ["_INBOX.a.1", "_INBOX_acme.a.1", "_R_.a", "_GR_.a.b._INBOX.c", "memlogs", "my.own.replies"] {
            assert!(may_answer(any), "{any}");
        }
        for other in
            ["$JS.API.STREAM.DELETE.memlog-jobs", "$SRV.PING", "$SYS.a", "memlog.v1.other.profile.delete", "memlog"]
        {
            assert!(!may_answer(other), "{other}");
        }
    }

    #[test]
    fn the_error_header_is_one_bounded_line_of_ascii() {
        assert_eq!(header_safe("a\r\nb: Zoë\u{0}"), "a\\r\\nb: Zo\\u{eb}\\u{0}");
        assert!(header_safe(&"ü".repeat(10_000)).len() <= HEADER_MESSAGE_BYTES_MAX + 3);
    }

    /// A field named like the envelope's own would otherwise hide the type that clients branch on.
    #[test]
    fn fields_never_hide_the_type() {
        let sent = failure(&Error::timeout("late").with("type", "x"));
        assert!(String::from_utf8_lossy(&sent.body).contains("timeout_error"));
    }

    #[test]
    fn a_reply_past_the_servers_limit_is_refused_at_the_exact_byte() {
        let reply = |bytes: usize, replayed| Ok(Reply { body: vec![b'x'; bytes], replayed });
        assert!(encode(reply(1_000, false), 1_000).1.is_none());
        let (sent, refused) = encode(reply(1_001, false), 1_000);
        assert_eq!(refused.unwrap().fields["field"], "limit");
        assert_eq!(header(&sent.headers, ERROR_CODE), Some("400"));
        // "Memlog-Replayed: true" and the frame of headers are 35 bytes more.
        assert!(encode(reply(965, true), 1_000).1.is_none());
        assert!(encode(reply(966, true), 1_000).1.is_some());
    }

    /// Another service on the same subjects may answer without a body of ours.
    #[test]
    fn a_foreign_failure_is_read_by_its_headers() {
        let mut headers = HeaderMap::new();
        headers.insert(ERROR_CODE, "404");
        headers.insert(ERROR_MESSAGE, "nope");
        assert_eq!(failed(Some(&headers), b""), Some(Error::new(Kind::NotFound, "nope")));
        assert_eq!(failed(Some(&HeaderMap::new()), b"{}"), None);
    }
}
