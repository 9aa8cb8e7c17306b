//! Opening: one process at a time, no log of the future, no log without its own vault.

use super::*;
use crate::log::{
    open::{self, Error},
    rows,
};

/// Two writers of one file would destroy it.
#[test]
fn a_second_open_is_refused_by_name_and_allowed_after_the_first_is_closed() {
    let dir = tempfile::tempdir().unwrap();
    let log = open(dir.path());
    let second = Log::open(Options::new(dir.path()));
    assert!(matches!(second.err(), Some(Error::InUse(_))));
    let clone = log.clone();
    drop(log);
    assert!(matches!(Log::open(Options::new(dir.path())).err(), Some(Error::InUse(_))));
    drop(clone);
    open(dir.path());
}

/// An old binary must not misread a newer log.
#[test]
fn a_log_that_needs_a_newer_reader_is_refused_and_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let log = open(dir.path());
    let fence = |log: &Log, reader: u32| {
        let change = |tables: &mut crate::log::tables::Writing<'_>| {
            tables.meta.insert(rows::META_MIN_READER, reader.to_le_bytes().as_slice())?;
            Ok(())
        };
        log.0.core.quick(change).unwrap();
    };
    fence(&log, open::READER + 1);
    drop(log);
    let before = std::fs::read(dir.path().join("vault")).unwrap();
    let error = Log::open(Options::new(dir.path())).err().unwrap();
    assert!(matches!(error, Error::Newer { needs, have } if needs == have + 1 && have == open::READER), "{error}");
    assert_eq!(std::fs::read(dir.path().join("vault")).unwrap(), before);
}

/// Nor one whose layout is another.
#[test]
fn a_log_of_an_unknown_layout_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let log = open(dir.path());
    let change = |tables: &mut crate::log::tables::Writing<'_>| {
        tables.meta.insert(rows::META_FORMAT, (open::FORMAT + 1).to_le_bytes().as_slice())?;
        Ok(())
    };
    log.0.core.quick(change).unwrap();
    drop(log);
    let refused = Log::open(Options::new(dir.path())).err().unwrap();
    assert!(matches!(refused, Error::Layout(layout) if layout == open::FORMAT + 1), "{refused}");
}

/// A log that is gone must not look like one that never was: its vault would hand out the same keys again.
#[test]
fn a_used_vault_without_its_log_is_not_taken_for_a_new_one() {
    let dir = tempfile::tempdir().unwrap();
    let log = open(dir.path());
    Subject::new(&log, 0).say(&log, 0, "x");
    drop(log);
    let path = dir.path().join("log.redb");
    let sound = std::fs::read(&path).unwrap();
    for gone in [true, false] {
        match gone {
            true => std::fs::remove_file(&path).unwrap(),
            false => std::fs::write(&path, []).unwrap(),
        }
        let refused = Log::open(Options::new(dir.path())).err().unwrap();
        assert!(matches!(refused, Error::LogMissing(_)), "{refused}");
    }
    std::fs::write(&path, sound).unwrap();
    open(dir.path());
}

/// A log that an old binary can still read stays so until an event is written that it does not know.
#[test]
fn the_fence_rises_with_the_first_event_that_needs_it() {
    let dir = tempfile::tempdir().unwrap();
    let log = open(dir.path());
    let fence = |log: &Log| {
        let row = log.0.core.read().unwrap().meta().unwrap().get_owned(rows::META_MIN_READER).unwrap().unwrap();
        u32::from_le_bytes(row.value().try_into().unwrap())
    };
    assert_eq!(fence(&log), 1);
    let thread = Subject::new(&log, 0);
    assert_eq!(fence(&log), 1, "the profile's own events are of the first release");
    thread.say(&log, 0, "x");
    assert_eq!(fence(&log), 3);
    drop(log);
    assert_eq!(fence(&open(dir.path())), 3);
}

/// Without its vault a log is noise; a new vault in its place would hide the loss.
#[test]
fn a_log_is_opened_with_its_own_vault_only() {
    let (dir, other, vaults) =
        (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let options = Options { vault_dir: Some(vaults.path().to_owned()), ..Options::new(dir.path()) };
    let log = Log::open(options.clone()).unwrap();
    let thread = Subject::new(&log, 0);
    thread.say(&log, 0, "x");
    drop(log);
    assert!(!dir.path().join("vault").exists());

    let error = Log::open(Options::new(dir.path())).err().unwrap();
    assert!(matches!(error, Error::VaultMissing(_)), "{error}");
    drop(open(other.path()));
    let vault_dir = Some(other.path().to_owned());
    let error = Log::open(Options { vault_dir, ..options.clone() }).err().unwrap();
    assert!(matches!(error, Error::WrongVault(_)), "{error}");
    assert_eq!(Log::open(options).unwrap().version(thread.key).unwrap(), Version(1));
}

/// A log restored from before its vault: what it condemns from now on must still be replayed after a crash.
#[test]
fn a_log_older_than_its_vault_starts_its_erasures_anew() {
    let dir = tempfile::tempdir().unwrap();
    let log = open(dir.path());
    let thread = Subject::new(&log, 0);
    let (_, kept) = thread.say(&log, 0, "kept");
    drop(log);
    let old = std::fs::read(dir.path().join("log.redb")).unwrap();
    let log = open(dir.path());
    let (_, gone) = thread.say(&log, 1, "gone");
    thread.forget(&log, 2, gone).unwrap();
    drop(log);
    std::fs::write(dir.path().join("log.redb"), old).unwrap();

    let log = open(dir.path());
    assert_eq!(log.0.core.vault.erased_through(), log.head());
    assert!(log.reserve(1).unwrap()[0] > gone, "a dead slot is never handed out");
    log.0.core.faults.dies_before_overwriting.store(true, Ordering::SeqCst);
    thread.forget(&log, 1, kept).unwrap_err();
    drop(log);
    assert!(!open(dir.path()).alive(thread.path(kept)).unwrap());
}

/// Files of a commit that never came would stay for ever.
#[test]
fn orphaned_files_are_swept_at_the_next_start_and_others_are_not() {
    let dir = tempfile::tempdir().unwrap();
    let log = open(dir.path());
    let thread = Subject::new(&log, 0);
    let long = "long ".repeat(20_000);
    thread.say(&log, 0, &long);
    let (orphan, _) = thread.message(&log, &long);
    drop(crate::log::prepare::prepare(&log.0.core, thread.batch(1, vec![orphan])).unwrap());
    assert_eq!(files_in(&dir.path().join("blobs")).len(), 2);
    drop(log);
    let log = open(dir.path());
    assert_eq!(files_in(&dir.path().join("blobs")).len(), 1);
    assert_eq!(log.verify(None).unwrap().first_break, None);
}
