//! The command line as people and scripts use it: the binary on a temporary folder, its output and its exit codes.
//!
//! No model is looked for, so that the tests are the same everywhere: search is by keyword.

mod eval;
mod notebooks;
mod notes;
mod recall;
mod threads;

use std::{
    io::Write as _,
    path::Path,
    process::{Command, Output, Stdio},
};

use memlog::embed::ModelFolder;
use serde_json::Value;
use tempfile::TempDir;

/// A model of this machine; the variable says whether one must be there.
fn model(name: &str, variable: &str) -> Option<ModelFolder> {
    match ModelFolder::find(Some(Path::new(name))) {
        Ok(model) => Some(model),
        Err(error) => {
            assert!(!std::env::var(variable).is_ok_and(|value| value == "required"), "{error}");
            eprintln!("SKIPPED: {error}");
            None
        }
    }
}

/// A data folder and the binary on it.
struct Memlog {
    folder: TempDir,
}

impl Memlog {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn data(&self) -> &Path {
        self.folder.path()
    }

    /// The binary, without anything of the environment that it would read.
    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_memlog"));
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("MEMLOG_")) {
            command.env_remove(name);
        }
        let nowhere = self.folder.path().join("home");
        command.env("HOME", &nowhere).env("XDG_CONFIG_HOME", &nowhere).env("XDG_CACHE_HOME", &nowhere);
        command.env("MEMLOG_DATA", self.folder.path().join("data")).args(words);
        command
    }

    fn run(&self, words: &[&str]) -> Output {
        self.command(words).output().unwrap()
    }

    /// Runs what must succeed and returns what it printed.
    fn ok(&self, words: &[&str]) -> String {
        let output = self.run(words);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "memlog {words:?}: {:?}\n{errors}", output.status);
        String::from_utf8(output.stdout).unwrap()
    }

    /// The same with `--json`; one object a line.
    fn json(&self, words: &[&str]) -> Vec<Value> {
        let printed = self.ok(&[words, &["--json"]].concat());
        printed.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Runs what must fail; the exit code and the error's body, which has to be the last line of stderr.
    fn refused(&self, words: &[&str]) -> (i32, Value) {
        let output = self.run(&[words, &["--json"]].concat());
        assert!(output.stdout.is_empty(), "a refused command prints nothing to stdout");
        let errors = String::from_utf8(output.stderr).unwrap();
        let body: Value = serde_json::from_str(errors.lines().last().unwrap()).unwrap();
        assert_eq!(body["type"], "error");
        (output.status.code().unwrap(), body["error"].clone())
    }

    fn remember(&self, content: &str) -> String {
        let reply = self.json(&["remember", content]).remove(0);
        assert_eq!(reply["status"], "stored");
        reply["memory"]["id"].as_str().unwrap().to_owned()
    }
}

fn contents(found: &Value) -> Vec<&str> {
    found["memories"].as_array().unwrap().iter().filter_map(|memory| memory["content"].as_str()).collect()
}

// The way of a new user: every command starts a process of its own, so each one also proves that the one before it left
// everything on disk.
#[test]
fn a_memory_lives_from_remember_to_forget() {
    let memlog = Memlog::new();
    let ferns = memlog.remember("The ferns in the hall need water every Friday.");
    let kettle = memlog.remember("The kettle came from grandmother Ottilie.");

    let found = memlog.json(&["search", "who gave us the kettle"]).remove(0);
    assert_eq!(contents(&found)[0], "The kettle came from grandmother Ottilie.");
    assert_eq!(found["mode"], "keyword");
    let recalled = memlog.json(&["recall", "when do the ferns get water?"]).remove(0);
    assert_eq!(recalled["candidates"][0]["id"], ferns.as_str());

    let listed = memlog.json(&["memories"]).remove(0);
    let ids: Vec<_> = listed["memories"].as_array().unwrap().iter().map(|memory| memory["id"].clone()).collect();
    assert_eq!(ids, [kettle.as_str(), ferns.as_str()], "newest first");
    assert!(memlog.ok(&["memories"]).contains(&kettle), "people see the id that they need for the next command");

    let head = memlog.json(&["verify"]).remove(0)["head"].clone();
    assert_eq!(memlog.json(&["forget", &kettle]).remove(0)["memory"]["id"], kettle.as_str());
    assert!(contents(&memlog.json(&["search", "kettle Ottilie"]).remove(0)).is_empty());
    let past = head["seq"].to_string();
    assert!(contents(&memlog.json(&["search", "kettle Ottilie", "--as-of", &past]).remove(0)).is_empty());
    let (code, error) = memlog.refused(&["show", &kettle]);
    assert_eq!((code, error["type"].as_str()), (1, Some("not_found_error")));

    let types: Vec<_> = memlog
        .json(&["log", "--record", &kettle])
        .iter()
        .map(|event| event["type"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(types, ["saved", "forgot"]);
    let expect = format!("{}:{}", head["seq"], head["hash"].as_str().unwrap());
    assert_eq!(memlog.json(&["verify", "--expect", &expect]).remove(0)["ok"], true);
    assert_eq!(memlog.json(&["history", &ferns]).remove(0)["events"][0]["type"], "saved");
}

// Exported chats come as files; the same file twice must not double anything, and a bad line must store nothing.
#[test]
fn a_conversation_is_read_from_a_file_and_its_memories_come_out() {
    let memlog = Memlog::new();
    let file = memlog.data().join("chat.jsonl");
    let lines = r#"{"role":"user","speaker":"Ines","content":"My boat is called Seagull and lies in Faro.","session_id":"boat","id":"b1"}
{"role":"assistant","speaker":"me","content":"A fine name.","session_id":"boat","id":"b2"}
"#;
    std::fs::write(&file, lines).unwrap();
    let path = file.to_str().unwrap();
    let reply = memlog.json(&["ingest", path]).remove(0);
    assert_eq!((reply["accepted"].as_u64(), reply["session_id"].as_str()), (Some(2), Some("boat")));
    assert_eq!(memlog.json(&["ingest", path]).remove(0)["duplicates"], 2);

    let listed = memlog.json(&["memories"]).remove(0);
    let memory = &listed["memories"][0];
    assert_eq!((memory["speaker"].as_str(), memory["sources"][0].as_str()), (Some("Ines"), Some("b1")));
    assert_eq!(memlog.json(&["speaker", "list"]).remove(0)["speakers"][0]["speaker"], "Ines");
    assert_eq!(memlog.json(&["jobs", "list"]).remove(0)["jobs"][0]["state"], "done");
    assert_eq!(memlog.json(&["profiles"]).remove(0)["profiles"][0]["messages"], 2);
    assert!(memlog.ok(&["summary"]).contains("Seagull"));

    std::fs::write(&file, format!("{lines}{{\"role\":\"user\"}}\n")).unwrap();
    let (code, error) = memlog.refused(&["ingest", path, "--profile", "other"]);
    assert_eq!(code, 2);
    assert!(error["message"].as_str().unwrap().contains("line 3: missing field `content`"), "{error}");
    assert_eq!(memlog.json(&["profiles"]).remove(0)["profiles"].as_array().unwrap().len(), 1);
}

#[test]
fn messages_can_come_through_a_pipe() {
    let memlog = Memlog::new();
    let mut child = memlog
        .command(&["ingest", "-", "--session", "piped", "--json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let line = b"{\"role\":\"user\",\"content\":\"The piped kettle sings in F sharp.\"}\n";
    child.stdin.take().unwrap().write_all(line).unwrap();
    let output = child.wait_with_output().unwrap();
    let reply: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((reply["accepted"].as_u64(), reply["session_id"].as_str()), (Some(1), Some("piped")));
}

// People ask by person: who is known, what one of them said, and what goes when a name goes.
#[test]
fn a_speaker_is_added_listed_read_and_removed() {
    let memlog = Memlog::new();
    memlog.ok(&["speaker", "add", "さくら"]);
    for text in ["I will bring the tent.", "The tent leaks.", "I sold the tent."] {
        memlog.json(&["remember", text, "--speaker", "さくら"]);
    }
    memlog.remember("The tent is green.");
    memlog.json(&["remember", "I will book the tent site.", "--speaker", "me"]);
    let found = memlog.json(&["search", "tent", "--speaker", "さくら"]).remove(0);
    assert_eq!(contents(&found).len(), 3);
    let listed = memlog.json(&["speaker", "list"]).remove(0);
    assert_eq!(
        (&listed["speakers"][0]["memories"], &listed["count"], &listed["limit"]),
        (&3.into(), &1.into(), &50.into())
    );

    let first = memlog.json(&["speaker", "memories", "さくら", "-n", "2"]).remove(0);
    assert_eq!(contents(&first), ["I sold the tent.", "The tent leaks."]);
    assert_eq!((&first["chunks"], &first["points_to_delete"]), (&2.into(), &2.into()));
    let (before, skip) = (first["next_before"].as_str().unwrap(), first["next_skip_ids"][0].as_str().unwrap());
    let next = ["speaker", "memories", "さくら", "--before", before, "--skip-id", skip];
    assert_eq!(contents(&memlog.json(&next).remove(0)), ["I will bring the tent."]);
    let told = memlog.ok(&["speaker", "memories", "さくら", "-n", "2"]);
    assert!(told.contains(&format!("more: --before {before} --skip-id {skip}")), "{told}");
    assert!(memlog.ok(&["speaker", "memories", "me"]).contains("book the tent site"));

    memlog.ok(&["speaker", "remove", "さくら"]);
    let (code, error) = memlog.refused(&["speaker", "memories", "さくら"]);
    assert_eq!((code, error["speaker"].as_str()), (1, Some("さくら")));
}

// Views can be thrown away at any time; what they answered before, they must answer again.
#[test]
fn a_rebuild_changes_no_answer() {
    let memlog = Memlog::new();
    for content in ["The tuner Luis comes on 30 May.", "Mrs Okafor keeps bees.", "The oven runs hot on the left."] {
        memlog.remember(content);
    }
    let ids = |found: &Value| -> Vec<String> {
        found["memories"].as_array().unwrap().iter().map(|memory| memory["id"].to_string()).collect()
    };
    let before = memlog.json(&["search", "who keeps bees and who tunes"]).remove(0);
    let rebuilt = memlog.json(&["rebuild"]).remove(0);
    assert_eq!((rebuilt["profiles"].as_u64(), rebuilt["records"].as_u64()), (Some(1), Some(3)));
    let after = memlog.json(&["search", "who keeps bees and who tunes"]).remove(0);
    assert!(!ids(&before).is_empty());
    assert_eq!(ids(&before), ids(&after));
}

// Scripts branch on the exit code, and people read what to do next.
#[test]
fn failures_have_their_exit_codes_and_say_what_to_do() {
    let memlog = Memlog::new();
    memlog.remember("The ferns need water on Friday.");
    let (code, error) = memlog.refused(&["search", "anything", "--profile", "nobody"]);
    assert_eq!((code, error["profile"].as_str()), (1, Some("nobody")));
    let (code, error) = memlog.refused(&["remember", "Hello there, world.", "--speaker", "Ines"]);
    assert_eq!((code, error["speaker"].as_str()), (1, Some("Ines")));

    let output = memlog.run(&["remember", "Hello there, world.", "--speaker", "Ines"]);
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(words.contains("memlog speaker add 'Ines'"), "{words}");

    let (code, error) = memlog.refused(&["search"]);
    assert_eq!((code, error["type"].as_str()), (2, Some("invalid_request_error")), "no query");
    assert_eq!(memlog.run(&["remember", "x", "--type", "chore"]).status.code(), Some(2));
    assert_eq!(memlog.run(&["verify", "--expect", "12"]).status.code(), Some(2));
    assert_eq!(memlog.run(&["forget", "--whole-profile"]).status.code(), Some(2), "which profile is not said");
    let bare = memlog.run(&["forget"]);
    assert_eq!(bare.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&bare.stderr).contains("memlog forget ID..."));

    let output = memlog.run(&["speaker", "add", "me"]);
    assert!(!String::from_utf8_lossy(&output.stderr).contains("register the speaker first"));
    let (code, error) = memlog.refused(&["log", "--type", "nope"]);
    assert!(code == 2 && error["message"].as_str().unwrap().contains("message_appended"), "{error}");
}

// A typing error in a folder's name must not look like an empty memory, nor leave a folder behind.
#[test]
fn looking_at_a_folder_that_is_not_there_makes_none() {
    let memlog = Memlog::new();
    let typo = memlog.data().join("typo");
    let path = typo.to_str().unwrap();
    for words in [&["search", "x"][..], &["log"], &["verify"], &["speaker", "list"], &["forget", "x"]] {
        let (code, error) = memlog.refused(&[words, &["--data", path]].concat());
        assert!(code == 2 && error["message"].as_str().unwrap().contains("there is no memlog data in"), "{error}");
    }
    assert!(!typo.exists());
    std::fs::write(&typo, "a file").unwrap();
    for words in [&["search", "x"][..], &["remember", "The ferns need water."]] {
        let (code, error) = memlog.refused(&[words, &["--data", path]].concat());
        assert!(code == 2 && error["message"].as_str().unwrap().contains("is a file, not a folder"), "{error}");
    }
}

// The help promises 2 for input that is wrong, and whoever exported an array has to learn what to do with it.
#[test]
fn input_that_cannot_be_read_is_the_inputs_fault() {
    let memlog = Memlog::new();
    let file = memlog.data().join("chat.json");
    let path = file.to_str().unwrap();
    assert_eq!(memlog.refused(&["ingest", path]).0, 2, "missing");
    std::fs::write(&file, b"{\"role\":\"user\",\"content\":\"\xff\"}").unwrap();
    let (code, error) = memlog.refused(&["ingest", path]);
    assert!(code == 2 && error["message"].as_str().unwrap().contains("UTF-8"), "{error}");
    for text in ["[]", "[{\"role\":\"user\",\"content\":\"Hello.\"}]"] {
        std::fs::write(&file, text).unwrap();
        let (code, error) = memlog.refused(&["ingest", path]);
        assert!(code == 2 && error["message"].as_str().unwrap().contains("JSON Lines"), "{error}");
    }
}

// A whole session or profile is gone for good: a script has to mean it.
#[test]
fn what_forgets_much_needs_a_yes_where_nobody_can_be_asked() {
    let memlog = Memlog::new();
    memlog.ok(&["remember", "The ferns need water on Friday.", "--session", "hall"]);
    for words in [&["forget", "--session", "hall"][..], &["forget", "--whole-profile", "--profile", "default"]] {
        let (code, error) = memlog.refused(words);
        assert!(code == 2 && error["message"].as_str().unwrap().contains("--yes"), "{error}");
        memlog.ok(&[words, &["--yes"]].concat());
    }
}

// Whoever looks into the log wants to know what happened last, and how to see the rest.
#[test]
fn the_log_shows_the_newest_events_and_how_to_go_on() {
    let memlog = Memlog::new();
    for number in 0..3 {
        memlog.remember(&format!("Fern number {number} needs water on day {number}."));
    }
    let all = memlog.json(&["log", "--all"]);
    let last = all.last().unwrap()["record_id"].as_str().unwrap().to_owned();
    let newest = memlog.ok(&["log", "-n", "1"]);
    assert!(newest.contains(&last) && newest.contains("--all"), "{newest}");
    let first = memlog.ok(&["log", "--from", "0", "-n", "1"]);
    assert!(first.contains(&format!("more: --from {}", all[1]["seq"])), "{first}");
    assert!(!memlog.ok(&["log"]).contains("--all"), "there is no more");
}

// A cut or exchanged log is exactly what a script must notice.
#[test]
fn verify_exits_with_3_when_the_log_is_not_the_expected_one() {
    let memlog = Memlog::new();
    memlog.remember("The ferns need water on Friday.");
    let seq = memlog.json(&["verify"]).remove(0)["head"]["seq"].to_string();
    let expect = format!("{seq}:{}", "0".repeat(64));
    let output = memlog.run(&["verify", "--expect", &expect]);
    assert_eq!(output.status.code(), Some(3), "{}", String::from_utf8_lossy(&output.stderr));
    let words = String::from_utf8_lossy(&output.stdout);
    assert!(words.contains("this head is not in it") && !words.contains("stream"), "{words}");
}

#[test]
fn a_misspelt_key_of_the_configuration_is_refused_by_its_name() {
    let memlog = Memlog::new();
    let file = memlog.data().join("memlog.toml");
    std::fs::write(&file, "profile = 'cabin'\n[limits]\nspeakers_max = 1\n").unwrap();
    let config = ["--config", file.to_str().unwrap()];
    memlog.ok(&[&["speaker", "add", "Ines"], &config[..]].concat());
    let (code, error) = memlog.refused(&[&["speaker", "add", "Tomas"], &config[..]].concat());
    assert_eq!((code, error["speaker_limit"].as_u64()), (1, Some(1)));
    assert_eq!(memlog.json(&["profiles"]).remove(0)["profiles"][0]["name"], "cabin");

    std::fs::write(&file, "[limits]\nspeaker_max = 1\n").unwrap();
    let (code, error) = memlog.refused(&[&["memories"], &config[..]].concat());
    assert_eq!(code, 2);
    assert!(error["message"].as_str().unwrap().contains("`speaker_max`"), "{error}");
}

// What the README shows first has to work on every machine, without a model, and its proofs have to hold.
#[test]
fn the_demo_plays_and_every_proof_in_it_holds() {
    let memlog = Memlog::new();
    let told = memlog.ok(&["demo"]);
    assert!(!told.contains("NOT SO"), "{told}");
    for part in ["sage green", "20 June", "walnut", "garden-3", "no search finds it any more", "forgot"] {
        assert!(told.contains(part), "{part} is missing in\n{told}");
    }
    assert!(!memlog.data().join("data").exists(), "the demo leaves other folders alone");

    let steps = memlog.json(&["demo", "--data", memlog.data().join("kept").to_str().unwrap()]);
    let proof = steps.iter().find(|step| step["step"] == "proof").unwrap();
    assert_eq!((proof["reply"]["found_now"].as_u64(), proof["reply"]["verified"].as_bool()), (Some(0), Some(true)));
    let answers: Vec<_> = steps
        .iter()
        .filter(|step| step["step"] == "recall")
        .map(|step| step["reply"]["answer"].as_str().unwrap())
        .collect();
    assert!(answers[0].lines().next().is_some_and(|first| first.contains("sage green")), "{answers:#?}");
    assert!(answers[3].contains("sunny yellow") && !answers[3].contains("sage"), "{answers:#?}");
}

#[test]
fn the_doctor_names_what_is_missing_and_what_to_do() {
    let memlog = Memlog::new();
    let report = memlog.json(&["doctor"]).remove(0);
    let level = |about: &str| {
        let checks = report["checks"].as_array().unwrap();
        checks.iter().find(|check| check["about"] == about).unwrap()["level"].as_str().unwrap().to_owned()
    };
    assert_eq!([level("model"), level("log"), level("data folder")], ["warn", "ok", "ok"]);
    memlog.remember("The ferns need water on Friday.");
    assert!(memlog.ok(&["doctor"]).contains("deploy/fetch-model"));
}

// A folder in Spanish is searched by its words alone as long as the model has learnt English; one command mends that.
#[test]
fn the_doctor_names_the_model_for_other_languages() {
    let Some(model) = model("minilm", "MEMLOG_TEST_MODEL") else { return };
    let hint = |sentence: &str| {
        let memlog = Memlog::new();
        let file = memlog.data().join("chat.jsonl");
        let line = |number| format!("{{\"role\":\"user\",\"content\":\"{sentence} {number}.\"}}\n");
        std::fs::write(&file, (0..20).map(line).collect::<String>()).unwrap();
        memlog.ok(&["ingest", file.to_str().unwrap(), "--no-wait"]);
        let output = memlog.command(&["doctor", "--json"]).env("MEMLOG_MODEL_DIR", model.path()).output().unwrap();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let checks = report["checks"].as_array().unwrap();
        checks.iter().find(|check| check["about"] == "languages").cloned()
    };
    let found = hint("Ayer fui con mi hermana a la playa número").expect("told");
    assert_eq!(
        (&found["level"], found["todo"].as_str().unwrap().contains("--model multilingual")),
        (&"warn".into(), true)
    );
    assert_eq!(hint("Yesterday I went to the beach with my sister number"), None);
}
