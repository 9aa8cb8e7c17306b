//! `memlog agent`: who reads which notebooks, and what it is shown at the start of a turn.
//!
//! An agent is named by its name or its id.

use comfy_table::Cell;
use memlog_actors::api::{
    AsOf,
    agent::{Agent, Attachment, Brief, Create, Delete, Format, Get, List, Listed, Update},
    error::Kind,
};

use super::{
    Outcome, Shell,
    fail::Fail,
    notebook::{found, named},
    page::Page,
    screen::Screen,
    tables::{self, moment, or_dash, pairs},
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
    /// Create an agent with a notebook of its own
    Create {
        /// 1 to 64 characters
        name: String,
        /// What it is told to do
        #[arg(long, short)]
        instructions: Option<String>,
        /// A notebook that it reads, by name or id; may be repeated, in order
        #[arg(long, value_name = "NOTEBOOK")]
        reads: Vec<String>,
        /// A notebook that it reads and writes, after those; may be repeated
        #[arg(long, value_name = "NOTEBOOK")]
        writes: Vec<String>,
    },
    /// List agents, newest first
    List {
        #[command(flatten)]
        page: Page,
    },
    /// Show an agent with all its fields
    Show {
        /// Its name or id
        who: String,
    },
    /// Give an agent another name or other instructions
    Rename {
        /// Its name or id
        who: String,
        /// The new name
        name: Option<String>,
        /// The new instructions; empty ones take them away
        #[arg(long, short)]
        instructions: Option<String>,
    },
    /// Delete an agent; its own notebook goes to the trash
    Delete {
        /// Its name or id
        who: String,
    },
    /// Print what an agent is shown at the start of a turn
    Brief {
        /// Its name or id
        who: String,
        /// As the log stood at this position or time
        #[arg(long, value_name = "SEQ|TIME", value_parser = words::as_of)]
        as_of: Option<AsOf>,
    },
}

async fn agent(shell: &Shell, word: &str) -> Result<Agent, Fail> {
    let (id, name) = named(word);
    Ok(shell.call(Get { id, name, ..Get::default() }).await?.agent)
}

/// `memlog notebook attach`: a notebook that is attached already keeps its place.
pub(super) async fn attach(shell: &Shell, notebook: &str, to: &str, writes: bool) -> Result<(), Fail> {
    let memory = found(shell, notebook, None).await?.id;
    let Agent { id, mut memories, .. } = agent(shell, to).await?;
    match memories.iter_mut().find(|attached| attached.memory == memory) {
        Some(attached) => attached.writes = writes,
        None => memories.push(Attachment { memory, writes }),
    }
    changed(shell, id, memories).await
}

/// `memlog notebook detach`
pub(super) async fn detach(shell: &Shell, notebook: &str, from: &str) -> Result<(), Fail> {
    let memory = found(shell, notebook, None).await?.id;
    let Agent { id, mut memories, .. } = agent(shell, from).await?;
    let before = memories.len();
    memories.retain(|attached| attached.memory != memory);
    if memories.len() == before {
        let error = memlog_actors::api::Error::new(Kind::NotFound, "the agent does not attach this notebook");
        return Err(Fail::Refused(error.with("memory", memory)));
    }
    changed(shell, id, memories).await
}

async fn changed(shell: &Shell, id: String, memories: Vec<Attachment>) -> Result<(), Fail> {
    let update = Update { id, memories: Some(memories), ..Update::default() };
    let changed = shell.call(update).await?;
    shell.screen.reply(&changed, |_, changed| people(&changed.agent))
}

impl Args {
    /// Whether it may begin a data folder.
    pub(super) fn begins(&self) -> bool {
        matches!(self.action, Action::Create { .. })
    }

    pub(super) async fn run(self, shell: &Shell) -> Result<Outcome, Fail> {
        match self.action {
            Action::Create { name, instructions, reads, writes } => {
                let mut memories = Vec::new();
                let named = reads.iter().map(|word| (word, false)).chain(writes.iter().map(|word| (word, true)));
                for (word, writes) in named {
                    memories.push(Attachment { memory: found(shell, word, None).await?.id, writes });
                }
                let made = shell.call(Create { name, instructions, memories: Some(memories) }).await?;
                shell.screen.reply(&made, |_, made| people(&made.agent))?;
            }
            Action::List { page: Page { limit, cursor } } => {
                let listed = shell.call(List { limit, cursor, as_of: None }).await?;
                shell.screen.reply(&listed, agents)?;
            }
            Action::Show { who } => {
                let (id, name) = named(&who);
                let one = shell.call(Get { id, name, ..Get::default() }).await?;
                shell.screen.reply(&one, |_, one| people(&one.agent))?;
            }
            Action::Rename { who, name, instructions } => {
                let id = agent(shell, &who).await?.id;
                let changed = shell.call(Update { id, name, instructions, memories: None }).await?;
                shell.screen.reply(&changed, |_, changed| people(&changed.agent))?;
            }
            Action::Delete { who } => {
                let agent = agent(shell, &who).await?;
                let done = shell.call(Delete { id: agent.id }).await?;
                shell
                    .screen
                    .reply(&done, |_, _| format!("deleted {}; its own notebook is in the trash", agent.name))?;
            }
            Action::Brief { who, as_of } => {
                let agent = agent(shell, &who).await?.id;
                let brief = shell.call(Brief { agent, format: Some(Format::Markdown), as_of }).await?;
                shell.screen.reply(&brief, |_, brief| {
                    let text = brief.text.as_deref().unwrap_or_default();
                    if text.is_empty() { "nothing to read".to_owned() } else { words::harmless(text) }
                })?;
            }
        }
        Ok(Outcome::Done)
    }
}

fn agents(screen: &Screen, listed: &Listed) -> String {
    let mut table = screen.table(&["id", "agent", "whose", "notebooks", "changed (UTC)"]);
    for agent in &listed.agents {
        table.add_row([
            Cell::new(&agent.id),
            Cell::new(words::harmless(&agent.name)),
            Cell::new(words::harmless(or_dash(agent.user_id.as_deref()))),
            Cell::new(agent.memories.len()),
            Cell::new(moment(agent.updated_at)),
        ]);
    }
    tables::page(table, listed.cursor.as_deref(), "no agents")
}

fn people(agent: &Agent) -> String {
    let mut fields = vec![
        ("id", agent.id.clone()),
        ("name", agent.name.clone()),
        ("whose", or_dash(agent.user_id.as_deref()).to_owned()),
        ("instructions", or_dash(agent.instructions.as_deref()).to_owned()),
        ("own notebook", agent.memory_id.clone()),
    ];
    for attached in &agent.memories {
        fields.push((if attached.writes { "writes" } else { "reads" }, attached.memory.clone()));
    }
    fields.push(("created (UTC)", moment(agent.created_at)));
    pairs(&fields)
}
