//! From a question to ranked hits, an answer, a summary and a context card, without a language model. Pure code: it sees documents
//! through [`Corpus`] and plain structs; no actor, no clock, no log and no network enters here.
//!
//! The ranking adds the standard scores (z-scores) of the keyword and the vector search and then lets the conversation
//! speak: an answer follows its question, a session that matches once is likely to match again, and a name or a date in
//! the question points at who said it and when. [`weights`] says what each of these counts.

pub mod answer;
mod asked;
pub mod asking;
mod candidates;
pub mod card;
mod clause;
mod corpus;
mod fold;
mod offers;
mod parts;
mod question;
mod quotable;
mod rank;
mod structure;
pub mod summary;
#[cfg(test)]
mod tests;
pub mod topics;
pub mod transcript;
mod weights;
mod words;

pub use clause::Relative;
pub use corpus::{Corpus, Doc, Hit};
pub use offers::Offers;
pub use parts::parts;
pub use question::{DateSpan, Precision, Question, matter};
pub use rank::{Breadth, among_parts, rank};
pub(crate) use words::sentences;
pub use words::{asks, one_line};

/// Cosine of all-MiniLM-L6-v2 below which a document that shares no word with the question is held to be about
/// something else. Measured on LoCoMo: the nearest of a conversation's own turns was above it for each of its 1,986
/// questions (lowest 0.305, median 0.65), and below it for 28 % of them when they were asked of a stranger's
/// conversation (median 0.35). It belongs to this model alone; another one's cosines may all lie higher.
pub const MINILM_COSINE_FLOOR: f32 = 0.30;
