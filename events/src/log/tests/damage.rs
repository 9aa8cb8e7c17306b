//! Damage to files at rest: whatever byte is flipped or cut off, the log is refused with a sentence, or `verify` names it, or nobody
//! can tell the difference. Never a panic, and never something else than what was written without a word about it.

use std::{cell::RefCell, collections::BTreeMap, fs};

use super::*;
use crate::{
    batch::{Claim, Holder, IdempotencyRow, ListKind, Listing, Outcome},
    log::{EmbeddingKey, EmbeddingRow, Sealed, Snapshot},
};

type Files = BTreeMap<PathBuf, Vec<u8>>;

/// A small log in which every table has rows, closed.
struct Story {
    files: Files,
    thread: Subject,
    other: Subject,
    name: Digest,
    command: Digest,
    told: String,
    /// Each event by itself.
    events: Vec<(StreamKey, Version, String)>,
    /// How many events each damage that was named took.
    lost: RefCell<Vec<usize>>,
}

impl Story {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let log = open(dir.path());
        let (thread, other) = (Subject::new(&log, 0), Subject::new(&log, 5));
        let (name, command) = (log.digest_names(&[b"name"]), log.digest_names(&[b"command"]));
        let mut version = 0;
        for n in 0..12 {
            let (mut message, slot) = thread.message(&log, &format!("number {n}"));
            let Facts::MessageAppended(facts) = &mut message.facts else { unreachable!() };
            facts.expires_at = Some(Micros(1_000 + n));
            log.append(thread.batch(version, vec![message])).unwrap();
            version += 1;
            if n == 3 {
                thread.forget(&log, version, slot).unwrap();
                version += 1;
            }
            let key =
                EmbeddingKey { scope: thread.key.scope, subject: slot, content: Version(version), chunk: 0, model: 1 };
            log.put_embeddings(&[EmbeddingRow { key, keys: thread.path(slot), vector: vec![n as u8; 400] }]).unwrap();
        }
        thread.say(&log, version, &"large ".repeat(12_000));
        let keys = other.path(Slot::NONE);
        let holder = Holder { stream: other.key, id: fresh(), keys };
        let listing = Listing { namespace: [1; 16], kind: ListKind::Profiles, id: fresh(), stream: other.key, keys };
        let outcome = Outcome { ids: vec![fresh()], numbers: vec![9] };
        let row = IdempotencyRow { key: command, request: Digest([1; 32]), time: Micros(5), outcome };
        let (message, _) = other.message(&log, "other");
        let batch = other.batch(0, vec![message]);
        log.append(Batch {
            claims: vec![Claim::Take(name, holder)],
            listed: vec![listing],
            idempotency: Some(row),
            ..batch
        })
        .unwrap();
        log.put_snapshot(thread.key, &Snapshot { layout: 1, bytes: vec![7; 900] }).unwrap();
        log.set_checkpoint("views", Position(4)).unwrap();
        log.sync().unwrap();
        let (told, events, lost) = (String::new(), Vec::new(), RefCell::default());
        let mut story = Self { files: Files::new(), thread, other, name, command, told, events, lost };
        story.told = story.tell(&log).expect("undamaged");
        for key in [story.thread.key, story.other.key] {
            for version in (1..=log.version(key).unwrap().0).map(Version) {
                story.events.push((key, version, alone(&log, key, version).expect("undamaged")));
            }
        }
        drop(log);
        story.files = files_in(dir.path())
            .into_iter()
            .map(|file| (file.strip_prefix(dir.path()).unwrap().to_owned(), fs::read(&file).unwrap()))
            .collect();
        story
    }

    /// Everything that can be read, as text; an error if any of it cannot.
    fn tell(&self, log: &Log) -> Result<String, crate::log::Error> {
        let mut told = Vec::new();
        for key in [self.thread.key, self.other.key] {
            for event in log.stream(key, Version(0), 100)? {
                let content = match log.open_content(&event)? {
                    Sealed::Open(content) => text_of(content),
                    other => format!("{other:?}"),
                };
                told.push(format!("{:?} {:?} {content}", event.head, event.facts));
            }
        }
        let tail = log.tail(Position(0), 100)?;
        told.push(format!("{:?}", tail.iter().map(|event| event.head.position).collect::<Vec<_>>()));
        told.push(format!("{:?} {:?}", log.claim(self.name)?, log.remembered(self.command, Micros(6))?));
        told.push(format!(
            "{:?} {:?}",
            log.listed([1; 16], ListKind::Profiles, None, 10)?,
            log.due(Micros(9_999), 99)?
        ));
        told.push(format!("{:?}", log.embeddings(self.thread.key.scope, None, 100)?));
        told.push(format!("{:?} {:?} {:?}", log.snapshot(self.thread.key)?, log.checkpoint("views")?, log.head()));
        Ok(told.join("\n"))
    }

    /// How many events cannot be read as they were, each asked for by itself.
    fn missing(&self, log: &Log) -> usize {
        let as_it_was = |it: &&(StreamKey, Version, String)| alone(log, it.0, it.1).is_ok_and(|is| is == it.2);
        self.events.len() - self.events.iter().filter(as_it_was).count()
    }

    /// What becomes of it with these files.
    fn judge(&self, files: &Files, at: &str) -> Fate {
        let dir = tempfile::tempdir().unwrap();
        for (file, bytes) in files {
            let path = dir.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
        let log = match Log::open(Options::new(dir.path())) {
            Ok(log) => log,
            Err(refused) => {
                assert!(refused.to_string().len() > 10, "{at}: refused without a sentence: {refused}");
                return Fate::Refused;
            }
        };
        // First: a damaged page must be told though it was read before.
        let told = self.tell(&log);
        let named = match log.verify_pages(None) {
            Ok(report) => report.first_break.is_some(),
            Err(error) => panic!("{at}: {error}"),
        };
        if named {
            self.lost.borrow_mut().push(self.missing(&log));
        }
        match told {
            Ok(told) if told == self.told && !named => Fate::Same,
            Ok(told) => {
                assert!(named, "{at}: read as something else, and verify finds nothing\n{}\nfor\n{}", told, self.told);
                Fate::Named
            }
            Err(error) => {
                assert!(named, "{at}: not read ({error}), and verify finds nothing");
                Fate::Named
            }
        }
    }

    fn flipped(&self, file: &Path, byte: usize, bit: u8) -> Fate {
        let mut files = self.files.clone();
        files.get_mut(file).unwrap()[byte] ^= 1 << bit;
        self.judge(&files, &format!("bit {bit} of byte {byte} of {}", file.display()))
    }
}

/// One event with its content.
fn alone(log: &Log, key: StreamKey, version: Version) -> Result<String, crate::log::Error> {
    let Some(event) = log.at(key, version)? else { return Ok(String::new()) };
    let content = match log.open_content(&event)? {
        Sealed::Open(content) => text_of(content),
        other => format!("{other:?}"),
    };
    Ok(format!("{:?} {:?} {content}", event.head, event.facts))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fate {
    Refused,
    Named,
    Same,
}

/// A sequence that is the same in every run.
fn sample(mut seed: u64) -> impl FnMut(usize) -> usize {
    move |below| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % below
    }
}

fn count(fates: impl Iterator<Item = Fate>) -> BTreeMap<Fate, usize> {
    let mut counts = BTreeMap::new();
    fates.for_each(|fate| *counts.entry(fate).or_default() += 1);
    counts
}

/// The page store's own pages, of tables that no event vouches for, too.
#[test]
fn a_flipped_bit_of_the_log_is_refused_or_named_or_changes_nothing() {
    let story = Story::new();
    let file = Path::new("log.redb");
    let bytes = &story.files[file];
    let used: Vec<usize> = (512..bytes.len()).filter(|at| bytes[*at] != 0).collect();
    let mut pick = sample(7);
    let fates = count((0..340).map(|_| {
        let (byte, bit) = (used[pick(used.len())], pick(8) as u8);
        story.flipped(file, byte, bit)
    }));
    assert!(fates[&Fate::Named] > 10, "{fates:?}");
    // The rest is read: a bit of a page takes what stands there, and only one in the paths to it takes more.
    let lost = story.lost.take();
    let one_at_most = lost.iter().filter(|lost| **lost <= 1).count();
    assert!(one_at_most * 4 > lost.len() * 3, "{lost:?}");
    // Its front: magic, geometry and both slots of commits.
    let fates = count((0..320).step_by(4).map(|byte| story.flipped(file, byte, pick(8) as u8)));
    assert!(fates[&Fate::Refused] > 5, "{fates:?}");
}

/// Every byte of the vault's own slots, and of a living and a dead one.
#[test]
fn a_flipped_bit_of_the_vault_is_refused_or_named_or_changes_nothing() {
    let story = Story::new();
    let file = Path::new("vault");
    let mut pick = sample(11);
    let own = count((0..256).step_by(4).map(|byte| story.flipped(file, byte, pick(8) as u8)));
    assert_eq!((own.get(&Fate::Named), own[&Fate::Refused] + own[&Fate::Same]), (None, 64), "{own:?}");
    let dead = story.files[file].chunks(64).position(|slot| slot[40] == 2).unwrap();
    // The first is the profile's, without which none of its thirteen messages is opened; a message's takes that message.
    for (slot, takes) in [(crate::vault::FIRST_SLOT as usize, 13), (dead, 1)] {
        let fates = count((slot * 64..slot * 64 + 64).map(|byte| story.flipped(file, byte, pick(8) as u8)));
        assert_eq!(fates[&Fate::Named], 64, "slot {slot}: {fates:?}");
        assert_eq!(story.lost.take(), [takes; 64], "slot {slot}: the rest is read");
    }
}

#[test]
fn a_flipped_or_missing_byte_of_a_large_content_is_named() {
    let story = Story::new();
    let blob = story.files.keys().find(|file| file.starts_with("blobs")).unwrap();
    let mut pick = sample(13);
    for _ in 0..20 {
        assert_eq!(story.flipped(blob, pick(story.files[blob].len()), pick(8) as u8), Fate::Named);
    }
    for keep in [0, 1, story.files[blob].len() - 1] {
        let mut files = story.files.clone();
        files.get_mut(blob).unwrap().truncate(keep);
        assert_eq!(story.judge(&files, &format!("{keep} bytes of a content")), Fate::Named);
    }
    let mut files = story.files.clone();
    files.remove(blob);
    assert_eq!(story.judge(&files, "a content is gone"), Fate::Named);
    assert_eq!(story.lost.take(), [1; 24], "the rest is read");
}

/// A copy that ended early, a disk that lost its last blocks.
#[test]
fn files_whose_tails_are_torn_off_are_refused_or_named() {
    let story = Story::new();
    let mut pick = sample(17);
    for file in ["log.redb", "vault"].map(Path::new) {
        let len = story.files[file].len();
        for turn in 0..15 {
            let keep = match turn {
                0 => 0,
                1 => 1,
                2 => len - 1,
                3 => len / 2 / 4_096 * 4_096,
                _ => pick(len),
            };
            let mut files = story.files.clone();
            files.get_mut(file).unwrap().truncate(keep);
            let fate = story.judge(&files, &format!("{keep} of {len} bytes of {}", file.display()));
            // The vault's last slots were never handed out.
            assert!(fate != Fate::Same || file == Path::new("vault"), "{keep} of {len} bytes of {}", file.display());
        }
    }
}
