//! Links that nobody asked for by name: a new memory is held against those of its thread that are nearest to it, and linked where
//! it says the same, more, or otherwise. Failing to link never fails the save.

use std::sync::Arc;

use memlog_events::{code::LinkCode, event::LinkedContentV1, ids::RecordId};

use super::Here;
use crate::{
    api::Context,
    domain::record::{self, NewLink},
    extract,
    port::Relation,
    system::{System, lookup::by},
    view::{
        State,
        catalog::Doc,
        indexed::{content_of, words_of},
    },
};

/// Memories that a new one is held against: a model reads all of them for each save.
const NEAREST_MAX: usize = 8;

impl System {
    /// Links a memory that was stored just now; what it was linked to by name is left as it is.
    pub(super) async fn relate(
        &self,
        context: &Context,
        here: &Here,
        new: RecordId,
        but: Option<RecordId>,
        content: &str,
    ) {
        let near = match self.nearest(here, new, but, content).await {
            Some(near) if !near.is_empty() => near,
            _ => return,
        };
        let (ids, texts): (Vec<RecordId>, Vec<String>) = near.into_iter().unzip();
        for (at, relation) in self.relations(content, texts).await {
            let Some(target) = ids.get(at).copied() else { continue };
            let words = LinkedContentV1 {
                label: None,
                opposite: None,
                metadata: "{}".to_owned(),
                given_id: None,
                by: by(context),
            };
            let link = NewLink { target, link: code(relation), timestamp: None, words };
            let command = record::Link { source: new, link };
            if let Err(failure) = self.inner.threads.execute(here.place, command, None).await {
                tracing::debug!(%failure, "a memory was saved without a link");
            }
        }
    }

    /// The valid memories of the thread that share most words with the new one, and what they say. Only those under the same tag
    /// and of the same owners: what one person says takes nothing from what another said.
    async fn nearest(
        &self,
        here: &Here,
        new: RecordId,
        but: Option<RecordId>,
        content: &str,
    ) -> Option<Vec<(RecordId, String)>> {
        let views = self.views(here.profile).await.ok()?;
        let (log, profile, now) = (self.inner.environment.log.clone(), here.profile, self.now());
        let (stream, content) = (here.place.key.stream, content.to_owned());
        let reading = crate::blocking::run(move || {
            let state: &State = &views.read();
            let catalog = &state.catalog;
            let tag = |it: &Doc| it.speaker.filter(|id| catalog.speaker_name(*id).is_some());
            let Some(this) = catalog.by_uuid(new.0).and_then(|doc| catalog.doc(doc)) else { return Vec::new() };
            let may = |doc: u32| {
                catalog.visible(doc, now).is_some_and(|it| {
                    let other = it.item.is_record() && it.id != new.0 && but.is_none_or(|but| it.id != but.0);
                    let theirs = (tag(it), it.user, it.agent) == (tag(this), this.user, this.agent);
                    let here = catalog.stream_of(it, profile.key.scope.own_stream()) == stream;
                    other && theirs && here && catalog.is_valid(doc, now)
                })
            };
            let terms = state.keyword.prepare(&content);
            let near = state.keyword.best(&terms, NEAREST_MAX, &may).into_iter();
            let read = |(doc, _): (u32, f32)| {
                let it = catalog.doc(doc)?;
                let content = content_of(&log, &profile, catalog, it).ok()??;
                Some((RecordId(it.id), words_of(&content)?.to_owned()))
            };
            near.filter_map(read).collect()
        });
        reading.await.ok()
    }

    /// What the new memory says of the others: a model's word where there is one and it answers, else only what is plain.
    async fn relations(&self, new: &str, known: Vec<String>) -> Vec<(usize, Relation)> {
        let (narrator, new) = (self.inner.narrator.clone(), new.to_owned());
        let said_at = jiff::Timestamp::from_microsecond(self.now().0).unwrap_or_default();
        let asking = crate::blocking::run(move || {
            let local = || extract::relate(&new, &known, said_at);
            let Some(narrator) = narrator.as_ref().map(Arc::clone) else { return local() };
            narrator.relate(&new, &known).unwrap_or_else(|failed| {
                tracing::debug!(%failed, "a memory is linked without the narrator");
                local()
            })
        });
        asking.await.unwrap_or_default()
    }
}

fn code(relation: Relation) -> LinkCode {
    match relation {
        Relation::Supersedes => LinkCode::SUPERSEDES,
        Relation::Contradicts => LinkCode::CONTRADICTS,
        Relation::Refines => LinkCode::REFINES,
        Relation::Supports => LinkCode::SUPPORTS,
        Relation::Duplicates => LinkCode::DUPLICATES,
    }
}
