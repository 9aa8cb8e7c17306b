//! What ranking needs to know of the documents, as one question sees them.

use jiff::Timestamp;

use super::offers::Offers;

/// A document that was found, and how well it matches; greater is better.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// The document's number in its profile.
    pub doc: u32,
    /// Of one leg BM25 or the cosine; of the whole what [`super::rank`] says.
    pub score: f32,
}

/// The few fixed facts of a record or a raw message that ranking uses.
#[derive(Clone, Debug, PartialEq)]
pub struct Doc {
    /// The thread it belongs to, if any.
    pub thread: Option<u32>,
    /// A raw message; else a record.
    pub is_message: bool,
    /// Said by the assistant as such: role `assistant` without a speaker's name, or tagged `me`. False between people,
    /// whatever their roles are called.
    pub from_assistant: bool,
    /// Who said it: an index as in [`Corpus::speakers`].
    pub speaker: Option<u32>,
    /// When it happened, if that is known, else when it was said.
    pub at: Timestamp,
    /// The text ends in a question.
    pub asks: bool,
    /// Its length in terms.
    pub terms: u32,
    /// For a record: the messages that it was made from.
    pub sources: Vec<u32>,
}

/// A profile's documents as one question and one filter see them: the query is already bound into both searches.
pub trait Corpus {
    /// The facts of `doc`; `None` when it is gone, expired or of another tenant: such a document has no influence at
    /// all.
    fn doc(&self, doc: u32) -> Option<Doc>;

    /// Whether the request's filter lets `doc` be listed. A message that is filtered out still tells about its
    /// neighbours.
    fn admits(&self, doc: u32) -> bool;

    /// The message `offset` places away in the same thread, in order of arrival.
    fn beside(&self, doc: u32, offset: i32) -> Option<u32>;

    /// The admitted records that `doc` is linked to, in the order of the links.
    fn linked(&self, doc: u32) -> Vec<u32>;

    /// Index and name of everyone who may be named in a question.
    fn speakers(&self) -> Vec<(u32, String)>;

    /// What these documents say, in their order; one that says nothing, or cannot be read now, is left out.
    fn texts(&self, docs: &[u32]) -> Vec<String>;

    /// What a document's text has to offer to who wants a date or a number; nothing, if it cannot be read now.
    fn offers(&self, doc: u32) -> Offers;

    /// How rare a word is among the documents.
    fn rarity(&self, word: &str) -> f32;

    /// The same documents, filter and vectors, searched for other words.
    fn with_words(&self, words: &str) -> Self
    where
        Self: Sized;

    /// The best admitted documents by keyword, best first, none with a score of zero.
    fn keyword_best(&self, limit: usize) -> Vec<Hit>;

    /// The keyword score of any document, zero when no word is shared.
    fn keyword_score(&self, doc: u32) -> f32;

    /// The nearest admitted documents by vector, nearest first; `None` without a model.
    fn vector_best(&self, limit: usize) -> Option<Vec<Hit>>;

    /// The cosine of any document; `None` without a model or a vector.
    fn vector_score(&self, doc: u32) -> Option<f32>;

    /// Whether the model has learnt the question's language.
    fn reads_question(&self) -> bool {
        true
    }

    /// Cosine from which a document is about the question even if they share no word. It belongs to the model.
    fn cosine_floor(&self) -> f32;
}
