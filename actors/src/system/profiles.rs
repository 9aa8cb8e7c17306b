//! `profile.get`, `profile.list`, `profile.delete`.

use memlog_events::{batch::ListKind, ids::Micros};
use uuid::Uuid;

use super::{
    System,
    command::{Begun, refused},
    cursor::Cursor,
    lookup::{broken, uuid},
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
        let replayed = match self.begin::<()>(context).await? {
            Begun::Before(_) => true,
            Begun::Now(once) => {
                let place = self.open_profile(context, &request.profile).await?;
                if once.key.is_some() {
                    let note = super::command::Note(());
                    self.inner.profiles.execute(place, note, once.key).await.map_err(refused)?;
                }
                false
            }
        };
        let place = self.inner.profile(context, &request.profile)?;
        let profile = self.glance_at(place, Moment::Now).await?;
        let profile = profile.ok_or_else(|| Error::not_found("profile", &request.profile))?;
        Ok(Answer { reply: Got { profile }, replayed })
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
        // The order is that of creation, which nothing changes: no page needs to be read as of the first one.
        let moment = self.moment(request.as_of)?;
        let mut before = cursor.as_ref().and_then(|cursor| uuid(&cursor.id));
        let seq = self.position_of(moment).0;
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
                if profiles.len() == limit {
                    return Ok(Answer::fresh(Listed { profiles, cursor: last.map(|id| cursor_after(seq, id)) }));
                }
                let place = Place { key: row.stream, scope_slot: row.keys.scope };
                if let Some(profile) = self.glance_at(place, moment).await? {
                    profiles.push(profile);
                    last = Some(row.id);
                }
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
        // Nothing is written for one that is not there, so a repeat of this finds whatever is there then: also nothing.
        if let Some(place) = self.inner.find_profile(context, &request.profile)? {
            self.inner.profiles.execute(place, profile::Delete, once.key).await.map_err(refused)?;
            self.inner.registry.forget(place.key.scope);
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
