//! Any verb, as JSON: what is said to the door and what it answers.

use async_nats::HeaderMap;
use memlog::{
    client::{CallError, Client},
    door::table::{Kind, TABLE},
};
use memlog_actors::api::error;
use serde_json::{Value, json};

use crate::world::NAMESPACE;

/// A request: `noun.verb`, headers, body, and the idempotency key if there is one.
#[derive(Clone, Debug)]
pub(super) struct Said {
    pub(super) verb: &'static str,
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) body: Value,
    pub(super) key: Option<String>,
}

impl Said {
    pub(super) fn new(verb: &'static str, headers: Vec<(&'static str, String)>, body: Value) -> Self {
        Self { verb, headers, body, key: None }
    }

    /// Whether the door's table says that it changes something.
    pub(super) fn is_command(&self) -> bool {
        TABLE.rows()[TABLE.place(self.verb).expect("a verb of the door")].kind == Kind::Command
    }
}

/// Sends it; the reply, and whether it was given before.
pub(super) async fn send(client: &Client, said: &Said) -> Result<(Value, bool), CallError> {
    let mut headers = HeaderMap::new();
    let key = said.key.iter().map(|key| ("Nats-Msg-Id", key));
    for (name, value) in said.headers.iter().map(|(name, value)| (*name, value)).chain(key) {
        headers.insert(name, value.as_str());
    }
    let subject = format!("memlog.v1.{NAMESPACE}.{}", said.verb);
    let (body, replayed) = client.send(subject, headers, said.body.to_string().into()).await?;
    Ok((serde_json::from_slice(&body).map_err(CallError::Malformed)?, replayed))
}

/// A read, at a position if one is given. Null if there is no such thing.
pub(super) async fn read(
    client: &Client,
    verb: &'static str,
    headers: &[(&'static str, String)],
    mut body: Value,
    as_of: Option<u64>,
) -> Value {
    if let Some(seq) = as_of {
        body["as_of"] = json!({ "seq": seq });
    }
    let said = Said::new(verb, headers.to_vec(), body);
    match send(client, &said).await {
        Ok((reply, _)) => reply,
        Err(CallError::Refused(error)) if error.kind == error::Kind::NotFound => Value::Null,
        Err(error) => panic!("{verb} {}: {error}", said.body),
    }
}
