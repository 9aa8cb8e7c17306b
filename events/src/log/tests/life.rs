//! A busy life of a log: everything that writes, with what was acknowledged written down beside it, and the judgement over what is
//! left of it afterwards.

use super::{machine::Machine, *};
use crate::{
    batch::{Claim, Holder, IdempotencyRow, Outcome},
    log::{EmbeddingKey, EmbeddingRow, Purge, Sealed, Snapshot},
    vault::State,
};

/// A command, and what came of it.
struct Asked {
    row: IdempotencyRow,
    batch: Batch,
    slot: Slot,
    /// The key of its subject while that lives, of one that says something.
    key: [u8; 32],
    /// What it says; none for a forget.
    text: Option<String>,
    refused: Option<String>,
}

pub(super) struct Life {
    subject: Subject,
    asked: Vec<Asked>,
    folder: PathBuf,
}

const MESSAGES: u64 = 6;
/// The one that lies in a file of its own, and is forgotten, too.
const LARGE: u64 = 2;

impl Life {
    /// Says six things, one of them large, forgets every second one at once, keeps snapshots and vectors, purges and backs up in
    /// between; stops at the first append that is refused.
    pub(super) fn of(log: &Log, folder: &Path) -> Self {
        let subject = Subject::new(log, 1);
        let mut life = Self { subject, asked: Vec::new(), folder: folder.to_owned() };
        for n in 0..MESSAGES {
            let text = format!("message {n} ").repeat(if n == LARGE { 8_000 } else { 1 });
            let (draft, slot) = life.subject.message(log, &text);
            let mut batch = life.subject.batch(life.asked.len() as u64, vec![draft]);
            batch.claims = vec![life.name(log, n)];
            if !life.ask(log, batch, slot, Some(text)) {
                break;
            }
            life.keep(log, slot, n);
            if n % 2 == 0 {
                let batch = life.subject.batch(life.asked.len() as u64, vec![super::draft(forgot(slot), None)]);
                if !life.ask(log, batch, slot, None) {
                    break;
                }
            }
        }
        life
    }

    fn name(&self, log: &Log, n: u64) -> Claim {
        let name = log.digest_names(&[&n.to_le_bytes()]);
        Claim::Take(
            name,
            Holder { stream: self.subject.key, id: self.subject.key.stream.0, keys: self.subject.path(Slot::NONE) },
        )
    }

    /// Whether it was acknowledged.
    fn ask(&mut self, log: &Log, mut batch: Batch, slot: Slot, text: Option<String>) -> bool {
        let key = match log.0.core.vault.state(slot) {
            Ok(State::Live(key)) => key,
            _ => [0; 32],
        };
        let row = log.digest_names(&[b"command", &self.asked.len().to_le_bytes()]);
        let row = IdempotencyRow { key: row, request: Digest([0; 32]), time: Micros(0), outcome: Outcome::default() };
        batch.idempotency = Some(row.clone());
        let refused = log.append(batch.clone()).err().map(|error| error.to_string());
        let acknowledged = refused.is_none();
        self.asked.push(Asked { row, batch, slot, key, text, refused });
        acknowledged
    }

    /// What followers, views and the housekeeping do. It may be refused; nothing depends on it.
    fn keep(&self, log: &Log, slot: Slot, n: u64) {
        let key =
            EmbeddingKey { scope: self.subject.key.scope, subject: slot, content: Version(1), chunk: 0, model: 1 };
        let vectors = [EmbeddingRow { key, keys: self.subject.path(slot), vector: vec![n as u8; 1_536] }];
        let snapshot = Snapshot { layout: 1, bytes: vec![n as u8; 3_000] };
        drop(log.put_embeddings(&vectors));
        drop(log.put_snapshot(self.subject.key, &snapshot));
        drop(log.set_checkpoint("views", Position(n)));
        match n {
            1 => drop(log.sync()),
            3 => {
                let mut purge = Purge::stream(self.subject.key);
                while log.purge(&mut purge).unwrap_or(false) {}
            }
            4 => drop(log.sweep(Micros(1))),
            5 => self.back_up(log),
            _ => {}
        }
    }

    /// A copy is whole, or there is none.
    fn back_up(&self, log: &Log) {
        let copy = self.folder.join("copy");
        match log.backup(&copy, &copy) {
            Ok(copied) => {
                let copied_log = open(&copy);
                assert_eq!((copied_log.head(), copied_log.stats().unwrap().events), (copied.head.0, copied.events));
                drop(copied_log);
                std::fs::remove_dir_all(copy).unwrap();
            }
            Err(_) => assert!(files_in(&copy).is_empty()),
        }
    }

    /// Why the last command was refused, if it was.
    pub(super) fn refusal(&self) -> Option<&str> {
        self.asked.last().and_then(|asked| asked.refused.as_deref())
    }

    fn acknowledged(&self) -> usize {
        self.asked.iter().filter(|asked| asked.refused.is_none()).count()
    }

    /// Everything acknowledged is read, word for word unless it was forgotten.
    pub(super) fn is_read(&self, log: &Log, at: &str) {
        let events = log.stream(self.subject.key, Version(0), 100).unwrap();
        assert!(events.len() >= self.acknowledged(), "{at}: {} of {}", events.len(), self.acknowledged());
        assert!(events.windows(2).all(|pair| pair[0].head.position < pair[1].head.position), "{at}");
        for (event, asked) in events.iter().zip(&self.asked) {
            let Some(text) = &asked.text else { continue };
            let dead = !log.alive(event.head.keys).unwrap();
            match log.open_content(event).unwrap() {
                Sealed::Open(content) if !dead => assert_eq!(text_of(content), *text, "{at}"),
                Sealed::Erased if dead => {}
                other => panic!("{at}, dead {dead}: {other:?}"),
            }
        }
    }

    /// A command that was refused has stored nothing, though the process went on; but a forget that only the vault refused is
    /// carried out.
    pub(super) fn has_nothing_refused(&self, log: &Log, at: &str) {
        let erasing = usize::from(self.refusal().is_some_and(|why| why.contains("erasing")));
        let count = log.stream(self.subject.key, Version(0), 100).unwrap().len();
        assert_eq!(count, self.acknowledged() + erasing, "{at}");
    }

    /// After a restart, or after the disk took writes again: what was acknowledged is there, what was not is whole or
    /// absent, nothing forgotten is in any file, the log verifies, and who got no answer may send again.
    pub(super) fn judge(&self, log: &Log, machine: &Machine, at: &str) {
        let count = || log.stream(self.subject.key, Version(0), 100).unwrap().len();
        assert!(count() <= self.acknowledged() + 1, "{at}: {} of {}", count(), self.acknowledged());
        self.is_read(log, at);
        self.is_forgotten(log, machine, at);
        // The slots that its commands name were handed out in the other life; those never used come again.
        log.reserve(64).unwrap();
        for asked in &self.asked {
            match log.append(asked.batch.clone()) {
                Err(append::Error::Replayed(_)) => {}
                other => assert!(asked.refused.is_some() && other.is_ok(), "{at}: {other:?}"),
            }
        }
        assert_eq!(count(), self.asked.len(), "{at}: nothing twice");
        self.is_forgotten(log, machine, at);
        assert_eq!(log.verify(None).unwrap().first_break, None, "{at}");
    }

    fn is_forgotten(&self, log: &Log, machine: &Machine, at: &str) {
        let mut large = 0;
        for asked in &self.asked {
            let there = log.remembered(asked.row.key, Micros(0)).unwrap().is_some();
            assert!(there || asked.refused.is_some(), "{at}: what was acknowledged is gone");
            match &asked.text {
                Some(text) => large += usize::from(there && text.len() > 65_536),
                None => {
                    // Also when it was durable but not acknowledged: it is finished before anything else is done.
                    assert_eq!(log.alive(self.subject.path(asked.slot)).unwrap(), !there, "{at}");
                    let said = &self.asked.iter().find(|other| other.text.is_some() && other.slot == asked.slot);
                    let said = said.expect("what is forgotten was said");
                    assert!(!there || !machine.holds(&said.key), "{at}: the key is still on a disk");
                    large -= usize::from(there && said.text.as_ref().is_some_and(|text| text.len() > 65_536));
                }
            }
        }
        assert_eq!(files_in(&self.folder.join("blobs")).len(), large, "{at}: files of contents");
    }
}
