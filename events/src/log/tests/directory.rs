//! What is found across streams: lists, remembered commands, what is due, positions by time, checkpoints.

use super::*;
use crate::batch::{IdempotencyRow, ListKind, Listing, Outcome};

const HOUR: i64 = 3_600_000_000;

/// Lists are by namespace, newest first, in pages, without the dead.
#[test]
fn a_namespace_lists_its_own_newest_first_and_passes_over_the_dead() {
    let dir = tempfile::tempdir().unwrap();
    let log = open(dir.path());
    let mut listed = Vec::new();
    for n in 0..6u8 {
        let thread = Subject::new(&log, 0);
        let listing = Listing {
            namespace: [n % 2; 16],
            kind: ListKind::Profiles,
            id: fresh(),
            stream: thread.key,
            keys: thread.path(Slot::NONE),
        };
        let (message, _) = thread.message(&log, "x");
        log.append(Batch { listed: vec![listing], ..thread.batch(0, vec![message]) }).unwrap();
        listed.push((thread, listing));
    }
    let list = |before, limit| log.listed([0; 16], ListKind::Profiles, before, limit).unwrap();
    let all = list(None, 10);
    assert_eq!(all, [listed[4].1, listed[2].1, listed[0].1]);
    assert_eq!(list(None, 2), all[..2]);
    assert_eq!(list(Some(all[1].id), 2), all[2..]);
    assert_eq!(log.listed([0; 16], ListKind::Jobs, None, 10).unwrap(), []);

    let dead = &listed[2].0;
    dead.forget(&log, 1, dead.scope_slot).unwrap();
    assert_eq!(list(None, 10), [listed[4].1, listed[0].1]);
}

/// A command is remembered for 24 hours, over a restart, and then its row is removed.
#[test]
fn a_command_is_remembered_for_a_day_and_then_swept() {
    let dir = tempfile::tempdir().unwrap();
    let log = open(dir.path());
    let thread = Subject::new(&log, 0);
    let row = |name: &str, time| IdempotencyRow {
        key: log.digest_names(&[name.as_bytes()]),
        request: Digest([2; 32]),
        time: Micros(time),
        outcome: Outcome { ids: vec![fresh(), fresh()], numbers: vec![u64::MAX] },
    };
    let rows = [row("early", 5 * HOUR + 1), row("late", 7 * HOUR)];
    for (n, row) in rows.iter().enumerate() {
        let (message, _) = thread.message(&log, "x");
        let batch = thread.batch(n as u64, vec![message]);
        log.append(Batch { idempotency: Some(row.clone()), ..batch }).unwrap();
    }
    drop(log);
    let log = open(dir.path());
    let remembered = |n: usize, now| log.remembered(rows[n].key, Micros(now)).unwrap();
    assert_eq!(remembered(0, 29 * HOUR).unwrap().row, rows[0]);
    assert_eq!(remembered(0, 29 * HOUR + 1), None, "a day to the microsecond");
    assert!(remembered(1, 6 * HOUR).is_some(), "though the clock stepped back");

    assert_eq!(log.sweep(Micros(29 * HOUR)).unwrap(), 0);
    assert_eq!(log.sweep(Micros(30 * HOUR)).unwrap(), 1);
    assert_eq!(log.sweep(Micros(30 * HOUR)).unwrap(), 0);
    assert!(remembered(1, 30 * HOUR).is_some());
}

/// What expires is found in the order of time, and no more once it is dead.
#[test]
fn what_is_due_is_found_until_it_is_dead() {
    let dir = tempfile::tempdir().unwrap();
    let log = open(dir.path());
    let thread = Subject::new(&log, 2);
    let mut slots = Vec::new();
    for (n, at) in [50, -20, 10].into_iter().enumerate() {
        let (mut message, slot) = thread.message(&log, "x");
        let Facts::MessageAppended(facts) = &mut message.facts else { unreachable!() };
        facts.expires_at = Some(Micros(at));
        log.append(thread.batch(n as u64, vec![message])).unwrap();
        slots.push(slot);
    }
    let due = |now, limit| log.due(Micros(now), limit).unwrap();
    let (early, middle) = ((Micros(-20), thread.key, slots[1]), (Micros(10), thread.key, slots[2]));
    assert_eq!(due(20, 10), [early, middle]);
    assert_eq!(due(20, 1), [early]);
    assert_eq!(log.next_due().unwrap(), Some(Micros(-20)));
    let after = |now| log.next_due_after(Micros(now)).unwrap();
    assert_eq!([-21, -20, 9, 10].map(after), [-20, 10, 10, 50].map(|at| Some(Micros(at))));
    assert_eq!([50, i64::MAX].map(after), [None, None]);

    thread.forget(&log, 3, slots[1]).unwrap();
    assert_eq!(due(20, 10), [middle]);
    assert_eq!(log.sweep(Micros(20)).unwrap(), 1);
    assert_eq!(log.next_due().unwrap(), Some(Micros(10)));
    thread.forget(&log, 4, thread.scope_slot).unwrap();
    assert_eq!(due(100, 10), [], "a dead profile expires no more");
}

/// As-of reads by time need the last position that is not later, though clocks step back and commits hold many events.
#[test]
fn a_time_is_found_as_a_position() {
    let dir = tempfile::tempdir().unwrap();
    let log = open(dir.path());
    let thread = Subject::new(&log, 0);
    let mut positions = Vec::new();
    for (n, times) in [vec![10, 20], vec![30, 25, 40], vec![60]].into_iter().enumerate() {
        let expected = [0, 2, 5][n];
        let events = times.into_iter().map(|time| {
            let (message, _) = thread.message(&log, "x");
            Draft { time: Micros(time), ..message }
        });
        let committed = log.append(thread.batch(expected, events.collect())).unwrap();
        positions.extend(committed.first.0..=committed.last.0);
    }
    let at = |time| log.position_at(Micros(time)).unwrap().0;
    assert_eq!(at(9), 0);
    assert_eq!((at(10), at(19), at(20)), (positions[0], positions[0], positions[1]));
    assert_eq!((at(29), at(30), at(39)), (positions[1], positions[3], positions[3]));
    assert_eq!((at(40), at(59), at(60), at(i64::MAX)), (positions[4], positions[4], positions[5], positions[5]));
}

/// A follower goes on where it was; a clean close loses nothing that was not synced by itself.
#[test]
fn checkpoints_and_snapshots_survive_a_clean_close() {
    let dir = tempfile::tempdir().unwrap();
    let log = open(dir.path());
    let thread = Subject::new(&log, 0);
    let snapshot = crate::log::Snapshot { layout: 7, bytes: b"facts".to_vec() };
    assert_eq!(log.checkpoint("views").unwrap(), Position(0));
    log.set_checkpoint("views", Position(41)).unwrap();
    log.put_snapshot(thread.key, &snapshot).unwrap();
    drop(log);
    let log = open(dir.path());
    assert_eq!(log.checkpoint("views").unwrap(), Position(41));
    assert_eq!(log.snapshot(thread.key).unwrap(), Some(snapshot));
}
