//! The doors: what turns NATS, JSON, the command line and model files into calls of `memlog-actors`. No rule about
//! memories lives here, and nothing outside this package knows that these technologies exist.
//!
//! The rooms: `door` is the API on NATS, and `client` its other side; `nats` the nats-server that memlog can bring along;
//! `jobs` the queue and the workers of extraction; `cli` the command line; `embed` the embedding model; `llm` the language
//! model; `ops` the port of operators and `control` the socket of who has the data folder; `serve` opens and closes all that serves, until one of the `signals`.
//!
//! To add a verb to the door: a row in `door/table.rs` (the verb itself begins in `actors/src/api`). To add a command to
//! the command line: a file in `cli`, see its sign. To add another model, extractor or clock: implement the trait of
//! `memlog_actors::port`, and hand it to the system in `cli/backend.rs`.

pub mod cli;
pub mod client;
pub mod control;
pub mod door;
pub mod embed;
pub mod jobs;
pub mod llm;
pub mod nats;
pub mod ops;
pub mod serve;
mod signals;
