// The decoder is what stands between a model and the log: it is shown everything that models get wrong.

use serde_json::{Value, json};

use super::*;

const SHOWN: Shown<'static> = Shown { messages: &[0, 2], known: 2 };

fn memory() -> Value {
    json!({ "type": "fact", "content": "Ann lives in Porto.", "date": null, "sources": [2], "corrects": null })
}

fn with(field: &str, value: Value) -> String {
    let mut memory = memory();
    memory[field] = value;
    json!({ "memories": [memory] }).to_string()
}

fn without(field: &str) -> String {
    let mut memory = memory();
    memory.as_object_mut().expect("an object").remove(field);
    json!({ "memories": [memory] }).to_string()
}

#[test]
fn what_was_asked_for_is_taken() {
    let day = |text: &str| text.parse::<Timestamp>().expect("a time");
    let two = json!({ "memories": [
        { "type": "event", "content": " Ann moved. ", "date": "2026-05-04", "sources": [2, 0, 2], "corrects": 1 },
        { "type": "task", "content": "Ann calls.", "date": "2026-05-04T09:00:00+02:00", "sources": [0], "corrects": null },
    ] });
    let expected = [
        Told {
            record_type: RecordType::Event,
            content: "Ann moved.".to_owned(),
            timestamp: Some(day("2026-05-04T00:00:00Z")),
            sources: vec![2, 0],
            corrects: Some(1),
        },
        Told {
            record_type: RecordType::Task,
            content: "Ann calls.".to_owned(),
            timestamp: Some(day("2026-05-04T07:00:00Z")),
            sources: vec![0],
            corrects: None,
        },
    ];
    assert_eq!(memories(&two.to_string(), &SHOWN), Ok(expected.to_vec()));
    assert_eq!(memories(r#"{"memories":[]}"#, &SHOWN), Ok(Vec::new()));
}

// One wrong field and the whole answer is refused: the rest may be invented just as well.
#[test]
fn anything_else_is_malformed() {
    let long = "x".repeat(CONTENT_BYTES_MAX + 1);
    let cases = [
        with("type", json!("preference")),
        with("type", json!(3)),
        with("content", json!("")),
        with("content", json!(" \n\u{200b}... ")),
        with("content", json!(null)),
        with("content", json!(long)),
        with("content", json!("Ann\u{1b}[2J lives in Porto")),
        with("date", json!("yesterday")),
        with("date", json!("")),
        with("date", json!("2026-02-30")),
        with("date", json!("2026-05-04T09:00:00")),
        with("date", json!(20260504)),
        with("sources", json!([])),
        with("sources", json!([1])),
        with("sources", json!([-1])),
        with("sources", json!([0.5])),
        with("sources", json!(["0"])),
        with("sources", json!([0, 99])),
        with("sources", json!(null)),
        with("corrects", json!(2)),
        with("corrects", json!("0")),
        with("confidence", json!(1)),
        without("date"),
        without("corrects"),
        without("sources"),
        json!({ "memories": [memory()], "note": "done" }).to_string(),
        json!({ "memories": vec![memory(); MEMORIES_MAX + 1] }).to_string(),
        json!([memory()]).to_string(),
        json!({}).to_string(),
        "I found nothing.".to_owned(),
        format!("```json\n{}\n```", with("corrects", json!(0))),
        format!("{} {{}}", with("corrects", json!(0))),
        with("corrects", json!(0)).replace("\"fact\"", "\"fact\",\"type\":\"task\""),
        String::new(),
    ];
    for case in cases {
        assert_eq!(memories(&case, &SHOWN), Err(Malformed), "{case:.200}");
    }
    // The cases differ from what is right in one thing each.
    assert_eq!(memories(&with("corrects", json!(0)), &SHOWN).map(|told| told.len()), Ok(1));
}

#[test]
fn a_type_is_one_of_four() {
    assert_eq!(kind(r#"{"type":"instruction"}"#), Ok(RecordType::Instruction));
    for answer in [r#"{"type":"memory"}"#, r#"{"type":"fact","why":""}"#, "fact", "{}"] {
        assert_eq!(kind(answer), Err(Malformed), "{answer}");
    }
}

#[test]
fn a_summary_is_one_line_that_says_something() {
    assert_eq!(summary("{\"summary\":\" Ann\\nmoved. \"}"), Ok("Ann moved.".to_owned()));
    let long = json!({ "summary": "x ".repeat(SUMMARY_CHARS_MAX) }).to_string();
    for answer in [r#"{"summary":" "}"#, r#"{"summary":null}"#, r#"{"summary":"a","b":1}"#, "Ann moved.", &long] {
        assert_eq!(summary(answer), Err(Malformed), "{answer:.50}");
    }
}

// An answer that cites what was not found would lend its weight to an invention.
#[test]
fn an_answer_cites_only_what_was_found() {
    let answer = |sentences: Value| json!({ "sentences": sentences }).to_string();
    let right = answer(json!([{ "text": "Ann\nmoved.", "sources": [3, 1, 3] }]));
    let expected = Sentence { text: "Ann moved.".to_owned(), sources: vec![0, 2] };
    assert_eq!(sentences(&right, 3, 1), Ok(vec![expected]));
    assert_eq!(sentences(&answer(json!([])), 3, 1), Ok(Vec::new()));
    for wrong in [
        json!([{ "text": "Ann moved.", "sources": [] }]),
        json!([{ "text": "Ann moved.", "sources": [0] }]),
        json!([{ "text": "Ann moved.", "sources": [4] }]),
        json!([{ "text": "", "sources": [1] }]),
        json!([{ "text": "Ann moved." }]),
        json!([{ "text": "Ann moved.", "sources": [1] }, { "text": "Twice.", "sources": [1] }]),
        json!("Ann moved."),
    ] {
        assert_eq!(sentences(&answer(wrong.clone()), 3, 1), Err(Malformed), "{wrong}");
    }
}

#[test]
fn parts_of_a_question_can_be_asked_and_say_something_new() {
    let told = |questions: Value| parts(&json!({ "questions": questions }).to_string(), "Who is older?");
    assert_eq!(told(json!([" How old is Ann? ", "How old is Bob?", "how old is ann", "Who is older"])), {
        Ok(vec!["How old is Ann?".to_owned(), "How old is Bob?".to_owned()])
    });
    assert_eq!(told(json!([])), Ok(Vec::new()));
    for wrong in [
        json!(["?"]),
        json!([""]),
        json!([7]),
        json!(["Who\nis it?"]),
        json!(["x".repeat(QUERY_BYTES_MAX + 1)]),
        json!(["a", "b", "c", "d", "e"]),
        json!("Who is it?"),
    ] {
        assert_eq!(told(wrong.clone()), Err(Malformed), "{wrong}");
    }
    assert_eq!(parts(r#"{"questions":[],"answer":"Ann"}"#, "Who is older?"), Err(Malformed));
}
