//! Proofs that memlog does not lose, invent or leak: whole questions, each asked of everything that there is to ask.

#[path = "../support/mod.rs"]
mod support;

mod input;
