//! All that is printed goes through here: replies to stdout, notes, errors and progress to stderr.
//!
//! Machines (`--json`) get one JSON object a line and no progress; people get tables, and colour where the terminal shows
//! it. A closed pipe ends the printing and is no error.

use std::io::{self, IsTerminal as _, Write};

use anstyle::{AnsiColor, Effects, Style};
use comfy_table::{Attribute, Cell, ColumnConstraint, ContentArrangement, Table, TableComponent, presets};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;

use super::fail::Fail;

/// When to use colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Color {
    /// On a terminal, and if NO_COLOR is not set.
    #[default]
    Auto,
    /// In pipes and files, too.
    Always,
    /// Not at all.
    Never,
}

/// Headings.
pub(super) const HEADING: Style =
    Style::new().effects(Effects::BOLD).fg_color(Some(anstyle::Color::Ansi(AnsiColor::Cyan)));
/// What is well.
pub(super) const GOOD: Style = Style::new().fg_color(Some(anstyle::Color::Ansi(AnsiColor::Green)));
/// What may not be well.
pub(super) const WARNING: Style = Style::new().fg_color(Some(anstyle::Color::Ansi(AnsiColor::Yellow)));
/// What is not well.
pub(super) const BAD: Style = Style::new().effects(Effects::BOLD).fg_color(Some(anstyle::Color::Ansi(AnsiColor::Red)));
/// Asides.
pub(super) const DIM: Style = Style::new().effects(Effects::DIMMED);

/// The headings of columns that are never wrapped.
const IDS: [&str; 4] = ["id", "seq", "record", "stream"];

/// The width of a column that is not shown at all.
pub(super) const NEVER: u16 = u16::MAX;

/// A table that leaves columns out where there is no room for them.
pub(super) struct Grid {
    table: Table,
    shown: Vec<bool>,
}

impl Grid {
    /// Adds a row, a cell for every column, shown or not.
    pub(super) fn add<const N: usize>(&mut self, row: [Cell; N]) {
        self.table.add_row(row.into_iter().zip(&self.shown).filter(|(_, shown)| **shown).map(|(cell, _)| cell));
    }

    /// The table.
    pub(super) fn into_table(self) -> Table {
        self.table
    }
}

/// Where and how to print.
#[derive(Clone, Copy, Debug)]
pub(super) struct Screen {
    json: bool,
    colour: bool,
    /// The terminal's columns; none where there is no terminal.
    width: Option<u16>,
}

impl Screen {
    /// Looks at the terminal and the environment.
    pub(super) fn new(json: bool, color: Color) -> Self {
        match color {
            Color::Auto => {}
            Color::Always => anstream::ColorChoice::Always.write_global(),
            Color::Never => anstream::ColorChoice::Never.write_global(),
        }
        let colour = anstream::AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never;
        // Asked of a fresh table, since one without colour no longer looks at the terminal; and a very narrow terminal
        // would get one letter a line.
        let width = io::stdout().is_terminal().then(|| Table::new().width().unwrap_or(100).max(60));
        Self { json, colour, width }
    }

    /// Whether logs may have colour: stderr is a terminal, and nothing speaks against it.
    pub(super) fn colours_stderr(&self) -> bool {
        anstream::AutoStream::choice(&io::stderr()) != anstream::ColorChoice::Never
    }

    /// Whether a machine reads along.
    pub(super) fn is_json(&self) -> bool {
        self.json
    }

    /// Prints a reply: as it is for machines, in `people`'s words for people.
    pub(super) fn reply<T: Serialize>(&self, reply: &T, people: impl FnOnce(&Self, &T) -> String) -> Result<(), Fail> {
        let text = if self.json {
            serde_json::to_string(reply)
                .map_err(|error| Fail::Usage(format!("the reply cannot be written: {error}")))?
        } else {
            people(self, reply)
        };
        self.line(&text);
        Ok(())
    }

    /// Prints a line, or several, to stdout.
    pub(super) fn line(&self, text: &str) {
        // A reader that has seen enough closes the pipe, as `head` does.
        drop(self.written(text));
    }

    /// The same, for who would go on for ever: an error says that nobody reads any more.
    pub(super) fn written(&self, text: &str) -> io::Result<()> {
        writeln!(anstream::stdout().lock(), "{}", text.trim_end_matches('\n'))
    }

    /// Prints an aside to stderr.
    pub(super) fn note(&self, text: &str) {
        drop(writeln!(anstream::stderr().lock(), "{DIM}{text}{DIM:#}"));
    }

    /// Prints why a command failed, and what to do.
    pub(super) fn fail(&self, fail: &Fail) {
        let text = match (self.json, fail.hint()) {
            (true, _) => fail.body().to_string(),
            (false, None) => format!("{BAD}error{BAD:#}: {fail}"),
            (false, Some(hint)) => format!("{BAD}error{BAD:#}: {fail}\n  {GOOD}try{GOOD:#}: {hint}"),
        };
        drop(writeln!(anstream::stderr().lock(), "{text}"));
    }

    /// An empty table that fits the terminal, with these headings.
    pub(super) fn table(&self, headings: &[&str]) -> Table {
        let mut table = Table::new();
        // A line under the headings is all that a table needs, and what `grep` and `cut` like best.
        table.load_preset(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic);
        for line in [TableComponent::HeaderLines, TableComponent::MiddleHeaderIntersections] {
            table.set_style(line, '─');
        }
        if self.colour {
            table.enforce_styling();
        } else {
            table.force_no_tty();
        }
        if let Some(width) = self.width {
            table.set_width(width);
        }
        table.set_header(headings.iter().map(|heading| Cell::new(heading).add_attribute(Attribute::Bold)));
        for (heading, column) in headings.iter().zip(table.column_iter_mut()) {
            // People copy these into the next command; a broken one is of no use.
            if IDS.contains(heading) {
                column.set_constraint(ColumnConstraint::ContentWidth);
            }
        }
        table
    }

    /// An empty table of those columns that the terminal has room for: each is a heading, and the width from which on it
    /// is shown. Files and pipes get them all.
    pub(super) fn grid(&self, columns: &[(&str, u16)]) -> Grid {
        let shown: Vec<bool> = columns.iter().map(|(_, from)| *from <= self.width.unwrap_or(NEVER - 1)).collect();
        let headings: Vec<&str> =
            columns.iter().zip(&shown).filter(|(_, shown)| **shown).map(|((heading, _), _)| *heading).collect();
        Grid { table: self.table(&headings), shown }
    }

    /// A progress bar on stderr; hidden where no terminal shows it.
    pub(super) fn progress(&self, of: u64, what: &'static str) -> ProgressBar {
        let target = if self.json { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let style = ProgressStyle::with_template("{msg:>12} [{bar:32}] {pos}/{len} {eta}")
            .unwrap_or_else(|_| ProgressStyle::default_bar())
            .progress_chars("=> ");
        ProgressBar::with_draw_target(Some(of), target).with_style(style).with_message(what)
    }

    #[cfg(test)]
    pub(super) fn plain() -> Self {
        Self { json: false, colour: false, width: None }
    }

    #[cfg(test)]
    pub(super) fn plain_of(width: u16) -> Self {
        Self { width: Some(width), ..Self::plain() }
    }
}
