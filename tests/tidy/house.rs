//! The files of the project, read once. Small houses are built from strings to show that the walls bite.

use std::fs;
use std::path::{Path, PathBuf};

use crate::source::Source;

/// The folders that hold the project's own files.
pub(crate) const FOLDERS: [&str; 5] = ["src", "actors", "events", "tests", "deploy"];

/// Folders of what builds, tests and fuzzers leave behind.
const MADE: [&str; 4] = ["target", "__pycache__", "corpus", "artifacts"];

/// Every file by its path from the root, with forward slashes, in order.
pub(crate) struct House {
    files: Vec<(String, String)>,
    /// Visible names in the root that git does not ignore.
    pub(crate) top: Vec<String>,
    root: PathBuf,
}

impl House {
    /// The project as it lies on the disk.
    pub(crate) fn read() -> Self {
        let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
        let ignored = fs::read_to_string(root.join(".gitignore")).expect(".gitignore is there");
        let ignored: Vec<&str> = ignored.lines().filter_map(|line| line.strip_prefix('/')).collect();
        let mut top: Vec<String> = names(&root);
        top.retain(|name| !name.starts_with('.') && !ignored.contains(&name.as_str()));

        let mut files = Vec::new();
        for name in ["Cargo.toml", "README.md", ".ci/run"] {
            read_file(&root, name, &mut files);
        }
        for folder in FOLDERS {
            read_folder(&root, folder, &mut files);
        }
        files.sort();
        Self { files, top, root }
    }

    /// A house of these files alone.
    #[cfg(test)]
    pub(crate) fn of(files: &[(&str, &str)]) -> Self {
        let files = files.iter().map(|(path, text)| (path.to_string(), text.to_string())).collect();
        Self { files, top: Vec::new(), root: PathBuf::new() }
    }

    pub(crate) fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(|(path, _)| path.as_str())
    }

    pub(crate) fn has(&self, path: &str) -> bool {
        self.paths().any(|other| other == path)
    }

    /// The text of a file; empty when there is none.
    pub(crate) fn text(&self, path: &str) -> &str {
        self.files.iter().find(|(other, _)| other == path).map_or("", |(_, text)| text)
    }

    /// Every Rust file, split into code and comments.
    pub(crate) fn rust(&self) -> impl Iterator<Item = Source<'_>> {
        let rust = self.files.iter().filter(|(path, _)| path.ends_with(".rs"));
        rust.map(|(path, text)| Source::new(path, text))
    }

    /// Whether the system would run it. Where there are no such permissions, everything counts as executable.
    pub(crate) fn is_executable(&self, path: &str) -> bool {
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            fs::metadata(self.root.join(path)).is_ok_and(|file| file.permissions().mode() & 0o111 != 0)
        }
        #[cfg(not(unix))]
        true
    }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    entries.map(|entry| entry.expect("a readable folder").file_name().to_string_lossy().into_owned()).collect()
}

fn read_folder(root: &Path, folder: &str, files: &mut Vec<(String, String)>) {
    for name in names(&root.join(folder)) {
        let path = format!("{folder}/{name}");
        if root.join(&path).is_dir() {
            if !MADE.contains(&name.as_str()) && !name.starts_with('.') {
                read_folder(root, &path, files);
            }
        } else {
            read_file(root, &path, files);
        }
    }
}

/// Files that are not text, golden bytes and images, count by their name.
fn read_file(root: &Path, path: &str, files: &mut Vec<(String, String)>) {
    if let Ok(bytes) = fs::read(root.join(path)) {
        files.push((path.to_owned(), String::from_utf8(bytes).unwrap_or_default()));
    }
}
