//! Links between records, and what they say about validity.

use memlog_events::{
    code::LinkCode,
    event::{Content, LinkedContentV1, LinkedV1, RelinkedV1},
    ids::{Micros, RecordId, RelationId, Slot, StreamId, Version},
    log::Stored,
};

use super::{Catalog, Doc};
use crate::domain::record::invalidates;

/// A link.
#[derive(Clone, Debug)]
pub struct Relation {
    /// Its slot.
    pub slot: Slot,
    /// What it says.
    pub link: LinkCode,
    /// The label of a type of the client's own, from the source's side and from the target's.
    pub labels: Option<(String, Option<String>)>,
    /// From.
    pub source: RecordId,
    /// To.
    pub target: RecordId,
    /// The client's own time.
    pub timestamp: Option<Micros>,
    /// The id that the client gave.
    pub given: Option<Box<str>>,
    /// The stream it lies in.
    pub stream: StreamId,
    /// Version of that stream at which its words lie.
    pub at: Version,
}

/// The labels of the built-in types, from the source's side and from the target's.
pub const BUILT_IN: [(LinkCode, &str, &str); 5] = [
    (LinkCode::SUPERSEDES, "supersedes", "is_superseded_by"),
    (LinkCode::CONTRADICTS, "contradicts", "contradicts"),
    (LinkCode::REFINES, "refines", "is_refined_by"),
    (LinkCode::SUPPORTS, "supports", "is_supported_by"),
    (LinkCode::DUPLICATES, "duplicates", "duplicates"),
];

impl Relation {
    /// The label as read from one of its ends.
    pub fn label_from(&self, end: RecordId) -> &str {
        let outgoing = self.source == end;
        if let Some((label, opposite)) = &self.labels {
            return if outgoing { label } else { opposite.as_deref().unwrap_or(label) };
        }
        let built_in = BUILT_IN.iter().find(|(link, ..)| *link == self.link);
        let (label, inverse) = built_in.map_or(("related", "related"), |(_, label, inverse)| (*label, *inverse));
        if outgoing { label } else { inverse }
    }
}

/// A record reached by links.
#[derive(Clone, Debug, PartialEq)]
pub struct Reached {
    /// Its number.
    pub doc: u32,
    /// The label of the last link, as read from where one came.
    pub label: String,
    /// How many links away.
    pub hops: u32,
}

impl Catalog {
    /// Whether a document holds: messages do, records unless set invalid or told so by a living link.
    pub fn is_valid(&self, doc: u32, now: Micros) -> bool {
        let Some(it) = self.doc(doc) else { return false };
        it.superseded_by.is_none() && !it.invalid && self.invalidator(RecordId(it.id), now).is_none()
    }

    /// The record that took this one's place: the one it was set invalid for, else the source of a link that says so.
    pub fn successor(&self, doc: u32, now: Micros) -> Option<RecordId> {
        let it = self.doc(doc)?;
        let named = it.superseded_by.or_else(|| self.invalidator(RecordId(it.id), now))?;
        // A successor that was forgotten is not named any more.
        self.visible(self.by_uuid(named.0)?, now).map(|_| named)
    }

    fn invalidator(&self, target: RecordId, now: Micros) -> Option<RecordId> {
        let links = self.links_of.get(&target)?.iter().filter_map(|id| self.relations.get(id));
        let says_so = |link: &&Relation| {
            let alive = || self.by_uuid(link.source.0).is_some_and(|doc| self.visible(doc, now).is_some());
            link.target == target && invalidates(link.link) && alive()
        };
        links.filter(says_so).map(|link| link.source).next()
    }

    /// Records within `hops` links of one, nearest first, in both directions; what `keep` does not let through leads nowhere either.
    pub fn reach(&self, from: u32, hops: u32, limit: usize, now: Micros, keep: &dyn Fn(&Doc) -> bool) -> Vec<Reached> {
        let mut seen = std::collections::HashSet::from([from]);
        let (mut frontier, mut reached) = (vec![from], Vec::new());
        for hop in 1..=hops {
            let mut next = Vec::new();
            for doc in frontier {
                let Some(here) = self.doc(doc).map(|it| RecordId(it.id)) else { continue };
                for link in self.links_of.get(&here).into_iter().flatten().filter_map(|id| self.relations.get(id)) {
                    if reached.len() >= limit {
                        return reached;
                    }
                    let end = if link.source == here { link.target } else { link.source };
                    let other = self.by_uuid(end.0).filter(|doc| self.visible(*doc, now).is_some_and(keep));
                    if let Some(other) = other.filter(|other| seen.insert(*other)) {
                        reached.push(Reached { doc: other, label: link.label_from(here).to_owned(), hops: hop });
                        next.push(other);
                    }
                }
            }
            frontier = next;
        }
        reached
    }

    /// A link.
    pub fn relation(&self, id: RelationId) -> Option<&Relation> {
        self.relations.get(&id)
    }

    /// The link that clients know by this id: their own if they gave one, else the UUID.
    pub fn find_relation(&self, id: &str) -> Option<(RelationId, &Relation)> {
        let found = self.given_relations.get(id).copied();
        let by_uuid = || {
            let id = RelationId(uuid::Uuid::try_parse(id).ok()?);
            self.relations.get(&id).filter(|it| it.given.is_none()).map(|_| id)
        };
        let id = found.or_else(by_uuid)?;
        Some((id, self.relations.get(&id)?))
    }

    /// The id that clients use for a link.
    pub fn relation_id(&self, id: RelationId) -> String {
        let given = self.relations.get(&id).and_then(|it| it.given.as_deref());
        given.map_or_else(|| id.to_string(), str::to_owned)
    }

    /// The links at either end of a record whose other end is there, oldest first.
    pub fn links_at(&self, record: RecordId, now: Micros) -> Vec<(RelationId, &Relation)> {
        let there = |end: RecordId| self.by_uuid(end.0).is_some_and(|doc| self.visible(doc, now).is_some());
        let links = self.links_of.get(&record).into_iter().flatten();
        let links = links.filter_map(|id| Some((*id, self.relations.get(id)?)));
        let mut links: Vec<_> = links.filter(|(_, link)| there(link.source) && there(link.target)).collect();
        links.sort_unstable_by_key(|(id, _)| *id);
        links
    }

    pub(super) fn linked(&mut self, event: &Stored, e: &LinkedV1, content: Option<Content>) {
        let (labels, given) = match content {
            Some(Content::Linked(LinkedContentV1 { label, opposite, given_id, .. })) => {
                (label.map(|label| (label, opposite)), given_id)
            }
            _ => (None, None),
        };
        let given: Option<Box<str>> = given.map(Into::into);
        if let Some(given) = &given {
            self.given_relations.insert(given.clone(), e.relation);
        }
        let (slot, link, source, target, timestamp) = (e.slot, e.link, e.source, e.target, e.timestamp);
        let (stream, at) = (event.head.key.stream, event.head.version);
        self.link(e.relation, Relation { slot, link, labels, source, target, timestamp, given, stream, at });
    }

    pub(super) fn relinked(&mut self, event: &Stored, e: &RelinkedV1, content: Option<Content>) {
        let Some(relation) = self.relations.get_mut(&e.relation) else { return };
        (relation.link, relation.timestamp, relation.at) = (e.link, e.timestamp, event.head.version);
        relation.labels = match content {
            Some(Content::Relinked(words)) => words.label.map(|label| (label, words.opposite)),
            _ => None,
        };
        let target = relation.target;
        if invalidates(e.link) {
            self.summary_is_outdated(target);
        }
    }

    fn link(&mut self, id: RelationId, relation: Relation) {
        for end in [relation.source, relation.target] {
            self.links_of.entry(end).or_default().push(id);
        }
        self.relations.insert(id, relation);
    }

    pub(super) fn unlink(&mut self, id: RelationId) {
        let Some(relation) = self.relations.remove(&id) else { return };
        if let Some(given) = &relation.given {
            self.given_relations.remove(given);
        }
        for end in [relation.source, relation.target] {
            if let Some(links) = self.links_of.get_mut(&end) {
                links.retain(|link| *link != id);
                if links.is_empty() {
                    self.links_of.remove(&end);
                }
            }
        }
    }
}
