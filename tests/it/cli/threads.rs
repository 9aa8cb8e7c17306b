//! `memlog thread` as a person uses it, on a folder.

use super::Memlog;

#[test]
fn a_thread_is_created_filled_shown_asked_and_deleted() {
    let memlog = Memlog::new();
    let settings = r#"{"extraction":{"mode":"inline"}}"#;
    memlog.ok(&["thread", "create", "trip", "--owner", "ann", "--settings", settings]);
    let (code, error) = memlog.refused(&["thread", "create", "trip"]);
    assert_eq!((code, error["existing_id"].as_str()), (1, Some("trip")));
    memlog.ok(&["thread", "add", "trip", "I moved to Lisbon in May."]);
    memlog.ok(&["thread", "add", "trip", "The visa is in the blue folder.", "--memory", "fact"]);
    let shown = memlog.ok(&["thread", "show", "trip"]);
    let line = shown.lines().find(|line| line.contains("I moved to Lisbon")).unwrap();
    let beside = shown.lines().any(|line| line.contains("event:") || line.contains("fact:"));
    assert!(beside && shown.contains("saved by themselves") && shown.contains("blue folder"), "{line}\n{shown}");
    let listed = memlog.json(&["thread", "list", "--owner", "ann"]).remove(0);
    assert_eq!(
        (&listed["threads"][0]["thread_id"], &listed["threads"][0]["message_count"]),
        (&"trip".into(), &1.into())
    );
    let found = memlog.json(&["thread", "search", "trip", "visa folder", "--type", "fact"]).remove(0);
    assert_eq!(found["results"][0]["content"], "The visa is in the blue folder.");
    assert!(memlog.ok(&["thread", "card", "trip", "--recent", "1"]).contains("<recent_messages>"));
    assert!(memlog.ok(&["thread", "summary", "trip"]).contains("Lisbon"));
    let (code, _) = memlog.refused(&["thread", "delete", "trip"]);
    assert_eq!(code, 2, "nobody can be asked here");
    assert!(memlog.ok(&["thread", "delete", "trip", "--yes"]).contains("1 messages"));
    let (code, error) = memlog.refused(&["thread", "show", "trip"]);
    assert_eq!((code, error["type"].as_str()), (1, Some("not_found_error")));
    let (code, error) = memlog.refused(&["thread", "create", "x", "--settings", r#"{"speed":1}"#]);
    assert!(code == 2 && error["message"].as_str().unwrap().contains("speed"), "{error}");
}
