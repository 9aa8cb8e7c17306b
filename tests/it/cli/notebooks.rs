//! `memlog notebook` and `memlog agent` as people and scripts use them.

use std::{io::Write as _, process::Stdio};

use super::Memlog;

/// Runs with a text on stdin; what it printed.
fn piped(memlog: &Memlog, words: &[&str], text: &str) -> String {
    let mut child = memlog.command(words).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{words:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// An editor that adds a line to what it is shown, with a word of its own, as `code --wait` has.
fn editor(memlog: &Memlog, line: &str) -> String {
    let path = memlog.data().join("editor.sh");
    std::fs::write(&path, format!("[ \"$1\" = --wait ] && echo '{line}' >> \"$2\"\n")).unwrap();
    format!("sh {} --wait", path.display())
}

// The way of a person: create, write from a pipe, a file and an editor, read, find, compare, forget.
#[test]
fn an_entry_is_written_from_a_pipe_a_file_and_an_editor() {
    let memlog = Memlog::new();
    let about = ["--description", "How we write"];
    let saved = piped(&memlog, &[&["notebook", "save", "company", "tone", "--create"][..], &about].concat(), "Warm.\n");
    assert_eq!(saved, "saved tone at version 1\n");
    let file = memlog.data().join("tone.md");
    std::fs::write(&file, "Warm.\nBrief.\n").unwrap();
    memlog.ok(&["notebook", "save", "company", "tone", file.to_str().unwrap()]);
    let mut command = memlog.command(&["notebook", "save", "company", "tone"]);
    let output = command.env("EDITOR", editor(&memlog, "No jargon.")).env_remove("VISUAL").output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(memlog.ok(&["notebook", "read", "company", "tone"]), "Warm.\nBrief.\nNo jargon.\n");
    // An editor that changes nothing stores nothing; without an editor nobody is asked.
    let mut command = memlog.command(&["notebook", "save", "company", "tone"]);
    assert!(command.env("EDITOR", "true").env_remove("VISUAL").output().unwrap().status.success());
    let mut command = memlog.command(&["notebook", "save", "company", "tone", "--json"]);
    let output = command.env_remove("EDITOR").env_remove("VISUAL").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let failing = memlog.command(&["notebook", "save", "company", "tone"]).env("VISUAL", "false").output().unwrap();
    assert_eq!(failing.status.code(), Some(2));

    let history = memlog.json(&["notebook", "history", "company", "tone"]).remove(0);
    assert_eq!(history["versions"].as_array().unwrap().len(), 3);
    let diff = memlog.ok(&["notebook", "diff", "company", "tone"]);
    assert_eq!(diff, "--- tone version 2\n+++ tone version 3\n@@ -1,2 +1,3 @@\n Warm.\n Brief.\n+No jargon.\n");
    let diff = memlog.json(&["notebook", "diff", "company", "tone", "1", "2"]).remove(0);
    assert!(diff["diff"].as_str().unwrap().ends_with("+Brief.\n"), "{diff}");
    assert_eq!(memlog.refused(&["notebook", "diff", "company", "tone", "1", "9"]).0, 2);
    let found = memlog.json(&["notebook", "search", "company", "jarg"]).remove(0);
    assert_eq!(found["entries"][0]["name"], "tone");
    let (code, stale) = memlog.refused(&["notebook", "forget", "company", "tone", "--if-version", "1"]);
    assert_eq!((code, &stale["version"]), (1, &3.into()));
    memlog.ok(&["notebook", "forget", "company", "tone"]);
    assert_eq!(memlog.refused(&["notebook", "read", "company", "tone"]).1["entry"], "tone");
    let listed = memlog.json(&["notebook", "list"]).remove(0);
    assert_eq!((&listed["memories"][0]["name"], &listed["memories"][0]["entry_count"]), (&"company".into(), &0.into()));
}

#[test]
fn notebooks_are_shared_thrown_away_and_brought_back() {
    let memlog = Memlog::new();
    memlog.ok(&["notebook", "create", "company", "--description", "What all know"]);
    piped(&memlog, &["notebook", "save", "company", "tone", "--description", "How we write"], "Warm.");
    memlog.ok(&["agent", "create", "support", "--instructions", "Answer billing questions."]);
    memlog.ok(&["notebook", "attach", "company", "support", "--writes"]);
    let id = memlog.json(&["agent", "show", "support"]).remove(0)["agent"]["id"].as_str().unwrap().to_owned();
    assert_eq!(memlog.ok(&["agent", "brief", "support"]), "## company: What all know\n\n- **tone**: How we write\n");
    // The agent itself, for a user: what it writes is that user's.
    let acting = ["--agent", &id, "--user", "ann"];
    piped(&memlog, &[&["notebook", "save", "company", "tone", "-d", "For Ann"][..], &acting].concat(), "Dry.");
    assert_eq!(memlog.ok(&["notebook", "read", "company", "tone", "--user", "ann"]), "Dry.\n");
    assert_eq!(memlog.ok(&["notebook", "read", "company", "tone"]), "Warm.\n");
    let (code, refused) = memlog.refused(&["notebook", "trash", "company"]);
    assert_eq!((code, &refused["attached_to"][0]["name"]), (1, &"support".into()));
    memlog.ok(&["notebook", "detach", "company", "support"]);
    assert_eq!(memlog.refused(&["notebook", "detach", "company", "support"]).0, 1);
    let trash = memlog.json(&["notebook", "trash", "company"]).remove(0)["trash"]["id"].as_str().unwrap().to_owned();
    assert_eq!(memlog.json(&["notebook", "trash"]).remove(0)["items"][0]["name"], "company");
    memlog.ok(&["notebook", "restore", &trash]);
    assert!(memlog.ok(&["notebook", "show", "company"]).contains("tone"));
    memlog.ok(&["notebook", "rename", "company", "handbook"]);
    memlog.ok(&["notebook", "trash", "handbook"]);
    assert_eq!(memlog.refused(&["notebook", "purge", &trash]).0, 2, "nobody can be asked here");
    memlog.ok(&["notebook", "purge", &trash, "--yes"]);
    assert_eq!(memlog.refused(&["notebook", "restore", &trash]).0, 1);
    let agents = memlog.json(&["agent", "list"]).remove(0);
    assert_eq!(agents["agents"][0]["memories"], serde_json::json!([]));
    let rebuilt = memlog.json(&["rebuild"]).remove(0);
    assert_eq!((rebuilt["notebooks"].as_u64(), rebuilt["entries"].as_u64()), (Some(1), Some(0)), "the agent's own");
    let events = memlog.json(&["log", "-n", "100"]);
    let types: Vec<_> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(types[types.len() - 3..], ["memory_updated", "trashed", "purged"]);
    memlog.ok(&["agent", "delete", "support"]);
    assert_eq!(memlog.json(&["notebook", "trash"]).remove(0)["items"][0]["kind"], "agent_memory");
    memlog.ok(&["verify"]);
}

// A mistyped folder must not become a new one.
#[test]
fn only_what_writes_something_new_begins_a_folder() {
    let memlog = Memlog::new();
    for words in
        [&["notebook", "list"][..], &["notebook", "read", "a", "b"], &["agent", "list"], &["notebook", "trash"]]
    {
        let (code, error) = memlog.refused(words);
        assert_eq!((code, error["type"].as_str()), (2, Some("invalid_request_error")), "{words:?}");
    }
    memlog.ok(&["agent", "create", "support"]);
    assert_eq!(memlog.json(&["notebook", "list"]).remove(0)["memories"], serde_json::json!([]));
}
