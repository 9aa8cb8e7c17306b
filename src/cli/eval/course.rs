//! The course of a measurement, the same for every data set: each sample into a profile of its own, each question asked
//! through the commands that any client uses, a line of the run file for each.

use std::{
    collections::{BTreeSet, HashMap},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use memlog_actors::{
    api::{Context, error::Kind, profile::Search, profile::ThinkingLevel, record::ItemType},
    limits::HITS_MAX,
};
use serde::Serialize;

use super::{
    ask::Asker,
    report::{Report, Times, people},
    run::Writer,
};
use crate::cli::{
    Outcome,
    backend::{Backend, Folder, Model},
    fail::Fail,
    ingest,
    input::{
        self, questions,
        sample::{Sample, turn},
    },
    screen::Screen,
    settings::Settings,
    words,
};

/// A data set is extracted and embedded in minutes, a very long conversation on a slow machine in an hour.
const READY_S_MAX: f64 = 7_200.0;

/// How to measure, and where to write it.
#[derive(Debug, clap::Args)]
pub(super) struct Options {
    /// Write what was found to this file, JSON Lines
    #[arg(long, value_name = "OUT")]
    run: Option<PathBuf>,
    /// Ask for so many hits, 1 to 100
    #[arg(long, short = 'n', default_value_t = 50, value_parser = clap::value_parser!(u64).range(1..=HITS_MAX))]
    pub(super) limit: u64,
    /// Take the evidence from this file (JSON Lines: question_id, evidence) instead of the data set
    #[arg(long, value_name = "FILE")]
    questions: Option<PathBuf>,
    /// Only these conversations, by their ids
    #[arg(long, value_name = "ID", value_delimiter = ',')]
    only: Vec<String>,
    /// Ask profile.recall at this thinking level instead of profile.search: low, medium or high
    #[arg(long, value_name = "LEVEL", value_parser = words::name::<ThinkingLevel>)]
    pub(super) thinking: Option<ThinkingLevel>,
    /// Leave something out, to see what it adds
    #[arg(long, value_name = "PART", value_enum, value_delimiter = ',')]
    without: Vec<Part>,
}

/// What can be left out of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Part {
    /// No model is loaded: search by keyword alone
    Vectors,
    /// Only raw messages are searched; memories are made all the same
    Records,
    /// Only the memories that were made are searched
    Messages,
}

impl Options {
    /// What is left out, each once.
    pub(super) fn without(&self) -> Vec<Part> {
        let mut parts = self.without.clone();
        parts.sort_unstable();
        parts.dedup();
        parts
    }

    /// The types that are searched; none stands for all.
    pub(super) fn types(&self) -> Option<Vec<ItemType>> {
        use ItemType::{Event, Fact, Guideline, Instruction, Memory, Message, Preference, Task};
        if self.without.contains(&Part::Records) {
            return Some(vec![Message]);
        }
        let records = || vec![Memory, Fact, Event, Instruction, Task, Guideline, Preference];
        self.without.contains(&Part::Messages).then(records)
    }

    /// What cannot be done is refused before anything is.
    fn check(&self, settings: &Settings) -> Result<(), Fail> {
        if self.without.contains(&Part::Records) && self.without.contains(&Part::Messages) {
            return Err(Fail::Usage("--without records,messages leaves nothing to search".to_owned()));
        }
        if self.without.contains(&Part::Vectors) && settings.nats.is_some() {
            let reason = "--without vectors is for a folder of this process: the server has its own model, or none";
            return Err(Fail::Usage(reason.to_owned()));
        }
        Ok(())
    }

    /// The samples that are asked for, with the evidence that is.
    fn chosen(&self, mut samples: Vec<Sample>) -> Result<Vec<Sample>, Fail> {
        if let Some(unknown) = self.only.iter().find(|id| !samples.iter().any(|sample| sample.id == **id)) {
            let known: Vec<_> = samples.iter().map(|sample| sample.id.as_str()).collect();
            return Err(Fail::Usage(format!("--only {unknown}: there are {}", known.join(", "))));
        }
        samples.retain(|sample| self.only.is_empty() || self.only.contains(&sample.id));
        if let Some(path) = &self.questions {
            replace_evidence(&mut samples, path)?;
        }
        Ok(samples)
    }

    /// Measures, and prints what came out.
    pub(super) async fn measure(
        self,
        samples: Vec<Sample>,
        settings: Settings,
        screen: Screen,
    ) -> Result<Outcome, Fail> {
        self.check(&settings)?;
        let samples = self.chosen(samples)?;
        // A temporary folder unless this very command names another: a measurement has no business in anybody's data.
        let temporary = match settings.nats {
            None if !settings.data_by_flag => Some(tempfile::tempdir().map_err(Fail::file("."))?),
            _ => None,
        };
        let settings = match &temporary {
            Some(folder) => settings.in_folder(folder.path().to_owned()),
            None => settings,
        };
        let model = if self.without.contains(&Part::Vectors) { Model::Unused } else { Model::Used };
        let backend = Backend::open(&settings, &screen, model, Folder::Made).await?;
        // Last, for it empties the file: what cannot be measured must not cost an earlier run.
        let run = Writer::begin(self.run.as_deref());
        let run = match run {
            Ok(run) => run,
            Err(fail) => {
                backend.close().await;
                return Err(fail);
            }
        };
        let report = self.course(&backend, &settings, &samples, run, &screen).await;
        backend.close().await;
        screen.reply(&report?, people)?;
        Ok(Outcome::Done)
    }

    async fn course(
        &self,
        backend: &Backend,
        settings: &Settings,
        samples: &[Sample],
        mut run: Writer,
        screen: &Screen,
    ) -> Result<Report, Fail> {
        let context = settings.context();
        let mut times = Times::default();
        let mode = fill(backend, &context, samples, screen, &mut times).await?;
        let mut report = Report::new(self, mode, samples);
        let bar = screen.progress(samples.iter().map(|sample| sample.questions.len() as u64).sum(), "asking");
        let begin = Instant::now();
        for sample in samples {
            let mut asker = Asker::new(backend, &context, self, sample);
            for question in &sample.questions {
                let (line, time) = asker.ask(question).await?;
                report.add(question, &line, time);
                run.write(&line)?;
                bar.inc(1);
            }
        }
        times.ask = begin.elapsed();
        bar.finish_and_clear();
        run.end()?;
        report.end(&times, settings);
        Ok(report)
    }
}

/// Ingests all, waits for the extraction, then for the embedding; the mode of search.
async fn fill(
    backend: &Backend,
    context: &Context,
    samples: &[Sample],
    screen: &Screen,
    times: &mut Times,
) -> Result<String, Fail> {
    let bar = screen.progress(samples.iter().map(|sample| sample.conversation.len()).sum(), "ingesting");
    let begin = Instant::now();
    for sample in samples {
        ingest::send(backend, context, &sample.conversation, &sample.id, &mut |count| bar.inc(count)).await?;
    }
    times.ingest = begin.elapsed();
    bar.finish_and_clear();

    let bar = screen.progress(samples.len() as u64, "extracting");
    let begin = Instant::now();
    for sample in samples {
        ingest::wait(backend, context, &sample.id, READY_S_MAX).await?;
        bar.inc(1);
    }
    times.extract = begin.elapsed();
    bar.finish_and_clear();

    let bar = screen.progress(samples.len() as u64, "embedding");
    let begin = Instant::now();
    let mut modes = BTreeSet::new();
    for sample in samples {
        modes.insert(ready(backend, context, &sample.id).await?);
        bar.inc(1);
    }
    times.embed = begin.elapsed();
    bar.finish_and_clear();
    Ok(modes.into_iter().collect::<Vec<_>>().join(" and "))
}

/// Searches until the profile is ready, which is when a search no longer runs out of time; its mode, which is `keyword` where there is no
/// model, or where it is still behind with what is stored.
async fn ready(backend: &Backend, context: &Context, profile: &str) -> Result<String, Fail> {
    let until = Instant::now() + Duration::from_secs_f64(READY_S_MAX);
    let request =
        Search { profile: profile.to_owned(), query: "hello".to_owned(), limit: Some(1), ..Search::default() };
    loop {
        match backend.call(context, request.clone()).await {
            Err(Fail::Refused(error))
                if matches!(error.kind, Kind::Timeout | Kind::Unavailable) && Instant::now() < until => {}
            other => return other.map(|found| found.mode),
        }
    }
}

/// Evidence from a file of questions, for those that it has; as `conv-26/D1:3`, or without the sample's name.
fn replace_evidence(samples: &mut [Sample], path: &Path) -> Result<(), Fail> {
    let (text, file) = input::text(path)?;
    let mut evidence: HashMap<_, _> =
        questions::lines(&text, &file)?.into_iter().map(|line| (line.id, line.evidence)).collect();
    for sample in samples {
        let prefix = turn(&sample.id, "");
        let named = |id: String| if id.starts_with(&prefix) { id } else { turn(&sample.id, &id) };
        for question in &mut sample.questions {
            if let Some(ids) = evidence.remove(&question.id) {
                question.evidence = ids.into_iter().map(named).collect();
            }
        }
    }
    Ok(())
}
