//! What was measured, as figures that each say what they are held beside and what they are meant to reach; as tables for people,
//! and as Markdown for pages.

use comfy_table::{Cell, Color};
use serde::Serialize;

use super::{machine::Machine, plot::Chart};
use crate::cli::screen::Screen;

/// What a figure should come to.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Reach {
    /// No slower than so many times its limit.
    Within(f64),
    /// At most so much.
    AtMost(f64),
    /// At least so much.
    AtLeast(f64),
    /// At most so much more than its limit.
    Over(f64),
    /// At least this share of what a full comparison finds.
    Recall(f64),
}

/// What something cannot be faster, or smaller, than.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Limit {
    /// What it is.
    pub(super) what: String,
    /// In the figure's unit, measured in the same run.
    pub(super) value: f64,
}

/// One thing that was measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(super) struct Figure {
    /// What.
    pub(super) what: String,
    /// With so many of what the section counts: in flight, records, events.
    pub(super) at: u64,
    /// Of `median`, `p99` and the limit.
    pub(super) unit: &'static str,
    /// Of all runs, or rounds.
    pub(super) median: f64,
    /// What 99 of 100 runs took at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) p99: Option<f64>,
    /// The share of the true ten that was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) recall: Option<f64>,
    /// What it is held beside.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) limit: Option<Limit>,
    /// How many times the limit: 1 is as good as it, and more is worse, of times and rates alike.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) times_the_limit: Option<f64>,
    /// What it should come to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reach: Option<Reach>,
    /// Whether it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reached: Option<bool>,
}

/// More of it is better.
pub(super) const A_SECOND: &str = "/s";
/// Less of it is better.
pub(super) const MS: &str = "ms";
/// Less of it is better.
pub(super) const BYTES: &str = "bytes";

impl Figure {
    /// A median in a unit.
    pub(super) fn new(what: impl Into<String>, at: usize, unit: &'static str, median: f64) -> Self {
        Self { what: what.into(), at: at as u64, unit, median, ..Self::default() }
    }

    /// Times of runs.
    pub(super) fn times(what: impl Into<String>, at: usize, times: &memlog_actors::bench::Times) -> Self {
        Self { p99: Some(times.p99()), ..Self::new(what, at, MS, times.p50()) }
    }

    /// Beside this.
    pub(super) fn beside(self, what: impl Into<String>, value: f64) -> Self {
        let (over, under) = if self.unit == A_SECOND { (value, self.median) } else { (self.median, value) };
        let times_the_limit = (under > 0.0).then(|| over / under);
        Self { limit: Some(Limit { what: what.into(), value }), times_the_limit, ..self }
    }

    /// With what was found of the true ten.
    pub(super) fn recalling(self, recall: f64) -> Self {
        Self { recall: Some(recall), ..self }
    }

    /// Meant to come to this. What has nothing to be judged by is a miss.
    pub(super) fn reaching(self, reach: Reach) -> Self {
        let limit = self.limit.as_ref().map_or(f64::NAN, |limit| limit.value);
        let reached = match reach {
            Reach::Within(times) => self.times_the_limit.is_some_and(|is| is <= times),
            Reach::AtMost(most) => self.median <= most,
            Reach::AtLeast(least) => self.median >= least,
            Reach::Over(most) => self.median - limit <= most,
            Reach::Recall(least) => self.recall.is_some_and(|is| is >= least),
        };
        Self { reach: Some(reach), reached: Some(reached), ..self }
    }

    fn meant(&self) -> String {
        match self.reach {
            None => String::new(),
            Some(Reach::Within(times)) => format!("within {times}x"),
            Some(Reach::AtMost(most)) => format!("at most {}", amount(most, self.unit)),
            Some(Reach::AtLeast(least)) => format!("at least {}", amount(least, self.unit)),
            Some(Reach::Over(most)) => format!("{} over it", amount(most, self.unit)),
            Some(Reach::Recall(least)) => format!("recall {least:.2}"),
        }
    }

    fn mark(&self) -> &'static str {
        match self.reached {
            None => "",
            Some(true) => "PASS",
            Some(false) => "miss",
        }
    }

    fn cells(&self) -> [String; 9] {
        let some = |value: Option<f64>| value.map_or_else(String::new, |value| amount(value, self.unit));
        let limit = self.limit.as_ref();
        [
            self.what.clone(),
            if self.at == 0 { String::new() } else { grouped(self.at) },
            amount(self.median, self.unit),
            some(self.p99),
            self.recall.map_or_else(String::new, |recall| format!("{recall:.3}")),
            limit.map_or_else(String::new, |limit| format!("{}: {}", limit.what, amount(limit.value, self.unit))),
            self.times_the_limit.map_or_else(String::new, |times| format!("{times:.2}")),
            self.meant(),
            self.mark().to_owned(),
        ]
    }
}

/// A number of a unit, with as many digits as say something.
fn amount(value: f64, unit: &str) -> String {
    let number = match value.abs() {
        value if value >= 100.0 => grouped(value.round() as u64),
        value if value >= 10.0 => format!("{value:.1}"),
        value if value >= 1.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    };
    if unit == A_SECOND { format!("{number}{unit}") } else { format!("{number} {unit}") }
}

/// `12,345`.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let from_end = |at: usize| digits.len() - at;
    let comma = |at: usize| if at > 0 && from_end(at).is_multiple_of(3) { "," } else { "" };
    digits.char_indices().map(|(at, digit)| format!("{}{digit}", comma(at))).collect()
}

/// What belongs together.
#[derive(Debug, Serialize)]
pub(super) struct Part {
    /// The section's name on the command line.
    pub(super) name: &'static str,
    /// What it is about, in a sentence.
    pub(super) about: String,
    /// What `at` counts.
    pub(super) counts: &'static str,
    /// What was measured.
    pub(super) figures: Vec<Figure>,
    /// How long all of it took.
    pub(super) took_s: f64,
    /// Drawings of it.
    #[serde(skip)]
    pub(super) charts: Vec<Chart>,
}

/// A whole run.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    pub(super) memlog: &'static str,
    /// Whether the compiler optimised: figures of a debug build say nothing.
    pub(super) optimised: bool,
    pub(super) scale: &'static str,
    pub(super) machine: Machine,
    pub(super) sections: Vec<Part>,
    /// What was not measured, and why.
    pub(super) left_out: Vec<String>,
}

const HEADINGS: [&str; 9] = ["what", "", "median", "99 in 100", "recall", "limit", "times it", "reach", ""];

fn headings(part: &Part) -> [&'static str; 9] {
    let mut headings = HEADINGS;
    headings[1] = part.counts;
    headings
}

/// The report for people.
pub(super) fn people(screen: &Screen, report: &Report) -> String {
    let mut out = format!("{}\n", about(report));
    for part in &report.sections {
        let mut table = screen.table(&headings(part));
        for figure in &part.figures {
            let mark = |cell: String| match figure.reached {
                Some(true) => Cell::new(cell).fg(Color::Green),
                Some(false) => Cell::new(cell).fg(Color::Red),
                None => Cell::new(cell),
            };
            let [cells @ .., last] = figure.cells();
            table.add_row(cells.into_iter().map(Cell::new).chain([mark(last)]));
        }
        out += &format!("\n{}: {} ({:.0} s)\n{table}\n", part.name, part.about, part.took_s);
    }
    out + &left_out(report)
}

/// The report for a page.
pub(super) fn markdown(report: &Report) -> String {
    let mut out = format!("{}\n", about(report));
    for part in &report.sections {
        out += &format!("\n`memlog bench {}`: {}\n\n", part.name, part.about);
        // Columns in which nothing stands are left out.
        let rows: Vec<[String; 9]> = part.figures.iter().map(Figure::cells).collect();
        let kept: Vec<usize> = (0..9).filter(|at| rows.iter().any(|row| !row[*at].is_empty())).collect();
        let line = |cells: &mut dyn Iterator<Item = &str>| format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "));
        out += &line(&mut kept.iter().map(|at| headings(part)[*at]));
        out += &line(&mut kept.iter().map(|_| "---"));
        for row in &rows {
            out += &line(&mut kept.iter().map(|at| row[*at].as_str()));
        }
    }
    out + &left_out(report)
}

fn about(report: &Report) -> String {
    let build = if report.optimised { "" } else { " (a debug build: its times say nothing)" };
    format!("memlog {}{build}, {}, on {}", report.memlog, report.scale, report.machine.told())
}

fn left_out(report: &Report) -> String {
    report.left_out.iter().map(|what| format!("\nnot measured: {what}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    // A ratio that points the wrong way turns a miss into a pass.
    #[test]
    fn more_than_once_the_limit_is_worse_of_times_and_of_rates() {
        let slow = Figure::new("a search", 10, MS, 4.0).beside("a scan", 2.0);
        assert_eq!(slow.times_the_limit, Some(2.0));
        let few = Figure::new("saves", 10, A_SECOND, 500.0).beside("redb", 1_000.0);
        assert_eq!(few.times_the_limit, Some(2.0));
        assert_eq!(few.clone().reaching(Reach::Within(2.0)).reached, Some(true));
        assert_eq!(few.clone().reaching(Reach::Within(1.9)).reached, Some(false));
        assert_eq!(slow.clone().reaching(Reach::Over(2.0)).mark(), "PASS");
        assert_eq!(slow.clone().reaching(Reach::Over(1.0)).mark(), "miss");
        assert_eq!(slow.clone().reaching(Reach::AtMost(3.0)).reached, Some(false));
        assert_eq!(slow.clone().reaching(Reach::Recall(0.9)).reached, Some(false));
        assert_eq!(slow.clone().recalling(0.95).reaching(Reach::Recall(0.9)).reached, Some(true));
        assert_eq!(slow.clone().reaching(Reach::AtMost(3.0)).meant(), "at most 3.00 ms");
        assert_eq!(few.reaching(Reach::AtLeast(600.0)).meant(), "at least 600/s");
        // Nothing to hold it beside.
        assert_eq!(Figure::new("x", 1, MS, 1.0).reaching(Reach::Within(9.0)).reached, Some(false));
        assert_eq!(Figure::new("x", 1, MS, 1.0).reaching(Reach::Over(9.0)).reached, Some(false));
    }

    #[test]
    fn amounts_have_as_many_digits_as_say_something() {
        let told = [0.0567, 1.239, 56.78, 1_234_567.0].map(|value| amount(value, MS));
        assert_eq!(told, ["0.057 ms", "1.24 ms", "56.8 ms", "1,234,567 ms"]);
        assert_eq!(amount(500_000.0, A_SECOND), "500,000/s");
    }

    #[test]
    fn a_page_gets_a_table_without_empty_columns() {
        let figures = vec![
            Figure::new("saves", 128, A_SECOND, 30_000.0).beside("redb alone", 40_000.0).reaching(Reach::Within(2.0)),
            Figure::new("saves", 1, A_SECOND, 300.0).beside("redb alone", 900.0),
        ];
        let part = Part {
            name: "saves",
            about: "saves a second".to_owned(),
            counts: "in flight",
            figures,
            took_s: 1.0,
            charts: Vec::new(),
        };
        let report = Report {
            memlog: "1.2.3",
            optimised: true,
            scale: "quick",
            machine: Machine::unknown(),
            sections: vec![part],
            left_out: vec!["requests: no nats-server".to_owned()],
        };
        insta::assert_snapshot!("markdown", markdown(&report));
        insta::assert_snapshot!("people", people(&Screen::plain(), &report));
    }
}
