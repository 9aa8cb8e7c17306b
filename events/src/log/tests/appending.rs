//! Appending and reading back: what is acknowledged is there, in order, and what is refused left nothing.

use std::sync::{Mutex, mpsc};

use super::*;
use crate::{
    batch::{Claim, Holder, IdempotencyRow, Outcome, Remembered},
    codec,
    log::Sealed,
};

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
    assert!(tail.windows(2).all(|pair| pair[0].head.position < pair[1].head.position));
    assert_eq!(log.scope(thread.key.partition, thread.key.scope).count(), 5);
    assert_eq!(log.verify(None).unwrap().first_break, None);
}

/// A commit is in the file before the log knows that it is. Whoever follows the log sees all of it or nothing: what was passed
/// over would be missed for ever.
#[test]
fn who_follows_the_log_sees_a_commit_whole_or_not_yet() {
    let dir = tempfile::tempdir().unwrap();
    let log = open(dir.path());
    let (one, other) = (Subject::new(&log, 0), Subject::new(&log, 9));
    let (read, _) = one.say(&log, 0, "was read");
    let (waits, _) = other.say(&log, 0, "waits");
    let before = log.head();
    let (first, _) = one.say(&log, 1, "first of the next commit");
    let (last, _) = other.say(&log, 1, "last of it");
    let after = log.head();

    // As it is between the two: the rows are there, the ends and the head are those before them.
    let core = &log.0.core;
    let know = |ends: [u64; 2], head: u64| {
        core.tails[0].store(ends[0], Ordering::SeqCst);
        core.tails[9].store(ends[1], Ordering::SeqCst);
        core.head.store(head, Ordering::SeqCst);
    };
    let followed = |at| log.tail(at, 10).unwrap().iter().map(|event| event.head.position).collect::<Vec<_>>();
    know([read.last.0, waits.last.0], before.0);
    assert_eq!(followed(read.last), [waits.last]);
    assert_eq!(followed(waits.last), []);
    know([first.last.0, last.last.0], after.0);
    assert_eq!(followed(waits.last), [first.last, last.last]);
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
    assert!(matches!(log.open_content(&events[1]).unwrap(), Sealed::Open(_)));
    assert_eq!(log.open_content(&events[2]).unwrap(), Sealed::None);
    assert_eq!(log.verify(None).unwrap().first_break, None);
}

/// Batches that wait are made durable together, and one that is refused must not take its neighbours along.
#[test]
fn a_refused_batch_fails_alone_and_leaves_no_trace() {
    let dir = tempfile::tempdir().unwrap();
    let log = open(dir.path());
    let (one, other) = (Subject::new(&log, 0), Subject::new(&log, 9));
    let name = log.digest_names(&[b"name"]);
    let mut refused = one.batch(5, vec![one.message(&log, "never").0]);
    refused.claims = vec![claim(&one, name)];
    refused.idempotency = Some(row(&log, "refused", 0));

    let answers = in_one_commit(
        &log,
        vec![
            one.batch(0, vec![one.message(&log, "first").0, one.message(&log, "second").0]),
            refused.clone(),
            other.batch(0, vec![other.message(&log, "third").0]),
            one.batch(2, vec![one.message(&log, "fourth").0]),
        ],
    );
    assert_eq!(answers[1], Err(append::Error::VersionMoved { actual: Version(2) }));
    assert_eq!(answers[0].as_ref().unwrap().version, Version(2));
    assert_eq!(answers[3].as_ref().unwrap().version, Version(3));
    assert_eq!(log.claim(name).unwrap(), None);
    let row = refused.idempotency.unwrap();
    assert_eq!(log.remembered(row.key, row.time).unwrap(), None);
    assert_eq!(log.tail(Position(0), 100).unwrap().len(), 5, "the gate's event and four");
    assert_eq!(log.stats().unwrap().commits, 2);
    assert_eq!(log.verify(None).unwrap().first_break, None);
}

/// A client that sends a command twice at once must get the first one's answer, not a second event.
#[test]
fn twins_in_flight_are_carried_out_once() {
    let dir = tempfile::tempdir().unwrap();
    let log = open(dir.path());
    let thread = Subject::new(&log, 0);
    let mut twin = thread.batch(0, vec![thread.message(&log, "once").0]);
    twin.idempotency = Some(row(&log, "key", 0));

    let answers = in_one_commit(&log, vec![twin.clone(), twin.clone()]);
    let first = answers[0].clone().unwrap();
    let remembered = Remembered { row: twin.idempotency.clone().unwrap(), committed: first };
    assert_eq!(answers[1], Err(append::Error::Replayed(Box::new(remembered.clone()))));
    assert_eq!(log.append(twin), Err(append::Error::Replayed(Box::new(remembered.clone()))));
    assert_eq!(log.stream(thread.key, Version(0), 10).unwrap().len(), 1);
    let key = remembered.row.key;
    assert_eq!(log.remembered(key, remembered.row.time).unwrap(), Some(remembered));
}

/// A command that changes nothing is remembered too, at the position that it was true for.
#[test]
fn a_batch_without_events_is_remembered_at_the_head() {
    let dir = tempfile::tempdir().unwrap();
    let log = open(dir.path());
    let thread = Subject::new(&log, 0);
    thread.say(&log, 0, "something");
    let mut nothing = thread.batch(1, Vec::new());
    nothing.idempotency = Some(row(&log, "nothing", 0));
    let committed = log.append(nothing).unwrap();
    assert_eq!((committed.first, committed.last, committed.version), (log.head(), log.head(), Version(1)));
    assert_eq!(log.verify(None).unwrap().first_break, None);
}

/// Names are unique while their holder lives, and free when it dies, in the very commit that condemns it.
#[test]
fn a_name_is_free_once_its_holder_is_condemned() {
    let dir = tempfile::tempdir().unwrap();
    let log = open(dir.path());
    let (one, other) = (Subject::new(&log, 0), Subject::new(&log, 0));
    let name = log.digest_names(&[b"ada"]);
    let taking = |by: &Subject, expected| Batch {
        claims: vec![claim(by, name)],
        ..by.batch(expected, vec![by.message(&log, "mine").0])
    };
    log.append(taking(&one, 0)).unwrap();
    log.append(taking(&one, 1)).expect("the same holder may take it again");
    let Claim::Take(_, holder) = claim(&one, name) else { unreachable!() };
    assert_eq!(log.append(taking(&other, 0)), Err(append::Error::Taken { holder }));

    let condemning = one.batch(2, vec![draft(forgot(one.stream_slot), None)]);
    let answers = in_one_commit(&log, vec![condemning, taking(&other, 0), taking(&one, 3)]);
    assert!(answers[1].is_ok(), "{answers:?}");
    assert_eq!(answers[2], Err(append::Error::Gone), "nothing is sealed by a condemned slot");
    assert_eq!(log.claim(name).unwrap().unwrap().stream, other.key);

    let mut release = other.batch(1, Vec::new());
    release.claims = vec![Claim::Release(name, log.claim(name).unwrap().unwrap())];
    log.append(release).unwrap();
    assert_eq!(log.claim(name).unwrap(), None);
}

/// Limits hold at the exact event and byte, before anything is sealed or queued.
#[test]
fn a_batch_at_the_limit_fits_and_one_above_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let mut options = Options::new(dir.path());
    options.limits.batch_events_max = 3;
    let log = Log::open(options.clone()).unwrap();
    let thread = Subject::new(&log, 0);
    let messages = |count: usize| (0..count).map(|_| thread.message(&log, "x").0).collect::<Vec<_>>();
    log.append(thread.batch(0, messages(3))).unwrap();
    let too_many = append::Error::TooLarge { what: "events", is: 4, max: 3 };
    assert_eq!(log.append(thread.batch(3, messages(4))), Err(too_many));

    let one = messages(1);
    let (content, _) = one[0].content.as_ref().unwrap();
    let bytes = codec::encode_facts(&one[0].facts).len() + codec::encode_content(content).len();
    drop(log);
    options.limits.batch_bytes_max = bytes;
    let log = Log::open(options.clone()).unwrap();
    log.append(thread.batch(3, vec![thread.message(&log, "x").0])).unwrap();
    let (longer, _) = thread.message(&log, "xy");
    let too_long = append::Error::TooLarge { what: "bytes", is: bytes + 1, max: bytes };
    assert_eq!(log.append(thread.batch(4, vec![longer])), Err(too_long));
}

/// Past its bounds the queue hands the batch back instead of growing, and closing finishes what was accepted.
#[test]
fn a_full_queue_hands_the_batch_back_and_closing_drains_it() {
    let dir = tempfile::tempdir().unwrap();
    let mut options = Options::new(dir.path());
    options.limits.queue_batches_max = 2;
    let log = Log::open(options).unwrap();
    let thread = Subject::new(&log, 0);
    let gate = Gate::close(&log);
    let (tell, told) = mpsc::sync_channel(8);
    let submit = |batch| {
        let tell = tell.clone();
        log.submit(batch, Box::new(move |answer| tell.send(answer).unwrap()))
    };
    submit(thread.batch(0, vec![thread.message(&log, "a").0])).unwrap();
    submit(thread.batch(1, vec![thread.message(&log, "b").0])).unwrap();
    let third = thread.batch(2, vec![thread.message(&log, "c").0]);
    let busy = submit(third.clone()).unwrap_err();
    assert_eq!(*busy.batch, third);

    gate.open();
    log.close();
    assert!(told.recv().unwrap().is_ok() && told.recv().unwrap().is_ok());
    assert!(!log.ready());
    assert_eq!(log.append(third), Err(append::Error::Closed));
    assert_eq!(log.stream(thread.key, Version(0), 10).unwrap().len(), 2, "reading goes on");
}

/// Whoever waits for an answer must find the views told already: read-your-writes rests on this order.
#[test]
fn the_listener_hears_of_a_commit_before_its_batches_are_answered() {
    let dir = tempfile::tempdir().unwrap();
    let heard = Arc::new(Mutex::new(Vec::new()));
    let mut options = Options::new(dir.path());
    let hears = Arc::clone(&heard);
    options.on_commit = Some(Arc::new(move |notice| hears.lock().unwrap().push(notice.clone())));
    let log = Log::open(options).unwrap();
    let thread = Subject::new(&log, 0);
    for n in 0..20 {
        let (committed, _) = thread.say(&log, n, "x");
        let last = heard.lock().unwrap().last().cloned().unwrap();
        assert_eq!(last.last, committed.last);
        assert_eq!(last.scopes, [(thread.key.scope, committed.last)]);
        assert_eq!(log.head(), committed.last);
    }
}

/// Many writers at once: everything acknowledged is there once, and the tail is in one order over all partitions.
#[test]
fn many_writers_share_commits_and_lose_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let log = open(dir.path());
    std::thread::scope(|threads| {
        for partition in 0..16 {
            let log = &log;
            threads.spawn(move || {
                let thread = Subject::new(log, partition * 4);
                for n in 0..50 {
                    thread.say(log, n, "x");
                }
            });
        }
    });
    let (mut after, mut seen) = (Position(0), 0);
    loop {
        let page = log.tail(after, 77).unwrap();
        let Some(last) = page.last() else { break };
        assert!(page.windows(2).all(|pair| pair[0].head.position < pair[1].head.position));
        seen += page.len();
        after = last.head.position;
    }
    assert_eq!((seen, after), (800, log.head()));
    assert_eq!(log.verify(None).unwrap().first_break, None);
}

/// Images and the like lie in files, which die with their slots and do not outlive a refused batch.
#[test]
fn a_large_content_lies_in_a_file_of_its_own() {
    let dir = tempfile::tempdir().unwrap();
    let log = open(dir.path());
    let thread = Subject::new(&log, 0);
    let long = "long ".repeat(20_000);
    let (_, slot) = thread.say(&log, 0, &long);
    assert_eq!(files_in(&dir.path().join("blobs")).len(), 1);
    let events = log.stream(thread.key, Version(0), 1).unwrap();
    let Sealed::Open(content) = log.open_content(&events[0]).unwrap() else { panic!("erased") };
    assert_eq!(text_of(content), long);
    assert_eq!(log.verify(None).unwrap().first_break, None);

    let (again, _) = thread.message(&log, &long);
    let again = thread.batch(1, vec![again]);
    log.append(again.clone()).unwrap();
    log.append(again).unwrap_err();
    let events = log.stream(thread.key, Version(1), 1).unwrap();
    assert!(matches!(log.open_content(&events[0]), Ok(Sealed::Open(_))), "sent again, the first one's file stays");

    let refused = thread.batch(7, vec![thread.message(&log, &long).0]);
    log.append(refused).unwrap_err();
    assert_eq!(files_in(&dir.path().join("blobs")).len(), 2, "the refused one's is removed");

    thread.forget(&log, 2, slot).unwrap();
    assert_eq!(files_in(&dir.path().join("blobs")).len(), 1);
    let events = log.stream(thread.key, Version(0), 1).unwrap();
    assert_eq!(log.open_content(&events[0]).unwrap(), Sealed::Erased);
    assert_eq!(log.verify(None).unwrap().first_break, None);
}

/// A mistake of a caller must not overwrite a slot that nobody was handed, or seal with no slot at all.
#[test]
fn slots_that_were_never_handed_out_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let log = open(dir.path());
    let thread = Subject::new(&log, 0);
    let invalid = Err(append::Error::Invalid("slot was never handed out"));
    for slot in [1, 3, 15, 1_000_000] {
        assert_eq!(thread.forget(&log, 0, Slot(slot)), invalid);
    }
    let (mut unsealed, _) = thread.message(&log, "x");
    unsealed.content.as_mut().unwrap().1 = KeyPath::default();
    assert_eq!(log.append(thread.batch(0, vec![unsealed])), invalid);
}

fn claim(by: &Subject, name: Digest) -> Claim {
    Claim::Take(name, Holder { stream: by.key, id: by.key.stream.0, keys: by.path(Slot::NONE) })
}

fn row(log: &Log, key: &str, time: i64) -> IdempotencyRow {
    IdempotencyRow {
        key: log.digest_names(&[key.as_bytes()]),
        request: Digest([1; 32]),
        time: Micros(time),
        outcome: Outcome { ids: vec![fresh()], numbers: vec![1, 2] },
    }
}
