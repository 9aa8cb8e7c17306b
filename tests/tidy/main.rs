//! The walls of the house, as tests: who may depend on whom, which file may name which crate, how long a file may get,
//! what must exist beside what. A wall that only people guard falls in the first busy week. What the compiler can see
//! is in `.clippy.toml`; the rest is here. Each wall says in its failure what to do.

mod house;
mod source;
mod walls;

use std::fmt::Display;

use house::House;

/// Fails with every finding at once, so that one run shows the whole work.
fn assert_none<F: Display>(findings: Vec<F>, what_to_do: &str) {
    let list: Vec<String> = findings.iter().map(|finding| format!("  {finding}")).collect();
    assert!(list.is_empty(), "{what_to_do}\n{}", list.join("\n"));
}

#[test]
fn arrows_between_packages_go_one_way() {
    let house = House::read();
    assert_none(
        walls::arrows(&house),
        "The arrows are src -> actors -> events. Move the code down, or hand what it needs in through `actors::port`:",
    );
}

#[test]
fn crates_stay_behind_their_walls() {
    let house = House::read();
    assert_none(
        walls::crates(&house),
        "A crate is named outside its place (the table is in tests/tidy/walls.rs). Go through the module that owns it:",
    );
}

#[test]
fn words_stay_behind_their_walls() {
    let house = House::read();
    assert_none(
        walls::words(&house),
        "A word is named where it may not be; WORDS in tests/tidy/walls.rs says why. In actors, what blocks goes through \
         `blocking::run`; a simulation lives in actors/tests/sim:",
    );
}

#[test]
fn the_domain_is_pure() {
    let house = House::read();
    assert_none(
        walls::pure_domain(&house),
        "actors/src/domain decides and evolves, nothing else. Make time, ids and results of I/O its inputs:",
    );
}

#[test]
fn frozen_structs_hold_only_what_keeps_its_bytes() {
    let house = House::read();
    assert_none(
        walls::frozen_types(&house),
        "events/src/event is written to disk. Use integers of a fixed width and ordered collections:",
    );
}

#[test]
fn every_module_has_a_sign_on_its_door() {
    let house = House::read();
    assert_none(
        walls::signs(&house),
        "Begin the file with `//!` (what lives here, what must never enter); a test file with why it exists:",
    );
}

#[test]
fn files_fit_a_sitting() {
    let house = House::read();
    assert_none(walls::long_files(&house), "Split the file along what it does:");
}

#[test]
fn functions_fit_a_screen() {
    let house = House::read();
    assert_none(
        walls::long_functions(&house),
        "Name a part of the function and move it out, or list it with its reason in LONG_FUNCTIONS (tests/tidy/walls.rs):",
    );
}

#[test]
fn nothing_is_left_unfinished() {
    let house = House::read();
    assert_none(walls::unfinished(&house), "Finish it, or open an issue and take the note out:");
}

#[test]
fn tests_await_conditions_and_never_sleep() {
    let house = House::read();
    assert_none(
        walls::sleeping_tests(&house),
        "Await the condition itself (a watch channel, a reply, an event), with a bound around it:",
    );
}

#[test]
fn the_top_level_stays_small() {
    let house = House::read();
    assert_none(
        walls::top_level(&house),
        "Visible top level is src, actors, events, tests, deploy and the usual files. Put it inside one of them, or make \
         it a dot-file:",
    );
}

#[test]
fn every_frozen_struct_has_its_golden_file() {
    let house = House::read();
    assert_none(
        walls::golden_files(&house),
        "A version without golden bytes can change unseen. Write the file with the golden test of the events package, \
         commit it, and never change it again:",
    );
}

#[test]
fn the_readme_shows_the_house_as_it_is() {
    let house = House::read();
    assert_none(walls::readme(&house), "Correct README.md, or bring back what it promises:");
}

#[test]
fn scripts_run_and_stop_at_the_first_error() {
    let house = House::read();
    assert_none(
        walls::scripts(&house),
        "A script is executable, starts with `#!/usr/bin/env bash` and sets `set -euo pipefail`:",
    );
}
