//! `memory.save`, `memory.read`, `memory.forget`, `memory.entries`, `memory.history`.

use super::{
    super::{
        System,
        command::{Begun, refused},
        lookup::by,
        validate,
    },
    room::{Asked, Room},
    shown::listed,
};
use crate::{
    api::{
        Answer, Context, Done, Error, Time,
        memory::{Entries, EntriesPage, Entry, Forget, History, OneEntry, Read, Save, Version, Versions},
    },
    domain::{
        Place, Rejection,
        notebook::{EntryName, ForgetEntry, SaveEntry, SavedEntry},
    },
    entity::Failure,
    view::notebook::{Kept, Memory},
};

fn no_entry(name: &str) -> Error {
    Error::not_found("entry", name)
}

impl System {
    /// `memory.save`
    pub async fn memory_save(&self, context: &Context, request: Save) -> Result<Answer<OneEntry>, Error> {
        validate::context(&self.inner, context)?;
        let asked = Asked::memory(request.id.as_ref(), request.name.as_ref())?;
        validate::entry(&request.entry)?;
        validate::content("content", &request.content)?;
        validate::description(request.description.as_deref())?;
        let once = match self.begin::<SavedEntry>(context).await? {
            Begun::Before(before) => {
                let room = self.room_before(context).await?;
                let entry = self.just_saved(&room, before.answer, request.entry, before.time.into()).await?;
                return Ok(Answer { reply: OneEntry { entry }, replayed: true });
            }
            Begun::Now(once) => once,
        };
        let (room, memory) = self.writable(context, asked).await?;
        let Save { entry: name, content, description, version: expected, .. } = request.clone();
        let entry = EntryName { notebook: memory.slot, user: room.acting.user.clone(), name };
        let command = SaveEntry { entry, description, content, expected, by: by(context) };
        let saved = self.inner.notebooks.execute(room.notebook(memory.id), command, once.key).await.map_err(refused)?;
        let entry = self.just_saved(&room, saved.answer, request.entry, self.now().into()).await?;
        Ok(Answer::fresh(OneEntry { entry }))
    }

    /// The memory of a command on its entries.
    async fn writable(&self, context: &Context, asked: Asked<'_>) -> Result<(Room, Memory), Error> {
        let room = self.room(context).await?.ok_or_else(|| asked.missing("memory"))?;
        let memory = room.roster.read(|roster| room.acting.memory(roster, asked))?;
        room.acting.may_write(&memory)?;
        Ok((room, memory))
    }

    /// The version that a command saved, whatever was saved or forgotten since.
    async fn just_saved(&self, room: &Room, saved: SavedEntry, name: String, time: Time) -> Result<Entry, Error> {
        let notebook = room.notebook(saved.memory);
        let view = self.inner.shelf.entries(notebook.key, self.now()).await.map_err(super::room::unread)?;
        let kept = view.read(|entries| entries.kept(saved.entry, saved.version));
        let told = kept.map(|kept| self.saved(notebook.key, kept.at)).transpose()?.flatten();
        let user_id = match &told {
            Some(told) => told.user_id.clone(),
            None => room.acting.user.clone(),
        };
        let told = kept.map(|kept| self.told(notebook.key, &kept)).transpose()?;
        let (content, description, updated_by) =
            told.map_or((None, None, None), |it| (it.content, it.description, it.by));
        let updated_at = kept.map_or(time, |kept| kept.saved_at.into());
        Ok(Entry { name, description, content, version: saved.version, updated_at, updated_by, user_id })
    }

    /// `memory.read`
    pub async fn memory_read(&self, context: &Context, request: Read) -> Result<Answer<OneEntry>, Error> {
        validate::context(&self.inner, context)?;
        let asked = Asked::memory(request.id.as_ref(), request.name.as_ref())?;
        validate::entry(&request.entry)?;
        let moment = self.moment(request.as_of)?;
        let room = self.room(context).await?.ok_or_else(|| asked.missing("memory"))?;
        let memory = self.memory_at(&room, asked, moment).await?;
        room.acting.may_read(&memory)?;
        let notebook = room.notebook(memory.id);
        let seen = self.entries_at(&notebook, moment).await?;
        for layer in room.acting.layers(&memory) {
            let address = self.address(memory.slot, layer.as_ref(), &request.entry)?;
            let Some(entry) = seen.read(|entries| entries.get(address).cloned()) else { continue };
            // Forgotten between the two looks: it is not there.
            if let Some(saved) = self.saved(notebook.key, entry.at)? {
                return Ok(Answer::fresh(OneEntry { entry: listed(&entry, Some(saved.content)) }));
            }
        }
        Err(no_entry(&request.entry))
    }

    /// `memory.forget`
    pub async fn memory_forget(&self, context: &Context, request: Forget) -> Result<Answer<Done>, Error> {
        validate::context(&self.inner, context)?;
        let asked = Asked::memory(request.id.as_ref(), request.name.as_ref())?;
        validate::entry(&request.entry)?;
        let once = match self.begin::<()>(context).await? {
            Begun::Before(_) => return Ok(Answer { reply: Done {}, replayed: true }),
            Begun::Now(once) => once,
        };
        let (room, memory) = self.writable(context, asked).await?;
        let entry = EntryName { notebook: memory.slot, user: room.acting.user.clone(), name: request.entry.clone() };
        let command = ForgetEntry { entry, expected: request.version, by: by(context) };
        let notebook = room.notebook(memory.id);
        match self.inner.notebooks.execute(notebook, command, once.key).await {
            Ok(_) => {}
            Err(Failure::Rejected(Rejection::NoEntry)) => return Err(no_entry(&request.entry)),
            Err(failure) => return Err(refused(failure)),
        }
        // What it said leaves the view now, and not when somebody next reads.
        self.inner.shelf.entries(notebook.key, self.now()).await.map_err(super::room::unread)?;
        Ok(Answer::fresh(Done {}))
    }

    /// `memory.entries`
    pub async fn memory_entries(&self, context: &Context, request: Entries) -> Result<Answer<EntriesPage>, Error> {
        validate::context(&self.inner, context)?;
        let asked = Asked::memory(request.id.as_ref(), request.name.as_ref())?;
        let moment = self.moment(request.as_of)?;
        let room = self.room(context).await?.ok_or_else(|| asked.missing("memory"))?;
        let memory = self.memory_at(&room, asked, moment).await?;
        room.acting.may_read(&memory)?;
        let layer = self.layer(memory.slot, room.acting.user.as_ref())?;
        let seen = self.entries_at(&room.notebook(memory.id), moment).await?;
        let entries = seen.read(|entries| entries.layer(layer).map(|entry| listed(entry, None)).collect());
        Ok(Answer::fresh(EntriesPage { entries }))
    }

    /// `memory.history`
    pub async fn memory_history(&self, context: &Context, request: History) -> Result<Answer<Versions>, Error> {
        validate::context(&self.inner, context)?;
        let asked = Asked::memory(request.id.as_ref(), request.name.as_ref())?;
        validate::entry(&request.entry)?;
        let moment = self.moment(request.as_of)?;
        let room = self.room(context).await?.ok_or_else(|| asked.missing("memory"))?;
        let memory = self.memory_at(&room, asked, moment).await?;
        room.acting.may_read(&memory)?;
        let seen = self.entries_at(&room.notebook(memory.id), moment).await?;
        let mut found: Vec<(bool, Vec<Kept>)> = Vec::new();
        for layer in room.acting.layers(&memory) {
            let address = self.address(memory.slot, layer.as_ref(), &request.entry)?;
            found.push(seen.read(|entries| (entries.get(address).is_some(), entries.versions(address).to_vec())));
        }
        // As a read finds it: the user's, else the account's; of what is there in neither, what was forgotten first.
        let living = found.iter().position(|(living, _)| *living);
        let shown = living.or_else(|| found.iter().position(|(_, versions)| !versions.is_empty()));
        let versions = shown.map(|at| std::mem::take(&mut found[at].1)).ok_or_else(|| no_entry(&request.entry))?;
        let versions = versions.iter().map(|kept| self.version(&room.notebook(memory.id), kept));
        Ok(Answer::fresh(Versions { versions: versions.collect::<Result<_, _>>()? }))
    }

    fn version(&self, notebook: &Place, kept: &Kept) -> Result<Version, Error> {
        let told = self.told(notebook.key, kept)?;
        Ok(Version {
            version: kept.version,
            content: told.content,
            description: told.description,
            updated_at: kept.saved_at.into(),
            updated_by: told.by,
        })
    }
}
