//! Crash proofs: the built binary as a process of its own, killed at the worst moment and started again on the same
//! folder. What it promised before must hold afterwards, seen through its doors alone.

#[path = "../support/mod.rs"]
mod support;

mod grep;
mod load;
mod world;

mod changing;
mod forgetting;
mod rebuilding;
mod refusing;
mod soaking;
mod tampering;
mod terminating;
mod working;
mod writing;
