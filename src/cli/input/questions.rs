//! Questions alone, as JSON Lines: `{"question_id","evidence","category?","answer?"}`, one a line, the evidence as
//! `conv-26/D1:3`. Other fields are left aside: such files come from many hands.

use serde::Deserialize;
use serde_json::Value;

use super::{locomo, sample::Category};
use crate::cli::fail::Fail;

/// One of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::cli) struct Line {
    /// As the data set's reader names it: `conv-26/q0`.
    pub(in crate::cli) id: String,
    /// The turns that answer it.
    pub(in crate::cli) evidence: Vec<String>,
    /// Its kind, if the file says.
    pub(in crate::cli) category: Option<Category>,
    /// What is expected, if anything is.
    pub(in crate::cli) answer: Option<String>,
}

#[derive(Deserialize)]
struct Raw {
    question_id: String,
    evidence: Vec<String>,
    category: Option<Category>,
    #[serde(default)]
    answer: Value,
}

/// All lines of a text.
pub(in crate::cli) fn lines(text: &str, file: &str) -> Result<Vec<Line>, Fail> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(index, line)| {
            let raw: Raw = serde_json::from_str(line).map_err(|error| Fail::Input {
                file: file.to_owned(),
                place: format!("line {}", index + 1),
                reason: error.to_string(),
            })?;
            // Such a file may hold the answer that a question leads astray to; nobody expects that one.
            let expected = raw.category.as_ref().is_none_or(Category::is_answerable);
            let answer = locomo::answer(raw.answer).filter(|_| expected);
            Ok(Line { id: raw.question_id, evidence: raw.evidence, category: raw.category, answer })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    // Files of questions are shared between tools, which add fields of their own and write years as numbers.
    #[test]
    fn a_line_is_a_question_whatever_else_it_has() {
        let text = r#"{"question_id":"talk-1/q0","conv":"talk-1","category":2,"answer":2022,"evidence":["talk-1/D1:1"]}

{"question_id":"talk-1/q1","category":5,"answer":"a trap","evidence":[]}
{"question_id":"chat/q0","category":"abstention","answer":null,"evidence":[]}
{"question_id":"bare","evidence":["x"]}"#;
        let told: Vec<_> = lines(text, "q.jsonl")
            .unwrap()
            .into_iter()
            .map(|line| (line.id, line.category.map(|it| it.name()), line.answer))
            .collect();
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(
            told,
            [
                ("talk-1/q0".to_owned(), some("2 temporal"), some("2022")),
                ("talk-1/q1".to_owned(), some("5 adversarial"), None),
                ("chat/q0".to_owned(), some("abstention"), None),
                ("bare".to_owned(), None, None),
            ]
        );
        let error = lines("{\"question_id\":\"x\",\"evidence\":[]}\n{}", "q.jsonl").unwrap_err().to_string();
        assert!(error.contains("q.jsonl, line 2: missing field"), "{error}");
    }
}
