//! `speaker.add`, `speaker.list`, `speaker.remove`, and how a name becomes a registration.

use std::collections::HashMap;

use memlog_events::ids::{Micros, SpeakerId};

use super::{
    System,
    command::{Begun, refused},
    lookup::by,
    past::{Moment, Seen},
    records::is_record,
    validate,
};
use crate::{
    api::{
        Answer, Context, Done, Error,
        error::Kind,
        speaker::{Add, Added, List, Listed, Remove, Speaker},
    },
    domain::{
        Place, Rejection,
        profile::{AddSpeaker, Registered, RemoveSpeaker},
    },
    entity::Failure,
    view::{State, catalog::Catalog},
};

/// The registration to write under: an unregistered name is 400 and nothing is stored.
pub(crate) fn registered(seen: &Seen, name: &str) -> Result<SpeakerId, Error> {
    seen.read(|state| registered_in(&state.catalog, name))
}

/// The same, of a catalog.
pub(crate) fn registered_in(catalog: &Catalog, name: &str) -> Result<SpeakerId, Error> {
    let name = validate::speaker(name)?;
    catalog.speaker_id(&name).ok_or_else(|| {
        let message = format!("speaker '{name}' is not registered in this profile; register it with speaker.add first");
        Error::invalid("speaker", message).with("speaker", name.as_str())
    })
}

/// The registration to filter by: an unregistered name is 404.
pub(crate) fn filtered(state: &State, name: &str) -> Result<SpeakerId, Error> {
    let name = validate::speaker(name)?;
    state.catalog.speaker_id(&name).ok_or_else(|| unknown(&name))
}

fn unknown(name: &str) -> Error {
    Error::new(Kind::NotFound, format!("speaker '{name}' is not registered in this profile")).with("speaker", name)
}

impl System {
    /// `speaker.add`
    pub async fn speaker_add(&self, context: &Context, request: Add) -> Result<Answer<Added>, Error> {
        validate::context(&self.inner, context)?;
        validate::profile(&request.profile)?;
        let name = validate::speaker(&request.speaker)?;
        if name == "me" {
            let message = "'me' is the assistant itself: it needs no registration";
            return Err(Error::invalid("speaker", message).with("speaker", name));
        }
        let once = match self.begin::<Registered>(context).await? {
            Begun::Before(before) => {
                let speaker = match self.inner.find_profile(context, &request.profile)? {
                    Some(place) => self.speaker_at(place, Moment::Past(before.at), &name).await?,
                    None => None,
                };
                // Removed since, it is hidden from reads of the past as well: only what the client said can be said again.
                let speaker =
                    speaker.unwrap_or_else(|| Speaker { speaker: name, memories: 0, created_at: before.time.into() });
                return Ok(Answer { reply: Added { speaker }, replayed: true });
            }
            Begun::Now(once) => once,
        };
        let place = self.open_profile(context, &request.profile).await?;
        let speakers_max = self.limits().speakers_max;
        let command = AddSpeaker { name: name.clone(), speakers_max, by: by(context) };
        self.inner.profiles.execute(place, command, once.key).await.map_err(refused)?;
        let speaker = self.speaker_at(place, Moment::Now, &name).await?;
        Ok(Answer::fresh(Added { speaker: speaker.ok_or_else(|| unknown(&name))? }))
    }

    async fn speaker_at(&self, place: Place, moment: Moment, name: &str) -> Result<Option<Speaker>, Error> {
        let seen = self.views_at(place, moment).await?;
        let now = self.now();
        Ok(seen.read(|state| speakers(state, now).into_iter().find(|speaker| speaker.speaker == name)))
    }

    /// `speaker.list`
    pub async fn speaker_list(&self, context: &Context, request: List) -> Result<Answer<Listed>, Error> {
        validate::context(&self.inner, context)?;
        validate::profile(&request.profile)?;
        let moment = self.moment(request.as_of)?;
        let place = self.inner.profile(context, &request.profile)?;
        let seen = self.views_at(place, moment).await?;
        let now = self.now();
        let speakers = seen.read(|state| speakers(state, now));
        let count = speakers.len() as u64;
        Ok(Answer::fresh(Listed { speakers, count, limit: self.limits().speakers_max }))
    }

    /// `speaker.remove`
    pub async fn speaker_remove(&self, context: &Context, request: Remove) -> Result<Answer<Done>, Error> {
        validate::context(&self.inner, context)?;
        validate::profile(&request.profile)?;
        let name = validate::speaker(&request.speaker)?;
        let once = match self.begin::<()>(context).await? {
            Begun::Before(_) => return Ok(Answer { reply: Done {}, replayed: true }),
            Begun::Now(once) => once,
        };
        let place = self.inner.profile(context, &request.profile)?;
        let views = self.views(place).await?;
        let speaker = views.read().catalog.speaker_id(&name).filter(|id| *id != SpeakerId::ME);
        let speaker = speaker.ok_or_else(|| unknown(&name))?;
        let command = RemoveSpeaker { speaker, by: by(context) };
        match self.inner.profiles.execute(place, command, once.key).await {
            Ok(_) => {}
            Err(Failure::Rejected(Rejection::NoSpeaker)) => return Err(unknown(&name)),
            Err(failure) => return Err(refused(failure)),
        }
        self.views(place).await?;
        Ok(Answer::fresh(Done {}))
    }
}

fn speakers(state: &State, now: Micros) -> Vec<Speaker> {
    let mut counts: HashMap<SpeakerId, u64> = HashMap::new();
    for (doc, it) in state.catalog.docs() {
        let counted = is_record(it) && state.catalog.visible(doc, now).is_some() && state.catalog.is_valid(doc, now);
        if let Some(id) = it.speaker.filter(|_| counted) {
            *counts.entry(id).or_default() += 1;
        }
    }
    let shown = |speaker: &crate::view::catalog::Speaker| Speaker {
        speaker: speaker.name.clone(),
        memories: counts.get(&speaker.id).copied().unwrap_or_default(),
        created_at: speaker.created_at.into(),
    };
    state.catalog.speakers().map(shown).collect()
}
