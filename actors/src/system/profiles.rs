//! `profile.get`, `profile.list`, `profile.delete`.

use memlog_events::{batch::ListKind, ids::Micros};
use uuid::Uuid;

use super::{
    System,
    command::{Before, Begun, refused},
    cursor::Cursor,
    lookup::{broken, gone, uuid},
    past::Moment,
    validate,
};
use crate::{
    api::{
        Answer, Context, Done, Error, Time,
        profile::{Delete, Get, Got, List, Listed, Profile},
    },
    domain::{Place, profile},
    view::catalog::Catalog,
};

/// A profile at a glance.
fn glance(catalog: &Catalog, now: Micros) -> Profile {
    let counts = catalog.counts(now);
    Profile {
        name: catalog.name.clone(),
        memories: counts.memories,
        messages: counts.messages,
        sessions: counts.sessions,
        speakers: counts.speakers,
        created_at: catalog.created_at.into(),
        updated_at: catalog.updated_at.into(),
    }
}

impl System {
    /// `profile.get`
    pub async fn profile_get(&self, context: &Context, request: Get) -> Result<Answer<Got>, Error> {
        validate::context(&self.inner, context)?;
        validate::profile(&request.profile)?;
        let moment = self.moment(request.as_of)?;
        if let Moment::Past(_) = moment {
            let place = self.inner.profile(context, &request.profile)?;
            let profile = self.glance_at(place, moment).await?;
            let profile = profile.ok_or_else(|| Error::not_found("profile", &request.profile))?;
            return Ok(Answer::fresh(Got { profile }));
        }
        let once = match self.begin::<()>(context).await? {
            Begun::Before(before) => {
                let profile = self.profile_before(context, request.profile, &before).await?;
                return Ok(Answer { reply: Got { profile }, replayed: true });
            }
            Begun::Now(once) => once,
        };
        let place = self.open_profile(context, &request.profile).await?;
        if once.key.is_some() {
            let note = super::command::Note(());
            self.inner.profiles.execute(place, note, once.key).await.map_err(refused)?;
        }
        // Deleted by somebody else already: it creates what is not there, so that is no answer.
        let profile = self.glance_at(place, Moment::Now).await?.ok_or_else(gone)?;
        Ok(Answer::fresh(Got { profile }))
    }

    /// The profile of a replayed reply: as it was then, or by its name alone if that one is gone.
    async fn profile_before(&self, context: &Context, name: String, before: &Before<()>) -> Result<Profile, Error> {
        if let Some(place) = self.inner.find_profile(context, &name)?
            && let Some(profile) = self.glance_at(place, Moment::Past(before.at)).await?
        {
            return Ok(profile);
        }
        let (memories, messages, sessions, speakers) = (0, 0, 0, 0);
        let (created_at, updated_at) = (before.time.into(), before.time.into());
        Ok(Profile { name, memories, messages, sessions, speakers, created_at, updated_at })
    }

    /// None if it was not there then.
    async fn glance_at(&self, place: Place, moment: Moment) -> Result<Option<Profile>, Error> {
        let now = self.now();
        let seen = self.views_at(place, moment).await?;
        Ok(seen.read(|state| (!state.catalog.name.is_empty()).then(|| glance(&state.catalog, now))))
    }

    /// `profile.list`
    pub async fn profile_list(&self, context: &Context, request: List) -> Result<Answer<Listed>, Error> {
        validate::context(&self.inner, context)?;
        let limit = validate::page(request.limit)?;
        let cursor = request.cursor.as_deref().map(Cursor::parse).transpose()?;
        // The order is that of creation, which nothing changes: pages of now need not be read as of the first one.
        let moment = self.moment_of(cursor.as_ref(), request.as_of)?;
        let mut before = cursor.as_ref().and_then(|cursor| uuid(&cursor.id));
        let (mut profiles, mut last) = (Vec::new(), None);
        loop {
            let rows = self
                .inner
                .environment
                .log
                .listed(self.inner.namespace(context), ListKind::Profiles, before, limit + 1)
                .map_err(broken)?;
            let Some(oldest) = rows.last() else { break };
            before = Some(oldest.id);
            for row in rows {
                let place = Place { key: row.stream, scope_slot: row.keys.scope };
                let Some(profile) = self.glance_at(place, moment).await? else { continue };
                // One more than shown: only then is this not the last page.
                if profiles.len() == limit {
                    let cursor = last.map(|id| cursor_after(moment.pinned(), id));
                    return Ok(Answer::fresh(Listed { profiles, cursor }));
                }
                profiles.push(profile);
                last = Some(row.id);
            }
        }
        Ok(Answer::fresh(Listed { profiles, cursor: None }))
    }

    /// `profile.delete`
    pub async fn profile_delete(&self, context: &Context, request: Delete) -> Result<Answer<Done>, Error> {
        validate::context(&self.inner, context)?;
        validate::profile(&request.profile)?;
        let once = match self.begin::<()>(context).await? {
            Begun::Before(_) => return Ok(Answer { reply: Done {}, replayed: true }),
            Begun::Now(once) => once,
        };
        match self.inner.find_profile(context, &request.profile)? {
            Some(place) => {
                self.inner.profiles.execute(place, profile::Delete, once.key).await.map_err(refused)?;
                self.inner.registry.forget(place.key.scope);
            }
            None => self.nothing_to_do(&once).await?,
        }
        Ok(Answer::fresh(Done {}))
    }
}

fn cursor_after(seq: u64, id: Uuid) -> String {
    Cursor { seq, micros: 0, id: id.to_string() }.to_string()
}

impl From<Time> for Micros {
    fn from(time: Time) -> Self {
        time.0
    }
}
