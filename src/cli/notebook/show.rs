//! Notebooks, entries and versions as people see them.

use comfy_table::Cell;
use memlog_actors::{
    api::{
        AsOf,
        memory::{Entries, EntriesPage, Entry, Listed, Memory, Versions},
    },
    recall::one_line,
};
use serde::Serialize;

use crate::cli::{
    Shell,
    fail::Fail,
    screen::Screen,
    tables::{self, moment, or_dash, pairs},
    words::harmless,
};

/// A notebook that was just made or changed.
pub(super) fn created(memory: &Memory) -> String {
    format!("{} {}", or_dash(memory.name.as_deref()), memory.id)
}

/// A page of notebooks.
pub(super) fn notebooks(screen: &Screen, listed: &Listed) -> String {
    let columns = [
        ("id", 0),
        ("notebook", 0),
        ("entries", 0),
        ("whose", 100),
        ("attached", 110),
        ("changed (UTC)", 120),
        ("about", 90),
    ];
    let mut grid = screen.grid(&columns);
    for memory in &listed.memories {
        grid.add([
            Cell::new(&memory.id),
            Cell::new(or_dash(memory.name.as_deref())),
            Cell::new(memory.entry_count),
            Cell::new(harmless(or_dash(memory.user_id.as_deref()))),
            Cell::new(memory.attached_to.len()),
            Cell::new(moment(memory.updated_at)),
            Cell::new(one_line(memory.description.as_deref().unwrap_or_default(), 80)),
        ]);
    }
    tables::page(grid.into_table(), listed.cursor.as_deref(), "no notebooks")
}

/// A notebook and the names of its entries, for machines.
#[derive(Debug, Serialize)]
struct Whole {
    memory: Memory,
    entries: Vec<Entry>,
}

/// `memlog notebook show`
pub(super) async fn whole(shell: &Shell, notebook: &str, as_of: Option<AsOf>) -> Result<(), Fail> {
    let memory = super::found(shell, notebook, as_of).await?;
    let id = Some(memory.id.clone());
    let EntriesPage { entries: listed } = shell.call(Entries { id, name: None, as_of }).await?;
    shell.screen.reply(&Whole { memory, entries: listed }, |screen, whole| {
        let memory = &whole.memory;
        let writes = |writes| if writes { " (writes)" } else { "" };
        let attached: Vec<String> =
            memory.attached_to.iter().map(|agent| format!("{}{}", agent.name, writes(agent.writes))).collect();
        let about = pairs(&[
            ("id", memory.id.clone()),
            ("name", or_dash(memory.name.as_deref()).to_owned()),
            ("about", or_dash(memory.description.as_deref()).to_owned()),
            ("whose", or_dash(memory.user_id.as_deref()).to_owned()),
            ("attached to", if attached.is_empty() { "-".to_owned() } else { attached.join(", ") }),
            ("created (UTC)", moment(memory.created_at)),
            ("changed (UTC)", moment(memory.updated_at)),
        ]);
        format!("{about}\n{}", entries(screen, &whole.entries, "no entries in this layer"))
    })
}

/// Entries as a list shows them.
pub(super) fn entries(screen: &Screen, entries: &[Entry], empty: &str) -> String {
    let columns = [("entry", 0), ("version", 0), ("about", 0), ("layer", 100), ("by", 120), ("changed (UTC)", 110)];
    let mut grid = screen.grid(&columns);
    for entry in entries {
        grid.add([
            Cell::new(harmless(&entry.name)),
            Cell::new(entry.version),
            Cell::new(one_line(entry.description.as_deref().unwrap_or("(forgotten)"), 160)),
            Cell::new(harmless(or_dash(entry.user_id.as_deref()))),
            Cell::new(harmless(or_dash(entry.updated_by.as_deref()))),
            Cell::new(moment(entry.updated_at)),
        ]);
    }
    tables::page(grid.into_table(), None, empty)
}

/// An entry in full: its text alone, so that it can go into a file and back.
pub(super) fn entry(entry: &Entry) -> String {
    harmless(entry.content.as_deref().unwrap_or_default())
}

/// The versions of an entry.
pub(super) fn versions(screen: &Screen, told: &Versions) -> String {
    let mut table = screen.table(&["version", "changed (UTC)", "by", "text"]);
    for version in &told.versions {
        table.add_row([
            Cell::new(version.version),
            Cell::new(moment(version.updated_at)),
            Cell::new(harmless(or_dash(version.updated_by.as_deref()))),
            Cell::new(one_line(version.content.as_deref().unwrap_or("(forgotten)"), 160)),
        ]);
    }
    tables::page(table, None, "no versions")
}
