//! `memlog bench`: what memlog does in a second and what it takes, each figure beside what the machine allows in the same run.
//!
//! A section measures ours and its limit in turns (A B A B), so that other load hits both alike; figures are medians, and what counts
//! is the ratio. Nothing here is asserted: a figure that misses its reach is printed as a miss. What is measured with lives in
//! `memlog_actors::bench` and `memlog_events::bench`, where the benches of single parts use it, too.
//!
//! To add a section: a file with its `measure`, a variant of [`Section`], its arm in `Section::measure`, and what it needs in each of
//! the sizes of [`scale`].

mod machine;
mod memory;
mod plot;
mod replay;
mod report;
mod requests;
mod saves;
mod scale;
mod search;
#[cfg(test)]
mod tests;
mod vectors;

use std::{
    fs,
    path::{Path, PathBuf},
    time::Instant,
};

use self::{
    machine::Machine,
    report::{Part, Report},
    scale::Scale,
};
use super::{Outcome, fail::Fail, screen::Screen, settings::Settings};

/// What to measure; everything if nothing is named. Its files are temporary, and lie in the folder that --data names, so on that disk.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// What to measure
    #[arg(value_enum)]
    sections: Vec<Section>,
    /// Small sizes, for a first look
    #[arg(long, conflicts_with = "full")]
    quick: bool,
    /// A million vectors and records as well; takes long, and some 10 GB of memory
    #[arg(long)]
    full: bool,
    /// Write a plot of each section there
    #[arg(long, value_name = "DIR")]
    svg: Option<PathBuf>,
    /// Print Markdown
    #[arg(long)]
    markdown: bool,
    /// The nats-server to bring along [default: from PATH or where deploy/fetch-nats-server puts it]
    #[arg(long, value_name = "FILE", env = "MEMLOG_NATS_SERVER", hide_env_values = true)]
    nats_server: Option<PathBuf>,
}

/// What can be measured, in the order in which it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
enum Section {
    /// Memory and disk a record, memory an idle profile
    Memory,
    /// Acknowledged saves a second, against redb alone
    Saves,
    /// Request and reply through NATS, against a responder that does nothing
    Requests,
    /// The vector view, against a plain scan and plain hnsw_rs
    Vectors,
    /// profile.search with its whole ranking
    Search,
    /// Replay, and waking a cold profile, against a scan of redb
    Replay,
}

/// What every section is given.
struct Bench {
    scale: Scale,
    /// Where temporary folders are made.
    folder: PathBuf,
    nats_server: Option<PathBuf>,
    screen: Screen,
}

impl Bench {
    fn temporary(&self) -> Result<tempfile::TempDir, Fail> {
        tempfile::tempdir_in(&self.folder).map_err(Fail::file(self.folder.as_path()))
    }

    fn note(&self, text: &str) {
        self.screen.note(text);
    }
}

impl Section {
    /// As it is named on the command line.
    fn name(self) -> String {
        clap::ValueEnum::to_possible_value(&self).map_or_else(String::new, |value| value.get_name().to_owned())
    }

    async fn measure(self, bench: &Bench) -> Result<Part, Fail> {
        match self {
            Self::Memory => memory::measure(bench).await,
            Self::Saves => saves::measure(bench).await,
            Self::Requests => requests::measure(bench).await,
            Self::Vectors => vectors::measure(bench).await,
            Self::Search => search::measure(bench).await,
            Self::Replay => replay::measure(bench).await,
        }
    }
}

impl Args {
    pub(super) async fn run(mut self, settings: Settings, screen: Screen) -> Result<Outcome, Fail> {
        let scale = match (self.quick, self.full) {
            (true, _) => Scale::quick(),
            (_, true) => Scale::full(),
            _ => Scale::usual(),
        };
        let folder = if settings.data_by_flag { settings.data } else { std::env::temp_dir() };
        fs::create_dir_all(&folder).map_err(Fail::file(folder.as_path()))?;
        if let Some(svg) = &self.svg {
            fs::create_dir_all(svg).map_err(Fail::file(svg.as_path()))?;
        }
        if self.sections.is_empty() {
            self.sections = <Section as clap::ValueEnum>::value_variants().to_vec();
        }
        // Memory first, while nothing else has been taken and given back.
        self.sections.sort_unstable();
        self.sections.dedup();
        let bench = Bench { scale, folder, nats_server: self.nats_server.take(), screen };
        let report = bench.report(&self.sections).await?;
        if let Some(svg) = &self.svg {
            draw(&report, svg)?;
        }
        let words = if self.markdown { |_: &Screen, report: &Report| report::markdown(report) } else { report::people };
        screen.reply(&report, words)?;
        Ok(Outcome::Done)
    }
}

impl Bench {
    async fn report(&self, sections: &[Section]) -> Result<Report, Fail> {
        let machine = Machine::look(&self.folder, self.scale.syncs)?;
        let mut report = Report {
            memlog: env!("CARGO_PKG_VERSION"),
            optimised: !cfg!(debug_assertions),
            scale: self.scale.name,
            machine,
            sections: Vec::new(),
            left_out: Vec::new(),
        };
        for section in sections {
            let began = Instant::now();
            match section.measure(self).await {
                Ok(part) => report.sections.push(Part { took_s: began.elapsed().as_secs_f64(), ..part }),
                // One that cannot be measured here must not take along what can.
                Err(error) if sections.len() > 1 => {
                    report.left_out.push(format!("{}: {}", section.name(), reason(&error)))
                }
                Err(error) => return Err(error),
            }
        }
        Ok(report)
    }
}

fn draw(report: &Report, folder: &Path) -> Result<(), Fail> {
    for chart in report.sections.iter().flat_map(|part| &part.charts) {
        let path = folder.join(format!("{}.svg", chart.name));
        fs::write(&path, chart.to_svg()).map_err(Fail::file(path.as_path()))?;
    }
    Ok(())
}

/// Why nothing was measured, without saying that nothing was.
fn reason(error: &Fail) -> String {
    match error {
        Fail::Unmeasured(reason) => reason.clone(),
        other => other.to_string(),
    }
}

/// What went wrong below, where the API has no word for it.
fn unmeasured(error: impl std::fmt::Display) -> Fail {
    Fail::Unmeasured(error.to_string())
}
