//! `memlog eval locomo`: ten long conversations of two people, and questions whose answers name their turns.

use std::path::PathBuf;

use super::course::Options;
use crate::cli::{
    Outcome,
    fail::Fail,
    input::{self, locomo},
    screen::Screen,
    settings::Settings,
};

/// What to measure.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// locomo10.json
    file: PathBuf,
    #[command(flatten)]
    options: Options,
}

impl Args {
    pub(super) async fn run(self, settings: Settings, screen: Screen) -> Result<Outcome, Fail> {
        let (text, file) = input::text(&self.file)?;
        let samples = locomo::samples(&text, &file)?;
        drop(text);
        self.options.measure(samples, settings, screen).await
    }
}
