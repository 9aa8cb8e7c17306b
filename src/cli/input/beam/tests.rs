// BEAM's shape in small chats of our own, with what is untidy in the published ones.

use super::*;

const CHAT: &str = r#"[
  {"batch_number": 1, "time_anchor": null, "turns": [
    [{"role": "user", "id": 0, "time_anchor": "March-15-2024", "index": "1,1", "question_type": "main_question",
      "content": "My sprint ends on 29 March. ->-> 1,1"},
     {"role": "assistant", "id": 1, "content": "Noted."}],
    [{"role": "user", "id": 2, "content": "An arrow ->-> is no mark."},
     {"role": "assistant", "id": 3, "content": " "}]]},
  {"batch_number": 2, "time_anchor": "March-15-2024", "turns": [
    [{"role": "user", "id": 4, "content": "The port is 4000. ->-> 2,N/A"},
     {"role": "assistant", "id": 1, "content": "Right."}]]},
  {"batch_number": 3, "time_anchor": "April-05-2024", "turns": [[{"role": "user", "id": 5, "content": "Now 4001."}]]}]"#;

const QUESTIONS: &str = r#"{
  "abstention": [{"question": "Who is Ann?", "ideal_response": "Nothing is known.", "rubric": ["Nothing"]}],
  "contradiction_resolution": [{"question": "Which?", "ideal_answer": "Both.",
    "source_chat_ids": {"first_statement": [4], "second_statement": [5]}}],
  "event_ordering": [{"question": "In what order?", "answer": "So.", "source_chat_ids": [[0, 2], [2], ["5"], 3, 99]}],
  "information_extraction": [{"question": "When?", "answer": "29 March", "source_chat_ids": [1]}],
  "summarization": [{"question": "What?", "ideal_summary": "All.", "source_chat_ids": []}]}"#;

fn read(chat: &str, questions: &str) -> Result<Sample, Wrong> {
    sample("7".to_owned(), serde_json::from_str(chat).unwrap(), serde_json::from_str(questions).unwrap())
}

fn told(sample: &Sample) -> Vec<String> {
    let messages = |session: &Session| session.messages.clone();
    let all = sample.conversation.sessions.iter().flat_map(messages);
    all.map(|m| {
        let time = m.timestamp.map_or("-".to_owned(), |time| time.to_string());
        format!("{} {time} {}: {}", m.id.unwrap(), m.role, m.content)
    })
    .collect()
}

// The shape of the published chats, with what is untidy in them: anchors on a message or a batch, numbers that begin
// anew, an empty answer, the generator's marks.
#[test]
fn a_batch_is_a_session_and_an_anchor_holds_until_the_next() {
    let sample = read(CHAT, QUESTIONS).unwrap();
    insta::assert_snapshot!(told(&sample).join("\n"), @r"
    B1:0 2024-03-15T00:00:00Z user: My sprint ends on 29 March.
    B1:1 2024-03-15T00:00:01Z assistant: Noted.
    B1:2 2024-03-15T00:00:02Z user: An arrow ->-> is no mark.
    B2:4 2024-03-15T00:00:03Z user: The port is 4000.
    B2:1 2024-03-15T00:00:04Z assistant: Right.
    B3:5 2024-04-05T00:00:00Z user: Now 4001.
    ");
    assert!(sample.conversation.speakers.is_empty());
    let sessions: Vec<_> = sample.conversation.sessions.iter().filter_map(|it| it.id.as_deref()).collect();
    assert_eq!(sessions, ["B1", "B2", "B3"]);
}

// Evidence is what the figures rest on: found however deep it lies, each turn once, none that is not sure.
#[test]
fn questions_have_their_ability_their_evidence_and_what_is_expected() {
    let sample = read(CHAT, QUESTIONS).unwrap();
    let told =
        |it: &Question| format!("{} = {} from {}", it.id, it.answer.as_deref().unwrap_or("-"), it.evidence.join(" "));
    insta::assert_snapshot!(sample.questions.iter().map(told).collect::<Vec<_>>().join("\n"), @r"
    7/abstention-0 = - from 
    7/contradiction_resolution-0 = Both. from 7/B2:4 7/B3:5
    7/event_ordering-0 = So. from 7/B1:0 7/B1:2 7/B3:5
    7/information_extraction-0 = 29 March from 
    7/summarization-0 = All. from 
    ");
    assert_eq!(sample.questions[2].category.name(), "event_ordering");
}

// At ten million tokens a chat is ten plans, and in the published table a batch is a bare list of messages.
#[test]
fn plans_and_bare_batches_are_read_too() {
    let chat = r#"[
      {"plan-1": [{"batch_number": 1, "turns": [[{"role": "user", "id": 0, "content": "One."}]]}], "plan-2": null},
      {"plan-1": null, "plan-2": [{"batch_number": 1, "turns": [[{"role": "user", "id": 1, "content": "Two."}]]}]},
      [{"role": "user", "id": 2, "content": "Three.", "time_anchor": "some day"}, {"role": "user", "id": 2, "content": "Four."}]]"#;
    let sample = read(chat, r#"{"event_ordering": [{"question": "?", "source_chat_ids": [1, 2]}]}"#).unwrap();
    assert_eq!(
        told(&sample),
        ["plan-1-B1:0 - user: One.", "plan-2-B1:1 - user: Two.", "B3:2 - user: Three.", "B3:2.2 - user: Four."]
    );
    assert_eq!(sample.questions[0].evidence, ["7/plan-2-B1:1"]);
}

#[test]
fn errors_name_the_batch_and_the_message() {
    let refusal = |chat: &str, questions: &str| {
        let (place, reason) = read(chat, questions).unwrap_err();
        format!("{place}: {reason}")
    };
    let long = format!(r#"[[{{"role": "user", "id": 4, "content": "{}"}}]]"#, "a".repeat(CONTENT_BYTES_MAX + 1));
    insta::assert_snapshot!(
        [
            refusal("{}", "{}"),
            refusal("[7]", "{}"),
            refusal(r#"[[{"role": "system", "id": 4, "content": "x"}]]"#, "{}"),
            refusal(r#"[[{"role": "user", "content": "x"}]]"#, "{}"),
            refusal(&long, "{}"),
            refusal("[]", "\"{'abstention': []}\""),
            refusal("[]", r#"{"abstention": [{}]}"#),
            refusal("[]", &format!(r#"{{"abstention": [{{"question": "{}"}}]}}"#, "a".repeat(QUERY_BYTES_MAX + 1))),
        ]
        .join("\n"),
        @r"
    chat: not a list of batches
    B1: not a batch
    B1, message 4: neither user nor assistant: `system`
    B1: missing field `id`
    B1, message 4: 32769 bytes, 32768 at most
    probing_questions: not lists by ability in JSON; the benchmark's download script writes them so
    abstention: missing field `question`
    abstention, question 1: 1025 bytes, 1024 at most
    "
    );
}

// People point at what they have: all sizes, one size, one chat, or a file of their own.
#[test]
fn folders_and_files_are_found_in_the_order_of_their_numbers() {
    let root = tempfile::tempdir().unwrap();
    for name in ["100K/10", "100K/2", "10M/1"] {
        let folder = root.path().join(name);
        std::fs::create_dir_all(folder.join("probing_questions")).unwrap();
        std::fs::write(folder.join("chat.json"), CHAT).unwrap();
        std::fs::write(folder.join(super::QUESTIONS), QUESTIONS).unwrap();
    }
    std::fs::create_dir_all(root.path().join("10M/1/plan-0")).unwrap();
    std::fs::write(root.path().join("10M/1/plan-0/chat.json"), "[]").unwrap();
    let short = r#"[[{"role": "user", "id": 0, "content": "Short."}]]"#;
    std::fs::write(root.path().join("100K/2/chat_trunecated.json"), short).unwrap();
    let found = |path: &str| -> Vec<(String, u64)> {
        let samples = samples(&root.path().join(path)).unwrap();
        samples.into_iter().map(|it| (it.id, it.conversation.len())).collect()
    };
    let is = |expected: &[(&str, u64)]| -> Vec<(String, u64)> {
        expected.iter().map(|(id, turns)| ((*id).to_owned(), *turns)).collect()
    };
    assert_eq!(found(""), is(&[("10M-1", 6), ("100K-2", 1), ("100K-10", 6)]));
    assert_eq!(found("100K"), is(&[("2", 1), ("10", 6)]));
    assert_eq!(found("100K/10"), is(&[("10", 6)]));
    assert_eq!(found("100K/10/chat.json"), is(&[("10", 6)]));
    let row = format!(r#"{{"conversation_id": 3, "seed": {{}}, "chat": {CHAT}, "probing_questions": {QUESTIONS}}}"#);
    std::fs::write(root.path().join("rows.json"), format!("[{row}]")).unwrap();
    assert_eq!(found("rows.json"), is(&[("3", 6)]));
    std::fs::write(root.path().join("other.json"), "{}").unwrap();
    let error = samples(&root.path().join("other.json")).unwrap_err().to_string();
    assert!(error.contains("not BEAM's"), "{error}");
    let empty = root.path().join("empty");
    std::fs::create_dir(&empty).unwrap();
    assert!(samples(&empty).unwrap_err().to_string().contains("no chat here"));
}
