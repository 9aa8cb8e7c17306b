//! A run file: what was found for every question, one JSON object a line and no heading, as other scorers read it, too:
//! `{"question_id","retrieved":[{"source_ids","text"}],"answers?","latency_ms?"}`.

use std::{
    collections::HashMap,
    fs::File,
    io::{BufWriter, Write as _},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Deserializer, Serialize};

use super::answers::LENGTHS;
use crate::cli::{fail::Fail, input};

/// A hit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Retrieved {
    /// The turns that it stands for.
    pub(super) source_ids: Vec<String>,
    /// What a reader would be given.
    #[serde(default, deserialize_with = "or_empty")]
    pub(super) text: String,
}

impl Retrieved {
    /// Whether it stands for this turn.
    pub(super) fn covers(&self, turn: &str) -> bool {
        self.source_ids.iter().any(|id| id == turn)
    }
}

fn or_empty<'de, D: Deserializer<'de>>(text: D) -> Result<String, D::Error> {
    Option::deserialize(text).map(Option::unwrap_or_default)
}

/// One line.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Line {
    /// The question.
    pub(super) question_id: String,
    /// Best first.
    pub(super) retrieved: Vec<Retrieved>,
    /// What recall answered, short, medium and long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) answers: Option<[String; LENGTHS.len()]>,
    /// How long the question took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) latency_ms: Option<f64>,
}

/// Lines by question.
pub(super) fn read(path: &Path) -> Result<HashMap<String, Line>, Fail> {
    let (text, file) = input::text(path)?;
    let mut lines = HashMap::new();
    for (index, text) in text.lines().enumerate().filter(|(_, text)| !text.trim().is_empty()) {
        let wrong = |reason| Fail::Input { file: file.clone(), place: format!("line {}", index + 1), reason };
        let line: Line = serde_json::from_str(text).map_err(|error| wrong(format!("not a run's line: {error}")))?;
        if let Some(twice) = lines.insert(line.question_id.clone(), line) {
            return Err(wrong(format!("{} is there twice", twice.question_id)));
        }
    }
    Ok(lines)
}

/// A file that is being written, if one is wanted.
pub(super) struct Writer {
    file: Option<(PathBuf, BufWriter<File>)>,
}

impl Writer {
    /// Begins it, before anything is measured: an hour later is too late to learn that the folder is not there.
    pub(super) fn begin(path: Option<&Path>) -> Result<Self, Fail> {
        let open = |path: &Path| {
            let file = File::create(path).map_err(Fail::file(path))?;
            Ok::<_, Fail>((path.to_owned(), BufWriter::new(file)))
        };
        Ok(Self { file: path.map(open).transpose()? })
    }

    /// Adds a line.
    pub(super) fn write(&mut self, line: &Line) -> Result<(), Fail> {
        let Some((path, file)) = &mut self.file else { return Ok(()) };
        let line = serde_json::to_string(line).map_err(|error| Fail::Usage(error.to_string()))?;
        writeln!(file, "{line}").map_err(Fail::file(path.as_path()))
    }

    /// Ends it.
    pub(super) fn end(self) -> Result<(), Fail> {
        let Some((path, mut file)) = self.file else { return Ok(()) };
        file.flush().map_err(Fail::file(path))
    }
}
