//! The trash of the caller's scope.

use comfy_table::Cell;
use memlog_actors::api::{
    memory::Delete,
    trash::{List, Listed, Purge as Erase, Restore},
};

use super::{found, show};
use crate::cli::{
    Outcome, Shell,
    fail::Fail,
    forget::{agreed, kept},
    page::Page,
    screen::Screen,
    tables::{self, moment, or_dash},
    words::written,
};

/// What to throw away, or which page of what was.
#[derive(Debug, clap::Args)]
pub(super) struct Trash {
    /// The notebook's name or id
    notebook: Option<String>,
    #[command(flatten)]
    page: Page,
}

impl Trash {
    /// `memlog notebook trash`
    pub(super) async fn run(self, shell: &Shell) -> Result<(), Fail> {
        let Some(notebook) = self.notebook else {
            let Page { limit, cursor } = self.page;
            let listed = shell.call(List { limit, cursor, as_of: None }).await?;
            return shell.screen.reply(&listed, items);
        };
        let id = found(shell, &notebook, None).await?.id;
        let gone = shell.call(Delete { id }).await?;
        shell.screen.reply(&gone, |_, gone| {
            let (id, until) = (&gone.trash.id, moment(gone.trash.expires_at));
            format!("in the trash until {until}; `memlog notebook restore {id}` brings it back")
        })
    }
}

fn items(screen: &Screen, listed: &Listed) -> String {
    let mut table = screen.table(&["id", "what", "name", "deleted (UTC)", "purged (UTC)"]);
    for item in &listed.items {
        table.add_row([
            Cell::new(&item.id),
            Cell::new(written(&item.kind)),
            Cell::new(or_dash(item.name.as_deref())),
            Cell::new(moment(item.deleted_at)),
            Cell::new(moment(item.expires_at)),
        ]);
    }
    tables::page(table, listed.cursor.as_deref(), "the trash is empty")
}

/// `memlog notebook restore`
pub(super) async fn restore(shell: &Shell, id: String) -> Result<(), Fail> {
    let back = shell.call(Restore { id }).await?;
    shell.screen.reply(&back, |_, back| format!("restored {}", show::created(&back.memory)))
}

/// What to erase.
#[derive(Debug, clap::Args)]
pub(super) struct Purge {
    /// Its id, as `trash` lists it
    id: String,
    /// Do not ask; needed where no terminal can be asked
    #[arg(long, short)]
    yes: bool,
}

impl Purge {
    /// `memlog notebook purge`
    pub(super) async fn run(self, shell: &Shell) -> Result<Outcome, Fail> {
        if !self.yes && !agreed(&format!("notebook {} with everything in it", self.id))? {
            return Ok(kept(shell));
        }
        let done = shell.call(Erase { id: self.id.clone() }).await?;
        shell.screen.reply(&done, |_, _| format!("purged {}", self.id))?;
        Ok(Outcome::Done)
    }
}
