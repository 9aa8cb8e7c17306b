//! `memlog thread`: conversations, what each of their messages gave, and what an agent is shown of them.

mod draw;

use std::io::Read as _;

use memlog_actors::{
    api::{
        AsOf, Said,
        record::{ItemType, Status},
        thread::{
            AddMemory, AddMessages, Content, Create, Delete, Get, GetContextCard, GetMessages, GetSummary, List,
            Listed, MemoryAdded, MessagesAdded, NewMessage, Results, Search, Thread,
        },
    },
    port::RecordType,
};
use serde_json::{Map, Value};

use super::{
    Outcome, Shell,
    fail::Fail,
    forget::{agreed, kept},
    page::Page,
    screen::Screen,
    tables::{self, or_dash, pairs},
    words::{self, harmless},
};

/// What to do.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Begin a thread
    Create(New),
    /// List threads, newest first
    List {
        #[command(flatten)]
        page: Page,
        /// Only this owner's
        #[arg(long, value_name = "ID")]
        owner: Option<String>,
        /// As the log stood at this position or time
        #[arg(long, value_name = "SEQ|TIME", value_parser = words::as_of)]
        as_of: Option<AsOf>,
    },
    /// Show the conversation and, beside it, the memories that each message gave
    Show(Shown),
    /// Add a message, or with --memory a memory
    Add(Added),
    /// Find memories, messages and images from a thread's scope
    Search(Asked),
    /// Print the context card: what an agent is shown of the thread
    Card(Card),
    /// Print the summary
    Summary {
        /// The thread
        thread: String,
        /// Leave out this many of the newest messages
        #[arg(long, value_name = "N")]
        except_last: Option<u64>,
        /// Cut to so many tokens of four bytes
        #[arg(long, value_name = "TOKENS")]
        budget: Option<i64>,
        /// As the log stood at this position or time
        #[arg(long, value_name = "SEQ|TIME", value_parser = words::as_of)]
        as_of: Option<AsOf>,
    },
    /// Forget a thread with everything in it, on disk and in the past, too
    Delete {
        /// The thread
        thread: String,
        /// Do not ask before; needed where no terminal can be asked
        #[arg(long, short)]
        yes: bool,
    },
}

#[derive(Debug, clap::Args)]
struct New {
    /// 1 to 64 characters [default: a new id]
    thread: Option<String>,
    /// Whose it is [default: --user, else a new id]
    #[arg(long, value_name = "ID")]
    owner: Option<String>,
    /// The client's own fields
    #[arg(long, value_name = "JSON", value_parser = words::object)]
    metadata: Option<Map<String, Value>>,
    /// How it extracts, expires and searches, such as '{"extraction":{"frequency":10}}'
    #[arg(long, value_name = "JSON", value_parser = words::object)]
    settings: Option<Map<String, Value>>,
}

#[derive(Debug, clap::Args)]
struct Shown {
    /// The thread
    thread: String,
    /// From this message on, counted from 0 [default: the newest 100]
    #[arg(long, value_name = "N")]
    from: Option<i64>,
    /// Up to this message, without it
    #[arg(long, value_name = "N")]
    to: Option<i64>,
    /// As the log stood at this position or time
    #[arg(long, value_name = "SEQ|TIME", value_parser = words::as_of)]
    as_of: Option<AsOf>,
}

#[derive(Debug, clap::Args)]
struct Added {
    /// The thread
    thread: String,
    /// What is said; `-` reads it from standard input
    text: String,
    /// user, assistant, system, or a role of your own
    #[arg(long, default_value = "user", conflicts_with = "memory")]
    role: String,
    /// Save it as a memory of this type instead
    #[arg(long, value_name = "TYPE", num_args = 0..=1, default_missing_value = "memory", value_parser = words::name::<RecordType>)]
    memory: Option<RecordType>,
    /// Who said it: a registered speaker, or `me`
    #[arg(long, value_name = "NAME")]
    speaker: Option<String>,
    /// When it was said, or happened
    #[arg(long, value_name = "TIME", value_parser = words::said)]
    timestamp: Option<Said>,
    /// The client's own fields
    #[arg(long, value_name = "JSON", value_parser = words::object)]
    metadata: Option<Map<String, Value>>,
    /// Days until it expires
    #[arg(long, value_name = "DAYS")]
    ttl_days: Option<f64>,
}

#[derive(Debug, clap::Args)]
struct Asked {
    /// The thread
    thread: String,
    /// A question or a few words
    query: String,
    /// At most so many, 1 to 100 [default: 10]
    #[arg(long, short = 'n')]
    limit: Option<u64>,
    /// Only these types: memory fact event instruction task guideline preference message image
    #[arg(long = "type", value_name = "TYPE", value_delimiter = ',', value_parser = words::name::<ItemType>)]
    types: Vec<ItemType>,
    /// Only from this very thread, not from its owner's others
    #[arg(long)]
    here: bool,
    /// Only what matches this JSON object
    #[arg(long, value_name = "JSON", value_parser = words::object)]
    metadata: Option<Map<String, Value>>,
    /// Only what still holds
    #[arg(long)]
    valid: bool,
    /// Follow links from each memory so far, 0 to 5
    #[arg(long)]
    hops: Option<u64>,
    /// As the log stood at this position or time
    #[arg(long, value_name = "SEQ|TIME", value_parser = words::as_of)]
    as_of: Option<AsOf>,
}

#[derive(Debug, clap::Args)]
struct Card {
    /// The thread
    thread: String,
    /// So many relevant memories and messages at most [default: 5]
    #[arg(long, value_name = "N")]
    relevant: Option<u64>,
    /// The newest messages as well
    #[arg(long, value_name = "N")]
    recent: Option<u64>,
    /// Leave these newest messages out of summary and search
    #[arg(long, value_name = "N")]
    except_last: Option<u64>,
    /// As the log stood at this position or time
    #[arg(long, value_name = "SEQ|TIME", value_parser = words::as_of)]
    as_of: Option<AsOf>,
}

impl Args {
    /// Whether it writes something new.
    pub(super) fn creates(&self) -> bool {
        matches!(self.action, Action::Create(_))
    }

    /// Whether it needs the model.
    pub(super) fn searches(&self) -> bool {
        matches!(self.action, Action::Search(_) | Action::Card(_) | Action::Add(_))
    }

    pub(super) async fn run(self, shell: &Shell) -> Result<Outcome, Fail> {
        let profile = shell.profile();
        match self.action {
            Action::Create(new) => new.run(shell).await?,
            Action::List { page, owner, as_of } => {
                let (limit, cursor) = (page.limit, page.cursor);
                let request = List { profile, user_id: owner, agent_id: None, limit, cursor, as_of };
                shell.screen.reply(&shell.call(request).await?, threads)?;
            }
            Action::Show(shown) => shown.run(shell).await?,
            Action::Add(added) => added.run(shell).await?,
            Action::Search(asked) => asked.run(shell).await?,
            Action::Card(card) => card.run(shell).await?,
            Action::Summary { thread: thread_id, except_last, budget: token_budget, as_of } => {
                let told = shell.call(GetSummary { profile, thread_id, except_last, token_budget, as_of }).await?;
                shell.screen.reply(&told, |_, told| or_nothing(&told.content, "nothing was said yet"))?;
            }
            Action::Delete { thread: thread_id, yes } => {
                if !yes && !agreed(&format!("thread {thread_id} of profile {profile}"))? {
                    return Ok(kept(shell));
                }
                let done = shell.call(Delete { profile, thread_id: thread_id.clone() }).await?;
                shell.screen.reply(&done, |_, done| {
                    let it = done.deleted;
                    let id = harmless(&thread_id);
                    format!(
                        "forgot thread {id}: {} messages, {} memories, {} images",
                        it.messages, it.memories, it.images
                    )
                })?;
            }
        }
        Ok(Outcome::Done)
    }
}

impl New {
    async fn run(self, shell: &Shell) -> Result<(), Fail> {
        let settings = self.settings.map(|fields| {
            serde_json::from_value(Value::Object(fields)).map_err(|error| Fail::Usage(format!("--settings: {error}")))
        });
        let request = Create {
            profile: shell.profile(),
            thread_id: self.thread,
            user_id: self.owner.map(Some),
            agent_id: None,
            metadata: self.metadata,
            settings: settings.transpose()?,
        };
        let made = shell.call(request).await?;
        shell.screen.reply(&made, |_, made| about(&made.thread))
    }
}

impl Shown {
    async fn run(self, shell: &Shell) -> Result<(), Fail> {
        let (profile, thread_id, as_of) = (shell.profile(), self.thread, self.as_of);
        let thread = shell.call(Get { profile: profile.clone(), thread_id: thread_id.clone(), as_of }).await?.thread;
        let request = GetMessages {
            profile: profile.clone(),
            thread_id: thread_id.clone(),
            start: self.from,
            end: self.to.map(Some),
            include_image_bytes: None,
            as_of,
        };
        let messages = shell.call(request).await?.messages;
        let mut memories = Vec::new();
        for status in [Status::Valid, Status::Invalid] {
            memories.extend(draw::memories(shell, &thread_id, status, as_of).await?);
        }
        let drawn = draw::Drawn { thread, messages, memories };
        shell.screen.reply(&drawn, draw::people)
    }
}

impl Added {
    async fn run(self, shell: &Shell) -> Result<(), Fail> {
        let (profile, thread_id) = (shell.profile(), self.thread);
        let text = if self.text == "-" { standard_input()? } else { self.text };
        if let Some(memory_type) = self.memory {
            let request = AddMemory {
                profile,
                thread_id,
                content: text,
                memory_type: Some(memory_type),
                speaker: self.speaker,
                timestamp: self.timestamp.map(|said| said.time),
                metadata: self.metadata,
                ttl_days: self.ttl_days.map(Some),
                ..AddMemory::default()
            };
            let added = shell.call(request).await?;
            return shell.screen.reply(&added, |_, added: &MemoryAdded| {
                with_warnings(format!("saved {}", harmless(&added.memory_id)), added.warnings.as_ref())
            });
        }
        let message = NewMessage {
            role: self.role,
            content: Content::Text(text),
            id: None,
            timestamp: self.timestamp,
            metadata: self.metadata,
            speaker: self.speaker,
        };
        let ttl_days = self.ttl_days.map(|days| memlog_actors::api::given::OneOrEach::One(Some(days)));
        let request = AddMessages { profile, thread_id, messages: vec![message], ttl_days, ..AddMessages::default() };
        let added = shell.call(request).await?;
        shell.screen.reply(&added, |_, added: &MessagesAdded| {
            with_warnings(format!("added {}", harmless(&added.message_ids.join(" "))), added.warnings.as_ref())
        })
    }
}

impl Asked {
    async fn run(self, shell: &Shell) -> Result<(), Fail> {
        let request = Search {
            profile: shell.profile(),
            thread_id: self.thread,
            query: self.query,
            exact_thread_match: self.here.then_some(true),
            max_results: self.limit,
            record_types: (!self.types.is_empty()).then_some(self.types),
            metadata_filter: self.metadata,
            include_invalid_results: self.valid.then_some(false),
            num_hops: self.hops,
            as_of: self.as_of,
            ..Search::default()
        };
        shell.screen.reply(&shell.call(request).await?, results)
    }
}

impl Card {
    async fn run(self, shell: &Shell) -> Result<(), Fail> {
        let request = GetContextCard {
            profile: shell.profile(),
            thread_id: self.thread,
            max_relevant_results: self.relevant,
            max_recent_messages: self.recent,
            except_last_messages: self.except_last,
            as_of: self.as_of,
            ..GetContextCard::default()
        };
        let card = shell.call(request).await?;
        shell.screen.reply(&card, |_, card| or_nothing(&card.content, "nothing to show yet"))
    }
}

fn standard_input() -> Result<String, Fail> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).map_err(Fail::file("standard input"))?;
    Ok(text.trim_end_matches(['\n', '\r']).to_owned())
}

fn or_nothing(text: &str, nothing: &str) -> String {
    if text.is_empty() { nothing.to_owned() } else { harmless(text) }
}

fn with_warnings(text: String, warnings: Option<&Vec<String>>) -> String {
    warnings.into_iter().flatten().fold(text, |text, warning| format!("{text}\n{}", harmless(warning)))
}

fn about(thread: &Thread) -> String {
    pairs(&[
        ("thread", thread.thread_id.clone()),
        ("owner", or_dash(thread.user_id.as_deref()).to_owned()),
        ("agent", or_dash(thread.agent_id.as_deref()).to_owned()),
        ("messages", thread.message_count.to_string()),
        ("since", tables::moment(thread.created_at)),
    ])
}

fn threads(screen: &Screen, listed: &Listed) -> String {
    use comfy_table::Cell;
    let mut grid = screen.grid(&[("id", 0), ("owner", 0), ("agent", 120), ("messages", 0), ("changed (UTC)", 90)]);
    for thread in &listed.threads {
        grid.add([
            Cell::new(harmless(&thread.thread_id)),
            Cell::new(harmless(or_dash(thread.user_id.as_deref()))),
            Cell::new(harmless(or_dash(thread.agent_id.as_deref()))),
            Cell::new(thread.message_count),
            Cell::new(tables::moment(thread.updated_at)),
        ]);
    }
    tables::page(grid.into_table(), listed.cursor.as_deref(), "no threads")
}

fn results(screen: &Screen, found: &Results) -> String {
    use comfy_table::Cell;
    if found.results.is_empty() {
        return "nothing found".to_owned();
    }
    let columns = [("id", 0), ("score", 100), ("type", 0), ("what", 0), ("who", 90), ("thread", 130), ("linked", 110)];
    let mut grid = screen.grid(&columns);
    for hit in &found.results {
        let linked = hit.linked.as_ref().map_or_else(String::new, |linked| linked.len().to_string());
        grid.add([
            Cell::new(harmless(&hit.id)),
            Cell::new(format!("{:.2}", hit.score)),
            Cell::new(words::written(&hit.record_type)),
            Cell::new(harmless(&memlog_actors::recall::one_line(&hit.content, 160))),
            Cell::new(harmless(or_dash(hit.speaker.as_deref()))),
            Cell::new(harmless(or_dash(hit.thread_id.as_deref()))),
            Cell::new(linked),
        ]);
    }
    grid.into_table().to_string()
}
