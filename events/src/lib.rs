//! What happened: ids, event structs, the codec, the redb log and the key vault.
//!
//! Knows no rule, no actor and no network. Without the `log` feature it is plain data, so that a client never builds
//! redb.

pub mod batch;
pub mod code;
pub mod codec;
pub mod event;
pub mod head;
pub mod ids;
#[cfg(feature = "log")]
pub mod log;
#[cfg(feature = "log")]
pub mod vault;
