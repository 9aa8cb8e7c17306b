//! The clients' own fields of documents, each text of them once: records of one source mostly say the same, and a filter then has to
//! be tried on each of them once.

use std::sync::{Arc, Weak};

use serde_json::{Map, Value};

use crate::view::HashMap;

/// An object of JSON, shared by all documents that have the very same.
pub type Fields = Arc<Map<String, Value>>;

/// What a field takes of memory, about.
const FIELD_BYTES: usize = 96;
/// Objects kept before it is first looked for those that no document has any more.
const PURGE_FROM: usize = 64;

/// An object as long as a document has it, and what it takes.
type Known = (Weak<Map<String, Value>>, usize);

/// All of them. An object goes with the last document that has it; here only a digest of it stays until the next purge.
#[derive(Debug, Default)]
pub(super) struct Pool {
    by_text: HashMap<[u8; 32], Known>,
    purge_at: usize,
    bytes: usize,
}

impl Pool {
    /// The fields that a text says; none if it says none.
    pub(super) fn get(&mut self, text: &str) -> Option<Fields> {
        if text == "{}" {
            return None;
        }
        let digest = *blake3::hash(text.as_bytes()).as_bytes();
        if let Some(known) = self.by_text.get(&digest).and_then(|(fields, _)| fields.upgrade()) {
            return Some(known);
        }
        let fields: Map<String, Value> = serde_json::from_str(text).ok()?;
        if fields.is_empty() {
            return None;
        }
        self.purge();
        let bytes = text.len() + fields.len() * FIELD_BYTES;
        let fields = Arc::new(fields);
        self.bytes += bytes;
        if let Some((_, before)) = self.by_text.insert(digest, (Arc::downgrade(&fields), bytes)) {
            // The same text came back after its last document had gone.
            self.bytes -= before;
        }
        Some(fields)
    }

    /// Drops what no document has any more, once there may be as many of those as of the others.
    fn purge(&mut self) {
        if self.by_text.len() < self.purge_at.max(PURGE_FROM) {
            return;
        }
        let mut bytes = 0;
        self.by_text.retain(|_, (fields, each)| {
            let alive = fields.strong_count() > 0;
            bytes += if alive { *each } else { 0 };
            alive
        });
        (self.bytes, self.purge_at) = (bytes, 2 * self.by_text.len());
    }

    /// Estimate for the memory budget.
    pub(super) fn bytes(&self) -> usize {
        self.bytes + self.by_text.len() * size_of::<([u8; 32], Known)>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_text_is_one_object_and_another_is_another() {
        let mut pool = Pool::default();
        let one = pool.get(r#"{"source":"chat"}"#).unwrap();
        assert!(Arc::ptr_eq(&one, &pool.get(r#"{"source":"chat"}"#).unwrap()));
        let other = pool.get(r#"{"source":"mail"}"#).unwrap();
        assert_eq!((&one["source"], &other["source"]), (&"chat".into(), &"mail".into()));
        assert!(["{}", "{ }", "", "[1]", "{"].into_iter().all(|nothing| pool.get(nothing).is_none()));
    }

    // What was forgotten must not stay because somebody once had it.
    #[test]
    fn an_object_goes_with_the_last_that_has_it() {
        let mut pool = Pool::default();
        let kept = pool.get(r#"{"kept":1}"#).unwrap();
        for number in 0..10 * PURGE_FROM {
            let gone = Arc::downgrade(&pool.get(&format!(r#"{{"number":{number}}}"#)).unwrap());
            assert!(gone.upgrade().is_none());
        }
        assert!(pool.by_text.len() <= PURGE_FROM && pool.bytes() < 20_000, "{}", pool.by_text.len());
        assert!(Arc::ptr_eq(&kept, &pool.get(r#"{"kept":1}"#).unwrap()));
    }

    // A client that saves and forgets the same again and again must not use the budget up.
    #[test]
    fn what_comes_back_is_counted_once() {
        let mut pool = Pool::default();
        let text = r#"{"source":"chat"}"#;
        drop(pool.get(text).unwrap());
        let bytes = pool.bytes();
        assert!(bytes > text.len());
        (0..10_000).for_each(|_| drop(pool.get(text).unwrap()));
        assert_eq!(pool.bytes(), bytes);
    }
}
