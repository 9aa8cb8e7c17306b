//! Extraction jobs: `extraction_requested` in the log is the promise; the outbox hands it to a queue; workers keep it.

mod outbox;
mod queue;
mod worker;

pub(crate) use outbox::Outbox;
pub(crate) use queue::LocalQueue;
pub(crate) use worker::Worker;
