//! Precision and recall on turns that were labelled before the code was written.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::super::*;
use crate::api::Said;
use crate::port::{Role, Turn, Work};

const TURNS: &str = include_str!("../../../tests/data/turns.jsonl");
const FRESH: &str = include_str!("../../../tests/data/fresh.jsonl");
const EVERYDAY: &str = include_str!("../../../tests/data/everyday.jsonl");

#[derive(Default, Debug)]
struct Score {
    labelled: usize,
    kept: usize,
    matched: usize,
    /// Labels that any memory of their turn has in it, one of its own or one that says more.
    held: usize,
    /// Kept, and neither asked for nor something that a person might keep.
    junk: usize,
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
    fn junk(&self) -> f64 {
        if self.kept == 0 { 0.0 } else { ratio(self.junk, self.kept) }
    }
}

fn ratio(part: usize, whole: usize) -> f64 {
    if whole == 0 { 1.0 } else { f64::from(u32::try_from(part).unwrap()) / f64::from(u32::try_from(whole).unwrap()) }
}

fn role(line: &Value) -> Role {
    match line["role"].as_str() {
        Some("assistant") => Role::Assistant,
        Some("system") => Role::System,
        _ => Role::User,
    }
}

fn strings(list: &Value) -> Vec<String> {
    list.as_array().into_iter().flatten().map(|text| text.as_str().unwrap().to_owned()).collect()
}

/// The labelled turn is the last one, so that its index tells its memories from those of the turns before it.
fn work(line: &Value) -> Work {
    let at = line["at"].as_str().unwrap_or("2024-03-13T10:00:00Z");
    let said = Said::parse(at).unwrap();
    let turn = |line: &Value| Turn {
        role: role(line),
        speaker: line["speaker"].as_str().map(str::to_owned),
        said_at: said.time.timestamp(),
        offset_seconds: said.offset_seconds,
        text: line["text"].as_str().unwrap().to_owned(),
    };
    let other = |name: &&str| turn(&json!({"speaker": name, "text": "Hi!"}));
    let speakers = ["Melanie", "Caroline", "Mel"].iter().filter(|_| line["speaker"].is_string()).map(other).collect();
    let earlier = line["before"].as_array().into_iter().flatten();
    Work {
        turns: earlier.chain([line]).map(turn).collect(),
        before: speakers,
        known: strings(&line["known"]),
        ..Work::default()
    }
}

fn has(memory: &Extracted, word: &str) -> bool {
    memory.content.to_lowercase().contains(&word.to_lowercase())
}

/// A statement may be kept in parts that have its words between them: they count as one, and the first of them is judged.
fn parted(words: &[String], free: &mut Vec<&Extracted>, score: &mut Score) -> Option<usize> {
    let places: Option<Vec<usize>> =
        words.iter().map(|word| free.iter().position(|memory| has(memory, word))).collect();
    let places = places.filter(|places| places.len() > 1)?;
    let first = *places.iter().min()?;
    let mut rest: Vec<usize> = places.into_iter().filter(|at| *at != first).collect();
    rest.sort_unstable();
    rest.dedup();
    for at in rest.iter().rev() {
        free.remove(*at);
        score.kept -= 1;
    }
    Some(first)
}

fn judge(line: &Value, score: &mut Score) -> Vec<String> {
    let work = work(line);
    let mut kept = Local.extract(&work).unwrap();
    kept.retain(|memory| memory.sources.contains(&(work.turns.len() - 1)));
    let mut complaints = Vec::new();
    let mut free: Vec<&Extracted> = kept.iter().collect();
    let labels = line["keep"].as_array().unwrap();
    score.kept += kept.len();
    score.labelled += labels.len();
    for label in labels {
        let words = strings(&label["has"]);
        score.held += usize::from(kept.iter().any(|memory| words.iter().all(|word| has(memory, word))));
        let own = free.iter().position(|memory| words.iter().all(|word| has(memory, word)));
        let Some(at) = own.or_else(|| parted(&words, &mut free, score)) else {
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
            let right = found.as_ref().is_some_and(|found| date.split('|').any(|date| date == found));
            score.dated += usize::from(right);
            if !right {
                complaints.push(format!("date {found:?} instead of {date}: {}", memory.content));
            }
        }
        if let Some(corrects) = label["corrects"].as_u64() {
            score.corrections += 1;
            let right = memory.corrects == Some(usize::try_from(corrects).unwrap());
            score.corrected += usize::from(right);
            if !right {
                complaints.push(format!("corrects {:?} instead of {corrects}: {}", memory.corrects, memory.content));
            }
        }
    }
    let may = strings(&line["may"]);
    free.retain(|memory| !may.iter().any(|word| has(memory, word)));
    score.junk += free.len();
    complaints.extend(free.iter().map(|memory| format!("junk: {}", memory.content)));
    complaints
}

/// The languages that are judged together, and whether they were held out.
type Scores = BTreeMap<(String, bool), Score>;

/// Lines with an even index were used for tuning and say what is wrong with them.
fn run(lines: &str, group: impl Fn(&str) -> &str) -> Scores {
    let mut scores = Scores::new();
    for (index, line) in lines.lines().enumerate() {
        let line: Value = serde_json::from_str(line).unwrap();
        let (language, held_out) = (line["lang"].as_str().unwrap(), index % 2 == 1);
        let complaints = judge(&line, scores.entry((group(language).to_owned(), held_out)).or_default());
        for complaint in complaints.iter().filter(|_| !held_out) {
            println!("{index} {language}: {complaint}");
        }
    }
    for ((language, held_out), score) in &scores {
        println!(
            "{language} {}: precision {:.2} recall {:.2} (held {:.2}) types {:.2} junk {:.2} {score:?}",
            if *held_out { "held out" } else { "tuning" },
            score.precision(),
            score.recall(),
            ratio(score.held, score.labelled),
            score.types(),
            score.junk(),
        );
    }
    scores
}

fn english_or_not(language: &str) -> &str {
    if language == "en" { language } else { "es ru ja ko" }
}

fn hold_the_floors(scores: &Scores, precision: f64, recall: f64, types: f64) {
    for score in scores.values() {
        assert!(score.labelled >= 8, "too few labels to judge by: {score:?}");
        assert!(score.precision() >= precision && score.recall() >= recall && score.types() >= types, "{score:?}");
    }
}

// The floors are what the extractor promises: a change that keeps junk or loses facts fails here.
#[test]
fn the_labelled_turns_are_read_as_a_person_would() {
    hold_the_floors(&run(TURNS, english_or_not), 0.95, 0.95, 0.95);
}

// The rules must carry beyond the turns that shaped them. On their first run they kept 32 of 35 statements of the English ones,
// with 8 that nobody asked for; the held-out half still stands so, and its floor is a little below.
#[test]
fn fresh_turns_are_read_almost_as_well() {
    hold_the_floors(&run(FRESH, english_or_not), 0.80, 0.85, 0.85);
}

// Everyday talk in five languages, labelled by a hand that did not know the rules: what strangers will see. On the first run the
// held-out English half stood at precision 0.79, recall 0.67, types 0.91 and junk 0.13, and 2 of 8 corrections found their record.
#[test]
fn everyday_talk_is_read_sensibly() {
    let scores = run(EVERYDAY, |language| language);
    assert_eq!(scores.len(), 10);
    for ((language, held_out), score) in &scores {
        let english = language == "en";
        let (precision, recall) = if english { (0.83, 0.85) } else { (0.90, 0.75) };
        let dates = ratio(score.dated, score.dates);
        let corrections = ratio(score.corrected, score.corrections);
        assert!(score.precision() >= precision && score.recall() >= recall, "{language} {held_out}: {score:?}");
        assert!(ratio(score.held, score.labelled) >= 0.95, "{language} {held_out}: {score:?}");
        assert!(score.types() >= 0.95 && dates >= 0.88 && corrections >= 0.74, "{language} {held_out}: {score:?}");
        assert!(score.junk() <= 0.09, "{language} {held_out}: {score:?}");
    }
}
