//! The walls. Each takes the house and returns what stands outside, one line a finding.

use crate::house::{FOLDERS, House};
use crate::source::{Source, identifiers};

pub(crate) const FILE_LINES_MAX: usize = 500;
pub(crate) const FUNCTION_LINES_MAX: usize = 70;

/// Functions that may be longer: path, name, reason. An entry that is no longer needed is a finding.
const LONG_FUNCTIONS: &[(&str, &str, &str)] = &[];

/// Packages from the bottom up: manifest, folder, and the packages above, which it may not know.
const PACKAGES: [(&str, &str, &[&str]); 2] =
    [("events/Cargo.toml", "events/", &["memlog_actors", "memlog"]), ("actors/Cargo.toml", "actors/", &["memlog"])];

/// A crate that only some places may name: the crate, the manifests that may list it, the code that may use it.
struct Fence {
    name: &'static str,
    manifests: &'static [&'static str],
    places: &'static [&'static str],
}

const ROOT: &[&str] = &["Cargo.toml"];
const FENCES: &[Fence] = &[
    // Misreads changed types in silence, so one file knows it.
    Fence { name: "bincode", manifests: &["events/Cargo.toml"], places: &["events/src/codec.rs"] },
    // The file format is the log's alone. The vault borrows the trait of a storage, so that one failing disk tests both.
    Fence { name: "redb", manifests: &["events/Cargo.toml"], places: &["events/src/log/", "events/src/vault/"] },
    Fence { name: "ring", manifests: &["events/Cargo.toml"], places: &["events/"] },
    Fence { name: "kameo", manifests: &["actors/Cargo.toml"], places: &["actors/"] },
    // What happened knows no runtime.
    Fence { name: "tokio", manifests: &["actors/Cargo.toml", "Cargo.toml"], places: &["actors/", "src/", "tests/"] },
    // The doors.
    Fence {
        name: "async_nats",
        manifests: ROOT,
        places: &["src/door/", "src/jobs/", "src/client.rs", "src/nats/server/tests.rs", "tests/"],
    },
    Fence { name: "hyper", manifests: ROOT, places: &["src/ops/", "tests/"] },
    Fence { name: "prometheus", manifests: ROOT, places: &["src/ops/", "src/door/"] },
    Fence { name: "axum", manifests: ROOT, places: &["src/", "tests/"] },
    Fence { name: "rmcp", manifests: ROOT, places: &["src/", "tests/"] },
    Fence { name: "clap", manifests: ROOT, places: &["src/", "tests/"] },
    Fence { name: "anyhow", manifests: ROOT, places: &["src/", "tests/"] },
];

/// A word that a folder may not name, but for some of its files.
struct Kept {
    word: &'static str,
    folder: &'static str,
    places: &'static [&'static str],
}

const WORDS: &[Kept] = &[
    // On a runtime of one thread it would be a second one, and a simulation would see another history each time.
    Kept { word: "spawn_blocking", folder: "actors/src/", places: &["actors/src/blocking.rs"] },
    // The ways into a simulated machine, whose random bytes can be foreseen: a server has no business there. The turns of its
    // writer are of no use without them.
    Kept { word: "start_on", folder: "src/", places: &[] },
    Kept { word: "open_on", folder: "src/", places: &[] },
    Kept { word: "Fill", folder: "src/", places: &[] },
];

/// What would make a decision depend on more than its inputs.
const IMPURE: [&str; 10] =
    ["kameo", "tokio", "async", "await", "Clock", "Instant", "SystemTime", "println", "eprintln", "Mutex"];

/// Types whose bytes depend on the machine or the run.
const UNFROZEN: [&str; 4] = ["usize", "isize", "HashMap", "HashSet"];

/// Frozen structs that no event is: their bytes are inside the golden files of those that hold them.
const PARTS: [&str; 4] = ["ByV1", "PartV1", "ImageFormV1", "ReadersV1"];

/// Contents of events that change something: written like what they change, under a kind of their own.
const CHANGES: [&str; 4] =
    ["image_updated_content.v1", "message_updated_content.v1", "relinked_content.v1", "updated_content.v1"];

pub(crate) fn arrows(house: &House) -> Vec<String> {
    let mut found = Vec::new();
    for (manifest, folder, above) in PACKAGES {
        for name in dependencies(house, manifest) {
            if above.contains(&name.as_str()) {
                found.push(format!("{manifest}: depends on {name}"));
            }
        }
        for source in house.rust().filter(|source| source.path.starts_with(folder)) {
            for name in above {
                let lines = source.lines_naming(name).into_iter();
                found.extend(lines.map(|line| format!("{}:{line}: names {name}", source.path)));
            }
        }
    }
    found
}

pub(crate) fn crates(house: &House) -> Vec<String> {
    let mut found = Vec::new();
    for fence in FENCES {
        for manifest in ["Cargo.toml", "actors/Cargo.toml", "events/Cargo.toml"] {
            let listed = dependencies(house, manifest).iter().any(|name| name == fence.name);
            if listed && !fence.manifests.contains(&manifest) {
                found.push(format!("{manifest}: {} belongs to {}", fence.name, fence.manifests.join(", ")));
            }
        }
        let inside = |path: &str| fence.places.iter().any(|place| path.starts_with(place));
        for source in house.rust().filter(|source| !inside(source.path)) {
            let lines = source.lines_naming(fence.name).into_iter();
            let places = fence.places.join(", ");
            found.extend(lines.map(|line| format!("{}:{line}: {} belongs to {places}", source.path, fence.name)));
        }
    }
    found
}

pub(crate) fn words(house: &House) -> Vec<String> {
    let mut found = Vec::new();
    for Kept { word, folder, places } in WORDS {
        let kept = |path: &str| path.starts_with(folder) && !places.contains(&path);
        for source in house.rust().filter(|source| kept(source.path)) {
            let lines = source.lines_naming(word).into_iter();
            found.extend(lines.map(|line| format!("{}:{line}: names {word}", source.path)));
        }
    }
    found
}

pub(crate) fn pure_domain(house: &House) -> Vec<String> {
    let mut found = Vec::new();
    for source in house.rust().filter(|source| source.path.starts_with("actors/src/domain")) {
        for word in IMPURE {
            let lines = source.lines_naming(word).into_iter();
            found.extend(lines.map(|line| format!("{}:{line}: names {word}", source.path)));
        }
    }
    found
}

pub(crate) fn frozen_types(house: &House) -> Vec<String> {
    let mut found = Vec::new();
    for source in house.rust().filter(|source| source.path.starts_with("events/src/event/")) {
        let mut inside = false;
        for (at, line) in source.code.lines().enumerate() {
            inside = (inside || frozen_struct(line).is_some()) && line != "}";
            let unfrozen = identifiers(line).find(|word| UNFROZEN.contains(word));
            if let Some(word) = unfrozen.filter(|_| inside) {
                found.push(format!("{}:{}: {word}", source.path, at + 1));
            }
        }
    }
    found
}

pub(crate) fn signs(house: &House) -> Vec<String> {
    let unsigned = |source: &Source<'_>| {
        let sign = if source.is_test_file() { "//" } else { "//!" };
        !source.text.starts_with(sign)
    };
    house.rust().filter(unsigned).map(|source| source.path.to_owned()).collect()
}

pub(crate) fn long_files(house: &House) -> Vec<String> {
    let lines = house.rust().map(|source| (source.path, source.text.lines().count()));
    let long = lines.filter(|(_, lines)| *lines > FILE_LINES_MAX);
    long.map(|(path, lines)| format!("{path}: {lines} lines, {FILE_LINES_MAX} at most")).collect()
}

pub(crate) fn long_functions(house: &House) -> Vec<String> {
    long_functions_but(house, LONG_FUNCTIONS)
}

fn long_functions_but(house: &House, allowed: &[(&str, &str, &str)]) -> Vec<String> {
    let mut found = Vec::new();
    let mut used = Vec::new();
    for source in house.rust() {
        for function in source.functions().into_iter().filter(|function| function.lines > FUNCTION_LINES_MAX) {
            let entry = allowed.iter().position(|(path, name, _)| (*path, *name) == (source.path, &function.name));
            used.extend(entry);
            if entry.is_none() {
                let (line, name, lines) = (function.line, function.name, function.lines);
                found.push(format!("{}:{line}: {name} has {lines} lines, {FUNCTION_LINES_MAX} at most", source.path));
            }
        }
    }
    let stale = allowed.iter().enumerate().filter(|(at, _)| !used.contains(at));
    found.extend(stale.map(|(_, (path, name, _))| format!("{path}: {name} fits now; take it off LONG_FUNCTIONS")));
    found
}

pub(crate) fn unfinished(house: &House) -> Vec<String> {
    let mut found = Vec::new();
    let mut look = |path: &str, text: &str, marks: &[&str]| {
        for (at, line) in text.lines().enumerate() {
            let mark = marks.iter().find(|mark| contains_word(line, mark));
            found.extend(mark.map(|mark| format!("{path}:{}: {mark}", at + 1)));
        }
    };
    let notes = ["TODO", "FIXME", "XXX"];
    for source in house.rust() {
        look(source.path, &source.code, &["todo!", "unimplemented!", "dbg!"]);
        look(source.path, &source.comments, &notes);
    }
    // What people said in test data is theirs.
    let ours = |path: &&str| {
        let name = path.rsplit('/').next().unwrap_or_default();
        !name.contains('.') || [".md", ".toml", ".sh", ".py", ".conf", ".service"].iter().any(|end| name.ends_with(end))
    };
    for path in house.paths().filter(ours) {
        look(path, house.text(path), &notes);
    }
    found
}

fn contains_word(line: &str, word: &str) -> bool {
    let part_of_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    line.match_indices(word).any(|(at, _)| {
        let ends_open = word.ends_with('!') || !part_of_word(line[at + word.len()..].chars().next());
        !part_of_word(line[..at].chars().next_back()) && ends_open
    })
}

pub(crate) fn sleeping_tests(house: &House) -> Vec<String> {
    let mut found = Vec::new();
    for source in house.rust() {
        let Some(from) = source.tests_from() else { continue };
        for word in ["sleep", "sleep_until", "sleep_ms"] {
            let lines = source.lines_naming(word).into_iter().filter(|line| *line >= from);
            found.extend(lines.map(|line| format!("{}:{line}: {word}", source.path)));
        }
    }
    found
}

pub(crate) fn top_level(house: &House) -> Vec<String> {
    let files = ["Cargo.toml", "Cargo.lock", "README.md", "CHANGELOG.md", "LICENSE"];
    let expected: Vec<&str> = FOLDERS.into_iter().chain(files).collect();
    let strangers = house.top.iter().filter(|name| !expected.contains(&name.as_str()));
    let missing = expected.iter().filter(|name| !house.top.iter().any(|other| other == *name));
    strangers
        .map(|name| format!("{name} does not belong there"))
        .chain(missing.map(|name| format!("{name} is missing")))
        .collect()
}

pub(crate) fn golden_files(house: &House) -> Vec<String> {
    let mut expected = Vec::new();
    for source in house.rust().filter(|source| source.path.starts_with("events/src/event/")) {
        let structs = source.code.lines().filter_map(frozen_struct).filter(|name| !PARTS.contains(name));
        expected.extend(structs.map(|name| (golden_name(name), name.to_owned())));
    }
    let missing = expected.iter().filter(|(path, _)| !house.has(path));
    let missing = missing.map(|(path, name)| format!("{name} has no {path}"));
    let changes = CHANGES.map(|name| format!("{GOLDEN}{name}.bin"));
    let known = |path: &str| expected.iter().any(|(other, _)| other == path) || changes.iter().any(|it| it == path);
    let orphans = house.paths().filter(|path| path.starts_with(GOLDEN) && path.ends_with(".bin") && !known(path));
    let orphans = orphans.map(|path| format!("{path} has no struct; what was once written must stay readable"));
    missing.chain(orphans).collect()
}

const GOLDEN: &str = "events/tests/golden/";

/// The name of the frozen struct that this line declares, such as `SavedV1`.
fn frozen_struct(line: &str) -> Option<&str> {
    let name = identifiers(line.strip_prefix("pub struct ")?).next()?;
    let (stem, number) = name.rsplit_once('V')?;
    (!stem.is_empty() && number.parse::<u16>().is_ok()).then_some(name)
}

/// `SavedContentV1` is kept in `saved_content.v1.bin`.
fn golden_name(name: &str) -> String {
    let (stem, number) = name.rsplit_once('V').unwrap_or((name, ""));
    let mut snake = String::new();
    for c in stem.chars() {
        if c.is_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.extend(c.to_lowercase());
    }
    format!("{GOLDEN}{snake}.v{number}.bin")
}

pub(crate) fn readme(house: &House) -> Vec<String> {
    let text = house.text("README.md");
    let unnamed = FOLDERS.iter().filter(|folder| !text.contains(&format!("`{folder}/")));
    let mut found: Vec<String> = unnamed.map(|folder| format!("README.md does not mention `{folder}/`")).collect();
    for page in ["README.md", "deploy/README.md"] {
        let words = house.text(page).split(|c: char| !(c.is_alphanumeric() || "/._-".contains(c)));
        let named = words.filter(|word| word.starts_with("deploy/")).map(|word| word.trim_end_matches(['.', '/']));
        for path in named.filter(|path| *path != "deploy" && !house.has(path)) {
            found.push(format!("{page} names {path}, which does not exist"));
        }
    }
    found
}

pub(crate) fn scripts(house: &House) -> Vec<String> {
    let mut found = Vec::new();
    let bare = |path: &&str| path.rsplit('/').next().is_some_and(|name| !name.contains('.') && name != "Dockerfile");
    let scripts = house.paths().filter(|path| path.starts_with("deploy/") || path.starts_with(".ci/")).filter(bare);
    for path in scripts {
        let text = house.text(path);
        if !house.is_executable(path) {
            found.push(format!("{path} is not executable"));
        }
        let bash = text.starts_with("#!/usr/bin/env bash\n");
        if !bash && !text.starts_with("#!/usr/bin/env python3\n") {
            found.push(format!("{path} does not start with a shebang"));
        }
        if bash && !text.lines().any(|line| line == "set -euo pipefail") {
            found.push(format!("{path} goes on after errors"));
        }
    }
    found
}

fn dependencies(house: &House, manifest: &str) -> Vec<String> {
    let table: toml::Table = house.text(manifest).parse().unwrap_or_else(|error| panic!("{manifest}: {error}"));
    let targets = table.get("target").and_then(toml::Value::as_table).into_iter().flatten();
    let tables = targets.filter_map(|(_, target)| target.as_table()).chain([&table]);
    let sections = ["dependencies", "dev-dependencies", "build-dependencies"];
    let names = tables.flat_map(|table| sections.map(|section| table.get(section))).flatten();
    let mut found = Vec::new();
    for (key, value) in names.filter_map(toml::Value::as_table).flatten() {
        let name = value.get("package").and_then(toml::Value::as_str).unwrap_or(key);
        found.push(name.replace('-', "_"));
    }
    found
}

#[cfg(test)]
#[path = "bites.rs"]
mod bites;
