//! `memlog eval compare`: two runs over the same questions, question by question. What differs between two versions is far
//! less than what differs between two questions, so the difference is taken within each before its mean and its interval.
//!
//! A question that only one of the runs has counts as nothing found in the other; one that neither has is left out.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
};

use comfy_table::Table;
use serde::Serialize;

use super::{
    answers::{self, LENGTHS},
    bootstrap::{self, RESAMPLES, SEED},
    group::Group,
    run::{self, Line},
    score::{self, Scores},
};
use crate::cli::{
    Outcome,
    fail::Fail,
    input::{
        self, beam, locomo, questions,
        sample::{Category, Question, Sample},
    },
    screen::Screen,
};

/// Which runs, and what was asked.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// A run file, as --run writes it
    a: PathBuf,
    /// Another; the differences are B - A
    b: PathBuf,
    /// What was asked: LoCoMo's or BEAM's data, or JSON Lines of question_id, category, evidence, answer
    #[arg(long, value_name = "FILE")]
    questions: PathBuf,
}

/// A question with what it is judged by.
struct Asked {
    id: String,
    category: Category,
    evidence: Vec<String>,
    answer: Option<String>,
}

/// A figure in both runs.
#[derive(Debug, PartialEq, Serialize)]
struct Difference {
    figure: &'static str,
    a: f64,
    b: f64,
    /// The mean of B - A.
    difference: f64,
    /// The ends of its 95 % confidence interval.
    low: f64,
    high: f64,
    /// Questions in which B is higher, A is, or neither.
    b_higher: u64,
    a_higher: u64,
    equal: u64,
}

/// Several figures over the questions that have them.
#[derive(Debug, PartialEq, Serialize)]
struct Compared {
    questions: u64,
    differences: Vec<Difference>,
}

/// A category, or several.
#[derive(Debug, Serialize)]
struct Row {
    category: String,
    /// How evidence is found.
    recall: Option<Compared>,
    /// What answers hold; none if a run has no answers.
    answers: Option<Compared>,
}

/// What differs.
#[derive(Debug, Serialize)]
struct Report {
    /// The headline or all first, then each category.
    rows: Vec<Row>,
    missing_in_a: u64,
    missing_in_b: u64,
    /// In neither.
    left_out: u64,
    resamples: usize,
    seed: u64,
}

/// What is held at each of [`LENGTHS`], then how long the answers are.
const ANSWERS: [&str; LENGTHS.len() * 2] = [
    "answer held, short",
    "answer held, medium",
    "answer held, long",
    "tokens of the answer, short",
    "tokens of the answer, medium",
    "tokens of the answer, long",
];

/// The figures of one question in both runs.
struct Pair<const N: usize> {
    category: Category,
    a: [f64; N],
    b: [f64; N],
}

impl Args {
    /// The words of `memlog eval --compare A B --questions FILE`.
    pub(super) fn new(runs: Vec<PathBuf>, questions: Option<PathBuf>) -> Result<Self, Fail> {
        match (<[PathBuf; 2]>::try_from(runs), questions) {
            (Ok([a, b]), Some(questions)) => Ok(Self { a, b, questions }),
            _ => Err(Fail::Usage("--compare needs two run files and --questions FILE".to_owned())),
        }
    }

    pub(super) fn run(self, screen: Screen) -> Result<Outcome, Fail> {
        let (a, b) = (run::read(&self.a)?, run::read(&self.b)?);
        let asked = asked(&self.questions)?;
        let report = report(asked, &a, &b);
        if report.rows.is_empty() {
            let (a, b) = (self.a.display(), self.b.display());
            return Err(Fail::Usage(format!(
                "no question of {} is in {a} or {b} with evidence",
                self.questions.display()
            )));
        }
        screen.reply(&report, people)?;
        Ok(Outcome::Done)
    }
}

fn asked(path: &Path) -> Result<Vec<Asked>, Fail> {
    if path.is_dir() {
        return Ok(of_samples(beam::samples(path)?));
    }
    let (text, file) = input::text(path)?;
    if let Some(samples) = beam::of_text(&text, &file) {
        return samples.map(of_samples);
    }
    if text.trim_start().starts_with('[') {
        return Ok(of_samples(locomo::samples(&text, &file)?));
    }
    let lines = questions::lines(&text, &file)?.into_iter();
    lines
        .map(|line| {
            let questions::Line { id, evidence, category, answer } = line;
            let category = category.ok_or_else(|| Fail::Input {
                file: file.clone(),
                place: id.clone(),
                reason: "no category".to_owned(),
            })?;
            Ok(Asked { id, category, evidence, answer })
        })
        .collect()
}

fn of_samples(samples: Vec<Sample>) -> Vec<Asked> {
    let questions = samples.into_iter().flat_map(|sample| sample.questions);
    let asked = |it: Question| Asked { id: it.id, category: it.category, evidence: it.evidence, answer: it.answer };
    questions.map(asked).collect()
}

fn report(asked: Vec<Asked>, a: &HashMap<String, Line>, b: &HashMap<String, Line>) -> Report {
    let (mut found, mut held) = (Vec::new(), Vec::new());
    let [mut missing_in_a, mut missing_in_b, mut left_out] = [0; 3];
    let answered = |run: &HashMap<String, Line>| run.values().any(|line| line.answers.is_some());
    let both_answered = answered(a) && answered(b);
    let nothing = Line::default();
    for question in asked {
        let (in_a, in_b) = (a.get(&question.id), b.get(&question.id));
        match (in_a, in_b) {
            (None, None) => {
                left_out += 1;
                continue;
            }
            (None, _) => missing_in_a += 1,
            (_, None) => missing_in_b += 1,
            _ => {}
        }
        let (in_a, in_b) = (in_a.unwrap_or(&nothing), in_b.unwrap_or(&nothing));
        let scores = |line: &Line| Scores::of(&question.evidence, &line.retrieved);
        let category = || question.category.clone();
        found.extend(scores(in_a).zip(scores(in_b)).map(|(a, b)| Pair {
            category: category(),
            a: a.figures(),
            b: b.figures(),
        }));
        let held_of = |line: &Line| answer_figures(question.answer.as_deref()?, line);
        if both_answered {
            held.extend(held_of(in_a).zip(held_of(in_b)).map(|(a, b)| Pair { category: category(), a, b }));
        }
    }
    let categories = found.iter().map(|pair| &pair.category).chain(held.iter().map(|pair| &pair.category));
    let row = |group: Group| Row {
        category: group.name(),
        recall: compared(score::NAMES, &found, &group),
        answers: compared(ANSWERS, &held, &group),
    };
    let rows = in_order(Group::of(categories)).into_iter().map(row).collect();
    Report { rows, missing_in_a, missing_in_b, left_out, resamples: RESAMPLES, seed: SEED }
}

/// What is looked at first comes first: the headline, or all where there is none; then each category.
fn in_order(groups: Vec<Group>) -> Vec<Group> {
    let whole = if groups.contains(&Group::Answerable) { Group::Answerable } else { Group::All };
    let each: Vec<_> = groups.into_iter().filter(|group| matches!(group, Group::One(_))).collect();
    if each.is_empty() { each } else { [whole].into_iter().chain(each).collect() }
}

/// The figures of [`ANSWERS`]; none if no word is expected.
fn answer_figures(expected: &str, line: &Line) -> Option<[f64; ANSWERS.len()]> {
    let [short, medium, long] = answers::held(expected, &line.answers.clone().unwrap_or_default())?;
    Some([short.whole, medium.whole, long.whole, short.tokens, medium.tokens, long.tokens])
}

fn compared<const N: usize>(names: [&'static str; N], pairs: &[Pair<N>], group: &Group) -> Option<Compared> {
    let pairs: Vec<_> = pairs.iter().filter(|pair| group.has(&pair.category)).collect();
    let rows: Vec<[f64; N]> = pairs.iter().map(|pair| std::array::from_fn(|at| pair.b[at] - pair.a[at])).collect();
    let intervals = bootstrap::intervals(&rows)?;
    let mean = |of: &dyn Fn(usize) -> f64| (0..rows.len()).map(of).sum::<f64>() / rows.len() as f64;
    let count = |of: &dyn Fn(f64) -> bool, at: usize| rows.iter().filter(|row| of(row[at])).count() as u64;
    let difference = |at: usize| Difference {
        figure: names[at],
        a: mean(&|question| pairs[question].a[at]),
        b: mean(&|question| pairs[question].b[at]),
        difference: mean(&|question| rows[question][at]),
        low: intervals[at].0,
        high: intervals[at].1,
        b_higher: count(&|it| it > 0.0, at),
        a_higher: count(&|it| it < 0.0, at),
        equal: count(&|it| it == 0.0, at),
    };
    Some(Compared { questions: rows.len() as u64, differences: (0..N).map(difference).collect() })
}

fn people(screen: &Screen, report: &Report) -> String {
    let mut text = format!(
        "B - A, paired by question, with a 95 % confidence interval ({} resamples, seed {}); percent, and tokens as they are\n",
        report.resamples, report.seed
    );
    for row in &report.rows {
        let counted = |of: &Option<Compared>| of.as_ref().map_or(0, |it| it.questions);
        let (found, held) = (counted(&row.recall), counted(&row.answers));
        text += &format!("\n{}: {found} questions with evidence, {held} with an answer\n", row.category);
        text += &format!("{}\n", table(screen, row));
    }
    let missing = [("A", report.missing_in_a), ("B", report.missing_in_b)];
    for (run, count) in missing.into_iter().filter(|(_, count)| *count > 0) {
        text += &format!("\n{count} questions are not in {run} and count as nothing found there");
    }
    if report.left_out > 0 {
        text += &format!("\n{} questions are in neither run and left out", report.left_out);
    }
    text
}

fn table(screen: &Screen, row: &Row) -> Table {
    let mut table = screen.table(&["", "A", "B", "B - A", "95 % interval", "B higher", "A higher", "equal"]);
    for it in [&row.recall, &row.answers].into_iter().flatten().flat_map(|it| &it.differences) {
        let scale = if it.figure.starts_with("tokens") { 1.0 } else { 100.0 };
        table.add_row([
            it.figure.to_owned(),
            format!("{:.1}", it.a * scale),
            format!("{:.1}", it.b * scale),
            format!("{:+.1}", it.difference * scale),
            format!("{:+.1} to {:+.1}", it.low * scale, it.high * scale),
            it.b_higher.to_string(),
            it.a_higher.to_string(),
            it.equal.to_string(),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::{super::run::Retrieved, *};

    fn question(id: &str, category: u32, answer: Option<&str>) -> Asked {
        let (evidence, answer) = (vec![format!("{id}/D1:1")], answer.map(str::to_owned));
        Asked { id: id.to_owned(), category: Category::Numbered(category), evidence, answer }
    }

    /// A run in which each question's evidence has a rank, or is not found.
    fn run_of(ranks: &[(&str, Option<usize>, &str)]) -> HashMap<String, Line> {
        let line = |&(id, rank, answer): &(&str, Option<usize>, &str)| {
            let mut retrieved = vec![Retrieved { source_ids: Vec::new(), text: "abcd".to_owned() }; 12];
            if let Some(rank) = rank {
                retrieved[rank - 1].source_ids = vec![format!("{id}/D1:1")];
            }
            let answers = Some([answer.to_owned(), String::new(), String::new()]);
            (id.to_owned(), Line { question_id: id.to_owned(), retrieved, answers, latency_ms: None })
        };
        ranks.iter().map(line).collect()
    }

    fn figure<'a>(of: &'a Option<Compared>, name: &str) -> &'a Difference {
        of.as_ref().unwrap().differences.iter().find(|it| it.figure == name).unwrap()
    }

    // Worked out by hand: of four answerable questions B is better in one and worse in one, the adversarial one it loses
    // stays out of the headline, and the one that neither run has stays out of everything.
    #[test]
    fn differences_are_taken_question_by_question() {
        let asked = vec![
            question("q0", 4, Some("red")),
            question("q1", 4, None),
            question("q2", 1, None),
            question("q3", 1, None),
            question("q4", 5, None),
            question("q5", 4, None),
        ];
        let a = run_of(&[
            ("q0", Some(11), "blue"),
            ("q1", Some(1), ""),
            ("q2", Some(2), ""),
            ("q3", Some(4), ""),
            ("q4", Some(1), ""),
        ]);
        let b = run_of(&[("q0", Some(1), "A red one."), ("q1", Some(1), ""), ("q2", Some(2), ""), ("q4", None, "")]);
        let report = report(asked, &a, &b);
        assert_eq!((report.missing_in_a, report.missing_in_b, report.left_out), (0, 1, 1));
        let names: Vec<_> = report.rows.iter().map(|row| row.category.as_str()).collect();
        assert_eq!(names, ["1-4", "1 multi-hop", "4 single-hop", "5 adversarial"]);

        let at_5 = figure(&report.rows[0].recall, "recall@5");
        assert_eq!((at_5.a, at_5.b, at_5.difference), (0.75, 0.75, 0.0));
        assert_eq!((at_5.b_higher, at_5.a_higher, at_5.equal), (1, 1, 2));
        assert!(at_5.low < 0.0 && at_5.high > 0.0);
        let first = figure(&report.rows[0].recall, "recall@1");
        assert_eq!((first.a, first.b, first.b_higher), (0.25, 0.5, 1));
        let rank = figure(&report.rows[1].recall, "MRR");
        assert_eq!((rank.a, rank.b), (0.375, 0.25));
        let held = figure(&report.rows[0].answers, "answer held, short");
        assert_eq!((held.a, held.b, held.b_higher, held.equal), (0.0, 1.0, 1, 0));
        assert_eq!(figure(&report.rows[0].answers, "tokens of the answer, short").b, 3.0);
        assert_eq!(report.rows[1].answers, None, "no answer is expected there");
        assert_eq!(figure(&report.rows[3].recall, "all@10").difference, -1.0);
    }

    // Runs of other systems have no answers; that they hold nothing would be a lie.
    #[test]
    fn answers_are_compared_only_where_both_runs_have_them() {
        let with = run_of(&[("q0", Some(1), "red")]);
        let mut without = with.clone();
        without.values_mut().for_each(|line| line.answers = None);
        let report = report(vec![question("q0", 4, Some("red"))], &with, &without);
        assert_eq!(report.rows[0].answers, None);
        assert_eq!(figure(&report.rows[0].recall, "recall@1").equal, 1);
    }
}
