//! `profile.summary`: Markdown over everything stored.

use jiff::Timestamp;
use memlog_events::{code::RoleCode, ids::Micros};

use super::{
    System,
    recall::record_type,
    records::{Shown, is_record},
    validate,
};
use crate::{
    api::{
        Answer, Context, Error,
        profile::{Summarised, Summary},
        record::Record,
    },
    domain::Place,
    recall::summary::{Input, Item, Line, Session, summary},
    view::State,
};

/// Messages of the last session that a summary shows.
const LAST_MESSAGES: usize = 6;

impl System {
    /// `profile.summary`
    pub async fn profile_summary(&self, context: &Context, request: Summary) -> Result<Answer<Summarised>, Error> {
        validate::context(&self.inner, context)?;
        validate::profile(&request.profile)?;
        request.session_id.as_deref().map_or(Ok(()), |id| validate::id("session_id", id))?;
        let moment = self.moment(request.as_of)?;
        let place = self.inner.profile(context, &request.profile)?;
        let seen = self.views_at(place, moment).await?;
        let now = self.now();
        let input = seen.read(|state| self.summary_input(&place, state, request.session_id.as_deref(), now))?;
        Ok(Answer::fresh(Summarised { summary: summary(&input) }))
    }

    fn summary_input(&self, place: &Place, state: &State, session: Option<&str>, now: Micros) -> Result<Input, Error> {
        let mut items = Vec::new();
        for (doc, it) in state.catalog.docs() {
            if is_record(it) && state.catalog.is_valid(doc, now) {
                items.extend(self.record(place, state, doc, Shown::WithoutContent, now)?.and_then(item));
            }
        }
        let last = match session {
            Some(id) => state.catalog.session(id),
            None => state.catalog.threads().max_by_key(|(_, thread)| thread.updated_at).map(|(number, _)| number),
        };
        let last_session = last.map(|number| self.last_session(place, state, number, now)).transpose()?;
        let now = Timestamp::from_microsecond(now.0).unwrap_or_default();
        Ok(Input { profile: state.catalog.name.clone(), now, items, last_session })
    }

    fn last_session(&self, place: &Place, state: &State, number: u32, now: Micros) -> Result<Session, Error> {
        let catalog = &state.catalog;
        let thread = catalog.thread(number);
        let (mut items, mut messages) = (Vec::new(), Vec::new());
        for (doc, it) in catalog.docs().filter(|(_, it)| it.thread == Some(number) && is_record(it)) {
            if catalog.is_valid(doc, now) && it.is_alive(now) {
                items.extend(self.record(place, state, doc, Shown::WithoutContent, now)?.and_then(item));
            }
        }
        let said =
            thread.map(|thread| thread.messages.iter().flatten().copied().collect::<Vec<_>>()).unwrap_or_default();
        for doc in said.iter().skip(said.len().saturating_sub(LAST_MESSAGES)) {
            let role = catalog.doc(*doc).map_or(RoleCode::USER, |it| it.role);
            let Some(message) = self.record(place, state, *doc, Shown::WithContent, now)? else { continue };
            let who = message.speaker.unwrap_or_else(|| role_name(role).to_owned());
            let text = message.content.flatten().unwrap_or_default();
            messages.push(Line { who, said_at: message.timestamp.timestamp(), text });
        }
        let id = thread.map(|thread| thread.thread_id.clone()).unwrap_or_default();
        Ok(Session { id, items, messages })
    }
}

fn role_name(role: RoleCode) -> &'static str {
    match role {
        RoleCode::ASSISTANT => "assistant",
        RoleCode::SYSTEM => "system",
        _ => "user",
    }
}

fn item(record: Record) -> Option<Item> {
    Some(Item {
        id: record.id,
        record_type: record_type(record.item_type)?,
        summary: record.summary.unwrap_or_default(),
        speaker: record.speaker,
        at: record.timestamp.timestamp(),
    })
}
