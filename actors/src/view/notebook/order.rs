//! Things in the order of their creation, by whose they are: what a page of a list is cut from.

use std::collections::{BTreeSet, HashMap};

use memlog_events::ids::Micros;
use uuid::Uuid;

/// A place in the order.
pub(super) type Spot = (Micros, Uuid);

/// The order of each owner's things.
#[derive(Default)]
pub(super) struct Order(HashMap<Option<String>, BTreeSet<Spot>>);

impl Order {
    pub(super) fn insert(&mut self, owner: Option<&String>, spot: Spot) {
        self.0.entry(owner.cloned()).or_default().insert(spot);
    }

    pub(super) fn remove(&mut self, owner: Option<&String>, spot: Spot) {
        let owner = owner.cloned();
        if let Some(spots) = self.0.get_mut(&owner) {
            spots.remove(&spot);
            if spots.is_empty() {
                self.0.remove(&owner);
            }
        }
    }

    /// The newest things of these owners (of all, if none are named) that lie before a spot and are to be kept.
    pub(super) fn newest(
        &self,
        owners: Option<&[Option<String>]>,
        before: Option<Spot>,
        limit: usize,
        keep: impl Fn(Uuid) -> bool,
    ) -> Vec<Uuid> {
        let before = before.unwrap_or((Micros(i64::MAX), Uuid::max()));
        let wanted = |owner: &Option<String>| owners.is_none_or(|owners| owners.contains(owner));
        let mut found: Vec<Spot> = Vec::new();
        for (_, spots) in self.0.iter().filter(|(owner, _)| wanted(owner)) {
            let newest = spots.range(..before).rev().filter(|(_, id)| keep(*id));
            found.extend(newest.take(limit));
        }
        found.sort_unstable_by(|one, other| other.cmp(one));
        found.truncate(limit);
        found.into_iter().map(|(_, id)| id).collect()
    }
}
