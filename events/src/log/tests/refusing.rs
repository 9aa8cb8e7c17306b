//! Disks that are full, read-only or broken for a while: clean refusals, reads that go on, and a log that goes on by itself once
//! it can, at every write and every sync of a busy life.

use std::time::{Duration, Instant};

use super::{life::Life, machine::Machine, *};

const FULL: i32 = 28;
const READ_ONLY: i32 = 30;
const BROKEN: i32 = 5;

/// What this is, not how long it takes: a log that does not go on by itself fails the test.
const AT_LAST: Duration = Duration::from_secs(60);

fn until_ready(log: &Log, at: &str) {
    let late = Instant::now() + AT_LAST;
    while !log.ready() {
        assert!(Instant::now() < late, "{at}: it does not go on: {:?}", log.failure());
        std::thread::yield_now();
    }
}

/// A life in which the disks refuse from a write or a sync on, until they are mended. Whether they ever did.
fn lived_through(error: i32, write: i64, sync: i64) -> bool {
    let at = format!("error {error} from write {write} or sync {sync}");
    let dir = tempfile::tempdir().unwrap();
    let machine = Machine::new();
    machine.refuse_from(error, write, sync);
    let log = match machine.open(dir.path()) {
        Ok(log) => log,
        // It ends there, with a sentence, and starts when there is room.
        Err(refused) => {
            assert!(machine.refuses() && refused.to_string().len() > 20, "{at}: {refused}");
            machine.mend();
            let log = machine.restarted(0).open(dir.path()).unwrap_or_else(|error| panic!("{at}: {error}"));
            assert_eq!(log.verify(None).unwrap().first_break, None, "{at}");
            return true;
        }
    };
    let life = Life::of(&log, dir.path());
    let refused = machine.refuses();
    if let Some(why) = life.refusal() {
        assert!(why.contains("the disk of the"), "{at}: {why}");
        life.is_read(&log, &at);
        let other = Subject::new(&log, 7);
        let (more, _) = other.message(&log, "more");
        assert!(matches!(log.append(other.batch(0, vec![more])), Err(append::Error::Failed(_))), "{at}");
    }
    machine.mend();
    until_ready(&log, &at);
    life.has_nothing_refused(&log, &at);
    life.judge(&log, &machine, &at);
    drop(log);
    let machine = machine.restarted(0);
    let log = machine.open(dir.path()).unwrap_or_else(|error| panic!("{at}: {error}"));
    life.judge(&log, &machine, &at);
    refused
}

/// Every write and every sync of the life, until it runs through.
fn each(error: i32) {
    let mut refused = 0;
    for write in 1.. {
        if !lived_through(error, write, i64::MAX) {
            break;
        }
        refused += 1;
    }
    assert!(refused > 100, "the life was not busy: {refused}");
    for sync in 1.. {
        if !lived_through(error, i64::MAX, sync) {
            break;
        }
        refused += 1;
    }
    assert!(refused > 130, "the life was not busy: {refused}");
}

#[test]
fn a_disk_may_be_full_at_any_write_and_any_sync() {
    each(FULL);
}

#[test]
fn a_disk_may_turn_read_only_at_any_moment() {
    each(READ_ONLY);
}

#[test]
fn a_disk_may_break_for_a_while_at_any_moment() {
    each(BROKEN);
}

/// What nobody acknowledged must not come up by itself once the disk works again, and what is asked meanwhile is answered at once.
#[test]
fn what_is_refused_while_the_disk_is_full_is_never_stored() {
    let dir = tempfile::tempdir().unwrap();
    let machine = Machine::new();
    let log = machine.open(dir.path()).unwrap();
    let thread = Subject::new(&log, 0);
    thread.say(&log, 0, "kept");
    for turn in 0..5 {
        machine.refuse_from(FULL, i64::MAX, 1);
        for _ in 0..3 {
            let (lost, _) = thread.message(&log, SECRET);
            let refused = log.append(thread.batch(1 + turn, vec![lost])).unwrap_err().to_string();
            assert!(refused.contains("the disk of the log is full"), "{refused}");
            assert_eq!(log.version(thread.key).unwrap(), Version(1 + turn), "nobody reads it either");
        }
        machine.mend();
        until_ready(&log, "mended");
        thread.say(&log, 1 + turn, "kept");
    }
    assert_eq!(log.verify(None).unwrap().events, 6);
    drop(log);
    let log = machine.restarted(0).open(dir.path()).unwrap();
    assert_eq!((log.version(thread.key).unwrap(), log.verify(None).unwrap().first_break), (Version(6), None));
}

/// Readers must not notice that the page store is replaced under them.
#[test]
fn reads_go_on_while_the_disk_comes_and_goes() {
    let dir = tempfile::tempdir().unwrap();
    let machine = Machine::new();
    let log = machine.open(dir.path()).unwrap();
    let thread = Subject::new(&log, 0);
    for n in 0..50 {
        thread.say(&log, n, &format!("number {n}"));
    }
    let stop = AtomicBool::new(false);
    std::thread::scope(|threads| {
        for _ in 0..2 {
            threads.spawn(|| {
                while !stop.load(Ordering::SeqCst) {
                    let events = log.stream(thread.key, Version(0), 50).unwrap();
                    assert_eq!(events.len(), 50);
                    log.open_content(&events[7]).unwrap();
                }
            });
        }
        let other = Subject::new(&log, 3);
        for turn in 0..20 {
            machine.refuse_from(BROKEN, 1 + turn % 7, i64::MAX);
            let (lost, _) = other.message(&log, "lost");
            let _refused = log.append(other.batch(turn as u64, vec![lost])).unwrap_err();
            machine.mend();
            until_ready(&log, "mended");
            other.say(&log, turn as u64, "kept");
        }
        stop.store(true, Ordering::SeqCst);
    });
    assert_eq!(log.verify(None).unwrap().first_break, None);
}

/// Whoever watches must see that nothing is stored, without anybody having to try.
#[test]
fn a_disk_that_is_full_where_nobody_waits_is_told_all_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let machine = Machine::new();
    let log = machine.open(dir.path()).unwrap();
    Subject::new(&log, 0).say(&log, 0, "kept");
    machine.refuse_from(FULL, 1, i64::MAX);
    // What is written beside the events is synced when the writer comes to it, and whoever looks sees it then.
    let late = Instant::now() + AT_LAST;
    for at in 1.. {
        let _unheard = (log.set_checkpoint("views", Position(at)), log.sync());
        if !log.ready() {
            break;
        }
        assert!(Instant::now() < late, "it is told");
    }
    assert!(log.is_open());
    assert!(log.failure().unwrap().contains("is full"));
    machine.mend();
    until_ready(&log, "mended");
    assert_eq!(log.failure(), None);
}

/// Keys lie on another disk than the log, perhaps, and may have no room alone: slots that were tried to be made, and perhaps read
/// ahead, are made anew with other keys, and what is sealed with those is to be opened by the next process, too.
#[test]
fn a_vault_that_is_full_alone_hands_out_what_its_file_has() {
    for write in 1..4 {
        let dir = tempfile::tempdir().unwrap();
        let machine = Machine::new();
        let log = machine.open(dir.path()).unwrap();
        let thread = Subject::new(&log, 0);
        machine.refuse_on(1);
        machine.refuse_from(FULL, write, write);
        let (mut said, mut version) = (Vec::new(), 0);
        // Until there are no keys left.
        while let Ok(slots) = log.reserve(64) {
            let (draft, slot) = thread.message_in(slots[0], "kept");
            if log.append(thread.batch(version, vec![draft])).is_err() {
                break;
            }
            version += 1;
            said.push(slot);
        }
        while log.reserve(1).is_ok() {}
        let last = log.0.core.vault.next() - 1;
        for slot in [last - 1, last] {
            log.0.core.vault.state(Slot(slot)).unwrap();
        }
        assert!(log.reserve(64).is_err() && !said.is_empty(), "write {write}");
        machine.mend();
        until_ready(&log, "mended");
        for _ in 0..130 {
            said.push(thread.say(&log, version, "after").1);
            version += 1;
        }
        drop(log);
        let log = machine.restarted(0).open(dir.path()).unwrap();
        assert_eq!(log.verify_pages(None).unwrap().first_break, None, "write {write}");
        let events = log.stream(thread.key, Version(0), said.len()).unwrap();
        assert!(events.iter().all(|event| log.open_content(event).is_ok()));
    }
}

/// The way back to the disk is a way that power may cut off, too: at any sync, with any part of what was written since.
#[test]
fn power_may_go_while_the_log_goes_on() {
    for seed in [0, 3, 71, 2_024] {
        for sync in 1.. {
            let at = format!("seed {seed}, sync {sync}");
            let dir = tempfile::tempdir().unwrap();
            let machine = Machine::new();
            let log = machine.open(dir.path()).unwrap();
            let thread = Subject::new(&log, 0);
            let (_, slot) = thread.say(&log, 0, SECRET);
            thread.say(&log, 1, "kept");
            thread.forget(&log, 2, slot).unwrap();
            machine.refuse_from(FULL, i64::MAX, 1);
            let (lost, _) = thread.message(&log, "lost");
            log.append(thread.batch(3, vec![lost])).unwrap_err();
            machine.die_at_sync(sync);
            machine.mend();
            let late = Instant::now() + AT_LAST;
            while !log.ready() && !machine.is_dead() {
                assert!(Instant::now() < late, "{at}");
                std::thread::yield_now();
            }
            let more = log.ready() && {
                let (more, _) = thread.message(&log, "more");
                log.append(thread.batch(3, vec![more])).is_ok()
            };
            let survived = !machine.is_dead();
            drop(log);
            let log = machine.restarted(seed).open(dir.path()).unwrap_or_else(|error| panic!("{at}: {error}"));
            assert_eq!(log.verify(None).unwrap().first_break, None, "{at}");
            let version = log.version(thread.key).unwrap().0;
            // Power went before the front page was taken back: then what was refused may be there, whole.
            assert!(version == 3 + u64::from(more) || version == 4, "{at}: {version}, more {more}");
            assert!(!log.alive(thread.path(slot)).unwrap(), "{at}");
            if survived {
                assert!(sync > 4 && more, "{at}: it took no way");
                break;
            }
        }
    }
}
