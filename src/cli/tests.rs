//! What people see, as snapshots: the help, the tables, the errors.

use clap::CommandFactory as _;
use memlog_actors::api::{Error, Time, audit::Event, error::Kind, record::Record};
use serde_json::json;

use super::{Cli, fail::Fail, screen::Screen, show, tables};

fn help(command: &str) -> String {
    let mut cli = Cli::command().term_width(100);
    cli.build();
    let command = command.split_whitespace().fold(&mut cli, |cli, name| cli.find_subcommand_mut(name).unwrap());
    command.render_help().to_string()
}

// The help is the manual that people read first; a change to it should be seen.
#[test]
fn the_help_says_what_there_is() {
    insta::assert_snapshot!("help", help(""));
    insta::assert_snapshot!("help_ingest", help("ingest"));
    insta::assert_snapshot!("help_search", help("search"));
    insta::assert_snapshot!("help_worker", help("worker"));
    insta::assert_snapshot!("help_backup", help("backup"));
    insta::assert_snapshot!("help_erasures", help("erasures"));
    insta::assert_snapshot!("help_bench", help("bench"));
    insta::assert_snapshot!("help_eval", help("eval"));
    insta::assert_snapshot!("help_eval_locomo", help("eval locomo"));
}

#[test]
fn the_command_line_contradicts_itself_nowhere() {
    Cli::command().debug_assert();
}

#[test]
fn a_mistyped_type_is_refused_with_the_right_ones() {
    let words = ["memlog", "remember", "Feed the cat.", "--type", "chore"].map(Into::into);
    let error = Cli::parse_from(words).unwrap_err();
    assert_eq!(error.exit_code(), 2);
    assert!(error.to_string().contains("`guideline`"), "{error}");
}

fn record() -> Record {
    serde_json::from_value(json!({
        "id": "0198a000-0000-7000-8000-000000000001", "type": "task", "summary": "Water the ferns on Friday",
        "content": "Please water the ferns\non Friday.", "profile": "home", "session_id": "monday", "user_id": null,
        "agent_id": null, "speaker": "Ines", "metadata": {"room": "hall"}, "status": "valid",
        "timestamp": "2026-03-02T10:00:00Z", "expires_at": null, "version": 1, "sources": ["m1", "m2"],
        "superseded_by": null, "created_at": "2026-03-02T10:00:01.5Z", "updated_at": "2026-03-02T10:00:01.5Z"
    }))
    .unwrap()
}

// The columns are what people read every day: the id to copy, the sources to check, when in a form that sorts.
#[test]
fn records_are_a_table() {
    let bare = Record { speaker: None, session_id: None, sources: Vec::new(), summary: None, ..record() };
    let forgotten = Record { content: Some(None), ..bare.clone() };
    insta::assert_snapshot!("records", tables::records(&Screen::plain(), &[record(), bare, forgotten]));
    let scored = Record { score: Some(0.71834), ..record() };
    insta::assert_snapshot!("records_scored", tables::records(&Screen::plain(), &[scored]));
    insta::assert_snapshot!("record", show::people(&record()));
}

#[test]
fn events_are_a_table() {
    let event = Event {
        seq: 1027,
        event_type: "saved".to_owned(),
        at: Time::parse("2026-03-02T10:00:01Z").unwrap(),
        by: Some("user:ines".to_owned()),
        profile: Some("home".to_owned()),
        stream: "0198a000-0000-7000-8000-000000000002".to_owned(),
        version: 3,
        record_id: Some("0198a000-0000-7000-8000-000000000001".to_owned()),
    };
    let erased = Event { event_type: "forgot".to_owned(), by: None, profile: None, record_id: None, ..event.clone() };
    insta::assert_snapshot!("events", tables::events(&Screen::plain(), &[event, erased]));
}

// An id is copied into the next command: at no width may it be broken, and nothing may be wider than the terminal.
#[test]
fn ids_are_whole_on_every_terminal() {
    let scored = Record { score: Some(0.7), summary: Some("A long line about ferns. ".repeat(6)), ..record() };
    for width in [60, 80, 100, 120, 160] {
        let screen = Screen::plain_of(width);
        let table = tables::records(&screen, std::slice::from_ref(&scored)).to_string();
        assert!(table.contains(&scored.id), "{width} columns:\n{table}");
        let widest = table.lines().map(|line| line.chars().count()).max().unwrap_or_default();
        assert!(widest <= usize::from(width), "{width} columns:\n{table}");
    }
}

// An error that does not say what to do next sends people to the source.
#[test]
fn errors_say_what_to_do_next_and_keep_the_apis_fields() {
    let unregistered = Error::invalid("speaker", "speaker is not registered").with("speaker", "Ines");
    let errors = [
        unregistered.clone(),
        Error::not_found("profile", "hom"),
        Error::not_found("memory_id", "x"),
        Error::unavailable("shutting down", 250),
        Error::timeout("extraction is not done"),
        Error::new(Kind::Conflict, "it was superseded").with("superseded_by", "y"),
    ];
    let told: Vec<_> =
        errors.map(Fail::Refused).iter().map(|fail| format!("{fail}\n  {}", fail.hint().unwrap_or_default())).collect();
    insta::assert_snapshot!("errors", told.join("\n"));
    assert_eq!(
        Fail::Refused(unregistered).body(),
        json!({"type": "error", "error": {
            "type": "invalid_request_error", "message": "speaker is not registered", "field": "speaker", "speaker": "Ines"
        }})
    );
}

/// Files of `deploy` that say how memlog is called.
const DEPLOYED: [(&str, &str); 7] = [
    ("README.md", include_str!("../../deploy/README.md")),
    ("compose.yaml", include_str!("../../deploy/compose.yaml")),
    ("memlog.service", include_str!("../../deploy/memlog.service")),
    ("memlog-worker.service", include_str!("../../deploy/memlog-worker.service")),
    ("nats.conf", include_str!("../../deploy/nats.conf")),
    ("tenants.conf", include_str!("../../deploy/tenants.conf")),
    ("Dockerfile", include_str!("../../deploy/Dockerfile")),
];

/// The words of a command line, without what a shell takes for itself.
fn words(line: &str) -> Vec<String> {
    let end = line.find(['#', '>', '|', '`']).unwrap_or(line.len());
    let words = line[..end].split_whitespace().map(|word| word.trim_end_matches([',', '.', ';', ':']));
    let filled = |word: &str| match word {
        "SEQ:HASH" => format!("1:{}", "0".repeat(64)),
        "N" => "1".to_owned(),
        "ADDR:PORT" => "127.0.0.1:8223".to_owned(),
        word => word.to_owned(),
    };
    words.map(filled).collect()
}

/// Every call of memlog in a text: after `memlog ` at the beginning of a line or of a quotation, or as a YAML list.
fn calls(text: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for line in text.lines() {
        let bare = line.trim_start_matches(['#', ' ']);
        let shell =
            ["memlog ", "ExecStart=/usr/local/bin/memlog ", "docker compose -f deploy/compose.yaml exec node memlog "];
        found.extend(shell.iter().find_map(|start| bare.strip_prefix(start)).map(words));
        found.extend(line.split('`').skip(1).step_by(2).filter_map(|quoted| quoted.strip_prefix("memlog ")).map(words));
        if let Some(list) = bare.strip_prefix("command: ") {
            let list: Vec<String> = serde_json::from_str(list).unwrap();
            found.extend((!list[0].starts_with('-')).then_some(list));
        }
    }
    found
}

// A flag that was renamed would otherwise be found by who deploys.
#[test]
fn every_command_line_in_deploy_is_understood() {
    let mut seen = 0;
    for (file, text) in DEPLOYED {
        for call in calls(text) {
            // The name of a subcommand alone speaks of it, and does not call it.
            let known = Cli::command().find_subcommand(&call[0]).is_some();
            if !known || call.len() == 1 {
                assert!(known || file != "compose.yaml", "{file}: {call:?}");
                continue;
            }
            let parsed = Cli::parse_from(std::iter::once("memlog".to_owned()).chain(call.clone()).map(Into::into));
            assert!(parsed.is_ok(), "{file}: memlog {}\n{}", call.join(" "), parsed.unwrap_err());
            seen += 1;
        }
    }
    assert!(seen >= 12, "{seen} were found");
}
