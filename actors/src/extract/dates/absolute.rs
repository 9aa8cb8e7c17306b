//! Dates that carry a number: a day of a month, a month, a year, ISO and East Asian writing.

use jiff::ToSpan;
use jiff::civil::Date;

use super::{Direction, Match, Precision, Reader, date, day, month, year};

/// Words after which a bare month or year is a date: "in May" but not "you may".
const BEFORE_MONTH: &[&str] = &[
    "in", "since", "until", "till", "during", "of", "before", "after", "from", "by", "early", "late", "mid", "this",
    "around",
];

impl Reader<'_> {
    pub(super) fn absolute(&self, i: usize) -> Option<Match> {
        self.iso(i)
            .or_else(|| self.east_asian(i))
            .or_else(|| self.day_month(i))
            .or_else(|| self.month_day(i))
            .or_else(|| self.bare_month(i))
            .or_else(|| self.bare_year(i))
    }

    /// 2023-05-07, 2023/05/07.
    fn iso(&self, i: usize) -> Option<Match> {
        let year = self.number(i, 4).filter(|year| *year >= 1000)?;
        let mark = self.word(i + 1);
        if (mark != "-" && mark != "/") || self.word(i + 3) != mark || !(i..i + 4).all(|at| self.touches(at)) {
            return None;
        }
        day(date(year, self.number(i + 2, 2)?, self.number(i + 4, 2)?)?, true, 5)
    }

    /// 2023年5月7日, 2023년 5월 7일, and their parts.
    fn east_asian(&self, i: usize) -> Option<Match> {
        let first = self.number(i, 4)?;
        let (given, mut at) = match self.unit(i + 1, &["年", "년"]) {
            Some(_) => (Some(first), i + 2),
            None => (None, i),
        };
        if let Some(year_number) = given
            && self.unit(at + 1, &["月", "월"]).is_none()
        {
            let mut hit = year(year_number, 2)?;
            hit.absolute = true;
            hit.ends = self.unit(i + 1, &["年", "년"]);
            return Some(hit);
        }
        let month_number = self.number(at, 2)?;
        let mut ends = Some(self.unit(at + 1, &["月", "월"])?);
        at += 2;
        let mut hit = match (self.number(at, 2), self.unit(at + 1, &["日", "일"])) {
            (Some(number), Some(end)) => {
                at += 2;
                ends = Some(end);
                day(self.with_year(given, month_number, number)?, given.is_some(), 0)?
            }
            _ => month(self.with_year(given, month_number, 1)?, 0)?,
        };
        hit.absolute = given.is_some();
        hit.yearly = given.is_none();
        hit.tokens = at - i;
        hit.ends = ends;
        Some(hit)
    }

    /// Where that unit ends if the token begins with it.
    fn unit(&self, i: usize, units: &[&str]) -> Option<usize> {
        let token = self.tokens.get(i)?;
        let found = units.iter().find(|unit| token.lower.starts_with(**unit))?;
        Some(token.span.start + found.len())
    }

    /// 7 May 2023, 7th of May.
    fn day_month(&self, i: usize) -> Option<Match> {
        let number = self.number(i, 2)?;
        let mut at = i + 1;
        at += usize::from(is_ordinal(self.word(at)) && self.touches(i));
        at += usize::from(self.word(at) == "of");
        let month_number = month_number(self.word(at))?;
        self.finish_day(i, at + 1, month_number, number)
    }

    /// May 7, May 7th, 2023, and May 2023.
    fn month_day(&self, i: usize) -> Option<Match> {
        let month_number = month_number(self.word(i))?;
        // "you may 5", "they march 20 miles": a verb.
        if matches!(self.before(i), "i" | "you" | "we" | "they" | "he" | "she" | "it" | "who") {
            return None;
        }
        let mut at = i + 1;
        at += usize::from(self.word(at) == "the" || self.word(at) == "," && self.year(at + 1).is_some());
        if let Some(given) = self.year(at) {
            let mut hit = month(date(given, month_number, 1)?, at + 1 - i)?;
            hit.absolute = true;
            return Some(hit);
        }
        let number = self.number(at, 2)?;
        // "May 20:15" and "March 2.5" are no days.
        if (self.word(at + 1) == ":" || self.word(at + 1) == ".")
            && self.touches(at)
            && self.number(at + 2, 4).is_some()
            && self.touches(at + 1)
        {
            return None;
        }
        let ordinal = is_ordinal(self.word(at + 1)) && self.touches(at);
        self.finish_day(i, at + 1 + usize::from(ordinal), month_number, number)
    }

    /// The year, if one follows, and the day that comes of it.
    fn finish_day(&self, i: usize, at: usize, month_number: i64, number: i64) -> Option<Match> {
        let comma = usize::from(self.word(at) == ",");
        let given = self.year(at + comma);
        let used = if given.is_some() { at + comma + 1 } else { at };
        let hit = day(self.with_year(given, month_number, number)?, given.is_some(), used - i)?;
        Some(Match { yearly: given.is_none(), ..hit })
    }

    /// "in May", "last May", "next May".
    fn bare_month(&self, i: usize) -> Option<Match> {
        let number = month_number(self.word(i))?;
        let this_year = i64::from(self.today.year());
        let first = self.today.first_of_month();
        let here = date(this_year, number, 1)?;
        let chosen = match self.before(i) {
            "last" if here < first => here,
            "last" => date(this_year - 1, number, 1)?,
            "next" if here > first => here,
            "next" => date(this_year + 1, number, 1)?,
            before if BEFORE_MONTH.contains(&before) => {
                let hit = month(self.with_year(None, number, 1)?, 1)?;
                return Some(Match { yearly: true, ..hit });
            }
            _ => return None,
        };
        month(chosen, 1)
    }

    /// "in 2022", "2022." but not "2022 dollars".
    fn bare_year(&self, i: usize) -> Option<Match> {
        let given = self.year(i)?;
        let led = BEFORE_MONTH.contains(&self.before(i))
            || matches!(self.before(i), "year" | "summer" | "winter" | "spring" | "fall" | "autumn");
        let next = self.tokens.get(i + 1);
        let counts = next.is_some_and(|token| token.lower.len() > 3 && token.lower.ends_with('s') && !token.is("was"));
        let joined = |at: usize| {
            self.touches(at) && !matches!(self.word(at + 1), "." | "," | "?" | "!" | ")" | ";" | "。" | "、")
        };
        let marked = i > 0 && self.touches(i - 1) && !matches!(self.before(i), "(" | "\"" | "'");
        let decimal = self.touches(i) && self.touches(i + 1) && self.number(i + 2, 9).is_some();
        let alone =
            next.is_none_or(|token| matches!(token.lower.as_str(), "." | "," | "?" | "!" | ")" | "was" | "and"));
        if marked || joined(i) || decimal || counts || !(led || alone) {
            return None;
        }
        let mut hit = year(given, 1)?;
        hit.absolute = true;
        Some(hit)
    }

    /// A number that can be a year.
    pub(super) fn year(&self, i: usize) -> Option<i64> {
        let given = self.number(i, 4).filter(|year| (1900..2100).contains(year))?;
        let clock = self.word(i + 1) == ":" && self.touches(i);
        (!clock).then_some(given)
    }

    /// The day in the given year, else in the year that fits how the text looks.
    pub(super) fn with_year(&self, given: Option<i64>, month_number: i64, number: i64) -> Option<Date> {
        if let Some(given) = given {
            return date(given, month_number, number);
        }
        let this_year = i64::from(self.today.year());
        let candidates = (this_year - 4..=this_year + 4).filter_map(|year| date(year, month_number, number));
        let distance = |day: Date| (day - self.today).get_days().abs();
        // A month away in the other direction is still believed: people say "in May" of both.
        let slack = 45.days();
        match self.direction() {
            Direction::Past => {
                let latest = self.today.tomorrow().ok()?;
                candidates.filter(|day| *day < latest).min_by_key(|day| distance(*day))
            }
            Direction::Future => {
                let earliest = self.today.checked_sub(slack).ok()?;
                candidates.filter(|day| *day >= earliest).min_by_key(|day| distance(*day))
            }
            Direction::Nearest => candidates.min_by_key(|day| distance(*day)),
        }
    }

    /// "the week before 9 June 2023", "two days after May 7th", "the Friday before 15 July 2023".
    pub(super) fn around(&self, i: usize) -> Option<Match> {
        let (count, mut at) = match self.word(i) {
            "the" | "a" | "one" => (1, i + 1),
            _ => (self.count(i)?, i + 1),
        };
        let unit = self.word(at).to_owned();
        at += 1;
        let back = match self.word(at) {
            "before" => true,
            "after" => false,
            _ => return None,
        };
        let anchor = self.absolute(at + 1).filter(|hit| hit.precision == Precision::Day)?;
        let tokens = at + 1 - i + anchor.tokens;
        let mut hit = self.beside(anchor.at, &unit, count, back, tokens)?;
        hit.absolute = anchor.absolute;
        hit.ends = anchor.ends;
        Some(hit)
    }

    fn beside(&self, anchor: Date, unit: &str, count: i64, back: bool, tokens: usize) -> Option<Match> {
        let (sign, nth): (i64, i32) = if back { (-1, -1) } else { (1, 1) };
        if let Some(wanted) = super::weekday(unit) {
            return day(anchor.nth_weekday(nth, wanted).ok()?, true, tokens);
        }
        let next = anchor.tomorrow().ok()?;
        match unit {
            "day" | "days" => day(anchor.checked_add((sign * count).days()).ok()?, true, tokens),
            "weekend" => {
                let saturday = anchor.nth_weekday(nth, jiff::civil::Weekday::Saturday).ok()?;
                super::span(saturday, saturday.checked_add(2.days()).ok()?, Precision::Week, tokens)
            }
            "week" | "weeks" if back => {
                let start = anchor.checked_sub((7 * count).days()).ok()?;
                super::span(start, start.checked_add(7.days()).ok()?, Precision::Week, tokens)
            }
            "week" | "weeks" => {
                let start = next.checked_add((7 * (count - 1)).days()).ok()?;
                super::span(start, start.checked_add(7.days()).ok()?, Precision::Week, tokens)
            }
            "month" | "months" => month(anchor.first_of_month().checked_add((sign * count).months()).ok()?, tokens),
            "year" | "years" => year(i64::from(anchor.year()) + sign * count, tokens),
            _ => None,
        }
    }
}

fn is_ordinal(word: &str) -> bool {
    matches!(word, "st" | "nd" | "rd" | "th")
}

pub(super) fn month_number(word: &str) -> Option<i64> {
    Some(match word {
        "january" | "jan" => 1,
        "february" | "feb" => 2,
        "march" | "mar" => 3,
        "april" | "apr" => 4,
        "may" => 5,
        "june" | "jun" => 6,
        "july" | "jul" => 7,
        "august" | "aug" => 8,
        "september" | "sep" | "sept" => 9,
        "october" | "oct" => 10,
        "november" | "nov" => 11,
        "december" | "dec" => 12,
        _ => return None,
    })
}
