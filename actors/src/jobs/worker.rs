//! A worker: takes a job, gets its texts from the desk, has them extracted, leaves the result there. It holds no state, so it
//! may die at any point and run on any host.

use std::{future::Future, sync::Arc, time::Duration};

use tokio::task::JoinSet;
use tracing::{Instrument as _, field::Empty};

use crate::port::{
    Assignment, Delivery, Desk, DeskClosed, ExtractFailed, Extractor, Finding, JobSource, Narrator, Summary,
};

/// How often a queue hears that a long job is still being worked on.
const PROGRESS_EVERY: Duration = Duration::from_secs(5);
/// When a job is delivered again whose desk was closed.
const DESK_AGAIN: Duration = Duration::from_secs(1);
/// The first pause before a result is offered again to a desk that was closed; it doubles with each try.
const OFFER_PAUSE_MIN: Duration = Duration::from_millis(50);
/// The longest such pause.
const OFFER_PAUSE_MAX: Duration = Duration::from_secs(5);
/// How often a result is offered: some five minutes. A model was paid for it, so it is not dropped for a node that restarts.
const OFFERS_MAX: u32 = 64;

/// One job at a time.
#[derive(Clone)]
pub struct Worker {
    /// Where jobs come from.
    pub source: Arc<dyn JobSource>,
    /// Where texts come from and results go to.
    pub desk: Arc<dyn Desk>,
    /// What finds memories.
    pub extractor: Arc<dyn Extractor>,
    /// What summarises sessions, if anything does.
    pub narrator: Option<Arc<dyn Narrator>>,
}

impl Worker {
    /// Until the source is closed.
    pub async fn run(self) {
        let mut hands = JoinSet::new();
        while let Some(delivery) = self.source.take().await {
            let (worker, job) = (self.clone(), delivery.job());
            // Which job and what became of it, and no word of its texts.
            let span = tracing::info_span!("job", id = %job, outcome = Empty);
            hands.spawn(async move { worker.one(delivery).await }.instrument(span));
            // A panic costs this try, not the worker: the queue delivers the job again.
            if let Some(Err(error)) = hands.join_next().await {
                tracing::error!(%job, %error, "a worker had panicked");
            }
        }
    }

    async fn one(&self, delivery: Box<dyn Delivery>) {
        let worked = self.work(&*delivery).await;
        let outcome = match &worked {
            Ok(None) => "ended",
            Ok(Some(_)) => "again",
            Err(_) => "waits",
        };
        tracing::Span::current().record("outcome", outcome);
        tracing::debug!("worked on");
        match worked {
            Ok(None) => delivery.done().await,
            Ok(Some(after)) => delivery.again(after).await,
            Err(closed) => {
                tracing::warn!(job = %delivery.job(), %closed, "a job waits for the node");
                delivery.again(DESK_AGAIN).await;
            }
        }
    }

    /// When to try again; none if the job is done or given up.
    async fn work(&self, delivery: &dyn Delivery) -> Result<Option<Duration>, DeskClosed> {
        let job = delivery.job();
        let Some(Assignment { work, messages, known }) = with_progress(delivery, self.desk.fetch(job)).await? else {
            return Ok(None);
        };
        let extractor = Arc::clone(&self.extractor);
        let extracting = crate::blocking::run(move || extractor.extract(&work));
        // A panic in an extractor is a failure of this job alone.
        let panicked = |_| ExtractFailed::lasting("extractor_panicked");
        let tried = with_progress(delivery, extracting).await.map_err(panicked).flatten();
        match tried {
            Ok(extracted) => {
                let summary = self.summary(delivery).await;
                self.offer(delivery, Finding { extracted, messages, known, summary }).await.map(|()| None)
            }
            Err(failed) => with_progress(delivery, self.desk.fail(job, failed)).await,
        }
    }

    /// The summary of the job's session. Without one the job is done all the same: there are local texts.
    async fn summary(&self, delivery: &dyn Delivery) -> Option<Summary> {
        let narrator = Arc::clone(self.narrator.as_ref()?);
        let session = with_progress(delivery, self.desk.session(delivery.job())).await.ok().flatten()?;
        let (changes, speakers_gone) = (session.changes, session.speakers_gone);
        let writing = crate::blocking::run(move || narrator.summarise(&session));
        match with_progress(delivery, writing).await.ok()? {
            Ok(text) => Some(Summary { text, changes, speakers_gone }),
            Err(failed) => {
                tracing::debug!(job = %delivery.job(), %failed, "a session is not summarised");
                None
            }
        }
    }

    async fn offer(&self, delivery: &dyn Delivery, finding: Finding) -> Result<(), DeskClosed> {
        let mut pause = OFFER_PAUSE_MIN;
        for _ in 1..OFFERS_MAX {
            match with_progress(delivery, self.desk.complete(delivery.job(), finding.clone())).await {
                Ok(()) => return Ok(()),
                // Whoever ends now leaves the job to the next worker.
                Err(closed) if self.source.is_closed() => return Err(closed),
                Err(closed) => tracing::debug!(job = %delivery.job(), %closed, "a result waits for the node"),
            }
            delivery.working().await;
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(OFFER_PAUSE_MAX);
        }
        with_progress(delivery, self.desk.complete(delivery.job(), finding)).await
    }
}

async fn with_progress<T>(delivery: &dyn Delivery, work: impl Future<Output = T>) -> T {
    let mut work = std::pin::pin!(work);
    loop {
        tokio::select! {
            done = &mut work => return done,
            () = tokio::time::sleep(PROGRESS_EVERY) => delivery.working().await,
        }
    }
}
