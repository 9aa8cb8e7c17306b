//! Bytes to a request: one JSON object, and every fault named by its field.
//!
//! Two steps. [`tree`] reads the text and refuses what JSON leaves open (a name given twice, bottomless nesting);
//! [`typed`] turns the tree into the request and never reads an array as an object, as serde's derive would. Messages
//! name fields and types; they show nothing of a value.

mod fault;
mod tree;
mod typed;

use memlog_actors::api::{Error, error::Kind};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// The request in `body`; an empty body is `{}`.
pub fn decode<T: DeserializeOwned>(body: &[u8]) -> Result<T, Error> {
    let value = if body.is_empty() { Value::Object(Map::new()) } else { tree::parse(body)? };
    if !value.is_object() {
        return Err(Error::new(Kind::InvalidRequest, "the body must be one JSON object"));
    }
    Ok(T::deserialize(typed::Typed(value))?)
}

#[cfg(test)]
mod tests;
