//! Requests on their way: many at once over one connection, each answer held against what the documentation says.

use std::time::Duration;

use async_nats::{HeaderMap, Request};
use futures::{StreamExt, stream};
use memlog::door::reply::{ERROR_CODE, ERROR_MESSAGE, header};
use serde_json::Value;

use super::world::{World, headers};

/// Calls under way at once, far fewer than a door admits.
const AT_ONCE: usize = 64;
/// None of these answers waits for anything; past this there is none.
const PATIENCE: Duration = Duration::from_secs(60);
/// A refusal says what is wrong in a few lines, however much was sent.
const REFUSAL_BYTES_MAX: usize = 8_192;

/// Names that must be known where they are given, lists of things that differ, and numbers that may be smaller than their text.
const UNKNOWN: [&str; 6] = ["user_id", "agent_id", "memories", "kind_key", "start", "end"];

/// What must be answered.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Expect {
    /// 400; there is no JSON that a field could be named of.
    Refused,
    /// 400 with this field, or one inside it.
    Field(String),
    /// The same with this limit.
    Limit(String, u64),
    /// Success.
    Answer,
    /// Whatever a value within its limits is answered with: a success, or that there is no such thing.
    WithinLimit(String),
}

/// A request and what must be answered.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) verb: String,
    /// What is wrong with it.
    pub(crate) what: String,
    pub(crate) body: Vec<u8>,
    pub(crate) expect: Expect,
}

/// Sends all of them and returns what was answered otherwise.
pub(crate) async fn send(world: &World, cases: Vec<Case>) -> Vec<String> {
    let nats = world.memlog.client.nats();
    let answers = stream::iter(cases).map(|case| async move {
        let mut map = HeaderMap::new();
        headers(&case.verb).iter().for_each(|(name, value)| map.insert(*name, *value));
        let request = Request::new().payload(case.body.clone().into()).headers(map).timeout(Some(PATIENCE));
        let subject = format!("memlog.v1.acme.{}", case.verb);
        let fault = match nats.send_request(subject, request).await {
            Ok(message) => {
                let told = |name| message.headers.as_ref().and_then(|headers| header(headers, name));
                check(&case.expect, told(ERROR_CODE), told(ERROR_MESSAGE), &message.payload)
            }
            Err(error) => Some(format!("no answer: {error}")),
        };
        fault.map(|fault| format!("{}, {}: {fault}", case.verb, case.what))
    });
    answers.buffer_unordered(AT_ONCE).filter_map(|fault| async { fault }).collect().await
}

fn check(expect: &Expect, code: Option<&str>, message: Option<&str>, body: &[u8]) -> Option<String> {
    let Ok(told) = serde_json::from_slice::<Value>(body) else { return Some("the answer is no JSON".to_owned()) };
    let error = &told["error"];
    let shown = || {
        let start: String = told.to_string().chars().take(300).collect();
        Some(format!("expected {expect:?}, not {} {start}", code.unwrap_or("200")))
    };
    let refused_well = || {
        let documented = code == Some("400") && error["type"] == "invalid_request_error" && told["type"] == "error";
        let in_words = error["message"].as_str().is_some_and(|text| !text.is_empty()) && message.is_some();
        documented && in_words && body.len() <= REFUSAL_BYTES_MAX
    };
    let names = |path: &str| error["field"].as_str().is_some_and(|field| is_inside(field, path));
    let good = match expect {
        Expect::Refused => refused_well(),
        Expect::Field(path) => refused_well() && names(path),
        Expect::Limit(path, limit) => refused_well() && names(path) && error["limit"] == *limit,
        Expect::Answer => code.is_none() && told.is_object() && told["type"] != "error",
        // What is long enough for a name may still name nobody, or a list the same thing twice.
        Expect::WithinLimit(path) => match code {
            Some("400") => {
                let unknown = names(path) && UNKNOWN.iter().any(|it| path.contains(it));
                error.get("limit").is_none() && (unknown || error.get("speaker").is_some())
            }
            Some("404" | "409") | None => true,
            Some(_) => false,
        },
    };
    if good { None } else { shown() }
}

/// `messages[0].content` is inside `messages`, and inside itself.
fn is_inside(field: &str, path: &str) -> bool {
    // Long paths are cut, with dots behind them.
    let field = field.strip_suffix("...").unwrap_or(field);
    field.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

/// A wrong answer that passes for a right one would hide every fault.
#[test]
fn wrong_answers_are_seen() {
    let body = |field: &str| {
        format!(
            r#"{{"type":"error","error":{{"type":"invalid_request_error","message":"no","field":"{field}","limit":3}}}}"#
        )
    };
    let check = |expect, code, field: &str| check(&expect, code, Some("no"), body(field).as_bytes()).is_none();
    let path = || "a.b".to_owned();
    assert!(check(Expect::Field(path()), Some("400"), "a.b") && check(Expect::Field(path()), Some("400"), "a.b[2].c"));
    assert!(check(Expect::Limit(path(), 3), Some("400"), "a.b") && check(Expect::Refused, Some("400"), "a"));
    for (expect, code, field) in [
        (Expect::Field(path()), Some("400"), "a.bc"),
        (Expect::Field(path()), Some("400"), "a"),
        (Expect::Field(path()), Some("404"), "a.b"),
        (Expect::Limit(path(), 4), Some("400"), "a.b"),
        (Expect::Answer, None, "a.b"),
        (Expect::Answer, Some("400"), "a.b"),
        (Expect::Refused, None, "a.b"),
        (Expect::WithinLimit(path()), Some("400"), "a.b"),
        (Expect::WithinLimit(path()), Some("503"), "a.b"),
    ] {
        assert!(!check(expect.clone(), code, field), "{expect:?} {code:?} {field}");
    }
}
