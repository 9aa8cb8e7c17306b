//! Catching up with what has no vector of this model: stored before the model was changed, while there was none, or just before
//! a process ended. A profile that is used is embedded when its views are loaded; this is for those that nobody uses yet.
//!
//! It follows the log from its checkpoint to where the log ended at the start and folds each profile that it meets there once,
//! one at a time beside the loaded views, so that none of those is dropped for it. Its documents go last in the line of the pool,
//! and after each fold it rests as long as that took. What is stored from the start on is embedded as it is stored.

use std::{collections::HashSet, sync::Arc, time::Duration};

use memlog_events::{
    event::Facts,
    ids::{Position, Scope, StreamKey, Version},
    log::{Error, Log, Stored},
};
use tokio::time::Instant;

use super::Inner;
use crate::{
    domain::Place,
    view::{ProfileViews, embedding::EmbedQueue},
};

/// Most commands of the command line are over by then, and have better things to do.
const BEGIN_AFTER: Duration = Duration::from_millis(500);
/// Events read at once.
const PAGE_EVENTS: usize = 1_000;
/// The row that says of which model the other one speaks: its fingerprint and one.
const MODEL: &str = "embedder-model";
/// The row that says up to where every profile has vectors of that model.
const EMBEDDED: &str = "embedder-at";

/// Until all is caught up with, or the system stops.
pub(super) async fn run(inner: Arc<Inner>) {
    let Some(embed) = inner.registry.embed() else { return };
    let mut stopping = inner.stopping.subscribe();
    tokio::select! {
        biased;
        () = tokio::time::sleep(BEGIN_AFTER) => {}
        _ = stopping.wait_for(|stopping| *stopping) => return,
    }
    let walking =
        CatchUp { inner: &inner, embed, until: inner.environment.log.head(), met: HashSet::new(), documents: 0 };
    tokio::select! {
        biased;
        walked = walking.run() => {
            if let Err(reason) = walked {
                tracing::warn!(reason, "profiles that nobody uses are embedded when they are next used");
            }
            inner.catching_up.send_replace(false);
        }
        _ = stopping.wait_for(|stopping| *stopping) => {}
    }
}

struct CatchUp<'a> {
    inner: &'a Inner,
    embed: &'a Arc<EmbedQueue>,
    /// The log's end when it began.
    until: Position,
    /// Profiles that are done with, and what else was met.
    met: HashSet<Scope>,
    documents: usize,
}

impl CatchUp<'_> {
    async fn run(mut self) -> Result<(), String> {
        let model = u64::from(self.embed.model().fingerprint) + 1;
        let mut at = self.read(move |log| begin(log, model)).await?;
        self.inner.catching_up.send_replace(at < self.until);
        while at < self.until {
            let page = self.read(move |log| log.tail(at, PAGE_EVENTS)).await?;
            // What came later may be of a profile that was folded before it came.
            let known = page.partition_point(|event| event.head.position <= self.until);
            let Some(last) = page[..known].last() else { break };
            at = last.head.position;
            for event in &page[..known] {
                if self.met.insert(event.head.key.scope)
                    && let Some(place) = self.profile_of(event).await?
                {
                    // One that cannot be read must not keep all others from their vectors at every start.
                    if let Err(reason) = self.embed(place).await {
                        tracing::warn!(reason, scope = %place.key.scope.0, "a profile is embedded when it is next used");
                    }
                }
            }
            self.read(move |log| log.set_checkpoint(EMBEDDED, at)).await?;
        }
        if self.documents > 0 {
            let (documents, model) = (self.documents, self.embed.embedder().name());
            tracing::info!(documents, model, "what was stored before this start is embedded");
        }
        Ok(())
    }

    /// The profile that an event belongs to; none if it is gone, or is no profile.
    async fn profile_of(&self, event: &Stored) -> Result<Option<Place>, String> {
        let head = &event.head;
        let key = StreamKey { stream: head.key.scope.own_stream(), ..head.key };
        let keys = memlog_events::ids::KeyPath { scope: head.keys.scope, ..Default::default() };
        let is_profile = self.read(move |log| {
            let first = log.at(key, Version(1))?;
            Ok(first.is_some_and(|first| matches!(first.facts, Facts::ProfileCreated(_))) && log.alive(keys)?)
        });
        Ok(is_profile.await?.then_some(Place { key, scope_slot: head.keys.scope }))
    }

    async fn embed(&mut self, place: Place) -> Result<(), String> {
        let registry = &self.inner.registry;
        // Those in use are in line already, before what is done here; unless they are dropped before their turn.
        if let Some(views) = registry.live(place.key.scope)
            && views.wait_embedded().await
        {
            return Ok(());
        }
        let began = Instant::now();
        let state = registry.fold(place, self.inner.environment.log.head()).await.map_err(|error| error.to_string())?;
        let folding = began.elapsed();
        let views = Arc::new(ProfileViews::new(place, state));
        if views.has_queued() {
            self.documents += views.pending();
            self.embed.put_behind(&views);
            views.wait_embedded().await;
        }
        drop(views);
        tokio::time::sleep(folding).await;
        Ok(())
    }

    async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Log) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, String> {
        let environment = &self.inner.environment;
        let reading = environment.in_use.read(&environment.log, read).await;
        // The message of a panic may hold content.
        reading.map_err(|_| "reading the log failed inside".to_owned())?.map_err(|error| error.to_string())
    }
}

/// From where: the beginning, if another model was at work before. A crash may take the rows back, and then only work is done
/// twice.
fn begin(log: &Log, model: u64) -> Result<Position, Error> {
    if log.checkpoint(MODEL)?.0 != model {
        log.set_checkpoint(EMBEDDED, Position(0))?;
        log.set_checkpoint(MODEL, Position(model))?;
    }
    log.checkpoint(EMBEDDED)
}
