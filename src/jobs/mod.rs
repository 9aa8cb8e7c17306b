//! Extraction jobs over NATS: the queue that carries them (JetStream), the desk where workers get texts and leave results
//! (core NATS), and the workers themselves, in this process or in `memlog worker` on any host.
//!
//! JetStream holds ids and codes alone. It may lose everything: the log knows what is unfinished, and hands it out again.
//! Nothing here decides anything about memories; `memlog_actors::jobs` does, behind the traits of `port`.
//!
//! | subject | what |
//! |---|---|
//! | `memlog.jobs.v1.extract` | captured by the stream `memlog-jobs`, a work queue; its one consumer is `workers` |
//! | `memlog.dead.v1.<job>` | captured by the stream `memlog-dead`: jobs that failed for good, 30 days |
//! | `memlog.worker.v1.fetch`, `.session`, `.complete`, `.fail` | requests of workers to the node, outside of every tenant's subjects |

mod counted;
mod desk;
mod queue;
mod remote;
mod streams;
mod workers;

pub use counted::WorkersLoad;
pub use desk::DeskDoor;
pub use queue::JetQueue;
pub use workers::{PARALLEL_MAX, Workers, WorkersWatch};

/// Where the requests of workers go.
const DESK: &str = "memlog.worker.v1";
