//! Proofs of the log, on real files. They sit inside the crate to reach what no user may: raw rows, failing disks.

mod appending;
mod backing_up;
mod damage;
mod directory;
mod forgetting;
mod life;
mod machine;
mod opening;
mod platter;
mod purging;
mod refusing;
mod verifying;

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
        mpsc,
    },
};

use uuid::Uuid;

use super::{Log, Options, append};
use crate::{
    batch::{Batch, Committed, Draft},
    code::{RoleCode, StreamKind},
    event::{ByV1, Content, Facts, ForgotV1, MessageAppendedContentV2, MessageAppendedV2},
    ids::*,
};

/// A new id: a counter is enough, and a failing test fails the same way again.
pub(super) fn fresh() -> Uuid {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    Uuid::from_u128(u128::from(NEXT.fetch_add(1, Ordering::SeqCst)) << 64 | 0x7000_8000_0000_0000)
}

/// What a test makes go wrong.
#[derive(Default)]
pub(super) struct Faults {
    /// The process dies between a commit and the overwriting it asks for.
    pub(super) dies_before_overwriting: AtomicBool,
}

/// What makes the files of large contents fail: the machine whose disk they lie on.
#[derive(Clone, Debug, Default)]
pub(super) struct Fault(Arc<std::sync::OnceLock<machine::Machine>>);

impl Fault {
    fn of(&self, machine: &machine::Machine) {
        self.0.set(machine.clone()).unwrap();
    }

    /// Half of it gets there.
    pub(super) fn writes(&self, file: &mut std::fs::File, bytes: &[u8]) -> std::io::Result<()> {
        let Some(machine) = self.0.get() else { return Ok(()) };
        machine.write().inspect_err(|_| {
            std::io::Write::write_all(file, &bytes[..bytes.len() / 2]).unwrap();
        })
    }

    /// Half of what was written is forgotten.
    pub(super) fn syncs(&self, file: &std::fs::File) -> std::io::Result<()> {
        let Some(machine) = self.0.get() else { return Ok(()) };
        machine.sync().inspect_err(|_| file.set_len(file.metadata().unwrap().len() / 2).unwrap())
    }
}

/// A text that no file may hold in plain.
pub(super) const SECRET: &str = "Grandmother keeps the spare key under the third flowerpot";

/// A profile with one thread, as the domain would keep it.
pub(super) struct Subject {
    pub(super) key: StreamKey,
    pub(super) scope_slot: Slot,
    pub(super) stream_slot: Slot,
}

impl Subject {
    pub(super) fn new(log: &Log, partition: u16) -> Self {
        let slots = log.reserve(2).unwrap();
        let key = StreamKey { partition: Partition(partition), scope: Scope(fresh()), stream: StreamId(fresh()) };
        Self { key, scope_slot: slots[0], stream_slot: slots[1] }
    }

    pub(super) fn path(&self, subject: Slot) -> KeyPath {
        KeyPath { scope: self.scope_slot, stream: self.stream_slot, subject }
    }

    pub(super) fn batch(&self, expected: u64, events: Vec<Draft>) -> Batch {
        Batch {
            key: self.key,
            kind: StreamKind::THREAD,
            expected: Version(expected),
            events,
            claims: Vec::new(),
            listed: Vec::new(),
            idempotency: None,
        }
    }

    /// A message with a fresh slot.
    pub(super) fn message(&self, log: &Log, text: &str) -> (Draft, Slot) {
        self.message_in(log.reserve(1).unwrap()[0], text)
    }

    /// The same in a slot that was reserved before.
    pub(super) fn message_in(&self, slot: Slot, text: &str) -> (Draft, Slot) {
        let facts = MessageAppendedV2 {
            message: MessageId(fresh()),
            slot,
            ordinal: 0,
            role: RoleCode::USER,
            digest: Digest([7; 32]),
            id_digest: None,
            speaker: None,
            timestamp: None,
            offset_seconds: 0,
            expires_at: None,
        };
        let content = MessageAppendedContentV2 {
            text: text.to_owned(),
            parts: Vec::new(),
            given_id: None,
            custom_role: None,
            metadata: "{}".to_owned(),
            by: ByV1 { user: Some("ada".into()), agent: None },
        };
        let content = Some((Content::MessageAppended(content), self.path(slot)));
        (draft(Facts::MessageAppended(facts), content), slot)
    }

    pub(super) fn say(&self, log: &Log, expected: u64, text: &str) -> (Committed, Slot) {
        let (draft, slot) = self.message(log, text);
        (log.append(self.batch(expected, vec![draft])).unwrap(), slot)
    }

    pub(super) fn forget(&self, log: &Log, expected: u64, slot: Slot) -> Result<Committed, append::Error> {
        log.append(self.batch(expected, vec![draft(forgot(slot), None)]))
    }
}

pub(super) fn forgot(slot: Slot) -> Facts {
    let record = RecordId(fresh());
    Facts::Forgot(ForgotV1 { record, slot, messages: Vec::new(), relations: Vec::new() })
}

pub(super) fn draft(facts: Facts, content: Option<(Content, KeyPath)>) -> Draft {
    Draft { id: EventId(fresh()), time: Micros(1_000_000), facts, content }
}

pub(super) fn open(dir: &Path) -> Log {
    Log::open(Options::new(dir)).unwrap()
}

pub(super) fn text_of(content: Content) -> String {
    match content {
        Content::MessageAppended(content) => content.text,
        other => panic!("not a message: {other:?}"),
    }
}

/// Holds the writer in a callback, so that what is submitted meanwhile goes into one commit.
pub(super) struct Gate(mpsc::SyncSender<()>);

impl Gate {
    pub(super) fn close(log: &Log) -> Self {
        let (open, opened) = mpsc::sync_channel(1);
        let (enter, entered) = mpsc::sync_channel(1);
        let subject = Subject::new(log, 63);
        let batch = subject.batch(0, vec![subject.message(log, "gate").0]);
        let held = Box::new(move |answer: Result<Committed, append::Error>| {
            answer.unwrap();
            enter.send(()).unwrap();
            opened.recv().unwrap();
        });
        log.submit(batch, held).unwrap();
        entered.recv().unwrap();
        Self(open)
    }

    pub(super) fn open(self) {
        self.0.send(()).unwrap();
    }
}

/// Carries the batches out in one group and hands back their answers in order.
pub(super) fn in_one_commit(log: &Log, batches: Vec<Batch>) -> Vec<Result<Committed, append::Error>> {
    let gate = Gate::close(log);
    let told: Vec<_> = batches
        .into_iter()
        .map(|batch| {
            let (tell, told) = mpsc::sync_channel(1);
            log.submit(batch, Box::new(move |answer| tell.send(answer).unwrap())).unwrap();
            told
        })
        .collect();
    gate.open();
    told.into_iter().map(|told| told.recv().unwrap()).collect()
}

/// Every file under a folder.
pub(super) fn files_in(dir: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => files.extend(files_in(&path)),
            false => files.push(path),
        }
    }
    files
}
