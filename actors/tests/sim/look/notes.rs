//! Notes and their kinds, what sessions must read of them, and who edits them.

use std::collections::{BTreeMap, BTreeSet};

use memlog_actors::api::{
    Caller, Context, Error, Verb,
    error::Kind,
    note::{self, Level},
};
use serde_json::Value;

use super::{
    super::{
        command::{ACCOUNT, ADDED, GROUP, LOGINS, WEIGHTS, Word, context, word_of},
        plain::{Note, Notes},
    },
    Reader, found,
};

/// A note as a login loads it: its name, who loads it, whose own it is, what it says, its kind.
type Line = (Word, usize, Option<usize>, Word, usize);

/// The notes of a namespace as they are read.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Board {
    notes: Vec<Line>,
    kinds: Vec<(usize, Word)>,
    /// What each session has to load.
    unread: BTreeMap<Word, BTreeSet<Word>>,
    /// Who holds them in an editor.
    holder: Option<usize>,
}

fn kind_of(key: &str) -> usize {
    WEIGHTS.iter().position(|it| *it == key).unwrap_or_else(|| panic!("nobody added {key}"))
}

impl Reader<'_> {
    /// Sessions that were told of come with their logins.
    pub(crate) async fn board(&mut self, ns: usize, connected: &BTreeMap<Word, usize>) -> Result<Board, Error> {
        let mut board = Board::default();
        for login in 0..LOGINS.len() {
            let context = context(ns, login, None);
            let listed = found(note::MemoryList::default().run(self.system, &context).await)?;
            let listed: Vec<_> = listed.into_iter().flat_map(|it| it.notes).collect();
            if listed.is_empty() {
                continue;
            }
            let load = note::MemoryLoad { ids: Some(listed.iter().map(|it| it.id).collect()), ..Default::default() };
            let loaded = load.run(self.system, &context).await?.reply.notes;
            // What was added weighs as much as the last.
            let level =
                |it: &note::Full| [Level::All, Level::Group, Level::Own].iter().position(|at| *at == it.note.level);
            let weighs = |it: &note::Full| (level(it), kind_of(&it.note.kind_key).min(ADDED - 1));
            assert!(loaded.iter().map(weighs).is_sorted(), "not in the order of their weight: {loaded:?}");
            for it in loaded {
                let name = word_of(&it.note.name.unwrap_or_default()).expect("a note's name has a word");
                let body = word_of(&it.body.unwrap_or_default()).expect("a note's body has a word");
                self.ids.notes.insert(name, it.note.id);
                let to = match it.note.level {
                    Level::All => None,
                    Level::Group => Some(GROUP),
                    Level::Own => Some(login),
                };
                board.notes.push((name, login, to, body, kind_of(&it.note.kind_key)));
            }
        }
        board.notes.sort_unstable();
        let kinds = self.read(ns, note::Kinds::default()).await?.into_iter().flat_map(|it| it.kinds);
        let title = |it: &note::Kind| word_of(&it.title).map(|title| (kind_of(&it.kind_key), title));
        board.kinds = kinds.filter_map(|it| title(&it)).collect();
        for (session, login) in connected {
            let unread = self.unread(ns, *session, *login).await?;
            // A number is unique in its namespace.
            let named =
                |number: u64| board.notes.iter().map(|(name, ..)| *name).find(|it| self.ids.notes[it] == number);
            let unread = unread.into_iter().map(|number| named(number).expect("a note that was read")).collect();
            board.unread.insert(*session, unread);
        }
        board.holder = self.holder(ns).await?;
        Ok(board)
    }

    /// What somebody hears who would change a note that there is not.
    async fn holder(&self, ns: usize) -> Result<Option<usize>, Error> {
        let (id, body) = (Some(u64::from(u32::MAX)), Some("<p>nothing</p>".to_owned()));
        let save = note::MemorySave { id, body, ..Default::default() };
        let error = save.run(self.system, &context(ns, ACCOUNT, None)).await.expect_err("there is no such note");
        match error.kind {
            Kind::NotFound => Ok(None),
            Kind::Locked => Ok(LOGINS.iter().position(|it| *it == error.fields["held_by"].as_str())),
            _ => Err(error),
        }
    }

    /// What the gate says that a session has to load.
    async fn unread(&self, ns: usize, session: Word, login: usize) -> Result<Vec<u64>, Error> {
        let context = context(ns, login, None);
        let caller = Caller { session: Some(self.ids.sessions[&session].clone()), ..context.caller };
        let Err(error) = note::Kinds::default().run(self.system, &Context { caller, ..context }).await else {
            return Ok(Vec::new());
        };
        let numbers = error.fields.get("unread").and_then(Value::as_array).ok_or(error.clone())?;
        Ok(numbers.iter().filter_map(Value::as_u64).collect())
    }
}

pub(crate) fn board_of(notes: &Notes, connected: &BTreeMap<Word, usize>) -> Board {
    let lines = |(name, it): (&Word, &Note)| {
        let (name, it) = (*name, it.clone());
        let readers = (0..LOGINS.len()).filter(|login| it.is_read_by(*login));
        readers.map(|login| (name, login, it.to, it.body, it.kind)).collect::<Vec<_>>()
    };
    let unread = connected.keys().filter(|session| notes.sessions.contains_key(session));
    let unread = unread.map(|session| (*session, notes.unread(*session))).collect();
    let holder = notes.editor.map(|(login, _)| login);
    Board { notes: notes.notes.iter().flat_map(lines).collect(), kinds: notes.kinds.clone(), unread, holder }
}
