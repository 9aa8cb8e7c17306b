//! The writer's thread: take what waits, commit, erase, tell, answer.

use std::{
    collections::HashMap,
    sync::{Arc, atomic::Ordering},
    time::Instant,
};

use super::{
    CommitNotice, Core, Error, append,
    group::{Group, Tip, Written},
    queue::{Queue, Waiting},
    tables::Writing,
};
use crate::{
    batch::Committed,
    ids::{Micros, Position, StreamKey},
};

type Answer = Result<Committed, append::Error>;

/// What only the writer knows.
pub(super) struct Writer {
    pub(super) core: Arc<Core>,
    /// Version and chain of streams lately written: nobody else writes, so they are true.
    pub(super) tips: HashMap<StreamKey, Tip>,
    pub(super) end: End,
}

/// Where the log ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct End {
    pub(super) head: Position,
    pub(super) hash: [u8; 32],
    pub(super) latest: Micros,
}

impl Writer {
    pub(super) fn run(&mut self, queue: &Queue) {
        // Also when a callback panics: nobody may wait for ever.
        let _abandon = Abandon(queue);
        loop {
            let group = queue.take(&self.core.limits);
            if group.is_empty() {
                self.rest();
                return;
            }
            self.carry_out(group);
        }
    }

    /// What waits now, up to one group; false if nothing does.
    pub(super) fn turn(&mut self, queue: &Queue) -> bool {
        let group = queue.waiting(&self.core.limits);
        let any = !group.is_empty();
        if any {
            self.carry_out(group);
        }
        any
    }

    fn carry_out(&mut self, group: Vec<Waiting>) {
        let answers = match self.core.failed.get() {
            Some(reason) => refuse(&group, reason),
            None => self.commit(&group).unwrap_or_else(|error| {
                self.core.fail(error.to_string());
                self.tips.clear();
                refuse(&group, &error.to_string())
            }),
        };
        for (waiting, answer) in group.into_iter().zip(answers) {
            // After a failure the batch may be durable or not, so its files stay for the next start to judge.
            if !matches!(answer, Ok(_) | Err(append::Error::Failed(_))) {
                waiting.batch.discard(&self.core);
            }
            (waiting.done)(answer);
        }
    }

    /// One durable commit for all that is sound in the group.
    fn commit(&mut self, waiting: &[Waiting]) -> Result<Vec<Answer>, Error> {
        let core = Arc::clone(&self.core);
        let (begun, before) = (Instant::now(), self.end.head);
        let txn = core.database.begin_write()?;
        let mut group = Group::new(&core, &self.tips, self.end, Writing::open(&txn)?);
        let mut answers = Vec::with_capacity(waiting.len());
        for one in waiting {
            answers.push(group.add(&one.batch)?);
        }
        if answers.iter().all(Result::is_err) {
            // Nothing was written, so there is nothing to make durable.
            drop(group);
            txn.abort()?;
            return Ok(answers);
        }
        let written = group.finish()?;
        core.durably(txn)?;
        core.meter.committed(written.end.head.0 - before.0, begun.elapsed());
        self.settle(waiting, &mut answers, written);
        Ok(answers)
    }

    /// After the commit: overwrite what it condemned, move the head, tell the listener.
    fn settle(&mut self, waiting: &[Waiting], answers: &mut [Answer], written: Written) {
        let core = &self.core;
        if self.tips.len() + written.tips.len() > core.limits.tips_max {
            self.tips.clear();
        }
        self.tips.extend(written.tips);
        self.end = written.end;
        if let Err(error) = erase(core, &written.erased, self.end.head) {
            // The events are durable and the next start will erase; until then nobody may be told that it is done.
            core.fail(format!("erasing: {error}"));
            for (one, answer) in waiting.iter().zip(answers.iter_mut()) {
                if one.batch.events.iter().any(|event| !event.erases.is_empty()) && answer.is_ok() {
                    *answer = Err(append::Error::Failed(format!("erasing: {error}")));
                }
            }
        }
        for (partition, position) in written.partitions {
            core.tails[partition as usize].store(position, Ordering::SeqCst);
        }
        core.head.store(self.end.head.0, Ordering::SeqCst);
        if let (Some(listener), false) = (&core.listener, written.scopes.is_empty()) {
            let scopes = written.scopes.into_iter().collect();
            listener(&CommitNotice { last: self.end.head, scopes });
        }
        if let Err(error) = core.vault.top_up() {
            core.fail(format!("vault: {error}"));
        }
    }

    /// The last act: what was written without a sync of its own gets one.
    pub(super) fn rest(&self) {
        if self.core.failed.get().is_some() {
            return;
        }
        let synced = self.core.database.begin_write().map_err(Error::from);
        let synced = synced.and_then(|txn| self.core.durably(txn));
        if let Err(error) = synced.and_then(|()| Ok(self.core.vault.sync()?)) {
            self.core.fail(error.to_string());
        }
    }
}

/// Overwrites slots, then removes the files that they sealed.
pub(super) fn erase(core: &Core, slots: &[crate::ids::Slot], through: Position) -> Result<(), Error> {
    if slots.is_empty() {
        return Ok(());
    }
    #[cfg(test)]
    if core.faults.dies_before_overwriting.load(Ordering::SeqCst) {
        return Err(Error::Failed("killed before overwriting".into()));
    }
    core.vault.erase(slots, through)?;
    for slot in slots {
        core.blobs.remove_slot(*slot)?;
    }
    Ok(())
}

fn refuse(group: &[Waiting], reason: &str) -> Vec<Answer> {
    group.iter().map(|_| Err(append::Error::Failed(reason.to_owned()))).collect()
}

struct Abandon<'a>(&'a Queue);

impl Drop for Abandon<'_> {
    fn drop(&mut self) {
        self.0.abandon();
    }
}
