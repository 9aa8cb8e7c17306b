//! The vectors of the questions that were asked last, so that a question asked again costs no model.
//!
//! A question is what somebody typed: it is kept in memory alone, as a digest, and its vector only until nobody has asked it for
//! `query_cache_idle_ms_max`. The model is no part of the key because a pool has one for its whole life.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Mutex, MutexGuard, PoisonError},
};

use memlog_events::ids::{Micros, Scope};

use crate::limits::Limits;

type Key = [u8; 32];

/// Key, place in the order of use, and what the two maps need for them.
const ENTRY_BYTES: usize = 160;

pub(super) struct Cache {
    entries_max: usize,
    bytes_max: usize,
    idle_micros: i64,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    entries: HashMap<Key, Entry>,
    /// By the number of the last use, the longest unused first.
    by_use: BTreeMap<u64, Key>,
    uses: u64,
    bytes: usize,
}

struct Entry {
    vector: Vec<f32>,
    used: u64,
    at: Micros,
}

impl Cache {
    pub(super) fn new(limits: &Limits) -> Self {
        let bytes_max = usize::try_from(limits.query_cache_bytes_max).unwrap_or(usize::MAX);
        let idle_micros = i64::try_from(limits.query_cache_idle_ms_max).unwrap_or(i64::MAX).saturating_mul(1_000);
        Self { entries_max: limits.query_cache_entries_max, bytes_max, idle_micros, kept: Mutex::default() }
    }

    /// The vector of a question that this profile was asked not long ago.
    pub(super) fn get(&self, scope: Scope, text: &str, now: Micros) -> Option<Vec<f32>> {
        let key = key(scope, text);
        let mut kept = self.kept();
        let mut entry = kept.remove(&key)?;
        if self.is_over(entry.at, now) {
            return None;
        }
        entry.at = now;
        let vector = entry.vector.clone();
        kept.insert(key, entry);
        Some(vector)
    }

    /// Keeps a vector, and drops the longest unused past the limits.
    pub(super) fn put(&self, scope: Scope, text: &str, vector: &[f32], now: Micros) {
        let key = key(scope, text);
        let mut kept = self.kept();
        kept.remove(&key);
        kept.insert(key, Entry { vector: vector.to_vec(), used: 0, at: now });
        while kept.entries.len() > self.entries_max || kept.bytes > self.bytes_max {
            let Some((_, oldest)) = kept.by_use.first_key_value() else { break };
            let oldest = *oldest;
            kept.remove(&oldest);
        }
    }

    /// Drops what nobody has asked for long.
    pub(super) fn drop_idle(&self, now: Micros) {
        let mut kept = self.kept();
        while let Some((_, oldest)) = kept.by_use.first_key_value() {
            let oldest = *oldest;
            if !kept.entries.get(&oldest).is_some_and(|entry| self.is_over(entry.at, now)) {
                break;
            }
            kept.remove(&oldest);
        }
    }

    fn is_over(&self, at: Micros, now: Micros) -> bool {
        at.0.saturating_add(self.idle_micros) <= now.0
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn insert(&mut self, key: Key, mut entry: Entry) {
        self.uses += 1;
        entry.used = self.uses;
        self.by_use.insert(entry.used, key);
        self.bytes += bytes(&entry);
        self.entries.insert(key, entry);
    }

    fn remove(&mut self, key: &Key) -> Option<Entry> {
        let entry = self.entries.remove(key)?;
        self.by_use.remove(&entry.used);
        self.bytes -= bytes(&entry);
        Some(entry)
    }
}

fn bytes(entry: &Entry) -> usize {
    ENTRY_BYTES + size_of::<f32>() * entry.vector.len()
}

fn key(scope: Scope, text: &str) -> Key {
    let mut hasher = blake3::Hasher::new();
    hasher.update(scope.0.as_bytes());
    hasher.update(text.as_bytes());
    *hasher.finalize().as_bytes()
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    const VECTOR: [f32; 2] = [0.6, 0.8];

    fn cache(limits: Limits) -> Cache {
        Cache::new(&limits)
    }

    fn profile(number: u128) -> Scope {
        Scope(Uuid::from_u128(number))
    }

    fn at(seconds: i64) -> Micros {
        Micros(seconds * 1_000_000)
    }

    // A hit must be the very vector, and what one profile was asked must not be told by the time another's reply takes.
    #[test]
    fn a_question_is_known_to_its_profile_alone() {
        let cache = cache(Limits::default());
        cache.put(profile(1), "who?", &VECTOR, at(0));
        assert_eq!(cache.get(profile(1), "who?", at(1)).as_deref(), Some(&VECTOR[..]));
        assert_eq!(cache.get(profile(1), "Who?", at(1)), None);
        assert_eq!(cache.get(profile(2), "who?", at(1)), None);
    }

    // What somebody typed is not kept for longer than it is of use, whether anybody looks or not.
    #[test]
    fn what_is_not_asked_again_is_gone() {
        let cache = cache(Limits { query_cache_idle_ms_max: 60_000, ..Limits::default() });
        for text in ["old", "new"] {
            cache.put(profile(1), text, &VECTOR, at(0));
        }
        assert!(cache.get(profile(1), "new", at(59)).is_some());
        cache.drop_idle(at(60));
        assert_eq!(cache.kept().entries.len(), 1);
        assert_eq!(cache.get(profile(1), "new", at(119)), None, "60 s after it was last asked");
        let kept = cache.kept();
        assert_eq!((kept.entries.len(), kept.by_use.len(), kept.bytes), (0, 0, 0));
    }

    #[test]
    fn the_longest_unused_makes_room() {
        let two = Limits { query_cache_entries_max: 2, ..Limits::default() };
        let entry = (ENTRY_BYTES + size_of_val(&VECTOR)) as u64;
        let bytes = Limits { query_cache_bytes_max: 2 * entry, ..Limits::default() };
        for limits in [two, bytes] {
            let cache = cache(limits);
            cache.put(profile(1), "a", &VECTOR, at(0));
            cache.put(profile(1), "b", &VECTOR, at(0));
            assert!(cache.get(profile(1), "a", at(0)).is_some());
            cache.put(profile(1), "c", &VECTOR, at(0));
            let known = ["a", "b", "c"].map(|text| cache.get(profile(1), text, at(0)).is_some());
            assert_eq!(known, [true, false, true]);
        }
        let none = cache(Limits { query_cache_entries_max: 0, ..Limits::default() });
        none.put(profile(1), "a", &VECTOR, at(0));
        assert!(none.get(profile(1), "a", at(0)).is_none(), "it can be switched off");
    }
}
