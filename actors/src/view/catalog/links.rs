//! Links between records, and what they say about validity.

use memlog_events::{
    code::LinkCode,
    ids::{Micros, RecordId, RelationId, Slot},
};

use super::Catalog;
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
}

impl Relation {
    /// The label as read from one of its ends.
    pub fn label_from(&self, end: RecordId) -> &str {
        let outgoing = self.source == end;
        if let Some((label, opposite)) = &self.labels {
            return if outgoing { label } else { opposite.as_deref().unwrap_or(label) };
        }
        let (label, inverse) = match self.link {
            LinkCode::SUPERSEDES => ("supersedes", "superseded_by"),
            LinkCode::CONTRADICTS => ("contradicts", "contradicted_by"),
            LinkCode::REFINES => ("refines", "refined_by"),
            LinkCode::SUPPORTS => ("supports", "supported_by"),
            LinkCode::DUPLICATES => ("duplicates", "duplicated_by"),
            _ => ("related", "related"),
        };
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
        it.superseded_by.is_none() && self.invalidator(RecordId(it.id), now).is_none()
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

    /// Records within `hops` links of one, nearest first, in both directions.
    pub fn reach(&self, from: u32, hops: u32, limit: usize, now: Micros) -> Vec<Reached> {
        let mut seen = std::collections::HashSet::from([from]);
        let (mut frontier, mut reached) = (vec![from], Vec::new());
        for hop in 1..=hops {
            let mut next = Vec::new();
            for doc in frontier {
                for (other, label) in self.neighbours(doc, now) {
                    if reached.len() == limit {
                        return reached;
                    }
                    if seen.insert(other) {
                        reached.push(Reached { doc: other, label, hops: hop });
                        next.push(other);
                    }
                }
            }
            frontier = next;
        }
        reached
    }

    fn neighbours(&self, doc: u32, now: Micros) -> Vec<(u32, String)> {
        let Some(it) = self.doc(doc) else { return Vec::new() };
        let here = RecordId(it.id);
        let links = self.links_of.get(&here).into_iter().flatten().filter_map(|id| self.relations.get(id));
        let other = |link: &Relation| {
            let end = if link.source == here { link.target } else { link.source };
            let doc = self.by_uuid(end.0)?;
            self.visible(doc, now).map(|_| (doc, link.label_from(here).to_owned()))
        };
        links.filter_map(other).collect()
    }

    pub(super) fn link(&mut self, id: RelationId, relation: Relation) {
        for end in [relation.source, relation.target] {
            self.links_of.entry(end).or_default().push(id);
        }
        self.relations.insert(id, relation);
    }

    pub(super) fn unlink(&mut self, id: RelationId) {
        let Some(relation) = self.relations.remove(&id) else { return };
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
