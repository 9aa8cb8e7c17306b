//! Dates that count from when they were said.

use jiff::ToSpan;
use jiff::civil::{Date, Weekday};

use super::{Direction, Match, Precision, Reader, date, day, monday_of, month, span, weekday, year};

impl Reader<'_> {
    pub(super) fn relative(&self, i: usize) -> Option<Match> {
        self.near_day(i)
            .or_else(|| self.named_period(i))
            .or_else(|| self.counted(i))
            .or_else(|| self.week_day(i))
            .or_else(|| self.day_of_month(i))
    }

    pub(super) fn shift(&self, days: i64, tokens: usize) -> Option<Match> {
        day(self.today.checked_add(days.days()).ok()?, false, tokens)
    }

    /// yesterday, today, tomorrow and their neighbours.
    fn near_day(&self, i: usize) -> Option<Match> {
        let phrase = |words: &[&str]| words.iter().enumerate().all(|(n, word)| self.word(i + n) == *word);
        match self.word(i) {
            "the" if phrase(&["the", "day", "before", "yesterday"]) => self.shift(-2, 4),
            "the" if phrase(&["the", "day", "after", "tomorrow"]) => self.shift(2, 4),
            "day" if phrase(&["day", "before", "yesterday"]) => self.shift(-2, 3),
            "day" if phrase(&["day", "after", "tomorrow"]) => self.shift(2, 3),
            "yesterday" => self.shift(-1, 1),
            "last" if phrase(&["last", "night"]) => self.shift(-1, 2),
            "tomorrow" | "tmrw" | "tmr" | "tmw" | "tomorow" | "tommorow" | "tommorrow" => self.shift(1, 1),
            "today" | "tonight" | "tonite" => self.shift(0, 1),
            "this" if matches!(self.word(i + 1), "morning" | "afternoon" | "evening") => self.shift(0, 2),
            _ => None,
        }
    }

    /// last week, next month, this year, last summer.
    fn named_period(&self, i: usize) -> Option<Match> {
        let (step, mut at) = match (self.word(i), self.word(i + 1)) {
            ("the", "past" | "last") => (-1, i + 2),
            ("last" | "past", _) => (-1, i + 1),
            ("next" | "coming", _) => (1, i + 1),
            ("this", _) => (0, i + 1),
            _ => return None,
        };
        let unit = self.word(at);
        at += 1;
        let tokens = at - i;
        let first = self.today.first_of_month();
        match unit {
            "week" => {
                let monday = monday_of(self.today)?.checked_add((7 * step).days()).ok()?;
                span(monday, monday.checked_add(7.days()).ok()?, Precision::Week, tokens)
            }
            "weekend" => {
                // Said on a Sunday, "this weekend" has begun, and "last weekend" is the one before.
                let saturday = monday_of(self.today)?.checked_add((7 * step + 5).days()).ok()?;
                span(saturday, saturday.checked_add(2.days()).ok()?, Precision::Week, tokens)
            }
            "month" => month(first.checked_add(step.months()).ok()?, tokens),
            "year" => year(i64::from(self.today.year()) + step, tokens),
            _ => self.season(unit, step, tokens),
        }
    }

    /// Three months of the northern year: the last that is over, the one that is or comes, or the next.
    pub(super) fn season(&self, name: &str, step: i64, tokens: usize) -> Option<Match> {
        let first_month = season_begins(name)?;
        let this_year = i64::from(self.today.year());
        let starts = (this_year - 2..=this_year + 2).filter_map(|year| date(year, first_month, 1));
        let end = |start: Date| start.checked_add(3.months()).ok();
        let chosen = match step {
            -1 => starts.filter(|start| end(*start).is_some_and(|end| end <= self.today)).max(),
            1 => starts.filter(|start| *start > self.today).min(),
            _ => starts.filter(|start| end(*start).is_some_and(|end| end > self.today)).min(),
        }?;
        span(chosen, end(chosen)?, Precision::Month, tokens)
    }

    /// two weeks ago, in three days, a month from now.
    fn counted(&self, i: usize) -> Option<Match> {
        let ahead = self.word(i) == "in";
        let start = i + usize::from(ahead);
        // "We haven't talked in two days" looks back and names no day.
        if ahead
            && self.tokens[i.saturating_sub(6)..i]
                .iter()
                .any(|token| token.lower.ends_with("n't") || token.is("not") || token.is("never"))
        {
            return None;
        }
        let (count, at) = match (self.word(start), self.word(start + 1), self.word(start + 2)) {
            ("a", "couple", "of") => (2, start + 3),
            ("a" | "an", _, _) => (1, start + 1),
            _ => (self.count(start)?, start + 1),
        };
        let unit = self.word(at);
        let (sign, end) = match (self.word(at + 1), self.word(at + 2)) {
            _ if ahead => (1, at + 1),
            ("ago" | "back", _) => (-1, at + 2),
            ("from", "now" | "today") => (1, at + 3),
            _ => return None,
        };
        self.moved(sign * count, unit, end - i)
    }

    pub(super) fn moved(&self, steps: i64, unit: &str, tokens: usize) -> Option<Match> {
        let mut hit = match unit {
            "day" | "days" => return self.shift(steps, tokens),
            "week" | "weeks" => {
                let at = self.today.checked_add((7 * steps).days()).ok()?;
                let mut hit =
                    span(at.checked_sub(3.days()).ok()?, at.checked_add(4.days()).ok()?, Precision::Week, tokens)?;
                hit.at = at;
                return Some(hit);
            }
            "month" | "months" => month(self.today.checked_add(steps.months()).ok()?, tokens)?,
            "year" | "years" => year(i64::from(self.today.year()) + steps, tokens)?,
            _ => return None,
        };
        let exact = if unit.starts_with('m') {
            self.today.checked_add(steps.months())
        } else {
            self.today.checked_add(steps.years())
        };
        hit.at = exact.ok()?;
        Some(hit)
    }

    /// A small number, in digits or words.
    pub(super) fn count(&self, i: usize) -> Option<i64> {
        const WORDS: &[&str] =
            &["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];
        if let Some(number) = self.number(i, 3) {
            return Some(number);
        }
        let at = WORDS.iter().position(|word| *word == self.word(i))?;
        i64::try_from(at + 1).ok()
    }

    /// on Friday, last Saturday, next Tuesday; "every Friday" and "the second Friday" are no dates.
    fn week_day(&self, i: usize) -> Option<Match> {
        let (lead, at) = match self.word(i) {
            lead @ ("last" | "next" | "this" | "past" | "coming") => (lead, i + 1),
            _ => ("", i),
        };
        let wanted = weekday(self.word(at))?;
        let tokens = at + 1 - i;
        // "Saturday mornings" and "Thursday to Sunday" are every week.
        if matches!(self.word(at + 1), "mornings" | "evenings" | "nights" | "afternoons") {
            return None;
        }
        let range = matches!(self.word(at + 1), "to" | "and" | "or" | "-" | "–" | "through" | "till");
        if range && weekday(self.word(at + 2)).is_some() {
            return None;
        }
        if matches!(
            self.before(i),
            "every" | "each" | "second" | "third" | "fourth" | "first" | "other" | "or" | "and" | "to" | "a"
        ) {
            return None;
        }
        let back = || self.today.nth_weekday(-1, wanted).ok();
        let ahead = || self.today.nth_weekday(1, wanted).ok();
        let chosen = match lead {
            "last" | "past" => back(),
            "next" => self.in_week(wanted, 1),
            "this" => self.in_week(wanted, 0),
            "coming" => ahead(),
            _ => match self.direction() {
                Direction::Past => back(),
                Direction::Future | Direction::Nearest if matches!(self.before(i), "since") => back(),
                Direction::Future | Direction::Nearest => ahead(),
            },
        }?;
        day(chosen, false, tokens)
    }

    /// "on the 28th", "by the 5th": the next one, or the last one where the words look back.
    fn day_of_month(&self, i: usize) -> Option<Match> {
        if self.word(i) != "the"
            || !matches!(self.before(i), "on" | "by" | "until" | "till" | "before" | "from" | "since")
        {
            return None;
        }
        let number = self.number(i + 1, 2)?;
        let ordinal = matches!(self.word(i + 2), "st" | "nd" | "rd" | "th") && self.touches(i + 1);
        // "On the 5th floor" and "by the 3rd attempt" are no days.
        let thing = self.tokens.get(i + 3).is_some_and(|next| {
            next.kind == super::Kind::Word
                && !matches!(
                    self.word(i + 3),
                    "and" | "at" | "in" | "with" | "for" | "but" | "so" | "to" | "then" | "because"
                )
        });
        if !ordinal || thing || !(1..=31).contains(&number) {
            return None;
        }
        let back = self.direction() == Direction::Past;
        let first = self.today.first_of_month();
        let months = (0..4).filter_map(|step: i64| first.checked_add((if back { -step } else { step }).months()).ok());
        let mut days = months.filter_map(|month| date(i64::from(month.year()), i64::from(month.month()), number));
        day(days.find(|day| if back { *day <= self.today } else { *day >= self.today })?, false, 3)
    }

    /// That day of this week (0) or the next (1).
    pub(super) fn in_week(&self, wanted: Weekday, weeks: i64) -> Option<Date> {
        let offset = i64::from(wanted.to_monday_zero_offset());
        monday_of(self.today)?.checked_add((7 * weeks + offset).days()).ok()
    }
}

/// The month in which a season of the north begins.
pub(super) fn season_begins(name: &str) -> Option<i64> {
    Some(match name {
        "spring" => 3,
        "summer" => 6,
        "fall" | "autumn" => 9,
        "winter" => 12,
        _ => return None,
    })
}
