//! `thread.create`, `thread.get`, `thread.list`, `thread.delete`.

use memlog_events::{
    batch::Outcome as Remembered,
    ids::{Micros, StreamId},
};
use serde_json::Map;

use super::{Here, no_thread, settings};
use crate::{
    api::{
        Answer, Context, Error,
        record::ItemType,
        thread::{Counts, Create, Delete, Deleted, Get, List, Listed, OneThread, Thread},
    },
    domain::{Answered, Command, Decision, Inputs, Place, Rejection, thread as domain},
    entity::Failure,
    system::{
        System,
        command::{Before, Begun, refused},
        cursor::Cursor,
        lookup::{by, gone, uuid},
        past::Moment,
        validate,
    },
    view::{State, catalog},
};

/// The domain's command, answering with the thread's stream, so that a repeat finds it again.
#[derive(Clone)]
struct Begin(domain::Create);

/// A thread's stream.
#[derive(Clone, Copy)]
struct Began(StreamId);

impl Answered for Began {
    fn outcome(&self) -> Remembered {
        Remembered { ids: vec![self.0.0], numbers: vec![7] }
    }

    fn from_outcome(outcome: &Remembered) -> Option<Self> {
        match (outcome.ids.as_slice(), outcome.numbers.as_slice()) {
            ([id], [7]) => Some(Self(StreamId(*id))),
            _ => None,
        }
    }
}

impl Command<domain::Thread> for Begin {
    type Answer = Began;

    fn decide(
        &self,
        state: &domain::Thread,
        place: &Place,
        inputs: &mut dyn Inputs,
    ) -> Result<Decision<Began>, Rejection> {
        let Decision { events, claims, listed, .. } = self.0.decide(state, place, inputs)?;
        Ok(Decision { events, claims, listed, answer: Began(place.key.stream) })
    }
}

/// What went with a thread, as numbers.
impl Answered for Counts {
    fn outcome(&self) -> Remembered {
        Remembered { ids: Vec::new(), numbers: vec![8, self.messages, self.memories, self.images] }
    }

    fn from_outcome(outcome: &Remembered) -> Option<Self> {
        match outcome.numbers.as_slice() {
            [8, messages, memories, images] => Some(Self { messages: *messages, memories: *memories, images: *images }),
            _ => None,
        }
    }
}

/// The domain's command, answering with what it takes away.
#[derive(Clone)]
struct End;

impl Command<domain::Thread> for End {
    type Answer = Counts;

    fn decide(
        &self,
        state: &domain::Thread,
        place: &Place,
        inputs: &mut dyn Inputs,
    ) -> Result<Decision<Counts>, Rejection> {
        if state.slot.is_none() || state.deleted {
            return Err(Rejection::Gone);
        }
        let now = inputs.now();
        let alive = |expires_at: Option<Micros>| expires_at.is_none_or(|at| at > now);
        let messages = state.messages.iter().filter(|it| it.slot.is_some() && alive(it.expires_at)).count();
        let memories = state.records.records.values().filter(|it| alive(it.expires_at)).count();
        let images = state.images.values().filter(|it| alive(it.expires_at)).count();
        let answer = Counts { messages: messages as u64, memories: memories as u64, images: images as u64 };
        let Decision { events, claims, listed, .. } = domain::Delete.decide(state, place, inputs)?;
        Ok(Decision { events, claims, listed, answer })
    }
}

impl System {
    /// `thread.create`
    pub async fn thread_create(&self, context: &Context, request: Create) -> Result<Answer<OneThread>, Error> {
        validate::context(&self.inner, context)?;
        validate::profile(&request.profile)?;
        for (field, id) in [
            ("thread_id", request.thread_id.as_deref()),
            ("user_id", request.user_id.as_ref().and_then(Option::as_deref)),
            ("agent_id", request.agent_id.as_ref().and_then(Option::as_deref)),
        ] {
            id.map_or(Ok(()), |id| validate::id(field, id))?;
        }
        let metadata = validate::metadata(request.metadata.as_ref())?;
        let chosen = request.settings.clone().unwrap_or_default();
        settings::check(&chosen)?;
        let chosen = serde_json::to_string(&chosen).map_err(|error| Error::invalid("settings", error.to_string()))?;
        let once = match self.begin::<Began>(context).await? {
            Begun::Before(before) => return self.created_before(context, &request, before).await,
            Begun::Now(once) => once,
        };
        let profile = self.open_profile(context, &request.profile).await?;
        let new = || self.inner.environment.uuid().to_string();
        let thread_id = request.thread_id.clone().unwrap_or_else(new);
        let (place, id_digest) = self.inner.session(&profile, &thread_id)?;
        let owner = |given: Option<Option<String>>, caller: &Option<String>| {
            given.unwrap_or_else(|| Some(caller.clone().unwrap_or_else(new)))
        };
        let command = Begin(domain::Create(domain::Open {
            thread_id: thread_id.clone(),
            id_digest,
            derived: false,
            user_id: owner(request.user_id, &context.caller.user),
            agent_id: owner(request.agent_id, &context.caller.agent),
            metadata,
            settings: chosen,
            by: by(context),
        }));
        match self.inner.threads.execute(place, command, once.key).await {
            Ok(_) => {}
            // It is there, or was created at the same moment.
            Err(Failure::Rejected(Rejection::Gone) | Failure::Taken(_)) => {
                self.inner.profile_alive(&profile)?;
                return Err(Error::taken("thread_id", thread_id));
            }
            Err(failure) => return Err(refused(failure)),
        }
        let here = self.here(profile, &thread_id, Moment::Now).await.map_err(|_| gone())?;
        Ok(Answer::fresh(OneThread { thread: self.shown(&here).ok_or_else(gone)? }))
    }

    async fn created_before(
        &self,
        context: &Context,
        request: &Create,
        before: Before<Began>,
    ) -> Result<Answer<OneThread>, Error> {
        let thread = match self.inner.find_profile(context, &request.profile)? {
            Some(profile) => {
                let seen = self.views_at(profile, Moment::Past(before.at)).await?;
                let now = self.now();
                seen.read(|state| {
                    let mut threads = state.catalog.threads();
                    let (number, thread) = threads.find(|(_, thread)| thread.stream == before.answer.0)?;
                    Some(shown(state, number, thread, now))
                })
            }
            None => None,
        };
        // Deleted since: only what the request itself says can be said again.
        let thread = thread.unwrap_or_else(|| Thread {
            thread_id: request.thread_id.clone().unwrap_or_default(),
            user_id: None,
            agent_id: None,
            metadata: Map::new(),
            settings: settings::filled(&request.settings.clone().unwrap_or_default()),
            message_count: 0,
            created_at: before.time.into(),
            updated_at: before.time.into(),
        });
        Ok(Answer { reply: OneThread { thread }, replayed: true })
    }

    /// `thread.get`
    pub async fn thread_get(&self, context: &Context, request: Get) -> Result<Answer<OneThread>, Error> {
        let here = self.in_thread_at(context, &request.profile, &request.thread_id, request.as_of).await?;
        let thread = self.shown(&here).ok_or_else(|| no_thread(&request.thread_id))?;
        Ok(Answer::fresh(OneThread { thread }))
    }

    fn shown(&self, here: &Here) -> Option<Thread> {
        let now = self.now();
        here.seen.read(|state| Some(shown(state, here.number, state.catalog.thread(here.number)?, now)))
    }

    /// `thread.list`
    pub async fn thread_list(&self, context: &Context, request: List) -> Result<Answer<Listed>, Error> {
        validate::context(&self.inner, context)?;
        validate::profile(&request.profile)?;
        for (field, id) in [("user_id", &request.user_id), ("agent_id", &request.agent_id)] {
            id.as_deref().map_or(Ok(()), |id| validate::id(field, id))?;
        }
        let limit = validate::page(request.limit)?;
        let cursor = request.cursor.as_deref().map(Cursor::parse).transpose()?;
        let moment = self.moment_of(cursor.as_ref(), request.as_of)?;
        let below = cursor.as_ref().and_then(|cursor| Some((Micros(cursor.micros), uuid(&cursor.id)?)));
        let profile = self.inner.profile(context, &request.profile)?;
        let seen = self.views_at(profile, moment).await?;
        let now = self.now();
        seen.read(|state| {
            let wanted = |thread: &catalog::Thread| {
                let owner = request.user_id.is_none() || thread.user_id == request.user_id;
                owner && (request.agent_id.is_none() || thread.agent_id == request.agent_id)
            };
            let key = |thread: &catalog::Thread| (thread.created_at, thread.stream.0);
            let after = |thread: &catalog::Thread| below.is_none_or(|below| key(thread) < below);
            let mut found: Vec<_> =
                state.catalog.threads().filter(|(_, thread)| wanted(thread) && after(thread)).collect();
            found.sort_unstable_by_key(|(_, thread)| std::cmp::Reverse(key(thread)));
            let more = found.len() > limit;
            found.truncate(limit);
            let cursor = found.last().filter(|_| more).map(|(_, last)| {
                let (micros, id) = (last.created_at.0, last.stream.to_string());
                Cursor { seq: moment.pinned(), micros, id }.to_string()
            });
            let threads = found.into_iter().map(|(number, thread)| shown(state, number, thread, now)).collect();
            Ok(Answer::fresh(Listed { threads, cursor }))
        })
    }

    /// `thread.delete`
    pub async fn thread_delete(&self, context: &Context, request: Delete) -> Result<Answer<Deleted>, Error> {
        validate::context(&self.inner, context)?;
        validate::profile(&request.profile)?;
        validate::id("thread_id", &request.thread_id)?;
        let once = match self.begin::<Counts>(context).await? {
            Begun::Before(before) => {
                return Ok(Answer { reply: Deleted { deleted: before.answer }, replayed: true });
            }
            Begun::Now(once) => once,
        };
        let missing = || no_thread(&request.thread_id);
        let profile = self.inner.profile(context, &request.profile)?;
        let place = self.inner.find_session(&profile, &request.thread_id)?.ok_or_else(missing)?;
        let deleted = match self.inner.threads.execute(place, End, once.key).await {
            Ok(outcome) => outcome.answer,
            Err(Failure::Rejected(Rejection::Gone)) => return Err(missing()),
            Err(failure) => return Err(refused(failure)),
        };
        // It leaves the views before the reply does.
        self.views(profile).await?;
        Ok(Answer::fresh(Deleted { deleted }))
    }
}

fn shown(state: &State, number: u32, thread: &catalog::Thread, now: Micros) -> Thread {
    let messages = state.catalog.messages_in(number, now).filter(|(_, it)| it.item == ItemType::Message).count();
    Thread {
        thread_id: thread.thread_id.clone(),
        user_id: thread.user_id.clone(),
        agent_id: thread.agent_id.clone(),
        metadata: thread.metadata.as_deref().cloned().unwrap_or_default(),
        settings: settings::filled(&thread.settings),
        message_count: messages as u64,
        created_at: thread.created_at.into(),
        updated_at: thread.updated_at.into(),
    }
}
