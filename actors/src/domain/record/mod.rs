//! Records and their links: state inside a thread or a profile, since links, duplicates and supersession are one stream.

mod add;
mod delete;
mod expire;
mod forget;
mod link;
mod relink;
mod remember;
mod supersede;
mod unlink;
mod update;

use std::collections::{BTreeMap, BTreeSet};

pub use add::{Add, Added};
pub use delete::DeleteRecord;
pub use expire::Expire;
pub use forget::{Forget, Forgotten};
pub use link::{Link, NewLink, tuple_digest};
use memlog_events::{
    batch::{Claim, Holder},
    code::{LinkCode, TypeCode},
    event::{ByV1, Content, Facts, SavedContentV1, SavedV1, SummaryErasedV1, UpdatedV1},
    ids::{Digest, ImageId, JobId, KeyPath, MessageId, Micros, RecordId, RelationId, Slot, SpeakerId},
};
pub use relink::Relink;
pub use remember::{LETTER_BY_LETTER, Remember, Stored};
use serde::{Deserialize, Serialize};
pub(crate) use supersede::replaced;
pub use supersede::{Invalidate, Supersede};
pub use unlink::Unlink;
pub use update::{UpdateRecord, Updated};
use uuid::Uuid;

use super::{Fact, Inputs, Place, text::normalised};

/// A record as decisions see it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RecordState {
    /// Its slot.
    pub slot: Slot,
    /// What it is.
    pub record_type: TypeCode,
    /// Whose words.
    pub speaker: Option<SpeakerId>,
    /// Made from; messages that are gone have left the list.
    pub sources: Vec<MessageId>,
    /// When what it tells happened.
    pub timestamp: Option<Micros>,
    /// Set invalid by this successor.
    pub superseded_by: Option<RecordId>,
    /// Set invalid by somebody.
    pub invalid: bool,
    /// Unreachable from here on.
    pub expires_at: Option<Micros>,
    /// Of its normalised text.
    pub fingerprint: Digest,
}

/// A link as decisions see it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RelationState {
    /// Its slot.
    pub slot: Slot,
    /// What it says.
    pub link: LinkCode,
    /// From.
    pub source: RecordId,
    /// To.
    pub target: RecordId,
}

/// All records and links of one stream.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Records {
    /// Living records. Each apart: ids come in order, and so leave the tree's nodes half empty.
    pub records: BTreeMap<RecordId, Box<RecordState>>,
    /// Living links.
    pub relations: BTreeMap<RelationId, RelationState>,
    /// Living links by either end.
    links_of: BTreeMap<RecordId, Vec<RelationId>>,
    /// Living records by what they say, of which hardly two say the same.
    saying: BTreeSet<(Digest, RecordId)>,
}

impl Records {
    /// Folds one event in; those of other families change nothing.
    pub fn evolve(&mut self, facts: &Facts) {
        match facts {
            Facts::Saved(e) => {
                self.records.insert(e.record, Box::new(RecordState::new(e)));
                self.saying.insert((e.fingerprint, e.record));
            }
            Facts::Superseded(e) => {
                if let Some(record) = self.records.get_mut(&e.old) {
                    record.superseded_by = Some(e.new);
                }
            }
            Facts::Updated(e) => self.update(e),
            Facts::StatusSet(e) => {
                if let Some(record) = self.records.get_mut(&e.record) {
                    record.invalid = !e.valid;
                    // Said to hold again: what once took its place says nothing against it any more, but for its links.
                    record.superseded_by = record.superseded_by.filter(|_| !e.valid);
                }
            }
            Facts::Linked(e) => {
                let state = RelationState { slot: e.slot, link: e.link, source: e.source, target: e.target };
                self.relations.insert(e.relation, state);
                for end in [e.source, e.target] {
                    self.links_of.entry(end).or_default().push(e.relation);
                }
            }
            Facts::Relinked(e) => {
                if let Some(relation) = self.relations.get_mut(&e.relation) {
                    relation.link = e.link;
                }
            }
            Facts::Unlinked(e) => self.unlink(e.relation),
            Facts::Forgot(e) => {
                self.drop_records(std::slice::from_ref(&e.record), &e.relations);
                self.drop_sources(e.messages.iter().map(|m| m.0));
            }
            Facts::Expired(e) => {
                let records: Vec<_> = e.records.iter().map(|r| r.0).collect();
                self.drop_records(&records, &e.relations);
                self.drop_sources(e.messages.iter().map(|m| m.0));
            }
            Facts::MessageDeleted(e) => self.drop_sources(e.messages.iter().map(|m| m.0)),
            _ => {}
        }
    }

    /// Whether the record is not set invalid, and no living link says so.
    pub fn is_valid(&self, id: RecordId, now: Micros) -> bool {
        let Some(record) = self.records.get(&id) else { return false };
        let says_so =
            |link: &RelationState| link.target == id && invalidates(link.link) && self.is_alive(link.source, now);
        let mut links = self.links_of.get(&id).into_iter().flatten().filter_map(|link| self.relations.get(link));
        record.superseded_by.is_none() && !record.invalid && !links.any(says_so)
    }

    /// Whether it is there, its time not over, and valid: one that has expired says nothing any more.
    pub fn holds(&self, id: RecordId, now: Micros) -> bool {
        self.is_alive(id, now) && self.is_valid(id, now)
    }

    /// Whether a record that holds makes this statement under the same tag.
    pub fn says(&self, fingerprint: Digest, speaker: Option<SpeakerId>, now: Micros) -> bool {
        let (first, last) = (RecordId(Uuid::nil()), RecordId(Uuid::max()));
        let mut saying = self.saying.range((fingerprint, first)..=(fingerprint, last)).map(|(_, id)| id);
        saying.any(|id| self.records.get(id).is_some_and(|record| record.speaker == speaker) && self.holds(*id, now))
    }

    /// Whether it is there and its time is not over.
    pub fn is_alive(&self, id: RecordId, now: Micros) -> bool {
        self.records.get(&id).is_some_and(|record| record.expires_at.is_none_or(|at| at > now))
    }

    /// The links at either end of any of these, each once.
    pub fn relations_of(&self, ids: &[RecordId]) -> Vec<(RelationId, Slot)> {
        let links = ids.iter().filter_map(|id| self.links_of.get(id)).flatten().copied();
        let links: BTreeSet<RelationId> = links.collect();
        links.into_iter().filter_map(|id| Some((id, self.relations.get(&id)?.slot))).collect()
    }

    /// The living links between two records, whichever way they go.
    pub fn between(&self, one: RecordId, other: RecordId) -> impl Iterator<Item = (RelationId, &RelationState)> {
        let links = self.links_of.get(&one).into_iter().flatten();
        let links = links.filter_map(|id| Some((*id, self.relations.get(id)?)));
        links.filter(move |(_, link)| link.source == other || link.target == other)
    }

    fn update(&mut self, e: &UpdatedV1) {
        let Some(record) = self.records.get_mut(&e.record) else { return };
        let before = std::mem::replace(&mut record.fingerprint, e.fingerprint);
        (record.timestamp, record.expires_at) = (e.timestamp, e.expires_at);
        if before != e.fingerprint {
            self.saying.remove(&(before, e.record));
            self.saying.insert((e.fingerprint, e.record));
        }
    }

    fn unlink(&mut self, id: RelationId) {
        let Some(relation) = self.relations.remove(&id) else { return };
        for end in [relation.source, relation.target] {
            let Some(links) = self.links_of.get_mut(&end) else { continue };
            links.retain(|link| *link != id);
            if links.is_empty() {
                self.links_of.remove(&end);
            }
        }
    }

    fn drop_records(&mut self, ids: &[RecordId], relations: &[(RelationId, Slot)]) {
        for (id, _) in relations {
            self.unlink(*id);
        }
        for id in ids {
            if let Some(record) = self.records.remove(id) {
                self.saying.remove(&(record.fingerprint, *id));
            }
        }
    }

    fn drop_sources(&mut self, messages: impl Iterator<Item = MessageId>) {
        let gone: Vec<_> = messages.collect();
        if gone.is_empty() {
            return;
        }
        for record in self.records.values_mut() {
            record.sources.retain(|source| !gone.contains(source));
        }
    }
}

impl RecordState {
    fn new(e: &SavedV1) -> Self {
        Self {
            slot: e.slot,
            record_type: e.record_type,
            speaker: e.speaker,
            sources: e.sources.clone(),
            timestamp: e.timestamp,
            superseded_by: None,
            invalid: false,
            expires_at: e.expires_at,
            fingerprint: e.fingerprint,
        }
    }
}

/// Whether a link of this type makes its target invalid.
pub fn invalidates(link: LinkCode) -> bool {
    matches!(link, LinkCode::SUPERSEDES | LinkCode::REFINES | LinkCode::DUPLICATES)
}

/// A record to be saved, in any of the ways one comes to be.
#[derive(Clone, PartialEq, Debug)]
pub struct NewRecord {
    /// What it is.
    pub record_type: TypeCode,
    /// Whose words.
    pub speaker: Option<SpeakerId>,
    /// When what it tells happened.
    pub timestamp: Option<Micros>,
    /// Unreachable from here on.
    pub expires_at: Option<Micros>,
    /// Made from.
    pub sources: Vec<MessageId>,
    /// Made by.
    pub job: Option<JobId>,
    /// What it says.
    pub content: SavedContentV1,
}

impl NewRecord {
    /// The keyed digest by which the same statement is known again.
    pub fn fingerprint(&self, scope_slot: Slot, inputs: &dyn Inputs) -> Digest {
        inputs.digest(scope_slot, &[b"statement", normalised(&self.content.content).as_bytes()])
    }

    /// The event that saves it, and the claim on its id if the client gave one.
    pub(crate) fn saved(
        self,
        stream_slot: Slot,
        place: &Place,
        inputs: &mut dyn Inputs,
    ) -> (RecordId, Fact, Option<Claim>) {
        let record = RecordId(inputs.uuid());
        let slot = inputs.slot();
        let keys = KeyPath { scope: place.scope_slot, stream: stream_slot, subject: slot };
        let id_digest = self.content.given_id.as_deref().map(|id| id_digest(place.scope_slot, id, inputs));
        let claim = id_digest.map(|digest| Claim::Take(digest, Holder { stream: place.key, id: record.0, keys }));
        let facts = SavedV1 {
            record,
            slot,
            record_type: self.record_type,
            speaker: self.speaker,
            timestamp: self.timestamp,
            expires_at: self.expires_at,
            fingerprint: self.fingerprint(place.scope_slot, inputs),
            id_digest,
            sources: self.sources,
            job: self.job,
        };
        (record, Fact { facts: Facts::Saved(facts), content: Some((Content::Saved(self.content), keys)) }, claim)
    }
}

/// How an id that a client gave is known without its text. One space for records and messages: ids are unique in the profile.
pub fn id_digest(scope_slot: Slot, id: &str, inputs: &dyn Inputs) -> Digest {
    inputs.digest(scope_slot, &[b"id", id.as_bytes()])
}

/// The state of a stream that holds records.
pub trait HoldsRecords: super::Aggregate {
    /// Its records.
    fn records(&self) -> &Records;
    /// The stream's own slot below the profile's; none in the profile's own stream.
    fn stream_slot(&self) -> Slot;
    /// Whether it began and was not deleted.
    fn is_open(&self) -> bool;
    /// Whether it was deleted.
    fn is_deleted(&self) -> bool;
    /// The slot of a living message.
    fn message_slot(&self, id: MessageId) -> Option<Slot>;
    /// Messages whose time is over.
    fn expired_messages(&self, now: Micros) -> Vec<(MessageId, Slot)>;
    /// Images whose time is over.
    fn expired_images(&self, now: Micros) -> Vec<(ImageId, Slot)>;
    /// The images in these messages.
    fn images_of(&self, messages: &[MessageId]) -> Vec<(ImageId, Slot)>;
    /// The slot of its summaries, if it has any.
    fn summary_slot(&self) -> Option<Slot>;
}

/// Goes with every event that takes something out of a stream: its summaries may repeat it.
pub(crate) fn summary_erased(state: &impl HoldsRecords) -> Option<Fact> {
    let facts = Facts::SummaryErased(SummaryErasedV1 { slot: state.summary_slot()? });
    Some(Fact { facts, content: None })
}

/// Who and where, of most commands.
pub(crate) fn author(content: &SavedContentV1) -> &ByV1 {
    &content.by
}
