//! `memlog eval beam`: chats of a user with an assistant, up to millions of tokens long, and questions that probe ten
//! abilities, of which nine have evidence.

use std::path::PathBuf;

use super::course::Options;
use crate::cli::{Outcome, fail::Fail, input::beam, screen::Screen, settings::Settings};

/// What to measure.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// A folder of chats, one chat's folder, or a JSON file of conversation_id, chat and probing_questions
    path: PathBuf,
    #[command(flatten)]
    options: Options,
}

impl Args {
    pub(super) async fn run(self, settings: Settings, screen: Screen) -> Result<Outcome, Fail> {
        self.options.measure(beam::samples(&self.path)?, settings, screen).await
    }
}
