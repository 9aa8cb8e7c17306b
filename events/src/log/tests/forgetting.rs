//! Forgetting for real: no file holds what was said, and no crash brings it back.

use super::*;
use crate::log::{EmbeddingKey, EmbeddingRow, Sealed};

const MODEL: u32 = 1;

fn vector() -> Vec<u8> {
    (0..384u32).flat_map(|n| (n as f32).sin().to_le_bytes()).collect()
}

fn embedding(thread: &Subject, slot: Slot, version: u64) -> EmbeddingRow {
    let key =
        EmbeddingKey { scope: thread.key.scope, subject: slot, content: Version(version), chunk: 0, model: MODEL };
    EmbeddingRow { key, keys: thread.path(slot), vector: vector() }
}

fn assert_nowhere(dir: &Path, what: &[u8], name: &str) {
    for file in files_in(dir) {
        let bytes = std::fs::read(&file).unwrap();
        let found = bytes.windows(what.len()).any(|window| window == what);
        assert!(!found, "{name} in {}", file.display());
    }
}

/// The claim of the whole design: grep finds nothing, before or after, and after not even the key.
#[test]
fn no_file_ever_holds_text_names_or_vectors_and_no_key_after_forgetting() {
    let dir = tempfile::tempdir().unwrap();
    let log = open(dir.path());
    let thread = Subject::new(&log, 0);
    let (_, slot) = thread.say(&log, 0, SECRET);
    let (_, large) = thread.say(&log, 1, &SECRET.repeat(3_000));
    log.put_embeddings(&[embedding(&thread, slot, 1), embedding(&thread, large, 2)]).unwrap();
    let key = match log.0.core.vault.state(slot).unwrap() {
        crate::vault::State::Live(key) => key,
        crate::vault::State::Dead => panic!("dead"),
    };
    drop(log);
    let vault = std::fs::read(dir.path().join("vault")).unwrap();
    assert!(vault.windows(32).any(|window| window == key), "the test looks for the right thing");

    let log = open(dir.path());
    thread.forget(&log, 2, slot).unwrap();
    assert_nowhere(dir.path(), &key, "the key, while the log is open");
    drop(log);
    for (what, name) in [(&key[..], "the key"), (&SECRET.as_bytes()[..24], "text"), (&vector()[..64], "vector")] {
        assert_nowhere(dir.path(), what, name);
    }
    assert_nowhere(dir.path(), b"ada\0", "a name");
}

/// A vector can be turned back into text, so it dies in the same commit.
#[test]
fn vectors_die_with_their_subject_and_cannot_be_put_back() {
    let dir = tempfile::tempdir().unwrap();
    let log = open(dir.path());
    let thread = Subject::new(&log, 0);
    let (_, slot) = thread.say(&log, 0, SECRET);
    let (_, other) = thread.say(&log, 1, "harmless");
    let rows = [embedding(&thread, slot, 1), embedding(&thread, other, 2)];
    log.put_embeddings(&rows).unwrap();
    assert_eq!(log.embedding(rows[0].key).unwrap(), Some(vector()));
    assert_eq!(log.embeddings(thread.key.scope, None, 10).unwrap().len(), 2);

    thread.forget(&log, 2, slot).unwrap();
    log.put_embeddings(&rows).unwrap();
    assert_eq!(log.embedding(rows[0].key).unwrap(), None);
    let left = log.embeddings(thread.key.scope, None, 10).unwrap();
    assert_eq!(left, [(rows[1].key, vector())]);
    assert_eq!(log.embeddings(thread.key.scope, Some(rows[1].key), 10).unwrap(), []);
    assert_eq!(log.stats().unwrap().embeddings, 1);
}

/// A process killed between the commit and the overwriting has promised nothing, but the log knows: the next start
/// keeps it.
#[test]
fn killed_in_the_middle_of_forgetting_it_is_finished_before_anybody_reads() {
    let dir = tempfile::tempdir().unwrap();
    let log = open(dir.path());
    let thread = Subject::new(&log, 0);
    let mut slots = Vec::new();
    for n in 0..2_500 {
        slots.push(thread.say(&log, n, "x").1);
    }
    log.0.core.faults.dies_before_overwriting.store(true, Ordering::SeqCst);
    // Far more slots than one step of the start-up takes.
    let forgets = slots.iter().enumerate().map(|(n, slot)| {
        let event = draft(forgot(*slot), None);
        thread.batch(2_500 + n as u64, vec![event])
    });
    let answers = in_one_commit(&log, forgets.collect());
    assert!(answers.iter().all(|answer| matches!(answer, Err(append::Error::Failed(_)))));
    assert!(log.alive(thread.path(slots[0])).unwrap());
    drop(log);

    let log = open(dir.path());
    for slot in &slots {
        assert!(!log.alive(thread.path(*slot)).unwrap());
    }
    assert_eq!(log.0.core.vault.erased_through(), log.head());
    assert_eq!(log.verify(None).unwrap().first_break, None);
}

/// Deleting a profile is one event and one slot, whatever lies in it.
#[test]
fn one_slot_erases_everything_below_it() {
    let dir = tempfile::tempdir().unwrap();
    let log = open(dir.path());
    let thread = Subject::new(&log, 0);
    let (_, slot) = thread.say(&log, 0, SECRET);
    let digest = log.digest_in(thread.scope_slot, &[b"text"]).unwrap();
    assert!(digest.is_some() && digest == log.digest_in(thread.scope_slot, &[b"text"]).unwrap());
    assert_ne!(digest, log.digest_in(thread.scope_slot, &[b"te", b"xt"]).unwrap());
    log.put_embeddings(&[embedding(&thread, slot, 1)]).unwrap();
    thread.forget(&log, 1, thread.scope_slot).unwrap();

    let events = log.stream(thread.key, Version(0), 10).unwrap();
    assert_eq!(log.open_content(&events[0]).unwrap(), Sealed::Erased);
    assert_eq!(log.digest_in(thread.scope_slot, &[b"text"]).unwrap(), None);
    assert_eq!(log.embeddings(thread.key.scope, None, 10).unwrap(), []);
    let (late, _) = thread.message(&log, "too late");
    assert_eq!(log.append(thread.batch(2, vec![late])), Err(append::Error::Gone));
}

/// Slots are made ahead, never handed out twice, and those never used are handed out after a restart.
#[test]
fn slots_are_never_handed_out_twice() {
    let dir = tempfile::tempdir().unwrap();
    let log = open(dir.path());
    let thread = Subject::new(&log, 0);
    let mut all: Vec<Slot> = log.reserve(10_000).unwrap();
    all.extend([thread.scope_slot, thread.stream_slot]);
    all.push(thread.say(&log, 0, "x").1);
    drop(log);
    let log = open(dir.path());
    all.extend(log.reserve(10).unwrap());
    let before = all.len();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), before);
    assert!(log.alive(KeyPath { scope: *all.last().unwrap(), ..KeyPath::default() }).unwrap());
}
