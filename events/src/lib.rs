//! What happened: ids, event structs, the codec, the redb log and the key vault.
//!
//! Knows no rule, no actor and no network. Without the `log` feature it is plain data, so that a client never builds
//! redb.
//!
//! The rooms: `ids` and `code` are the words that facts are written in; `event` holds the frozen structs, `codec` turns them
//! into bytes and back, `head` is what can be read without them; `batch` is what a writer asks for; `log` keeps it, and
//! `vault` keeps the keys; `bench` makes up what measurements write. The bytes are drawn in `events/README.md`.
//!
//! To add an event:
//!
//! 1. `event/<family>.rs`: a struct `<PastTense>V1` of plain facts, and a `<PastTense>ContentV1` if a person could mind any of
//!    it.
//! 2. `event/mod.rs`: a row in `events!` with a number never used before; `erases`, `expiry` and `Content::by` if it
//!    condemns, expires or has content.
//! 3. `codec.rs`: a row in `facts!`, and one in `contents!`.
//! 4. `tests/samples`: one of it with every field filled; then write its golden file as `tests/golden.rs` says.
//!
//! To change one: a struct with the next version, a `From` of the old one, both on its row in `codec.rs`. What was released
//! is never edited.

pub mod batch;
#[cfg(feature = "log")]
pub mod bench;
pub mod code;
pub mod codec;
pub mod event;
pub mod head;
pub mod ids;
#[cfg(feature = "log")]
pub mod log;
#[cfg(feature = "log")]
mod trouble;
#[cfg(feature = "log")]
pub mod vault;
