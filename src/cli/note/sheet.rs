//! The notes of a level as one text to be edited, and what changed in it.

use memlog_actors::api::note::{Anyones, Level};

use crate::cli::words;

/// A note on the sheet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Entry {
    /// None is a new one.
    pub(super) id: Option<u64>,
    pub(super) name: String,
    pub(super) category: String,
    pub(super) info: String,
    pub(super) kind: String,
    pub(super) group: String,
    pub(super) login: String,
    pub(super) body: String,
}

impl From<Anyones> for Entry {
    fn from(row: Anyones) -> Self {
        let Anyones { note, login } = row;
        Self {
            id: Some(note.id),
            name: note.name.unwrap_or_default(),
            category: note.category.unwrap_or_default(),
            info: note.info.unwrap_or_default(),
            kind: note.kind_key,
            group: note.group.unwrap_or_default(),
            login: login.unwrap_or_default(),
            body: String::new(),
        }
    }
}

/// What a note begins with.
const NOTE: &str = "=== note ";
const NEW: &str = "=== new";

/// The sheet.
pub(super) fn write(level: Level, entries: &[Entry]) -> String {
    let level = words::written(&level);
    let mut out = format!(
        "The notes of the level {level}. Change what you like; a note that you take out of this text stays as it is.\n\
         A new note begins with a line \"{NEW}\", its fields (name, category, info, kind, and group or login) and an empty line.\n\
         Bodies are simple HTML: p, ul, li, b, code.\n"
    );
    for entry in entries {
        let Entry { id, name, category, info, kind, group, login, body } = entry;
        let heading = id.map_or_else(|| NEW.to_owned(), |id| format!("{NOTE}{id}"));
        out.push_str(&format!("\n{heading}\nname: {name}\ncategory: {category}\ninfo: {info}\nkind: {kind}\n"));
        for (field, value) in [("group", group), ("login", login)] {
            if !value.is_empty() {
                out.push_str(&format!("{field}: {value}\n"));
            }
        }
        out.push('\n');
        // A line of a body must not look like a heading; to HTML it is the same.
        for line in body.lines() {
            let line = match line.strip_prefix("===") {
                Some(rest) => format!("&#61;=={rest}"),
                None => line.to_owned(),
            };
            out.push_str(&format!("{line}\n"));
        }
    }
    out
}

/// The notes of a sheet; an error has its line.
pub(super) fn read(text: &str) -> Result<Vec<Entry>, (usize, String)> {
    let mut entries: Vec<Entry> = Vec::new();
    let mut in_body = false;
    for (at, line) in text.lines().enumerate() {
        let wrong = |reason: &str| (at + 1, reason.to_owned());
        if line.starts_with("===") {
            let id = match line.trim_end().strip_prefix(NOTE) {
                Some(id) => Some(id.parse().map_err(|_| wrong("this is no number of a note"))?),
                None if line.trim_end() == NEW => None,
                None => return Err(wrong("a note begins with \"=== note NUMBER\" or \"=== new\"")),
            };
            if id.is_some() && entries.iter().any(|entry| entry.id == id) {
                return Err(wrong("this note stands here twice"));
            }
            entries.push(Entry { id, ..Entry::default() });
            in_body = false;
            continue;
        }
        let Some(entry) = entries.last_mut() else { continue };
        if in_body {
            entry.body.push_str(line);
            entry.body.push('\n');
        } else if line.trim().is_empty() {
            in_body = true;
        } else {
            let (field, value) = line.split_once(':').ok_or_else(|| wrong("a field is \"name: value\""))?;
            let value = value.trim().to_owned();
            match field.trim() {
                "name" => entry.name = value,
                "category" => entry.category = value,
                "info" => entry.info = value,
                "kind" => entry.kind = value,
                "group" => entry.group = value,
                "login" => entry.login = value,
                _ => return Err(wrong("the fields are name, category, info, kind, group and login")),
            }
        }
    }
    for entry in &mut entries {
        entry.body = unescaped(entry.body.trim_matches('\n'));
    }
    Ok(entries)
}

fn unescaped(body: &str) -> String {
    let lines = body.lines().map(|line| match line.strip_prefix("&#61;==") {
        Some(rest) => format!("==={rest}"),
        None => line.to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The notes that are new or not as they were.
pub(super) fn changes(before: &[Entry], after: Vec<Entry>) -> Vec<Entry> {
    let trimmed = |entry: &Entry| Entry { body: unescaped(entry.body.trim_matches('\n')), ..entry.clone() };
    let before: Vec<Entry> = before.iter().map(trimmed).collect();
    after.into_iter().filter(|entry| !before.contains(entry)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(id: Option<u64>, name: &str, body: &str) -> Entry {
        let (name, body, kind) = (name.to_owned(), body.to_owned(), "kSkill".to_owned());
        Entry { id, name, body, kind, ..Entry::default() }
    }

    // An editor that was only looked into must change nothing, whatever is in the notes.
    #[test]
    fn what_was_not_touched_has_not_changed() {
        let mut all = vec![
            entry(Some(1), "tone", "<p>Warm</p>\n\n<p>Brief: always</p>"),
            entry(Some(2), "trap", "=== note 1\n=== new\nname: taken over"),
            entry(Some(3), "colon: in it", "=="),
        ];
        all[0].group = "sales".to_owned();
        let sheet = write(Level::Group, &all);
        assert_eq!(read(&sheet), Ok(all.clone()));
        assert_eq!(changes(&all, read(&sheet).unwrap()), []);
        let touched = sheet.replace("Warm", "Cool") + "\n=== new\nname: fresh\n\n<p>x</p>\n";
        let changed = changes(&all, read(&touched).unwrap());
        assert_eq!(changed.len(), 2);
        assert_eq!((changed[0].id, changed[1].id, changed[1].body.as_str()), (Some(1), None, "<p>x</p>"));
        // A note that was taken out stays as it is.
        let gone = sheet.split("\n=== note 2").next().unwrap();
        assert_eq!(changes(&all, read(gone).unwrap()), []);
    }

    #[test]
    fn mistakes_are_told_by_their_line() {
        for (text, line) in [
            ("=== note x", 1),
            ("\n=== nowt", 2),
            ("=== new\nname", 2),
            ("=== new\ncolour: red", 2),
            ("=== note 1\n\nx\n=== note 1", 4),
        ] {
            assert_eq!(read(text).expect_err(text).0, line, "{text}");
        }
    }
}
