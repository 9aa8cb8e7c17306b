//! Notes.

use memlog_actors::api::{Error, Verb, note};

use super::{
    super::{
        command::{LOGINS, Word, context, word_of},
        plain::Notes,
    },
    Reader, found,
};

impl Reader<'_> {
    pub(crate) async fn notes(&mut self, ns: usize) -> Result<Vec<(Word, usize, Word)>, Error> {
        let mut all = Vec::new();
        for login in 0..LOGINS.len() {
            let context = context(ns, Some(login), None);
            let listed = found(note::MemoryList::default().run(self.system, &context).await)?;
            let listed: Vec<_> = listed.into_iter().flat_map(|it| it.notes).collect();
            if listed.is_empty() {
                continue;
            }
            let load = note::MemoryLoad { ids: Some(listed.iter().map(|it| it.id).collect()), ..Default::default() };
            for it in load.run(self.system, &context).await?.reply.notes {
                let name = word_of(&it.note.name.unwrap_or_default()).expect("a note's name has a word");
                self.ids.notes.insert(name, it.note.id);
                all.push((name, login, word_of(&it.body.unwrap_or_default()).expect("a note's body has a word")));
            }
        }
        all.sort_unstable();
        Ok(all)
    }
}

pub(crate) fn notes_of(notes: &Notes) -> Vec<(Word, usize, Word)> {
    notes.notes.iter().map(|(name, (login, body))| (*name, *login, *body)).collect()
}
