//! What every data set is read into: conversations, and questions whose evidence is known. A measurement sees only this.

use serde::{Deserialize, Serialize};

use super::Conversation;

/// What kind of question it is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(untagged)]
pub(in crate::cli) enum Category {
    /// LoCoMo's: 1 multi-hop, 2 temporal, 3 open-domain, 4 single-hop, 5 adversarial.
    Numbered(u32),
    /// Any other data set's, by its own name.
    Named(String),
}

/// LoCoMo's category that has no answer in the conversation; left out of the headline.
const ADVERSARIAL: Category = Category::Numbered(5);

impl Category {
    /// As LoCoMo's paper calls it, after the number of its data; or the name itself.
    pub(in crate::cli) fn name(&self) -> String {
        let name = match self {
            Self::Numbered(1) => "1 multi-hop",
            Self::Numbered(2) => "2 temporal",
            Self::Numbered(3) => "3 open-domain",
            Self::Numbered(4) => "4 single-hop",
            Self::Numbered(5) => "5 adversarial",
            Self::Numbered(other) => return other.to_string(),
            Self::Named(name) => name,
        };
        name.to_owned()
    }

    /// Whether the conversation was written to answer it.
    pub(in crate::cli) fn is_answerable(&self) -> bool {
        *self != ADVERSARIAL
    }
}

/// A question about a sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::cli) struct Question {
    /// Unique in the data set; begins with the sample's.
    pub(in crate::cli) id: String,
    /// Its words.
    pub(in crate::cli) text: String,
    /// What is expected; none for what the conversation does not tell.
    pub(in crate::cli) answer: Option<String>,
    /// Its kind.
    pub(in crate::cli) category: Category,
    /// The turns that answer it, each once, as [`turn`] names them; those that name no turn are left out.
    pub(in crate::cli) evidence: Vec<String>,
}

/// A conversation and the questions about it.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::cli) struct Sample {
    /// Its name, the profile's, too.
    pub(in crate::cli) id: String,
    /// What was said.
    pub(in crate::cli) conversation: Conversation,
    /// What is asked.
    pub(in crate::cli) questions: Vec<Question>,
}

/// A turn's name among those of all samples: `conv-26/D1:3`.
pub(in crate::cli) fn turn(sample: &str, message: &str) -> String {
    format!("{sample}/{message}")
}
