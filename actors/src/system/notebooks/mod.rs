//! `memory.*`, `agent.*`, `trash.*`: named notebooks of entries, the agents that attach them, and what was thrown away.
//!
//! A command asks `room` who acts and whether it may, then brings the change to its stream; a read answers from the views of
//! `view::notebook` and takes texts from the log. What may be done is asked of now, also in a read of the past.

mod agents;
mod brief;
mod entries;
mod memories;
pub(super) mod room;
mod search;
mod shown;
mod trash;

use crate::{
    api::{Error, error::Kind},
    domain::Rejection,
};

/// A rejection of a registry or a notebook that means the same for every command.
pub(crate) fn refused(rejection: &Rejection) -> Error {
    match rejection {
        Rejection::NoMemory => Error::new(Kind::NotFound, "no such memory"),
        Rejection::NoAgent => Error::new(Kind::NotFound, "no such agent"),
        Rejection::NoEntry => Error::new(Kind::NotFound, "no such entry"),
        Rejection::NameTaken(id) => Error::taken("name", id.to_string()),
        Rejection::VersionMoved(now) => {
            let error = Error::new(Kind::Conflict, "the entry is not at this version");
            now.iter().fold(error, |error, now| error.with("version", *now))
        }
        Rejection::NotDescribed => {
            Error::invalid("description", "a new entry needs a description: one line that says what it holds")
        }
        Rejection::AttachedBy(_) => Error::new(Kind::Conflict, "agents attach the memory"),
        Rejection::OwnMemory(_) => Error::new(Kind::Conflict, "the memory is an agent's own"),
        Rejection::NotYours => Error::new(Kind::Permission, "a memory is attached so only within its own scope"),
        _ => super::lookup::gone(),
    }
}
