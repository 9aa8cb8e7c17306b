//! `profile.ingest`, `profile.add_turn`.

use std::collections::HashSet;

use memlog_events::{
    code::RoleCode,
    event::MessageAppendedContentV2,
    ids::{JobId, MessageId, StreamId},
};
use uuid::Uuid;

use super::{
    System,
    command::{Before, Begun, refused},
    lookup::{broken, by, gone},
    past::Seen,
    thread::{Anchors, Ttl, extraction_of, is_inline, retention},
    validate,
};
use crate::{
    api::{
        Answer, Context, Error,
        profile::{AddTurn, Ingest, Ingested, Message},
        thread::Settings,
    },
    domain::{
        Answered, Place, Rejection,
        thread::{self, Append, NewMessage, Open, resend_digest},
    },
    entity::{Failure, Outcome},
    limits::INGEST_MESSAGES_MAX,
};

/// Which thread took the messages, and what became of them.
#[derive(Clone, Debug)]
struct Taken {
    stream: StreamId,
    ingested: thread::Ingested,
}

impl Answered for Taken {
    fn outcome(&self) -> memlog_events::batch::Outcome {
        let mut outcome = self.ingested.outcome();
        outcome.ids.push(self.stream.0);
        outcome
    }

    fn from_outcome(outcome: &memlog_events::batch::Outcome) -> Option<Self> {
        let mut outcome = outcome.clone();
        let stream = StreamId(outcome.ids.pop()?);
        Some(Self { stream, ingested: thread::Ingested::from_outcome(&outcome)? })
    }
}

/// The thread's command, answering with the thread as well, so that a repeat finds it without the session's name.
#[derive(Clone)]
struct Take(thread::Ingest);

impl crate::domain::Command<thread::Thread> for Take {
    type Answer = Taken;

    fn decide(
        &self,
        state: &thread::Thread,
        place: &Place,
        inputs: &mut dyn crate::domain::Inputs,
    ) -> Result<crate::domain::Decision<Taken>, Rejection> {
        let decision = self.0.decide(state, place, inputs)?;
        let crate::domain::Decision { events, claims, listed, answer } = decision;
        let answer = Taken { stream: place.key.stream, ingested: answer };
        Ok(crate::domain::Decision { events, claims, listed, answer })
    }
}

/// How often a session that is opened or deleted at the same time is looked up again.
const TRIES: usize = 4;

impl System {
    /// `profile.ingest`
    pub async fn profile_ingest(&self, context: &Context, request: Ingest) -> Result<Answer<Ingested>, Error> {
        validate::context(&self.inner, context)?;
        validate::profile(&request.profile)?;
        request.session_id.as_deref().map_or(Ok(()), |id| validate::id("session_id", id))?;
        if request.messages.is_empty() || request.messages.len() > INGEST_MESSAGES_MAX {
            let message = format!("messages must hold 1 to {INGEST_MESSAGES_MAX} messages");
            return Err(Error::invalid("messages", message).with("limit", INGEST_MESSAGES_MAX));
        }
        for (at, message) in request.messages.iter().enumerate() {
            check_message(&format!("messages[{at}]."), message)?;
        }
        let timeout = validate::timeout(request.timeout_s)?;
        let begun = self.begin::<Taken>(context).await?;
        let (place, taken, replayed) = match begun {
            Begun::Before(Before { answer, .. }) => (self.inner.find_profile(context, &request.profile)?, answer, true),
            Begun::Now(once) => {
                let speakers = request.messages.iter().filter_map(|message| message.speaker.as_deref());
                let place = self.open_profile_for(context, &request.profile, speakers).await?;
                let messages = self.new_messages(context, &place, &request.messages).await?;
                let taken = self.take(context, &place, request.session_id.as_deref(), messages, once.key).await?;
                (Some(place), taken, false)
            }
        };
        let job = taken.ingested.job;
        let given: Vec<_> = request.messages.iter().map(|message| message.id.as_deref()).collect();
        let mut reply = self.ingested(place.as_ref(), taken, request.session_id.as_deref(), &given).await?;
        if request.wait == Some(true)
            && let (Some(job), Some(place)) = (job, place)
        {
            // The messages are durable: a wait that runs out takes nothing back, and the state says how far the job is.
            drop(self.wait_for(&place, &[job], timeout).await);
            reply.job_state = self.job_state(&place, job).await?;
        }
        Ok(Answer { reply, replayed })
    }

    /// `profile.add_turn`
    pub async fn profile_add_turn(&self, context: &Context, request: AddTurn) -> Result<Answer<Ingested>, Error> {
        validate::context(&self.inner, context)?;
        validate::profile(&request.profile)?;
        request.session_id.as_deref().map_or(Ok(()), |id| validate::id("session_id", id))?;
        validate::content("user", &request.user)?;
        validate::content("assistant", &request.assistant)?;
        let (place, taken, replayed) = match self.begin::<Taken>(context).await? {
            Begun::Before(Before { answer, .. }) => (self.inner.find_profile(context, &request.profile)?, answer, true),
            Begun::Now(once) => {
                let place = self.open_profile(context, &request.profile).await?;
                let said =
                    |role: &str, content: String| Message { role: role.to_owned(), content, ..Message::default() };
                let turn = [said("user", request.user), said("assistant", request.assistant)];
                let messages = self.new_messages(context, &place, &turn).await?;
                let new = || self.inner.environment.uuid().to_string();
                let session = request.session_id.clone().unwrap_or_else(new);
                let taken = self.append(context, &place, &session, false, messages, Append::All, once.key).await?;
                (Some(place), taken, false)
            }
        };
        let reply = self.ingested(place.as_ref(), taken, request.session_id.as_deref(), &[]).await?;
        Ok(Answer { reply, replayed })
    }

    async fn take(
        &self,
        context: &Context,
        place: &Place,
        session_id: Option<&str>,
        messages: Vec<NewMessage>,
        key: Option<crate::entity::Key>,
    ) -> Result<Taken, Error> {
        if let Some(session) = session_id {
            return self.append(context, place, session, false, messages, Append::News, key).await;
        }
        // One at a time in a profile: two that open alike must see each other's session.
        let _pass = self.inner.sessions.enter(place.key.scope).await;
        let session = self.session_for(place, &messages).await?;
        self.append(context, place, &session, true, messages, Append::News, key).await
    }

    #[allow(
        clippy::too_many_arguments,
        reason = "what one append is made of; a struct for it would be built in one place"
    )]
    async fn append(
        &self,
        context: &Context,
        profile: &Place,
        session_id: &str,
        derived: bool,
        messages: Vec<NewMessage>,
        append: Append,
        key: Option<crate::entity::Key>,
    ) -> Result<Taken, Error> {
        // A session that was created as a thread is read, and lives, as its settings say, whichever door its messages come through.
        let settings = self.settings_of_session(profile, session_id).await?;
        let messages = self.living_as(&settings, messages)?;
        for _ in 0..TRIES {
            let (place, id_digest) = self.inner.session(profile, session_id)?;
            let open = Open {
                thread_id: session_id.to_owned(),
                id_digest,
                derived,
                user_id: context.caller.user.clone(),
                agent_id: context.caller.agent.clone(),
                metadata: "{}".to_owned(),
                settings: "{}".to_owned(),
                by: by(context),
            };
            let command = Take(thread::Ingest {
                open: Some(open),
                namespace_digest: self.inner.namespace(context),
                messages: messages.clone(),
                append,
                extraction: extraction_of(&settings),
                by: by(context),
            });
            match self.inner.threads.execute(place, command, key).await {
                Ok(Outcome { answer, .. }) => {
                    self.wait_if_inline(profile, is_inline(&settings), answer.ingested.job).await;
                    return Ok(answer);
                }
                Err(Failure::Rejected(Rejection::Gone)) => {}
                // Another opened the session at the same moment: its messages go there.
                Err(Failure::Taken(holder)) if holder.id == holder.stream.stream.0 => {}
                Err(Failure::Taken(holder)) => return Err(self.id_taken(profile, holder.id, &messages).await?),
                Err(failure) => return Err(refused(failure)),
            }
            self.inner.profile_alive(profile)?;
        }
        Err(gone())
    }

    /// Messages with the time to live that their thread has for those that name none.
    fn living_as(&self, settings: &Settings, messages: Vec<NewMessage>) -> Result<Vec<NewMessage>, Error> {
        let (retention, created_at) = (retention(settings), self.now());
        let living = |message: NewMessage| {
            let expires_at = Ttl::default().of_new(&retention, Anchors { created_at, timestamp: message.timestamp })?;
            Ok(NewMessage { expires_at, ..message })
        };
        messages.into_iter().map(living).collect()
    }

    /// 409 with the id as the client knows it.
    pub(super) async fn id_taken(&self, profile: &Place, id: Uuid, messages: &[NewMessage]) -> Result<Error, Error> {
        let views = self.views(*profile).await?;
        let state = views.read();
        if state.catalog.by_uuid(id).is_some() {
            return Ok(Error::taken("id", state.catalog.client_id(id)));
        }
        // Nobody's that is stored: two of these messages came with the same one.
        let mut seen = HashSet::new();
        let mut given = messages.iter().filter_map(|message| message.content.given_id.as_deref());
        let twice = given.find(|id| !seen.insert(*id));
        Ok(Error::taken("id", twice.map_or_else(|| id.to_string(), str::to_owned)))
    }

    /// The session whose messages are a prefix of these, or these of its; else a new id derived from all of them.
    async fn session_for(&self, place: &Place, messages: &[NewMessage]) -> Result<String, Error> {
        let log = &self.inner.environment.log;
        let views = self.views(*place).await?;
        let state = views.read();
        let mut best: Option<(usize, &str)> = None;
        for (_, thread) in state.catalog.threads() {
            let same = |(message, held): &(&NewMessage, &memlog_events::ids::Digest)| {
                let digest = resend_digest(message, |parts| log.digest_in(thread.slot, parts).ok().flatten());
                digest.as_ref() == Some(*held)
            };
            let shorter = thread.digests.len().min(messages.len());
            let prefix = messages.iter().zip(&thread.digests).take_while(same).count();
            if prefix == shorter && prefix > 0 && best.is_none_or(|(length, _)| prefix > length) {
                best = Some((prefix, &thread.thread_id));
            }
        }
        if let Some((_, session)) = best {
            return Ok(session.to_owned());
        }
        let mut all = Vec::new();
        for message in messages {
            let digest = resend_digest(message, |parts| log.digest_in(place.scope_slot, parts).ok().flatten());
            all.extend(digest.ok_or_else(gone)?.0);
        }
        let digest = log.digest_in(place.scope_slot, &[b"session", &all]).map_err(broken)?.ok_or_else(gone)?;
        let mut id = [0; 16];
        id.copy_from_slice(&digest.0[..16]);
        Ok(Uuid::new_v8(id).to_string())
    }

    /// Messages with their speakers looked up; an unregistered one is refused by name.
    async fn new_messages(
        &self,
        context: &Context,
        place: &Place,
        messages: &[Message],
    ) -> Result<Vec<NewMessage>, Error> {
        let named = messages.iter().any(|message| message.speaker.is_some());
        let seen = if named { Some(Seen::Present(self.views(*place).await?)) } else { None };
        let new = |(at, message): (usize, &Message)| {
            let field = || format!("messages[{at}].speaker");
            let speaker = match (&message.speaker, &seen) {
                (Some(name), Some(seen)) => {
                    Some(super::speakers::registered(seen, name).map_err(|error| error.with("field", field()))?)
                }
                _ => None,
            };
            let role = match message.role.as_str() {
                "assistant" => RoleCode::ASSISTANT,
                "system" => RoleCode::SYSTEM,
                _ => RoleCode::USER,
            };
            Ok(NewMessage {
                role,
                speaker,
                timestamp: message.timestamp.map(|said| said.time.0),
                offset_seconds: message.timestamp.map_or(0, |said| said.offset_seconds),
                expires_at: None,
                images: Vec::new(),
                content: MessageAppendedContentV2 {
                    text: message.content.clone(),
                    parts: Vec::new(),
                    given_id: message.id.clone(),
                    custom_role: None,
                    metadata: "{}".to_owned(),
                    by: by(context),
                },
            })
        };
        messages.iter().enumerate().map(new).collect()
    }

    /// The reply, in names that clients know. A replayed one may be about what is gone, profile, session or messages: of that
    /// only what the request itself says can be said again.
    async fn ingested(
        &self,
        profile: Option<&Place>,
        taken: Taken,
        session_id: Option<&str>,
        given: &[Option<&str>],
    ) -> Result<Ingested, Error> {
        let views = match profile {
            Some(place) => Some(self.views(*place).await?),
            None => None,
        };
        let state = views.as_ref().map(|views| views.read());
        let catalog = state.as_ref().map(|state| &state.catalog);
        let session = catalog.and_then(|catalog| catalog.threads().find(|(_, thread)| thread.stream == taken.stream));
        let session = session.map(|(_, thread)| thread.thread_id.as_str()).or(session_id);
        let Taken { ingested: thread::Ingested { messages, accepted, job }, .. } = taken;
        let shown = |(at, id): (usize, &MessageId)| {
            let known = catalog.filter(|catalog| catalog.by_uuid(id.0).is_some());
            let given = || given.get(at).copied().flatten().map_or_else(|| id.to_string(), str::to_owned);
            known.map_or_else(given, |catalog| catalog.message_id(*id))
        };
        Ok(Ingested {
            session_id: session.unwrap_or_default().to_owned(),
            message_ids: messages.iter().enumerate().map(shown).collect(),
            accepted,
            duplicates: messages.len() as u64 - accepted,
            job_id: job.map(|JobId(id)| id.to_string()),
            job_state: None,
        })
    }
}

/// What `profile.ingest` refuses of a message whatever is stored: for whoever reads a file and wants to know before any of it is
/// sent. `path` is what stands before the field's name in the error: `messages[3].`, or nothing.
pub fn check_message(path: &str, message: &Message) -> Result<(), Error> {
    let field = |name: &str| format!("{path}{name}");
    if !matches!(message.role.as_str(), "user" | "assistant" | "system") {
        let role = field("role");
        let error = Error::invalid(&role, format!("{role} must be user, assistant or system"));
        return Err(error);
    }
    validate::content(&field("content"), &message.content)?;
    validate::time(&field("timestamp"), message.timestamp.map(|said| said.time))?;
    if let Some(speaker) = &message.speaker {
        validate::speaker(speaker).map_err(|error| error.with("field", field("speaker")))?;
    }
    message.id.as_deref().map_or(Ok(()), |id| validate::id(&field("id"), id))
}

/// The same of the names that a conversation goes under.
pub fn check_names(profile: Option<&str>, session_id: Option<&str>) -> Result<(), Error> {
    profile.map_or(Ok(()), validate::profile)?;
    session_id.map_or(Ok(()), |id| validate::id("session_id", id))
}
