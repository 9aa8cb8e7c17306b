//! Precision and recall on turns that were labelled before the code was written.

use std::collections::BTreeMap;

use serde_json::Value;

use super::super::*;
use crate::port::{Role, Turn, Work};

const TURNS: &str = include_str!("../../../tests/data/turns.jsonl");
const FRESH: &str = include_str!("../../../tests/data/fresh.jsonl");

#[derive(Default, Debug)]
struct Score {
    labelled: usize,
    kept: usize,
    matched: usize,
    typed: usize,
    dated: usize,
    dates: usize,
    corrections: usize,
    corrected: usize,
}

impl Score {
    fn precision(&self) -> f64 {
        ratio(self.matched, self.kept)
    }
    fn recall(&self) -> f64 {
        ratio(self.matched, self.labelled)
    }
    fn types(&self) -> f64 {
        ratio(self.typed, self.matched)
    }
}

fn ratio(part: usize, whole: usize) -> f64 {
    if whole == 0 { 1.0 } else { f64::from(u32::try_from(part).unwrap()) / f64::from(u32::try_from(whole).unwrap()) }
}

fn work(line: &Value) -> Work {
    let text = |key: &str| line[key].as_str().map(str::to_owned);
    let role = match line["role"].as_str() {
        Some("assistant") => Role::Assistant,
        Some("system") => Role::System,
        _ => Role::User,
    };
    let said_at = text("at").unwrap_or_else(|| "2024-03-13T10:00:00Z".into()).parse().unwrap();
    let other = |name: &str| Turn { role: Role::User, speaker: Some(name.into()), said_at, text: "Hi!".into() };
    let speakers =
        if line["speaker"].is_string() { vec![other("Melanie"), other("Caroline"), other("Mel")] } else { Vec::new() };
    let known = line["known"]
        .as_array()
        .map(|known| known.iter().map(|k| k.as_str().unwrap().to_owned()).collect())
        .unwrap_or_default();
    Work {
        turns: vec![Turn { role, speaker: text("speaker"), said_at, text: text("text").unwrap() }],
        before: speakers,
        known,
    }
}

fn judge(line: &Value, score: &mut Score) -> Vec<String> {
    let kept = Local.extract(&work(line)).unwrap();
    let mut complaints = Vec::new();
    let mut free: Vec<&Extracted> = kept.iter().collect();
    let labels = line["keep"].as_array().unwrap();
    score.kept += kept.len();
    score.labelled += labels.len();
    for label in labels {
        let has = |memory: &Extracted| {
            label["has"]
                .as_array()
                .unwrap()
                .iter()
                .all(|w| memory.content.to_lowercase().contains(&w.as_str().unwrap().to_lowercase()))
        };
        let Some(at) = free.iter().position(|memory| has(memory)) else {
            complaints.push(format!("missed {}", label["has"]));
            continue;
        };
        let memory = free.remove(at);
        score.matched += 1;
        let kind = serde_json::to_value(memory.record_type).unwrap();
        let right = label["type"].as_str().unwrap().split('|').any(|t| t == kind);
        score.typed += usize::from(right);
        if !right {
            complaints.push(format!("type {kind} instead of {}: {}", label["type"], memory.content));
        }
        if let Some(date) = label["date"].as_str() {
            score.dates += 1;
            let found = memory.timestamp.map(|at| dates::day_of(at).to_string());
            score.dated += usize::from(found.as_deref() == Some(date));
            if found.as_deref() != Some(date) {
                complaints.push(format!("date {found:?} instead of {date}: {}", memory.content));
            }
        }
        if let Some(corrects) = label["corrects"].as_u64() {
            score.corrections += 1;
            score.corrected += usize::from(memory.corrects == Some(usize::try_from(corrects).unwrap()));
        }
    }
    complaints.extend(free.iter().map(|memory| format!("junk: {}", memory.content)));
    complaints
}

/// Scores by (English, held out); lines with an even index were used for tuning and say what is wrong with them.
fn run(lines: &str) -> BTreeMap<(bool, bool), Score> {
    let mut scores: BTreeMap<(bool, bool), Score> = BTreeMap::new();
    for (index, line) in lines.lines().enumerate() {
        let line: Value = serde_json::from_str(line).unwrap();
        let (english, held_out) = (line["lang"] == "en", index % 2 == 1);
        let complaints = judge(&line, scores.entry((english, held_out)).or_default());
        for complaint in complaints.iter().filter(|_| !held_out) {
            println!("{index} {}: {complaint}", line["lang"]);
        }
    }
    for ((english, held_out), score) in &scores {
        let (language, half) =
            (if *english { "English" } else { "es ru ja ko" }, if *held_out { "held out" } else { "tuning" });
        println!(
            "{language} {half}: precision {:.2} recall {:.2} types {:.2} {score:?}",
            score.precision(),
            score.recall(),
            score.types()
        );
    }
    scores
}

fn hold_the_floors(scores: &BTreeMap<(bool, bool), Score>, precision: f64, recall: f64, types: f64) {
    for score in scores.values() {
        assert!(score.labelled >= 8, "too few labels to judge by: {score:?}");
        assert!(score.precision() >= precision && score.recall() >= recall && score.types() >= types, "{score:?}");
    }
}

// The floors are what the extractor promises: a change that keeps junk or loses facts fails here.
#[test]
fn the_labelled_turns_are_read_as_a_person_would() {
    hold_the_floors(&run(TURNS), 0.95, 0.95, 0.95);
}

// The rules must carry beyond the turns that shaped them. On their first run they kept 32 of 35 statements of the English ones,
// with 8 that nobody asked for; the held-out half still stands so, and its floor is a little below.
#[test]
fn fresh_turns_are_read_almost_as_well() {
    hold_the_floors(&run(FRESH), 0.80, 0.85, 0.85);
}
