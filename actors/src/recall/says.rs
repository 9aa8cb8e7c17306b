//! What a text has to offer, as far as a few bits can say: they are worked out once, when it is stored, so that ranking needs no text.

use jiff::civil::Date;
use unicode_segmentation::UnicodeSegmentation;

use super::{
    asked::{counts, may_count},
    words::asks,
};
use crate::extract::dates;

/// A few bits about a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Says {
    /// It ends in a question.
    pub asks: bool,
    /// It names a day or a stretch of time, "last week" included.
    pub dated: bool,
    /// It has a number.
    pub counts: bool,
}

impl Says {
    /// Of a text that was said on a day.
    pub fn of(text: &str, day: Date) -> Self {
        let counts = may_count(text) && text.unicode_words().any(|word| counts(&word.to_lowercase()));
        Self { asks: asks(text), dated: dates::find(text, day).is_some(), counts }
    }
}
