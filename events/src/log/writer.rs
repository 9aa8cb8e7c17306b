//! The writer's thread: take what waits, commit, erase, tell, answer.

use std::{
    collections::HashMap,
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

use super::{
    CommitNotice, Core, Error, append,
    blobs::Owner,
    group::{Group, Tip, Written},
    queue::{Queue, Task, Waiting},
    recover::guard,
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
    /// Before a log that failed is tried again.
    pub(super) pause: Duration,
    /// Files of batches of which it is not known yet whether they came to nothing.
    pub(super) doubtful: Vec<Owner>,
}

/// Where the log ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct End {
    pub(super) head: Position,
    pub(super) hash: [u8; 32],
    pub(super) latest: Micros,
}

impl Writer {
    pub(super) fn run(&mut self) {
        let queue = Arc::clone(&self.core.queue);
        // Also when a callback panics: nobody may wait for ever.
        let _abandon = Abandon(&queue);
        loop {
            match queue.take(&self.core.limits, self.patience()) {
                Task::Group(group) => self.carry_out(group),
                Task::Look => self.look(),
                Task::End => return self.rest(),
            }
        }
    }

    /// What waits now, up to one group; false if nothing does. A log that has failed is looked after meanwhile.
    pub(super) fn turn(&mut self) -> bool {
        let group = self.core.queue.waiting(&self.core.limits);
        let any = !group.is_empty();
        match any {
            true => self.carry_out(group),
            false => self.look(),
        }
        any
    }

    fn carry_out(&mut self, group: Vec<Waiting>) {
        let failed = self.core.failure();
        let tried = failed.is_none();
        let answers = match failed {
            Some(reason) => refuse(&group, &reason),
            None => match guard(|| self.commit(&group)) {
                // Not guarded: what is durable is told, whatever becomes of who is told.
                Ok((mut answers, written)) => {
                    written.into_iter().for_each(|written| self.settle(&group, &mut answers, written));
                    answers
                }
                Err(error) => {
                    self.core.fail(error.to_string(), !error.passes());
                    self.tips.clear();
                    refuse(&group, &error.to_string())
                }
            },
        };
        for (waiting, answer) in group.into_iter().zip(answers) {
            match &answer {
                Ok(_) => {}
                // It may be durable or not: its files stay until that is known.
                Err(append::Error::Failed(_)) if tried => self.doubtful.extend(waiting.batch.files()),
                Err(_) => waiting.batch.discard(&self.core),
            }
            (waiting.done)(answer);
        }
        // What waits behind it is refused meanwhile; if the disk only stumbled, nothing is.
        self.look();
    }

    /// One durable commit for all that is sound in the group; nothing is written if nothing is.
    fn commit(&self, waiting: &[Waiting]) -> Result<(Vec<Answer>, Option<Written>), Error> {
        let core = Arc::clone(&self.core);
        let (begun, before) = (Instant::now(), self.end.head);
        let database = core.store.database();
        let txn = database.begin_write()?;
        let mut group = Group::new(&core, &self.tips, self.end, Writing::open(&txn)?);
        let mut answers = Vec::with_capacity(waiting.len());
        for one in waiting {
            answers.push(group.add(&one.batch)?);
        }
        if answers.iter().all(Result::is_err) {
            // Nothing was written, so there is nothing to make durable.
            drop(group);
            txn.abort()?;
            return Ok((answers, None));
        }
        let written = group.finish()?;
        core.durably(&database, txn)?;
        core.meter.committed(written.end.head.0 - before.0, begun.elapsed());
        Ok((answers, Some(written)))
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
            core.fail(format!("erasing: {error}"), !error.passes());
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
        // Whoever needs one and finds none is refused; nothing that was handed out depends on it.
        drop(core.vault.top_up());
    }

    /// The last act: what was written without a sync of its own gets one.
    fn rest(&self) {
        if self.core.failure().is_some() {
            return;
        }
        let synced = guard(|| {
            let database = self.core.store.database();
            self.core.durably(&database, database.begin_write()?)?;
            Ok(self.core.vault.sync()?)
        });
        if let Err(error) = synced {
            self.core.fail(error.to_string(), !error.passes());
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
        // Without their key nobody reads them, so the answer does not wait for a disk that will not remove them now.
        core.blobs.remove_slot(*slot);
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
