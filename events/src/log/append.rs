//! What can come of an append.

use crate::{
    batch::{Batch, Committed, Holder, Remembered},
    ids::Version,
};

/// Why a batch was not appended. The stream is as it was, and no trace of the batch is left, unless it says so.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Error {
    /// The stream is at another version than the batch expected.
    #[error("the stream is at version {}", actual.0)]
    VersionMoved {
        /// Where it is.
        actual: Version,
    },
    /// A name is held by another.
    #[error("the name is taken")]
    Taken {
        /// By this one.
        holder: Holder,
    },
    /// The same command was carried out before, or by a twin in the same commit.
    #[error("the command was carried out before")]
    Replayed(Box<Remembered>),
    /// A content's slot was overwritten: its profile, thread or record was deleted meanwhile.
    #[error("what it belongs to was deleted")]
    Gone,
    /// More events or bytes than a batch may have.
    #[error("{what} {is}, at most {max}")]
    TooLarge {
        /// `events` or `bytes`.
        what: &'static str,
        /// What it has.
        is: usize,
        /// The limit.
        max: usize,
    },
    /// A batch that could never be appended: a mistake of the caller.
    #[error("malformed batch: {0}")]
    Invalid(&'static str),
    /// Disk or vault failed, and nothing is appended until they work again, which is tried twice a second. Nothing of the
    /// batch is stored, with two exceptions: if the process ends before the disk works again, it may be there, whole,
    /// after the next start; and an event that erases is there if only the vault failed (the reason begins with `erasing`),
    /// with its erasures made before anything else is appended.
    #[error("the log takes no writes: {0}")]
    Failed(String),
    /// The log is closed.
    #[error("the log is closed")]
    Closed,
}

/// Called once, on the writer's thread (or the submitter's, if refused at once): keep it short.
pub type Done = Box<dyn FnOnce(Result<Committed, Error>) + Send>;

/// The queue is full; try again later with what is handed back.
pub struct Busy {
    /// The batch, untouched.
    pub batch: Box<Batch>,
    /// Its callback, not called.
    pub done: Done,
}

impl std::fmt::Debug for Busy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Busy")
    }
}
