//! What a client may ask and what it hears: requests, replies, errors, in the words of the wire but without its bytes.
//!
//! Every verb is one request struct that implements [`Verb`]. The doors decode bytes into it and encode its reply; a new
//! verb is a struct here, a method of the system, and a row in the doors' table.

pub mod audit;
pub mod error;
pub mod job;
pub mod profile;
pub mod record;
pub mod speaker;
pub mod time;

use serde::{Serialize, de::DeserializeOwned};

pub use error::Error;
pub use time::{AsOf, Time};

use crate::system::System;

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

    /// Does it.
    fn run(self, system: &System, context: &Context)
    -> impl Future<Output = Result<Answer<Self::Reply>, Error>> + Send;
}

/// Implements [`Verb`] by a method of [`System`].
macro_rules! verb {
    ($request:ty, $noun:literal, $verb:literal, $reply:ty, $method:ident) => {
        impl $crate::api::Verb for $request {
            const NOUN: &'static str = $noun;
            const VERB: &'static str = $verb;
            type Reply = $reply;

            async fn run(
                self,
                system: &$crate::system::System,
                context: &$crate::api::Context,
            ) -> Result<$crate::api::Answer<$reply>, $crate::api::Error> {
                system.$method(context, self).await
            }
        }
    };
}
pub(crate) use verb;

/// The reply that says only: done.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Done {}
