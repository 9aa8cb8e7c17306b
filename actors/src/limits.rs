//! Every limit in one place, each with its default and why. The unit is the last word of the name.
//!
//! Constants are the API's promises to clients; [`Limits`] is what an operator may set.

use serde::{Deserialize, Serialize};

/// Messages in one ingest: what fits in one batch of the log.
pub const INGEST_MESSAGES_MAX: usize = 500;
/// A message's text, and a record's.
pub const CONTENT_BYTES_MAX: usize = 32_768;
/// A record's metadata as JSON.
pub const METADATA_BYTES_MAX: usize = 16_384;
/// A query.
pub const QUERY_BYTES_MAX: usize = 1_024;
/// A session's (thread's) id, and any id that a client gives.
pub const ID_CHARS_MAX: usize = 64;
/// A memory's (notebook's) name.
pub const NOTEBOOK_CHARS_MAX: usize = 64;
/// An agent's name.
pub const AGENT_CHARS_MAX: usize = 64;
/// An entry's name.
pub const ENTRY_CHARS_MAX: usize = 128;
/// The one line that says what a memory or an entry holds: an agent is shown all of them at every turn.
pub const DESCRIPTION_CHARS_MAX: usize = 1_024;
/// Memories that an agent attaches besides its own.
pub const ATTACHED_MAX: usize = 10;
/// How long a deleted memory lies in the trash.
pub const TRASH_DAYS: i64 = 30;
/// What notes are grouped by.
pub const CATEGORY_CHARS_MAX: usize = 128;
/// A note's name.
pub const NOTE_NAME_CHARS_MAX: usize = 128;
/// A login or a group that a note is for: what the headers of a call take.
pub const LOGIN_CHARS_MAX: usize = 256;
/// Tags in tags in the body of a note: browsers and readers of Markdown stop following much later.
pub const NOTE_DEPTH_MAX: usize = 16;
/// Notes loaded at once.
pub const NOTE_IDS_MAX: usize = 500;
/// The bodies of notes loaded at once. What was loaded counts as read, so a reply must not be lost for its size: this fits into the
/// 1 MB that a NATS server takes when nobody set it up otherwise.
pub const NOTES_LOADED_BYTES_MAX: usize = 512 << 10;
/// Kinds of notes that a namespace adds.
pub const NOTE_KINDS_MAX: u64 = 100;
/// A kind's title.
pub const NOTE_KIND_TITLE_CHARS_MAX: usize = 128;
/// Sessions of one login; past it the oldest ends. They end for no other reason, and each takes some hundred bytes for ever.
pub const SESSIONS_MAX: usize = 1_000;
/// How long an editor that says nothing keeps the notes.
pub const EDITOR_LEASE_S: i64 = 60;
/// A profile's name.
pub const PROFILE_CHARS_MAX: usize = 100;
/// A namespace: a token of a NATS subject.
pub const NAMESPACE_CHARS_MAX: usize = 32;
/// A speaker's name.
pub const SPEAKER_CHARS_MAX: usize = 80;
/// A page of a list.
pub const PAGE_MAX: u64 = 500;
/// A page of a list when the client does not say.
pub const PAGE_DEFAULT: u64 = 20;
/// Ids that a page of one speaker's memories may leave out: more than one commit holds, so more than share an instant.
pub const SKIP_IDS_MAX: usize = 10_000;
/// A summary made without a language model: some 16,000 tokens, what an agent can begin a session with.
pub const SUMMARY_CHARS_MAX: usize = 65_536;
/// A thread's summary made without a language model: some 1,000 tokens.
pub const THREAD_SUMMARY_CHARS_MAX: usize = 4_000;
/// Newest messages that such a summary looks at: some 100 milliseconds of reading.
pub const THREAD_SUMMARY_MESSAGES_MAX: usize = 2_000;
/// How long `thread.get_summary` waits for a model; past it the summary is made without.
pub const NARRATION_S_MAX: u64 = 60;
/// Newest messages that the query of a context card is made from, when the client does not say.
pub const CARD_MESSAGES_DEFAULT: u64 = 5;
/// The most of them: more than a query of its length has room for.
pub const CARD_MESSAGES_MAX: u64 = 100;
/// Relevant results of a context card, when the client does not say.
pub const CARD_RESULTS_DEFAULT: u64 = 5;
/// Messages that a context card shows or leaves out.
pub const CARD_RECENT_MAX: u64 = 500;
/// Hits of a search.
pub const HITS_MAX: u64 = 100;
/// Hits of a search when the client does not say.
pub const HITS_DEFAULT: u64 = 10;
/// Types named in one filter: more than there are.
pub const TYPES_MAX: usize = 100;
/// A filter over metadata as JSON: as much as there is to match.
pub const METADATA_FILTER_BYTES_MAX: usize = METADATA_BYTES_MAX;
/// Links followed from a hit.
pub const HOPS_MAX: u64 = 5;
/// Records reached by links from one hit, when the client does not say.
pub const LINKED_DEFAULT: u64 = 100;
/// Records reached by links from one hit.
pub const LINKED_MAX: u64 = 1_000;
/// Texts and images of one reply: what the largest message of NATS holds. More is refused before it is read.
pub const REPLY_BYTES_MAX: u64 = 32 << 20;
/// Messages of a thread shown when the client does not say which.
pub const MESSAGES_DEFAULT: usize = 100;
/// The label of a client's own type of link.
pub const LABEL_CHARS_MAX: usize = 64;
/// A message's role of the client's own.
pub const ROLE_CHARS_MAX: usize = 64;
/// What a model says about an image.
pub const CAPTION_CHARS_MAX: usize = 500;
/// How long one request waits for captions, however many images it has; clients of NATS wait some 30 s.
pub const CAPTIONS_WAIT_MAX: std::time::Duration = std::time::Duration::from_secs(20);
/// Parts of a message.
pub const PARTS_MAX: usize = 100;
/// What a model is told besides its own orders.
pub const INSTRUCTIONS_BYTES_MAX: usize = 8_192;
/// Keys of metadata that memories take over from messages.
pub const INHERITED_KEYS_MAX: usize = 100;
/// How long `wait` waits when the client does not say.
pub const WAIT_S_DEFAULT: f64 = 30.0;
/// How long `thread.wait_for_memory_extraction` waits when the client does not say.
pub const EXTRACTION_WAIT_S_DEFAULT: f64 = 300.0;
/// The longest wait: past it a client should ask again.
pub const WAIT_S_MAX: f64 = 3_600.0;
/// A time to live: a hundred years, so that no sum of times overflows.
pub const TTL_DAYS_MAX: f64 = 36_500.0;

/// What an operator may set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Speakers a profile may register.
    pub speakers_max: u64,
    /// Entities awake at once. An idle one costs about 7 KB besides its state.
    pub entities_awake_max: usize,
    /// How long an entity may idle before it sleeps.
    pub entity_idle_ms_max: u64,
    /// Streams replayed at once: replay is CPU and page cache, and more only evict each other.
    pub replays_max: usize,
    /// Memory for the views of all loaded profiles; past it idle ones are dropped, then reads are refused by name.
    pub memory_budget_bytes: u64,
    /// How long a profile's views may idle before they are dropped.
    pub views_idle_ms_max: u64,
    /// Memory for the views of registries and notebooks; past it the longest unused are dropped. They are small and quickly
    /// made again.
    pub notebooks_budget_bytes: u64,
    /// Views of the past kept for further reads as of the same position.
    pub past_views_max: usize,
    /// How long a search waits for the profile's pending chunks to be embedded before it is 504.
    pub embed_wait_ms_max: u64,
    /// Threads that embed, questions and what is stored together; at most half of them, rounded up, what is stored.
    pub embed_threads: usize,
    /// Questions that wait for the embedding model at once; past it `unavailable_error`. As many as a door has calls under way.
    pub embed_queries_max: usize,
    /// Questions whose vectors are remembered, in memory alone; 0 remembers none.
    pub query_cache_entries_max: usize,
    /// Memory for them: some 1.7 KB each.
    pub query_cache_bytes_max: u64,
    /// How long one is remembered after it was last asked: a question is what somebody typed, and not kept for longer than a
    /// conversation pauses.
    pub query_cache_idle_ms_max: u64,
    /// Extractions running at once in this process.
    pub workers: usize,
    /// Tries before a job is failed. With the waits between them it takes some four minutes, as long as a model may be away.
    pub job_attempts_max: u32,
    /// How long the deletion of a message or memory waits for extraction accepted before it.
    pub delete_wait_ms_max: u64,
    /// An image.
    pub image_bytes_max: u64,
    /// An image's width times its height: what it takes to look at one is memory by the pixel, however small its file is.
    pub image_pixels_max: u64,
    /// Calls under way at once in a door; past it `unavailable_error`.
    pub calls_max: usize,
    /// How long such a call waits for its turn to work; past it `unavailable_error`, and nothing was done.
    pub turn_wait_ms_max: u64,
    /// Events after the last snapshot at which a sleeping stream leaves one: below, replay costs less than a snapshot saves.
    pub snapshot_every_events: u64,
    /// How long a clock that jumped ahead by more than an hour must stand by it before what has expired by it is erased for
    /// good: as long as it takes a time server to set it right. 0 believes it at once.
    pub clock_jump_wait_ms: u64,
}

/// A limit with which nothing could work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("limits.{field} must be at least {min}")]
pub struct TooLow {
    /// Which.
    pub field: &'static str,
    /// The least that works.
    pub min: u64,
}

impl Limits {
    /// Refuses limits with which nothing could work. No workers is a choice: jobs then wait for workers elsewhere, or for later.
    pub fn check(&self) -> Result<(), TooLow> {
        let least = [
            ("entities_awake_max", self.entities_awake_max as u64, 1),
            ("replays_max", self.replays_max as u64, 1),
            ("memory_budget_bytes", self.memory_budget_bytes, 1),
            ("past_views_max", self.past_views_max as u64, 1),
            ("embed_wait_ms_max", self.embed_wait_ms_max, 1),
            ("embed_threads", self.embed_threads as u64, 1),
            ("embed_queries_max", self.embed_queries_max as u64, 1),
            ("job_attempts_max", u64::from(self.job_attempts_max), 1),
            ("image_bytes_max", self.image_bytes_max, 1),
            ("image_pixels_max", self.image_pixels_max, 1),
            ("calls_max", self.calls_max as u64, 1),
            ("turn_wait_ms_max", self.turn_wait_ms_max, 1),
            ("snapshot_every_events", self.snapshot_every_events, 1),
        ];
        match least.into_iter().find(|(_, value, min)| value < min) {
            Some((field, _, min)) => Err(TooLow { field, min }),
            None => Ok(()),
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            speakers_max: 50,
            entities_awake_max: 10_000,
            entity_idle_ms_max: 60_000,
            replays_max: 8,
            memory_budget_bytes: 1 << 30,
            notebooks_budget_bytes: 256 << 20,
            views_idle_ms_max: 600_000,
            past_views_max: 8,
            embed_wait_ms_max: 30_000,
            embed_threads: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
            embed_queries_max: 1_024,
            query_cache_entries_max: 2_000,
            query_cache_bytes_max: 4 << 20,
            query_cache_idle_ms_max: 600_000,
            workers: 1,
            job_attempts_max: 12,
            delete_wait_ms_max: 300_000,
            image_bytes_max: 10 << 20,
            image_pixels_max: 40_000_000,
            calls_max: 1_024,
            turn_wait_ms_max: 30_000,
            snapshot_every_events: 2_000,
            clock_jump_wait_ms: 600_000,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Limits;

    // A server that starts and then refuses everything tells nobody why.
    #[test]
    fn what_could_never_work_is_named() {
        assert_eq!(Limits::default().check(), Ok(()));
        assert_eq!(Limits { workers: 0, speakers_max: 0, ..Limits::default() }.check(), Ok(()));
        let refused = Limits { calls_max: 0, ..Limits::default() }.check().expect_err("refused");
        assert_eq!(refused.to_string(), "limits.calls_max must be at least 1");
        assert!(Limits { memory_budget_bytes: 0, ..Limits::default() }.check().is_err());
    }
}
