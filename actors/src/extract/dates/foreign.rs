//! The everyday words for dates in other languages: yesterday, last week, two weeks ago, on Friday, 20 March.

use std::collections::HashSet;
use std::sync::LazyLock;

use jiff::ToSpan;
use jiff::civil::Weekday;

use super::relative::season_begins;
use super::{Direction, Kind, Match, Precision, Reader, date, day, monday_of, month, span};

/// "yesterday" and "tomorrow" where no words are counted in between: text, days away.
const NEAR: &[(&str, i64)] = &[
    ("anteayer", -2),
    ("ayer", -1),
    ("anoche", -1),
    ("hoy", 0),
    ("mañana", 1),
    ("позавчера", -2),
    ("вчера", -1),
    ("сегодня", 0),
    ("завтра", 1),
    ("послезавтра", 2),
    ("hier", -1),
    ("demain", 1),
    ("gestern", -1),
    ("vorgestern", -2),
    ("morgen", 1),
    ("übermorgen", 2),
    ("ontem", -1),
    ("amanhã", 1),
    ("어제", -1),
    ("오늘", 0),
    ("내일", 1),
    ("그저께", -2),
    ("모레", 2),
];

/// The same for languages that write no spaces, where a word begins a longer run.
const UNSPACED: &[(&str, i64)] = &[
    ("一昨日", -2),
    ("昨日", -1),
    ("今日", 0),
    ("明日", 1),
    ("明後日", 2),
    ("昨天", -1),
    ("今天", 0),
    ("明天", 1),
    ("前天", -2),
    ("后天", 2),
];

/// A week, month or year away, by the words that say so.
const PERIODS: &[(&[&str], Unit, i64)] = &[
    (&["la", "semana", "pasada"], Unit::Week, -1),
    (&["la", "próxima", "semana"], Unit::Week, 1),
    (&["la", "semana", "que", "viene"], Unit::Week, 1),
    (&["el", "mes", "pasado"], Unit::Month, -1),
    (&["el", "próximo", "mes"], Unit::Month, 1),
    (&["el", "mes", "que", "viene"], Unit::Month, 1),
    (&["el", "año", "pasado"], Unit::Year, -1),
    (&["на", "прошлой", "неделе"], Unit::Week, -1),
    (&["на", "следующей", "неделе"], Unit::Week, 1),
    (&["в", "прошлом", "месяце"], Unit::Month, -1),
    (&["в", "следующем", "месяце"], Unit::Month, 1),
    (&["в", "прошлом", "году"], Unit::Year, -1),
    (&["la", "semaine", "dernière"], Unit::Week, -1),
    (&["la", "semaine", "prochaine"], Unit::Week, 1),
    (&["letzte", "woche"], Unit::Week, -1),
    (&["nächste", "woche"], Unit::Week, 1),
    (&["지난주"], Unit::Week, -1),
    (&["다음", "주"], Unit::Week, 1),
    (&["다음주"], Unit::Week, 1),
    (&["지난달"], Unit::Month, -1),
    (&["다음", "달"], Unit::Month, 1),
    (&["다음달"], Unit::Month, 1),
    (&["작년"], Unit::Year, -1),
    (&["내년"], Unit::Year, 1),
    (&["先週"], Unit::Week, -1),
    (&["来週"], Unit::Week, 1),
    (&["先月"], Unit::Month, -1),
    (&["来月"], Unit::Month, 1),
    (&["去年"], Unit::Year, -1),
    (&["来年"], Unit::Year, 1),
    (&["上周"], Unit::Week, -1),
    (&["下周"], Unit::Week, 1),
];

/// A season that is over, by the words that say so, and whether they name the calendar year before this one.
const SEASONS: &[(&[&str], &str, bool)] = &[
    (&["la", "primavera", "pasada"], "spring", false),
    (&["el", "verano", "pasado"], "summer", false),
    (&["el", "otoño", "pasado"], "autumn", false),
    (&["el", "invierno", "pasado"], "winter", false),
    (&["прошлой", "весной"], "spring", false),
    (&["прошлым", "летом"], "summer", false),
    (&["прошлой", "осенью"], "autumn", false),
    (&["прошлой", "зимой"], "winter", false),
    (&["지난", "봄"], "spring", false),
    (&["지난", "여름"], "summer", false),
    (&["지난", "가을"], "autumn", false),
    (&["지난", "겨울"], "winter", false),
    (&["작년", "봄"], "spring", true),
    (&["작년", "여름"], "summer", true),
    (&["작년", "가을"], "autumn", true),
    (&["작년", "겨울"], "winter", true),
    (&["去年の春"], "spring", true),
    (&["去年の夏"], "summer", true),
    (&["去年の秋"], "autumn", true),
    (&["去年の冬"], "winter", true),
    (&["去年春天"], "spring", true),
    (&["去年夏天"], "summer", true),
    (&["去年秋天"], "autumn", true),
    (&["去年冬天"], "winter", true),
];

#[derive(Clone, Copy)]
enum Unit {
    Day,
    Week,
    Month,
    Year,
}

/// Units of "hace dos semanas", "две недели назад", "2주 전", "二週間前", by how they begin.
const UNITS: &[(&str, Unit)] = &[
    ("día", Unit::Day),
    ("semana", Unit::Week),
    ("mes", Unit::Month),
    ("año", Unit::Year),
    ("дн", Unit::Day),
    ("день", Unit::Day),
    ("недел", Unit::Week),
    ("месяц", Unit::Month),
    ("год", Unit::Year),
    ("лет", Unit::Year),
    ("일", Unit::Day),
    ("주", Unit::Week),
    ("달", Unit::Month),
    ("개월", Unit::Month),
    ("년", Unit::Year),
    ("週間", Unit::Week),
    ("日", Unit::Day),
    ("か月", Unit::Month),
    ("ヶ月", Unit::Month),
    ("年", Unit::Year),
    ("周", Unit::Week),
    ("天", Unit::Day),
    ("个月", Unit::Month),
];

const COUNTS: &[(&str, i64)] = &[
    ("un", 1),
    ("una", 1),
    ("dos", 2),
    ("tres", 3),
    ("cuatro", 4),
    ("cinco", 5),
    ("seis", 6),
    ("один", 1),
    ("одну", 1),
    ("два", 2),
    ("две", 2),
    ("три", 3),
    ("четыре", 4),
    ("пять", 5),
    ("шесть", 6),
    ("한", 1),
    ("일", 1),
    ("두", 2),
    ("이", 2),
    ("세", 3),
    ("삼", 3),
    ("네", 4),
];

const DAYS: &[(Weekday, &[&str])] = &[
    (Weekday::Monday, &["lunes", "понедельник", "понедельника", "понедельнику", "월요일", "月曜", "周一", "星期一"]),
    (Weekday::Tuesday, &["martes", "вторник", "вторника", "вторнику", "화요일", "火曜", "周二", "星期二"]),
    (Weekday::Wednesday, &["miércoles", "среду", "среды", "среде", "수요일", "水曜", "周三", "星期三"]),
    (Weekday::Thursday, &["jueves", "четверг", "четверга", "четвергу", "목요일", "木曜", "周四", "星期四"]),
    (Weekday::Friday, &["viernes", "пятницу", "пятницы", "пятнице", "금요일", "金曜", "周五", "星期五"]),
    (Weekday::Saturday, &["sábado", "субботу", "субботы", "субботе", "토요일", "土曜", "周六", "星期六"]),
    (
        Weekday::Sunday,
        &["domingo", "воскресенье", "воскресенья", "воскресенью", "일요일", "日曜", "周日", "星期日", "星期天"],
    ),
];

const MONTHS: &[&[&str]] = &[
    &["enero", "января", "январе"],
    &["febrero", "февраля", "феврале"],
    &["marzo", "марта", "марте"],
    &["abril", "апреля", "апреле"],
    &["mayo", "мая", "мае"],
    &["junio", "июня", "июне"],
    &["julio", "июля", "июле"],
    &["agosto", "августа", "августе"],
    &["septiembre", "сентября", "сентябре"],
    &["octubre", "октября", "октябре"],
    &["noviembre", "ноября", "ноябре"],
    &["diciembre", "декабря", "декабре"],
];

/// Every word that a date here can begin with. In a text of ASCII alone there is no other: counts go with "назад", "전" and "前", or
/// stand behind "hace".
static OPENINGS: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    let periods = PERIODS.iter().map(|(words, _, _)| words[0]);
    let names = MONTHS.iter().copied().chain(DAYS.iter().map(|(_, names)| *names)).flatten().copied();
    NEAR.iter().map(|(word, _)| *word).chain(periods).chain(names).chain(["hace"]).collect()
});

/// Words that make a weekday a habit.
const EVERY: &[&str] = &["los", "cada", "todos", "каждый", "каждую", "каждое", "по", "매주", "每"];

/// Past forms by their ends, where the alphabet is their own; in Spanish only the commonest.
pub(super) fn is_past(word: &str) -> bool {
    let russian = word.chars().next().is_some_and(|c| ('а'..='я').contains(&c));
    let ends = |endings: &[&str]| endings.iter().any(|end| word.ends_with(end));
    russian
        && word.chars().count() > 3
        && ends(&[
            "ал", "ала", "али", "ил", "ила", "или", "ел", "ела", "ели", "лся", "лась", "лись", "шла", "шли", "шёл",
        ])
        || matches!(
            word,
            "fui" | "fue" | "fuimos" | "hice" | "tuve" | "compré" | "empecé" | "conocí" | "vi" | "nació" | "murió"
        )
        || ends(&[
            "ました",
            "でした",
            "었어요",
            "았어요",
            "했어요",
            "였어요",
            "갔어요",
            "했어",
            "았어",
            "었어",
            "했습니다",
            "았습니다",
            "었습니다",
        ])
}

impl Reader<'_> {
    pub(super) fn foreign(&self, i: usize) -> Option<Match> {
        let token = &self.tokens[i];
        // Nearly every word of nearly every text: one look-up instead of two hundred comparisons. A number begins no words of a list, and
        // counted times that begin with one end in a word that is not ASCII.
        if self.ascii && token.kind == Kind::Number {
            return self.foreign_month(i);
        }
        if self.ascii && !OPENINGS.contains(token.lower.as_str()) {
            return None;
        }
        if token.lower.is_ascii() && token.kind == Kind::Mark {
            return None;
        }
        self.near(i)
            // A year may be a part of a season's name.
            .or_else(|| self.foreign_season(i))
            .or_else(|| self.period(i))
            .or_else(|| self.ago(i))
            .or_else(|| self.ago_unspaced(i))
            .or_else(|| self.foreign_month(i))
            .or_else(|| self.foreign_week_day(i))
    }

    fn near(&self, i: usize) -> Option<Match> {
        let token = &self.tokens[i];
        if let Some((_, days)) = NEAR.iter().find(|(word, _)| token.lower == *word) {
            // "por la mañana" and "guten Morgen" are the morning, "jeden Morgen" is a habit.
            let morning = token.lower == "mañana" && matches!(self.before(i), "la" | "esta")
                || token.lower == "morgen"
                    && matches!(self.before(i), "guten" | "jeden" | "am" | "heute" | "diesen" | "den");
            return if morning { None } else { self.shift(*days, 1) };
        }
        let (word, days) = UNSPACED.iter().find(|(word, _)| token.lower.starts_with(word))?;
        let mut hit = self.shift(*days, 1)?;
        hit.ends = self.inside(i, word);
        Some(hit)
    }

    /// Where a word ends that only begins a token.
    fn inside(&self, i: usize, word: &str) -> Option<usize> {
        let end = self.tokens[i].span.start + word.len();
        self.text.is_char_boundary(end).then_some(end)
    }

    /// Whether these words begin here. Korean and Japanese hang particles on the last one.
    fn reads(&self, i: usize, words: &[&str]) -> bool {
        words.iter().enumerate().all(|(n, word)| {
            let token = self.word(i + n);
            token == *word || n + 1 == words.len() && is_wide(word) && token.starts_with(word)
        })
    }

    /// Where the last of these words ends, if it only begins a token.
    fn ends(&self, i: usize, words: &[&str]) -> Option<usize> {
        let last = words.last().filter(|last| is_wide(last))?;
        self.inside(i + words.len() - 1, last)
    }

    fn period(&self, i: usize) -> Option<Match> {
        let (words, unit, step) = PERIODS.iter().find(|(words, _, _)| self.reads(i, words))?;
        let count = words.len();
        let hit = match unit {
            Unit::Week => {
                let monday = monday_of(self.today)?.checked_add((7 * step).days()).ok()?;
                span(monday, monday.checked_add(7.days()).ok()?, Precision::Week, count)?
            }
            Unit::Month => month(self.today.first_of_month().checked_add(step.months()).ok()?, count)?,
            Unit::Year => super::year(i64::from(self.today.year()) + step, count)?,
            Unit::Day => return None,
        };
        Some(Match { ends: self.ends(i, words), ..hit })
    }

    fn foreign_season(&self, i: usize) -> Option<Match> {
        let (words, name, of_last_year) = SEASONS.iter().find(|(words, ..)| self.reads(i, words))?;
        let hit = if *of_last_year {
            let first = date(i64::from(self.today.year()) - 1, season_begins(name)?, 1)?;
            span(first, first.checked_add(3.months()).ok()?, Precision::Month, words.len())?
        } else {
            self.season(name, -1, words.len())?
        };
        Some(Match { ends: self.ends(i, words), ..hit })
    }

    /// "hace dos semanas", "две недели назад", "2주 전에".
    fn ago(&self, i: usize) -> Option<Match> {
        let lead = usize::from(self.word(i) == "hace");
        let counted = |at: usize| {
            self.number(at, 3)
                .or_else(|| COUNTS.iter().find(|(word, _)| *word == self.word(at)).map(|(_, count)| *count))
        };
        let (count, at) = match counted(i + lead) {
            Some(count) => (count, i + lead + 1),
            // "неделю назад"
            None => (1, i + lead),
        };
        let (_, unit) = UNITS.iter().find(|(unit, _)| self.word(at).starts_with(unit))?;
        let behind = self.word(at + 1) == "назад"
            || self.word(at + 1).starts_with('전') && self.word(at + 1).chars().count() <= 2;
        if lead == 0 && !behind {
            return None;
        }
        self.gone(*unit, count, at + usize::from(lead == 0) + 1 - i)
    }

    /// "二週間前に", "3日前": the count is a part of the run or a number before it.
    fn ago_unspaced(&self, i: usize) -> Option<Match> {
        let token = &self.tokens[i];
        let (count, rest, at) = match self.number(i, 3) {
            Some(count) => (count, self.word(i + 1), i + 1),
            None => {
                let first = token.lower.chars().next()?;
                let count = "一二三四五六七八九十".chars().position(|digit| digit == first)?;
                (i64::try_from(count + 1).ok()?, token.lower.get(first.len_utf8()..)?, i)
            }
        };
        let (word, unit) =
            UNITS.iter().find(|(unit, _)| rest.strip_prefix(unit).is_some_and(|rest| rest.starts_with('前')))?;
        let mut hit = self.gone(*unit, count, at + 1 - i)?;
        let end = self.tokens[at].span.end - rest.len() + word.len() + '前'.len_utf8();
        hit.ends = self.text.is_char_boundary(end).then_some(end);
        Some(hit)
    }

    fn gone(&self, unit: Unit, count: i64, tokens: usize) -> Option<Match> {
        let name = match unit {
            Unit::Day => "days",
            Unit::Week => "weeks",
            Unit::Month => "months",
            Unit::Year => "years",
        };
        self.moved(-count, name, tokens)
    }

    /// "21 de marzo de 2023", "20 марта", "en enero", "в мае 2023 года", "四月から".
    fn foreign_month(&self, i: usize) -> Option<Match> {
        let named = |at: usize| {
            MONTHS.iter().position(|names| names.contains(&self.word(at))).and_then(|at| i64::try_from(at + 1).ok())
        };
        if let Some(number) = self.number(i, 2) {
            let de = usize::from(self.word(i + 1) == "de");
            let (given, used) = self.year_after(i + 2 + de);
            let hit = day(self.with_year(given, named(i + 1 + de)?, number)?, given.is_some(), 2 + de + used)?;
            return Some(Match { yearly: given.is_none(), ..hit });
        }
        if let Some(number) = named(i) {
            if !matches!(self.before(i), "en" | "в" | "desde" | "с" | "до" | "hasta" | "de") {
                return None;
            }
            let (given, used) = self.year_after(i + 1);
            let hit = month(self.with_year(given, number, 1)?, 1 + used)?;
            return Some(Match { absolute: given.is_some(), yearly: given.is_none(), ..hit });
        }
        let (at, digit) =
            ["十二月", "十一月", "十月", "一月", "二月", "三月", "四月", "五月", "六月", "七月", "八月", "九月"]
                .iter()
                .zip([12, 11, 10, 1, 2, 3, 4, 5, 6, 7, 8, 9])
                .find(|(word, _)| self.word(i).starts_with(**word))?;
        let hit = month(self.with_year(None, digit, 1)?, 1)?;
        Some(Match { ends: self.inside(i, at), yearly: true, ..hit })
    }

    /// The year that is told behind a month, and the words it takes: "de 2023", "2023".
    fn year_after(&self, i: usize) -> (Option<i64>, usize) {
        let of = usize::from(matches!(self.word(i), "de" | "del"));
        let given = self.year(i + of);
        (given, if given.is_some() { of + 1 } else { 0 })
    }

    fn foreign_week_day(&self, i: usize) -> Option<Match> {
        let token = self.word(i);
        let (wanted, word) = DAYS.iter().find_map(|(day, names)| {
            let found = names.iter().find(|name| token == **name || is_wide(name) && token.starts_with(**name))?;
            Some((*day, *found))
        })?;
        let rest = token.get(word.len()..).unwrap_or("");
        if EVERY.contains(&self.before(i)) || rest.contains("마다") || self.before(i).ends_with("毎週") {
            return None;
        }
        let led = is_wide(word)
            || matches!(
                self.before(i),
                "el" | "este" | "próximo" | "del" | "al" | "в" | "во" | "до" | "к" | "ко" | "с" | "эту"
            );
        if !led {
            return None;
        }
        let chosen = if self.direction() == Direction::Past || self.word(i + 1) == "pasado" {
            self.today.nth_weekday(-1, wanted).ok()?
        } else {
            self.today.nth_weekday(1, wanted).ok()?
        };
        let mut hit = day(chosen, false, 1)?;
        // 月曜 and 月曜日 are the same word.
        let written = if is_wide(word) && rest.starts_with('日') { word.len() + '日'.len_utf8() } else { word.len() };
        hit.ends = if is_wide(word) { Some(self.tokens[i].span.start + written) } else { None };
        Some(hit)
    }
}

fn is_wide(word: &str) -> bool {
    word.starts_with(|c: char| c >= '\u{2e80}')
}

#[cfg(test)]
mod tests {
    use super::super::find;
    use super::*;

    // A word that is left out of the openings takes every date that begins with it along.
    #[test]
    fn every_date_of_the_lists_is_found() {
        let led = |word: &str| if word.is_ascii() { word.to_owned() } else { format!("\u{2026} {word}") };
        let near = NEAR.iter().map(|(word, _)| led(word));
        let periods = PERIODS.iter().map(|(words, _, _)| led(&words.join(" ")));
        let seasons = SEASONS.iter().map(|(words, _, _)| led(&words.join(" ")));
        let months = MONTHS.iter().copied().flatten().map(|name| format!("en {name}"));
        let days = DAYS.iter().flat_map(|(_, names)| names.iter()).map(|name| format!("el {name}"));
        let today = "2024-03-13".parse().expect("a date");
        let ago = ["hace dos semanas", "hace 3 meses", "21 de marzo"].map(str::to_owned);
        for text in near.chain(periods).chain(seasons).chain(months).chain(days).chain(ago) {
            assert!(find(&text, today).is_some(), "{text}");
        }
    }
}
