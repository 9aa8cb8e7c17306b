//! The other side of the NATS door: calls verbs of a memlog that runs elsewhere. For the command line's `--nats`, and
//! for tests. Knows the wire, not the rules.

use std::time::Duration;

use async_nats::{HeaderMap, HeaderValue, Request, RequestErrorKind};
use bytes::Bytes;
use memlog_actors::api::{Answer, Context, Error, Verb, check_namespace};
use serde::Deserialize;

use crate::door::{
    self, PREFIX,
    connect::{self, Options},
    headers::{AGENT, GROUPS, KEY, REPLAYED, ROLE, SESSION, USER},
    reply,
};

/// How long an answer may take, besides the time that the request itself asks to wait.
pub const ANSWER_MAX: Duration = Duration::from_secs(120);

/// Why a call has no reply.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// memlog refused it, or failed; [`Error`] says which and why.
    #[error(transparent)]
    Refused(#[from] Error),
    /// No subscription at all.
    #[error("nothing answers for memlog on this NATS server: is memlog serve running?")]
    NobodyAnswers,
    /// Sent, and nothing came back.
    #[error("no answer within {0} s; a command may have been done, repeat it with the same idempotency key")]
    Silence(u64),
    /// The request is larger than the server lets pass.
    #[error("the request does not fit into a message of this NATS server: {0}")]
    TooLarge(String),
    /// The connection does not work.
    #[error("the NATS server cannot be reached: {0}")]
    Transport(String),
    /// The answer is not this verb's reply.
    #[error("the answer cannot be read; client and server may be of different versions: {0}")]
    Malformed(serde_json::Error),
}

/// A connection to a memlog. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Client {
    nats: async_nats::Client,
}

impl Client {
    /// Connects to the NATS server; whether memlog answers there shows at the first call.
    pub async fn connect(options: &Options) -> Result<Self, door::Error> {
        let link = connect::connect(options, std::sync::Arc::default()).await?;
        Ok(Self { nats: link.client })
    }

    /// The connection, for what is no call: the change feed, discovery.
    pub fn nats(&self) -> &async_nats::Client {
        &self.nats
    }

    /// Calls a verb.
    pub async fn call<V: Verb>(&self, context: &Context, request: &V) -> Result<Answer<V::Reply>, CallError> {
        check_namespace(&context.namespace)?;
        let body = serde_json::to_vec(request).map_err(CallError::Malformed)?;
        let subject = format!("{PREFIX}.{}.{}.{}", context.namespace, V::NOUN, V::VERB);
        let (body, replayed) = self.send(subject, headers(context)?, body.into()).await?;
        let reply = serde_json::from_slice(&body).map_err(CallError::Malformed)?;
        Ok(Answer { reply, replayed })
    }

    /// Sends bytes to a subject and reads whether they were refused: the body of the reply, and whether it was given before.
    pub async fn send(&self, subject: String, headers: HeaderMap, body: Bytes) -> Result<(Bytes, bool), CallError> {
        let answer_max = ANSWER_MAX + asked_to_wait(&body);
        let mut request = Request::new().payload(body).timeout(Some(answer_max));
        if !headers.is_empty() {
            request = request.headers(headers);
        }
        let message = self.nats.send_request(subject, request).await.map_err(|error| match error.kind() {
            RequestErrorKind::NoResponders => CallError::NobodyAnswers,
            RequestErrorKind::TimedOut => CallError::Silence(answer_max.as_secs()),
            RequestErrorKind::MaxPayloadExceeded => CallError::TooLarge(error.to_string()),
            _ => CallError::Transport(error.to_string()),
        })?;
        match reply::failed(message.headers.as_ref(), &message.payload) {
            Some(error) => Err(error.into()),
            None => {
                let replayed = message.headers.as_ref().and_then(|headers| reply::header(headers, REPLAYED));
                Ok((message.payload, replayed == Some("true")))
            }
        }
    }
}

/// The caller and the idempotency key as headers.
fn headers(context: &Context) -> Result<HeaderMap, Error> {
    let caller = &context.caller;
    let groups = caller.groups.join(",");
    let key = context.idempotency.as_ref().map(|idempotency| idempotency.key.as_str());
    let mut headers = HeaderMap::new();
    for (name, value) in [
        (USER, caller.user.as_deref()),
        (AGENT, caller.agent.as_deref()),
        (GROUPS, Some(groups.as_str()).filter(|groups| !groups.is_empty())),
        (ROLE, caller.admin.then_some("admin")),
        (SESSION, caller.session.as_deref()),
        (KEY, key),
    ] {
        let Some(value) = value else { continue };
        let value: HeaderValue = value.parse().map_err(|_| Error::invalid(name, format!("{name} has a line end")))?;
        headers.insert(name, value);
    }
    Ok(headers)
}

/// A call that waits answers later by as long as it asked for.
fn asked_to_wait(body: &[u8]) -> Duration {
    #[derive(Deserialize)]
    struct Asked {
        timeout_s: Option<f64>,
    }
    let asked = serde_json::from_slice(body).ok().and_then(|Asked { timeout_s }| timeout_s);
    asked.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()).unwrap_or_default()
}
