//! `memlog note` as people and scripts use it.

use std::process::Output;

use super::Memlog;

/// A program that stands for the user's editor.
fn script(memlog: &Memlog, text: &str) -> String {
    let path = memlog.data().join("editor.sh");
    std::fs::write(&path, text).unwrap();
    format!("sh {}", path.display())
}

fn edit(memlog: &Memlog, words: &[&str], editor: &str) -> Output {
    let mut command = memlog.command(&[&["note", "edit"], words].concat());
    command.env("VISUAL", editor).env("TMPDIR", memlog.data()).output().unwrap()
}

fn types(memlog: &Memlog) -> Vec<String> {
    let told = memlog.json(&["log", "--from", "1"]);
    told.iter().map(|event| event["type"].as_str().unwrap().to_owned()).collect()
}

// The way of a person: a note of one's own, an administrator's for everyone, and what a session is given to read.
#[test]
fn notes_are_saved_listed_loaded_and_removed() {
    let memlog = Memlog::new();
    let ann = ["--user", "ann"];
    assert_eq!(memlog.refused(&["note", "save", "<script>", "--name", "x"]).1["field"], "body");
    let own = ["note", "save", "<p>Answer <b>briefly</b></p>", "--name", "tone", "--category", "style"];
    assert_eq!(memlog.ok(&[&own[..], &ann].concat()), "saved note 1: tone\n");
    let all = ["note", "save", "Pay with care", "--name", "money", "--admin", "--level", "all", "--kind", "kCritical"];
    memlog.ok(&all);
    let sales = ["note", "save", "Be kind", "--name", "sales", "--admin", "--level", "group", "--group", "sales"];
    memlog.ok(&sales);
    assert_eq!(
        memlog.run(&["note", "save", "x", "--level", "all"]).status.code(),
        Some(2),
        "--level goes with --admin"
    );

    let listed = memlog.json(&[&["note", "list"][..], &ann].concat()).remove(0);
    assert_eq!(listed["notes"].as_array().unwrap().len(), 2);
    let listed = memlog.ok(&[&["note", "list", "--member-of", "sales"][..], &ann].concat());
    for word in ["group sales", "style", "kCritical", "tone"] {
        assert!(listed.contains(word), "{word} in\n{listed}");
    }
    assert!(memlog.ok(&["note", "list", "--admin", "--login", "ann"]).contains("own ann"));
    assert_eq!(memlog.ok(&["note", "list", "--user", "bob", "--level", "own"]), "no notes\n");
    let text = memlog.ok(&[&["note", "load", "1", "2"][..], &ann].concat());
    let expected = "## Notes for everyone\n\n### money (kCritical)\n\nPay with care\n\n## Own notes\n\n### tone (kDefault)\n\nAnswer **briefly**\n";
    assert_eq!(text, expected);
    let critical = memlog.json(&[&["note", "load", "--critical"][..], &ann].concat()).remove(0);
    assert_eq!(critical["notes"][0]["body"], "Pay with care");

    memlog.ok(&["note", "kinds", "--admin", "--add", "kLaw", "--title", "What the law asks"]);
    assert_eq!(memlog.refused(&["note", "kinds", "--add", "kMine", "--title", "x"]).1["type"], "permission_error");
    assert!(memlog.ok(&["note", "kinds"]).contains("kLaw"));
    memlog.ok(&[&["note", "save", "--id", "1", "--kind", "kLaw", "--category", ""][..], &ann].concat());
    assert_eq!(memlog.refused(&["note", "remove", "2", "--user", "ann"]).1["id"], 2);
    assert_eq!(memlog.ok(&[&["note", "remove", "1"][..], &ann].concat()), "removed note 1: tone\n");
    assert_eq!(memlog.ok(&["note", "remove", "3", "--admin"]), "removed note 3: sales\n");
}

// The editor has all notes of a level; what changed in it is saved, and the hold is given back whatever becomes of it.
#[test]
fn a_level_is_edited_and_the_hold_is_given_back() {
    let memlog = Memlog::new();
    for name in ["tone", "money"] {
        memlog.ok(&["note", "save", &format!("<p>{name}</p>"), "--name", name, "--admin", "--level", "all"]);
    }
    let looked = edit(&memlog, &["all"], "true");
    assert!(looked.status.success(), "{looked:?}");
    assert_eq!(types(&memlog)[3..], ["editor_opened", "editor_closed"], "what was not touched is not saved");

    let new = "=== new\\nname: fresh\\nkind: kSkill\\n\\n<p>new</p>";
    let editor = script(&memlog, &format!("sed -i 's/<p>tone/<p>warm/' \"$1\" && printf '\\n{new}\\n' >> \"$1\"\n"));
    let edited = edit(&memlog, &["all"], &editor);
    assert!(edited.status.success(), "{edited:?}");
    let loaded = memlog.json(&["note", "load", "1", "2", "3"]).remove(0);
    let bodies: Vec<_> = loaded["notes"].as_array().unwrap().iter().map(|it| it["body"].as_str().unwrap()).collect();
    assert_eq!(bodies, ["<p>new</p>", "<p>warm</p>", "<p>money</p>"]);
    assert_eq!(types(&memlog)[5..], ["editor_opened", "note_saved", "note_saved", "editor_closed"]);

    // The editor fails, the text has a mistake, a note is refused: nothing is lost, and the notes are free again.
    let failing = edit(&memlog, &["all"], "false");
    assert_eq!(failing.status.code(), Some(2));
    let mistaken = edit(&memlog, &["all"], &script(&memlog, "printf '\\n=== nowt\\n' >> \"$1\"\n"));
    assert_eq!(mistaken.status.code(), Some(2), "{mistaken:?}");
    let refused = script(&memlog, "sed -i 's/<p>money/<script>money/' \"$1\"\n");
    let unsaved = edit(&memlog, &["all"], &refused);
    assert_eq!(unsaved.status.code(), Some(1), "{unsaved:?}");
    let told = String::from_utf8(unsaved.stderr).unwrap();
    let kept = told.lines().find_map(|line| line.split("is kept in ").nth(1)).expect("where the text is");
    let kept = kept.split('\u{1b}').next().unwrap().trim();
    assert!(std::fs::read_to_string(kept).unwrap().contains("<script>money"));
    assert_eq!(types(&memlog).last().map(String::as_str), Some("editor_closed"));
    memlog.ok(&["note", "save", "free", "--name", "free", "--user", "ann"]);
}
