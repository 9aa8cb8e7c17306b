//! `memlog history`: what happened to a memory, oldest first.

use memlog_actors::api::{AsOf, profile::History};

use super::{Outcome, Shell, fail::Fail, tables, words};

/// Of which memory.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Its id
    id: String,
    /// As the log stood at this position or time
    #[arg(long, value_name = "SEQ|TIME", value_parser = words::as_of)]
    as_of: Option<AsOf>,
}

impl Args {
    pub(super) async fn run(self, shell: &Shell) -> Result<Outcome, Fail> {
        let history = shell.call(History { profile: shell.profile(), memory_id: self.id, as_of: self.as_of }).await?;
        shell.screen.reply(&history, |screen, history| {
            let events: Vec<_> = history.events.iter().map(|it| it.event.clone()).collect();
            let table = tables::page(tables::events(screen, &events), None, "nothing happened to it");
            match history.events.iter().find_map(|it| it.speaker.as_deref()) {
                Some(speaker) => format!("{table}\nsaid by {}", words::harmless(speaker)),
                None => table,
            }
        })?;
        Ok(Outcome::Done)
    }
}
