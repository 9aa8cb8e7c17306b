//! LoCoMo: every conversation into a profile of its own, every question to `profile.search`, one line of the run file each.

use std::{
    collections::HashMap,
    io::Write as _,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use memlog_actors::api::{
    Context,
    error::Kind,
    profile::{Found, Recall, Search},
    record::{ItemType, Record},
};
use serde::{Deserialize, Serialize};

use super::{
    answers::{Answers, LENGTHS, Row},
    score::{CUTS, Mean, Tally, peak_memory_bytes, percentile_ms},
};
use crate::cli::{
    Outcome,
    backend::{Backend, Folder, Model},
    fail::Fail,
    ingest,
    input::{
        self,
        locomo::{Question, Sample},
    },
    screen::Screen,
    settings::Settings,
};

/// Ten conversations are extracted and embedded in minutes, on a slow machine in an hour.
const READY_S_MAX: f64 = 7_200.0;

/// What to measure, and where to write it.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// locomo10.json
    file: PathBuf,
    /// Write what was found to this file, JSON Lines
    #[arg(long, value_name = "OUT")]
    run: Option<PathBuf>,
    /// Ask for so many hits, 1 to 100
    #[arg(long, short = 'n', default_value_t = 50)]
    limit: u64,
    /// Take the evidence from this file (JSON Lines: question_id, evidence) instead of the data set
    #[arg(long, value_name = "FILE")]
    questions: Option<PathBuf>,
    /// Only these conversations, e.g. conv-26,conv-30
    #[arg(long, value_name = "ID", value_delimiter = ',')]
    only: Vec<String>,
}

/// One line of the run file.
#[derive(Serialize)]
struct Line<'a> {
    question_id: &'a str,
    retrieved: Vec<Retrieved>,
    /// What recall answered, short, medium and long.
    answers: [String; LENGTHS.len()],
    latency_ms: f64,
}

#[derive(Serialize)]
struct Retrieved {
    source_ids: Vec<String>,
    text: String,
}

/// Evidence from a file of questions.
#[derive(Deserialize)]
struct Evidence {
    question_id: String,
    evidence: Vec<String>,
}

/// What was measured.
#[derive(Debug, Serialize)]
struct Report {
    turns: u64,
    questions: u64,
    /// The mean share of the evidence in the first 1, 5, 10 and 20, by category.
    recall: Vec<(String, Mean)>,
    /// What recall's answers hold, by category.
    answers: Vec<Row>,
    mode: String,
    ingest_s: f64,
    extract_s: f64,
    embed_s: f64,
    ask_s: f64,
    question_ms_p50: f64,
    question_ms_p99: f64,
    /// Of this process: the client alone when a server does the work.
    peak_memory_bytes: Option<u64>,
}

/// What is gathered on the way.
#[derive(Default)]
struct Course {
    tally: Tally,
    answers: Answers,
    times: Vec<Duration>,
    turns: u64,
    mode: String,
    ingest: Duration,
    extract: Duration,
    embed: Duration,
}

impl Args {
    pub(super) async fn run(self, settings: Settings, screen: Screen) -> Result<Outcome, Fail> {
        let (text, file) = input::text(&self.file)?;
        let mut samples = input::locomo::samples(&text, &file)?;
        drop(text);
        samples.retain(|sample| self.only.is_empty() || self.only.contains(&sample.id));
        if let Some(path) = &self.questions {
            replace_evidence(&mut samples, path)?;
        }
        // A temporary folder unless this very command names another: a measurement has no business in anybody's data.
        let temporary = match settings.nats {
            None if !settings.data_by_flag => Some(tempfile::tempdir().map_err(Fail::file("."))?),
            _ => None,
        };
        let settings = match &temporary {
            Some(folder) => settings.in_folder(folder.path().to_owned()),
            None => settings,
        };
        let backend = Backend::open(&settings, &screen, Model::Used, Folder::Made).await?;
        let report = self.measure(&backend, &settings.context(), &samples, &screen).await;
        backend.close().await;
        screen.reply(&report?, people)?;
        Ok(Outcome::Done)
    }

    async fn measure(
        &self,
        backend: &Backend,
        context: &Context,
        samples: &[Sample],
        screen: &Screen,
    ) -> Result<Report, Fail> {
        let mut course = Course::default();
        course.fill(backend, context, samples, screen).await?;
        let mut run = match &self.run {
            None => None,
            Some(path) => Some(std::io::BufWriter::new(std::fs::File::create(path).map_err(Fail::file(path))?)),
        };
        let bar = screen.progress(samples.iter().map(|sample| sample.questions.len() as u64).sum(), "asking");
        let begin = Instant::now();
        for sample in samples {
            for question in &sample.questions {
                let line = course.ask(backend, context, sample, question, self.limit).await?;
                if let (Some(file), Some(path)) = (&mut run, &self.run) {
                    let line = serde_json::to_string(&line).map_err(|error| Fail::Usage(error.to_string()))?;
                    writeln!(file, "{line}").map_err(Fail::file(path))?;
                }
                bar.inc(1);
            }
        }
        bar.finish_and_clear();
        if let (Some(mut file), Some(path)) = (run, &self.run) {
            file.flush().map_err(Fail::file(path))?;
        }
        Ok(course.report(begin.elapsed()))
    }
}

impl Course {
    /// Ingests all, waits for the extraction, then for the embedding.
    async fn fill(
        &mut self,
        backend: &Backend,
        context: &Context,
        samples: &[Sample],
        screen: &Screen,
    ) -> Result<(), Fail> {
        self.turns = samples.iter().map(|sample| sample.conversation.len()).sum();
        let bar = screen.progress(self.turns, "ingesting");
        let begin = Instant::now();
        for sample in samples {
            ingest::send(backend, context, &sample.conversation, &sample.id, &mut |count| bar.inc(count)).await?;
        }
        self.ingest = begin.elapsed();
        bar.finish_and_clear();

        let bar = screen.progress(samples.len() as u64, "extracting");
        let begin = Instant::now();
        for sample in samples {
            ingest::wait(backend, context, &sample.id, READY_S_MAX).await?;
            bar.inc(1);
        }
        self.extract = begin.elapsed();
        bar.finish_and_clear();

        let bar = screen.progress(samples.len() as u64, "embedding");
        let begin = Instant::now();
        for sample in samples {
            self.mode = ready(backend, context, &sample.id).await?.mode;
            bar.inc(1);
        }
        self.embed = begin.elapsed();
        bar.finish_and_clear();
        Ok(())
    }

    async fn ask<'a>(
        &mut self,
        backend: &Backend,
        context: &Context,
        sample: &Sample,
        question: &'a Question,
        limit: u64,
    ) -> Result<Line<'a>, Fail> {
        let request = search(&sample.id, &question.text, limit);
        let begin = Instant::now();
        let found = backend.call(context, request).await?;
        let time = begin.elapsed();
        self.times.push(time);
        let hits: Vec<Vec<String>> = found.memories.iter().map(turns).collect();
        self.tally.add(question.category, &question.evidence, &hits);
        let named = |turns: Vec<String>| turns.into_iter().map(|turn| format!("{}/{turn}", sample.id)).collect();
        let texts = found.memories.into_iter().map(|hit| hit.content.flatten().or(hit.summary).unwrap_or_default());
        let retrieved =
            hits.into_iter().zip(texts).map(|(turns, text)| Retrieved { source_ids: named(turns), text }).collect();
        let answers = answers(backend, context, &sample.id, &question.text).await?;
        if let Some(expected) = &question.answer {
            self.answers.add(question.category, expected, &answers);
        }
        Ok(Line { question_id: &question.id, retrieved, answers, latency_ms: time.as_secs_f64() * 1000.0 })
    }

    fn report(mut self, ask: Duration) -> Report {
        self.times.sort_unstable();
        Report {
            turns: self.turns,
            questions: self.times.len() as u64,
            recall: self.tally.rows(),
            answers: self.answers.rows(),
            mode: self.mode,
            ingest_s: self.ingest.as_secs_f64(),
            extract_s: self.extract.as_secs_f64(),
            embed_s: self.embed.as_secs_f64(),
            ask_s: ask.as_secs_f64(),
            question_ms_p50: percentile_ms(&self.times, 0.5),
            question_ms_p99: percentile_ms(&self.times, 0.99),
            peak_memory_bytes: peak_memory_bytes(),
        }
    }
}

fn search(profile: &str, query: &str, limit: u64) -> Search {
    Search { profile: profile.to_owned(), query: query.to_owned(), limit: Some(limit), ..Search::default() }
}

/// What recall says at each length.
async fn answers(
    backend: &Backend,
    context: &Context,
    profile: &str,
    query: &str,
) -> Result<[String; LENGTHS.len()], Fail> {
    let mut answers: [String; LENGTHS.len()] = Default::default();
    for (answer, length) in answers.iter_mut().zip(LENGTHS) {
        let (profile, query, response_length) = (profile.to_owned(), query.to_owned(), Some(length));
        *answer = backend.call(context, Recall { profile, query, response_length, ..Recall::default() }).await?.answer;
    }
    Ok(answers)
}

/// The turns that a hit stands for: a message for itself, a record for those that it was made from.
fn turns(hit: &Record) -> Vec<String> {
    if hit.item_type == ItemType::Message { vec![hit.id.clone()] } else { hit.sources.clone() }
}

/// Searches until the profile's embedding is done, which is when a search no longer runs out of time.
async fn ready(backend: &Backend, context: &Context, profile: &str) -> Result<Found, Fail> {
    let until = Instant::now() + Duration::from_secs_f64(READY_S_MAX);
    loop {
        match backend.call(context, search(profile, "hello", 1)).await {
            Err(Fail::Refused(error)) if error.kind == Kind::Timeout && Instant::now() < until => {}
            other => return other,
        }
    }
}

/// Evidence as `conv-26/D1:3` from a file of questions, for those that it has.
fn replace_evidence(samples: &mut [Sample], path: &Path) -> Result<(), Fail> {
    let (text, file) = input::text(path)?;
    let mut evidence = HashMap::new();
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let line: Evidence = serde_json::from_str(line).map_err(|error| Fail::Input {
            file: file.clone(),
            place: format!("line {}", index + 1),
            reason: error.to_string(),
        })?;
        evidence.insert(line.question_id, line.evidence);
    }
    for sample in samples {
        let prefix = format!("{}/", sample.id);
        for question in &mut sample.questions {
            if let Some(ids) = evidence.remove(&question.id) {
                question.evidence = ids.iter().map(|id| id.strip_prefix(&prefix).unwrap_or(id).to_owned()).collect();
            }
        }
    }
    Ok(())
}

fn people(screen: &Screen, report: &Report) -> String {
    let mut table = screen.table(&["category", "questions", "in the first 1", "5", "10", "20"]);
    for (name, mean) in &report.recall {
        let mut row = vec![name.clone(), mean.questions.to_string()];
        row.extend((0..CUTS.len()).map(|cut| format!("{:.1}", mean.at[cut] * 100.0)));
        table.add_row(row);
    }
    let mut held = screen.table(&["category", "questions", "short", "tokens", "medium", "tokens", "long", "tokens"]);
    for (name, questions, lengths) in &report.answers {
        let mut row = vec![name.clone(), questions.to_string()];
        for length in lengths {
            let (whole, words) = (length.whole * 100.0, length.words * 100.0);
            row.extend([format!("{whole:.1} ({words:.1})"), format!("{:.0}", length.tokens)]);
        }
        held.add_row(row);
    }
    let memory = report.peak_memory_bytes.map_or("unknown".to_owned(), |bytes| format!("{} MB", bytes / (1 << 20)));
    format!(
        "percent of a question's evidence turns found, mean over questions (search: {mode})\n{table}\n\
         percent of expected answers whose words are all in recall's answer (and of their words), and its mean length\n{held}\n\
         {turns} turns: stored in {ingest:.1} s, extraction done {extract:.1} s later, embedding another {embed:.1} s later\n\
         {questions} questions in {ask:.1} s: p50 {p50:.1} ms, p99 {p99:.1} ms each; peak memory {memory}",
        mode = report.mode,
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
