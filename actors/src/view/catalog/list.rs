//! Lists: records newest first, a page at a time.

use std::collections::HashSet;

use memlog_events::ids::{Micros, SpeakerId};
use uuid::Uuid;

use super::Catalog;
use crate::api::record::{ItemType, Status};

/// What narrows a list.
#[derive(Clone, Copy, Debug, Default)]
pub struct ListFilter {
    /// Only this thread's.
    pub thread: Option<u32>,
    /// Only this type.
    pub item: Option<ItemType>,
    /// Only in this status.
    pub status: Option<Status>,
}

/// Where the page before ended.
pub type After = (Micros, Uuid);

impl Catalog {
    /// Up to `limit` records that come after `after`, newest first by creation, then id, and whether there are more.
    pub fn page(&self, filter: ListFilter, after: Option<After>, limit: usize, now: Micros) -> (Vec<u32>, bool) {
        let below = after.unwrap_or((Micros(i64::MAX), Uuid::max()));
        let listed = |doc: &u32| {
            let Some(it) = self.visible(*doc, now) else { return false };
            let status = || if self.is_valid(*doc, now) { Status::Valid } else { Status::Invalid };
            filter.thread.is_none_or(|thread| it.thread == Some(thread))
                && filter.item.is_none_or(|item| it.item == item)
                && filter.status.is_none_or(|wanted| status() == wanted)
        };
        cut(self.newest(below).filter(listed), limit)
    }

    /// Up to `limit` valid records of one tag that were created at `before` or earlier and are not among `skip`, newest
    /// first, and whether there are more.
    pub fn said_by(
        &self,
        speaker: SpeakerId,
        before: Option<Micros>,
        skip: &HashSet<u32>,
        limit: usize,
        now: Micros,
    ) -> (Vec<u32>, bool) {
        // Whatever was created at that instant is below its end.
        let below = before.map_or(i64::MAX, |at| at.0.saturating_add(1));
        let listed = |doc: &u32| {
            let said = self.visible(*doc, now).is_some_and(|it| it.speaker == Some(speaker));
            said && !skip.contains(doc) && self.is_valid(*doc, now)
        };
        cut(self.newest((Micros(below), Uuid::nil())).filter(listed), limit)
    }

    fn newest(&self, below: After) -> impl Iterator<Item = u32> {
        self.ordered.range(..below).rev().filter_map(|(_, id)| self.by_uuid(*id))
    }
}

fn cut(docs: impl Iterator<Item = u32>, limit: usize) -> (Vec<u32>, bool) {
    let mut page: Vec<u32> = docs.take(limit + 1).collect();
    let more = page.len() > limit;
    page.truncate(limit);
    (page, more)
}
