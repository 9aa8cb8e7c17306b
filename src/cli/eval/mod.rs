//! `memlog eval`: recall on a data set, through the same commands that any client uses.

mod answers;
mod locomo;
mod score;

use super::{Outcome, fail::Fail, screen::Screen, settings::Settings};

/// Which data set.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    set: Set,
}

#[derive(Debug, clap::Subcommand)]
enum Set {
    /// LoCoMo: ten long conversations, and questions whose answers name their turns
    Locomo(locomo::Args),
}

impl Args {
    pub(super) async fn run(self, settings: Settings, screen: Screen) -> Result<Outcome, Fail> {
        match self.set {
            Set::Locomo(args) => args.run(settings, screen).await,
        }
    }
}
