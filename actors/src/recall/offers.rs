//! What a text has to offer to a question that wants a date or a number.

use jiff::civil::Date;
use unicode_segmentation::UnicodeSegmentation;

use super::asked::{counts, may_count};
use crate::extract::dates;

/// A few bits about a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offers {
    /// It names a day or a stretch of time, "last week" included.
    pub dated: bool,
    /// It has a number.
    pub counts: bool,
}

impl Offers {
    /// Of a text that was said on a day. Takes longer than all else of indexing a text, and few questions ask for it.
    pub fn of(text: &str, day: Date) -> Self {
        let counts = may_count(text) && text.unicode_words().any(|word| counts(&word.to_lowercase()));
        Self { dated: dates::find(text, day).is_some(), counts }
    }
}
