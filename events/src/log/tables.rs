//! The tables: the one file that opens them. Bytes and integers only, and the layout's number is part of the name, so
//! that a changed layout is another table and never a misread one. Keys are big-endian, so that their order is the
//! order of bytes.

use std::sync::Arc;

use redb::{
    Database, ReadOnlyTable, ReadTransaction, ReadableDatabase, ReadableTable as _, ReadableTableMetadata as _, Table,
    TableDefinition, TableError, WriteTransaction,
};

use super::Error;

macro_rules! tables {
    ($($(#[$doc:meta])* $name:ident: $key:ty => $value:ty = $text:literal;)+) => {
        /// All tables, open for writing.
        pub(super) struct Writing<'t> {
            $($(#[$doc])* pub(super) $name: Table<'t, $key, $value>,)+
        }

        impl<'t> Writing<'t> {
            /// Opens, and makes if need be, every table.
            pub(super) fn open(txn: &'t WriteTransaction) -> Result<Self, TableError> {
                Ok(Self { $($name: txn.open_table(TableDefinition::new($text))?,)+ })
            }
        }

        impl Reading {
            /// Copies every table into a new database, a durable commit each; false if it was given up, since `stop` said so.
            pub(super) fn copy_to(&self, copy: &Database, stop: impl Fn() -> bool) -> Result<bool, Error> {
                $(
                    let txn = copy.begin_write()?;
                    let mut table = txn.open_table(TableDefinition::<$key, $value>::new($text))?;
                    for row in self.$name()?.iter()? {
                        if stop() {
                            return Ok(false);
                        }
                        let (key, value) = row?;
                        table.insert(key.value(), value.value())?;
                    }
                    drop(table);
                    txn.commit()?;
                )+
                Ok(true)
            }
        }

        /// A look at the tables as they were at one commit. Short-lived: a page, never a walk.
        #[derive(Clone)]
        pub(super) struct Reading(Arc<ReadTransaction>);

        impl Reading {
            $($(#[$doc])* pub(super) fn $name(&self) -> Result<ReadOnlyTable<$key, $value>, Error> {
                Ok(self.0.open_table(TableDefinition::new($text))?)
            })+
        }
    };
}

tables! {
    /// (partition u16, scope, stream, version u64) -> event.
    events: &'static [u8; 42] => &'static [u8] = "events-1";
    /// (partition u16, position u64) -> scope, stream, version: the rest of the event's key.
    order: &'static [u8; 10] => &'static [u8; 40] = "order-1";
    /// First position -> last position, count, latest time so far, previous hash, hash.
    commits: u64 => &'static [u8; 84] = "commits-1";
    /// Keyed digest of a name -> holder.
    claims: &'static [u8; 32] => &'static [u8; 74] = "claims-1";
    /// (namespace digest, kind, UUIDv7) -> stream, key path.
    listed: &'static [u8; 33] => &'static [u8; 58] = "listed-1";
    /// (hour, keyed id) -> what the reply is rebuilt from.
    idempotency: &'static [u8; 40] => &'static [u8] = "idempotency-1";
    /// (expires_at, partition, scope, stream, slot) -> the other slots of its path.
    expiry: &'static [u8; 50] => &'static [u8; 16] = "expiry-1";
    /// (position, slot): what the log condemned.
    erasures: &'static [u8; 16] => () = "erasures-1";
    /// Name of a follower -> how far it is.
    checkpoints: &'static [u8] => u64 = "checkpoints-1";
    /// Stream -> layout u16, bytes.
    snapshots: &'static [u8; 34] => &'static [u8] = "snapshots-1";
    /// (scope, subject slot, content version, chunk, model) -> the other slots, nonce, sealed vector.
    embeddings: &'static [u8; 38] => &'static [u8] = "embeddings-1";
    /// Name -> what the log knows of itself.
    meta: &'static [u8] => &'static [u8] = "meta-1";
}

/// The events' table alone, for a measurement.
pub(super) fn events_alone(txn: &WriteTransaction) -> Result<Table<'_, &'static [u8; 42], &'static [u8]>, TableError> {
    txn.open_table(TableDefinition::new("events-1"))
}

impl Reading {
    /// Looks at the latest commit.
    pub(super) fn begin(database: &redb::Database) -> Result<Self, Error> {
        Ok(Self(Arc::new(database.begin_read()?)))
    }

    /// How many events there are.
    pub(super) fn count(&self) -> Result<u64, Error> {
        Ok(self.events()?.len()?)
    }

    /// Whether the log has its tables; a new one has not.
    pub(super) fn has_tables(&self) -> Result<bool, Error> {
        match self.meta() {
            Ok(_) => Ok(true),
            Err(Error::Storage(error)) if matches!(*error, redb::Error::TableDoesNotExist(_)) => Ok(false),
            Err(error) => Err(error),
        }
    }
}
