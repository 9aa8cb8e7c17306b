//! `speaker.add`, `speaker.list`, `speaker.remove`, `speaker.memories`, and how a name becomes a registration.

use std::collections::{HashMap, HashSet};

use memlog_events::ids::{Micros, SpeakerId};

use super::{
    System,
    command::{Begun, refused},
    lookup::{by, gone},
    past::{Moment, Seen},
    records::{Shown, is_record},
    validate,
};
use crate::{
    api::{
        Answer, Context, Done, Error,
        error::Kind,
        record::Record,
        speaker::{Add, Added, List, Listed, Memories, MemoriesPage, Remove, Speaker},
    },
    domain::{
        Place, Rejection,
        profile::{AddSpeaker, Registered, RemoveSpeaker},
    },
    entity::Failure,
    limits::SKIP_IDS_MAX,
    recall::sentences,
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
        // Taken away again by somebody else already, perhaps with the profile.
        let speaker = self.speaker_at(place, Moment::Now, &name).await?.ok_or_else(gone)?;
        Ok(Answer::fresh(Added { speaker }))
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

impl System {
    /// `speaker.memories`
    pub async fn speaker_memories(&self, context: &Context, request: Memories) -> Result<Answer<MemoriesPage>, Error> {
        validate::context(&self.inner, context)?;
        validate::profile(&request.profile)?;
        validate::speaker(&request.speaker)?;
        let limit = validate::page(request.limit)?;
        let (before, skip) = cursor(&request)?;
        let moment = self.moment(request.as_of)?;
        let place = self.inner.profile(context, &request.profile)?;
        let seen = self.views_at(place, moment).await?;
        let now = self.now();
        seen.read(|state| {
            let catalog = &state.catalog;
            let speaker = filtered(state, &request.speaker)?;
            let shown: HashSet<u32> = skip.iter().filter_map(|id| catalog.find(id)).collect();
            let (docs, more) = catalog.said_by(speaker, before, &shown, limit, now);
            let memories = self.records(&place, state, &docs, Shown::DespiteDamage, now)?;
            let memories: Vec<Record> = memories.into_iter().map(|(_, memory)| memory).collect();
            let of_page: u64 = memories.iter().map(sentences_of).sum();
            let chunks = of_page + self.sentences_behind(&place, state, &docs, now)?;
            let next = docs.last().filter(|_| more).and_then(|doc| catalog.doc(*doc)).map(|it| it.created_at);
            let at_its_end = |doc: &u32| catalog.doc(*doc).filter(|it| Some(it.created_at) == next);
            let here = docs.iter().filter_map(at_its_end).map(|it| catalog.client_id(it.id));
            // Of the same instant still: what earlier pages showed of it must stay out of the next one, too.
            let earlier = skip.iter().filter(|_| next.is_some() && next == before).cloned();
            let next_skip_ids = earlier.chain(here).collect();
            let next_before = next.map(Into::into);
            Ok(Answer::fresh(MemoriesPage { memories, chunks, points_to_delete: chunks, next_before, next_skip_ids }))
        })
    }

    /// Sentences of the messages that records were made from, each message once: what forgetting the records would erase, too.
    fn sentences_behind(&self, place: &Place, state: &State, docs: &[u32], now: Micros) -> Result<u64, Error> {
        let sources = docs.iter().filter_map(|doc| state.catalog.doc(*doc)).flat_map(|it| &it.sources);
        let sources: HashSet<u32> = sources.filter_map(|id| state.catalog.by_uuid(id.0)).collect();
        let sources: Vec<u32> = sources.into_iter().collect();
        let mut count = 0;
        for some in sources.chunks(TEXTS_AT_ONCE) {
            let messages = self.records(place, state, some, Shown::DespiteDamage, now)?;
            count += messages.iter().map(|(_, message)| sentences_of(message)).sum::<u64>();
        }
        Ok(count)
    }
}

/// Messages whose texts are in memory at once while their sentences are counted: some megabytes of the longest.
const TEXTS_AT_ONCE: usize = 100;

/// What has no sentence in it, such as a lone emoji, is still one thing to erase.
fn sentences_of(shown: &Record) -> u64 {
    let text = shown.content.as_ref().and_then(Option::as_deref);
    sentences(text.unwrap_or_default()).len().max(1) as u64
}

/// Where a page of one speaker's memories begins, and what of that instant was shown before. One half says nothing alone.
fn cursor(request: &Memories) -> Result<(Option<Micros>, &[String]), Error> {
    let before = validate::time("before", request.before)?;
    let skip = request.skip_ids.as_deref().unwrap_or_default();
    if skip.len() > SKIP_IDS_MAX {
        return Err(Error::past_limit("skip_ids", SKIP_IDS_MAX as u64, "ids"));
    }
    skip.iter().enumerate().try_for_each(|(at, id)| validate::id(&format!("skip_ids[{at}]"), id))?;
    if before.is_none() && !skip.is_empty() {
        return Err(Error::invalid("before", "skip_ids go with the before of the same page"));
    }
    Ok((before, skip))
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
