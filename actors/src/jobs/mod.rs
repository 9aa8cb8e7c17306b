//! Extraction jobs: `extraction_requested` in the log is the promise; the outbox hands it to a queue; workers keep it.
//!
//! The queue and the workers may be of this process or behind a network: `port` says what each side asks of the other. No
//! model and no network is known here.

pub(crate) mod desk;
mod line;
mod outbox;
mod prepare;
mod promises;
mod queue;
mod worker;

pub use line::Line;
pub(crate) use outbox::Outbox;
pub use promises::JobCounts;
pub(crate) use promises::Promises;
pub(crate) use queue::LocalQueue;
pub use worker::Worker;
