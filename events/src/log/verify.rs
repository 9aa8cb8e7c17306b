//! Proving that nothing was changed, removed, swapped, cut or rolled back, and that nothing is dead but what the log
//! condemned.

use std::{collections::HashMap, sync::atomic::Ordering};

use redb::{ReadableTable, ReadableTableMetadata, WriteTransaction};

use super::{
    Core, Error, Log, Reason,
    disk::Disk,
    read::{InOrder, sealed_bytes},
    recover::guard,
    rows::{self, CommitRow},
    store::check_pages,
    tables::Reading,
};
use crate::{
    codec,
    head::{self, CHAIN_BYTES, HEAD_BYTES, Parts, Place},
    ids::{Position, Slot, StreamKey, Version},
    vault::{FIRST_SLOT, SlotState},
};

/// What a look at the whole log found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// Events seen.
    pub events: u64,
    /// The last position and the hash of its commit: what `expect` is told another day.
    pub head: (Position, [u8; 32]),
    /// The first thing that is wrong.
    pub first_break: Option<Break>,
}

/// Something wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Break {
    /// In this stream, if it can be told.
    pub stream: Option<StreamKey>,
    /// At this version; 0 if it cannot be told.
    pub version: Version,
    /// At or after this position; 0 if it cannot be told.
    pub position: Position,
    /// What it is.
    pub reason: Reason,
}

/// Figures of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stats {
    /// Events.
    pub events: u64,
    /// Durable commits that had events.
    pub commits: u64,
    /// The last position and the hash of its commit.
    pub head: (Position, [u8; 32]),
    /// Subjects handed out.
    pub slots: u64,
    /// Erasures made.
    pub erasures: u64,
    /// Rows of the vector cache.
    pub embeddings: u64,
}

impl Log {
    /// Looks at every event, its place, its chains and its content, at the chain of commits and at every slot of the
    /// vault. `expect` is a head that was noted before: it finds a log that was cut or rolled back. Others read and write meanwhile.
    ///
    /// # Errors
    /// If a disk fails; what is wrong with the log is in the report.
    pub fn verify(&self, expect: Option<(Position, [u8; 32])>) -> Result<Report, Error> {
        self.checked(expect, false)
    }

    /// The same, and every page of the file that is in use, so that damage is found to what no event vouches for: names, lists,
    /// expiries. Commits wait as long as it takes to read the file.
    ///
    /// # Errors
    /// If a disk fails; what is wrong with the log is in the report.
    pub fn verify_pages(&self, expect: Option<(Position, [u8; 32])>) -> Result<Report, Error> {
        self.checked(expect, true)
    }

    fn checked(&self, expect: Option<(Position, [u8; 32])>, pages: bool) -> Result<Report, Error> {
        let core = &self.0.core;
        let mut check = Check::new(core);
        let dead = check.step(Check::slots)?.unwrap_or_default();
        check.step(Check::events)?;
        let head = check.step(Check::commits)?.unwrap_or_default();
        check.step(|check| check.erasures(&dead))?;
        if pages {
            check.step(Check::pages)?;
        }
        if let Some(expected) = expect
            && check.step(|check| is_in(check.core, expected))? == Some(false)
        {
            check.found(Break { position: expected.0, ..broken(Reason::Expected) });
        }
        Ok(Report { events: check.count, head, first_break: check.first_break })
    }

    /// Figures, without a look at the events.
    pub fn stats(&self) -> Result<Stats, Error> {
        self.0.core.guarded(|| {
            let core = &self.0.core;
            let txn = core.read()?;
            let commits = txn.commits()?;
            let last = commits.last()?.map(|(_, row)| CommitRow::parse(row.value()));
            Ok(Stats {
                events: txn.events()?.len()?,
                commits: commits.len()?,
                head: last.map_or((Position(0), [0; 32]), |row| (row.last, row.hash)),
                slots: core.vault.next() - FIRST_SLOT,
                erasures: txn.erasures()?.len()?,
                embeddings: txn.embeddings()?.len()?,
            })
        })
    }
}

fn broken(reason: Reason) -> Break {
    Break { stream: None, version: Version(0), position: Position(0), reason }
}

/// The file while nobody writes, all that was committed in it, and a read that keeps its pages from being used again.
fn at_rest(core: &Core) -> Result<(WriteTransaction, Reading, Disk), Error> {
    loop {
        let database = core.store.database();
        let still = database.begin_write()?;
        if !core.store.is_now(&database) {
            continue;
        }
        if !core.unsynced.load(Ordering::SeqCst) {
            return Ok((still, core.read()?, core.store.disk().view()?));
        }
        core.durably(&database, still)?;
    }
}

pub(super) fn is_in(core: &Core, (position, hash): (Position, [u8; 32])) -> Result<bool, Error> {
    if position == Position(0) {
        return Ok(hash == [0; 32]);
    }
    let commits = core.read()?.commits()?;
    let row = commits.range(..=position.0)?.next_back().transpose()?;
    let row = row.map(|(_, row)| CommitRow::parse(row.value()));
    Ok(row.is_some_and(|row| (row.last, row.hash) == (position, hash)))
}

/// Where a walk through a stream is.
#[derive(Clone, Copy)]
struct Walk {
    key: StreamKey,
    version: Version,
    chain: [u8; CHAIN_BYTES],
}

struct Check<'a> {
    core: &'a Core,
    /// Nothing later is looked at: its erasures may not be made yet.
    head: Position,
    count: u64,
    walk: Option<Walk>,
    condemned: HashMap<Slot, (StreamKey, Version)>,
    first_break: Option<Break>,
}

impl<'a> Check<'a> {
    fn new(core: &'a Core) -> Self {
        let (walk, first_break) = (None, None);
        Self { core, head: core.head(), count: 0, walk, condemned: HashMap::new(), first_break }
    }

    /// A part of the check. Pages that cannot be made sense of end it, and are found.
    fn step<T>(&mut self, part: impl FnOnce(&mut Self) -> Result<T, Error>) -> Result<Option<T>, Error> {
        match guard(|| part(self)) {
            Ok(done) => Ok(Some(done)),
            Err(error) if error.passes() => Err(error),
            Err(error) => {
                let reason = Reason::Pages(error.to_string());
                self.found(match self.walk {
                    Some(walk) => Break { stream: Some(walk.key), version: walk.version, ..broken(reason) },
                    None => broken(reason),
                });
                Ok(None)
            }
        }
    }

    /// Every page in use. A page that is given up and written anew while it is looked at cannot be made sense of, and redb then panics
    /// where nothing can catch it; so nobody writes meanwhile.
    fn pages(&mut self) -> Result<(), Error> {
        self.walk = None;
        if let Some(failed) = self.core.failed() {
            match failed.lasts {
                true => self.found(broken(Reason::Pages(failed.reason))),
                false => return Err(Error::Disk(failed.reason)),
            }
            return Ok(());
        }
        let (still, _reading, view) = at_rest(self.core)?;
        let checked = check_pages(view);
        still.abort().map_err(redb::Error::from)?;
        checked
    }

    fn found(&mut self, broken: Break) {
        self.first_break.get_or_insert(broken);
    }

    /// Every slot handed out: those that are dead, before the log is asked whether it condemned them.
    fn slots(&mut self) -> Result<Vec<Slot>, Error> {
        let mut dead = Vec::new();
        for slot in (FIRST_SLOT..self.core.vault.next()).map(Slot) {
            match self.core.vault.on_disk(slot)? {
                SlotState::Live => {}
                SlotState::Dead => dead.push(slot),
                SlotState::Bad => self.found(broken(Reason::BadSlot(slot.0))),
            }
        }
        Ok(dead)
    }

    /// Every event in the order of keys.
    fn events(&mut self) -> Result<(), Error> {
        let mut from = [0; 42];
        loop {
            let txn = self.core.read()?;
            let mut last = None;
            let events = txn.events()?;
            for row in events.range::<&[u8; 42]>(&from..)?.take(self.core.limits.page_events_max) {
                let (key, event) = row?;
                last = Some(*key.value());
                let (stream, version) = rows::event_key_of(key.value());
                self.event(&txn, stream, version, event.value())?;
            }
            let Some(last) = last else {
                return Ok(());
            };
            let (stream, version) = rows::event_key_of(&last);
            from = rows::event_key(stream, Version(version.0.saturating_add(1)));
        }
    }

    fn event(&mut self, txn: &Reading, key: StreamKey, version: Version, event: &[u8]) -> Result<(), Error> {
        let before = match self.walk {
            Some(walk) if walk.key == key => walk,
            _ => Walk { key, version: Version(0), chain: [0; CHAIN_BYTES] },
        };
        let parts = match Parts::split(event) {
            Ok(parts) => parts,
            Err(error) => {
                self.wrong(key, version, Position(0), Reason::Head(error));
                self.walk = Some(Walk { version, ..before });
                return Ok(());
            }
        };
        if parts.head.position > self.head {
            return Ok(());
        }
        self.count += 1;
        self.walk = Some(Walk { key, version, chain: parts.chain });
        if version.0 != before.version.0 + 1 {
            let gone = Version(before.version.0 + 1);
            self.wrong(key, gone, Position(0), Reason::Missing);
        }
        if let Some(reason) = self.judge(txn, key, version, &before, event, &parts)? {
            self.wrong(key, version, parts.head.position, reason);
        }
        Ok(())
    }

    fn judge(
        &mut self,
        txn: &Reading,
        key: StreamKey,
        version: Version,
        before: &Walk,
        event: &[u8],
        parts: &Parts<'_>,
    ) -> Result<Option<Reason>, Error> {
        let head = &parts.head;
        if (head.key, head.version) != (key, version) {
            return Ok(Some(Reason::Misplaced));
        }
        // `Parts` has seen that there are this many bytes.
        let head_bytes = event.first_chunk::<HEAD_BYTES>().ok_or(Error::Row("events"))?;
        let chain_key = self.core.vault.chain_key();
        if parts.chain != head::chain(chain_key, &before.chain, head_bytes, parts.facts) {
            return Ok(Some(Reason::Chain));
        }
        let order = txn.order()?.get_owned(&rows::order_key(key.partition, head.position))?;
        if order.is_none_or(|row| *row.value() != rows::order_row(key, version)) {
            return Ok(Some(Reason::Order));
        }
        match codec::decode_facts(head.kind, head.kind_version, parts.facts) {
            Ok(facts) => {
                for slot in facts.erases() {
                    self.condemned.entry(slot).or_insert((key, version));
                }
            }
            Err(error) => return Ok(Some(Reason::Body(error))),
        }
        self.content(parts)
    }

    /// The sealed content against the hash in the head. It may be gone if its key is.
    fn content(&self, parts: &Parts<'_>) -> Result<Option<Reason>, Error> {
        let head = &parts.head;
        if head.place == Place::None {
            return Ok(None);
        }
        Ok(match sealed_bytes(self.core, head, parts.sealed)? {
            Some(sealed) if *blake3::hash(&sealed).as_bytes() == head.content_hash => None,
            Some(_) => Some(Reason::Content),
            None if self.core.vault.alive(head.keys).unwrap_or(false) => Some(Reason::ContentMissing),
            None => None,
        })
    }

    /// The chain of commits over the order of positions; returns its end.
    fn commits(&mut self) -> Result<(Position, [u8; 32]), Error> {
        let mut end = (Position(0), [0; 32]);
        loop {
            let txn = self.core.read()?;
            let (commits, mut order) = (txn.commits()?, InOrder::after(self.core, &txn, end.0)?);
            let mut seen = 0;
            for row in commits.range(end.0.0 + 1..)?.take(self.core.limits.page_events_max) {
                let (first, row) = row?;
                let row = CommitRow::parse(row.value());
                if row.last > self.head {
                    break;
                }
                seen += 1;
                self.commit(&txn, &mut order, Position(first.value()), row, end.1)?;
                end = (row.last, row.hash);
            }
            if seen == 0 {
                break;
            }
        }
        if end.0 < self.head {
            self.found(Break { position: self.head, ..broken(Reason::Commits) });
        }
        Ok(end)
    }

    fn commit(
        &mut self,
        txn: &Reading,
        order: &mut InOrder,
        first: Position,
        row: CommitRow,
        previous: [u8; 32],
    ) -> Result<(), Error> {
        let events = txn.events()?;
        let mut chains = Vec::with_capacity(row.count as usize);
        while order.peek().is_some_and(|position| position <= row.last) {
            let Some((position, key)) = order.next()? else {
                break;
            };
            let (stream, version) = rows::event_key_of(&key);
            match events.get_owned(&key)? {
                None => self.wrong(stream, version, position, Reason::Missing),
                Some(event) => match Parts::split(event.value()) {
                    Ok(parts) if parts.head.position == position => chains.push(parts.chain),
                    Ok(_) => self.wrong(stream, version, position, Reason::Order),
                    Err(error) => self.wrong(stream, version, position, Reason::Head(error)),
                },
            }
        }
        let again = CommitRow { previous, ..row };
        let again = again.chained(self.core.vault.commit_key(), first, &chains);
        if again != row || chains.len() != row.count as usize {
            self.found(Break { position: first, ..broken(Reason::Commits) });
        }
        Ok(())
    }

    /// Dead slots against what the log condemned, both ways.
    fn erasures(&mut self, dead: &[Slot]) -> Result<(), Error> {
        // Commits since the walk began may have condemned slots that were seen dead; their rows were durable before
        // that.
        let mut since = std::collections::HashSet::new();
        let from = rows::erasure_key(Position(self.head.0 + 1), Slot::NONE);
        for row in self.core.read()?.erasures()?.range::<&[u8; 16]>(&from..)? {
            since.insert(rows::erasure_of(row?.0.value()).1);
        }
        for slot in dead {
            if !self.condemned.contains_key(slot) && !since.contains(slot) {
                self.found(broken(Reason::DeadSlot(slot.0)));
            }
        }
        let condemned: Vec<_> = self.condemned.iter().map(|(s, at)| (*s, *at)).collect();
        for (slot, (key, version)) in condemned {
            if slot != Slot::NONE && self.core.vault.on_disk(slot)? == SlotState::Live {
                self.wrong(key, version, Position(0), Reason::LiveSlot(slot.0));
            }
        }
        Ok(())
    }

    fn wrong(&mut self, key: StreamKey, version: Version, position: Position, reason: Reason) {
        self.found(Break { stream: Some(key), version, position, reason });
    }
}
