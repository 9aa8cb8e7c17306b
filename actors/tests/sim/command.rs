//! What clients ask, and what they hear. A command names things by words that no other thing has, so that the plain model need
//! know no id.

use std::collections::BTreeMap;

use memlog_actors::{
    api::{
        Caller, Context, Error, Idempotency, Verb, given::OneOrEach, job, memory, note, profile, record::ItemType,
        speaker, thread, trash,
    },
    system::System,
};
use serde_json::Value;

use super::world::fact_of;

/// What a text tells of. The fact that is noted of a message has the message's, and `FACT` more.
pub(crate) type Word = u32;
pub(crate) const FACT: Word = 1_000_000;

pub(crate) const PROFILES: [(usize, &str); 3] = [(0, "alice"), (0, "bob"), (1, "alice")];
pub(crate) const NAMESPACES: [&str; 2] = ["acme", "zeta"];
pub(crate) const SPEAKERS: [&str; 3] = ["Ann", "さくら", "Иван"];
pub(crate) const SESSIONS: [&str; 2] = ["trip", "work"];
pub(crate) const THREADS: [&str; 2] = ["desk", "lab"];
pub(crate) const BOOKS: [&str; 2] = ["company", "diary"];
pub(crate) const ENTRIES: [&str; 2] = ["tone", "prices"];
pub(crate) const LOGINS: [&str; 2] = ["ann", "ben"];
pub(crate) const KINDS: [&str; 3] = ["supersedes", "refines", "supports"];

pub(crate) fn text(word: Word) -> String {
    if word >= FACT { fact_of(&text(word - FACT)) } else { format!("tells of zq{word}x") }
}

pub(crate) fn word_of(text: &str) -> Option<Word> {
    let (_, rest) = text.split_once("zq")?;
    let word: Word = rest.split_once('x')?.0.parse().ok()?;
    Some(if text.starts_with("Noted") { word + FACT } else { word })
}

/// The numbers are places in the lists above; `p` is a profile and `ns` a namespace.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Command {
    AddSpeaker { p: usize, who: usize },
    RemoveSpeaker { p: usize, who: usize },
    Remember { p: usize, word: Word, session: Option<usize>, who: Option<usize>, days: Option<i64> },
    Supersede { p: usize, old: Word, word: Word },
    Forget { p: usize, word: Word },
    Ingest { p: usize, session: usize, said: Vec<(Word, Option<usize>)> },
    AddTurn { p: usize, session: usize, words: [Word; 2] },
    DeleteSession { p: usize, session: usize },
    DeleteProfile { p: usize },
    Retry { p: usize, job: Word },
    Open { p: usize, thread: usize },
    Say { p: usize, thread: usize, words: Vec<Word>, days: Option<i64> },
    Keep { p: usize, thread: usize, word: Word, days: Option<i64>, link: Option<(Word, usize)> },
    Link { p: usize, thread: usize, source: Word, target: Word, kind: usize },
    Unlink { p: usize, thread: usize, source: Word, target: Word, kind: usize },
    DropMessage { p: usize, thread: usize, word: Word },
    DropMemory { p: usize, thread: usize, word: Word },
    DeleteThread { p: usize, thread: usize },
    Create { ns: usize, name: usize, book: Word },
    Save { ns: usize, name: usize, entry: usize, word: Word, version: Option<u64> },
    ForgetEntry { ns: usize, name: usize, entry: usize, version: Option<u64> },
    Trash { ns: usize, book: Word },
    Restore { ns: usize, book: Word },
    Purge { ns: usize, book: Word },
    Pin { ns: usize, login: usize, note: Word },
    Edit { ns: usize, login: usize, note: Word, body: Word },
    Unpin { ns: usize, login: usize, note: Word },
}

/// Their names; [`Command::name`] says of each which.
pub(crate) const NAMES: [&str; 27] = [
    "AddSpeaker",
    "RemoveSpeaker",
    "Remember",
    "Supersede",
    "Forget",
    "Ingest",
    "AddTurn",
    "DeleteSession",
    "DeleteProfile",
    "Retry",
    "Open",
    "Say",
    "Keep",
    "Link",
    "Unlink",
    "DropMessage",
    "DropMemory",
    "DeleteThread",
    "Create",
    "Save",
    "ForgetEntry",
    "Trash",
    "Restore",
    "Purge",
    "Pin",
    "Edit",
    "Unpin",
];

/// The ids that were told, by word.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ids {
    pub(crate) records: BTreeMap<Word, String>,
    pub(crate) books: BTreeMap<Word, String>,
    pub(crate) notes: BTreeMap<Word, u64>,
    pub(crate) jobs: BTreeMap<Word, String>,
}

/// An answer and whether it was given again.
pub(crate) type Heard = Result<(Value, bool), Error>;

impl Command {
    /// The first word of how it is shown.
    pub(crate) fn name(&self) -> &'static str {
        let shown = format!("{self:?}");
        let name = shown.split(' ').next().unwrap_or_default();
        NAMES.into_iter().find(|it| *it == name).unwrap_or_else(|| panic!("{name} is not among the NAMES"))
    }

    pub(crate) fn namespace(&self) -> usize {
        match self {
            Self::Create { ns, .. }
            | Self::Save { ns, .. }
            | Self::ForgetEntry { ns, .. }
            | Self::Trash { ns, .. }
            | Self::Restore { ns, .. }
            | Self::Purge { ns, .. }
            | Self::Pin { ns, .. }
            | Self::Edit { ns, .. }
            | Self::Unpin { ns, .. } => *ns,
            _ => self.profile().map_or(0, |p| PROFILES[p].0),
        }
    }

    pub(crate) fn profile(&self) -> Option<usize> {
        match self {
            Self::AddSpeaker { p, .. }
            | Self::RemoveSpeaker { p, .. }
            | Self::Remember { p, .. }
            | Self::Supersede { p, .. }
            | Self::Forget { p, .. }
            | Self::Ingest { p, .. }
            | Self::AddTurn { p, .. }
            | Self::DeleteSession { p, .. }
            | Self::DeleteProfile { p }
            | Self::Retry { p, .. }
            | Self::Open { p, .. }
            | Self::Say { p, .. }
            | Self::Keep { p, .. }
            | Self::Link { p, .. }
            | Self::Unlink { p, .. }
            | Self::DropMessage { p, .. }
            | Self::DropMemory { p, .. }
            | Self::DeleteThread { p, .. } => Some(*p),
            _ => None,
        }
    }

    fn login(&self) -> Option<usize> {
        match self {
            Self::Pin { login, .. } | Self::Edit { login, .. } | Self::Unpin { login, .. } => Some(*login),
            _ => None,
        }
    }

    fn context(&self, key: Option<u64>) -> Context {
        let idempotency = key.map(|key| Idempotency { key: format!("key-{key}"), request: format!("{self:?}").into() });
        context(self.namespace(), self.login(), idempotency)
    }
}

pub(crate) fn context(ns: usize, login: Option<usize>, idempotency: Option<Idempotency>) -> Context {
    let caller = Caller { user: login.map(|login| LOGINS[login].to_owned()), ..Caller::default() };
    Context { namespace: NAMESPACES[ns].to_owned(), caller, idempotency }
}

pub(crate) fn message_id(word: Word) -> String {
    format!("m{word}")
}

/// The id of a record, also of one that is not known: then nothing has it.
fn record_id(ids: &Ids, word: Word) -> String {
    ids.records.get(&word).cloned().unwrap_or_else(|| format!("r{word}"))
}

fn relation_id(source: Word, target: Word, kind: usize) -> String {
    format!("l{source}-{target}-{kind}")
}

async fn run<V: Verb>(system: &System, context: &Context, verb: V) -> Heard {
    let answer = verb.run(system, context).await?;
    Ok((serde_json::to_value(answer.reply).expect("JSON"), answer.replayed))
}

fn said(role: &str, word: Word, who: Option<usize>) -> profile::Message {
    let speaker = who.map(|who| SPEAKERS[who].to_owned());
    profile::Message { role: role.to_owned(), content: text(word), speaker, ..Default::default() }
}

/// Sends it and waits for the answer.
pub(crate) async fn send(system: System, command: Command, key: Option<u64>, ids: &Ids) -> Heard {
    let context = command.context(key);
    let (system, context) = (&system, &context);
    let profile = command.profile().map(|p| PROFILES[p].1.to_owned()).unwrap_or_default();
    match command {
        Command::AddSpeaker { who, .. } => {
            run(system, context, speaker::Add { profile, speaker: SPEAKERS[who].to_owned() }).await
        }
        Command::RemoveSpeaker { who, .. } => {
            run(system, context, speaker::Remove { profile, speaker: SPEAKERS[who].to_owned() }).await
        }
        Command::Remember { word, session, who, days, .. } => {
            let (content, speaker) = (text(word), who.map(|who| SPEAKERS[who].to_owned()));
            let (session_id, ttl_days) = (session.map(|at| SESSIONS[at].to_owned()), days.map(|days| days as f64));
            run(
                system,
                context,
                profile::Remember { profile, content, session_id, speaker, ttl_days, ..Default::default() },
            )
            .await
        }
        Command::Supersede { old, word, .. } => {
            let (memory_id, content) = (record_id(ids, old), text(word));
            run(system, context, profile::Supersede { profile, memory_id, content, ..Default::default() }).await
        }
        Command::Forget { word, .. } => {
            run(system, context, profile::Forget { profile, memory_id: record_id(ids, word) }).await
        }
        Command::Ingest { session, said: turns, .. } => {
            let messages = turns.into_iter().map(|(word, who)| said("user", word, who)).collect();
            let session_id = Some(SESSIONS[session].to_owned());
            run(system, context, profile::Ingest { profile, messages, session_id, ..Default::default() }).await
        }
        Command::AddTurn { session, words, .. } => {
            let [user, assistant] = words.map(text);
            let session_id = Some(SESSIONS[session].to_owned());
            run(system, context, profile::AddTurn { profile, user, assistant, session_id }).await
        }
        Command::DeleteSession { session, .. } => {
            let session_id = SESSIONS[session].to_owned();
            run(system, context, profile::DeleteSession { profile, session_id }).await
        }
        Command::DeleteProfile { .. } => run(system, context, profile::Delete { profile }).await,
        Command::Retry { job, .. } => {
            let job_id = ids.jobs.get(&job).cloned().unwrap_or_default();
            run(system, context, job::Retry { job_id }).await
        }
        command @ (Command::Create { .. }
        | Command::Save { .. }
        | Command::ForgetEntry { .. }
        | Command::Trash { .. }
        | Command::Restore { .. }
        | Command::Purge { .. }) => on_the_shelf(system, context, command, ids).await,
        command @ (Command::Pin { .. } | Command::Edit { .. } | Command::Unpin { .. }) => {
            of_notes(system, context, command, ids).await
        }
        command => in_a_thread(system, context, profile, command, ids).await,
    }
}

async fn in_a_thread(system: &System, context: &Context, profile: String, command: Command, ids: &Ids) -> Heard {
    let thread_id = |thread: usize| THREADS[thread].to_owned();
    match command {
        Command::Open { thread, .. } => {
            let extraction = thread::ExtractionSettings { enabled: Some(false), ..Default::default() };
            let settings = Some(thread::Settings { extraction: Some(extraction), ..Default::default() });
            let (thread_id, nobody) = (Some(thread_id(thread)), Some(None));
            let (user_id, agent_id) = (nobody.clone(), nobody);
            run(
                system,
                context,
                thread::Create { profile, thread_id, user_id, agent_id, settings, ..Default::default() },
            )
            .await
        }
        Command::Say { thread, words, days, .. } => {
            let message = |word: &Word| thread::NewMessage {
                role: "user".to_owned(),
                content: thread::Content::Text(text(*word)),
                id: Some(message_id(*word)),
                ..Default::default()
            };
            let ttl_days = days.map(|days| OneOrEach::One(Some(days as f64)));
            let (thread_id, messages) = (thread_id(thread), words.iter().map(message).collect());
            run(system, context, thread::AddMessages { profile, thread_id, messages, ttl_days, ..Default::default() })
                .await
        }
        Command::Keep { thread, word, days, link, .. } => {
            let request = thread::AddMemory {
                profile,
                thread_id: thread_id(thread),
                content: text(word),
                memory_id: Some(format!("r{word}")),
                ttl_days: days.map(|days| Some(days as f64)),
                memory_id_to_link: link.map(|(target, _)| record_id(ids, target)),
                link_type: link.map(|(_, kind)| KINDS[kind].to_owned()),
                link_id: link.map(|(target, kind)| relation_id(word, target, kind)),
                ..Default::default()
            };
            run(system, context, request).await
        }
        Command::DropMessage { thread, word, .. } => {
            let (thread_id, message_id) = (thread_id(thread), message_id(word));
            run(system, context, thread::DeleteMessage { profile, thread_id, message_id, ..Default::default() }).await
        }
        Command::DropMemory { thread, word, .. } => {
            let (thread_id, memory_id) = (thread_id(thread), record_id(ids, word));
            run(system, context, thread::DeleteMemory { profile, thread_id, memory_id }).await
        }
        Command::DeleteThread { thread, .. } => {
            run(system, context, thread::Delete { profile, thread_id: thread_id(thread) }).await
        }
        command => of_links(system, context, profile, command, ids).await,
    }
}

async fn of_links(system: &System, context: &Context, profile: String, command: Command, ids: &Ids) -> Heard {
    let thread_id = |thread: usize| THREADS[thread].to_owned();
    match command {
        Command::Link { thread, source, target, kind, .. } => {
            let request = thread::LinkRecords {
                profile,
                thread_id: thread_id(thread),
                source_record_id: record_id(ids, source),
                source_record_type: ItemType::Memory,
                target_record_id: record_id(ids, target),
                target_record_type: ItemType::Memory,
                relation_type: KINDS[kind].to_owned(),
                opposite_relation_type: None,
                relation_id: Some(relation_id(source, target, kind)),
                timestamp: None,
                metadata: None,
            };
            run(system, context, request).await
        }
        Command::Unlink { thread, source, target, kind, .. } => {
            let (thread_id, relation_id) = (thread_id(thread), Some(relation_id(source, target, kind)));
            run(system, context, thread::DeleteRecordLink { profile, thread_id, relation_id, ..Default::default() })
                .await
        }
        other => unreachable!("{other:?} is sent elsewhere"),
    }
}

async fn on_the_shelf(system: &System, context: &Context, command: Command, ids: &Ids) -> Heard {
    let id = |book: Word| ids.books.get(&book).cloned().unwrap_or_default();
    match command {
        Command::Create { name, .. } => {
            run(system, context, memory::Create { name: BOOKS[name].to_owned(), description: None }).await
        }
        Command::Save { name, entry, word, version, .. } => {
            let (name, entry) = (Some(BOOKS[name].to_owned()), ENTRIES[entry].to_owned());
            let (content, description) = (text(word), Some("how".to_owned()));
            run(system, context, memory::Save { id: None, name, entry, content, description, version }).await
        }
        Command::ForgetEntry { name, entry, version, .. } => {
            let (name, entry) = (Some(BOOKS[name].to_owned()), ENTRIES[entry].to_owned());
            run(system, context, memory::Forget { id: None, name, entry, version }).await
        }
        Command::Trash { book, .. } => run(system, context, memory::Delete { id: id(book) }).await,
        Command::Restore { book, .. } => run(system, context, trash::Restore { id: id(book) }).await,
        Command::Purge { book, .. } => run(system, context, trash::Purge { id: id(book) }).await,
        other => unreachable!("{other:?} is sent elsewhere"),
    }
}

async fn of_notes(system: &System, context: &Context, command: Command, ids: &Ids) -> Heard {
    let id = |note: Word| ids.notes.get(&note).copied().unwrap_or(u64::from(u32::MAX));
    let body = |word: Word| Some(format!("<p>{}</p>", text(word)));
    match command {
        Command::Pin { note, .. } => {
            let request = note::MemorySave { name: Some(text(note)), body: body(note), ..Default::default() };
            run(system, context, request).await
        }
        Command::Edit { note, body: new, .. } => {
            let request = note::MemorySave { id: Some(id(note)), body: body(new), ..Default::default() };
            run(system, context, request).await
        }
        Command::Unpin { note, .. } => run(system, context, note::MemoryRemove { id: id(note) }).await,
        other => unreachable!("{other:?} is sent elsewhere"),
    }
}
