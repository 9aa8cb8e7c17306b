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

    /// Folds in an event with what it says; with none of a text that is damaged.
    pub fn apply_opened(&mut self, event: &Stored, sealed: Option<Sealed>) -> Vec<Effect> {
        match sealed {
            Some(sealed) => self.apply(event, sealed),
            None => self.apply_damaged(event),
        }
    }

    /// What it is of is there, and whoever reads its words is told of the damage. No question finds it, least of all by earlier words.
    fn apply_damaged(&mut self, event: &Stored) -> Vec<Effect> {
        let mut effects = self.apply(event, Sealed::None);
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
