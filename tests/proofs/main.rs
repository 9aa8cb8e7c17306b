//! Proofs that memlog does not lose, invent or leak: whole questions, each asked of everything that there is to ask, at the real door.

#[path = "../support/mod.rs"]
mod support;

mod input;
mod isolation;
