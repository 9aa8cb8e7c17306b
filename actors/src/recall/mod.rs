//! From a question to ranked hits, an answer and a summary, without a language model. Pure code: it sees documents
//! through [`Corpus`] and plain structs; no actor, no clock, no log and no network enters here.
//!
//! The ranking adds the standard scores (z-scores) of the keyword and the vector search and then lets the conversation speak: an answer
//! follows its question, a session that matches once is likely to match again, and a name or a date in the question
//! points at who said it and when.

pub mod answer;
mod candidates;
mod corpus;
mod fold;
mod question;
mod rank;
mod structure;
pub mod summary;
#[cfg(test)]
mod tests;
mod words;

pub use corpus::{Corpus, Doc, Scored};
pub use question::{DateSpan, Precision, Question};
pub use rank::{Breadth, Hit, rank};
pub use words::asks;

/// Best cosine with all-MiniLM-L6-v2 below which a question that shares no word with anything is held to match nothing.
/// See [`Corpus::cosine_floor`] for how it was chosen.
pub const MINILM_COSINE_FLOOR: f32 = 0.30;
