//! What followers and views keep here because it dies with its subjects or saves work: checkpoints, snapshots, vectors.
//! All of it can be made again from the log, so none of it waits for a sync of its own: the next append brings one, and
//! where nothing is appended the housekeeping does.

use std::sync::atomic::Ordering;

use uuid::Uuid;

use super::{Core, Error, Log, rows};
use crate::{
    ids::{KeyPath, Position, Scope, Slot, StreamKey, Version},
    vault,
};

/// A stream's state as somebody folded it: facts only, never content.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Snapshot {
    /// Of the bytes; another one is rebuilt, never migrated.
    pub layout: u16,
    /// Whatever the layout says.
    pub bytes: Vec<u8>,
}

/// Which vector.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct EmbeddingKey {
    /// Of this profile.
    pub scope: Scope,
    /// Of this record, message, ...; overwriting its slot erases the vector.
    pub subject: Slot,
    /// The version of its stream that brought the text.
    pub content: Version,
    /// Which part of the text: 0, 1, 2, ...
    pub chunk: u16,
    /// By which model: a number that changes with model and revision.
    pub model: u32,
}

/// A vector on its way in.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EmbeddingRow {
    /// Which.
    pub key: EmbeddingKey,
    /// The path its text was sealed by.
    pub keys: KeyPath,
    /// The vector as bytes.
    pub vector: Vec<u8>,
}

impl Log {
    /// How far a follower is.
    pub fn checkpoint(&self, name: &str) -> Result<Position, Error> {
        self.0.core.guarded(|| {
            let row = self.0.core.read()?.checkpoints()?.get_owned(name.as_bytes())?;
            Ok(Position(row.map_or(0, |row| row.value())))
        })
    }

    /// Notes how far a follower is. A crash may take it back by some commits, never forward.
    pub fn set_checkpoint(&self, name: &str, at: Position) -> Result<(), Error> {
        self.0.core.guarded(|| {
            self.0.core.quick(|tables| {
                tables.checkpoints.insert(name.as_bytes(), at.0)?;
                Ok(())
            })
        })
    }

    /// A stream's snapshot.
    pub fn snapshot(&self, key: StreamKey) -> Result<Option<Snapshot>, Error> {
        self.0.core.guarded(|| {
            let row = self.0.core.read()?.snapshots()?.get_owned(&rows::stream_bytes(key))?;
            let Some(row) = row else {
                return Ok(None);
            };
            let (layout, bytes) = row.value().split_first_chunk().ok_or(Error::Row("snapshots"))?;
            Ok(Some(Snapshot { layout: u16::from_le_bytes(*layout), bytes: bytes.to_vec() }))
        })
    }

    /// Replaces a stream's snapshot.
    pub fn put_snapshot(&self, key: StreamKey, snapshot: &Snapshot) -> Result<(), Error> {
        self.0.core.guarded(|| {
            let row = [&snapshot.layout.to_le_bytes()[..], &snapshot.bytes].concat();
            self.0.core.quick(|tables| {
                tables.snapshots.insert(&rows::stream_bytes(key), row.as_slice())?;
                Ok(())
            })
        })
    }

    /// Makes durable what was kept since the last append, if anything was. Making vectors again takes a model, which may
    /// be gone by then.
    pub fn sync(&self) -> Result<(), Error> {
        self.0.core.guarded(|| {
            let core = &self.0.core;
            if !core.unsynced.load(Ordering::SeqCst) {
                return Ok(());
            }
            let database = core.store.database();
            core.durably(&database, database.begin_write()?)
        })
    }

    /// A vector, if it is there and its subject alive.
    pub fn embedding(&self, key: EmbeddingKey) -> Result<Option<Vec<u8>>, Error> {
        self.0.core.guarded(|| {
            let core = &self.0.core;
            match core.read()?.embeddings()?.get_owned(&bytes_of(key))? {
                Some(row) => open(core, key, row.value()),
                None => Ok(None),
            }
        })
    }

    /// Keeps vectors, sealed by their subjects. Those whose subject is dead are passed over.
    pub fn put_embeddings(&self, vectors: &[EmbeddingRow]) -> Result<(), Error> {
        self.0.core.guarded(|| {
            let core = &self.0.core;
            let mut sealed = Vec::with_capacity(vectors.len());
            for row in vectors {
                if row.keys.subject != row.key.subject {
                    return Err(vault::Error::Unknown(row.key.subject).into());
                }
                sealed.extend(seal(core, row)?.map(|bytes| (bytes_of(row.key), row.keys, bytes)));
            }
            core.quick(|tables| {
                for (key, keys, bytes) in &sealed {
                    // Again, since sealing took a while: a row written behind an erasure would lie there for nothing.
                    if core.vault.alive(*keys)? {
                        tables.embeddings.insert(key, bytes.as_slice())?;
                    }
                }
                Ok(())
            })
        })
    }

    /// A page of a profile's vectors after a key, by subject; empty at the end. Dead ones are passed over, and damaged ones: a vector is
    /// made again from its text, and `verify` names the damage.
    pub fn embeddings(
        &self,
        scope: Scope,
        after: Option<EmbeddingKey>,
        limit: usize,
    ) -> Result<Vec<(EmbeddingKey, Vec<u8>)>, Error> {
        self.0.core.guarded(|| {
            let core = &self.0.core;
            let (mut from, _) = rows::embedding_bounds(scope, Slot::NONE);
            let (_, to) = rows::embedding_bounds(scope, Slot(u64::MAX));
            if let Some(after) = after {
                from = bytes_of(after);
            }
            let limit = limit.clamp(1, core.limits.page_events_max);
            let mut bytes_left = core.limits.page_bytes_max;
            let mut out = Vec::new();
            let embeddings = core.read()?.embeddings()?;
            for row in embeddings.range::<&[u8; 38]>(&from..=&to)? {
                let (key, row) = row?;
                let key = key_of(key.value());
                if Some(key) == after {
                    continue;
                }
                match open(core, key, row.value()) {
                    Ok(Some(vector)) => {
                        bytes_left = bytes_left.saturating_sub(vector.len());
                        out.push((key, vector));
                    }
                    Err(error) if !error.is_of_one() && !matches!(error, Error::Row(_)) => return Err(error),
                    Ok(None) | Err(_) => {}
                }
                if out.len() == limit || bytes_left == 0 {
                    break;
                }
            }
            Ok(out)
        })
    }
}

fn bytes_of(key: EmbeddingKey) -> [u8; 38] {
    rows::embedding_key(key.scope, key.subject, key.content, key.chunk, key.model)
}

fn key_of(bytes: &[u8; 38]) -> EmbeddingKey {
    EmbeddingKey {
        scope: Scope(Uuid::from_bytes(rows::field(bytes, 0))),
        subject: Slot(u64::from_be_bytes(rows::field(bytes, 16))),
        content: Version(u64::from_be_bytes(rows::field(bytes, 24))),
        chunk: u16::from_be_bytes(rows::field(bytes, 32)),
        model: u32::from_be_bytes(rows::field(bytes, 34)),
    }
}

/// Stands where an event's id stands in a content's key, so that every row has a key of its own.
fn id_of(key: EmbeddingKey) -> Uuid {
    Uuid::from_bytes(rows::field(blake3::hash(&bytes_of(key)).as_bytes(), 0))
}

fn seal(core: &Core, row: &EmbeddingRow) -> Result<Option<Vec<u8>>, Error> {
    let mut body = row.vector.clone();
    let nonce = core.vault.seal(row.keys, id_of(row.key), row.key.scope.0, &mut body)?;
    Ok(nonce.map(|nonce| {
        let (scope, stream) = (row.keys.scope.0.to_le_bytes(), row.keys.stream.0.to_le_bytes());
        [&scope[..], &stream, &nonce, &body].concat()
    }))
}

/// The other slots of the path that a row was sealed by.
pub(super) fn embedding_path(key: &[u8; 38], row: &[u8]) -> Option<KeyPath> {
    (row.len() >= 28).then(|| KeyPath {
        scope: Slot(rows::le64(row, 0)),
        stream: Slot(rows::le64(row, 8)),
        subject: key_of(key).subject,
    })
}

fn open(core: &Core, key: EmbeddingKey, row: &[u8]) -> Result<Option<Vec<u8>>, Error> {
    let damaged = || Error::Row("embeddings");
    let keys = embedding_path(&bytes_of(key), row).ok_or_else(damaged)?;
    let (nonce, body) = (rows::field(row, 16), row[28..].to_vec());
    match core.vault.unseal(keys, id_of(key), key.scope.0, nonce, body)? {
        None => Ok(None),
        Some(opened) => opened.map(Some).map_err(|_| damaged()),
    }
}
