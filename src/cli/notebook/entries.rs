//! Entries of a notebook: written, printed, found, forgotten, compared.

use std::io::{self, IsTerminal as _, Read as _};

use memlog_actors::{
    api::{
        AsOf,
        error::Kind,
        memory::{self, Get, Read, Version},
    },
    limits,
};
use serde::Serialize;

use super::{editor, named, show};
use crate::cli::{Outcome, Shell, fail::Fail, input, words};

/// One entry, at some moment.
#[derive(Debug, clap::Args)]
pub(super) struct One {
    /// The notebook's name or id
    notebook: String,
    /// The entry's name
    entry: String,
    /// As the log stood at this position or time
    #[arg(long, value_name = "SEQ|TIME", value_parser = words::as_of)]
    as_of: Option<AsOf>,
}

impl One {
    /// `memlog notebook read`
    pub(super) async fn read(self, shell: &Shell) -> Result<(), Fail> {
        let (id, name) = named(&self.notebook);
        let one = shell.call(Read { id, name, entry: self.entry, as_of: self.as_of }).await?;
        shell.screen.reply(&one, |_, one| show::entry(&one.entry))
    }

    /// `memlog notebook history`
    pub(super) async fn history(self, shell: &Shell) -> Result<(), Fail> {
        let (id, name) = named(&self.notebook);
        let told = shell.call(memory::History { id, name, entry: self.entry, as_of: self.as_of }).await?;
        shell.screen.reply(&told, show::versions)
    }
}

/// What to write.
#[derive(Debug, clap::Args)]
pub(super) struct Save {
    /// The notebook's name or id
    notebook: String,
    /// The entry's name
    entry: String,
    /// A file with the Markdown text, or - for stdin [default: what comes through a pipe, else $EDITOR]
    file: Option<String>,
    /// One line that says what it holds; a new entry needs it, an old one keeps what it has
    #[arg(long, short)]
    description: Option<String>,
    /// Only if the entry is still at this version; in $EDITOR the version that was shown
    #[arg(long, value_name = "N")]
    if_version: Option<u64>,
    /// Create the notebook if there is none of this name
    #[arg(long)]
    create: bool,
}

impl Save {
    /// Whether it may begin a data folder.
    pub(super) fn creates(&self) -> bool {
        self.create
    }

    /// `memlog notebook save`
    pub(super) async fn run(self, shell: &Shell) -> Result<Outcome, Fail> {
        let given = given(self.file.as_deref())?;
        let (id, name) = named(&self.notebook);
        if self.create {
            let create_if_missing = Some(true);
            shell.call(Get { id: id.clone(), name: name.clone(), create_if_missing, ..Get::default() }).await?;
        }
        let (content, version) = match given {
            Some(content) => (content, self.if_version),
            None => match self.edit(shell).await? {
                Some((content, version)) => (content, self.if_version.or(version)),
                None => {
                    shell.screen.note("nothing was changed");
                    return Ok(Outcome::Done);
                }
            },
        };
        let Self { entry, description, .. } = self;
        let saved = shell.call(memory::Save { id, name, entry, content, description, version }).await?;
        shell.screen.reply(&saved, |_, saved| {
            format!("saved {} at version {}", words::harmless(&saved.entry.name), saved.entry.version)
        })?;
        Ok(Outcome::Done)
    }

    /// The text from the editor and the version that it was shown at; none if it is what it was.
    async fn edit(&self, shell: &Shell) -> Result<Option<(String, Option<u64>)>, Fail> {
        let (id, name) = named(&self.notebook);
        let read = shell.call(Read { id, name, entry: self.entry.clone(), as_of: None }).await;
        let now = match read {
            Ok(one) => Some(one.entry),
            Err(Fail::Refused(error)) if error.kind == Kind::NotFound && error.fields.contains_key("entry") => None,
            Err(fail) => return Err(fail),
        };
        if now.is_none() && self.description.is_none() {
            return Err(Fail::Usage("a new entry needs --description: one line that says what it holds".to_owned()));
        }
        // What the account said is where a user's own version begins; it is none yet.
        let user = shell.context.caller.user.as_deref();
        let version = now.as_ref().filter(|now| now.user_id.as_deref() == user).map(|now| now.version);
        let before = now.and_then(|now| now.content).unwrap_or_default();
        // An editor expects a file whose last line has an end; a stored text has none.
        let shown = if before.is_empty() { String::new() } else { format!("{}\n", before.trim_end()) };
        let after = editor::edited(&shown)?.trim_end().to_owned();
        Ok((after != before.trim_end() || self.description.is_some()).then_some((after, version)))
    }
}

/// The text of a file, or of a pipe; none if it is to be written in an editor.
fn given(file: Option<&str>) -> Result<Option<String>, Fail> {
    let mut text = String::new();
    // No more than one byte past what the API would refuse.
    let limit = limits::CONTENT_BYTES_MAX as u64 + 1;
    match file {
        Some("-") => io::stdin().lock().take(limit).read_to_string(&mut text).map_err(input::unread("stdin"))?,
        Some(path) => {
            let file = std::fs::File::open(path).map_err(Fail::file(path))?;
            file.take(limit).read_to_string(&mut text).map_err(input::unread(path))?
        }
        None if io::stdin().is_terminal() => return Ok(None),
        None => io::stdin().lock().take(limit).read_to_string(&mut text).map_err(input::unread("stdin"))?,
    };
    // Nothing came through the pipe: there is none, as where a script starts memlog.
    Ok((file.is_some() || !text.is_empty()).then(|| text.trim_end().to_owned()))
}

/// What to look for.
#[derive(Debug, clap::Args)]
pub(super) struct Search {
    /// The notebook's name or id
    notebook: String,
    /// Words, any of which an entry's words may begin with
    query: String,
    /// How many, 1 to 100 [default: 10]
    #[arg(long, short = 'n')]
    limit: Option<u64>,
    /// As the log stood at this position or time
    #[arg(long, value_name = "SEQ|TIME", value_parser = words::as_of)]
    as_of: Option<AsOf>,
}

impl Search {
    /// `memlog notebook search`
    pub(super) async fn run(self, shell: &Shell) -> Result<(), Fail> {
        let (id, name) = named(&self.notebook);
        let Self { query, limit, as_of, .. } = self;
        let found = shell.call(memory::Search { id, name, query, limit, as_of }).await?;
        shell.screen.reply(&found, |screen, found| show::entries(screen, &found.entries, "nothing found"))
    }
}

/// What to forget.
#[derive(Debug, clap::Args)]
pub(super) struct Forget {
    /// The notebook's name or id
    notebook: String,
    /// The entry's name
    entry: String,
    /// Only if the entry is still at this version
    #[arg(long, value_name = "N")]
    if_version: Option<u64>,
}

impl Forget {
    /// `memlog notebook forget`
    pub(super) async fn run(self, shell: &Shell) -> Result<(), Fail> {
        let (id, name) = named(&self.notebook);
        let Self { entry, if_version: version, .. } = self;
        let done = shell.call(memory::Forget { id, name, entry: entry.clone(), version }).await?;
        shell.screen.reply(&done, |_, _| format!("forgot {} with all its versions", words::harmless(&entry)))
    }
}

/// Which versions to compare.
#[derive(Debug, clap::Args)]
pub(super) struct Diff {
    /// The notebook's name or id
    notebook: String,
    /// The entry's name
    entry: String,
    /// The older version [default: the one before]
    from: Option<u64>,
    /// The newer version [default: the last one]
    to: Option<u64>,
}

/// What changed, for machines.
#[derive(Debug, Serialize)]
struct Changed {
    from: u64,
    to: u64,
    diff: String,
}

impl Diff {
    /// `memlog notebook diff`
    pub(super) async fn run(self, shell: &Shell) -> Result<(), Fail> {
        let (id, name) = named(&self.notebook);
        let request = memory::History { id, name, entry: self.entry.clone(), as_of: None };
        let versions = shell.call(request).await?.versions;
        let last = versions.last().map_or(1, |version| version.version);
        let to = self.to.unwrap_or(last);
        let from = self.from.unwrap_or_else(|| to.saturating_sub(1).max(1));
        let (old, new) = (content_of(&versions, from)?, content_of(&versions, to)?);
        let names = [from, to].map(|version| format!("{} version {version}", self.entry));
        let compared = similar::TextDiff::from_lines(&old, &new);
        let diff = compared.unified_diff().header(&names[0], &names[1]).to_string();
        shell.screen.reply(&Changed { from, to, diff }, |_, changed| match changed.diff.is_empty() {
            true => "nothing changed".to_owned(),
            false => words::harmless(&changed.diff),
        })
    }
}

/// With a line end, which a text that is stored need not have.
fn content_of(versions: &[Version], wanted: u64) -> Result<String, Fail> {
    let version = versions.iter().find(|version| version.version == wanted);
    let version = version.ok_or_else(|| Fail::Usage(format!("there is no version {wanted}")))?;
    let content = version.content.as_ref();
    content.map(|content| format!("{content}\n")).ok_or_else(|| Fail::Usage(format!("version {wanted} is forgotten")))
}
