//! What clients ask, and what they hear. A command names things by words that no other thing has, so that the plain model need
//! know no id.

use std::collections::BTreeMap;

use memlog_actors::api::{Caller, Context, Error, Idempotency};
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
pub(crate) const AGENTS: [&str; 2] = ["support", "scout"];
/// The last is the account itself.
pub(crate) const LOGINS: [Option<&str>; 3] = [Some("ann"), Some("ben"), None];
pub(crate) const ACCOUNT: usize = 2;
/// Whom a note may go to beside the logins: a group, which only the first of them is in.
pub(crate) const GROUP: usize = LOGINS.len();
pub(crate) const GROUPS: [&str; 1] = ["sales"];
/// Kinds of notes: those of every namespace, by weight, and from `ADDED` on those that one may add.
pub(crate) const WEIGHTS: [&str; 5] = ["kCritical", "kSkill", "kDefault", "kLaw", "kHouse"];
pub(crate) const CRITICAL: usize = 0;
pub(crate) const DEFAULT: usize = 2;
pub(crate) const ADDED: usize = 3;
pub(crate) const KINDS: [&str; 3] = ["supersedes", "refines", "supports"];

pub(crate) fn text(word: Word) -> String {
    if word >= FACT { fact_of(&text(word - FACT)) } else { format!("tells of zq{word}x") }
}

pub(crate) fn word_of(text: &str) -> Option<Word> {
    let (_, rest) = text.split_once("zq")?;
    let word: Word = rest.split_once('x')?.0.parse().ok()?;
    Some(if text.starts_with("Noted") { word + FACT } else { word })
}

/// The numbers are places in the lists above; `p` is a profile and `ns` a namespace. An agent and the notebook of its own have one word;
/// the books that it attaches come with whether it may write them, and a `Write` is its own. A note goes `to` a login, to the group, or to everyone. An image is part of a
/// message that is shown, or hangs alone. What is changed keeps its word, and `says` another from then on.
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
    Visit { p: usize },
    Retry { p: usize, job: Word },
    Open { p: usize, thread: usize },
    Say { p: usize, thread: usize, words: Vec<Word>, days: Option<i64> },
    Keep { p: usize, thread: usize, word: Word, days: Option<i64>, link: Option<(Word, usize)> },
    Link { p: usize, thread: usize, source: Word, target: Word, kind: usize },
    Unlink { p: usize, thread: usize, source: Word, target: Word, kind: usize },
    Show { p: usize, thread: usize, word: Word, image: Word, days: Option<i64> },
    Hang { p: usize, thread: usize, image: Word, days: Option<i64> },
    TakeDown { p: usize, thread: usize, image: Word },
    DropMessage { p: usize, thread: usize, word: Word },
    DropMemory { p: usize, thread: usize, word: Word },
    Reword { p: usize, thread: usize, word: Word, says: Option<Word>, days: Option<i64> },
    Amend { p: usize, thread: usize, word: Word, says: Option<Word>, holds: Option<bool>, days: Option<i64> },
    Relabel { p: usize, thread: usize, source: Word, target: Word, kind: usize, to: usize },
    Retake { p: usize, thread: usize, image: Word, says: Word, days: Option<i64> },
    DeleteThread { p: usize, thread: usize },
    Create { ns: usize, name: usize, book: Word },
    Adopt { ns: usize, name: usize, book: Word },
    Rename { ns: usize, book: Word, name: usize },
    Save { ns: usize, login: usize, name: usize, entry: usize, word: Word, version: Option<u64> },
    ForgetEntry { ns: usize, login: usize, name: usize, entry: usize, version: Option<u64> },
    Trash { ns: usize, book: Word },
    Restore { ns: usize, book: Word },
    Purge { ns: usize, book: Word },
    Hire { ns: usize, name: usize, agent: Word, books: Vec<(Word, bool)> },
    Engage { ns: usize, name: usize, agent: Word },
    Retitle { ns: usize, agent: Word, name: usize },
    Attach { ns: usize, agent: Word, books: Vec<(Word, bool)> },
    Write { ns: usize, agent: Word, book: Word, entry: usize, word: Word },
    Dismiss { ns: usize, agent: Word },
    AddKind { ns: usize, kind: usize, title: Word },
    Pin { ns: usize, login: usize, note: Word, kind: Option<usize> },
    Edit { ns: usize, login: usize, note: Word, body: Word, kind: Option<usize> },
    Unpin { ns: usize, login: usize, note: Word },
    Post { ns: usize, login: usize, note: Word, to: Option<usize>, kind: Option<usize> },
    Move { ns: usize, login: usize, note: Word, to: Option<usize>, kind: Option<usize> },
    Strike { ns: usize, login: usize, note: Word },
    Connect { ns: usize, login: usize, session: Word },
    Load { ns: usize, login: usize },
    OpenEditor { ns: usize, login: usize },
    CloseEditor { ns: usize, login: usize },
}

/// A command as a client sends it: under a key, if it may have to be sent again, and in a session, by the word of its connecting.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Asked {
    pub(crate) command: Command,
    pub(crate) key: Option<u64>,
    pub(crate) session: Option<Word>,
}

/// Their names; [`Command::name`] says of each which.
pub(crate) const NAMES: [&str; 51] = [
    "AddSpeaker",
    "RemoveSpeaker",
    "Remember",
    "Supersede",
    "Forget",
    "Ingest",
    "AddTurn",
    "DeleteSession",
    "DeleteProfile",
    "Visit",
    "Retry",
    "Open",
    "Say",
    "Keep",
    "Link",
    "Unlink",
    "Show",
    "Hang",
    "TakeDown",
    "DropMessage",
    "DropMemory",
    "Reword",
    "Amend",
    "Relabel",
    "Retake",
    "DeleteThread",
    "Create",
    "Adopt",
    "Rename",
    "Save",
    "ForgetEntry",
    "Trash",
    "Restore",
    "Purge",
    "Hire",
    "Engage",
    "Retitle",
    "Attach",
    "Write",
    "Dismiss",
    "AddKind",
    "Pin",
    "Edit",
    "Unpin",
    "Post",
    "Move",
    "Strike",
    "Connect",
    "Load",
    "OpenEditor",
    "CloseEditor",
];

/// The ids that were told, by word.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ids {
    pub(crate) records: BTreeMap<Word, String>,
    pub(crate) books: BTreeMap<Word, String>,
    pub(crate) agents: BTreeMap<Word, String>,
    pub(crate) notes: BTreeMap<Word, u64>,
    pub(crate) sessions: BTreeMap<Word, String>,
    pub(crate) images: BTreeMap<Word, String>,
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
            | Self::Adopt { ns, .. }
            | Self::Rename { ns, .. }
            | Self::Save { ns, .. }
            | Self::ForgetEntry { ns, .. }
            | Self::Trash { ns, .. }
            | Self::Restore { ns, .. }
            | Self::Purge { ns, .. }
            | Self::Hire { ns, .. }
            | Self::Engage { ns, .. }
            | Self::Retitle { ns, .. }
            | Self::Attach { ns, .. }
            | Self::Write { ns, .. }
            | Self::Dismiss { ns, .. }
            | Self::AddKind { ns, .. }
            | Self::Pin { ns, .. }
            | Self::Edit { ns, .. }
            | Self::Unpin { ns, .. }
            | Self::Post { ns, .. }
            | Self::Move { ns, .. }
            | Self::Strike { ns, .. }
            | Self::Connect { ns, .. }
            | Self::Load { ns, .. }
            | Self::OpenEditor { ns, .. }
            | Self::CloseEditor { ns, .. } => *ns,
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
            | Self::Visit { p }
            | Self::Retry { p, .. }
            | Self::Open { p, .. }
            | Self::Say { p, .. }
            | Self::Keep { p, .. }
            | Self::Link { p, .. }
            | Self::Unlink { p, .. }
            | Self::Show { p, .. }
            | Self::Hang { p, .. }
            | Self::TakeDown { p, .. }
            | Self::DropMessage { p, .. }
            | Self::DropMemory { p, .. }
            | Self::Reword { p, .. }
            | Self::Amend { p, .. }
            | Self::Relabel { p, .. }
            | Self::Retake { p, .. }
            | Self::DeleteThread { p, .. } => Some(*p),
            _ => None,
        }
    }

    fn is_an_administrators(&self) -> bool {
        matches!(
            self,
            Self::AddKind { .. }
                | Self::Post { .. }
                | Self::Move { .. }
                | Self::Strike { .. }
                | Self::OpenEditor { .. }
                | Self::CloseEditor { .. }
        )
    }

    /// Who sends it; the account sends what is nobody's.
    pub(crate) fn login(&self) -> usize {
        match self {
            Self::Save { login, .. }
            | Self::ForgetEntry { login, .. }
            | Self::Pin { login, .. }
            | Self::Edit { login, .. }
            | Self::Unpin { login, .. }
            | Self::Post { login, .. }
            | Self::Move { login, .. }
            | Self::Strike { login, .. }
            | Self::Connect { login, .. }
            | Self::Load { login, .. }
            | Self::OpenEditor { login, .. }
            | Self::CloseEditor { login, .. } => *login,
            _ => ACCOUNT,
        }
    }
}

impl Asked {
    pub(crate) fn context(&self, ids: &Ids) -> Context {
        let Self { command, key, session } = self;
        let idempotency = key.map(|key| Idempotency { key: format!("key-{key}"), request: Vec::new() });
        let session = session.map(|session| ids.sessions.get(&session).cloned().unwrap_or_default());
        let context = context(command.namespace(), command.login(), idempotency);
        let caller = Caller { admin: command.is_an_administrators(), session, ..context.caller };
        Context { caller, ..context }
    }
}

pub(crate) fn is_in_the_group(login: usize) -> bool {
    login == 0
}

pub(crate) fn context(ns: usize, login: usize, idempotency: Option<Idempotency>) -> Context {
    let groups = if is_in_the_group(login) { GROUPS.map(str::to_owned).to_vec() } else { Vec::new() };
    let caller = Caller { user: LOGINS[login].map(str::to_owned), groups, ..Caller::default() };
    Context { namespace: NAMESPACES[ns].to_owned(), caller, idempotency }
}
