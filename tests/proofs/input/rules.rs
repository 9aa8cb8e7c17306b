//! What the documentation says of each field, by its name: `text` of texts, `range` of numbers. A path has no indices here:
//! `messages.role` is the role of each message.

use memlog_actors::limits::*;

/// What a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Text {
    /// Kept or asked as it is, whatever characters are in it; at most so many bytes.
    Free(usize),
    /// Simple HTML of at most so many bytes.
    Html(usize),
    /// A name or an id: at most so many characters, none of them a control character.
    Name(usize),
    /// The same of `[A-Za-z0-9._-]`.
    Token(usize),
    /// One of a few, or of a form of its own: another text is none.
    Formed,
}

/// Objects whose fields are the client's own.
const OPEN: [&str; 4] = ["metadata", "link_metadata", "metadata_filter", "min_relevant_results_by_type"];

/// Whether the fields under it are the client's own.
pub(crate) fn is_open(path: &str) -> bool {
    OPEN.contains(&last(path))
}

fn last(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or_default()
}

/// The rule of a text. A new field of a request has none until somebody writes one.
pub(crate) fn text(verb: &str, path: &str) -> Option<Text> {
    let noun = verb.split('.').next().unwrap_or_default();
    Some(match (noun, last(path)) {
        ("thread", "role") => Text::Name(ROLE_CHARS_MAX),
        ("profile", "role") => Text::Formed,
        ("note", "name") => Text::Name(NOTE_NAME_CHARS_MAX),
        ("note", "body") => Text::Html(CONTENT_BYTES_MAX),
        ("agent", "name") => Text::Name(AGENT_CHARS_MAX),
        (_, "name") => Text::Token(NOTEBOOK_CHARS_MAX),
        ("thread", "description") => Text::Free(CONTENT_BYTES_MAX),
        (_, "description" | "info") => Text::Name(DESCRIPTION_CHARS_MAX),
        (_, "profile") => Text::Name(PROFILE_CHARS_MAX),
        (_, "speaker") => Text::Name(SPEAKER_CHARS_MAX),
        (_, "content" | "user" | "assistant" | "text" | "instructions") => Text::Free(CONTENT_BYTES_MAX),
        (_, "custom_instructions") => Text::Free(INSTRUCTIONS_BYTES_MAX),
        (_, "query") => Text::Free(QUERY_BYTES_MAX),
        (_, "entry") => Text::Name(ENTRY_CHARS_MAX),
        (_, "category") => Text::Name(CATEGORY_CHARS_MAX),
        (_, "kind_key") => Text::Token(NOTEBOOK_CHARS_MAX),
        (_, "title") => Text::Name(NOTE_KIND_TITLE_CHARS_MAX),
        (_, "group" | "login" | "user_filter") => Text::Name(LOGIN_CHARS_MAX),
        (_, "relation_type" | "opposite_relation_type" | "link_type") => Text::Name(LABEL_CHARS_MAX),
        (_, "id" | "session_id" | "thread_id" | "memory_id" | "user_id" | "agent_id" | "message_id" | "image_id") => {
            Text::Name(ID_CHARS_MAX)
        }
        (_, "relation_id" | "record_id" | "source_record_id" | "target_record_id" | "link_id" | "job_id") => {
            Text::Name(ID_CHARS_MAX)
        }
        (_, "memory_id_to_link" | "scope_thread_id" | "included_image_ids" | "skip_ids" | "memory" | "agent") => {
            Text::Name(ID_CHARS_MAX)
        }
        (_, "inherit_message_metadata") => Text::Free(METADATA_BYTES_MAX),
        (_, "timestamp" | "link_timestamp" | "reference_date" | "before" | "time") => Text::Formed,
        (_, "type" | "types" | "memory_type" | "record_types" | "source_record_type" | "target_record_type") => {
            Text::Formed
        }
        (_, "status" | "thinking_level" | "response_length" | "mode" | "ttl_anchor" | "mime_type" | "format") => {
            Text::Formed
        }
        (_, "level" | "state" | "cursor" | "hash" | "image" | "bytes") => Text::Formed,
        _ => return None,
    })
}

/// A number's bounds, and whether it may have a fraction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Range {
    pub(crate) min: f64,
    pub(crate) max: f64,
    pub(crate) whole: bool,
}

const fn whole(min: u64, max: u64) -> Range {
    Range { min: min as f64, max: max as f64, whole: true }
}

/// Positions and versions: as many as there may ever be.
const COUNT: Range = Range { min: 0.0, max: f64::INFINITY, whole: true };
/// Budgets and places from the end: any whole number means something.
const SIGNED: Range = Range { min: f64::NEG_INFINITY, max: f64::INFINITY, whole: true };
const DAYS: Range = Range { min: 1.0, max: TTL_DAYS_MAX, whole: false };
const SECONDS: Range = Range { min: 0.0, max: WAIT_S_MAX, whole: false };

/// The rule of a number.
pub(crate) fn range(verb: &str, path: &str) -> Option<Range> {
    Some(match (verb, last(path)) {
        ("profile.search" | "profile.recall" | "memory.search", "limit") => whole(1, HITS_MAX),
        (_, "limit") => whole(1, PAGE_MAX),
        (_, "max_results") => whole(1, HITS_MAX),
        (_, "num_hops") => whole(0, HOPS_MAX),
        (_, "max_linked_results") => whole(0, LINKED_MAX),
        (_, "fallback_message_count") => whole(0, CARD_MESSAGES_MAX),
        (_, "max_relevant_results") => whole(0, HITS_MAX),
        (_, "max_recent_messages" | "except_last_messages") => whole(0, CARD_RECENT_MAX),
        (_, "ttl_days" | "default_ttl_days" | "max_ttl_days") => DAYS,
        (_, "timeout_s" | "timeout") => SECONDS,
        (_, "context_card_type_search_concurrency") => whole(1, 64),
        // Or -1, which leaves it to memlog.
        (_, "window" | "frequency") => Range { min: -1.0, ..whole(0, INGEST_MESSAGES_MAX as u64) },
        (_, "seq" | "from_seq" | "version" | "id" | "ids" | "except_last" | "start") => COUNT,
        (_, "end") => Range { min: -1.0, ..COUNT },
        (_, "token_limit" | "summary_frequency" | "token_budget" | "soft_token_budget") => SIGNED,
        (_, "max_message_tokens" | "context_card_token_limit" | "message_shortening_input_token_limit") => SIGNED,
        _ => return None,
    })
}
