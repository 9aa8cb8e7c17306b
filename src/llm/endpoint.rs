//! One call of the endpoint over HTTP, and what its answer amounts to.

use std::{sync::Arc, time::Duration};

use jiff::fmt::rfc2822::DateTimeParser;
use serde::Deserialize;
use serde_json::Value;
use ureq::{
    Agent, Body, Error, Proxy, Timeout,
    http::{HeaderMap, Response},
    tls::{Certificate, RootCerts, TlsConfig},
};

use super::settings::{COMPLETIONS, Invalid, Key, Settings, is_loopback};

/// The longest answer that is read: what is longer is no answer to what is asked here.
const ANSWER_BYTES_MAX: u64 = 4 << 20;
/// Connections kept for the next call: as many as there may be workers that call at once.
const IDLE_CONNECTIONS_MAX: usize = 256;
/// How long a connection may take to come about; an endpoint that is there takes far less.
const CONNECT_MAX: Duration = Duration::from_secs(10);

/// Where the model is.
pub(super) struct Endpoint {
    agent: Agent,
    url: String,
    pub(super) model: String,
    key: Option<Key>,
}

/// A call that gave nothing that can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CallFailed {
    /// A short, stable code.
    pub(super) code: &'static str,
    /// Whether trying again may help.
    pub(super) transient: bool,
    /// When the endpoint wants to be asked again.
    pub(super) retry_after: Option<Duration>,
}

impl CallFailed {
    pub(super) const fn passing(code: &'static str) -> Self {
        Self { code, transient: true, retry_after: None }
    }

    pub(super) const fn lasting(code: &'static str) -> Self {
        Self { code, transient: false, retry_after: None }
    }
}

impl Endpoint {
    /// None if no model is to be used.
    pub(super) fn new(settings: &Settings) -> Result<Option<Self>, Invalid> {
        let Some((url, model)) = settings.address()? else { return Ok(None) };
        let agent = agent(&url);
        Ok(Some(Self { agent, url, model, key: settings.key.clone() }))
    }

    /// What the model said, in at most `within`.
    pub(super) fn complete(&self, body: &[u8], within: Duration) -> Result<String, CallFailed> {
        let mut request = self.agent.post(&self.url).header("content-type", "application/json");
        if let Some(key) = &self.key {
            request = request.header("authorization", format!("Bearer {}", key.reveal()));
        }
        let sent = request.config().timeout_global(Some(within)).build().send(body);
        let mut response = sent.map_err(|error| unanswered(&error))?;
        refusal_of(&response)?;
        said(&whole(&mut response)?)
    }
}

/// A client for one endpoint: no redirects, no proxy on the way to this machine.
pub(crate) fn agent(url: &str) -> Agent {
    // Whatever TLS the process speaks already; a second provider would be a second library.
    let provider = Arc::clone(rustls::ClientConfig::builder().crypto_provider());
    let roots: Vec<_> = if url.starts_with("https:") {
        let found = rustls_native_certs::load_native_certs();
        found.certs.iter().map(|certificate| Certificate::from_der(certificate).to_owned()).collect()
    } else {
        Vec::new()
    };
    let tls = TlsConfig::builder()
        .unversioned_rustls_crypto_provider(provider)
        .root_certs(RootCerts::new_with_certs(&roots))
        .build();
    Agent::config_builder()
        .http_status_as_error(false)
        // A key must not follow wherever an answer points.
        .max_redirects(0)
        .timeout_connect(Some(CONNECT_MAX))
        .max_idle_connections(IDLE_CONNECTIONS_MAX)
        .max_idle_connections_per_host(IDLE_CONNECTIONS_MAX)
        .proxy(if is_loopback(url) { None } else { Proxy::try_from_env() })
        .tls_config(tls)
        .user_agent(concat!("memlog/", env!("CARGO_PKG_VERSION")))
        .build()
        .new_agent()
}

fn unanswered(error: &Error) -> CallFailed {
    match error {
        Error::Timeout(Timeout::Connect | Timeout::Resolve) => CallFailed::passing("llm_unreachable"),
        Error::Timeout(_) => CallFailed::passing("llm_timeout"),
        _ => CallFailed::passing("llm_unreachable"),
    }
}

fn refusal_of(response: &Response<Body>) -> Result<(), CallFailed> {
    let status = response.status().as_u16();
    let failed = match status {
        200..=299 => return Ok(()),
        401 | 403 => CallFailed::lasting("llm_unauthorized"),
        408 => CallFailed::passing("llm_timeout"),
        429 => CallFailed::passing("llm_rate_limited"),
        500..=599 => CallFailed::passing("llm_server_error"),
        _ => CallFailed::lasting("llm_rejected"),
    };
    tracing::debug!(status, code = failed.code, "the language model's endpoint did not answer");
    Err(CallFailed { retry_after: retry_after(response.headers()).filter(|_| failed.transient), ..failed })
}

/// Longer than any try waits; an endpoint may ask for centuries.
const RETRY_AFTER_MAX: Duration = Duration::from_secs(3_600);

/// In seconds, or until a date, which is counted from the endpoint's own.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    let after = text("retry-after")?;
    if let Ok(seconds) = after.parse() {
        return Some(Duration::from_secs(seconds).min(RETRY_AFTER_MAX));
    }
    let at = |text: &str| DateTimeParser::new().parse_timestamp(text).ok();
    let wait = at(after)?.duration_since(at(text("date")?)?);
    Some(Duration::try_from(wait).unwrap_or_default().min(RETRY_AFTER_MAX))
}

fn whole(response: &mut Response<Body>) -> Result<Vec<u8>, CallFailed> {
    let read = response.body_mut().with_config().limit(ANSWER_BYTES_MAX).read_to_vec();
    read.map_err(|error| match error {
        Error::Timeout(_) => CallFailed::passing("llm_timeout"),
        Error::BodyExceedsLimit(_) => CallFailed::lasting("malformed_answer"),
        // The connection broke; the next one may hold.
        _ => CallFailed::passing("truncated_answer"),
    })
}

/// What we read of a chat completion; endpoints add fields of their own to it.
#[derive(Deserialize)]
struct Completion {
    choices: Vec<Choice>,
}

#[derive(Deserialize)]
struct Choice {
    message: Message,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Message {
    content: Option<String>,
    refusal: Option<String>,
}

fn said(answer: &[u8]) -> Result<String, CallFailed> {
    let malformed = CallFailed::lasting("malformed_answer");
    let completion: Completion = serde_json::from_slice(answer).map_err(|_| malformed)?;
    let choice = completion.choices.into_iter().next().ok_or(malformed)?;
    if choice.message.refusal.is_some_and(|refusal| !refusal.is_empty()) {
        return Err(CallFailed::lasting("refused"));
    }
    match choice.finish_reason.as_deref() {
        None | Some("stop" | "eos") => {}
        Some("length") => return Err(CallFailed::lasting("truncated_answer")),
        Some("content_filter") => return Err(CallFailed::lasting("refused")),
        // A tool, say: there is none.
        Some(_) => return Err(malformed),
    }
    choice.message.content.filter(|content| !content.trim().is_empty()).ok_or(malformed)
}

/// What `doctor` found at the endpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// It answers, and lists the model or lists nothing.
    Well,
    /// It answers, but its list of models lacks ours.
    NoSuchModel,
    /// It answers, and does not take the key.
    Unauthorized,
    /// It answers with this status where models are listed, which not every endpoint does.
    Unlisted(u16),
    /// It does not answer.
    Unreachable,
}

/// Asks the endpoint for its list of models, which costs nothing; none if no model is to be used.
pub fn look(settings: &Settings) -> Result<Option<Found>, Invalid> {
    let Some(endpoint) = Endpoint::new(settings)? else { return Ok(None) };
    let (base, query) = endpoint.url.split_once('?').map_or((endpoint.url.as_str(), ""), |(base, query)| (base, query));
    let base = base.strip_suffix(COMPLETIONS).unwrap_or(base);
    let query = if query.is_empty() { String::new() } else { format!("?{query}") };
    let mut request = endpoint.agent.get(format!("{base}/models{query}"));
    if let Some(key) = &endpoint.key {
        request = request.header("authorization", format!("Bearer {}", key.reveal()));
    }
    let Ok(mut response) = request.config().timeout_global(Some(CONNECT_MAX)).build().call() else {
        return Ok(Some(Found::Unreachable));
    };
    Ok(Some(match response.status().as_u16() {
        200..=299 => {
            let listed: Value =
                whole(&mut response).ok().and_then(|body| serde_json::from_slice(&body).ok()).unwrap_or_default();
            let models = listed["data"].as_array().map(Vec::as_slice).unwrap_or_default();
            let ours = |model: &Value| model["id"] == endpoint.model.as_str();
            if models.is_empty() || models.iter().any(ours) { Found::Well } else { Found::NoSuchModel }
        }
        401 | 403 => Found::Unauthorized,
        status => Found::Unlisted(status),
    }))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(choice: Value) -> Result<String, &'static str> {
        said(json!({ "id": "x", "choices": [choice], "usage": {} }).to_string().as_bytes())
            .map_err(|failed| failed.code)
    }

    // What an endpoint says beside the answer decides what the answer is worth.
    #[test]
    fn only_a_whole_answer_counts() {
        let message = json!({ "role": "assistant", "content": "{}" });
        assert_eq!(of(json!({ "message": message, "finish_reason": "stop" })), Ok("{}".to_owned()));
        assert_eq!(of(json!({ "message": message, "finish_reason": null })), Ok("{}".to_owned()));
        assert_eq!(of(json!({ "message": message, "finish_reason": "length" })), Err("truncated_answer"));
        assert_eq!(of(json!({ "message": message, "finish_reason": "content_filter" })), Err("refused"));
        assert_eq!(of(json!({ "message": message, "finish_reason": "tool_calls" })), Err("malformed_answer"));
        let refused = json!({ "message": { "content": null, "refusal": "I will not" }, "finish_reason": "stop" });
        assert_eq!(of(refused), Err("refused"));
        assert_eq!(of(json!({ "message": { "content": " " } })), Err("malformed_answer"));
        assert_eq!(of(json!({ "message": { "content": ["parts"] } })), Err("malformed_answer"));
        for answer in [&b"<html>"[..], b"", b"{\"error\":{}}", b"{\"choices\":[]}", b"[1]"] {
            assert_eq!(said(answer).map_err(|failed| failed.code), Err("malformed_answer"));
        }
    }

    // Endpoints say when to come back in seconds or as a date; a date of theirs is compared with their own clock.
    #[test]
    fn when_to_come_back() {
        let of = |pairs: &[(&'static str, &str)]| {
            let mut headers = HeaderMap::new();
            for (name, value) in pairs {
                headers.insert(*name, value.parse().expect("a value"));
            }
            retry_after(&headers)
        };
        assert_eq!(of(&[("retry-after", "7")]), Some(Duration::from_secs(7)));
        let date = ("date", "Wed, 21 Oct 2015 07:28:00 GMT");
        let later = ("retry-after", "Wed, 21 Oct 2015 07:28:30 GMT");
        assert_eq!(of(&[date, later]), Some(Duration::from_secs(30)));
        assert_eq!(of(&[("retry-after", date.1), ("date", later.1)]), Some(Duration::ZERO));
        assert_eq!(of(&[("retry-after", "soon")]), None);
        assert_eq!(of(&[later]), None);
    }

    // The provider and the authorities come from outside the HTTP client; without them it would panic at the first call.
    #[test]
    fn https_speaks_tls() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        let first = std::thread::spawn(move || {
            let mut byte = [0];
            let (mut connection, _) = listener.accept().expect("a call");
            std::io::Read::read_exact(&mut connection, &mut byte).expect("a byte");
            byte[0]
        });
        let url = Some(format!("https://localhost:{port}/v1"));
        let settings = Settings { url, model: Some("m".to_owned()), ..Settings::default() };
        let endpoint = Endpoint::new(&settings).expect("valid").expect("named");
        assert_eq!(endpoint.complete(b"{}", CONNECT_MAX), Err(CallFailed::passing("llm_unreachable")));
        // The type of a TLS record that carries a handshake.
        assert_eq!(first.join().expect("called"), 22);
    }
}
