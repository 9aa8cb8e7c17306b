//! What belongs to a namespace: notebooks, agents, notes.

use std::collections::BTreeMap;

use memlog_actors::{
    api::{
        Caller, Context, agent, memory,
        note::{self, Level},
        trash,
    },
    system::System,
};

use super::{
    super::command::{AGENTS, BOOKS, Command, ENTRIES, GROUP, GROUPS, Heard, Ids, LOGINS, WEIGHTS, Word, text},
    run,
};

pub(super) async fn on_the_shelf(system: &System, context: &Context, command: Command, ids: &Ids) -> Heard {
    let id = |book: Word| ids.books.get(&book).cloned().unwrap_or_default();
    match command {
        Command::Create { name, .. } => {
            run(system, context, memory::Create { name: BOOKS[name].to_owned(), description: None }).await
        }
        Command::Adopt { name, .. } => {
            let (name, create_if_missing) = (Some(BOOKS[name].to_owned()), Some(true));
            run(system, context, memory::Get { name, create_if_missing, ..Default::default() }).await
        }
        Command::Rename { book, name, .. } => {
            let (id, name) = (id(book), Some(BOOKS[name].to_owned()));
            run(system, context, memory::Update { id, name, description: None }).await
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
        other => of_agents(system, context, other, ids).await,
    }
}

async fn of_agents(system: &System, context: &Context, command: Command, ids: &Ids) -> Heard {
    let id = |word: Word, of: &BTreeMap<Word, String>| of.get(&word).cloned().unwrap_or_default();
    let memories = |books: Vec<(Word, bool)>| -> Option<Vec<agent::Attachment>> {
        let attached = |(book, writes)| agent::Attachment { memory: id(book, &ids.books), writes };
        Some(books.into_iter().map(attached).collect())
    };
    match command {
        Command::Hire { name, books, .. } => {
            let (name, memories) = (AGENTS[name].to_owned(), memories(books));
            run(system, context, agent::Create { name, memories, ..Default::default() }).await
        }
        Command::Engage { name, .. } => {
            let (name, create_if_missing) = (Some(AGENTS[name].to_owned()), Some(true));
            run(system, context, agent::Get { name, create_if_missing, ..Default::default() }).await
        }
        Command::Retitle { agent, name, .. } => {
            let (id, name) = (id(agent, &ids.agents), Some(AGENTS[name].to_owned()));
            run(system, context, agent::Update { id, name, ..Default::default() }).await
        }
        Command::Attach { agent, books, .. } => {
            let (id, memories) = (id(agent, &ids.agents), memories(books));
            run(system, context, agent::Update { id, memories, ..Default::default() }).await
        }
        Command::Write { agent, book, entry, word, .. } => {
            let caller = Caller { agent: Some(id(agent, &ids.agents)), ..context.caller.clone() };
            let context = Context { caller, ..context.clone() };
            let (id, entry) = (Some(id(book, &ids.books)), ENTRIES[entry].to_owned());
            let (content, description) = (text(word), Some("how".to_owned()));
            run(system, &context, memory::Save { id, name: None, entry, content, description, version: None }).await
        }
        Command::Dismiss { agent, .. } => run(system, context, agent::Delete { id: id(agent, &ids.agents) }).await,
        other => of_notes(system, context, other, ids).await,
    }
}

async fn of_notes(system: &System, context: &Context, command: Command, ids: &Ids) -> Heard {
    let id = |note: Word| ids.notes.get(&note).copied().unwrap_or(u64::from(u32::MAX));
    let body = |word: Word| Some(format!("<p>{}</p>", text(word)));
    let readers = |to: Option<usize>| match to {
        None => note::AdminSave { level: Some(Level::All), ..Default::default() },
        Some(GROUP) => {
            let group = Some(GROUPS[0].to_owned());
            note::AdminSave { level: Some(Level::Group), group, ..Default::default() }
        }
        Some(login) => {
            let login = LOGINS[login].map(str::to_owned);
            note::AdminSave { level: Some(Level::Own), login, ..Default::default() }
        }
    };
    let key = |kind: Option<usize>| kind.map(|kind| WEIGHTS[kind].to_owned());
    match command {
        Command::AddKind { kind, title, .. } => {
            run(system, context, note::KindAdd { kind_key: WEIGHTS[kind].to_owned(), title: text(title) }).await
        }
        Command::Pin { note, kind, .. } => {
            let (name, body, kind_key) = (Some(text(note)), body(note), key(kind));
            run(system, context, note::MemorySave { name, body, kind_key, ..Default::default() }).await
        }
        Command::Edit { note, body: new, kind, .. } => {
            let (id, body, kind_key) = (Some(id(note)), body(new), key(kind));
            run(system, context, note::MemorySave { id, body, kind_key, ..Default::default() }).await
        }
        Command::Unpin { note, .. } => run(system, context, note::MemoryRemove { id: id(note) }).await,
        Command::Post { note, to, kind, .. } => {
            let (name, body, kind_key) = (Some(text(note)), body(note), key(kind));
            run(system, context, note::AdminSave { name, body, kind_key, ..readers(to) }).await
        }
        Command::Move { note, to, kind, .. } => {
            let (id, kind_key) = (Some(id(note)), key(kind));
            run(system, context, note::AdminSave { id, kind_key, ..readers(to) }).await
        }
        Command::Strike { note, .. } => run(system, context, note::AdminRemove { id: id(note) }).await,
        Command::OpenEditor { .. } => run(system, context, note::EditorOpen {}).await,
        Command::CloseEditor { .. } => run(system, context, note::EditorClose {}).await,
        Command::Connect { .. } => run(system, context, note::SessionConnect {}).await,
        Command::Load { .. } => {
            run(system, context, note::MemoryLoad { critical: Some(true), ..Default::default() }).await
        }
        other => unreachable!("{other:?} is sent elsewhere"),
    }
}
