//! What is there already and changes: messages, records, their status and their time.

use memlog_events::{
    event::{Content, Facts, MessageUpdatedV1, StatusSetV1, UpdatedV1},
    ids::Micros,
    log::{Sealed, Stored},
};
use uuid::Uuid;

use super::{Catalog, fold::Effect, items::Learnt};
use crate::recall::asks;

/// Whose time an event moves, and to when.
pub(in crate::view) fn moved_expiry(facts: &Facts) -> Option<(Uuid, Option<Micros>)> {
    let (id, before, now) = match facts {
        Facts::MessageUpdated(e) => (e.message.0, e.expires_before, e.expires_at),
        Facts::Updated(e) => (e.record.0, e.expires_before, e.expires_at),
        Facts::ImageUpdated(e) => (e.image.0, e.expires_before, e.expires_at),
        _ => return None,
    };
    (before != now).then_some((id, now))
}

/// Whether an event's content is words to be read, and nothing that others depend on. Of a link that is its label.
pub(in crate::view) fn is_text(facts: &Facts) -> bool {
    matches!(
        facts,
        Facts::Saved(_)
            | Facts::Updated(_)
            | Facts::MessageAppended(_)
            | Facts::MessageUpdated(_)
            | Facts::ImageAdded(_)
            | Facts::ImageUpdated(_)
            | Facts::Summarised(_)
            | Facts::Linked(_)
            | Facts::Relinked(_)
    )
}

impl Catalog {
    /// Moves a document's time alone: the past shows what it said then, for as long as it may be shown now.
    pub(in crate::view) fn move_expiry(&mut self, id: Uuid, expires_at: Option<Micros>) {
        if let Some((_, it)) = self.doc_mut(id) {
            it.expires_at = expires_at;
        }
    }

    /// What it is of is there, and whoever reads its words is told of the damage. No question finds it, least of all by earlier words.
    pub(super) fn apply_damaged(&mut self, event: &Stored) -> Vec<Effect> {
        let mut effects = self.apply(event, Some(Sealed::None));
        match &event.facts {
            Facts::Saved(e) => self.not_erased(e.record.0),
            Facts::MessageAppended(e) => self.not_erased(e.message.0),
            Facts::ImageAdded(e) => self.not_erased(e.image.0),
            Facts::Updated(e) => effects.extend(self.wordless(event, e.record.0)),
            Facts::MessageUpdated(e) => effects.extend(self.wordless(event, e.message.0)),
            Facts::ImageUpdated(e) => effects.extend(self.wordless(event, e.image.0)),
            _ => {}
        }
        effects
    }

    fn not_erased(&mut self, id: Uuid) {
        if let Some((_, it)) = self.doc_mut(id) {
            (it.erased, it.damaged) = (false, true);
        }
    }

    fn wordless(&mut self, event: &Stored, id: Uuid) -> Option<Effect> {
        let thread = self.by_uuid(id).and_then(|doc| self.doc(doc)?.thread);
        let owners = self.owners(thread, None, None);
        let (doc, it) = self.doc_mut(id)?;
        (it.at, it.damaged, it.asks, it.learnt) = (event.head.version, true, false, Learnt::default());
        // What was true of the words before need not be of these.
        ((it.user, it.agent), it.metadata) = (owners, None);
        Some(Effect::Replace(doc, None))
    }

    pub(super) fn message_updated(
        &mut self,
        event: &Stored,
        e: &MessageUpdatedV1,
        content: Option<Content>,
    ) -> Vec<Effect> {
        let metadata = match &content {
            Some(Content::MessageUpdated(said)) => self.fields.get(&said.metadata),
            _ => None,
        };
        let Some((doc, it)) = self.doc_mut(e.message.0) else { return Vec::new() };
        it.expires_at = e.expires_at;
        let (thread, ordinal) = (it.thread, it.ordinal);
        let mut effects = Vec::new();
        if let Some(Content::MessageUpdated(said)) = content {
            (it.at, it.metadata) = (event.head.version, metadata);
            (it.damaged, it.asks, it.learnt) = (false, asks(&said.text), Learnt::default());
            effects.push(Effect::Replace(doc, Some(said.text).filter(|text| !text.is_empty())));
        }
        self.change_thread(thread, |thread| {
            if let Some(digest) = thread.digests.get_mut(ordinal as usize) {
                *digest = e.digest;
            }
        });
        effects
    }

    pub(super) fn record_updated(&mut self, event: &Stored, e: &UpdatedV1, content: Option<Content>) -> Vec<Effect> {
        let thread = self.by_uuid(e.record.0).and_then(|doc| self.doc(doc)?.thread);
        let (owners, metadata) = match &content {
            Some(Content::Updated(said)) => (
                Some(self.owners(thread, said.user_id.as_deref(), said.agent_id.as_deref())),
                self.fields.get(&said.metadata),
            ),
            _ => (None, None),
        };
        let Some((doc, it)) = self.doc_mut(e.record.0) else { return Vec::new() };
        (it.timestamp, it.expires_at) = (e.timestamp, e.expires_at);
        let before = it.fingerprint.replace(e.fingerprint);
        let mut effects = Vec::new();
        if let (Some(Content::Updated(said)), Some((user, agent))) = (content, owners) {
            (it.at, it.metadata) = (event.head.version, metadata);
            (it.damaged, it.asks, it.learnt) = (false, asks(&said.content), Learnt::default());
            (it.user, it.agent) = (user, agent);
            effects.push(Effect::Replace(doc, Some(said.content)));
        }
        if before != Some(e.fingerprint) {
            self.says_now(doc, before, e.fingerprint);
        }
        effects
    }

    pub(super) fn status_set(&mut self, e: &StatusSetV1) {
        if let Some((_, it)) = self.doc_mut(e.record.0) {
            it.invalid = !e.valid;
            it.superseded_by = it.superseded_by.filter(|_| !e.valid);
        }
        if !e.valid {
            self.summary_is_outdated(e.record);
        }
    }
}

#[cfg(test)]
mod tests {
    use memlog_events::{ids::Position, log::Log};
    use serde_json::json;

    use super::*;
    use crate::{
        api::thread::{AddMemory, Create, ExtractionSettings, Settings, UpdateMemory},
        bench::{PROFILE, context, options},
        system::System,
        view::catalog::Doc,
    };

    const THREAD: &str = "reeds";

    fn memory(content: &str) -> AddMemory {
        let (profile, thread_id, content) = (PROFILE.to_owned(), THREAD.to_owned(), content.to_owned());
        let metadata = json!({"said": content}).as_object().cloned();
        AddMemory { profile, thread_id, content, metadata, ..AddMemory::default() }
    }

    /// A memory that was changed, and another linked to it.
    async fn told(system: &System) {
        let off = ExtractionSettings { enabled: Some(false), ..ExtractionSettings::default() };
        let settings = Some(Settings { extraction: Some(off), ..Settings::default() });
        let (profile, thread_id) = (PROFILE.to_owned(), Some(THREAD.to_owned()));
        let create = Create { profile, thread_id, settings, ..Create::default() };
        system.thread_create(&context(), create).await.expect("created");
        let heron = system.thread_add_memory(&context(), memory("The heron nests here")).await.expect("saved");
        let id = heron.reply.memory_id;
        let (profile, thread_id, content) = (PROFILE.to_owned(), THREAD.to_owned(), Some("It left".to_owned()));
        let update = UpdateMemory { profile, thread_id, memory_id: id.clone(), content, ..UpdateMemory::default() };
        system.thread_update_memory(&context(), update).await.expect("changed");
        let link_type = Some("supports".to_owned());
        let link = AddMemory { memory_id_to_link: Some(id), link_type, ..memory("A stork came") };
        system.thread_add_memory(&context(), link).await.expect("linked");
    }

    /// The profile without what is damaged, and what became of the words of the last event that is.
    fn folded(log: &Log, damaged: impl Fn(&Facts) -> bool) -> (Catalog, Vec<Effect>) {
        let (mut catalog, mut effects) = (Catalog::default(), Vec::new());
        let events = log.tail(Position(0), 100).expect("read");
        for event in events.iter().filter(|event| !matches!(event.facts, Facts::RegistryCreated(_))) {
            if damaged(&event.facts) {
                effects = catalog.apply(event, None);
            } else {
                catalog.apply(event, Some(log.open_content(event).expect("open")));
            }
        }
        (catalog, effects)
    }

    fn first(catalog: &Catalog) -> &Doc {
        catalog.visible(0, Micros(0)).expect("there")
    }

    // Damage may not bring back what was true before, nor pass for forgetting; and it ends with the next good words.
    #[tokio::test(flavor = "multi_thread")]
    async fn damaged_words_leave_nothing_of_earlier_ones() {
        let folder = tempfile::tempdir().expect("a folder");
        let system = System::start(options(folder.path(), None)).await.expect("started");
        told(&system).await;
        let log = &system.inner.environment.log;
        let says = |catalog: &Catalog| {
            let it = first(catalog);
            catalog.all_saying(it.fingerprint.expect("a record"), None, Micros(0)).count()
        };
        let (whole, _) = folded(log, |_| false);
        let good = first(&whole);
        assert!(good.metadata.is_some() && !good.damaged && says(&whole) == 1);

        let (catalog, effects) = folded(log, |facts| matches!(facts, Facts::Updated(_)));
        let bad = first(&catalog);
        assert_eq!((bad.at, bad.version, bad.damaged, &bad.metadata), (good.at, good.version, true, &None));
        assert_eq!((effects, says(&catalog)), (vec![Effect::Replace(0, None)], 0));

        let (catalog, effects) = folded(log, |facts| matches!(facts, Facts::Saved(_)));
        assert!(!first(&catalog).damaged && says(&catalog) == 1, "it was changed since");
        assert!(catalog.visible(1, Micros(0)).is_some_and(|it| it.damaged) && effects.is_empty());

        let (catalog, _) = folded(log, |facts| matches!(facts, Facts::Linked(_)));
        assert_eq!(catalog.reach(0, 1, 10, Micros(0), &|_| true).len(), 1, "a link without its label");
        system.stop().await;
    }
}
