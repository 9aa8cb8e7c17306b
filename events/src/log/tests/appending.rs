//! Appending and reading back: what is acknowledged is there, in order, and what is refused left nothing.

use super::*;
use crate::log::Sealed;

/// The first thing anybody does with the log.
#[test]
fn what_was_said_is_read_back_after_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let log = open(dir.path());
    let thread = Subject::new(&log, 3);
    for n in 0..5 {
        thread.say(&log, n, &format!("number {n}"));
    }
    let head = log.head();
    drop(log);

    let log = open(dir.path());
    assert_eq!(log.head(), head);
    let events = log.stream(thread.key, Version(2), 100).unwrap();
    assert_eq!(events.len(), 3);
    for (n, event) in (2..5).zip(&events) {
        assert_eq!(event.head.version, Version(n + 1));
        let Sealed::Open(content) = log.open_content(event).unwrap() else {
            panic!("erased");
        };
        assert_eq!(text_of(content), format!("number {n}"));
    }
    let tail = log.tail(Position(0), 100).unwrap();
    assert_eq!(tail.len(), 5);
    assert!(
        tail.windows(2)
            .all(|pair| pair[0].head.position < pair[1].head.position)
    );
    assert_eq!(log.scope(thread.key.partition, thread.key.scope).count(), 5);
    assert_eq!(log.verify(None).unwrap().first_break, None);
}

/// Forgetting is the point of the vault.
#[test]
fn what_is_forgotten_is_erased_when_the_reply_comes() {
    let dir = tempfile::tempdir().unwrap();
    let log = open(dir.path());
    let thread = Subject::new(&log, 0);
    let (_, slot) = thread.say(&log, 0, SECRET);
    thread.say(&log, 1, "harmless");
    thread.forget(&log, 2, slot).unwrap();

    let events = log.stream(thread.key, Version(0), 10).unwrap();
    assert_eq!(log.open_content(&events[0]).unwrap(), Sealed::Erased);
    assert!(matches!(
        log.open_content(&events[1]).unwrap(),
        Sealed::Open(_)
    ));
    assert_eq!(log.open_content(&events[2]).unwrap(), Sealed::None);
    assert_eq!(log.verify(None).unwrap().first_break, None);
}
