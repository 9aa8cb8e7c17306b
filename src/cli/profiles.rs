//! `memlog profiles`: the isolated stores of a namespace.

use comfy_table::Cell;
use memlog_actors::api::{AsOf, profile::List};

use super::{
    Outcome, Shell,
    fail::Fail,
    page::Page,
    tables::{self, moment},
    words,
};

/// What to list.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    page: Page,
    /// As the log stood at this position or time
    #[arg(long, value_name = "SEQ|TIME", value_parser = words::as_of)]
    as_of: Option<AsOf>,
}

impl Args {
    pub(super) async fn run(self, shell: &Shell) -> Result<Outcome, Fail> {
        let listed = shell.call(List { limit: self.page.limit, cursor: self.page.cursor, as_of: self.as_of }).await?;
        shell.screen.reply(&listed, |screen, listed| {
            let mut table = screen.table(&["profile", "memories", "messages", "sessions", "speakers", "changed (UTC)"]);
            for profile in &listed.profiles {
                table.add_row([
                    Cell::new(&profile.name),
                    Cell::new(profile.memories),
                    Cell::new(profile.messages),
                    Cell::new(profile.sessions),
                    Cell::new(profile.speakers),
                    Cell::new(moment(profile.updated_at)),
                ]);
            }
            tables::page(table, listed.cursor.as_deref(), "no profiles")
        })?;
        Ok(Outcome::Done)
    }
}
