//! What a language's lists hold. All words are in lower case, as [`super::plain`] writes them.

/// The lists of one language that is written with spaces.
#[derive(Debug)]
pub(super) struct Lists {
    pub(super) name: &'static str,
    /// Letters that tell the language, none of them ASCII.
    pub(super) letters: &'static str,
    /// Small words that tell it.
    pub(super) telling: &'static [&'static str],
    /// Runs of words and what they are written as; in order, so that a later one sees what an earlier one wrote.
    pub(super) phrases: &'static [(&'static str, &'static str)],
    /// Groups of words of which each is written as the first.
    pub(super) synonyms: &'static [&'static str],
    /// Verbs by their base form, each written as the first of its group in the same tense.
    pub(super) verbs: &'static [&'static str],
    /// Left out, but for the last word of all: they carry no meaning of their own.
    pub(super) empty: &'static [&'static str],
    /// Small numbers as words.
    pub(super) numbers: &'static [(&'static str, &'static str)],
    /// Begin a part that may stand at the front or at the end.
    pub(super) openers: &'static [&'static str],
    /// Begin a clause; what stands after one belongs to it.
    pub(super) clauses: &'static [&'static str],
    /// Openers that say of whom or of what, not where: two such parts may change places.
    pub(super) relations: &'static [&'static str],
    /// Words of time: a part with one may stand anywhere.
    pub(super) times: &'static [&'static str],
    /// Beginnings of such words.
    pub(super) time_stems: &'static [&'static str],
    /// Join two that may change places.
    pub(super) ands: &'static [&'static str],
    /// What joins a thing to what it is of or for, and how the two are joined the other way round: `of`, and `'s`.
    pub(super) compounds: &'static [(&'static str, &'static str)],
    /// Verbs that take `somebody something` as well as `something to somebody`.
    pub(super) datives: &'static [&'static str],
    /// Helpers of the passive, and what they leave of the tense.
    pub(super) passive: &'static [(&'static str, &'static str)],
    /// Names the doer in the passive.
    pub(super) by: &'static [&'static str],
    /// First person against third: endings of the same verb.
    pub(super) persons: &'static [(&'static str, &'static str)],
    /// Whether "I" may be left out, the verb saying it.
    pub(super) drops_i: bool,
    /// What stands between thousands.
    pub(super) thousands: char,
}
