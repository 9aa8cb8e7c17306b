//! What a client may ask and what it hears: requests, replies, errors, in the words of the wire but without its bytes.
//!
//! Every verb is one request struct that implements [`Verb`]. The doors decode bytes into it and encode its reply. Nothing
//! here looks anything up or decides.
//!
//! Every door does a verb by [`Verb::run`], which asks the gate of the notes first.
//!
//! To add a verb: a request and a reply in the file of its noun with a `verb!` line below them, the method of that name in
//! `system`, and a row in `src/door/table.rs`.

pub mod agent;
pub mod audit;
pub mod error;
pub mod given;
pub mod job;
pub mod memory;
pub mod note;
pub mod profile;
pub mod record;
pub mod speaker;
pub mod thread;
pub mod time;
pub mod trash;

use memlog_events::event::ByV1;
use serde::{Serialize, de::DeserializeOwned};

pub use error::Error;
pub use time::{AsOf, Said, Time, day_at};

use crate::{limits::NAMESPACE_CHARS_MAX, system::System};

/// Who calls, from the headers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Caller {
    /// The user acted for; none is the account itself.
    pub user: Option<String>,
    /// The agent that calls.
    pub agent: Option<String>,
    /// The user's groups.
    pub groups: Vec<String>,
    /// Whether the caller is an administrator.
    pub admin: bool,
    /// The session of the notes' gate.
    pub session: Option<String>,
}

/// A command's idempotency key and what it must always come with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Idempotency {
    /// The client's key: the header `Nats-Msg-Id`.
    pub key: String,
    /// Subject, body and caller, as they came; another one under the same key is a conflict.
    pub request: Vec<u8>,
}

/// All of a call but its request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Context {
    /// The tenant: `[A-Za-z0-9_-]{1,32}`.
    pub namespace: String,
    /// Who calls.
    pub caller: Caller,
    /// Makes a command idempotent for 24 hours.
    pub idempotency: Option<Idempotency>,
}

/// Refuses what is no namespace.
pub fn check_namespace(namespace: &str) -> Result<(), Error> {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    if namespace.len() > NAMESPACE_CHARS_MAX {
        return Err(Error::past_limit("namespace", NAMESPACE_CHARS_MAX as u64, "characters"));
    }
    if namespace.is_empty() || !namespace.bytes().all(allowed) {
        let message = format!("namespace must be 1 to {NAMESPACE_CHARS_MAX} of A-Z, a-z, 0-9, _ and -");
        return Err(Error::invalid("namespace", message).with("limit", NAMESPACE_CHARS_MAX));
    }
    Ok(())
}

/// A reply and whether it is an earlier one given again.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer<T> {
    /// The reply.
    pub reply: T,
    /// Whether it answers a repeated idempotency key: nothing was appended.
    pub replayed: bool,
}

impl<T> Answer<T> {
    /// A first answer.
    pub fn fresh(reply: T) -> Self {
        Self { reply, replayed: false }
    }
}

/// One verb of the API.
pub trait Verb: Serialize + DeserializeOwned + Send + Sync + 'static {
    /// The noun in its subject.
    const NOUN: &'static str;
    /// The verb in its subject.
    const VERB: &'static str;
    /// Its reply.
    type Reply: Serialize + DeserializeOwned + Send + 'static;

    /// What a session must have done before it.
    const NEEDS: Needs = Needs::AllRead;

    /// Does it, if the gate of the notes lets the call pass: the way of every door to every verb.
    fn run(
        self,
        system: &System,
        context: &Context,
    ) -> impl Future<Output = Result<Answer<Self::Reply>, Error>> + Send {
        async move {
            let passed = system.pass(context, Self::NEEDS).await?;
            self.act(system, context, passed).await
        }
    }

    /// What `run` does behind the gate; only the gate gives out a [`Passed`].
    fn act(
        self,
        system: &System,
        context: &Context,
        passed: Passed,
    ) -> impl Future<Output = Result<Answer<Self::Reply>, Error>> + Send;
}

/// What the session of a call must have done before a verb. A call without one needs nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// It need not even exist.
    Nothing,
    /// It must be the caller's.
    Session,
    /// The same, and every critical note that it may read must have been loaded in it.
    AllRead,
}

/// The proof that a call went through the gate.
#[derive(Debug)]
pub struct Passed(());

impl Passed {
    /// The gate's alone to give.
    pub(crate) fn given() -> Self {
        Self(())
    }
}

/// Implements [`Verb`] by a method of [`System`].
macro_rules! verb {
    ($request:ty, $noun:literal, $verb:literal, $reply:ty, $method:ident) => {
        $crate::api::verb!($request, $noun, $verb, $reply, $method, AllRead);
    };
    ($request:ty, $noun:literal, $verb:literal, $reply:ty, $method:ident, $needs:ident) => {
        impl $crate::api::Verb for $request {
            const NOUN: &'static str = $noun;
            const VERB: &'static str = $verb;
            type Reply = $reply;
            const NEEDS: $crate::api::Needs = $crate::api::Needs::$needs;

            async fn act(
                self,
                system: &$crate::system::System,
                context: &$crate::api::Context,
                _: $crate::api::Passed,
            ) -> Result<$crate::api::Answer<$reply>, $crate::api::Error> {
                system.$method(context, self).await
            }
        }
    };
}
pub(crate) use verb;

/// Who did something, as it is shown: `agent:<id>`, `user:<id>` or `api`.
pub fn author(by: &ByV1) -> String {
    match (&by.agent, &by.user) {
        (Some(agent), _) => format!("agent:{agent}"),
        (None, Some(user)) => format!("user:{user}"),
        (None, None) => "api".to_owned(),
    }
}

/// The reply that says only: done.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Done {}

#[cfg(test)]
mod tests {
    use super::check_namespace;

    // A namespace is a token of a NATS subject, and NATS permissions fence it: one character more and the fence has a hole.
    #[test]
    fn namespaces_are_checked_to_the_character() {
        for good in ["a", "A-Z_09", &"x".repeat(32)] {
            assert_eq!(check_namespace(good), Ok(()), "{good}");
        }
        for bad in ["", "a b", "a/b", "ü", "a$", &"x".repeat(33)] {
            assert_eq!(check_namespace(bad).unwrap_err().fields["field"], "namespace", "{bad}");
        }
    }
}
