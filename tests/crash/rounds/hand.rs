//! One client of the rounds: what it owns as a tree of JSON, what it says next, and what it heard.
//!
//! A client sends one command after the other and touches its own things alone, so that after a kill one command of it at most is
//! unknown, and what is there is one of two trees: the one before that command, or the one after it. Who shares a profile, its
//! stream and its views with others still races with them; who fights for the same thing is in `races.rs`.
//!
//! In a tree `"?"` is what only a reply would have told, and a key that begins with `_` is what no read shows.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use fastrand::Rng;
use memlog::client::{CallError, Client};
use memlog_actors::api::error::Kind;
use serde_json::{Value, json};
use tokio::sync::{mpsc, watch};

use super::{
    commands,
    tree::{self, settle},
    wire::{Said, send},
};
use crate::world::unless_dead;

/// The profile that all clients share.
pub(super) const SHARED: &str = "shared";
/// In every text, name and id that a client sends, so that one look into the files finds any of them.
pub(super) const MARK: &str = "Quoxlyte";
/// Their replies show what is gone since, so that their repeats cannot.
const FORGETTING: [&str; 3] = ["profile.forget", "note.memory_remove", "note.admin_remove"];
/// What the last commands of a client were, for whoever reads a failure.
const TRACE: usize = 25;

/// What a command changes; the reply is null if none came.
pub(super) type Effect = Box<dyn Fn(&mut Value, &Value) + Send + Sync>;

/// A command and what it does.
pub(super) struct Command {
    pub(super) said: Said,
    pub(super) effect: Effect,
    /// It must be refused with this, and nothing is stored.
    pub(super) refused: Option<Kind>,
    /// What the reply must hold.
    pub(super) reply: Value,
}

/// A command of whose outcome nothing was heard, and the tree if it was done.
pub(super) struct Maybe {
    pub(super) command: Command,
    after: Value,
}

/// A memory that extraction made: where, its id, and the ids of its messages.
#[derive(Clone, Debug)]
pub(super) struct Extracted {
    pub(super) profile: String,
    pub(super) thread: String,
    pub(super) id: String,
    pub(super) sources: Vec<String>,
}

/// How a client's part of a round ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// With a command of which nothing was heard.
    Unknown,
    /// With a command that reached nobody, or that was refused since the process ends.
    Known,
}

/// A client.
pub(super) struct Hand {
    pub(super) letter: char,
    pub(super) rng: Rng,
    pub(super) tree: Value,
    pub(super) maybe: Option<Maybe>,
    /// The last acknowledged command that has a key, with its reply, unless something came after it.
    pub(super) last: Option<(Command, Value)>,
    pub(super) extracted: Vec<Extracted>,
    /// Jobs that came to an end, and whether they failed.
    pub(super) settled: BTreeMap<String, bool>,
    /// Verbs that were acknowledged.
    pub(super) acknowledged: Vec<&'static str>,
    pub(super) trace: VecDeque<String>,
    words: u32,
}

impl Hand {
    /// Every round gives it numbers to draw by.
    pub(super) fn new(number: usize) -> Self {
        let letter = char::from(b'a' + u8::try_from(number).unwrap());
        let tree = json!({ "profiles": { SHARED: tree::empty_profile() }, "notebooks": {}, "agents": {}, "trash": {},
            "notes": {}, "kinds": {}, "sessions": {} });
        let (rng, trace) = (Rng::with_seed(0), VecDeque::new());
        let (extracted, acknowledged, settled) = Default::default();
        Self { letter, rng, tree, maybe: None, last: None, extracted, settled, acknowledged, trace, words: 0 }
    }

    /// A word that no other text has. Its fourth part says what it names: `m` is a message.
    pub(super) fn word(&mut self, kind: char) -> String {
        self.words += 1;
        let digits: String = (0..5).rev().map(|at| char::from(b'a' + (self.words >> (4 * at) & 15) as u8)).collect();
        format!("{MARK}{}{kind}{digits}x", self.letter)
    }

    /// The client's user, who is also its login.
    pub(super) fn user(&self) -> String {
        format!("{MARK}{}userx", self.letter)
    }

    pub(super) fn group(&self) -> String {
        format!("{MARK}{}groupx", self.letter)
    }

    /// The profile that is the client's alone.
    pub(super) fn home(&self) -> String {
        format!("family of {MARK}{}homex", self.letter)
    }

    /// Words that may be read somewhere, now or as of some time.
    pub(super) fn living(&self) -> BTreeSet<String> {
        let mut all = words(&self.tree.to_string());
        all.extend(words(&format!("{} {}", self.user(), self.group())));
        all
    }

    /// Whether an id in the trash is of one of its agents' memories, or of the one whose deletion is unknown.
    pub(super) fn knows_trashed(&self, id: &str) -> bool {
        let after = self.maybe.as_ref().map(|maybe| &maybe.after["trash"][id]);
        !self.tree["trash"][id].is_null() || after.is_some_and(|item| !item.is_null())
    }

    /// One of these.
    pub(super) fn one<T>(&mut self, mut all: Vec<T>) -> Option<T> {
        (!all.is_empty()).then(|| all.swap_remove(self.rng.usize(..all.len())))
    }

    /// True once in so many times.
    pub(super) fn rarely(&mut self, times: u32) -> bool {
        self.rng.u32(..times) == 0
    }

    /// The next command; those that have nothing to work on are passed over.
    fn next(&mut self) -> Command {
        loop {
            if let Some(mut command) = commands::draw(self) {
                // What a session saves may shut its own gate, and a repeat is refused before that like anything else.
                let in_session = command.said.headers.iter().any(|(name, _)| *name == "Memlog-Session");
                let keyed = command.said.is_command() && !in_session && self.rng.bool();
                command.said.key = keyed.then(|| format!("key-{}", self.word('k')));
                return command;
            }
        }
    }

    /// Sends until the process is dead or says that it ends.
    pub(super) async fn work(
        mut self,
        client: Client,
        mut death: watch::Receiver<bool>,
        heard: mpsc::Sender<()>,
    ) -> (Self, End) {
        loop {
            let command = self.next();
            let said = &command.said;
            let line = format!("{} {}", said.verb, said.body);
            let answer = unless_dead(&mut death, send(&client, said)).await;
            self.note(&line, answer.as_ref());
            match answer {
                Some(Ok((reply, replayed))) => {
                    assert!(!replayed, "it is said for the first time: {}", self.told());
                    assert_eq!(command.refused, None, "it is done: {}", self.told());
                    self.hear(command, reply);
                }
                Some(Err(CallError::Refused(error))) if Some(error.kind) == command.refused => {}
                Some(Err(CallError::Refused(error))) => match error.kind {
                    // An editor of the notes is another client's doing.
                    Kind::Locked if said.verb.starts_with("note.") => {}
                    Kind::Timeout => {}
                    Kind::Unavailable => return (self, End::Known),
                    _ => panic!("{error:?}: {}", self.told()),
                },
                Some(Err(CallError::NobodyAnswers)) => return (self, End::Known),
                Some(Err(CallError::Transport(_) | CallError::Silence(_))) | None => {
                    let mut after = self.tree.clone();
                    if command.refused.is_none() {
                        (command.effect)(&mut after, &Value::Null);
                        settle(&mut after);
                        self.maybe = Some(Maybe { command, after });
                    }
                    return (self, End::Unknown);
                }
                Some(Err(error)) => panic!("{error}: {}", self.told()),
            }
            // The channel is full, or closed, when the test has seen enough.
            heard.try_send(()).unwrap_or_default();
        }
    }

    fn hear(&mut self, command: Command, reply: Value) {
        if let Err(reason) = tree::includes(&command.reply, &reply) {
            panic!("{reason} in {reply}: {}", self.told());
        }
        (command.effect)(&mut self.tree, &reply);
        settle(&mut self.tree);
        self.acknowledged.push(command.said.verb);
        self.last = command.said.key.is_some().then_some((command, reply));
    }

    fn note(&mut self, line: &str, answer: Option<&Result<(Value, bool), CallError>>) {
        let heard = match answer {
            Some(Ok((reply, _))) => format!("-> {reply}"),
            Some(Err(error)) => format!("-> {error}"),
            None => "-> ?".to_owned(),
        };
        self.trace.push_back(format!("{line:.900} {heard:.900}"));
        if self.trace.len() > TRACE {
            self.trace.pop_front();
        }
    }

    /// The last commands and what was heard.
    pub(super) fn told(&self) -> String {
        let lines: Vec<_> = self.trace.iter().map(String::as_str).collect();
        format!("client {}, at last:\n{}", self.letter, lines.join("\n"))
    }

    /// What is there is what was acknowledged, with the command of which nothing was heard, or without it: whole.
    /// Whether it was with it.
    pub(super) fn compare(&mut self, seen: &Value) -> bool {
        let Err(before) = tree::agrees(&self.tree, seen) else {
            tree::fill(&mut self.tree, seen);
            return false;
        };
        let Some(maybe) = &self.maybe else { panic!("{before:.4000}\nand nothing is unknown of {}", self.told()) };
        if let Some(halfway) = tree::halfway(&self.tree, &maybe.after).filter(|it| tree::agrees(it, seen).is_ok()) {
            self.tree = halfway;
            return false;
        }
        if let Err(after) = tree::agrees(&maybe.after, seen) {
            panic!("without the last: {before:.4000}\nwith it: {after:.4000}\n{}", self.told());
        }
        self.tree = maybe.after.clone();
        tree::fill(&mut self.tree, seen);
        true
    }

    /// Repeats what has a key: what was done is not done again, what was not is done now.
    pub(super) async fn repeat(&mut self, client: &Client, done: bool) {
        if let Some((command, first)) = self.last.take().filter(|_| !done) {
            let (reply, replayed) = self.again(client, &command).await;
            assert!(replayed, "acknowledged under a key: {}", self.told());
            let same = if FORGETTING.contains(&command.said.verb) { tree::repeats } else { tree::agrees };
            let heard = same(&first, &reply);
            assert_eq!(heard, Ok(()), "a repeat hears what was heard first: {}", self.told());
        }
        let Some(Maybe { command, .. }) = self.maybe.take() else { return };
        if command.said.key.is_none() {
            return;
        }
        let (reply, replayed) = self.again(client, &command).await;
        // What changes nothing may have been done without a trace in any read.
        if done {
            assert!(replayed, "it was done: {}", self.told());
        } else {
            (command.effect)(&mut self.tree, &reply);
            settle(&mut self.tree);
            // It may have taken some of what was seen.
            self.extracted.clear();
        }
        self.acknowledged.push(command.said.verb);
    }

    async fn again(&mut self, client: &Client, command: &Command) -> (Value, bool) {
        let line = format!("again: {} {}", command.said.verb, command.said.body);
        let answer = send(client, &command.said).await;
        self.note(&line, Some(&answer));
        answer.unwrap_or_else(|error| panic!("{error}: {}", self.told()))
    }
}

/// Every word of the rounds in a text.
pub(super) fn words(text: &str) -> BTreeSet<String> {
    let ends = |rest: &str| rest.find(|char: char| !char.is_ascii_lowercase()).unwrap_or(rest.len());
    text.match_indices(MARK)
        .map(|(at, _)| text[at..][..MARK.len() + ends(&text[at + MARK.len()..])].to_owned())
        .collect()
}
