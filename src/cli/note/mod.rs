//! `memlog note`: what every session of a login must know, for everyone, for groups, or for one login.
//!
//! The caller's login is `--user`; with `--admin` the commands reach everyone's notes. `edit` holds the notes in an editor
//! (`edit`), as one text of all notes of a level (`sheet`).

mod edit;
mod sheet;

use comfy_table::Cell;
use memlog_actors::api::{
    AsOf, Context, Verb,
    agent::Format,
    note::{
        AdminList, AdminRemove, AdminSave, KindAdd, Kinds, KindsListed, Level, MemoryList, MemoryLoad, MemoryRemove,
        MemorySave, Note,
    },
};

use super::{
    Outcome, Shell,
    fail::Fail,
    remember,
    screen::Screen,
    tables::or_dash,
    words::{self, harmless},
};

/// What to do.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// A group of the user; may be repeated, or separated by commas
    #[arg(long = "member-of", global = true, env = "MEMLOG_GROUPS", value_name = "GROUP", value_delimiter = ',')]
    member_of: Vec<String>,
    /// As an administrator: everyone's notes, not the user's own alone
    #[arg(long, global = true)]
    admin: bool,
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// List notes by level and category, a new one last
    List {
        #[command(flatten)]
        filter: Filter,
        /// As the log stood at this position or time
        #[arg(long, value_name = "SEQ|TIME", value_parser = words::as_of)]
        as_of: Option<AsOf>,
    },
    /// Print notes as Markdown, in the order in which they weigh
    Load {
        /// Numbers of notes
        #[arg(required_unless_present = "critical", conflicts_with = "critical")]
        ids: Vec<u64>,
        /// All critical ones
        #[arg(long)]
        critical: bool,
        /// As the log stood at this position or time
        #[arg(long, value_name = "SEQ|TIME", value_parser = words::as_of)]
        as_of: Option<AsOf>,
    },
    /// Save a note; what is left out of a change is kept
    Save(Save),
    /// Remove a note for real
    Remove {
        /// Its number
        id: u64,
    },
    /// List the kinds of notes, or add one
    Kinds {
        /// A new kind, 1 to 64 of A-Z, a-z, 0-9, ., _ and -; it counts as kDefault
        #[arg(long, value_name = "KEY", requires = "title")]
        add: Option<String>,
        /// What it is, for people
        #[arg(long, requires = "add")]
        title: Option<String>,
    },
    /// Hold the notes and change those of a level in $VISUAL or $EDITOR, as an administrator
    Edit(edit::Args),
}

#[derive(Debug, clap::Args)]
struct Filter {
    /// all, group or own
    #[arg(long, value_parser = words::name::<Level>)]
    level: Option<Level>,
    /// Of this category
    #[arg(long, value_name = "TEXT")]
    category: Option<String>,
    /// Of this kind
    #[arg(long, value_name = "KEY")]
    kind: Option<String>,
    /// Of this group; with --admin
    #[arg(long, requires = "admin")]
    group: Option<String>,
    /// This login's own; with --admin
    #[arg(long, requires = "admin")]
    login: Option<String>,
}

#[derive(Debug, clap::Args)]
struct Save {
    /// Its text in simple HTML (p, ul, li, b, code), or - to read it from stdin; a new note needs it
    body: Option<String>,
    /// The number of the note to change; a new one when left out
    #[arg(long)]
    id: Option<u64>,
    /// A short name; a new note needs it
    #[arg(long)]
    name: Option<String>,
    /// What it is grouped by; empty takes it away
    #[arg(long, value_name = "TEXT")]
    category: Option<String>,
    /// One line for lists; empty takes it away
    #[arg(long, value_name = "TEXT")]
    info: Option<String>,
    /// kCritical, kDirect, kSkill, kDefault or an added one
    #[arg(long, value_name = "KEY")]
    kind: Option<String>,
    /// all, group or own; with --admin
    #[arg(long, value_parser = words::name::<Level>, requires = "admin")]
    level: Option<Level>,
    /// The group, for the level group; with --admin
    #[arg(long, requires = "admin")]
    group: Option<String>,
    /// Whose own it is, for the level own; with --admin
    #[arg(long, requires = "admin")]
    login: Option<String>,
}

/// The shell, and who calls: logins, groups and administrators are the notes' own.
struct As<'a> {
    shell: &'a Shell,
    context: Context,
}

impl As<'_> {
    async fn call<V: Verb>(&self, request: V) -> Result<V::Reply, Fail> {
        self.shell.backend.call(&self.context, request).await
    }
}

impl Args {
    /// Whether it writes something new.
    pub(super) fn begins(&self) -> bool {
        match &self.action {
            Action::Save(save) => save.id.is_none(),
            Action::Kinds { add, .. } => add.is_some(),
            Action::Edit(_) => true,
            Action::List { .. } | Action::Load { .. } | Action::Remove { .. } => false,
        }
    }

    pub(super) async fn run(self, shell: &Shell) -> Result<Outcome, Fail> {
        let mut context = shell.context.clone();
        context.caller.groups = self.member_of;
        context.caller.admin = self.admin || matches!(self.action, Action::Edit(_));
        let who = As { shell, context };
        let screen = &shell.screen;
        match self.action {
            Action::List { filter, as_of } => list(&who, filter, as_of).await?,
            Action::Load { ids, critical, as_of } => {
                let ids = (!critical).then_some(ids);
                let critical = critical.then_some(true);
                let format = Some(Format::Markdown);
                let loaded = who.call(MemoryLoad { ids, critical, format, as_of }).await?;
                screen.reply(&loaded, |_, loaded| match loaded.text.as_deref().unwrap_or_default() {
                    "" => "no notes".to_owned(),
                    text => harmless(text),
                })?;
            }
            Action::Save(save) => save.run(&who).await?,
            Action::Remove { id } if who.context.caller.admin => {
                let removed = who.call(AdminRemove { id }).await?;
                screen.reply(&removed, |_, it| format!("removed {}", told(&it.note.note.note)))?;
            }
            Action::Remove { id } => {
                let removed = who.call(MemoryRemove { id }).await?;
                screen.reply(&removed, |_, it| format!("removed {}", told(&it.note.note)))?;
            }
            Action::Kinds { add: Some(kind_key), title } => {
                let added = who.call(KindAdd { kind_key, title: title.unwrap_or_default() }).await?;
                screen.reply(&added, |_, it| format!("{} counts as {}", it.kind.kind_key, it.kind.counts_as))?;
            }
            Action::Kinds { add: None, .. } => {
                let listed = who.call(Kinds::default()).await?;
                screen.reply(&listed, kinds)?;
            }
            Action::Edit(args) => args.run(&who).await?,
        }
        Ok(Outcome::Done)
    }
}

impl Save {
    async fn run(self, who: &As<'_>) -> Result<(), Fail> {
        let Self { body, id, name, category, info, kind: kind_key, level, group, login } = self;
        let body = body.map(remember::content).transpose()?;
        let screen = &who.shell.screen;
        if who.context.caller.admin {
            let save = AdminSave { id, level, group, login, name, category, info, kind_key, body };
            let saved = who.call(save).await?;
            return screen.reply(&saved, |_, it| format!("saved {}", told(&it.note.note.note)));
        }
        let saved = who.call(MemorySave { id, name, category, info, kind_key, body }).await?;
        screen.reply(&saved, |_, it| format!("saved {}", told(&it.note.note)))
    }
}

async fn list(who: &As<'_>, filter: Filter, as_of: Option<AsOf>) -> Result<(), Fail> {
    let Filter { level, category, kind: kind_key, group, login } = filter;
    let screen = &who.shell.screen;
    if who.context.caller.admin {
        let listed = who.call(AdminList { level, category, kind_key, group, login, as_of }).await?;
        return screen.reply(&listed, |screen, listed| {
            rows(screen, listed.notes.iter().map(|it| (&it.note, it.login.as_deref())))
        });
    }
    let listed = who.call(MemoryList { level, category, kind_key, as_of }).await?;
    screen.reply(&listed, |screen, listed| rows(screen, listed.notes.iter().map(|note| (note, None))))
}

fn rows<'a>(screen: &Screen, notes: impl Iterator<Item = (&'a Note, Option<&'a str>)>) -> String {
    let mut table = screen.table(&["id", "level", "category", "kind", "name", "info"]);
    for (note, login) in notes {
        let level = words::written(&note.level);
        let whose = note.group.as_deref().or(login).map(|whose| format!("{level} {whose}")).unwrap_or(level);
        table.add_row([
            Cell::new(note.id),
            Cell::new(harmless(&whose)),
            Cell::new(harmless(or_dash(note.category.as_deref()))),
            Cell::new(&note.kind_key),
            Cell::new(harmless(or_dash(note.name.as_deref()))),
            Cell::new(harmless(or_dash(note.info.as_deref()))),
        ]);
    }
    if table.is_empty() { "no notes".to_owned() } else { table.to_string() }
}

fn kinds(screen: &Screen, listed: &KindsListed) -> String {
    let mut table = screen.table(&["kind", "counts as", "what"]);
    for kind in &listed.kinds {
        table.add_row([&kind.kind_key, &kind.counts_as, &harmless(&kind.title)]);
    }
    table.to_string()
}

fn told(note: &Note) -> String {
    format!("note {}: {}", note.id, harmless(or_dash(note.name.as_deref())))
}
