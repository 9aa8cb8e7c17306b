//! Every weight of the ranking, in one place; those of the sentences that an answer quotes stand in `answer`. They are round; what is added to a score is in units of one standard deviation of the
//! candidates' scores.
//!
//! They were chosen on five of LoCoMo's ten conversations (conv-26, conv-30, conv-41, conv-42, conv-43) by moving one at a time
//! over a coarse grid, and judged on the five others, where they found 80.6 % of the evidence within the first ten and the
//! weights before them 77.0 %. None looks at a word of the data: what they weigh are places, lengths and kinds of
//! statements. The recall sets under `tests/data/recall` were never used to choose any.
//! The number of candidates, the share that a record lends its message and the readings of more thought were chosen with the figures of all ten in sight.

/// How a question is read: what its words weigh, and how much a session counts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lens {
    /// Words against meaning, which counts 1.
    pub(super) keyword: f32,
    /// The power of the keyword score: below 1 many shared words come nearer to one rare one.
    pub(super) power: f32,
    /// Share of the best score in the same thread. More finds single answers a little better and several of them worse.
    pub(super) thread: f32,
}

/// For one answer. Common words repeat all over a conversation, so a rare sense tells a little more than a rare word.
pub(super) const PLAIN: Lens = Lens { keyword: 0.8, power: 1.0, thread: 0.3 };
/// For answers in several places: whatever has the one rare word of the question does not fill the page.
pub(super) const SEVERAL: Lens = Lens { power: 0.5, ..PLAIN };
/// Mostly by meaning, and by each place alone: what is to be concluded is said in other words, elsewhere.
pub(super) const MEANING: Lens = Lens { keyword: 0.2, power: 0.5, thread: 0.15 };
/// Hits that stand before those of a second reading are taken in turn.
pub(super) const HEAD: usize = 4;
/// Records that one hit leads to by its links; more would be a page of one hit's company.
pub(super) const LINKED_FROM_A_HIT: usize = 3;
/// The power of the cosine: among the near ones a difference says more than among the far ones.
pub(super) const COSINE_POWER: i32 = 2;
/// No score counts as further below the mean than so many standard deviations. Where all but one are about equally near, that one is ten
/// below, though it may have the one word that was asked for. On LoCoMo 1.5 and more find the same as no bound.
pub(super) const BELOW: f32 = 2.0;
/// What meaning counts where the model has not learnt the question's language: its vectors then say little more than which letters
/// two texts share.
pub(super) const UNREAD: f32 = 0.3;
/// The logarithm of the length: "Thanks!" answers nothing, whatever stands beside it.
pub(super) const LENGTH: f32 = 0.2;
/// The part that a message takes of what its best record has above it: a statement freed of its talk is matched better.
pub(super) const RECORD_TELLS: f32 = 0.5;
/// A question answers nothing.
pub(super) const ASKS: f32 = -0.5;
/// "When" asks for a date, "how many" for a number: a text that has one.
pub(super) const OFFERS: f32 = 1.0;
/// The question names exactly one person, and this is that person's.
pub(super) const SPEAKER_NAMED: f32 = 2.0;
/// A date in the question fits; scaled by how well.
pub(super) const DATE_NAMED: f32 = 1.0;
/// What such a fit counts when no year was named and another one is meant than was guessed. Not chosen on any data.
pub(super) const YEAR_GUESSED: f32 = 0.7;
/// Share of the positive score of the turn before.
pub(super) const TURN_BEFORE: f32 = 0.2;
/// So much more when that turn asks: an answer seldom repeats the words of its question.
pub(super) const TURN_BEFORE_ASKS: f32 = 0.6;
/// Share of the positive score of the turn after.
pub(super) const TURN_AFTER: f32 = 0.2;
/// Share of each turn two away.
pub(super) const TWO_AWAY: f32 = 0.2;
/// What an assistant says is long, matches much and is seldom what was to be remembered: 1.0 to 1.5 did well on long chats with an
/// assistant. Between people it has no part.
pub(super) const ASSISTANT: f32 = -1.0;
/// A named year is vague.
pub(super) const DATE_IN_YEAR: f32 = 0.5;
/// Near a named day or week, and not in it.
pub(super) const DATE_NEAR: f32 = 0.7;
/// How near a date must be to a named day or week to count in part: things are told some days after they happen.
pub(super) const NEAR_DAYS: i64 = 7;
/// A message whose own words match better than its best record by more than this holds what the records left out; then it stands
/// for them.
pub(super) const RECORD_MISSES: f32 = 1.5;
/// What a further record costs that was made from messages which a better hit already stands for.
pub(super) const REPEATS: f32 = 1.0;
/// Fewer candidates than these say nothing of how unusual a score is: of two, one is always a whole deviation above the other.
pub(super) const CANDIDATES_MIN: usize = 8;
