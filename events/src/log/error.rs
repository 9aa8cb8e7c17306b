//! Why the log could not be read, and what can be wrong with an event.

use std::io;

use crate::{
    codec, head,
    ids::{StreamKey, Version},
    vault,
};

/// Why a read, or a change of what can be rebuilt, failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The page store failed.
    #[error("storage: {0}")]
    Storage(Box<redb::Error>),
    /// A file failed.
    #[error("file: {0}")]
    Io(#[from] io::Error),
    /// The vault failed.
    #[error(transparent)]
    Vault(#[from] vault::Error),
    /// An event is not what was written.
    #[error("stream {} version {}: {reason}", key.stream, version.0)]
    Event {
        /// Of this stream.
        key: StreamKey,
        /// At this version.
        version: Version,
        /// What is wrong.
        reason: Reason,
    },
    /// A row of a table is not what was written.
    #[error("damaged row in {0}")]
    Row(&'static str),
    /// A disk took no write. Nothing was changed.
    #[error("{0}")]
    Disk(String),
    /// The page store gave up on what it read: pages of the file are damaged.
    #[error("the page store found damage: {0}")]
    Damaged(String),
    /// Something failed before, and nothing is written for now.
    #[error("the log takes no writes: {0}")]
    Failed(String),
}

/// What can be wrong with an event, or with what surrounds it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "each says it in words")]
pub enum Reason {
    #[error("{0}")]
    Head(#[from] head::Error),
    #[error("the body cannot be read: {0}")]
    Body(#[from] codec::Error),
    #[error("the event is missing")]
    Missing,
    #[error("the event lies at another place than it says")]
    Misplaced,
    #[error("the stream's chain does not match")]
    Chain,
    #[error("the sealed content is not what was written")]
    Content,
    #[error("the sealed content is missing though its key is alive")]
    ContentMissing,
    #[error("the order of positions does not match")]
    Order,
    #[error("the chain of commits does not match")]
    Commits,
    #[error("the log does not contain the expected head: it was cut or rolled back")]
    Expected,
    #[error("slot {0} was overwritten though no event condemned it")]
    DeadSlot(u64),
    #[error("slot {0} is alive though an event condemned it")]
    LiveSlot(u64),
    #[error("slot {0} is damaged or missing")]
    BadSlot(u64),
    #[error("pages of the file are damaged: {0}")]
    Pages(String),
}

impl Error {
    /// Whether one event or its key is damaged, so that others can be read.
    pub fn is_of_one(&self) -> bool {
        matches!(self, Self::Event { .. } | Self::Vault(vault::Error::Damaged(_) | vault::Error::Missing(_)))
    }

    /// Whether a disk is at fault and not what is on it, so that all may be well later.
    pub(super) fn passes(&self) -> bool {
        match self {
            Self::Disk(_) | Self::Io(_) | Self::Vault(vault::Error::Io(_)) => true,
            Self::Storage(error) => matches!(**error, redb::Error::Io(_) | redb::Error::PreviousIo),
            _ => false,
        }
    }
}

macro_rules! from_redb {
    ($($error:ident),+) => {
        $(impl From<redb::$error> for Error {
            fn from(error: redb::$error) -> Self {
                Self::Storage(Box::new(error.into()))
            }
        })+
    };
}

from_redb!(TransactionError, TableError, StorageError, CommitError, DatabaseError);

impl From<redb::Error> for Error {
    fn from(error: redb::Error) -> Self {
        Self::Storage(Box::new(error))
    }
}
