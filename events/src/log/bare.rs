//! redb alone, under the load that the log has: what a measurement puts beside the log to tell what the disk and the file format
//! allow. Writes into files of its own and never into a log.

use std::{ops::AddAssign, path::Path};

use redb::{Database, ReadableTable as _};
use uuid::Uuid;

use super::{
    Error, Limits, Log, rows,
    tables::{Writing, events_alone},
};
use crate::ids::{Digest, PARTITIONS, Partition, Position, Scope, Slot, StreamId, StreamKey, Version};

/// Which tables a commit writes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tables {
    /// That of the events.
    Events,
    /// Every table that a saved record touches: events, order, idempotency, commits, meta.
    All,
}

/// A database of its own.
pub struct Bare {
    database: Database,
    tables: Tables,
    streams: Vec<(StreamKey, u64)>,
    event: Vec<u8>,
    remembered: Vec<u8>,
    /// Events written so far.
    written: u64,
}

/// What a scan saw.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scanned {
    /// Rows.
    pub rows: u64,
    /// Bytes of their values.
    pub bytes: u64,
}

impl AddAssign<usize> for Scanned {
    fn add_assign(&mut self, bytes: usize) {
        self.rows += 1;
        self.bytes += bytes as u64;
    }
}

impl Bare {
    /// Makes a database in a folder for events of `event_bytes` that go to `profiles` profiles in turn, each a stream.
    pub fn create(dir: &Path, tables: Tables, profiles: usize, event_bytes: usize) -> Result<Self, Error> {
        let mut builder = Database::builder();
        builder.set_cache_size(Limits::default().cache_bytes_max);
        let database = builder.create(dir.join("bare.redb")).map_err(redb::Error::from)?;
        let streams = (0..profiles.max(1)).map(|at| (stream(at), 0)).collect();
        let (event, remembered) = (vec![7; event_bytes], vec![7; REMEMBERED_BYTES]);
        Ok(Self { database, tables, streams, event, remembered, written: 0 })
    }

    /// One durable commit of so many events, each with the rows that the log writes beside it.
    pub fn commit(&mut self, events: usize) -> Result<(), Error> {
        let txn = self.database.begin_write()?;
        let first = self.written + 1;
        match self.tables {
            Tables::Events => {
                let mut table = events_alone(&txn)?;
                for _ in 0..events {
                    let (key, version) = next(&mut self.streams, &mut self.written);
                    table.insert(&rows::event_key(key, version), self.event.as_slice())?;
                }
            }
            Tables::All => {
                let mut tables = Writing::open(&txn)?;
                for _ in 0..events {
                    let (key, version) = next(&mut self.streams, &mut self.written);
                    let position = Position(self.written);
                    tables.events.insert(&rows::event_key(key, version), self.event.as_slice())?;
                    tables.order.insert(&rows::order_key(key.partition, position), &rows::order_row(key, version))?;
                    let id = Digest(*blake3::hash(&position.0.to_le_bytes()).as_bytes());
                    tables.idempotency.insert(&rows::idempotency_key(HOUR, id), self.remembered.as_slice())?;
                }
                tables.commits.insert(first, &[7; 84])?;
                let state = rows::state_row(Position(self.written), self.written);
                tables.meta.insert(rows::META_STATE, state.as_slice())?;
            }
        }
        Ok(txn.commit()?)
    }

    /// Events written so far.
    pub fn written(&self) -> u64 {
        self.written
    }
}

/// The stream whose turn it is, and the version of its next event.
fn next(streams: &mut [(StreamKey, u64)], written: &mut u64) -> (StreamKey, Version) {
    let at = *written as usize % streams.len();
    *written += 1;
    let (key, version) = &mut streams[at];
    *version += 1;
    (*key, Version(*version))
}

/// The hour that all commands fall into; within it their keyed ids lie anywhere.
const HOUR: i64 = 1;
/// An idempotency row of one id: layout, request, time, three positions, the id's count and the id.
const REMEMBERED_BYTES: usize = 1 + 32 + 8 + 24 + 4 + 16;

/// Profiles lie anywhere among each other, as those with random ids do.
fn stream(at: usize) -> StreamKey {
    let id = |what: u8| {
        let hash = blake3::hash(&[&at.to_le_bytes()[..], &[what]].concat());
        Uuid::from_bytes(rows::field(hash.as_bytes(), 0))
    };
    StreamKey {
        partition: Partition((at % usize::from(PARTITIONS)) as u16),
        scope: Scope(id(0)),
        stream: StreamId(id(1)),
    }
}

impl Log {
    /// Reads the rows of all events and looks at none: what a replay cannot be faster than.
    pub fn scan_bare(&self) -> Result<Scanned, Error> {
        let mut scanned = Scanned::default();
        for row in self.0.core.read()?.events()?.iter()? {
            scanned += row?.1.value().len();
        }
        Ok(scanned)
    }

    /// The same of one profile, its vectors included: what waking it cannot be faster than.
    pub fn scan_scope_bare(&self, partition: Partition, scope: Scope) -> Result<Scanned, Error> {
        let mut scanned = Scanned::default();
        let reading = self.0.core.read()?;
        let (from, to) = rows::scope_bounds(partition, scope);
        for row in reading.events()?.range::<&[u8; 42]>(&from..=&to)? {
            scanned += row?.1.value().len();
        }
        let (from, _) = rows::embedding_bounds(scope, Slot::NONE);
        let (_, to) = rows::embedding_bounds(scope, Slot(u64::MAX));
        for row in reading.embeddings()?.range::<&[u8; 38]>(&from..=&to)? {
            scanned += row?.1.value().len();
        }
        Ok(scanned)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // A limit that writes less than it says makes the log look slow.
    #[test]
    fn every_event_of_a_commit_is_a_row_of_its_own() {
        for tables in [Tables::Events, Tables::All] {
            let dir = tempfile::tempdir().unwrap();
            let mut bare = Bare::create(dir.path(), tables, 3, 100).unwrap();
            bare.commit(5).unwrap();
            bare.commit(2).unwrap();
            assert_eq!(bare.written(), 7);
            let reading = super::super::tables::Reading::begin(&bare.database).unwrap();
            let mut scanned = Scanned::default();
            for row in reading.events().unwrap().iter().unwrap() {
                scanned += row.unwrap().1.value().len();
            }
            assert_eq!(scanned, Scanned { rows: 7, bytes: 700 });
            let remembered = reading.idempotency().map_or(0, |table| redb::ReadableTableMetadata::len(&table).unwrap());
            assert_eq!(remembered, if tables == Tables::All { 7 } else { 0 });
        }
    }
}
