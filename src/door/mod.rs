//! The NATS door: bytes and headers in, calls of the system out, and the change feed.
//!
//! One table names every verb; the rest does not know one from another. Bytes of the wire end here: the system sees
//! request structs and a context, and hands back reply structs or an error of the API. Nothing here decides anything
//! about memories.

pub mod calls;
pub mod connect;
pub mod decode;
pub mod feed;
pub mod headers;
pub mod ids;
pub mod nats;
pub mod reply;
mod requests;
mod service;
mod shares;
pub mod table;

pub use connect::{Error, Options};
pub use nats::{NatsDoor, Watch};

/// The name in the NATS Services API, and the queue group of its subscriptions.
pub const SERVICE: &str = "memlog";
/// What every subject begins with.
pub const PREFIX: &str = "memlog.v1";
/// Nested values in a request. Real metadata is a few levels deep; past this it is an attack on the stack.
pub const DEPTH_MAX: usize = 64;
/// A caller's user, agent, session, or one of its groups: long enough for addresses and URLs of identity providers.
pub const CALLER_CHARS_MAX: usize = 256;
/// Groups of one caller.
pub const GROUPS_MAX: usize = 100;
/// An idempotency key.
pub const KEY_BYTES_MAX: usize = 256;
/// The message in the error header; the body has all of it.
pub const HEADER_MESSAGE_BYTES_MAX: usize = 512;
/// Request bodies under way at once, in KiB: eight of the largest that memlog's own NATS configuration lets pass.
pub const BODIES_KIB_MAX: usize = 256 * 1024;
/// Reads that work at once and ask no model. Nearly each is the processor's for its milliseconds, so more would only be late together;
/// what waits takes turns.
pub const READS_WORKING_MAX: usize = 64;
/// Reads that work at once and ask a model: as many, in turns of their own, since each waits for the model where it is slow, up to
/// `limits.embed_wait_ms_max` for what it asks, and as long again for an event that dates it.
pub const QUESTIONS_WORKING_MAX: usize = READS_WORKING_MAX;
/// Commands that work at once: they wait for one commit together, and a profile alone, with a third of them, still fills it.
pub const COMMANDS_WORKING_MAX: usize = 384;
/// A body above this is decoded on a thread for blocking work, so that other calls are not held up.
pub const DECODE_INLINE_BYTES_MAX: usize = 256 * 1024;
/// When a client may try again after being shed: a call takes milliseconds.
pub const SHED_RETRY_MS: u64 = 100;
/// When a client may try again whose turn did not come: whoever held the turns has held them for `limits.turn_wait_ms_max`.
pub const TURN_RETRY_MS: u64 = 1_000;
/// When a client may try again while memlog shuts down: a restart takes about this.
pub const RESTART_RETRY_MS: u64 = 2_000;
