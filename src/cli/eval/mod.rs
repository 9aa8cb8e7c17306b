//! `memlog eval`: recall on a data set, through the same commands that any client uses, and what differs between two runs.
//!
//! To add a data set: a reader in `input` that makes `sample`'s shape of it, and a command here that hands its samples to
//! `course`; the figures, the run file and the comparison are the same for all.

mod answers;
mod ask;
mod beam;
mod bootstrap;
mod compare;
mod course;
mod group;
mod locomo;
mod report;
mod run;
mod score;

use std::path::PathBuf;

pub(super) use report::disk_bytes;

use super::{Outcome, fail::Fail, screen::Screen, settings::Settings};

/// Which data set, or which runs.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The same as `memlog eval compare A B`
    #[arg(long, num_args = 2, value_names = ["A", "B"], requires = "questions")]
    compare: Option<Vec<PathBuf>>,
    /// With --compare: what was asked
    #[arg(long, value_name = "FILE", requires = "compare")]
    questions: Option<PathBuf>,
    #[command(subcommand)]
    set: Option<Set>,
}

#[derive(Debug, clap::Subcommand)]
enum Set {
    /// LoCoMo: ten long conversations, and questions whose answers name their turns
    Locomo(locomo::Args),
    /// BEAM: chats with an assistant of up to ten million tokens, and questions that probe ten abilities
    Beam(beam::Args),
    /// Compare two run files question by question: differences with confidence intervals
    Compare(compare::Args),
}

impl Args {
    pub(super) async fn run(self, settings: Settings, screen: Screen) -> Result<Outcome, Fail> {
        match (self.set, self.compare) {
            (Some(Set::Locomo(args)), None) => args.run(settings, screen).await,
            (Some(Set::Beam(args)), None) => args.run(settings, screen).await,
            (Some(Set::Compare(args)), None) => args.run(screen),
            (None, Some(runs)) => compare::Args::new(runs, self.questions)?.run(screen),
            (Some(_), Some(_)) => Err(Fail::Usage("--compare goes without a data set".to_owned())),
            (None, None) => Err(Fail::Usage("nothing to measure: `memlog eval --help` lists the data sets".to_owned())),
        }
    }
}
