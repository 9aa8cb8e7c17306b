//! The keyword view: an inverted index of one profile, ranked by BM25 over that profile's own statistics.
//! It holds terms and counts, never a text, and never asks a model.
//!
//! [`analyse`] says what a term is; [`index`] keeps the postings; [`search`] ranks.

pub mod analyse;
mod index;
mod search;
mod stop;
#[cfg(test)]
mod tests;

pub use index::Keyword;
pub use search::{Bm25, Terms};
