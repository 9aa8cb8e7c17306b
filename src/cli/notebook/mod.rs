//! `memlog notebook`: named notebooks of entries (memories, in the words of the API), and the trash.
//!
//! A notebook is named by its name or its id. `--user` acts for a user: then entries are that user's own layer.

pub(super) mod editor;
mod entries;
mod show;
mod trash;

use memlog_actors::api::{
    AsOf,
    memory::{Create, Get, List, Memory, Update},
};

use super::{Outcome, Shell, fail::Fail, page::Page, words};

/// What to do.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Create an empty notebook
    Create {
        /// 1 to 64 of A-Z, a-z, 0-9, ., _ and -
        name: String,
        /// One line that says what it holds
        #[arg(long, short)]
        description: Option<String>,
    },
    /// List notebooks, newest first: the caller's own and the account's
    List {
        /// Whose instead: all, none (the account's), or a user's id
        #[arg(long, value_name = "USERS")]
        of: Option<String>,
        #[command(flatten)]
        page: Page,
        /// As the log stood at this position or time
        #[arg(long, value_name = "SEQ|TIME", value_parser = words::as_of)]
        as_of: Option<AsOf>,
    },
    /// Show a notebook: who attaches it, and its entries
    Show(Whole),
    /// Give a notebook another name or description
    Rename {
        /// Its name or id
        notebook: String,
        /// The new name
        name: Option<String>,
        /// The new description; an empty one takes it away
        #[arg(long, short)]
        description: Option<String>,
    },
    /// Write an entry from a file, from stdin, or in $EDITOR
    Save(entries::Save),
    /// Print an entry
    Read(entries::One),
    /// Find entries by the beginnings of their words
    Search(entries::Search),
    /// Forget an entry with all its versions, on disk and in the past, too
    Forget(entries::Forget),
    /// List the versions of an entry
    History(entries::One),
    /// Show what changed between two versions of an entry
    Diff(entries::Diff),
    /// Let an agent read a notebook, or write it, too
    Attach {
        /// The notebook's name or id
        notebook: String,
        /// The agent's name or id
        to: String,
        /// It may also save and forget
        #[arg(long)]
        writes: bool,
    },
    /// Take a notebook out of an agent's reach
    Detach {
        /// The notebook's name or id
        notebook: String,
        /// The agent's name or id
        from: String,
    },
    /// Put a notebook into the trash for 30 days; without one, list what is there
    Trash(trash::Trash),
    /// Take a notebook out of the trash, with everything
    Restore {
        /// Its id, as `trash` lists it
        id: String,
    },
    /// Erase what lies in the trash for good
    Purge(trash::Purge),
}

/// A notebook, at some moment.
#[derive(Debug, clap::Args)]
struct Whole {
    /// Its name or id
    notebook: String,
    /// As the log stood at this position or time
    #[arg(long, value_name = "SEQ|TIME", value_parser = words::as_of)]
    as_of: Option<AsOf>,
}

/// A UUID in its usual form.
const UUID_CHARS: usize = 36;

/// `id` and `name` of a request, from one word: ids look like nothing else.
pub(super) fn named(word: &str) -> (Option<String>, Option<String>) {
    match uuid::Uuid::try_parse(word).is_ok() && word.len() == UUID_CHARS {
        true => (Some(word.to_owned()), None),
        false => (None, Some(word.to_owned())),
    }
}

/// The notebook of that name or id.
pub(super) async fn found(shell: &Shell, word: &str, as_of: Option<AsOf>) -> Result<Memory, Fail> {
    let (id, name) = named(word);
    Ok(shell.call(Get { id, name, as_of, ..Get::default() }).await?.memory)
}

impl Args {
    /// Whether it may begin a data folder.
    pub(super) fn begins(&self) -> bool {
        match &self.action {
            Action::Create { .. } => true,
            Action::Save(save) => save.creates(),
            _ => false,
        }
    }

    pub(super) async fn run(self, shell: &Shell) -> Result<Outcome, Fail> {
        match self.action {
            Action::Create { name, description } => {
                let made = shell.call(Create { name, description }).await?;
                shell.screen.reply(&made, |_, made| show::created(&made.memory))?;
            }
            Action::List { of, page, as_of } => {
                let Page { limit, cursor } = page;
                let listed = shell.call(List { limit, cursor, user_filter: of, as_of }).await?;
                shell.screen.reply(&listed, show::notebooks)?;
            }
            Action::Show(whole) => show::whole(shell, &whole.notebook, whole.as_of).await?,
            Action::Rename { notebook, name, description } => {
                let id = found(shell, &notebook, None).await?.id;
                let changed = shell.call(Update { id, name, description }).await?;
                shell.screen.reply(&changed, |_, changed| show::created(&changed.memory))?;
            }
            Action::Save(save) => return save.run(shell).await,
            Action::Read(one) => one.read(shell).await?,
            Action::Search(search) => search.run(shell).await?,
            Action::Forget(forget) => forget.run(shell).await?,
            Action::History(one) => one.history(shell).await?,
            Action::Diff(diff) => diff.run(shell).await?,
            Action::Attach { notebook, to, writes } => super::agent::attach(shell, &notebook, &to, writes).await?,
            Action::Detach { notebook, from } => super::agent::detach(shell, &notebook, &from).await?,
            Action::Trash(trash) => trash.run(shell).await?,
            Action::Restore { id } => trash::restore(shell, id).await?,
            Action::Purge(purge) => return purge.run(shell).await,
        }
        Ok(Outcome::Done)
    }
}
