// A wall that cannot fail guards nothing. Each is shown a small house with one fault and one that is in order.

use super::*;

fn house(files: &[(&str, &str)]) -> House {
    let manifests = [("Cargo.toml", ""), ("actors/Cargo.toml", ""), ("events/Cargo.toml", "")];
    let others = manifests.into_iter().filter(|(path, _)| !files.iter().any(|(other, _)| other == path));
    House::of(&others.chain(files.iter().copied()).collect::<Vec<_>>())
}

#[test]
fn an_arrow_against_the_grain_is_found_in_manifests_and_in_code() {
    let dependency = "[dev-dependencies]\nup = { package = \"memlog-actors\", path = \"../actors\" }";
    assert_eq!(arrows(&house(&[("events/Cargo.toml", dependency)])).len(), 1);
    assert_eq!(arrows(&house(&[("actors/src/a.rs", "use memlog::nats;")])), ["actors/src/a.rs:1: names memlog"]);
    assert!(arrows(&house(&[("actors/src/a.rs", "use memlog_events::ids; // not memlog")])).is_empty());
}

#[test]
fn a_crate_outside_its_place_is_found() {
    assert_eq!(crates(&house(&[("events/src/ids.rs", "\nbincode::config::standard()")])).len(), 1);
    assert_eq!(crates(&house(&[("actors/src/views/a.rs", "use redb::Database;")])).len(), 1);
    assert_eq!(crates(&house(&[("actors/Cargo.toml", "[dependencies]\nasync-nats = \"1\"")])).len(), 1);
    let target = "[target.'cfg(unix)'.dependencies]\nredb = \"4\"";
    assert_eq!(crates(&house(&[("Cargo.toml", target)])).len(), 1);
    let at_home = [("events/src/codec.rs", "use bincode::serde;"), ("events/src/log/tables.rs", "use redb::X;")];
    assert!(crates(&house(&at_home)).is_empty());
}

#[test]
fn a_word_where_it_may_not_be_is_found() {
    let blocks = "let done = tokio::task::spawn_blocking(work);";
    assert_eq!(words(&house(&[("actors/src/a.rs", blocks)])), ["actors/src/a.rs:1: names spawn_blocking"]);
    assert!(words(&house(&[("actors/src/blocking.rs", blocks), ("src/cli/a.rs", blocks)])).is_empty());
    let simulates = "System::start_on(machine, options)";
    assert_eq!(words(&house(&[("src/main.rs", simulates)])), ["src/main.rs:1: names start_on"]);
    assert!(words(&house(&[("actors/tests/sim/run.rs", simulates)])).is_empty());
}

#[test]
fn a_domain_that_waits_or_looks_at_the_clock_is_found() {
    let impure = "async fn f() {}\nlet now = SystemTime::now();";
    assert_eq!(pure_domain(&house(&[("actors/src/domain/a.rs", impure)])).len(), 2);
    assert!(pure_domain(&house(&[("actors/src/entity/a.rs", impure)])).is_empty());
}

#[test]
fn types_without_fixed_bytes_are_found_in_frozen_structs_alone() {
    let text = "pub struct SavedV1 {\n    pub count: usize,\n}\nfn count() -> usize { 0 }";
    assert_eq!(frozen_types(&house(&[("events/src/event/record.rs", text)])), ["events/src/event/record.rs:2: usize"]);
}

#[test]
fn a_door_without_a_sign_is_found() {
    assert_eq!(signs(&house(&[("src/a.rs", "use x;")])), ["src/a.rs"]);
    assert_eq!(signs(&house(&[("src/a.rs", "// not a sign")])), ["src/a.rs"]);
    assert!(signs(&house(&[("src/a.rs", "//! A sign."), ("src/a/tests.rs", "// Why.")])).is_empty());
}

#[test]
fn long_files_and_functions_are_found_and_so_is_a_stale_exception() {
    assert_eq!(long_files(&house(&[("src/a.rs", &"x\n".repeat(FILE_LINES_MAX + 1))])).len(), 1);
    assert!(long_files(&house(&[("src/a.rs", &"x\n".repeat(FILE_LINES_MAX))])).is_empty());

    let function = |lines: usize| format!("fn f() {{\n{}}}\n", "x;\n".repeat(lines - 2));
    let (fits, long) = (function(FUNCTION_LINES_MAX), function(FUNCTION_LINES_MAX + 1));
    let allowed = [("src/a.rs", "f", "a table, read row by row")];
    assert_eq!(long_functions_but(&house(&[("src/a.rs", &long)]), &[]).len(), 1);
    assert!(long_functions_but(&house(&[("src/a.rs", &long)]), &allowed).is_empty());
    assert!(long_functions_but(&house(&[("src/a.rs", &fits)]), &[]).is_empty());
    assert_eq!(long_functions_but(&house(&[("src/a.rs", &fits)]), &allowed).len(), 1);
}

#[test]
fn unfinished_work_is_found_in_code_comments_and_scripts() {
    assert_eq!(unfinished(&house(&[("src/a.rs", "fn f() { todo!() }")])).len(), 1);
    assert_eq!(unfinished(&house(&[("src/a.rs", "// TODO: later")])).len(), 1);
    assert_eq!(unfinished(&house(&[("deploy/run", "# FIXME")])).len(), 1);
    assert!(unfinished(&house(&[("actors/tests/data/turns.jsonl", "my TODO list")])).is_empty());
    assert!(unfinished(&house(&[("src/a.rs", "let s = \"todo!\"; let to_do_todo = 1;")])).is_empty());
}

#[test]
fn a_sleep_is_found_in_tests_alone() {
    let text = "fn poll() { sleep(1) }\n#[cfg(test)]\nmod tests {\n    fn t() { tokio::time::sleep(x) }\n}";
    assert_eq!(sleeping_tests(&house(&[("src/a.rs", text)])), ["src/a.rs:4: sleep"]);
    assert_eq!(sleeping_tests(&house(&[("tests/it/main.rs", "sleep(1)")])).len(), 1);
}

#[test]
fn a_stranger_and_a_gap_at_the_top_level_are_found() {
    let mut house = house(&[]);
    let complete = "Cargo.toml Cargo.lock README.md CHANGELOG.md LICENSE src actors events tests deploy";
    house.top = complete.split(' ').map(str::to_owned).collect();
    assert!(top_level(&house).is_empty());
    house.top[0] = "benches".into();
    assert_eq!(top_level(&house), ["benches does not belong there", "Cargo.toml is missing"]);
}

#[test]
fn missing_and_orphaned_golden_files_are_found() {
    let structs = ("events/src/event/record.rs", "pub struct SavedContentV1 {\npub struct ByV1 {\npub struct Other {");
    let golden = ("events/tests/golden/saved_content.v1.bin", "");
    assert_eq!(golden_files(&house(&[structs])).len(), 1);
    assert!(golden_files(&house(&[structs, golden])).is_empty());
    assert_eq!(golden_files(&house(&[golden])).len(), 1);
}

#[test]
fn a_readme_that_promises_too_much_or_shows_too_little_is_found() {
    let map = "`src/` `actors/` `events/` `tests/` `deploy/`. Run deploy/test.";
    assert!(readme(&house(&[("README.md", map), ("deploy/test", "")])).is_empty());
    assert_eq!(readme(&house(&[("README.md", map)])), ["README.md names deploy/test, which does not exist"]);
    assert_eq!(readme(&house(&[("README.md", "")])).len(), FOLDERS.len());
}

#[test]
fn a_script_that_goes_on_after_errors_is_found() {
    let found = scripts(&house(&[("deploy/run", "#!/usr/bin/env bash\necho"), ("deploy/lib.sh", "")]));
    assert_eq!(found, ["deploy/run is not executable", "deploy/run goes on after errors"]);
}
