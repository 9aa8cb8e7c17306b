//! Every bound of the log, in one place.

/// Bounds; the defaults suit one node of any size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Events of one batch. An ingest may bring 500 messages, and a forget may touch some thousand subjects in one
    /// event.
    pub batch_events_max: usize,
    /// Bytes of one batch before sealing: 500 messages of 32 KB with as much again for metadata.
    pub batch_bytes_max: usize,
    /// Batches that wait for the writer. Past it `submit` hands the batch back.
    pub queue_batches_max: usize,
    /// Bytes that wait for the writer, so that a flood of large batches does not eat the memory.
    pub queue_bytes_max: usize,
    /// Events of one commit. A commit costs 150 us and 4 us an event: past a few thousand only latency grows.
    pub group_events_max: usize,
    /// Bytes of one commit (a single larger batch goes alone).
    pub group_bytes_max: usize,
    /// A sealed content above this lies in a file of its own, so that replay does not carry images along.
    pub inline_bytes_max: usize,
    /// Events of one page, whatever the caller asks for.
    pub page_events_max: usize,
    /// Bytes of one page; a page ends early past it, but never empty.
    pub page_bytes_max: usize,
    /// Memory of the page store's cache.
    pub cache_bytes_max: usize,
    /// Streams whose tip the writer remembers (about 90 bytes each).
    pub tips_max: usize,
    /// Rows that one step of `sweep` or `purge` touches, so that appends wait for milliseconds at most.
    pub step_rows_max: usize,
    /// Milliseconds between two tries of a log whose disk took no write: soon enough that nobody restarts it.
    pub retry_ms: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            batch_events_max: 2_048,
            batch_bytes_max: 32 << 20,
            queue_batches_max: 16_384,
            queue_bytes_max: 96 << 20,
            group_events_max: 8_192,
            group_bytes_max: 32 << 20,
            inline_bytes_max: 64 << 10,
            page_events_max: 4_096,
            page_bytes_max: 8 << 20,
            cache_bytes_max: 128 << 20,
            tips_max: 65_536,
            step_rows_max: 1_000,
            retry_ms: 500,
        }
    }
}

/// How long a command is remembered by its idempotency key.
pub const REMEMBERED_HOURS: i64 = 24;

pub(super) const HOUR_MICROS: i64 = 3_600_000_000;
