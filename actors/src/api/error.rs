//! How a call fails. The doors turn each into a code and a body; clients branch on the code and the fields.

use serde_json::{Map, Value};

/// A refused or failed call. A failed command has stored nothing.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    /// Which kind.
    pub kind: Kind,
    /// For people; names the field and the limit, never shows stored text.
    pub message: String,
    /// `field`, `limit`, `speaker`, `existing_id`, `retry_after_ms`, ...: what machines branch on.
    pub fields: Map<String, Value>,
}

/// The kinds of failure and their codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// 400: malformed, out of limits.
    InvalidRequest,
    /// 401: no or a bad token.
    Authentication,
    /// 403: not this caller's to do.
    Permission,
    /// 404: no such thing, or not in this scope.
    NotFound,
    /// 409: name taken, version moved, still attached.
    Conflict,
    /// 423: an editor holds the notes.
    Locked,
    /// 428: critical notes not yet loaded.
    CriticalUnread,
    /// 503: shedding load, shutting down, or broken.
    Unavailable,
    /// 504: a wait ran out.
    Timeout,
}

impl Kind {
    /// The code in the header.
    pub fn code(self) -> u16 {
        match self {
            Self::InvalidRequest => 400,
            Self::Authentication => 401,
            Self::Permission => 403,
            Self::NotFound => 404,
            Self::Conflict => 409,
            Self::Locked => 423,
            Self::CriticalUnread => 428,
            Self::Unavailable => 503,
            Self::Timeout => 504,
        }
    }

    /// `error.type` in the body.
    pub fn name(self) -> &'static str {
        match self {
            Self::InvalidRequest => "invalid_request_error",
            Self::Authentication => "authentication_error",
            Self::Permission => "permission_error",
            Self::NotFound => "not_found_error",
            Self::Conflict => "conflict_error",
            Self::Locked => "locked_error",
            Self::CriticalUnread => "critical_unread_error",
            Self::Unavailable => "unavailable_error",
            Self::Timeout => "timeout_error",
        }
    }
}

impl Error {
    /// Any kind, with a message for people.
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), fields: Map::new() }
    }

    /// 400 about one field.
    pub fn invalid(field: &str, message: impl Into<String>) -> Self {
        Self::new(Kind::InvalidRequest, message).with("field", field)
    }

    /// 400 about a field that is past its limit.
    pub fn past_limit(field: &str, limit: u64, unit: &str) -> Self {
        Self::invalid(field, format!("{field} is past its limit of {limit} {unit}")).with("limit", limit)
    }

    /// 404: `field` is what was asked for.
    pub fn not_found(field: &str, asked: &str) -> Self {
        Self::new(Kind::NotFound, format!("no such {field}: {asked}")).with(field, asked)
    }

    /// 409: the name or id is another's.
    pub fn taken(field: &str, existing_id: impl Into<String>) -> Self {
        Self::new(Kind::Conflict, format!("{field} is taken")).with("existing_id", existing_id.into())
    }

    /// 503 with the time after which to try again.
    pub fn unavailable(message: impl Into<String>, retry_after_ms: u64) -> Self {
        Self::new(Kind::Unavailable, message).with("retry_after_ms", retry_after_ms)
    }

    /// 504.
    pub fn timeout(message: impl Into<String>) -> Self {
        Self::new(Kind::Timeout, message)
    }

    /// Adds a field for machines.
    #[must_use]
    pub fn with(mut self, field: &str, value: impl Into<Value>) -> Self {
        self.fields.insert(field.to_owned(), value.into());
        self
    }
}
