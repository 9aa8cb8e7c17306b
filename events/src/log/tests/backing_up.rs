//! Copies of a log in use: whole as of one commit, whatever was written and forgotten meanwhile.

use std::{collections::BTreeMap, fs, sync::atomic::AtomicUsize};

use super::*;
use crate::log::{Sealed, backup};

/// Where a test's texts were acknowledged.
type Said = BTreeMap<Position, (StreamKey, Version, String)>;

/// Writes, and forgets every third text, until told to stop.
fn write(log: &Log, writer: u16, stop: &AtomicBool, told: &AtomicUsize) -> (Said, BTreeMap<Position, Position>) {
    let thread = Subject::new(log, writer);
    let (mut said, mut forgotten, mut version) = (Said::new(), BTreeMap::new(), 0);
    for turn in 0.. {
        if stop.load(Ordering::SeqCst) {
            break;
        }
        // Now and then one that lies in a file of its own.
        let text = format!("{writer}-{turn} ").repeat(if turn % 5 == 0 { 20_000 } else { 3 });
        let (committed, slot) = thread.say(log, version, &text);
        version += 1;
        said.insert(committed.last, (thread.key, Version(version), text));
        if turn % 3 == 0 {
            let gone = thread.forget(log, version, slot).unwrap();
            version += 1;
            forgotten.insert(committed.last, gone.last);
        }
        told.fetch_add(1, Ordering::SeqCst);
    }
    (said, forgotten)
}

fn wait_for(told: &AtomicUsize, more: usize) {
    let enough = told.load(Ordering::SeqCst) + more;
    while told.load(Ordering::SeqCst) < enough {
        std::thread::yield_now();
    }
}

#[test]
fn a_copy_under_load_is_the_log_as_of_one_commit() {
    let (dir, backups) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let log = open(dir.path());
    let (stop, told) = (AtomicBool::new(false), AtomicUsize::new(0));
    let (mut copies, mut said, mut forgotten) = (Vec::new(), Said::new(), BTreeMap::new());
    std::thread::scope(|scope| {
        let writers: Vec<_> = (0..4)
            .map(|writer| {
                let (log, stop, told) = (&log, &stop, &told);
                scope.spawn(move || write(log, writer, stop, told))
            })
            .collect();
        for number in 0..4 {
            wait_for(&told, 60);
            let (copy, vault) =
                (backups.path().join(format!("log{number}")), backups.path().join(format!("v{number}")));
            let head = log.head();
            let copied = log.backup(&copy, &vault).unwrap();
            assert!(copied.head.0 >= head, "what was acknowledged before is in it");
            copies.push((copy, vault, copied));
        }
        stop.store(true, Ordering::SeqCst);
        for writer in writers {
            let (one, gone) = writer.join().unwrap();
            said.extend(one);
            forgotten.extend(gone);
        }
    });
    assert_eq!(log.verify(None).unwrap().first_break, None);
    for (copy, vault, copied) in copies {
        let copy = Log::open(Options { vault_dir: Some(vault), ..Options::new(copy) }).unwrap();
        let report = copy.verify(Some(copied.head)).unwrap();
        assert_eq!((report.first_break, report.head), (None, copied.head));
        assert_eq!((report.events, copy.head()), (copied.events, copied.head.0));
        for (at, (key, version, text)) in &said {
            let event = copy.at(*key, *version).unwrap();
            assert_eq!(event.is_some(), *at <= copied.head.0, "{at:?} of {:?}", copied.head.0);
            let Some(event) = event else { continue };
            let dead = forgotten.get(at).is_some_and(|gone| *gone <= copied.head.0);
            match copy.open_content(&event).unwrap() {
                Sealed::Open(content) if !dead => assert_eq!(text_of(content), *text),
                Sealed::Erased if dead => {}
                other => panic!("{at:?}, dead: {dead}: {other:?}"),
            }
        }
        assert_eq!(log.verify(Some(copied.head)).unwrap().first_break, None, "it is one of the log's own heads");
        // The copy is a log like any other.
        Subject::new(&copy, 9).say(&copy, 0, "after the restore");
        assert_eq!(copy.verify(Some(copied.head)).unwrap().first_break, None);
    }
    // What was held back while the copies were made is gone.
    let left = files_in(&dir.path().join("blobs")).len();
    let alive = said.iter().filter(|(at, (_, _, text))| text.len() > 65_536 && !forgotten.contains_key(at)).count();
    assert_eq!(left, alive);
}

#[test]
fn a_copy_never_takes_the_place_of_another_one() {
    let (dir, backups) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let log = open(dir.path());
    let thread = Subject::new(&log, 0);
    thread.say(&log, 0, SECRET);
    let copy = backups.path().join("one");
    let first = log.backup(&copy, &copy).unwrap();
    thread.say(&log, 1, "more");
    assert!(matches!(log.backup(&copy, &copy), Err(backup::Error::NotEmpty(found)) if found == copy));
    assert!(matches!(log.backup(dir.path(), dir.path()), Err(backup::Error::NotEmpty(_))));
    assert_eq!(open(&copy).verify(None).unwrap().head, first.head);

    // The folder of the vault is a file: nothing is left of what was begun, and the next one works.
    let (log_dir, vault_dir) = (backups.path().join("two"), backups.path().join("file"));
    fs::write(&vault_dir, "x").unwrap();
    assert!(matches!(log.backup(&log_dir, &vault_dir), Err(backup::Error::Io { .. })));
    assert_eq!(files_in(&log_dir), [] as [PathBuf; 0]);
    {
        let _held = log.0.core.blobs.hold().unwrap();
        assert!(matches!(log.backup(&log_dir, &log_dir), Err(backup::Error::UnderWay)));
        assert_eq!(files_in(&log_dir), [] as [PathBuf; 0]);
    }
    log.backup(&log_dir, &log_dir).unwrap();
    // An older log, or another one's vault, is not taken for the right one.
    let mixed = Options { vault_dir: Some(tempfile::tempdir().unwrap().path().to_owned()), ..Options::new(&log_dir) };
    assert!(matches!(Log::open(mixed), Err(crate::log::open::Error::VaultMissing(_))));
}

/// The vault of a copy that was killed has live keys and no log: opened as new it would hand them out again.
#[test]
fn a_copy_that_was_broken_off_is_opened_by_nobody() {
    let (dir, broken) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let log = open(dir.path());
    Subject::new(&log, 0).say(&log, 0, SECRET);
    log.backup(broken.path(), broken.path()).unwrap();
    fs::rename(broken.path().join("log.redb"), broken.path().join("log.redb.partial")).unwrap();
    let before = files_in(broken.path());
    let opened = Log::open(Options::new(broken.path()));
    assert!(matches!(opened, Err(crate::log::open::Error::BrokenOff(found)) if found == broken.path()));
    assert_eq!(files_in(broken.path()), before, "nor is anything made there");
}

/// A backup holds removals back; a process that dies meanwhile must not leave a dead content's file for ever.
#[test]
fn what_a_backup_held_back_is_swept_at_the_next_start() {
    let dir = tempfile::tempdir().unwrap();
    let log = open(dir.path());
    let thread = Subject::new(&log, 0);
    let (_, slot) = thread.say(&log, 0, &SECRET.repeat(3_000));
    std::mem::forget(log.0.core.blobs.hold().unwrap());
    thread.forget(&log, 1, slot).unwrap();
    assert_eq!(files_in(&dir.path().join("blobs")).len(), 1);
    drop(log);
    let log = open(dir.path());
    assert_eq!(files_in(&dir.path().join("blobs")), [] as [PathBuf; 0]);
    assert_eq!((log.load().blob_bytes, log.verify(None).unwrap().first_break), (0, None));
}
