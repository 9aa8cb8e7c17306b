//! A look into every byte of every file: what was forgotten must be in none.

use std::{
    collections::HashMap,
    fs,
    path::{Path, PathBuf},
};

/// Bytes by which a needle is looked up; shorter ones would be found by chance.
const PREFIX: usize = 8;

/// Bytes to look for, each with the name under which a find is reported.
#[derive(Default)]
pub(crate) struct Needles {
    all: Vec<(String, Vec<u8>)>,
    by_prefix: HashMap<[u8; PREFIX], Vec<usize>>,
}

impl Needles {
    /// One more.
    pub(crate) fn add(&mut self, name: impl Into<String>, bytes: impl Into<Vec<u8>>) {
        let (name, bytes) = (name.into(), bytes.into());
        let prefix = *bytes.first_chunk().unwrap_or_else(|| panic!("{name} is too short to look for"));
        self.by_prefix.entry(prefix).or_default().push(self.all.len());
        self.all.push((name, bytes));
    }

    /// Every needle that some file under these folders, or one of these files, holds.
    pub(crate) fn find(&self, places: &[PathBuf]) -> Vec<String> {
        // Two bytes decide most places without a look-up.
        let mut begins = vec![false; 1 << 16];
        for [first, second, ..] in self.by_prefix.keys() {
            begins[usize::from(*first) << 8 | usize::from(*second)] = true;
        }
        let mut found = Vec::new();
        for file in files(places) {
            // A file of a running server may be gone between the list and the look.
            let Ok(bytes) = fs::read(&file) else { continue };
            for (at, pair) in bytes.windows(2).enumerate() {
                if begins[usize::from(pair[0]) << 8 | usize::from(pair[1])] {
                    let hits = self.at(&bytes[at..]).map(|name| format!("{name} is in {} at {at}", file.display()));
                    found.extend(hits);
                }
            }
        }
        found
    }

    fn at(&self, bytes: &[u8]) -> impl Iterator<Item = &str> {
        let known = bytes.first_chunk::<PREFIX>().and_then(|prefix| self.by_prefix.get(prefix));
        let here = known.into_iter().flatten().map(|needle| &self.all[*needle]);
        here.filter(|(_, needle)| bytes.starts_with(needle)).map(|(name, _)| name.as_str())
    }
}

/// Every file at or under these places.
pub(crate) fn files(places: &[PathBuf]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open: Vec<PathBuf> = places.to_vec();
    while let Some(path) = open.pop() {
        if path.is_dir() {
            let inside = fs::read_dir(&path).into_iter().flatten().flatten();
            open.extend(inside.map(|entry| entry.path()));
        } else if Path::is_file(&path) {
            found.push(path);
        }
    }
    found
}

// A search that finds nothing must be known to find something.
#[test]
fn a_needle_is_found_wherever_it_lies() {
    let folder = tempfile::tempdir().unwrap();
    let deep = folder.path().join("a/b");
    fs::create_dir_all(&deep).unwrap();
    fs::write(deep.join("end"), "xx the needle").unwrap();
    fs::write(folder.path().join("start"), "the needle xx the needlf").unwrap();
    let mut needles = Needles::default();
    needles.add("text", "the needle");
    needles.add("other", "the needles");
    let mut found = needles.find(&[folder.path().to_owned()]);
    found.sort_unstable();
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].ends_with("a/b/end at 3") && found[1].ends_with("start at 0"), "{found:?}");
}
