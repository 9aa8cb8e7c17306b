//! Rebuilding every view from the log and the embedding cache.

use memlog_events::{
    event::Facts,
    ids::{Position, StreamKey},
    log::Stored,
};

use super::{
    System,
    lookup::{RETRY_MS, broken},
    past::not_loaded,
    records::is_record,
};
use crate::{
    api::{Error, record::ItemType},
    domain::Place,
};

/// What a rebuild did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Rebuilt {
    /// Profiles.
    pub profiles: u64,
    /// Records in them.
    pub records: u64,
    /// Messages in them.
    pub messages: u64,
    /// Documents whose vectors were in the cache.
    pub documents_from_cache: u64,
    /// Documents that were embedded anew.
    pub documents_embedded: u64,
    /// Documents that still have no vector: there is no model, or it failed on them.
    pub documents_pending: u64,
    /// Named notebooks.
    pub notebooks: u64,
    /// Entries in them.
    pub entries: u64,
}

/// Events read at once.
const PAGE_EVENTS: usize = 1_000;

impl System {
    /// Drops and folds every view of every profile; `progress(done, all)` counts profiles. With a model, what is not in the
    /// cache is embedded; without one, the cached vectors serve again once there is one. What it has made is durable when it says
    /// that it is done, and it fails if there was no room for that.
    pub async fn rebuild(&self, progress: impl Fn(u64, u64) + Send + Sync) -> Result<Rebuilt, Error> {
        let before = self.kept();
        let profiles = self.all_begun_by(|facts| matches!(facts, Facts::ProfileCreated(_))).await?;
        let mut rebuilt = Rebuilt::default();
        for (done, place) in profiles.iter().enumerate() {
            progress(done as u64, profiles.len() as u64);
            self.rebuild_one(*place, &mut rebuilt).await?;
        }
        progress(profiles.len() as u64, profiles.len() as u64);
        self.rebuild_notebooks(&mut rebuilt).await?;
        self.keep(before).await?;
        Ok(rebuilt)
    }

    /// Vectors that were refused, and which page store it is: as long as both stay, what was made is there to be synced.
    fn kept(&self) -> (u64, u64) {
        let unkept = self.inner.registry.embed().map_or(0, |embed| embed.unkept());
        (unkept, self.inner.environment.log.life())
    }

    async fn keep(&self, before: (u64, u64)) -> Result<(), Error> {
        let unkept =
            |why: &str| Error::unavailable(format!("not all vectors that were made could be kept: {why}"), RETRY_MS);
        let log = self.inner.environment.log.clone();
        let synced = crate::blocking::run(move || log.sync()).await.map_err(broken)?;
        synced.map_err(|error| unkept(&error.to_string()))?;
        if self.kept() == before {
            return Ok(());
        }
        let reason = self.inner.environment.log.failure();
        Err(unkept(reason.as_deref().unwrap_or("the disk failed for a while")))
    }

    async fn rebuild_notebooks(&self, rebuilt: &mut Rebuilt) -> Result<(), Error> {
        let shelf = &self.inner.shelf;
        shelf.forget_all();
        for registry in self.all_begun_by(|facts| matches!(facts, Facts::RegistryCreated(_))).await? {
            let roster = shelf.roster(registry.key, self.now()).await.map_err(broken)?;
            for memory in roster.read(|roster| roster.all().collect::<Vec<_>>()) {
                let key = StreamKey { stream: memory, ..registry.key };
                let entries = shelf.entries(key, self.now()).await.map_err(broken)?;
                rebuilt.notebooks += 1;
                rebuilt.entries += entries.read(|entries| entries.count() as u64);
            }
        }
        Ok(())
    }

    async fn rebuild_one(&self, place: Place, rebuilt: &mut Rebuilt) -> Result<(), Error> {
        self.inner.registry.forget(place.key.scope);
        let views = self.inner.registry.present(place, self.now()).await.map_err(not_loaded)?;
        let pending = views.pending() as u64;
        let (mut records, mut messages) = (0, 0);
        for (_, it) in views.read().catalog.docs() {
            if is_record(it) {
                records += 1;
            } else if it.item == ItemType::Message {
                messages += 1;
            }
        }
        if self.inner.registry.embed().is_some() {
            // Cut short by a stop: what is left then counts as pending.
            views.wait_embedded().await;
        }
        let left = views.pending() as u64;
        rebuilt.profiles += 1;
        rebuilt.records += records;
        rebuilt.messages += messages;
        rebuilt.documents_from_cache +=
            views.read().vectors.as_ref().map_or(0, |vectors| vectors.len() as u64) - (pending - left);
        rebuilt.documents_embedded += pending - left;
        rebuilt.documents_pending += left;
        Ok(())
    }

    /// The places of all living profiles, or registries, by the first event that they begin with.
    async fn all_begun_by(&self, begins: fn(&Facts) -> bool) -> Result<Vec<Place>, Error> {
        let log = self.inner.environment.log.clone();
        let found = crate::blocking::run(move || {
            let (mut at, mut places) = (Position(0), Vec::new());
            loop {
                let page = log.tail(at, PAGE_EVENTS)?;
                let Some(last) = page.last() else { return Ok(places) };
                at = last.head.position;
                let created = |event: &&Stored| begins(&event.facts);
                for event in page.iter().filter(created) {
                    if log.alive(event.head.keys)? {
                        places.push(Place { key: event.head.key, scope_slot: event.head.keys.scope });
                    }
                }
            }
        });
        found.await.map_err(broken)?.map_err(|error: memlog_events::log::Error| broken(error))
    }
}
