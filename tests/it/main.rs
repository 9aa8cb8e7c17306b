//! Whole-system proofs through a real NATS server: what a client of any language sees.

#[path = "../support/mod.rs"]
mod support;

mod client;
mod door;
mod drain;
