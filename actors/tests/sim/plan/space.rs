//! What is done in a namespace: notebooks, agents, notes.

use super::{
    super::{
        command::{ACCOUNT, ADDED, AGENTS, BOOKS, Command, ENTRIES, GROUP, LOGINS, NAMESPACES, WEIGHTS, Word},
        plain::layer_of,
    },
    Plan,
};

impl Plan<'_> {
    pub(super) fn on_the_shelf(&mut self) -> Option<Command> {
        let (ns, name, entry) = (self.one(NAMESPACES.len()), self.one(BOOKS.len()), self.one(ENTRIES.len()));
        let shelf = &self.world.shelves[ns];
        let Some(living) = shelf.named(name).filter(|_| !self.random.once_in(10)) else {
            return Some(Command::Create { ns, name, book: self.word() });
        };
        let told = |trashed: bool| -> Vec<Word> {
            let books = shelf
                .books
                .iter()
                .filter(|(id, book)| book.trashed.is_some() == trashed && self.ids.books.contains_key(*id));
            books.map(|(id, _)| *id).collect()
        };
        let (there, thrown) = (told(false), told(true));
        // Each user has a layer over the account's.
        let login = if self.random.once_in(2) { ACCOUNT } else { self.one(LOGINS.len()) };
        let is = shelf.books[&living].entries.get(&(layer_of(login), entry)).map_or(1, |entry| entry.version);
        let version = if self.random.once_in(2) { Some(is + u64::from(self.random.once_in(4))) } else { None };
        Some(match self.random.weighted(&[8, 3, 2, 2, 1, 1, 2]) {
            0 => Command::Save { ns, login, name, entry, word: self.word(), version },
            1 => Command::ForgetEntry { ns, login, name, entry, version },
            5 => Command::Adopt { ns, name, book: self.word() },
            6 => Command::Rename { ns, book: *self.random.pick(&there)?, name },
            2 => Command::Trash { ns, book: *self.random.pick(&there)? },
            3 => Command::Restore { ns, book: *self.random.pick(&thrown)? },
            _ => Command::Purge { ns, book: *self.random.pick(&thrown)? },
        })
    }

    pub(super) fn of_agents(&mut self) -> Option<Command> {
        let (ns, name, entry) = (self.one(NAMESPACES.len()), self.one(AGENTS.len()), self.one(ENTRIES.len()));
        let shelf = &self.world.shelves[ns];
        let told = |book: &Word| self.ids.books.contains_key(book) && shelf.books[book].trashed.is_none();
        let there: Vec<Word> = shelf.books.keys().filter(|book| told(book)).copied().collect();
        let agents: Vec<Word> = shelf.agents.keys().filter(|it| self.ids.agents.contains_key(*it)).copied().collect();
        let (choice, books) = (self.random.weighted(&[2, 4, 5, 2, 1, 1]), self.some_books(&there));
        if choice == 4 {
            return Some(Command::Engage { ns, name, agent: self.word() });
        }
        let Some(agent) = self.random.pick(&agents).copied().filter(|_| choice > 0) else {
            return Some(Command::Hire { ns, name, agent: self.word(), books });
        };
        Some(match choice {
            1 => Command::Attach { ns, agent, books },
            2 => {
                let attached: Vec<Word> = shelf.agents[&agent].attached.iter().map(|(book, _)| *book).collect();
                let of = [&attached, &there][self.random.weighted(&[3, 1])];
                let book = self.random.pick(of).copied().filter(|_| !self.random.once_in(3)).unwrap_or(agent);
                Command::Write { ns, agent, book, entry, word: self.word() }
            }
            5 => Command::Retitle { ns, agent, name },
            _ => Command::Dismiss { ns, agent },
        })
    }

    /// Up to two of these, in any order.
    fn some_books(&mut self, of: &[Word]) -> Vec<(Word, bool)> {
        let mut books: Vec<(Word, bool)> = Vec::new();
        for _ in 0..self.one(3) {
            let Some(book) = self.random.pick(of).copied() else { break };
            // One that is named twice is refused.
            if books.iter().all(|(other, _)| *other != book) {
                books.push((book, self.random.once_in(2)));
            }
        }
        books
    }

    pub(super) fn of_notes(&mut self) -> Option<Command> {
        let (ns, login) = (self.one(NAMESPACES.len()), self.one(LOGINS.len()));
        let told = self.world.notes[ns].notes.keys().filter(|note| self.ids.notes.contains_key(*note));
        let told: Vec<Word> = told.copied().collect();
        let (note, kind) = (self.random.pick(&told).copied(), self.note_kind(ns));
        let to = self.maybe(ACCOUNT + 1).map(|to| if to == ACCOUNT { GROUP } else { to });
        Some(match (self.random.weighted(&[4, 4, 2, 1, 3, 2, 1, 3, 3, 2, 1]), note) {
            (1, Some(note)) => Command::Edit { ns, login, note, body: self.word(), kind },
            (2, Some(note)) => Command::Unpin { ns, login, note },
            (3, _) => Command::AddKind { ns, kind: ADDED + self.one(WEIGHTS.len() - ADDED), title: self.word() },
            (4, _) => Command::Post { ns, login, note: self.word(), to, kind },
            (5, Some(note)) => Command::Move { ns, login, note, to, kind },
            (6, Some(note)) => Command::Strike { ns, login, note },
            (7, _) => Command::Connect { ns, login, session: self.word() },
            (8, _) => Command::Load { ns, login },
            (9, _) if self.random.once_in(4) => Command::OpenEditor { ns, login },
            (9, _) => match self.world.notes[ns].editor {
                Some((holder, _)) => Command::CloseEditor { ns, login: holder },
                None => Command::OpenEditor { ns, login },
            },
            (10, Some(note)) => match self.world.notes[ns].editor {
                Some((holder, _)) => Command::Move { ns, login: holder, note, to, kind },
                None => Command::CloseEditor { ns, login },
            },
            _ => Command::Pin { ns, login, note: self.word(), kind },
        })
    }

    /// Now and then a session, mostly of whoever sends it.
    pub(crate) fn session(&mut self, command: &Command) -> Option<Word> {
        if !matches!(command, Command::Load { .. }) && !self.random.once_in(3) {
            return None;
        }
        let anyones = self.random.once_in(20);
        let sessions = self.world.notes[command.namespace()].sessions.iter();
        let sessions = sessions.filter(|(session, _)| self.ids.sessions.contains_key(session));
        let sessions: Vec<Word> = sessions
            .filter(|(_, (login, _))| anyones || *login == command.login())
            .map(|(session, _)| *session)
            .collect();
        // Nobody was ever told of 0.
        let none = self.random.once_in(40).then_some(0);
        none.or(self.random.pick(&sessions).copied())
    }

    /// A kind of notes, seldom one that nobody added.
    fn note_kind(&mut self, ns: usize) -> Option<usize> {
        let kind = self.maybe(WEIGHTS.len())?;
        Some(kind).filter(|kind| self.world.notes[ns].is_kind(*kind) || self.random.once_in(4))
    }
}
