//! `memlog speaker`: who may be named as having said something.

use comfy_table::Cell;
use memlog_actors::api::{
    AsOf,
    speaker::{Add, List, Listed, Remove},
};

use super::{Outcome, Shell, fail::Fail, screen::Screen, tables::moment, words};

/// What to do.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Register a name; `me`, the assistant, always is
    Add {
        /// 1 to 80 characters, case matters
        name: String,
    },
    /// List the registered names
    List {
        /// As the log stood at this position or time
        #[arg(long, value_name = "SEQ|TIME", value_parser = words::as_of)]
        as_of: Option<AsOf>,
    },
    /// Remove a name; memories stay, the name on them goes
    Remove {
        /// A registered name
        name: String,
    },
}

impl Args {
    /// Whether it writes something new.
    pub(super) fn adds(&self) -> bool {
        matches!(self.action, Action::Add { .. })
    }

    pub(super) async fn run(self, shell: &Shell) -> Result<Outcome, Fail> {
        let profile = shell.profile();
        match self.action {
            Action::Add { name } => {
                let added = shell.call(Add { profile, speaker: name }).await?;
                shell.screen.reply(&added, |_, added| format!("{} is registered", added.speaker.speaker))?;
            }
            Action::List { as_of } => {
                let listed = shell.call(List { profile, as_of }).await?;
                shell.screen.reply(&listed, people)?;
            }
            Action::Remove { name } => {
                let done = shell.call(Remove { profile, speaker: name.clone() }).await?;
                shell.screen.reply(&done, |_, _| format!("{name} is removed; the memories stay, without the name"))?;
            }
        }
        Ok(Outcome::Done)
    }
}

fn people(screen: &Screen, listed: &Listed) -> String {
    if listed.speakers.is_empty() {
        return "no speakers".to_owned();
    }
    let mut table = screen.table(&["speaker", "memories", "since (UTC)"]);
    for speaker in &listed.speakers {
        table.add_row([
            Cell::new(&speaker.speaker),
            Cell::new(speaker.memories),
            Cell::new(moment(speaker.created_at)),
        ]);
    }
    format!("{table}\n{} of at most {}", listed.count, listed.limit)
}
