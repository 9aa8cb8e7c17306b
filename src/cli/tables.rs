//! The tables that several commands print.

use comfy_table::{Attribute, Cell, Table};
use memlog_actors::{
    api::{Time, audit, job::Job, record::Record},
    recall::one_line,
};

use super::{
    screen::{NEVER, Screen},
    words::{harmless, written},
};

/// Seconds are enough for people, and a space reads better than a `T`.
pub(super) fn moment(time: Time) -> String {
    time.timestamp().strftime("%Y-%m-%d %H:%M:%S").to_string()
}

/// Something that may be absent.
pub(super) fn or_dash(value: Option<&str>) -> &str {
    value.unwrap_or("-")
}

fn dim(text: impl ToString) -> Cell {
    Cell::new(text).add_attribute(Attribute::Dim)
}

/// What a record says: its summary, else its content on one line, else that it is gone.
pub(super) fn said(record: &Record) -> String {
    let content = record.content.as_ref().and_then(Option::as_deref);
    let text = record.summary.as_deref().or(content).unwrap_or("(forgotten)");
    one_line(text, 160)
}

/// Records as a list shows them; with a column of scores if they have any. On a narrow terminal `show` has the rest.
pub(super) fn records(screen: &Screen, records: &[Record]) -> Table {
    let scored = records.iter().any(|record| record.score.is_some());
    let columns = [
        ("id", 0),
        ("score", if scored { 100 } else { NEVER }),
        ("type", 0),
        ("memory", 0),
        ("who", 90),
        ("session", 130),
        ("when (UTC)", 110),
        ("sources", 150),
    ];
    let mut grid = screen.grid(&columns);
    for record in records {
        grid.add([
            dim(&record.id),
            Cell::new(record.score.map_or_else(String::new, |score| format!("{score:.2}"))),
            Cell::new(written(&record.item_type)),
            Cell::new(said(record)),
            Cell::new(or_dash(record.speaker.as_deref())),
            Cell::new(or_dash(record.session_id.as_deref())),
            Cell::new(moment(record.timestamp)),
            Cell::new(sources(record)),
        ]);
    }
    grid.into_table()
}

/// The messages that a record was made from; past three only how many.
fn sources(record: &Record) -> String {
    match record.sources.as_slice() {
        [] => "-".to_owned(),
        few @ ([_] | [_, _] | [_, _, _]) => few.join(" "),
        many => format!("{} messages", many.len()),
    }
}

/// Events of the log.
pub(super) fn events(screen: &Screen, events: &[audit::Event]) -> Table {
    let columns = [
        ("seq", 0),
        ("record", 0),
        ("event", 0),
        ("at (UTC)", 100),
        ("by", 120),
        ("profile", 120),
        ("stream", 170),
        ("version", 170),
    ];
    let mut grid = screen.grid(&columns);
    for event in events {
        grid.add([
            Cell::new(event.seq),
            Cell::new(or_dash(event.record_id.as_deref())),
            Cell::new(&event.event_type),
            Cell::new(moment(event.at)),
            Cell::new(or_dash(event.by.as_deref())),
            Cell::new(or_dash(event.profile.as_deref())),
            dim(&event.stream),
            dim(event.version),
        ]);
    }
    grid.into_table()
}

/// Extraction jobs.
pub(super) fn jobs(screen: &Screen, jobs: &[Job]) -> Table {
    let columns = [
        ("id", 0),
        ("state", 0),
        ("profile", 0),
        ("session", 130),
        ("accepted (UTC)", 110),
        ("tries", 120),
        ("records", 120),
        ("error", 0),
    ];
    let mut grid = screen.grid(&columns);
    for job in jobs {
        grid.add([
            dim(&job.job_id),
            Cell::new(written(&job.state)),
            Cell::new(&job.profile),
            Cell::new(or_dash(job.session_id.as_deref())),
            Cell::new(moment(job.created_at)),
            Cell::new(job.attempts),
            Cell::new(job.records.len()),
            Cell::new(or_dash(job.error.as_deref())),
        ]);
    }
    grid.into_table()
}

/// Names and values, one a line, the values aligned.
pub(super) fn pairs(pairs: &[(&str, String)]) -> String {
    let width = pairs.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    pairs.iter().map(|(name, value)| format!("{name:width$}  {}\n", harmless(value))).collect()
}

/// The table, or a sentence when it has no rows; and how to see the next page when there is one.
pub(super) fn page(table: Table, cursor: Option<&str>, empty: &str) -> String {
    if table.is_empty() {
        return empty.to_owned();
    }
    match cursor {
        None => table.to_string(),
        Some(cursor) => format!("{table}\nmore: --cursor {cursor}"),
    }
}
