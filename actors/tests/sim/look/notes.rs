//! Notes and their kinds.

use memlog_actors::api::{Error, Verb, note};

use super::{
    super::{
        command::{ADDED, LOGINS, WEIGHTS, Word, context, word_of},
        plain::{Note, Notes},
    },
    Reader, found,
};

/// A note as it is loaded: its name, whose it is, what it says, its kind.
type Line = (Word, usize, Word, usize);

/// The notes of a namespace as they are read.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Board {
    notes: Vec<Line>,
    kinds: Vec<(usize, Word)>,
}

fn kind_of(key: &str) -> usize {
    WEIGHTS.iter().position(|it| *it == key).unwrap_or_else(|| panic!("nobody added {key}"))
}

impl Reader<'_> {
    pub(crate) async fn board(&mut self, ns: usize) -> Result<Board, Error> {
        let mut board = Board::default();
        for login in 0..LOGINS.len() {
            let context = context(ns, Some(login), None);
            let listed = found(note::MemoryList::default().run(self.system, &context).await)?;
            let listed: Vec<_> = listed.into_iter().flat_map(|it| it.notes).collect();
            if listed.is_empty() {
                continue;
            }
            let load = note::MemoryLoad { ids: Some(listed.iter().map(|it| it.id).collect()), ..Default::default() };
            let loaded = load.run(self.system, &context).await?.reply.notes;
            // What was added weighs as much as the last.
            let weighs = |it: &note::Full| kind_of(&it.note.kind_key).min(ADDED - 1);
            assert!(loaded.iter().map(weighs).is_sorted(), "not in the order of their weight: {loaded:?}");
            for it in loaded {
                let name = word_of(&it.note.name.unwrap_or_default()).expect("a note's name has a word");
                let body = word_of(&it.body.unwrap_or_default()).expect("a note's body has a word");
                self.ids.notes.insert(name, it.note.id);
                board.notes.push((name, login, body, kind_of(&it.note.kind_key)));
            }
        }
        board.notes.sort_unstable();
        let kinds = self.read(ns, note::Kinds::default()).await?.into_iter().flat_map(|it| it.kinds);
        let title = |it: &note::Kind| word_of(&it.title).map(|title| (kind_of(&it.kind_key), title));
        board.kinds = kinds.filter_map(|it| title(&it)).collect();
        Ok(board)
    }
}

pub(crate) fn board_of(notes: &Notes) -> Board {
    let line = |(name, it): (&Word, &Note)| (*name, it.login, it.body, it.kind);
    Board { notes: notes.notes.iter().map(line).collect(), kinds: notes.kinds.clone() }
}
