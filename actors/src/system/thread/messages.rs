//! `thread.add_messages`, `thread.get_messages`, `thread.get_message`.

use std::{collections::HashSet, time::Duration};

use memlog_events::{
    code::RoleCode,
    event::{Content as Sealed, MessageAppendedContentV2, PartV1},
    ids::{JobId, MessageId, Micros, StreamKey},
};
use serde_json::{Map, Value};

use super::{
    Here,
    answer::Under,
    content, no_thread,
    pictures::Patience,
    settings::{extraction_of, is_inline, retention},
    ttl::{Anchors, Ttl, checked, warnings},
};
use crate::{
    api::{
        Answer, Context, Error, Time,
        given::OneOrEach,
        record::ItemType,
        thread::{
            AddMessages, Content, GetMessage, GetMessages, Message, Messages, MessagesAdded, NewMessage as Incoming,
            OneMessage, Part, PartType,
        },
    },
    domain::{
        Place, Rejection,
        thread::{Append, Ingest, Ingested, NewMessage},
    },
    entity::Failure,
    limits::{
        EXTRACTION_WAIT_S_DEFAULT, INGEST_MESSAGES_MAX, MESSAGES_DEFAULT, PARTS_MAX, REPLY_BYTES_MAX, ROLE_CHARS_MAX,
    },
    system::{
        System,
        command::{Before, Begun, refused},
        lookup::{broken, by, panicked},
        speakers::registered,
        validate,
    },
    view::{State, catalog::Doc, indexed::said},
};

/// Of which images the bytes come along.
#[derive(Clone, Debug)]
pub(super) enum Bytes {
    /// Of none.
    None,
    /// Of all.
    All,
    /// Of these, by the ids that clients use.
    Of(Vec<String>),
}

impl Bytes {
    /// How many come along with these messages, as base64.
    fn of(&self, state: &State, here: &Here, docs: &[u32], now: Micros) -> u64 {
        if matches!(self, Self::None) {
            return 0;
        }
        let messages: HashSet<_> =
            docs.iter().filter_map(|doc| state.catalog.doc(*doc)).map(|it| MessageId(it.id)).collect();
        let images = state.catalog.images_in(here.number, now).filter_map(|(_, it)| Some((it, it.image.as_ref()?)));
        let wanted = images.filter(|(it, image)| {
            let asked = match self {
                Self::Of(ids) => ids.contains(&state.catalog.client_id(it.id)),
                _ => true,
            };
            asked && image.message.is_some_and(|message| messages.contains(&message))
        });
        wanted.map(|(_, image)| image.form.bytes.div_ceil(3) * 4).sum()
    }
}

/// The same refusal as of any reply that no message of NATS holds.
fn too_much() -> Error {
    let message = "these messages are too much for one reply; ask for fewer with start and end, or without bytes";
    Error::invalid("limit", message).with("limit", REPLY_BYTES_MAX)
}

fn text_bytes(message: &Message) -> u64 {
    let bytes = match &message.content {
        Content::Text(text) => text.len(),
        Content::Parts(parts) => parts.iter().filter_map(|part| part.text.as_ref()).map(String::len).sum(),
    };
    bytes as u64
}

/// What a request says of each message besides what the message says itself.
struct Spread {
    metadata: Vec<Option<Map<String, Value>>>,
    ttl: Vec<Ttl>,
}

impl System {
    /// `thread.add_messages`
    pub async fn thread_add_messages(
        &self,
        context: &Context,
        request: AddMessages,
    ) -> Result<Answer<MessagesAdded>, Error> {
        validate::context(&self.inner, context)?;
        validate::profile(&request.profile)?;
        validate::id("thread_id", &request.thread_id)?;
        let spread = checked_messages(&request)?;
        let given: Vec<Option<String>> = request.messages.iter().map(|message| message.id.clone()).collect();
        let days: Vec<f64> = spread.ttl.iter().filter_map(|ttl| ttl.days.flatten()).collect();
        let shown = |added: &Under<Ingested>| {
            let ids = added.inner.messages.iter().zip(&given);
            MessagesAdded {
                message_ids: ids.map(|(id, given)| given.clone().unwrap_or_else(|| id.to_string())).collect(),
                job_id: added.inner.job.map(|job| job.to_string()),
                warnings: warnings(days.iter().copied(), added.longest),
            }
        };
        let once = match self.begin::<Under<Ingested>>(context).await? {
            Begun::Before(Before { answer, .. }) => return Ok(Answer { reply: shown(&answer), replayed: true }),
            Begun::Now(once) => once,
        };
        let here = self.in_thread(context, &request.profile, &request.thread_id).await?;
        let settings = here.read(|_, thread| thread.settings.clone()).ok_or_else(|| no_thread(&request.thread_id))?;
        let retention = retention(&settings);
        let patience = Patience::begin();
        let mut messages = Vec::with_capacity(request.messages.len());
        let whole = request.messages.into_iter().zip(spread.metadata).zip(spread.ttl).enumerate();
        for (at, ((message, metadata), ttl)) in whole {
            let timestamp = message.timestamp.map(|said| said.time.0);
            let expires_at = ttl.of_new(&retention, Anchors { created_at: self.now(), timestamp })?;
            messages.push(NewMessage {
                expires_at,
                ..self.incoming(context, &here, at, message, metadata, patience).await?
            });
        }
        let _ids = match self.with_ids(&here.profile, given.iter().flatten().map(String::as_str)).await? {
            Ok(passes) => passes,
            Err(holder) => return Err(self.id_taken(&here.profile, holder, &messages).await?),
        };
        let command = Ingest {
            open: None,
            namespace_digest: self.inner.namespace(context),
            messages: messages.clone(),
            append: Append::All,
            extraction: extraction_of(&settings),
            by: by(context),
        };
        let command = Under { inner: command, longest: retention.max_ttl_days };
        let added = match self.inner.threads.execute(here.place, command, once.key).await {
            Ok(outcome) => outcome.answer,
            Err(Failure::Rejected(Rejection::Gone)) => return Err(no_thread(&request.thread_id)),
            Err(Failure::Taken(holder)) => return Err(self.id_taken(&here.profile, holder.id, &messages).await?),
            Err(failure) => return Err(refused(failure)),
        };
        self.wait_if_inline(&here.profile, is_inline(&settings), added.inner.job).await;
        Ok(Answer::fresh(shown(&added)))
    }

    /// The messages are durable: a wait that runs out takes nothing back.
    pub(crate) async fn wait_if_inline(&self, profile: &Place, inline: bool, job: Option<JobId>) {
        if let Some(job) = job.filter(|_| inline) {
            let wait = Duration::from_secs_f64(EXTRACTION_WAIT_S_DEFAULT);
            drop(self.wait_for(profile, &[job], wait).await);
        }
    }

    async fn incoming(
        &self,
        context: &Context,
        here: &Here,
        at: usize,
        message: Incoming,
        metadata: Option<Map<String, Value>>,
        patience: Patience,
    ) -> Result<NewMessage, Error> {
        let speaker = match &message.speaker {
            Some(name) => {
                let field = format!("messages[{at}].speaker");
                Some(registered(&here.seen, name).map_err(|error| error.with("field", field))?)
            }
            None => None,
        };
        let (role, custom_role) = match message.role.as_str() {
            "user" => (RoleCode::USER, None),
            "assistant" => (RoleCode::ASSISTANT, None),
            "system" => (RoleCode::SYSTEM, None),
            _ => (RoleCode::CUSTOM, Some(message.role)),
        };
        let said = self.said(context, &format!("messages[{at}].content"), message.content, patience).await?;
        Ok(NewMessage {
            role,
            speaker,
            timestamp: message.timestamp.map(|said| said.time.0),
            offset_seconds: message.timestamp.map_or(0, |said| said.offset_seconds),
            expires_at: None,
            images: said.images,
            content: MessageAppendedContentV2 {
                text: said.text,
                parts: said.parts,
                given_id: message.id,
                custom_role,
                metadata: validate::metadata(metadata.as_ref())?,
                by: by(context),
            },
        })
    }

    /// `thread.get_messages`
    pub async fn thread_get_messages(
        &self,
        context: &Context,
        request: GetMessages,
    ) -> Result<Answer<Messages>, Error> {
        for (field, value, least) in [("start", request.start, 0), ("end", request.end.flatten(), -1)] {
            if value.is_some_and(|value| value < least) {
                return Err(Error::invalid(field, format!("{field} must be {least} or more")).with("limit", least));
            }
        }
        let here = self.in_thread_at(context, &request.profile, &request.thread_id, request.as_of).await?;
        let now = self.now();
        let docs: Vec<u32> = here.seen.read(|state| {
            let all: Vec<u32> = state.catalog.messages_in(here.number, now).map(|(doc, _)| doc).collect();
            let (from, to) = window(request.start, request.end, all.len());
            all[from..to].to_vec()
        });
        let bytes = if request.include_image_bytes == Some(true) { Bytes::All } else { Bytes::None };
        Ok(Answer::fresh(Messages { messages: self.messages(here, docs, bytes).await? }))
    }

    /// `thread.get_message`
    pub async fn thread_get_message(
        &self,
        context: &Context,
        request: GetMessage,
    ) -> Result<Answer<OneMessage>, Error> {
        validate::id("message_id", &request.message_id)?;
        validate::list("included_image_ids", request.included_image_ids.as_ref(), PARTS_MAX)?;
        for (at, id) in request.included_image_ids.iter().flatten().enumerate() {
            validate::id(&format!("included_image_ids[{at}]"), id)?;
        }
        let here = self.in_thread_at(context, &request.profile, &request.thread_id, request.as_of).await?;
        let missing = || Error::not_found("message_id", &request.message_id);
        let doc = self.message_of(&here, &request.message_id).ok_or_else(missing)?;
        let bytes = request.included_image_ids.clone().map_or(Bytes::None, Bytes::Of);
        let message = self.messages(here, vec![doc], bytes).await?.pop().ok_or_else(missing)?;
        Ok(Answer::fresh(OneMessage { message }))
    }

    /// A message of this very thread by the id that clients use.
    pub(super) fn message_of(&self, here: &Here, id: &str) -> Option<u32> {
        let now = self.now();
        here.seen.read(|state| {
            let doc = state.catalog.find(id)?;
            let it = state.catalog.visible(doc, now)?;
            (it.item == ItemType::Message && it.thread == Some(here.number)).then_some(doc)
        })
    }

    /// Messages as clients see them; what was erased meanwhile is left out. Texts are read without holding the views, which
    /// others wait for.
    pub(super) async fn messages(&self, here: Here, docs: Vec<u32>, bytes: Bytes) -> Result<Vec<Message>, Error> {
        let system = self.clone();
        let reading = move || {
            let (rows, pictures) = here.seen.read(|state| {
                let row = |doc: &u32| Some(Row::of(state, state.catalog.doc(*doc)?));
                let rows: Vec<Row> = docs.iter().filter_map(row).collect();
                (rows, bytes.of(state, &here, &docs, system.now()))
            });
            let mut room = REPLY_BYTES_MAX.checked_sub(pictures).ok_or_else(too_much)?;
            let mut shown = Vec::with_capacity(rows.len());
            for row in rows {
                let Some(message) = system.message(&here, row, &bytes)? else { continue };
                room = room.checked_sub(text_bytes(&message)).ok_or_else(too_much)?;
                shown.push(message);
            }
            Ok(shown)
        };
        crate::blocking::run(reading).await.map_err(panicked)?
    }

    fn message(&self, here: &Here, row: Row, bytes: &Bytes) -> Result<Option<Message>, Error> {
        let log = &self.inner.environment.log;
        let key = StreamKey { stream: here.place.key.stream, ..here.profile.key };
        let Some(event) = log.at(key, row.it.at).map_err(broken)? else { return Ok(None) };
        let content = match log.open_content(&event).map_err(broken)? {
            memlog_events::log::Sealed::Open(content) => content,
            _ => return Ok(None),
        };
        let Some(content) = said(&content).cloned() else { return Ok(None) };
        let role = match row.it.role {
            RoleCode::ASSISTANT => "assistant".to_owned(),
            RoleCode::SYSTEM => "system".to_owned(),
            RoleCode::CUSTOM => content.custom_role.unwrap_or_default(),
            _ => "user".to_owned(),
        };
        let shown = match content.parts.is_empty() {
            true => Content::Text(content.text),
            false => Content::Parts(self.parts(here, content.parts, bytes)?),
        };
        Ok(Some(Message {
            id: row.id,
            role,
            content: shown,
            timestamp: row.it.when().into(),
            metadata: row.it.metadata.as_deref().cloned().unwrap_or_default(),
            speaker: row.speaker,
            expires_at: row.it.expires_at.map(Time::from),
            created_at: row.it.created_at.into(),
            updated_at: row.it.updated_at.into(),
        }))
    }

    fn parts(&self, here: &Here, parts: Vec<PartV1>, bytes: &Bytes) -> Result<Vec<Part>, Error> {
        let mut shown = Vec::with_capacity(parts.len());
        for part in parts {
            match (part.text, part.image) {
                (_, Some(image)) => shown.extend(self.shown_image_part(here, image, bytes)?),
                (text, None) => shown.push(Part {
                    id: part.part.to_string(),
                    part_type: PartType::Text,
                    text,
                    mime_type: None,
                    description: None,
                    bytes: None,
                }),
            }
        }
        Ok(shown)
    }
}

/// All that the views know of a message.
struct Row {
    it: Doc,
    id: String,
    speaker: Option<String>,
}

impl Row {
    fn of(state: &State, it: &Doc) -> Self {
        let speaker = it.speaker.and_then(|id| state.catalog.speaker_name(id)).map(str::to_owned);
        Self { it: it.clone(), id: state.catalog.client_id(it.id), speaker }
    }
}

/// From where to where of so many messages.
fn window(start: Option<i64>, end: Option<Option<i64>>, count: usize) -> (usize, usize) {
    let within = |at: i64| usize::try_from(at).unwrap_or(0).min(count);
    let from = start.map(within);
    match end {
        None if from.is_none() => (count.saturating_sub(MESSAGES_DEFAULT), count),
        None | Some(None | Some(-1)) => (from.unwrap_or(0), count),
        Some(Some(end)) => {
            let to = within(end);
            (from.unwrap_or(0).min(to), to)
        }
    }
}

fn checked_messages(request: &AddMessages) -> Result<Spread, Error> {
    let count = request.messages.len();
    if count == 0 || count > INGEST_MESSAGES_MAX {
        let message = format!("messages must hold 1 to {INGEST_MESSAGES_MAX} messages");
        return Err(Error::invalid("messages", message).with("limit", INGEST_MESSAGES_MAX));
    }
    for (at, message) in request.messages.iter().enumerate() {
        let field = |name: &str| format!("messages[{at}].{name}");
        validate::name(&field("role"), &message.role, ROLE_CHARS_MAX)?;
        content::check(&field("content"), &message.content, false)?;
        message.id.as_deref().map_or(Ok(()), |id| validate::id(&field("id"), id))?;
        validate::time(&field("timestamp"), message.timestamp.map(|said| said.time))?;
        if let Some(speaker) = &message.speaker {
            validate::speaker(speaker).map_err(|error| error.with("field", field("speaker")))?;
        }
        validate::metadata(message.metadata.as_ref()).map_err(|error| error.with("field", field("metadata")))?;
    }
    let metadata = match &request.metadata {
        Some(given) => each("metadata", given, count)?,
        None => request.messages.iter().map(|message| message.metadata.clone()).collect(),
    };
    if let Some(given) = &request.metadata {
        for (at, own) in metadata.iter().enumerate() {
            let named = |error: Error| error.with("field", member("metadata", given, at));
            validate::metadata(own.as_ref()).map_err(named)?;
        }
    }
    let days = request.ttl_days.as_ref().map(|days| each("ttl_days", days, count)).transpose()?;
    let anchors = request.ttl_anchor.as_ref().map(|anchors| each("ttl_anchor", anchors, count)).transpose()?;
    let ttl = (0..count).map(|at| Ttl {
        days: days.as_ref().map(|days| days[at]),
        anchor: anchors.as_ref().map(|anchors| anchors[at]),
    });
    let ttl: Vec<Ttl> = ttl.collect();
    if let Some(given) = &request.ttl_days {
        for (at, days) in ttl.iter().enumerate().filter_map(|(at, ttl)| Some((at, ttl.days.flatten()?))) {
            checked(days).map_err(|error| error.with("field", member("ttl_days", given, at)))?;
        }
    }
    Ok(Spread { metadata, ttl })
}

fn each<T: Clone>(field: &str, given: &OneOrEach<T>, count: usize) -> Result<Vec<T>, Error> {
    given.spread(count).ok_or_else(|| {
        let message = format!("{field} must be one value, or a list with one for each of the {count} messages");
        Error::invalid(field, message).with("limit", count)
    })
}

/// The field of what was given for this message.
fn member<T>(field: &str, given: &OneOrEach<T>, at: usize) -> String {
    match given {
        OneOrEach::One(_) => field.to_owned(),
        OneOrEach::Each(_) => format!("{field}[{at}]"),
    }
}

/// What a message said before, from the log.
pub(super) fn content_before(content: &Sealed) -> Option<MessageAppendedContentV2> {
    said(content).cloned()
}

/// The speaker's tag and the rest of what a message was appended with, for one that says something else now.
pub(super) fn rewritten(it: &Doc, content: MessageAppendedContentV2) -> NewMessage {
    NewMessage {
        role: it.role,
        speaker: it.speaker,
        timestamp: it.timestamp,
        offset_seconds: it.offset_seconds,
        expires_at: it.expires_at,
        images: Vec::new(),
        content,
    }
}

#[cfg(test)]
mod tests {
    use super::window;

    // Each row of the rules for `start` and `end`.
    #[test]
    fn windows_of_messages() {
        assert_eq!(window(None, None, 250), (150, 250));
        assert_eq!(window(None, None, 3), (0, 3));
        assert_eq!(window(Some(2), None, 250), (2, 250));
        assert_eq!(window(None, Some(Some(7)), 250), (0, 7));
        assert_eq!(window(None, Some(None), 250), (0, 250));
        assert_eq!(window(None, Some(Some(-1)), 250), (0, 250));
        assert_eq!(window(Some(5), Some(Some(3)), 250), (3, 3));
        assert_eq!(window(Some(900), Some(Some(950)), 250), (250, 250));
    }
}
