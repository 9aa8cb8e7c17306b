//! Dates that words name: "yesterday", "two weeks ago", "7 May 2023", "the week before 9 June 2023", "2023年5月7日".
//!
//! Pure: the only "now" is the day on which the words were said, on the speaker's own calendar. Extraction dates statements with it, ranking dates questions.

use std::cell::{Cell, OnceCell};
use std::ops::Range;

use jiff::civil::{Date, Weekday};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};

use super::lex::{self, Kind, Token};
use super::verbs;

mod absolute;
mod foreign;
mod relative;

/// How exact the words are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Precision {
    /// One day.
    Day,
    /// A week or a weekend.
    Week,
    /// A month or a season.
    Month,
    /// A year.
    Year,
}

/// One date that a text names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// First day meant.
    pub start: Date,
    /// The day after the last one meant.
    pub end: Date,
    /// The day that stands for it: the day itself, the first of a week, month or year, or for "two weeks ago" exactly two weeks before.
    pub at: Date,
    /// How exact it is.
    pub precision: Precision,
    /// Bytes of the text that name it.
    pub span: Range<usize>,
    /// Whether the words alone say which date it is ("7 May 2023"), whenever they were said.
    pub absolute: bool,
    /// Whether the year is a guess, and the words fit every year: "in May", "on 7 May".
    pub yearly: bool,
}

/// Which way a text looks, for "on Friday" and "in May".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    Past,
    Future,
    Nearest,
}

/// The first date in the text. `today` is what "yesterday" counts from.
pub fn find(text: &str, today: Date) -> Option<Found> {
    scan(text, today, 1).pop()
}

/// Whether a text names a date, whichever it is.
pub(super) fn are_in(text: &str) -> bool {
    find(text, Date::ZERO).is_some()
}

/// Every date in the text, in order, without overlaps.
pub fn find_all(text: &str, today: Date) -> Vec<Found> {
    scan(text, today, usize::MAX)
}

/// The civil day of an instant, in UTC.
pub fn day_of(at: Timestamp) -> Date {
    TimeZone::UTC.to_datetime(at).date()
}

/// Names of days and months, which are capitalised like people.
pub(super) fn names_time(word: &str) -> bool {
    weekday(word).is_some() || absolute::month_number(word).is_some()
}

/// What the parsers look at: the tokens, and the day on which they were said.
struct Reader<'a> {
    text: &'a str,
    /// Whether the text is in ASCII alone.
    ascii: bool,
    tokens: &'a [Token],
    today: Date,
    /// The tokens of the clause of the token in hand.
    clause: Range<usize>,
    /// Whether the word before says that what follows is to come.
    ahead: bool,
    /// Which way the clause looks, and the whole text; found out when a date asks, since few texts have one.
    own: Cell<Option<Direction>>,
    whole: OnceCell<Direction>,
}

/// A date without its place, and how many tokens it took.
struct Match {
    start: Date,
    end: Date,
    at: Date,
    precision: Precision,
    absolute: bool,
    yearly: bool,
    tokens: usize,
    /// Where its last token's part ends, when a date ends inside a word (Chinese and Japanese write no spaces).
    ends: Option<usize>,
}

fn scan(text: &str, today: Date, most: usize) -> Vec<Found> {
    let tokens = lex::tokens(text);
    let (own, whole) = (Cell::new(None), OnceCell::new());
    let mut reader =
        Reader { text, ascii: text.is_ascii(), tokens: &tokens, today, clause: 0..0, ahead: false, own, whole };
    let mut found = Vec::new();
    let mut i = 0;
    while i < tokens.len() && found.len() < most {
        if i >= reader.clause.end {
            let end = i + 1 + tokens[i + 1..].iter().position(parts).unwrap_or(tokens.len() - i - 1);
            (reader.clause, reader.own) = (i..end, Cell::new(None));
        }
        // "Pushed to April 9", "planned for the 5th": told in the past, but of what comes.
        reader.ahead = i > 0 && matches!(reader.word(i - 1), "to" | "for" | "until" | "till" | "by");
        let Some(hit) = reader.read(i) else {
            i += 1;
            continue;
        };
        let last = (i + hit.tokens - 1).min(tokens.len() - 1);
        let end = hit.ends.unwrap_or(tokens[last].span.end);
        let start = reader.starts(i);
        found.push(Found {
            start: hit.start,
            end: hit.end,
            at: hit.at,
            precision: hit.precision,
            span: start..end,
            absolute: hit.absolute,
            yearly: hit.yearly,
        });
        i = last + 1;
    }
    found
}

impl Reader<'_> {
    /// A date that begins at this token.
    fn read(&self, i: usize) -> Option<Match> {
        self.around(i).or_else(|| self.absolute(i)).or_else(|| self.relative(i)).or_else(|| self.foreign(i))
    }

    /// Which way a date here looks.
    fn direction(&self) -> Direction {
        if self.ahead {
            return Direction::Future;
        }
        if let Some(known) = self.own.get() {
            return known;
        }
        let own = &self.tokens[self.clause.clone()];
        // Only "on Friday, …" leaves it to the rest of the text which way it looks.
        let verbless = || !own.iter().skip(1).any(|token| verbs::is_finite(&token.lower));
        let found = match direction(own) {
            Direction::Nearest if verbless() => *self.whole.get_or_init(|| direction(self.tokens)),
            own => own,
        };
        self.own.set(Some(found));
        found
    }

    fn word(&self, i: usize) -> &str {
        self.tokens.get(i).map_or("", |token| token.lower.as_str())
    }

    fn before(&self, i: usize) -> &str {
        if i == 0 { "" } else { self.word(i - 1) }
    }

    /// A number of at most `digits` digits.
    fn number(&self, i: usize, digits: usize) -> Option<i64> {
        let token = self.tokens.get(i)?;
        (token.kind == Kind::Number && token.lower.len() <= digits).then(|| token.lower.parse().ok())?
    }

    fn starts(&self, i: usize) -> usize {
        self.tokens[i].span.start
    }

    fn touches(&self, i: usize) -> bool {
        matches!((self.tokens.get(i), self.tokens.get(i + 1)), (Some(a), Some(b)) if a.span.end == b.span.start)
    }
}

fn day(at: Date, absolute: bool, tokens: usize) -> Option<Match> {
    let end = at.tomorrow().ok()?;
    Some(Match { start: at, end, at, precision: Precision::Day, absolute, yearly: false, tokens, ends: None })
}

fn span(start: Date, end: Date, precision: Precision, tokens: usize) -> Option<Match> {
    Some(Match { start, end, at: start, precision, absolute: false, yearly: false, tokens, ends: None })
}

fn month(first: Date, tokens: usize) -> Option<Match> {
    let first = first.first_of_month();
    span(first, first.checked_add(1.month()).ok()?, Precision::Month, tokens)
}

fn year(year: i64, tokens: usize) -> Option<Match> {
    let first = date(year, 1, 1)?;
    span(first, date(year + 1, 1, 1)?, Precision::Year, tokens)
}

fn date(year: i64, month: i64, day: i64) -> Option<Date> {
    Date::new(i16::try_from(year).ok()?, i8::try_from(month).ok()?, i8::try_from(day).ok()?).ok()
}

fn monday_of(day: Date) -> Option<Date> {
    day.checked_sub(i64::from(day.weekday().to_monday_zero_offset()).days()).ok()
}

fn weekday(word: &str) -> Option<Weekday> {
    Some(match word {
        "monday" | "mon" => Weekday::Monday,
        "tuesday" | "tue" | "tues" => Weekday::Tuesday,
        "wednesday" => Weekday::Wednesday,
        "thursday" | "thu" | "thurs" => Weekday::Thursday,
        "friday" | "fri" => Weekday::Friday,
        "saturday" => Weekday::Saturday,
        "sunday" => Weekday::Sunday,
        _ => return None,
    })
}

/// Where another clause may begin, which may look the other way: "I broke it in May, so I will walk until June".
fn parts(token: &Token) -> bool {
    matches!(token.lower.as_str(), "," | ";" | "and" | "but" | "so" | "because" | "." | ":" | "–" | "—")
}

/// Future cues win over past forms: "I need to pay what I bought on Friday" is rarer than "I planned it, we will go on Friday".
fn direction(tokens: &[Token]) -> Direction {
    let future = |token: &Token| {
        matches!(
            token.lower.as_str(),
            "will"
                | "shall"
                | "gonna"
                | "need"
                | "must"
                | "should"
                | "remind"
                | "todo"
                | "by"
                | "until"
                | "upcoming"
                | "tomorrow"
                | "next"
                | "won't"
                | "forget"
                | "planning"
                | "deadline"
                | "due"
                | "before"
        ) || token.lower.ends_with("'ll")
    };
    let pair = tokens.windows(2).any(|pair| {
        (pair[0].is("going") || pair[0].is("have") || pair[0].is("has") || pair[0].is("got")) && pair[1].is("to")
    });
    let past = tokens.iter().enumerate().any(|(i, token)| {
        // "We've got a wedding in June" is no past.
        let have =
            i > 0 && (tokens[i - 1].lower.ends_with("'ve") || tokens[i - 1].is("have") || tokens[i - 1].is("has"));
        verbs::is_past(&token.lower) && !(have && token.is("got"))
            || token.is("been")
            || token.is("since")
            || foreign::is_past(&token.lower)
    });
    if pair || tokens.iter().any(future) {
        Direction::Future
    } else if past {
        Direction::Past
    } else {
        Direction::Nearest
    }
}

#[cfg(test)]
mod tests;
