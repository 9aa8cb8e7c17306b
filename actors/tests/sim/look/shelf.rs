//! Notebooks with their trash, and agents, as lines. What has no name is told by whose it is or was.

use std::collections::BTreeMap;

use memlog_actors::api::{Error, agent, memory, trash};

use super::{
    super::{
        command::{AGENTS, BOOKS, ENTRIES, Word, word_of},
        plain::{Book, Shelf},
    },
    Reader,
};

fn place(name: Option<&str>, names: &[&str]) -> Option<usize> {
    name.map(|name| names.iter().position(|it| *it == name).unwrap_or_else(|| panic!("nobody said {name}")))
}

fn label(name: Option<usize>) -> String {
    format!("book {name:?}")
}

fn own(agent: usize) -> String {
    format!("own of {agent}")
}

fn entry_line(label: &str, entry: Option<usize>, word: Option<Word>, version: u64) -> String {
    format!("{label}, {entry:?}: {word:?} version {version}")
}

fn trash_line(name: Option<usize>, was_own: bool) -> String {
    format!("thrown away {name:?}, an agent's {was_own}")
}

fn agent_line(agent: usize, attached: &[(String, bool)]) -> String {
    format!("agent {agent} attaches {attached:?}")
}

fn attached_line(label: &str, by: usize, writes: bool) -> String {
    format!("{label} is attached by {by}, writes {writes}")
}

fn brief_line(agent: usize, entries: &[(String, Option<usize>)]) -> String {
    format!("agent {agent} is shown {entries:?}")
}

impl Reader<'_> {
    /// The shelf as the model would have it, but for the numbers of versions that are gone.
    pub(crate) async fn shelf(&mut self, ns: usize, known: &Shelf) -> Result<Vec<String>, Error> {
        let listed = self.read(ns, memory::List { limit: Some(500), ..Default::default() }).await?;
        let mut books: Vec<(String, memory::Memory)> = Vec::new();
        for it in listed.into_iter().flat_map(|it| it.memories) {
            let name = place(it.name.as_deref(), &BOOKS);
            if let Some(book) = name.and_then(|name| known.named(name)) {
                self.ids.books.insert(book, it.id.clone());
            }
            books.push((label(name), it));
        }
        let agents = self.read(ns, agent::List { limit: Some(500), ..Default::default() }).await?;
        let agents = agents.map(|it| it.agents).unwrap_or_default();
        for it in &agents {
            let name = place(Some(&it.name), &AGENTS).expect("it has a name");
            if let Some((word, _)) = known.agents.iter().find(|(_, agent)| agent.name == name) {
                self.ids.books.insert(*word, it.memory_id.clone());
                self.ids.agents.insert(*word, it.id.clone());
            }
            let one = memory::Get { id: Some(it.memory_id.clone()), ..Default::default() };
            let one = self.read(ns, one).await?.expect("an agent's own is there").memory;
            assert_eq!((one.agent_id.as_ref(), one.name.as_ref()), (Some(&it.id), None), "{it:?}");
            books.push((own(name), one));
        }
        let mut lines = self.books(ns, &books).await?;
        let called: BTreeMap<String, String> = books.into_iter().map(|(label, it)| (it.id, label)).collect();
        for it in &agents {
            let name = place(Some(&it.name), &AGENTS).expect("it has a name");
            let attached: Vec<_> = it.memories.iter().map(|at| (called[&at.memory].clone(), at.writes)).collect();
            lines.push(agent_line(name, &attached));
            let brief = self.read(ns, agent::Brief { agent: it.id.clone(), ..Default::default() }).await?;
            let entries = brief.into_iter().flat_map(|it| it.entries);
            let entries: Vec<_> =
                entries.map(|at| (called[&at.memory].clone(), place(Some(&at.name), &ENTRIES))).collect();
            lines.push(brief_line(name, &entries));
        }
        let thrown = self.read(ns, trash::List { limit: Some(500), ..Default::default() }).await?;
        for it in thrown.into_iter().flat_map(|it| it.items) {
            lines.push(trash_line(place(it.name.as_deref(), &BOOKS), it.kind == trash::Kind::AgentMemory));
        }
        lines.sort_unstable();
        Ok(lines)
    }

    async fn books(&self, ns: usize, books: &[(String, memory::Memory)]) -> Result<Vec<String>, Error> {
        let mut lines = Vec::new();
        for (label, it) in books {
            lines.push(label.clone());
            let by = |agent: &agent::AttachedTo| place(Some(&agent.name), &AGENTS).expect("it has a name");
            lines.extend(it.attached_to.iter().map(|agent| attached_line(label, by(agent), agent.writes)));
            let entries = memory::Entries { id: Some(it.id.clone()), ..Default::default() };
            for entry in self.read(ns, entries).await?.into_iter().flat_map(|it| it.entries) {
                let one = memory::Read { id: Some(it.id.clone()), entry: entry.name.clone(), ..Default::default() };
                let content = self.read(ns, one).await?.and_then(|it| it.entry.content).unwrap_or_default();
                lines.push(entry_line(label, place(Some(&entry.name), &ENTRIES), word_of(&content), entry.version));
            }
        }
        Ok(lines)
    }
}

pub(crate) fn shelf_of(shelf: &Shelf) -> Vec<String> {
    let mut lines = Vec::new();
    let called = |word: &Word, book: &Book| shelf.agents.get(word).map_or_else(|| label(book.name), |it| own(it.name));
    for (word, book) in &shelf.books {
        if book.trashed.is_some() {
            lines.push(trash_line(book.name, book.name.is_none()));
            continue;
        }
        let label = called(word, book);
        for agent in shelf.agents.values() {
            let attached = agent.attached.iter().filter(|(book, _)| book == word);
            lines.extend(attached.map(|(_, writes)| attached_line(&label, agent.name, *writes)));
        }
        let said = book.entries.iter().filter(|(_, (text, _))| text.is_some());
        lines.extend(said.map(|(entry, (text, version))| entry_line(&label, Some(*entry), *text, *version)));
        lines.push(label);
    }
    for (word, agent) in &shelf.agents {
        let attached: Vec<_> =
            agent.attached.iter().map(|(book, writes)| (called(book, &shelf.books[book]), *writes)).collect();
        lines.push(agent_line(agent.name, &attached));
        let mut shown = Vec::new();
        for word in std::iter::once(word).chain(agent.attached.iter().map(|(book, _)| book)) {
            let book = &shelf.books[word];
            let said = book.entries.iter().filter(|(_, (text, _))| text.is_some()).map(|(entry, _)| *entry);
            let mut said: Vec<usize> = said.collect();
            said.sort_unstable_by_key(|entry| ENTRIES[*entry]);
            shown.extend(said.into_iter().map(|entry| (called(word, book), Some(entry))));
        }
        lines.push(brief_line(agent.name, &shown));
    }
    lines.sort_unstable();
    lines
}
