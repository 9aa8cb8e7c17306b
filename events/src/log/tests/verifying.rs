//! Nothing can be changed, removed, swapped, cut or rolled back unseen, and what is wrong is named.

use super::*;
use crate::{
    log::{Break, Error, Reason, rows, tables::Writing},
    vault,
};

/// A log of two threads with four events each, and the bytes of an event.
fn story(dir: &Path) -> (Log, Subject) {
    let log = open(dir);
    let (thread, other) = (Subject::new(&log, 0), Subject::new(&log, 5));
    for n in 0..4 {
        thread.say(&log, n, &format!("number {n}"));
        other.say(&log, n, "other");
    }
    (log, thread)
}

fn change(log: &Log, change: impl FnOnce(&mut Writing<'_>)) {
    log.0
        .core
        .quick(|tables| {
            change(tables);
            Ok(())
        })
        .unwrap();
}

fn event(log: &Log, key: StreamKey, version: u64) -> Vec<u8> {
    let key = rows::event_key(key, Version(version));
    let event = log.0.core.read().unwrap().events().unwrap().get_owned(&key).unwrap();
    event.unwrap().value().to_vec()
}

fn put(log: &Log, key: StreamKey, version: u64, event: &[u8]) {
    let key = rows::event_key(key, Version(version));
    change(log, |tables| {
        tables.events.insert(&key, event).unwrap();
    });
}

fn remove(log: &Log, key: StreamKey, version: u64) {
    let key = rows::event_key(key, Version(version));
    change(log, |tables| {
        tables.events.remove(&key).unwrap();
    });
}

fn first_break(log: &Log) -> Break {
    log.verify(None).unwrap().first_break.expect("something is wrong")
}

/// Each byte of an event is covered by something.
#[test]
fn any_flipped_byte_is_named_by_stream_and_version() {
    let dir = tempfile::tempdir().unwrap();
    let (log, thread) = story(dir.path());
    let sound = event(&log, thread.key, 2);
    for at in 0..sound.len() {
        let mut flipped = sound.clone();
        flipped[at] ^= 0x10;
        put(&log, thread.key, 2, &flipped);
        let broken = first_break(&log);
        assert_eq!((broken.stream, broken.version), (Some(thread.key), Version(2)), "byte {at}");
    }
    for cut in [0, 100, 180, sound.len() - 1] {
        put(&log, thread.key, 2, &sound[..cut]);
        assert_eq!(first_break(&log).version, Version(2), "cut at {cut}");
    }
    put(&log, thread.key, 2, &sound);
    assert_eq!(log.verify(None).unwrap().first_break, None);
}

/// The same through the file itself, as somebody with an editor would.
#[test]
fn a_byte_flipped_in_the_file_is_found() {
    let dir = tempfile::tempdir().unwrap();
    let (log, thread) = story(dir.path());
    let sealed = event(&log, thread.key, 3);
    let needle = sealed[sealed.len() - 40..].to_vec();
    drop(log);
    let path = dir.path().join("log.redb");
    let mut bytes = std::fs::read(&path).unwrap();
    let places: Vec<usize> = (0..bytes.len() - 40).filter(|at| bytes[*at..at + 40] == needle).collect();
    assert!(!places.is_empty());
    for at in places {
        bytes[at + 5] ^= 1;
    }
    std::fs::write(&path, bytes).unwrap();
    let broken = first_break(&open(dir.path()));
    assert_eq!((broken.stream, broken.version), (Some(thread.key), Version(3)));
    assert_eq!(broken.reason, Reason::Content);
}

/// Whether in the middle or at the end of a stream.
#[test]
fn a_removed_event_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let (log, thread) = story(dir.path());
    for version in [1, 2, 4] {
        let sound = event(&log, thread.key, version);
        remove(&log, thread.key, version);
        let broken = first_break(&log);
        assert_eq!((broken.stream, broken.version), (Some(thread.key), Version(version)));
        assert_eq!(broken.reason, Reason::Missing);
        put(&log, thread.key, version, &sound);
    }
    assert_eq!(log.verify(None).unwrap().first_break, None);

    // With its order row too, the chain of commits still tells.
    let last = log.at(thread.key, Version(4)).unwrap().unwrap().head.position;
    remove(&log, thread.key, 4);
    let key = rows::order_key(thread.key.partition, last);
    change(&log, |tables| {
        tables.order.remove(&key).unwrap();
    });
    let broken = first_break(&log);
    assert_eq!((broken.position, broken.reason), (last, Reason::Commits));
}

/// Events know their places, and forging the places breaks the chain, whose key is in the vault.
#[test]
fn a_swapped_pair_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let (log, thread) = story(dir.path());
    let (second, third) = (event(&log, thread.key, 2), event(&log, thread.key, 3));
    put(&log, thread.key, 2, &third);
    put(&log, thread.key, 3, &second);
    let broken = first_break(&log);
    assert_eq!((broken.stream, broken.version), (Some(thread.key), Version(2)));
    assert_eq!(broken.reason, Reason::Misplaced);
    assert!(log.stream(thread.key, Version(1), 1).is_err(), "nor is it read");

    // A forger who moves the heads too, checksums and all.
    let position = |bytes: &[u8]| crate::head::Head::parse(bytes).unwrap().position;
    let places = [position(&second), position(&third)];
    for (version, bytes, position) in [(2, third, places[0]), (3, second, places[1])] {
        let parts = crate::head::Parts::split(&bytes).unwrap();
        let head = crate::head::Head { position, version: Version(version), ..parts.head };
        let head = head.to_bytes(parts.facts);
        let forged = [&head[..], &parts.chain, parts.facts, parts.sealed.unwrap()].concat();
        put(&log, thread.key, version, &forged);
    }
    let broken = first_break(&log);
    assert_eq!((broken.version, broken.reason), (Version(2), Reason::Chain));
}

/// A log cut or rolled back is whole in itself; only a head noted elsewhere can tell.
#[test]
fn a_log_that_was_rolled_back_is_found_by_its_expected_head() {
    let dir = tempfile::tempdir().unwrap();
    let (log, thread) = story(dir.path());
    let early = log.verify(None).unwrap().head;
    drop(log);
    let copy = tempfile::tempdir().unwrap();
    for file in ["log.redb", "vault"] {
        std::fs::copy(dir.path().join(file), copy.path().join(file)).unwrap();
    }
    let log = open(dir.path());
    thread.say(&log, 4, "later");
    let late = log.verify(Some(early)).unwrap();
    assert_eq!(late.first_break, None, "a log that grew still holds what it held");
    assert_eq!(log.verify(Some(late.head)).unwrap().first_break, None);

    let back = open(copy.path());
    assert_eq!(back.verify(None).unwrap().first_break, None);
    let broken = back.verify(Some(late.head)).unwrap().first_break.unwrap();
    assert_eq!((broken.position, broken.reason), (late.head.0, Reason::Expected));
    // Grown again to the same length, with other events.
    thread.say(&back, 4, "another");
    let broken = back.verify(Some(late.head)).unwrap().first_break.unwrap();
    assert_eq!(broken.reason, Reason::Expected);
}

/// Only the log makes a dead slot legitimate.
#[test]
fn a_slot_dead_without_an_event_is_corruption() {
    let dir = tempfile::tempdir().unwrap();
    let (log, thread) = story(dir.path());
    let slot = log.at(thread.key, Version(1)).unwrap().unwrap().head.keys.subject;
    log.0.core.vault.erase(&[slot], log.head()).unwrap();
    assert_eq!(first_break(&log).reason, Reason::DeadSlot(slot.0));
}

/// Damage is not erasure: it is told as damage, and never as "forgotten".
#[test]
fn a_damaged_slot_is_an_error_and_not_an_erasure() {
    let dir = tempfile::tempdir().unwrap();
    let (log, thread) = story(dir.path());
    let slot = log.at(thread.key, Version(1)).unwrap().unwrap().head.keys.subject;
    drop(log);
    let path = dir.path().join("vault");
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[slot.0 as usize * 64 + 3] ^= 1;
    std::fs::write(&path, bytes).unwrap();

    let log = open(dir.path());
    let stored = log.at(thread.key, Version(1)).unwrap().unwrap();
    let error = log.open_content(&stored).unwrap_err();
    assert!(matches!(error, Error::Vault(vault::Error::Damaged(at)) if at == slot), "{error}");
    assert_eq!(first_break(&log).reason, Reason::BadSlot(slot.0));
}

/// A content cut away while its key lives is a loss, not a purge.
#[test]
fn a_content_missing_though_its_key_lives_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let (log, thread) = story(dir.path());
    let sound = event(&log, thread.key, 2);
    let kept = crate::head::FACTS_AT + crate::head::Parts::split(&sound).unwrap().facts.len();
    put(&log, thread.key, 2, &sound[..kept]);
    let broken = first_break(&log);
    assert_eq!((broken.version, broken.reason), (Version(2), Reason::ContentMissing));
    let stored = log.at(thread.key, Version(2)).unwrap().unwrap();
    assert!(log.open_content(&stored).is_err());
}

/// A check that cries wolf on a busy log would soon be ignored.
#[test]
fn a_busy_log_is_found_sound() {
    let dir = tempfile::tempdir().unwrap();
    let log = open(dir.path());
    std::thread::scope(|threads| {
        let writers: Vec<_> = (0..3)
            .map(|partition| {
                let log = &log;
                threads.spawn(move || {
                    let thread = Subject::new(log, partition);
                    for n in 0..60 {
                        let (_, slot) = thread.say(log, 2 * n, "x");
                        thread.forget(log, 2 * n + 1, slot).unwrap();
                    }
                })
            })
            .collect();
        while !writers.iter().all(|writer| writer.is_finished()) {
            assert_eq!(log.verify(None).unwrap().first_break, None);
        }
    });
    assert_eq!(log.verify(None).unwrap().events, 360);
}
