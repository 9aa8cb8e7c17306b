//! Who decides, who remembers: the pure domain, the actors around it, the views, recall, and the ports that the doors fill.
//!
//! Knows no NATS, no HTTP, no bytes of the wire and no model file; those are the doors' business in the root package.
//!
//! The rooms, in the order in which a call walks through them:
//!
//! - `api`: requests, replies and errors, one struct a verb.
//! - `system`: every verb as a method, one family a file; starting, stopping, housekeeping, the change feed.
//! - `entity`: one actor a stream, its only writer, and the directory of those awake.
//! - `domain`: the rules, pure: what a command decides, how an event changes the state.
//! - `view`: what answers reads (catalog, keyword, vector; registries and notebooks), folded from the log.
//! - `recall`: from a question to ranked hits, an answer, a summary; pure.
//! - `same`: whether two statements say the same; pure.
//! - `extract`: memories out of messages without a model; pure.
//! - `telling`: which of several languages words tell of, for the two before; pure.
//! - `image`: what the bytes of an image are, and whether they decode; pure.
//! - `jobs`: the outbox, the queue, the desk and the workers of extraction.
//! - `turns`: whose turn it is where many wait; pure.
//! - `port`: the traits that the doors fill; `limits`: every bound, with its reason.
//! - `bench`: what measurements are made of.
//!
//! To add:
//!
//! - a **command**: `domain/<aggregate>/<verb>.rs` with the struct, `decide` and its given/when/then tests; `system` brings
//!   it to its stream.
//! - a **verb**: the request and the reply in `api/<noun>`, a method of the same name in `system/<family>.rs`, a row in
//!   `src/door/table.rs`.
//! - an **event**: begin in `events/src/lib.rs`; then fold it in the `evolve` of its aggregate and in `view/catalog/fold.rs`.
//! - a **view**: a folder in `view`, a field of `view::State` that is folded beside the catalog, and its bytes counted there.
//! - a **limit**: a line in `limits.rs`, and its check in `system/validate.rs`.

pub mod api;
pub mod bench;
mod blocking;
pub mod domain;
pub mod entity;
pub mod extract;
pub mod image;
mod in_use;
pub mod jobs;
pub mod limits;
pub mod port;
pub mod recall;
pub mod same;
pub mod system;
mod telling;
pub mod turns;
pub mod view;
