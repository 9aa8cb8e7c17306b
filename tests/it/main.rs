//! Whole-system proofs: the binary, and memlog through a real NATS server, as a client of any language sees it.

#[path = "../support/mod.rs"]
mod support;

mod attribution;
mod backups;
mod cli;
mod client;
mod door;
mod drain;
mod duplicates;
mod jobs;
mod llm;
mod notebooks;
mod notes;
mod operators;
mod paging;
mod people;
mod speakers;
mod summaries;
mod threads;
#[cfg(feature = "otlp")]
mod traces;
