//! What a measurement comes to: how much of the evidence is found, what the answers hold, what it costs.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use comfy_table::Table;
use serde::Serialize;

use super::{
    answers::{self, Held, LENGTHS},
    course::{Options, Part},
    group::Group,
    run::Line,
    score::Scores,
};
use crate::cli::{
    input::sample::{Category, Question, Sample},
    screen::Screen,
    settings::Settings,
    words,
};

/// How long each part of the course took.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Times {
    pub(super) ingest: Duration,
    pub(super) extract: Duration,
    pub(super) embed: Duration,
    pub(super) ask: Duration,
}

/// The means over the questions of a group that have evidence.
#[derive(Debug, Serialize)]
struct Recall {
    category: String,
    questions: u64,
    #[serde(flatten)]
    mean: Scores,
}

/// The means over the questions of a group that have an expected answer, at each length.
#[derive(Debug, Serialize)]
struct Answers {
    category: String,
    questions: u64,
    lengths: [Held; LENGTHS.len()],
}

/// What was measured.
#[derive(Debug, Default, Serialize)]
pub(super) struct Report {
    turns: u64,
    questions: u64,
    recall: Vec<Recall>,
    answers: Vec<Answers>,
    /// The verb that was asked, with its thinking level.
    asked: String,
    limit: u64,
    without: Vec<Part>,
    /// As the search says: `hybrid` or `keyword`.
    mode: String,
    /// The model that was named; none stands for the default, or for the server's.
    model: Option<PathBuf>,
    ingest_s: f64,
    extract_s: f64,
    embed_s: f64,
    ask_s: f64,
    question_ms_p50: f64,
    question_ms_p99: f64,
    /// Of this process, the data set's text included: the client alone when a server does the work.
    peak_memory_bytes: Option<u64>,
    /// What the data folder takes on disk; none when a server has it.
    disk_bytes: Option<u64>,
    #[serde(skip)]
    scores: Vec<(Category, Scores)>,
    #[serde(skip)]
    held: Vec<(Category, [Held; LENGTHS.len()])>,
    #[serde(skip)]
    times: Vec<Duration>,
}

impl Report {
    /// Before anything was asked.
    pub(super) fn new(options: &Options, mode: String, samples: &[Sample]) -> Self {
        let asked = match &options.thinking {
            None => "profile.search".to_owned(),
            Some(level) => format!("profile.recall, {}", words::written(level)),
        };
        let turns = samples.iter().map(|sample| sample.conversation.len()).sum();
        Self { asked, limit: options.limit, without: options.without(), mode, turns, ..Self::default() }
    }

    /// Adds a question.
    pub(super) fn add(&mut self, question: &Question, line: &Line, time: Duration) {
        self.times.push(time);
        let scores = Scores::of(&question.evidence, &line.retrieved);
        self.scores.extend(scores.map(|scores| (question.category.clone(), scores)));
        let held = question.answer.as_ref().zip(line.answers.as_ref());
        let held = held.and_then(|(expected, answers)| answers::held(expected, answers));
        self.held.extend(held.map(|held| (question.category.clone(), held)));
    }

    /// After everything was asked.
    pub(super) fn end(&mut self, times: &Times, settings: &Settings) {
        self.times.sort_unstable();
        self.questions = self.times.len() as u64;
        self.question_ms_p50 = percentile_ms(&self.times, 0.5);
        self.question_ms_p99 = percentile_ms(&self.times, 0.99);
        self.ingest_s = times.ingest.as_secs_f64();
        self.extract_s = times.extract.as_secs_f64();
        self.embed_s = times.embed.as_secs_f64();
        self.ask_s = times.ask.as_secs_f64();
        self.peak_memory_bytes = peak_memory_bytes();
        if settings.nats.is_none() {
            self.disk_bytes = Some(disk_bytes(&settings.data));
            self.model = settings.model.clone().filter(|_| self.mode != "keyword");
        }
        let row = |group: Group| {
            let of = || self.scores.iter().filter(|(category, _)| group.has(category)).map(|(_, scores)| scores);
            Recall { category: group.name(), questions: of().count() as u64, mean: Scores::mean(of()) }
        };
        self.recall = Group::of(self.scores.iter().map(|(category, _)| category)).into_iter().map(row).collect();
        let row = |group: Group| {
            let of = || self.held.iter().filter(|(category, _)| group.has(category)).map(|(_, held)| held);
            Answers { category: group.name(), questions: of().count() as u64, lengths: answers::mean(of()) }
        };
        self.answers = Group::of(self.held.iter().map(|(category, _)| category)).into_iter().map(row).collect();
    }

    /// How it was asked, in a line.
    fn way(&self) -> String {
        let mut way = format!("{}, {} hits, {}", self.asked, self.limit, self.mode);
        if let Some(model) = &self.model {
            way += &format!(" with {}", model.display());
        }
        if !self.without.is_empty() {
            way += &format!(", without {}", self.without.iter().map(words::written).collect::<Vec<_>>().join(" and "));
        }
        way
    }
}

/// The report for people.
pub(super) fn people(screen: &Screen, report: &Report) -> String {
    let memory = report.peak_memory_bytes.map_or("unknown".to_owned(), megabytes);
    let disk = report.disk_bytes.map_or(String::new(), |bytes| format!(", {} on disk", megabytes(bytes)));
    format!(
        "percent of a question's evidence turns found in the first 1 to 20 hits, of questions with all of theirs in the\n\
         first 10, and the reciprocal rank of the first, means over questions ({way})\n{ranks}\n\
         percent of the evidence turns found in the hits that fit into so many tokens, and tokens of the first 10 hits\n\
         (a quarter of their characters)\n{budgets}\n\
         percent of expected answers whose words are all in recall's answer (and of their words), and its mean length\n{held}\n\
         {turns} turns: stored in {ingest:.1} s, extraction done {extract:.1} s later, embedding another {embed:.1} s later\n\
         {questions} questions in {ask:.1} s: p50 {p50:.1} ms, p99 {p99:.1} ms each; peak memory {memory}{disk}",
        way = report.way(),
        ranks = ranks(screen, report),
        budgets = budgets(screen, report),
        held = held(screen, report),
        turns = report.turns,
        ingest = report.ingest_s,
        extract = report.extract_s,
        embed = report.embed_s,
        questions = report.questions,
        ask = report.ask_s,
        p50 = report.question_ms_p50,
        p99 = report.question_ms_p99,
    )
}

fn percent(share: f64) -> String {
    format!("{:.1}", share * 100.0)
}

fn megabytes(bytes: u64) -> String {
    format!("{} MB", bytes / (1 << 20))
}

fn ranks(screen: &Screen, report: &Report) -> Table {
    let mut table = screen.table(&["category", "questions", "in 1", "in 5", "in 10", "in 20", "all in 10", "MRR"]);
    for row in &report.recall {
        let shares = row.mean.at.into_iter().chain([row.mean.all_10, row.mean.mrr]).map(percent);
        table.add_row([row.category.clone(), row.questions.to_string()].into_iter().chain(shares));
    }
    table
}

fn budgets(screen: &Screen, report: &Report) -> Table {
    let mut table = screen.table(&["category", "questions", "512", "1,024", "2,048", "tokens of 10"]);
    for row in &report.recall {
        let shares = row.mean.within.into_iter().map(percent).chain([format!("{:.0}", row.mean.tokens_10)]);
        table.add_row([row.category.clone(), row.questions.to_string()].into_iter().chain(shares));
    }
    table
}

fn held(screen: &Screen, report: &Report) -> Table {
    let mut table = screen.table(&["category", "questions", "short", "tokens", "medium", "tokens", "long", "tokens"]);
    for row in &report.answers {
        let cells = row.lengths.iter().flat_map(|length| {
            [format!("{} ({})", percent(length.whole), percent(length.words)), format!("{:.0}", length.tokens)]
        });
        table.add_row([row.category.clone(), row.questions.to_string()].into_iter().chain(cells));
    }
    table
}

/// The time that `share` of the questions took at most, in milliseconds.
fn percentile_ms(sorted: &[Duration], share: f64) -> f64 {
    let last = sorted.len().saturating_sub(1);
    let index = (last as f64 * share).round() as usize;
    sorted.get(index.min(last)).map_or(0.0, |time| time.as_secs_f64() * 1000.0)
}

/// The most memory this process has had, in bytes; none where the system does not say.
fn peak_memory_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? * 1024)
}

/// What the files of a folder take on disk. What cannot be looked at, or goes meanwhile, counts nothing.
pub(in crate::cli) fn disk_bytes(folder: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
    let size = |entry: std::fs::DirEntry| match entry.metadata() {
        Ok(it) if it.is_dir() => disk_bytes(&entry.path()),
        Ok(it) => file_bytes(&it),
        Err(_) => 0,
    };
    entries.flatten().map(size).sum()
}

/// What is allocated and not what the file's length says: a database leaves room in its file.
#[cfg(unix)]
fn file_bytes(file: &std::fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::blocks(file) * 512
}

#[cfg(not(unix))]
fn file_bytes(file: &std::fs::Metadata) -> u64 {
    file.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_of_the_times_themselves() {
        let times: Vec<_> = (1..=101).map(Duration::from_millis).collect();
        assert!((percentile_ms(&times, 0.5) - 51.0).abs() < 1e-9);
        assert!((percentile_ms(&times, 0.99) - 100.0).abs() < 1e-9);
        assert!(percentile_ms(&[], 0.5).abs() < 1e-9);
    }

    // The log, its vault and the vectors are in folders of their own.
    #[test]
    fn the_disk_is_that_of_all_folders() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("in")).unwrap();
        std::fs::write(folder.path().join("one"), [7; 40_000]).unwrap();
        std::fs::write(folder.path().join("in/two"), [7; 50_000]).unwrap();
        let bytes = disk_bytes(folder.path());
        assert!((90_000..120_000).contains(&bytes), "{bytes}");
    }
}
