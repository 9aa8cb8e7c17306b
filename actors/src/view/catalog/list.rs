//! Lists: records newest first, a page at a time.

use memlog_events::ids::Micros;
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
        let newest = self.ordered.range(..below).rev().filter_map(|(_, id)| self.by_uuid(*id));
        let mut page: Vec<u32> = newest.filter(listed).take(limit + 1).collect();
        let more = page.len() > limit;
        page.truncate(limit);
        (page, more)
    }
}
