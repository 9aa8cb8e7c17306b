//! The housekeeping that nobody asks for: sleep, expiry, sweeping, purging, a sync for what has none of its own.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use memlog_events::{
    event::Facts,
    ids::{Micros, Partition, Position, Scope, StreamId, StreamKey, Version},
    log::{Error, Log, Purge, Stored},
};

use super::Inner;
use crate::{
    domain::{Place, record::Expire, registry::PurgeDue},
    entity::Failure,
};

/// How often it looks. Reads do not depend on it: what has expired is unreachable by the clock at once.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// Subjects expired in one look.
const DUE_MAX: usize = 1_000;
/// How many looks between two sweeps of rows whose time is over.
const SWEEP_LOOKS: u64 = 120;
/// The row of the purger's checkpoint.
const CHECKPOINT: &str = "purger";
/// Events read at once.
const PAGE_EVENTS: usize = 1_000;

/// Until the system stops.
pub(super) async fn run(inner: Arc<Inner>) {
    let mut stopping = inner.stopping.subscribe();
    let mut purger = match Purger::new(inner.environment.log.clone()) {
        Ok(purger) => purger,
        Err(error) => {
            tracing::error!(%error, "what is deleted is not purged until the next start");
            return;
        }
    };
    for look in 0_u64.. {
        tokio::select! {
            biased;
            () = tokio::time::sleep(LOOK_EVERY) => {}
            _ = stopping.wait_for(|stopping| *stopping) => return,
        }
        let now = inner.environment.now();
        inner.profiles.passivate(now).await;
        inner.threads.passivate(now).await;
        inner.registries.passivate(now).await;
        inner.notebooks.passivate(now).await;
        inner.notes.passivate(now).await;
        inner.registry.drop_idle(now);
        inner.shelf.drop_idle(now);
        if let Some(embed) = inner.registry.embed() {
            embed.drop_idle(now);
        }
        if let Err(error) = inner.expire().await {
            tracing::error!(%error, "what has expired could not be erased; it stays unreachable and is tried again");
        }
        let believed = inner.environment.believed();
        purger = match purger.look(look % SWEEP_LOOKS == SWEEP_LOOKS - 1, believed).await {
            Ok(purger) => purger,
            Err(reason) => {
                tracing::error!(reason, "what is deleted is not purged until the next start");
                return;
            }
        };
    }
}

impl Inner {
    /// Purges what has lain in a namespace's trash for its time.
    async fn purge_due(&self, registry: Place, until: Micros) -> Result<(), Failure> {
        let purged = self.registries.execute(registry, PurgeDue(until), None).await?.answer;
        for memory in purged.0 {
            self.shelf.forget(StreamKey { stream: StreamId(memory), ..registry.key });
        }
        Ok(())
    }

    /// Erases what the clock has made unreachable, a stream at a time; not what it has made so by a jump of late, which it may
    /// take back.
    async fn expire(&self) -> Result<(), Error> {
        let now = self.environment.believed();
        if self.environment.log.next_due()?.is_none_or(|due| due > now) {
            return Ok(());
        }
        let due = self.environment.log.due(now, DUE_MAX)?;
        let mut streams: Vec<StreamKey> = due.into_iter().map(|(_, key, _)| key).collect();
        streams.sort_unstable();
        streams.dedup();
        for key in streams {
            let Some(first) = self.environment.log.at(key, Version(1))? else { continue };
            let place = Place { key, scope_slot: first.head.keys.scope };
            let done = match first.facts {
                Facts::ProfileCreated(_) => self.profiles.execute(place, Expire(now), None).await.map(drop),
                Facts::RegistryCreated(_) => self.purge_due(place, now).await,
                _ => self.threads.execute(place, Expire(now), None).await.map(drop),
            };
            match done {
                // Deleted meanwhile: nothing is left to erase.
                Ok(()) | Err(Failure::Rejected(_)) => {}
                Err(failure) => tracing::warn!(%failure, "a stream's expired records are erased later"),
            }
        }
        Ok(())
    }
}

/// Follows the log for deletions and reclaims their space, in bounded steps.
struct Purger {
    log: Log,
    at: Position,
    saved: Position,
}

impl Purger {
    fn new(log: Log) -> Result<Self, Error> {
        let at = log.checkpoint(CHECKPOINT)?;
        Ok(Self { log, at, saved: at })
    }

    /// Hands itself back: the work is done on a blocking thread.
    async fn look(mut self, sweep: bool, now: Micros) -> Result<Self, String> {
        let looked = crate::blocking::run(move || {
            if sweep && let Err(error) = self.log.sweep(now) {
                tracing::warn!(%error, "rows whose time is over were not swept");
            }
            if let Err(error) = self.purge() {
                tracing::warn!(%error, "a deletion was not purged; it is tried again");
            }
            if let Err(error) = self.log.sync() {
                tracing::warn!(%error, "vectors made since the last write may have to be made again");
            }
            self
        });
        looked.await.map_err(|error| error.to_string())
    }

    fn purge(&mut self) -> Result<(), Error> {
        loop {
            let page = self.log.tail(self.at, PAGE_EVENTS)?;
            let Some(last) = page.last().map(|event| event.head.position) else { break };
            // A registry from which many memories go is walked once.
            let places: BTreeSet<Reclaim> = page.iter().flat_map(reclaims).collect();
            for place in places {
                let mut purge = place.purge();
                while self.log.purge(&mut purge)? {}
            }
            self.at = last;
        }
        if self.at.0 >= self.saved.0 + PAGE_EVENTS as u64 {
            self.log.set_checkpoint(CHECKPOINT, self.at)?;
            self.saved = self.at;
        }
        Ok(())
    }
}

/// Where space can be reclaimed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Reclaim {
    Scope(Partition, Scope),
    Stream(StreamKey),
}

impl Reclaim {
    fn purge(self) -> Purge {
        match self {
            Self::Scope(partition, scope) => Purge::scope(partition, scope),
            Self::Stream(key) => Purge::stream(key),
        }
    }
}

/// Where after an event.
fn reclaims(event: &Stored) -> Vec<Reclaim> {
    let key = event.head.key;
    match &event.facts {
        Facts::ProfileDeleted(_) => vec![Reclaim::Scope(key.partition, key.scope)],
        Facts::ThreadDeleted(_)
        | Facts::Forgot(_)
        | Facts::Expired(_)
        | Facts::MessageDeleted(_)
        | Facts::ImageDeleted(_)
        | Facts::Unlinked(_)
        | Facts::EntryForgot(_)
        | Facts::AgentDeleted(_)
        | Facts::NoteRemoved(_) => vec![Reclaim::Stream(key)],
        // Its name and description lie in the registry, its entries in their own stream.
        Facts::Purged(e) => vec![Reclaim::Stream(key), Reclaim::Stream(StreamKey { stream: e.memory, ..key })],
        _ => Vec::new(),
    }
}
