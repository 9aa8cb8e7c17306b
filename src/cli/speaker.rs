//! `memlog speaker`: who may be named as having said something.

use comfy_table::Cell;
use memlog_actors::api::{
    AsOf, Time,
    speaker::{Add, List, Listed, Memories, MemoriesPage, Remove},
};

use super::{
    Outcome, Shell,
    fail::Fail,
    screen::Screen,
    tables::{self, moment},
    words,
};

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
    /// List what one speaker said, newest first
    Memories(Said),
}

#[derive(Debug, clap::Args)]
struct Said {
    /// A registered name, or `me`
    name: String,
    /// A page, 1 to 500 [default: 20]
    #[arg(long, short = 'n')]
    limit: Option<u64>,
    /// Only what was stored at this time or earlier; the page before says which
    #[arg(long, value_name = "TIME", value_parser = words::time)]
    before: Option<Time>,
    /// Not this one, which the page before showed of that time; may be repeated
    #[arg(long = "skip-id", value_name = "ID", requires = "before")]
    skip_ids: Vec<String>,
    /// As the log stood at this position or time
    #[arg(long, value_name = "SEQ|TIME", value_parser = words::as_of)]
    as_of: Option<AsOf>,
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
            Action::Memories(Said { name: speaker, limit, before, skip_ids, as_of }) => {
                let skip_ids = (!skip_ids.is_empty()).then_some(skip_ids);
                let page = shell.call(Memories { profile, speaker, limit, before, skip_ids, as_of }).await?;
                shell.screen.reply(&page, said)?;
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

fn said(screen: &Screen, page: &MemoriesPage) -> String {
    if page.memories.is_empty() {
        return "no memories".to_owned();
    }
    let table = tables::records(screen, &page.memories);
    let text = match page.points_to_delete {
        1 => format!("{table}\n1 sentence; forgetting this memory erases it"),
        many => format!("{table}\n{many} sentences; forgetting these memories erases them"),
    };
    match page.next_before {
        None => text,
        Some(before) => {
            let skip: String = page.next_skip_ids.iter().map(|id| format!(" --skip-id {id}")).collect();
            format!("{text}\nmore: --before {before}{skip}")
        }
    }
}
