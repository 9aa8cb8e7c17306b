//! The language model on the command line: three variables set it up, `doctor` says how it is, and nothing shows its key.

use std::process::{Command, Output};

use super::*;

fn memlog(world: &World, words: &[&str], variables: &[(&str, &str)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_memlog"));
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("MEMLOG_")) {
        command.env_remove(name);
    }
    let home = world.folder.path().join("home");
    command.env("HOME", &home).env("XDG_CONFIG_HOME", &home).env("XDG_CACHE_HOME", &home);
    let url = world.settings.url.clone().expect("an endpoint");
    command.env("MEMLOG_LLM_URL", url).env("MEMLOG_LLM_MODEL", MODEL).env("MEMLOG_LLM_KEY", "sk-secret");
    command.env("MEMLOG_DATA", world.folder.path().join("data")).envs(variables.iter().copied()).args(words);
    command.output().expect("memlog runs")
}

fn printed(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr[..]].concat()).into_owned()
}

#[test]
fn three_variables_set_a_model_up() {
    let world = World::new();
    let file = world.folder.path().join("talk.jsonl");
    std::fs::write(&file, "{\"role\":\"user\",\"content\":\"I moved to Porto\"}\n").expect("written");
    let stored = memlog(&world, &["ingest", file.to_str().expect("a path")], &[]);
    assert!(stored.status.success(), "{}", printed(&stored));
    assert!(printed(&memlog(&world, &["memories"], &[])).contains("Noted: I moved to Porto"));
    assert!(world.llm.calls().iter().all(|call| call.bearer.as_deref() == Some("sk-secret")));
}

#[test]
fn the_doctor_says_how_the_model_is_and_keeps_its_key() {
    let mut world = World::new();
    for (words, extra) in [(&["doctor"][..], &[][..]), (&["doctor", "--json"], &[])] {
        let well = memlog(&world, words, extra);
        let told = printed(&well);
        assert!(told.contains(&format!("{MODEL} at {}/chat/completions answers", world.llm.url())), "{told}");
        assert!(well.status.success() && !told.contains("secret"), "{told}");
    }
    let other = printed(&memlog(&world, &["doctor"], &[("MEMLOG_LLM_MODEL", "another")]));
    assert!(other.contains("lists no model another"), "{other}");
    world.settings.url = Some(crate::support::llm::nowhere());
    let away = memlog(&world, &["doctor"], &[]);
    assert!(!away.status.success() && printed(&away).contains("does not answer"), "{}", printed(&away));
    let wrong = memlog(&world, &["memories"], &[("MEMLOG_LLM_TRIES_MAX", "none")]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(printed(&wrong).contains("MEMLOG_LLM_TRIES_MAX"), "{}", printed(&wrong));
    assert_eq!(world.llm.calls().len(), 0, "a look costs nothing");
}
