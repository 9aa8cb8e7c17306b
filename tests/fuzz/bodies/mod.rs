//! What the fuzz targets do with their bytes, one file a reader of untrusted input. Each takes any bytes, never panics over what is
//! wrong with them, and asserts what must hold of what was accepted and of what was refused.
//!
//! The same bodies run in two places: under libFuzzer (`deploy/fuzz`), and with bytes from a seed in `cargo test --test proofs`.
//!
//! To add one: a function `(&[u8])` here, its row in [`BODIES`], a file in `tests/fuzz/fuzz_targets` with its `[[bin]]`, and seeds
//! in `tests/fuzz/seeds`.

#![allow(unreachable_pub, reason = "targets and tests include this module as their own")]

mod conversations;
mod envelope;
mod filter;
mod request;

pub use conversations::{jsonl, locomo};
pub use envelope::{envelope, event};
pub use filter::filter;
pub use request::request;

/// A reader of untrusted bytes.
pub type Body = fn(&[u8]);

/// Every body under the name of its target.
pub const BODIES: [(&str, Body); 6] = [
    ("envelope", envelope),
    ("event", event),
    ("request", request),
    ("filter", filter),
    ("jsonl", jsonl),
    ("locomo", locomo),
];
