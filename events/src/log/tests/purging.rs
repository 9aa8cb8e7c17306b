//! Purging takes space back and nothing else: what lives stays readable, and the log still verifies.

use super::*;
use crate::{
    batch::{Claim, Holder, ListKind, Listing},
    log::{Purge, Sealed, Snapshot},
};

/// A deleted profile's sealed bytes, files, snapshots and names go; its neighbour's stay.
#[test]
fn a_purged_profile_leaves_heads_and_facts_that_still_verify() {
    let dir = tempfile::tempdir().unwrap();
    let mut options = Options::new(dir.path());
    options.limits.step_rows_max = 7;
    let log = Log::open(options).unwrap();
    let (gone, stays) = (Subject::new(&log, 0), Subject::new(&log, 0));
    let snapshot = Snapshot { layout: 3, bytes: vec![1, 2, 3] };
    for thread in [&gone, &stays] {
        for n in 0..20 {
            thread.say(&log, n, SECRET);
        }
        thread.say(&log, 20, &"large ".repeat(20_000));
        log.put_snapshot(thread.key, &snapshot).unwrap();
        log.append(with_rows(&log, thread, 21)).unwrap();
    }
    let bytes = |key: StreamKey| -> usize {
        let events = log.stream(key, Version(0), 100).unwrap();
        events.iter().map(|event| event.sealed.as_ref().map_or(0, Vec::len)).sum()
    };
    gone.forget(&log, 22, gone.scope_slot).unwrap();
    assert!(bytes(gone.key) > 0, "erased, but there");

    for mut purge in [Purge::scope(gone.key.partition, gone.key.scope), Purge::directory()] {
        while log.purge(&mut purge).unwrap() {}
    }
    assert_eq!(bytes(gone.key), 0);
    assert!(bytes(stays.key) > 0);
    assert_eq!(files_in(&dir.path().join("blobs")).len(), 1);
    assert_eq!(log.snapshot(gone.key).unwrap(), None);
    assert_eq!(log.snapshot(stays.key).unwrap(), Some(snapshot));
    let core = &log.0.core;
    let txn = core.read().unwrap();
    use redb::ReadableTableMetadata;
    assert_eq!(txn.claims().unwrap().len().unwrap(), 1);
    assert_eq!(txn.listed().unwrap().len().unwrap(), 1);
    assert_eq!(log.verify(None).unwrap().first_break, None);
    let events = log.stream(gone.key, Version(0), 100).unwrap();
    assert_eq!(events.len(), 23);
    assert_eq!(log.open_content(&events[0]).unwrap(), Sealed::Erased);
    let events = log.stream(stays.key, Version(0), 100).unwrap();
    for event in &events[..21] {
        assert!(matches!(log.open_content(event).unwrap(), Sealed::Open(_)));
    }
}

fn with_rows(log: &Log, thread: &Subject, expected: u64) -> Batch {
    let keys = thread.path(Slot::NONE);
    let name = log.digest_names(&[thread.key.stream.0.as_bytes()]);
    let holder = Holder { stream: thread.key, id: fresh(), keys };
    let listing = Listing { namespace: [1; 16], kind: ListKind::Profiles, id: fresh(), stream: thread.key, keys };
    let (message, _) = thread.message(log, "x");
    Batch { claims: vec![Claim::Take(name, holder)], listed: vec![listing], ..thread.batch(expected, vec![message]) }
}
