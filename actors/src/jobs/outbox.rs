//! The outbox follows the log and hands what it promises to the queue. After a restart it reads on from its checkpoint, which
//! never passes a promise that is not kept.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use memlog_events::{
    event::Facts,
    ids::{JobId, Position},
    log::{Error, Log, Stored},
};
use tokio::sync::watch;

use crate::{
    domain::Place,
    port::{JobQueue, Ticket},
};

/// The row of the checkpoint.
const CHECKPOINT: &str = "outbox";
/// Events read at once.
const PAGE_EVENTS: usize = 1_000;
/// Positions after which the checkpoint is written: it costs a turn of the log's writer, and after a crash only so much is read again.
const CHECKPOINT_EVERY: u64 = 1_000;

/// Follows the log for promises.
pub(crate) struct Outbox {
    log: Log,
    queue: Arc<dyn JobQueue>,
    at: Position,
    /// Promises not kept yet, by where they stand.
    open: BTreeMap<Position, Ticket>,
    places: HashMap<JobId, Position>,
    /// Up to where promises were handed to the queue.
    handed: Position,
    checkpoint: Position,
    open_count: watch::Sender<u64>,
}

impl Outbox {
    /// Goes on from the checkpoint.
    pub(crate) fn new(log: Log, queue: Arc<dyn JobQueue>) -> Result<Self, Error> {
        let at = log.checkpoint(CHECKPOINT)?;
        let open_count = watch::Sender::new(0);
        Ok(Self {
            log,
            queue,
            at,
            open: BTreeMap::new(),
            places: HashMap::new(),
            handed: at,
            checkpoint: at,
            open_count,
        })
    }

    /// How many promises are not kept yet.
    pub(crate) fn open(&self) -> watch::Receiver<u64> {
        self.open_count.subscribe()
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
            let (log, at) = (self.log.clone(), self.at);
            let read = tokio::task::spawn_blocking(move || log.tail(at, PAGE_EVENTS)).await;
            let page = read.unwrap_or(Ok(Vec::new()))?;
            let Some(last) = page.last() else { break };
            self.at = last.head.position;
            for event in &page {
                self.note(event);
            }
        }
        let handed = self.handed;
        let new: Vec<_> = self.open.range(Position(handed.0 + 1)..).map(|(_, ticket)| *ticket).collect();
        for ticket in new {
            self.queue.put(ticket).await;
        }
        self.handed = self.at;
        self.open_count.send_replace(self.open.len() as u64);
        let checkpoint = self.open.first_key_value().map_or(self.at, |(first, _)| Position(first.0 - 1));
        if checkpoint.0 >= self.checkpoint.0 + CHECKPOINT_EVERY {
            self.checkpoint = checkpoint;
            self.log.set_checkpoint(CHECKPOINT, checkpoint)?;
        }
        Ok(())
    }

    fn note(&mut self, event: &Stored) {
        match &event.facts {
            Facts::ExtractionRequested(e) => {
                let place = Place { key: event.head.key, scope_slot: event.head.keys.scope };
                self.kept(e.job);
                self.open.insert(event.head.position, Ticket { job: e.job, place, attempts: 0 });
                self.places.insert(e.job, event.head.position);
            }
            Facts::ExtractionCompleted(e) => self.kept(e.job),
            Facts::ExtractionFailed(e) => self.kept(e.job),
            Facts::ThreadDeleted(_) => self.drop_where(|ticket| ticket.place.key.stream == event.head.key.stream),
            Facts::ProfileDeleted(_) => self.drop_where(|ticket| ticket.place.key.scope == event.head.key.scope),
            _ => {}
        }
    }

    fn kept(&mut self, job: JobId) {
        if let Some(position) = self.places.remove(&job) {
            self.open.remove(&position);
        }
    }

    fn drop_where(&mut self, gone: impl Fn(&Ticket) -> bool) {
        let jobs: Vec<_> = self.open.values().filter(|ticket| gone(ticket)).map(|ticket| ticket.job).collect();
        for job in jobs {
            self.kept(job);
        }
    }
}
