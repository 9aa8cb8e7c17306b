//! Counts what workers do with their jobs, for whoever watches; changes nothing of it.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use memlog_actors::port::{Delivery, Eventually, JobSource};
use memlog_events::{
    ids::JobId,
    log::{Classes, Spread},
};

/// Upper bounds of the classes of a job's time, in milliseconds: the local extractor takes a few, a model minutes.
const MILLIS: [u64; 12] = [1, 5, 10, 50, 100, 500, 1_000, 5_000, 10_000, 60_000, 300_000, 3_600_000];

/// What became of jobs.
#[derive(Debug)]
pub(super) struct Counts {
    running: AtomicU64,
    settled: AtomicU64,
    again: AtomicU64,
    dropped: AtomicU64,
    millis: Classes<12>,
}

/// The same at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkersLoad {
    /// Jobs at once.
    pub parallel: u64,
    /// Jobs in hand.
    pub running: u64,
    /// Jobs that need no more work: done, given up, or found to be moot.
    pub settled: u64,
    /// Jobs to be tried again.
    pub again: u64,
    /// Jobs whose worker panicked or was ended; the queue delivers them again.
    pub dropped: u64,
    /// How long each was in hand, in milliseconds.
    pub millis: Spread,
}

impl Counts {
    pub(super) fn new() -> Arc<Self> {
        let (running, settled, again, dropped) = Default::default();
        Arc::new(Self { running, settled, again, dropped, millis: Classes::new(&MILLIS) })
    }

    pub(super) fn load(&self, parallel: usize) -> WorkersLoad {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        WorkersLoad {
            parallel: parallel as u64,
            running: read(&self.running),
            settled: read(&self.settled),
            again: read(&self.again),
            dropped: read(&self.dropped),
            millis: self.millis.spread(),
        }
    }
}

/// A source whose jobs are counted.
pub(super) struct CountedSource {
    pub(super) inner: Arc<dyn JobSource>,
    pub(super) counts: Arc<Counts>,
}

impl JobSource for CountedSource {
    fn take(&self) -> Eventually<'_, Option<Box<dyn Delivery>>> {
        Box::pin(async {
            let inner = self.inner.take().await?;
            Some(Box::new(InHand::new(inner, Arc::clone(&self.counts))) as Box<dyn Delivery>)
        })
    }

    fn is_closed(&self) -> bool {
        self.inner.is_closed()
    }
}

struct InHand {
    inner: Option<Box<dyn Delivery>>,
    job: JobId,
    counts: Arc<Counts>,
    since: Instant,
}

impl InHand {
    fn new(inner: Box<dyn Delivery>, counts: Arc<Counts>) -> Self {
        counts.running.fetch_add(1, Ordering::Relaxed);
        Self { job: inner.job(), inner: Some(inner), counts, since: Instant::now() }
    }

    /// Hands the job on and counts it as that; `None` if that was done before.
    fn leave(&mut self, which: fn(&Counts) -> &AtomicU64) -> Option<Box<dyn Delivery>> {
        let inner = self.inner.take()?;
        which(&self.counts).fetch_add(1, Ordering::Relaxed);
        self.counts.running.fetch_sub(1, Ordering::Relaxed);
        self.counts.millis.add(u64::try_from(self.since.elapsed().as_millis()).unwrap_or(u64::MAX));
        Some(inner)
    }
}

impl Delivery for InHand {
    fn job(&self) -> JobId {
        self.job
    }

    fn working(&self) -> Eventually<'_, ()> {
        match &self.inner {
            Some(inner) => inner.working(),
            None => Box::pin(std::future::ready(())),
        }
    }

    fn done(mut self: Box<Self>) -> Eventually<'static, ()> {
        match self.leave(|counts| &counts.settled) {
            Some(inner) => inner.done(),
            None => Box::pin(std::future::ready(())),
        }
    }

    fn again(mut self: Box<Self>, after: Duration) -> Eventually<'static, ()> {
        match self.leave(|counts| &counts.again) {
            Some(inner) => inner.again(after),
            None => Box::pin(std::future::ready(())),
        }
    }
}

impl Drop for InHand {
    fn drop(&mut self) {
        drop(self.leave(|counts| &counts.dropped));
    }
}
