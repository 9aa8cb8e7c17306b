//! `memory.search`: the entries of both layers whose words begin with the query's.

use std::{cmp::Reverse, sync::Arc};

use super::{
    super::{System, lookup::panicked, validate},
    room::{Asked, Seen},
    shown::listed,
};
use crate::{
    api::{
        Answer, Context, Error,
        memory::{EntriesPage, Search},
    },
    domain::Place,
    view::notebook::{Entry, words::Query},
};

impl System {
    /// `memory.search`
    pub async fn memory_search(&self, context: &Context, request: Search) -> Result<Answer<EntriesPage>, Error> {
        validate::context(&self.inner, context)?;
        let asked = Asked::memory(request.id.as_ref(), request.name.as_ref())?;
        validate::query(&request.query)?;
        let limit = validate::hits(request.limit)?;
        let moment = self.moment(request.as_of)?;
        let room = self.room(context).await?.ok_or_else(|| asked.missing("memory"))?;
        let memory = self.memory_at(&room, asked, moment).await?;
        room.acting.may_read(&memory)?;
        let layers = room.acting.layers(&memory).into_iter();
        let layers: Vec<_> = layers.map(|user| self.layer(memory.slot, user.as_ref())).collect::<Result<_, _>>()?;
        let notebook = room.notebook(memory.id);
        let seen = self.entries_at(&notebook, moment).await?;
        let system = self.clone();
        let query = Query::new(&request.query);
        let found = crate::blocking::run(move || {
            let entries: Vec<Arc<Entry>> =
                seen.read(|entries| layers.iter().flat_map(|layer| entries.layer(*layer).cloned()).collect());
            system.best(&notebook, &seen, &entries, &query, limit)
        });
        Ok(Answer::fresh(found.await.map_err(panicked)??))
    }

    /// Best first; of those as good, by name, the user's before the account's.
    fn best(
        &self,
        notebook: &Place,
        seen: &Seen,
        entries: &[Arc<Entry>],
        query: &Query,
        limit: usize,
    ) -> Result<EntriesPage, Error> {
        let counted = seen.read(|entries| entries.searched_bytes());
        let mut ranked = Vec::new();
        for entry in entries {
            // Forgotten meanwhile: it is not there.
            let Some(words) = entry.words(|| self.text(notebook, entry), &counted)? else { continue };
            if let Some(rank) = query.rank(words) {
                ranked.push((Reverse(rank), entry));
            }
        }
        ranked.sort_by(|(one, first), (other, second)| one.cmp(other).then_with(|| first.name.cmp(&second.name)));
        let mut page = EntriesPage { entries: Vec::new() };
        for (_, entry) in ranked {
            if page.entries.len() == limit {
                break;
            }
            if let Some(content) = self.text(notebook, entry)? {
                page.entries.push(listed(entry, Some(content)));
            }
        }
        Ok(page)
    }

    /// An entry's text; none if it was forgotten.
    fn text(&self, notebook: &Place, entry: &Entry) -> Result<Option<String>, Error> {
        Ok(self.saved(notebook.key, entry.at)?.map(|saved| saved.content))
    }
}
