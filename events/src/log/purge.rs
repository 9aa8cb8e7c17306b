//! Taking back the space of what is erased. Nothing here makes anything less readable: the keys are gone already.
//!
//! Heads, chains and facts stay, so the log still verifies; sealed bytes are cut off, files and rows removed, step by
//! step.

use std::ops::Bound;

use redb::{ReadableTable, Table};
use uuid::Uuid;

use super::{Core, Error, Log, Reason, blobs::Owner, keep, read::wrong, rows};
use crate::{
    head::{FACTS_AT, Parts, Place},
    ids::{KeyPath, Partition, Scope, Slot, StreamId, StreamKey, Version},
};

/// A purge on its way: what is to be taken back, and how far it is.
#[derive(Clone, Debug)]
pub struct Purge {
    scope: Scope,
    /// The first and the last stream it is about.
    streams: (StreamKey, StreamKey),
    phase: Phase,
}

#[derive(Clone, Debug)]
enum Phase {
    /// Events after `from` up to `to`.
    Events {
        from: [u8; 42],
        to: [u8; 42],
    },
    Snapshots,
    Embeddings {
        after: [u8; 38],
    },
    Claims(Bound<[u8; 32]>),
    Listed(Bound<[u8; 33]>),
    Expiry(Bound<[u8; 50]>),
    Done,
}

impl Purge {
    /// A deleted profile: everything that lies in its scope.
    pub fn scope(partition: Partition, scope: Scope) -> Self {
        let key = |stream| StreamKey { partition, scope, stream: StreamId(stream) };
        Self::streams(key(Uuid::nil()), key(Uuid::max()))
    }

    /// A deleted thread or notebook.
    pub fn stream(key: StreamKey) -> Self {
        Self::streams(key, key)
    }

    /// Rows of the directory (names, lists, expiries) whose slots are dead, of whatever scope. Walks those tables
    /// whole, so run it now and then, not after every deletion.
    pub fn directory() -> Self {
        let nowhere = Self::scope(Partition(0), Scope(Uuid::nil()));
        Self { phase: Phase::Claims(Bound::Unbounded), ..nowhere }
    }

    fn streams(first: StreamKey, last: StreamKey) -> Self {
        let from = rows::event_key(first, Version(0));
        let to = rows::event_key(last, Version(u64::MAX));
        Self { scope: first.scope, streams: (first, last), phase: Phase::Events { from, to } }
    }
}

impl Log {
    /// Makes one bounded step; `true` while there is more to do.
    pub fn purge(&self, purge: &mut Purge) -> Result<bool, Error> {
        let core = &self.0.core;
        purge.phase = core.guarded(|| step(core, purge))?;
        Ok(!matches!(purge.phase, Phase::Done))
    }
}

/// One step; where to go on.
fn step(core: &Core, purge: &Purge) -> Result<Phase, Error> {
    Ok(match purge.phase.clone() {
        Phase::Events { from, to } => events(core, from, to)?,
        Phase::Snapshots => snapshots(core, purge)?,
        Phase::Embeddings { after } => embeddings(core, purge.scope, after)?,
        Phase::Claims(after) => core.quick(|tables| {
            let dead = |_: &[u8; 32], row: &[u8; 74]| dead(core, rows::holder_of(row).keys);
            let next = dead_rows(core, &mut tables.claims, after, dead)?;
            Ok(next.map_or(Phase::Listed(Bound::Unbounded), Phase::Claims))
        })?,
        Phase::Listed(after) => core.quick(|tables| {
            let dead = |_: &[u8; 33], row: &[u8; 58]| dead(core, rows::listed_path(row));
            let next = dead_rows(core, &mut tables.listed, after, dead)?;
            Ok(next.map_or(Phase::Expiry(Bound::Unbounded), Phase::Listed))
        })?,
        Phase::Expiry(after) => core.quick(|tables| {
            let dead = |key: &[u8; 50], row: &[u8; 16]| dead(core, rows::expiry_of(key, row).2);
            let next = dead_rows(core, &mut tables.expiry, after, dead)?;
            Ok(next.map_or(Phase::Done, Phase::Expiry))
        })?,
        Phase::Done => Phase::Done,
    })
}

fn dead(core: &Core, keys: KeyPath) -> Result<bool, Error> {
    Ok(!core.vault.alive(keys)?)
}

/// Cuts the sealed bytes off a step's worth of events.
fn events(core: &Core, from: [u8; 42], to: [u8; 42]) -> Result<Phase, Error> {
    let mut last = None;
    let mut cuts: Vec<([u8; 42], Vec<u8>)> = Vec::new();
    let table = core.read()?.events()?;
    for row in table.range::<&[u8; 42]>(&from..=&to)?.take(core.limits.step_rows_max) {
        let (key, event) = row?;
        last = Some(*key.value());
        let (stream, version) = rows::event_key_of(key.value());
        let parts = Parts::split(event.value()).map_err(|error| wrong(stream, version, Reason::Head(error)))?;
        if parts.head.place == Place::None || !dead(core, parts.head.keys)? {
            continue;
        }
        if parts.head.place == Place::Blob {
            core.blobs.remove(&Owner::of(&parts.head))?;
        } else if parts.sealed.is_some() {
            let kept = FACTS_AT + parts.facts.len();
            cuts.push((*key.value(), event.value()[..kept].to_vec()));
        }
    }
    // Events are written once and only a purge rewrites them, so what was read still holds.
    if !cuts.is_empty() {
        core.quick(|tables| {
            for (key, event) in &cuts {
                tables.events.insert(key, event.as_slice())?;
            }
            Ok(())
        })?;
    }
    Ok(match last {
        Some(last) => {
            let (stream, version) = rows::event_key_of(&last);
            let from = rows::event_key(stream, Version(version.0.saturating_add(1)));
            Phase::Events { from, to }
        }
        None => Phase::Snapshots,
    })
}

/// Removes a step's worth of snapshots. They hold facts alone, and a stream that lives makes its own again.
fn snapshots(core: &Core, purge: &Purge) -> Result<Phase, Error> {
    let (first, last) = purge.streams;
    let (from, to) = (rows::stream_bytes(first), rows::stream_bytes(last));
    core.quick(|tables| {
        let mut gone = Vec::new();
        let rows_in_it = tables.snapshots.range::<&[u8; 34]>(&from..=&to)?;
        for row in rows_in_it.take(core.limits.step_rows_max) {
            gone.push(*row?.0.value());
        }
        for key in &gone {
            tables.snapshots.remove(key)?;
        }
        let after = rows::embedding_bounds(purge.scope, Slot::NONE).0;
        Ok(match gone.is_empty() {
            true => Phase::Embeddings { after },
            false => Phase::Snapshots,
        })
    })
}

fn embeddings(core: &Core, scope: Scope, after: [u8; 38]) -> Result<Phase, Error> {
    let to = rows::embedding_bounds(scope, Slot(u64::MAX)).1;
    core.quick(|tables| {
        let mut last = None;
        let mut gone = Vec::new();
        let range = (Bound::Excluded(&after), Bound::Included(&to));
        let rows = tables.embeddings.range::<&[u8; 38]>(range)?;
        for row in rows.take(core.limits.step_rows_max) {
            let (key, row) = row?;
            last = Some(*key.value());
            let keys = keep::embedding_path(key.value(), row.value());
            if keys.map_or(Ok(true), |keys| dead(core, keys))? {
                gone.push(*key.value());
            }
        }
        for key in &gone {
            tables.embeddings.remove(key)?;
        }
        Ok(match last {
            Some(after) => Phase::Embeddings { after },
            None => Phase::Done,
        })
    })
}

/// Walks a step's worth of a table and removes the dead rows; where to go on, or `None` at the end.
fn dead_rows<const K: usize, const V: usize>(
    core: &Core,
    table: &mut Table<'_, &'static [u8; K], &'static [u8; V]>,
    after: Bound<[u8; K]>,
    is_dead: impl Fn(&[u8; K], &[u8; V]) -> Result<bool, Error>,
) -> Result<Option<Bound<[u8; K]>>, Error> {
    let mut last = None;
    let mut gone = Vec::new();
    let from = after.as_ref();
    for row in table.range::<&[u8; K]>((from, Bound::Unbounded))?.take(core.limits.step_rows_max) {
        let (key, row) = row?;
        last = Some(*key.value());
        if is_dead(key.value(), row.value())? {
            gone.push(*key.value());
        }
    }
    for key in &gone {
        table.remove(key)?;
    }
    Ok(last.map(Bound::Excluded))
}
