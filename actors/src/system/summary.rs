//! `profile.summary`: Markdown over everything stored.

use std::collections::BTreeMap;

use jiff::Timestamp;
use memlog_events::{
    code::RoleCode,
    ids::{MessageId, Micros},
};

use super::{
    System,
    lookup::broken,
    past::Seen,
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
    view::{catalog::Catalog, indexed::summary_text},
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
        let system = self.clone();
        let made = crate::blocking::run(move || {
            let input = system.summary_input(&place, &seen, request.session_id.as_deref(), system.now())?;
            Ok(Answer::fresh(Summarised { summary: summary(&input) }))
        });
        made.await.map_err(broken)?
    }

    /// The views are looked at a document at a time: who holds them for long holds up every reader that waits for its own write.
    fn summary_input(&self, place: &Place, seen: &Seen, session: Option<&str>, now: Micros) -> Result<Input, Error> {
        let (profile, records, last) = seen.read(|state| {
            let catalog = &state.catalog;
            let valid = catalog.docs().filter(|(doc, it)| is_record(it) && catalog.is_valid(*doc, now));
            let records: Vec<(u32, Option<u32>)> = valid.map(|(doc, it)| (doc, it.thread)).collect();
            let last = match session {
                Some(id) => catalog.session(id),
                None => last_written(catalog, now),
            };
            (catalog.name.clone(), records, last)
        });
        let mut items = Vec::with_capacity(records.len());
        let mut of_last = Vec::new();
        for (doc, thread) in records {
            let record = seen.read(|state| self.record(place, state, doc, Shown::WithoutContent, now))?;
            let Some(item) = record.and_then(item) else { continue };
            if last.is_some() && thread == last {
                of_last.push(item.clone());
            }
            items.push(item);
        }
        let last_session = last.map(|number| self.last_session(place, seen, number, of_last, now)).transpose()?;
        Ok(Input { profile, now: Timestamp::from_microsecond(now.0).unwrap_or_default(), items, last_session })
    }

    fn last_session(
        &self,
        place: &Place,
        seen: &Seen,
        number: u32,
        items: Vec<Item>,
        now: Micros,
    ) -> Result<Session, Error> {
        let (id, said) = seen.read(|state| {
            let catalog = &state.catalog;
            // What was corrected since is no more told in its old words than as the record that was superseded.
            let holds = |doc: &u32| catalog.doc(*doc).is_some_and(|it| !catalog.is_outdated(MessageId(it.id), now));
            match catalog.thread(number) {
                Some(thread) => {
                    let said = thread.messages.iter().flatten().copied().filter(holds);
                    (thread.thread_id.clone(), said.collect::<Vec<_>>())
                }
                None => Default::default(),
            }
        });
        let mut messages = Vec::new();
        for doc in said.iter().skip(said.len().saturating_sub(LAST_MESSAGES)) {
            let (role, message) = seen.read(|state| {
                let role = state.catalog.doc(*doc).map_or(RoleCode::USER, |it| it.role);
                (role, self.record(place, state, *doc, Shown::DespiteDamage, now))
            });
            let Some(message) = message? else { continue };
            let who = message.speaker.unwrap_or_else(|| role_name(role).to_owned());
            let Some(text) = message.content.flatten() else { continue };
            messages.push(Line { who, said_at: message.timestamp.timestamp(), text });
        }
        let summary = self.session_summary(place, seen, number, now)?;
        Ok(Session { id, items, messages, summary })
    }
}

impl System {
    /// What a model wrote about a session, if it covers the last message.
    fn session_summary(&self, place: &Place, seen: &Seen, number: u32, now: Micros) -> Result<Option<String>, Error> {
        let newest = seen.read(|state| {
            let thread = state.catalog.thread(number)?;
            let last = thread.messages.iter().rposition(Option::is_some)?;
            let summary = state.catalog.summary_of(number, now)?;
            (summary.through as usize >= last).then_some((thread.stream, summary))
        });
        let Some((stream, summary)) = newest else { return Ok(None) };
        summary_text(&self.inner.environment.log, place, stream, summary).map_err(broken)
    }
}

/// The session that something was last said or saved in. What else happens to one, such as a late extraction or that some of
/// it is forgotten, does not make it the last.
fn last_written(catalog: &Catalog, now: Micros) -> Option<u32> {
    let mut written: BTreeMap<u32, Micros> =
        catalog.threads().map(|(number, thread)| (number, thread.created_at)).collect();
    let said = catalog.docs().filter(|(doc, it)| it.sources.is_empty() && catalog.visible(*doc, now).is_some());
    for (number, at) in said.filter_map(|(_, it)| Some((it.thread?, it.created_at))) {
        if let Some(last) = written.get_mut(&number) {
            *last = at.max(*last);
        }
    }
    written.into_iter().max_by_key(|(_, at)| *at).map(|(number, _)| number)
}

/// What a sender without a name is called.
pub(crate) fn role_name(role: RoleCode) -> &'static str {
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
