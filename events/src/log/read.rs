//! Reading events, page by page. Each page is its own look at the log: a snapshot held for long keeps old pages from
//! being reused. A page may be shorter than asked for; only an empty one is the end.

use std::{cmp::Reverse, collections::BinaryHeap};

use redb::ReadOnlyTable;

use super::{Core, Error, Log, Reason, blobs::Owner, rows, rows::CommitRow, tables::Reading};
use crate::{
    codec,
    event::{Content, Facts},
    head::{CHAIN_BYTES, Head, Parts, Place},
    ids::{Micros, Partition, Position, Scope, StreamKey, Version},
};

/// An event as it was read: its content is opened on demand.
#[derive(Clone, PartialEq, Debug)]
pub struct Stored {
    /// Everything but what it says.
    pub head: Head,
    /// The stream's chain up to and with it.
    pub chain: [u8; CHAIN_BYTES],
    /// The plain half.
    pub facts: Facts,
    pub(super) sealed: Option<Vec<u8>>,
}

/// What became of a content.
#[derive(Clone, PartialEq, Debug)]
#[allow(clippy::large_enum_variant, reason = "made one at a time and taken apart at once")]
pub enum Sealed {
    /// The event has none.
    None,
    /// One of the slots it was sealed with was overwritten.
    Erased,
    /// Here it is.
    Open(Content),
}

type Events = ReadOnlyTable<&'static [u8; 42], &'static [u8]>;

impl Log {
    /// A page of one stream's events after a version.
    pub fn stream(&self, key: StreamKey, after: Version, limit: usize) -> Result<Vec<Stored>, Error> {
        self.0.core.guarded(|| {
            let from = rows::event_key(key, Version(after.0.saturating_add(1)));
            let to = rows::event_key(key, Version(u64::MAX));
            page(&self.0.core, &from, &to, limit)
        })
    }

    /// One event.
    pub fn at(&self, key: StreamKey, version: Version) -> Result<Option<Stored>, Error> {
        self.0.core.guarded(|| {
            let event = self.0.core.read()?.events()?.get_owned(&rows::event_key(key, version))?;
            event.map(|event| decode(key, version, event.value())).transpose()
        })
    }

    /// Several events, each as [`Log::at`] gives it, as of one moment.
    pub fn each_at(&self, places: &[(StreamKey, Version)]) -> Result<Vec<Option<Stored>>, Error> {
        self.0.core.guarded(|| {
            let events = self.0.core.read()?.events()?;
            let one = |(key, version): &(StreamKey, Version)| {
                let event = events.get_owned(&rows::event_key(*key, *version))?;
                event.map(|event| decode(*key, *version, event.value())).transpose()
            };
            places.iter().map(one).collect()
        })
    }

    /// The version a stream is at.
    pub fn version(&self, key: StreamKey) -> Result<Version, Error> {
        self.0.core.guarded(|| {
            let events = self.0.core.read()?.events()?;
            let (from, to) = (rows::event_key(key, Version(0)), rows::event_key(key, Version(u64::MAX)));
            match events.range::<&[u8; 42]>(&from..=&to)?.next_back() {
                Some(last) => Ok(rows::event_key_of(last?.0.value()).1),
                None => Ok(Version(0)),
            }
        })
    }

    /// A page of all the events of a profile, stream by stream, after the given place.
    pub fn scope_page(
        &self,
        partition: Partition,
        scope: Scope,
        after: Option<(StreamKey, Version)>,
        limit: usize,
    ) -> Result<Vec<Stored>, Error> {
        self.0.core.guarded(|| {
            let (mut from, to) = rows::scope_bounds(partition, scope);
            if let Some((key, version)) = after {
                from = rows::event_key(key, Version(version.0.saturating_add(1)));
            }
            page(&self.0.core, &from, &to, limit)
        })
    }

    /// All the events of a profile, stream by stream, read in pages.
    pub fn scope(&self, partition: Partition, scope: Scope) -> ScopeEvents {
        let page = Vec::new().into_iter();
        ScopeEvents { log: self.clone(), partition, scope, after: None, page, ended: false }
    }

    /// A page of everything after a position up to the head, in the order of positions.
    pub fn tail(&self, after: Position, limit: usize) -> Result<Vec<Stored>, Error> {
        self.0.core.guarded(|| {
            let core = &self.0.core;
            // Looked at first. A commit is in the file before the ends of its partitions are known here, and beyond the head a
            // partition with an earlier event of it may be passed over: whoever follows the log would never come back for that.
            let head = core.head();
            let txn = core.read()?;
            let events = txn.events()?;
            let mut order = InOrder::after(core, &txn, after)?;
            let mut page = Page::new(core, limit);
            while let Some((position, key)) = order.next()?.filter(|(position, _)| *position <= head) {
                let (stream, version) = rows::event_key_of(&key);
                let missing = || wrong(stream, version, Reason::Missing);
                let event = events.get_owned(&key)?.ok_or_else(missing)?;
                let stored = decode(stream, version, event.value())?;
                if stored.head.position != position {
                    return Err(wrong(stream, version, Reason::Order));
                }
                if page.is_full_after(stored, event.value().len()) {
                    break;
                }
            }
            Ok(page.events)
        })
    }

    /// The latest time of any event so far; none of a log without events.
    pub fn latest(&self) -> Result<Option<Micros>, Error> {
        self.0.core.guarded(|| {
            let commits = self.0.core.read()?.commits()?;
            let last = commits.range(0..)?.next_back().transpose()?;
            Ok(last.map(|(_, row)| CommitRow::parse(row.value()).latest))
        })
    }

    /// The latest time of any event up to the last commit in which nothing is later than `time`; none if the first commit is.
    pub fn latest_by(&self, time: Micros) -> Result<Option<Micros>, Error> {
        self.0.core.guarded(|| {
            let commits = self.0.core.read()?.commits()?;
            let row = commits.range(..=self.last_by(&commits, time)?)?.next_back().transpose()?;
            let latest = row.map(|(_, row)| CommitRow::parse(row.value()).latest);
            Ok(latest.filter(|latest| *latest <= time))
        })
    }

    /// A position in the last commit in which nothing is later than `time`; 0 if there is none.
    fn last_by(&self, commits: &ReadOnlyTable<u64, &'static [u8; 84]>, time: Micros) -> Result<u64, Error> {
        // Each row holds the latest time so far, so the rows are ordered by it and a search by halves finds the last
        // one in time.
        let (mut low, mut high) = (0, self.head().0);
        while low < high {
            let middle = low + (high - low).div_ceil(2);
            let row = commits.range(..=middle)?.next_back().transpose()?;
            match row.map(|(first, row)| (first.value(), CommitRow::parse(row.value()))) {
                Some((first, row)) if row.latest > time => high = first - 1,
                _ => low = middle,
            }
        }
        Ok(low)
    }

    /// The last position before which, and at which, nothing is later than `time`.
    pub fn position_at(&self, time: Micros) -> Result<Position, Error> {
        self.0.core.guarded(|| {
            let low = self.last_by(&self.0.core.read()?.commits()?, time)?;
            // The commit after it may lie half in time.
            let mut at = Position(low);
            loop {
                let page = self.tail(at, self.0.core.limits.page_events_max)?;
                if page.is_empty() {
                    return Ok(at);
                }
                for event in &page {
                    if event.head.time > time {
                        return Ok(at);
                    }
                    at = event.head.position;
                }
            }
        })
    }

    /// Opens an event's content.
    pub fn open_content(&self, event: &Stored) -> Result<Sealed, Error> {
        self.0.core.guarded(|| {
            let core = &self.0.core;
            let head = &event.head;
            if head.place == Place::None {
                return Ok(Sealed::None);
            }
            let sealed = match sealed_bytes(core, head, event.sealed.as_deref())? {
                Some(sealed) => sealed,
                None if !core.vault.alive(head.keys)? => return Ok(Sealed::Erased),
                None => return Err(wrong(head.key, head.version, Reason::ContentMissing)),
            };
            let (id, stream) = (head.id.0, head.key.stream.0);
            match core.vault.unseal(head.keys, id, stream, head.nonce, sealed)? {
                None => Ok(Sealed::Erased),
                Some(Err(_)) => Err(wrong(head.key, head.version, Reason::Content)),
                Some(Ok(plain)) => codec::decode_content(&plain)
                    .map(Sealed::Open)
                    .map_err(|error| wrong(head.key, head.version, Reason::Body(error))),
            }
        })
    }
}

/// The sealed bytes of an event, wherever they lie.
pub(super) fn sealed_bytes(core: &Core, head: &Head, inline: Option<&[u8]>) -> Result<Option<Vec<u8>>, Error> {
    match head.place {
        Place::None => Ok(None),
        Place::Inline => Ok(inline.map(<[u8]>::to_vec)),
        Place::Blob => Ok(core.blobs.read(&Owner::of(head), head.content_bytes)?),
    }
}

fn page(core: &Core, from: &[u8; 42], to: &[u8; 42], limit: usize) -> Result<Vec<Stored>, Error> {
    let events: Events = core.read()?.events()?;
    let mut page = Page::new(core, limit);
    for row in events.range::<&[u8; 42]>(from..=to)? {
        let (key, event) = row?;
        let (key, version) = rows::event_key_of(key.value());
        let stored = decode(key, version, event.value())?;
        if page.is_full_after(stored, event.value().len()) {
            break;
        }
    }
    Ok(page.events)
}

struct Page {
    events: Vec<Stored>,
    events_left: usize,
    bytes_left: usize,
}

impl Page {
    fn new(core: &Core, limit: usize) -> Self {
        Self {
            events: Vec::new(),
            events_left: limit.clamp(1, core.limits.page_events_max),
            bytes_left: core.limits.page_bytes_max,
        }
    }

    fn is_full_after(&mut self, event: Stored, bytes: usize) -> bool {
        self.events.push(event);
        self.events_left -= 1;
        self.bytes_left = self.bytes_left.saturating_sub(bytes);
        self.events_left == 0 || self.bytes_left == 0
    }
}

type OrderRows = redb::Range<'static, &'static [u8; 10], &'static [u8; 40]>;
type Ordered = (Position, [u8; 42]);

/// The order rows of all partitions, merged by position: each with its event's key.
pub(super) struct InOrder {
    partitions: Vec<OrderRows>,
    next: BinaryHeap<Reverse<(Ordered, usize)>>,
}

impl InOrder {
    pub(super) fn after(core: &Core, txn: &Reading, after: Position) -> Result<Self, Error> {
        let order = txn.order()?;
        let mut merged = Self { partitions: Vec::new(), next: BinaryHeap::new() };
        for partition in core.partitions_after(after) {
            let from = rows::order_key(partition, Position(after.0.saturating_add(1)));
            let to = rows::order_key(partition, Position(u64::MAX));
            merged.partitions.push(order.range::<&[u8; 10]>(&from..=&to)?);
            merged.refill(merged.partitions.len() - 1)?;
        }
        Ok(merged)
    }

    pub(super) fn next(&mut self) -> Result<Option<Ordered>, Error> {
        let Some(Reverse((next, from))) = self.next.pop() else {
            return Ok(None);
        };
        self.refill(from)?;
        Ok(Some(next))
    }

    pub(super) fn peek(&self) -> Option<Position> {
        self.next.peek().map(|Reverse(((position, _), _))| *position)
    }

    fn refill(&mut self, from: usize) -> Result<(), Error> {
        if let Some(row) = self.partitions[from].next() {
            let (key, row) = row?;
            let (partition, position) = rows::order_key_of(key.value());
            self.next.push(Reverse(((position, rows::ordered(partition, row.value())), from)));
        }
        Ok(())
    }
}

/// Checks and decodes an event; the other half of the checks at append.
pub(super) fn decode(key: StreamKey, version: Version, event: &[u8]) -> Result<Stored, Error> {
    let parts = Parts::split(event).map_err(|error| wrong(key, version, Reason::Head(error)))?;
    let head = parts.head;
    if (head.key, head.version) != (key, version) {
        return Err(wrong(key, version, Reason::Misplaced));
    }
    let facts = codec::decode_facts(head.kind, head.kind_version, parts.facts)
        .map_err(|error| wrong(key, version, Reason::Body(error)))?;
    Ok(Stored { head, chain: parts.chain, facts, sealed: parts.sealed.map(<[u8]>::to_vec) })
}

pub(super) fn wrong(key: StreamKey, version: Version, reason: Reason) -> Error {
    Error::Event { key, version, reason }
}

/// See [`Log::scope`].
pub struct ScopeEvents {
    log: Log,
    partition: Partition,
    scope: Scope,
    after: Option<(StreamKey, Version)>,
    page: std::vec::IntoIter<Stored>,
    ended: bool,
}

impl Iterator for ScopeEvents {
    type Item = Result<Stored, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        if self.page.len() == 0 {
            match self.log.scope_page(self.partition, self.scope, self.after, usize::MAX) {
                Ok(page) => self.page = page.into_iter(),
                Err(error) => {
                    self.ended = true;
                    return Some(Err(error));
                }
            }
        }
        let event = self.page.next();
        match &event {
            Some(event) => self.after = Some((event.head.key, event.head.version)),
            None => self.ended = true,
        }
        event.map(Ok)
    }
}
