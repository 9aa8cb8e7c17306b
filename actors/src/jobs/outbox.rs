//! The outbox follows the log and hands what it promises to the queue. After a restart it reads on from its checkpoint, which
//! never passes a promise that is not kept.

use std::{collections::HashMap, mem, sync::Arc};

use memlog_events::{
    event::Facts,
    ids::{JobId, Position, Scope, StreamKey, Version},
    log::{Error, Log, Stored},
};
use tokio::sync::watch;

use super::Promises;
use crate::{
    domain::Place,
    in_use::InUse,
    port::{DeadLetter, JobQueue, Ticket},
};

/// The row of the checkpoint.
const CHECKPOINT: &str = "outbox";
/// Events read at once.
const PAGE_EVENTS: usize = 1_000;
/// Positions after which the checkpoint is written: it costs a turn of the log's writer, and after a crash only so much is read again.
const CHECKPOINT_EVERY: u64 = 1_000;
/// Profiles whose namespace is kept in mind: a few megabytes. Who is dropped is looked up again.
const NAMESPACES_MAX: usize = 50_000;

/// Follows the log for promises.
pub(crate) struct Outbox {
    log: Log,
    in_use: InUse,
    queue: Arc<dyn JobQueue>,
    promises: Arc<Promises>,
    at: Position,
    /// Up to where promises were handed to the queue.
    handed: Position,
    checkpoint: Position,
    /// The log's head at the start: what ended after it ended in this life.
    began: Position,
    /// Failures read in this pass; one whose job was promised again meanwhile is none.
    dead: Vec<DeadLetter>,
    /// The namespaces of profiles that had jobs, as far as they could be read.
    namespaces: HashMap<Scope, [u8; 16]>,
}

impl Outbox {
    /// Goes on from the checkpoint.
    pub(crate) fn new(log: Log, in_use: InUse, queue: Arc<dyn JobQueue>) -> Result<Self, Error> {
        let (at, began) = (log.checkpoint(CHECKPOINT)?, log.head());
        let promises = Arc::new(Promises::new(at));
        Ok(Self {
            log,
            in_use,
            queue,
            promises,
            at,
            handed: at,
            checkpoint: at,
            began,
            dead: Vec::new(),
            namespaces: HashMap::new(),
        })
    }

    /// What is not kept yet.
    pub(crate) fn promises(&self) -> Arc<Promises> {
        Arc::clone(&self.promises)
    }

    /// Until `head` ends. Reads to the end before it hands anything out: what was kept meanwhile needs no worker.
    pub(crate) async fn run(mut self, mut head: watch::Receiver<Position>) {
        loop {
            if let Err(error) = self.catch_up().await {
                tracing::error!(%error, "the outbox could not read the log; it tries again with the next commit");
            }
            if head.wait_for(|head| *head > self.at).await.is_err() {
                return;
            }
        }
    }

    async fn catch_up(&mut self) -> Result<(), Error> {
        loop {
            let page = self.page().await?;
            let Some(last) = page.last() else { break };
            self.at = last.head.position;
            for event in &page {
                self.note(event);
            }
        }
        // Before the queue gets them: who is given a job may ask for it at once.
        self.promises.reached(self.at);
        for ticket in self.promises.after(self.handed) {
            self.queue.put(ticket);
        }
        for letter in self.dead.drain(..) {
            self.queue.dead(letter);
        }
        self.handed = self.at;
        let checkpoint = self.promises.first().map_or(self.at, |first| Position(first.0 - 1));
        if checkpoint.0 >= self.checkpoint.0 + CHECKPOINT_EVERY {
            self.checkpoint = checkpoint;
            self.log.set_checkpoint(CHECKPOINT, checkpoint)?;
        }
        Ok(())
    }

    /// The next events; afterwards the namespaces of what they promise are known.
    async fn page(&mut self) -> Result<Vec<Stored>, Error> {
        let (at, mut known) = (self.at, mem::take(&mut self.namespaces));
        let reading = self.in_use.read(&self.log, move |log| {
            let page = log.tail(at, PAGE_EVENTS);
            if known.len() >= NAMESPACES_MAX {
                known.clear();
            }
            for event in page.iter().flatten() {
                if matches!(event.facts, Facts::ExtractionRequested(_)) {
                    learn(log, event.head.key, &mut known);
                }
            }
            (page, known)
        });
        let (page, known) = reading.await.unwrap_or_else(|_| (Ok(Vec::new()), HashMap::new()));
        self.namespaces = known;
        page
    }

    fn note(&mut self, event: &Stored) {
        let (head, position) = (&event.head, event.head.position);
        match &event.facts {
            Facts::ExtractionRequested(e) => {
                let place = Place { key: head.key, scope_slot: head.keys.scope };
                // One that could not be read takes turns with others of its kind.
                let namespace = self.namespaces.get(&head.key.scope).copied().unwrap_or_default();
                let before = self.promises.made(Ticket { job: e.job, place, namespace, promised: position });
                self.settled(before);
                self.dead.retain(|letter| letter.job != e.job);
            }
            Facts::ExtractionCompleted(e) => {
                self.kept(e.job);
                self.ended(position, true);
            }
            Facts::ExtractionFailed(e) => {
                self.kept(e.job);
                self.ended(position, false);
                self.dead.push(DeadLetter { job: e.job, position, code: e.code.clone(), attempts: e.attempts });
            }
            Facts::ThreadDeleted(_) => self.settled(self.promises.void(|it| it.place.key.stream == head.key.stream)),
            Facts::ProfileDeleted(_) => self.settled(self.promises.void(|it| it.place.key.scope == head.key.scope)),
            _ => {}
        }
    }

    fn ended(&self, at: Position, done: bool) {
        if at > self.began {
            self.promises.ended(done);
        }
    }

    fn kept(&self, job: JobId) {
        self.settled(self.promises.kept(job));
    }

    fn settled(&self, tickets: impl IntoIterator<Item = Ticket>) {
        for ticket in tickets.into_iter().filter(|ticket| ticket.promised <= self.handed) {
            self.queue.settled(ticket);
        }
    }
}

/// Finds out the namespace of a profile from its first event, unless it is known. After an error it is looked up again.
fn learn(log: &Log, key: StreamKey, known: &mut HashMap<Scope, [u8; 16]>) {
    if known.contains_key(&key.scope) {
        return;
    }
    let Ok(first) = log.at(StreamKey { stream: key.scope.own_stream(), ..key }, Version(1)) else { return };
    let namespace = match first.map(|first| first.facts) {
        Some(Facts::ProfileCreated(e)) => e.namespace,
        _ => [0; 16],
    };
    known.insert(key.scope, namespace);
}
