//! Notebooks with their trash, and agents, as lines. What has no name is told by whose it is or was.

use std::collections::BTreeMap;

use memlog_actors::api::{AsOf, Error, Verb, agent, memory, trash};

use super::{
    super::{
        command::{AGENTS, BOOKS, ENTRIES, LOGINS, Word, context, word_of},
        plain::{Book, Shelf, layer_of},
    },
    Reader, found,
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

fn entry_line(label: &str, layer: Option<usize>, entry: Option<usize>, word: Option<Word>, version: u64) -> String {
    format!("{label}, of {layer:?}, {entry:?}: {word:?} version {version}")
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
            lines.extend(self.entries(ns, label, &it.id, None).await?.unwrap_or_default());
        }
        Ok(lines)
    }

    /// Every layer of a book; none if there is no such book, or was none then.
    async fn entries(
        &self,
        ns: usize,
        label: &str,
        id: &str,
        as_of: Option<AsOf>,
    ) -> Result<Option<Vec<String>>, Error> {
        let mut lines = Vec::new();
        for login in 0..LOGINS.len() {
            let (id, context) = (Some(id.to_owned()), context(ns, login, None));
            let all = memory::Entries { id: id.clone(), as_of, ..Default::default() };
            let Some(all) = found(all.run(self.system, &context).await)? else { return Ok(None) };
            for entry in all.entries {
                let one = memory::Read { id: id.clone(), entry: entry.name.clone(), as_of, ..Default::default() };
                let one = found(one.run(self.system, &context).await)?;
                let content = one.and_then(|it| it.entry.content).unwrap_or_default();
                let (name, layer) = (place(Some(&entry.name), &ENTRIES), layer_of(login));
                lines.push(entry_line(label, layer, name, word_of(&content), entry.version));
            }
        }
        Ok(Some(lines))
    }

    /// Books as they were at a position, as far as there are both they and their ids.
    pub(crate) async fn past_books(&self, ns: usize, seq: u64, books: &[Word]) -> Result<Vec<String>, Error> {
        let (mut lines, as_of) = (Vec::new(), Some(AsOf::Seq(seq)));
        for id in books.iter().filter_map(|book| self.ids.books.get(book)) {
            let one = memory::Get { id: Some(id.clone()), as_of, ..Default::default() };
            let Some(one) = self.read(ns, one).await? else { continue };
            let label = label(place(one.memory.name.as_deref(), &BOOKS));
            lines.extend(self.entries(ns, &label, id, as_of).await?.unwrap_or_default());
            lines.push(label);
        }
        lines.sort_unstable();
        Ok(lines)
    }
}

fn layers(label: &str, book: &Book) -> Vec<String> {
    let of = |layer: Option<usize>| {
        book.said(layer).map(move |(entry, text, version)| entry_line(label, layer, Some(entry), Some(text), version))
    };
    (0..LOGINS.len()).flat_map(|login| of(layer_of(login))).collect()
}

/// Books of a moment that are there still, without what was forgotten since.
pub(crate) fn books_of(then: &Shelf, now: &Shelf, books: &[Word]) -> Vec<String> {
    let mut lines = Vec::new();
    for book in books {
        let (Some(mut then), Some(now)) = (then.books.get(book).cloned(), now.books.get(book)) else { continue };
        then.entries.retain(|at, it| it.version > now.entries[at].forgotten);
        let label = label(then.name);
        lines.extend(layers(&label, &then));
        lines.push(label);
    }
    lines.sort_unstable();
    lines
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
        lines.extend(layers(&label, book));
        lines.push(label);
    }
    for (word, agent) in &shelf.agents {
        let attached: Vec<_> =
            agent.attached.iter().map(|(book, writes)| (called(book, &shelf.books[book]), *writes)).collect();
        lines.push(agent_line(agent.name, &attached));
        let mut shown = Vec::new();
        for word in std::iter::once(word).chain(agent.attached.iter().map(|(book, _)| book)) {
            let book = &shelf.books[word];
            let mut said: Vec<usize> = book.said(None).map(|(entry, ..)| entry).collect();
            said.sort_unstable_by_key(|entry| ENTRIES[*entry]);
            shown.extend(said.into_iter().map(|entry| (called(word, book), Some(entry))));
        }
        lines.push(brief_line(agent.name, &shown));
    }
    lines.sort_unstable();
    lines
}
