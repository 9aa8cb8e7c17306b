// Measuring: small data sets of our own in the shapes that are read, so that the figures can be worked out by hand.

use std::path::PathBuf;

use serde_json::Value;

use super::Memlog;

/// A file beside the data.
fn written(memlog: &Memlog, name: &str, text: &str) -> String {
    let path = memlog.data().join(name);
    std::fs::write(&path, text).unwrap();
    named(path)
}

fn named(path: PathBuf) -> String {
    path.to_str().unwrap().to_owned()
}

fn lines(path: &str) -> Vec<Value> {
    std::fs::read_to_string(path).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The row of a category.
fn row<'a>(rows: &'a Value, category: &str) -> &'a Value {
    rows.as_array().unwrap().iter().find(|row| row["category"] == category).unwrap()
}

/// Two conversations in LoCoMo's shape.
fn locomo(memlog: &Memlog) -> String {
    let sample = |id: &str, text: &str, answer: &str| {
        format!(
            r#"{{"sample_id":"{id}","conversation":{{"speaker_a":"Ines","speaker_b":"Tomas",
            "session_1_date_time":"1:56 pm on 8 May, 2023","session_1":[
            {{"speaker":"Ines","dia_id":"D1:1","text":"{text}"}},
            {{"speaker":"Tomas","dia_id":"D1:2","text":"","blip_caption":"a steaming bowl of noodles"}}]}},
            "qa":[{{"question":"{text}","answer":"{answer}","category":4,"evidence":["D1:1"]}},
            {{"question":"steaming noodles","category":1,"evidence":["D1:2","D1:1"]}},
            {{"question":"nothing","category":5,"evidence":[]}}]}}"#
        )
    };
    let one = sample("talk-1", "I bought a red kayak in Faro.", "In Faro");
    let two = sample("talk-2", "My brother repairs accordions.", "The accordions");
    written(memlog, "talks.json", &format!("[{one},{two}]"))
}

#[test]
fn an_evaluation_writes_a_run_and_reckons_its_recall() {
    let memlog = Memlog::new();
    let file = locomo(&memlog);
    let run = named(memlog.data().join("run.jsonl"));
    let report = memlog.json(&["eval", "locomo", &file, "--run", &run]).remove(0);
    assert_eq!((report["turns"].as_u64(), report["questions"].as_u64()), (Some(4), Some(6)));
    let single_hop = row(&report["recall"], "4 single-hop");
    assert_eq!((single_hop["at"][0].as_f64(), single_hop["mrr"].as_f64()), (Some(1.0), Some(1.0)));
    assert_eq!((single_hop["all_10"].as_f64(), single_hop["within"][0].as_f64()), (Some(1.0), Some(1.0)));
    let answers = row(&report["answers"], "4 single-hop");
    assert_eq!(answers["questions"].as_u64(), Some(2), "two have an expected answer");
    assert_eq!(answers["lengths"][0]["whole"], 1.0, "{answers}");
    assert_eq!((report["mode"].as_str(), report["asked"].as_str()), (Some("keyword"), Some("profile.search")));
    assert!(report["disk_bytes"].as_u64().unwrap() > 10_000, "{report}");

    let lines = lines(&run);
    assert_eq!(lines[3]["question_id"], "talk-2/q0");
    assert!(lines[3]["answers"][0].as_str().unwrap().contains("accordions"), "{}", lines[3]);
    assert_eq!(lines[3]["retrieved"][0]["source_ids"][0], "talk-2/D1:1");
    let first = lines[3]["retrieved"][0]["text"].as_str().unwrap();
    assert!(first.contains("repairs accordions") && lines[3]["latency_ms"].as_f64().unwrap() > 0.0);
    assert!(!memlog.data().join("data").exists(), "a measurement leaves other folders alone");

    let told = memlog.ok(&["eval", "locomo", &file, "--only", "talk-2"]);
    for part in ["profile.search, 50 hits, keyword", "all in 10", "MRR", "1,024", "1-4", "2 turns:", "on disk"] {
        assert!(told.contains(part), "{part} is missing in\n{told}");
    }
}

// An ablation must leave out what it says, in what is found as well as in what is answered.
#[test]
fn a_part_that_is_left_out_is_neither_found_nor_answered_from() {
    let memlog = Memlog::new();
    let file = locomo(&memlog);
    let run = named(memlog.data().join("run.jsonl"));
    let measured = |flags: &[&str]| {
        let words = ["eval", "locomo", &file, "--run", &run, "--only", "talk-1"];
        let report = memlog.json(&[&words[..], flags].concat()).remove(0);
        (report, lines(&run))
    };
    // What was said, and what is kept of it: in the first person and in the third.
    let (said, kept) = ("I bought a red kayak", "Ines bought a red kayak");
    let has = |line: &Value, part: &str| [&line["retrieved"], &line["answers"]].map(|of| of.to_string().contains(part));

    let (report, raw) = measured(&["--without", "vectors,records"]);
    assert_eq!(report["without"], serde_json::json!(["vectors", "records"]));
    assert_eq!((has(&raw[0], said), has(&raw[0], kept)), ([true; 2], [false; 2]), "{}", raw[0]);

    let (report, made) = measured(&["--without", "messages"]);
    assert_eq!(report["without"], serde_json::json!(["messages"]));
    assert_eq!((has(&made[0], said), has(&made[0], kept)), ([false; 2], [true; 2]), "{}", made[0]);
    let sources = &made[0]["retrieved"][0]["source_ids"];
    assert_eq!(*sources, serde_json::json!(["talk-1/D1:1"]), "a record stands for its source");

    let told = memlog.ok(&["eval", "locomo", &file, "--without", "messages", "--without", "vectors"]);
    assert!(told.contains("without vectors and messages"), "{told}");
}

#[test]
fn a_thinking_level_asks_recall_and_finds_texts_and_sources_all_the_same() {
    let memlog = Memlog::new();
    let file = locomo(&memlog);
    let run = named(memlog.data().join("run.jsonl"));
    for flags in [&["--without", "messages"][..], &["--without", "records"]] {
        let words = ["eval", "locomo", &file, "--run", &run];
        memlog.json(&[&words[..], flags].concat());
        let searched = lines(&run);
        let report = memlog.json(&[&words[..], flags, &["--thinking", "low"]].concat()).remove(0);
        assert_eq!(report["asked"], "profile.recall, low");
        let recalled = lines(&run);
        assert_eq!(searched[0]["retrieved"][0], recalled[0]["retrieved"][0]);
        assert!(!recalled[0]["retrieved"][0]["source_ids"].as_array().unwrap().is_empty());
    }
}

// An hour of measuring must not be lost to a mistyped word.
#[test]
fn what_cannot_be_measured_is_refused_at_once() {
    let memlog = Memlog::new();
    let file = locomo(&memlog);
    let refused = |flags: &[&str]| {
        let (code, error) = memlog.refused(&[&["eval", "locomo", &file], flags].concat());
        assert_eq!(code, 2, "{error}");
        error["message"].as_str().unwrap().to_owned()
    };
    assert!(refused(&["-n", "101"]).contains("1..=100"));
    assert!(refused(&["--only", "talk-3"]).contains("there are talk-1, talk-2"));
    assert!(refused(&["--without", "records,messages"]).contains("nothing to search"));
    assert!(refused(&["--without", "vectors", "--nats", "nats://127.0.0.1:1"]).contains("its own model"));
    assert!(refused(&["--thinking", "deep"]).contains("`medium`"));
    let (code, _) = memlog.refused(&["eval", "locomo", &file, "--run", "/nowhere/at/all.jsonl"]);
    assert_eq!(code, 1);
    assert_eq!(memlog.refused(&["eval"]).0, 2);
}

// Two versions differ by less than two questions do, so people compare runs, not tables.
#[test]
fn two_runs_are_compared_question_by_question() {
    let memlog = Memlog::new();
    let file = locomo(&memlog);
    let run = |name: &str, flags: &[&str]| {
        let path = named(memlog.data().join(name));
        memlog.json(&[&["eval", "locomo", &file, "--run", &path], flags].concat());
        path
    };
    let (both, made) = (run("both.jsonl", &[]), run("made.jsonl", &["--without", "messages"]));
    let report = memlog.json(&["eval", "compare", &made, &both, "--questions", &file]).remove(0);
    let figure = |of: &Value, name: &str| {
        of["differences"].as_array().unwrap().iter().find(|it| it["figure"] == name).unwrap().clone()
    };
    let at_5 = figure(&row(&report["rows"], "1-4")["recall"], "recall@5");
    let share = |it: &Value, name: &str| it[name].as_f64().unwrap();
    assert!((share(&at_5, "b") - share(&at_5, "a") - share(&at_5, "difference")).abs() < 1e-9, "{at_5}");
    assert!(share(&at_5, "difference") > 0.0 && share(&at_5, "low") <= share(&at_5, "difference"), "{at_5}");
    assert_eq!(at_5["a_higher"], 0, "{at_5}");
    assert_eq!(row(&report["rows"], "4 single-hop")["answers"]["questions"], 2);

    let told = memlog.ok(&["eval", "--compare", &made, &both, "--questions", &file]);
    assert!(told.contains("1-4: 4 questions with evidence, 2 with an answer"), "{told}");
    assert_eq!(told, memlog.ok(&["eval", "compare", &made, &both, "--questions", &file]), "always the same");

    // The questions of another tool, without one of them and with evidence of its own.
    let questions = r#"{"question_id":"talk-1/q0","category":4,"evidence":["talk-1/D1:2"],"answer":"steaming"}
{"question_id":"talk-9/q0","category":4,"evidence":["talk-9/D1:1"]}"#;
    let questions = written(&memlog, "questions.jsonl", questions);
    let report = memlog.json(&["eval", "compare", &made, &both, "--questions", &questions]).remove(0);
    let recall = &row(&report["rows"], "1-4")["recall"];
    assert_eq!((recall["questions"].as_u64(), report["left_out"].as_u64()), (Some(1), Some(1)));
    let (code, error) = memlog.refused(&["eval", "compare", &made, &file, "--questions", &file]);
    assert!(code == 2 && error["message"].as_str().unwrap().contains("not a run's line"), "{error}");
    let unrelated = written(&memlog, "unrelated.jsonl", r#"{"question_id":"x","category":4,"evidence":["x/y"]}"#);
    let (code, error) = memlog.refused(&["eval", "compare", &made, &both, "--questions", &unrelated]);
    assert!(code == 2 && error["message"].as_str().unwrap().contains("no question of"), "{error}");
}

// The data set's own evidence has mistakes; corrected files are shared, with or without the conversation's name.
#[test]
fn evidence_can_be_taken_from_another_file() {
    let memlog = Memlog::new();
    let file = locomo(&memlog);
    let corrected = r#"{"question_id":"talk-1/q0","evidence":["D1:2"]}
{"question_id":"talk-2/q0","evidence":["talk-2/D1:1"]}
{"question_id":"talk-2/q2","evidence":["talk-2/D1:2"]}"#;
    let corrected = written(&memlog, "corrected.jsonl", corrected);
    let report = memlog.json(&["eval", "locomo", &file, "--questions", &corrected]).remove(0);
    assert_eq!(row(&report["recall"], "4 single-hop")["at"][0], 0.5);
    assert_eq!(row(&report["recall"], "5 adversarial")["questions"], 1);
}

/// Two chats in BEAM's folders.
fn beam(memlog: &Memlog) -> String {
    let root = memlog.data().join("100K");
    for (name, port) in [("1", 4000), ("2", 5000)] {
        let folder = root.join(name);
        std::fs::create_dir_all(folder.join("probing_questions")).unwrap();
        let chat = format!(
            r#"[{{"batch_number": 1, "turns": [[
                {{"role": "user", "id": 0, "time_anchor": "March-15-2024", "content": "My memory store listens on port {port}. ->-> 1,1"}},
                {{"role": "assistant", "id": 1, "content": "Then open the firewall for it."}}]]}},
              {{"batch_number": 2, "turns": [[
                {{"role": "user", "id": 2, "content": "I want to deploy the translation service on Monday."}},
                {{"role": "assistant", "id": 3, "content": "Run the tests before."}}]]}}]"#
        );
        let questions = r#"{
            "abstention": [{"question": "Where did I study?", "ideal_response": "There is no information."}],
            "information_extraction": [{"question": "On which port does my memory store listen?", "answer": "Port 4000", "source_chat_ids": [0]}],
            "multi_session_reasoning": [{"question": "Which port, and when is the translation service deployed?", "answer": "Monday", "source_chat_ids": [[0], [2]]}]}"#;
        std::fs::write(folder.join("chat.json"), chat).unwrap();
        std::fs::write(folder.join("probing_questions/probing_questions.json"), questions).unwrap();
    }
    named(root)
}

// Another data set, the same course: figures by ability, a run file, a comparison.
#[test]
fn chats_with_an_assistant_are_measured_by_ability() {
    let memlog = Memlog::new();
    let folder = beam(&memlog);
    let run = named(memlog.data().join("run.jsonl"));
    let report = memlog.json(&["eval", "beam", &folder, "--run", &run]).remove(0);
    assert_eq!((report["turns"].as_u64(), report["questions"].as_u64()), (Some(8), Some(6)));
    let abilities: Vec<_> = report["recall"].as_array().unwrap().iter().map(|row| row["category"].clone()).collect();
    assert_eq!(abilities, ["information_extraction", "multi_session_reasoning", "all"], "abstention has no evidence");
    assert_eq!(row(&report["recall"], "information_extraction")["at"][0], 1.0);
    assert_eq!(row(&report["recall"], "multi_session_reasoning")["all_10"], 1.0);
    assert_eq!(
        row(&report["answers"], "information_extraction")["lengths"][0]["whole"],
        0.5,
        "the other has another port"
    );

    let lines = lines(&run);
    let ids: Vec<_> = lines.iter().map(|line| line["question_id"].as_str().unwrap()).collect();
    assert_eq!(ids[..3], ["1/abstention-0", "1/information_extraction-0", "1/multi_session_reasoning-0"]);
    assert_eq!(lines[1]["retrieved"][0]["source_ids"][0], "1/B1:0");

    let told = memlog.ok(&["eval", "--compare", &run, &run, "--questions", &folder]);
    assert!(told.contains("all: 4 questions with evidence, 4 with an answer"), "{told}");
    assert!(told.contains("multi_session_reasoning: 2 questions with evidence"), "{told}");
    let only = memlog.json(&["eval", "beam", &folder, "--only", "2", "--without", "records"]).remove(0);
    assert_eq!((only["turns"].as_u64(), only["questions"].as_u64()), (Some(4), Some(3)));
    let (code, error) = memlog.refused(&["eval", "beam", &named(memlog.data().join("nowhere"))]);
    assert!(code == 2 && error["message"].as_str().unwrap().contains("nowhere"), "{error}");
}
