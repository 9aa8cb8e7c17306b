//! What a worker gets: the job's messages, those before them, and the records that may say the same. Blocking.

use std::collections::BTreeSet;

use memlog_events::{
    code::RoleCode,
    event::Content,
    ids::{JobId, MessageId, RecordId, SpeakerId},
    log::Error,
};

use super::desk::Unprepared;
use crate::{
    api::{job::State, thread::Settings},
    port::{Assignment, ExtractFailed, Reading, Role, Session, Turn, Work},
    system::{
        Inner, SHORTENING_TOKENS_DEFAULT,
        thread::settings::{CARD_TOKENS_DEFAULT, keeps_summary, summary_frequency},
    },
    view::{
        ProfileViews, State as Views,
        catalog::Doc,
        indexed::{content_of, said, saved, summary_text, undamaged_of},
    },
};

/// Messages before the ones to extract that are given for context, where the thread does not say how many.
const BEFORE_DEFAULT: usize = 10;
/// Records given as known, for each message; together at most `KNOWN_MAX`.
const KNOWN_EACH: usize = 5;
/// Records given as known in all.
const KNOWN_MAX: usize = 50;
/// Messages that a summary is made of at most.
const SESSION_TURNS_MAX: usize = 500;
/// Text given besides the messages themselves, of each kind, so that an assignment fits into a message of NATS.
const CONTEXT_BYTES_MAX: usize = 256 * 1024;

impl Inner {
    /// The views are looked at a document at a time: who holds them for long holds up every reader that waits for its own write.
    pub(super) fn prepare(&self, views: &ProfileViews, id: JobId) -> Result<Assignment, Unprepared> {
        let now = self.environment.now();
        let (turns, before, reading) = {
            let state = views.read();
            let catalog = &state.catalog;
            let job = catalog.job(id).filter(|job| job.state == State::Queued).ok_or(Unprepared::Moot)?;
            let settings = catalog.thread(job.thread).map(|thread| thread.settings.clone()).unwrap_or_default();
            let living = |doc: &u32| catalog.visible(*doc, now).is_some();
            let turns: Vec<u32> = job.messages.iter().filter_map(|id| catalog.by_uuid(id.0)).filter(living).collect();
            let looks_back = before_max(&settings, turns.len()) as i32;
            let back = turns.first().map(|first| (1..=looks_back).map(|back| catalog.beside(*first, -back)));
            let before: Vec<u32> = back.into_iter().flatten().flatten().filter(living).collect();
            (turns, before, reading(&settings))
        };
        let work = Work { reading, ..Work::default() };
        let mut assignment = Assignment { work, messages: Vec::new(), known: Vec::new() };
        for doc in turns {
            if let Some((message, turn)) = self.turn(views, doc).map_err(unreadable)? {
                assignment.work.turns.push(turn);
                assignment.messages.push(message);
            }
        }
        let mut room = CONTEXT_BYTES_MAX;
        // The nearest first, so that the farthest stay away where there is no room.
        for doc in before {
            let Some((_, turn)) = self.turn(views, doc).map_err(unreadable)? else { continue };
            let Some(left) = room.checked_sub(turn.text.len()) else { break };
            room = left;
            assignment.work.before.insert(0, turn);
        }
        self.known(views, id, &mut assignment)?;
        Ok(assignment)
    }

    /// What is new in the session since its newest summary, up to the job's last message; none where no summary is kept, or where
    /// it is not to be renewed yet.
    pub(super) fn session_for(&self, views: &ProfileViews, id: JobId) -> Result<Option<Session>, Unprepared> {
        let now = self.environment.now();
        let due = {
            let state = views.read();
            let catalog = &state.catalog;
            let job = catalog.job(id).filter(|job| job.state == State::Queued).ok_or(Unprepared::Moot)?;
            let thread = catalog.thread(job.thread).ok_or(Unprepared::Moot)?;
            let ordinal = |id: &MessageId| catalog.by_uuid(id.0).and_then(|doc| catalog.doc(doc)).map(|it| it.ordinal);
            let Some(last) = job.messages.iter().filter_map(ordinal).max() else { return Ok(None) };
            let from = catalog.summary_of(job.thread, now).map_or(0, |summary| summary.through + 1);
            let new = thread.messages.iter().take(last as usize + 1).skip(from as usize).flatten();
            let new = new.filter(|doc| catalog.visible(**doc, now).is_some()).count() as u64;
            (keeps_summary(&thread.settings) && new >= summary_frequency(&thread.settings))
                .then_some((job.thread, last))
        };
        let Some((thread, last)) = due else { return Ok(None) };
        self.session_through(views, thread, last).map_err(unreadable)
    }

    /// What is new in a thread since its newest summary, up to one message. What was corrected since is left out: it would be told
    /// as if it still held. Blocking.
    pub(crate) fn session_through(
        &self,
        views: &ProfileViews,
        thread: u32,
        last: u32,
    ) -> Result<Option<Session>, Error> {
        let now = self.environment.now();
        let (stream, settings, summary, changes, speakers_gone, said) = {
            let state = views.read();
            let catalog = &state.catalog;
            let Some(it) = catalog.thread(thread) else { return Ok(None) };
            // One that covers more tells of what is not asked about.
            let summary = catalog.summary_of(thread, now).filter(|summary| summary.through <= last);
            let from = summary.map_or(0, |summary| summary.through + 1);
            let new = it.messages.iter().take(last as usize + 1).skip(from as usize).flatten().copied();
            let told = |doc: &u32| {
                let it = catalog.visible(*doc, now).filter(|it| it.role != RoleCode::SYSTEM);
                it.is_some_and(|it| !catalog.is_outdated(MessageId(it.id), now))
            };
            let said = new.filter(told).collect::<Vec<u32>>();
            (it.stream, it.settings.clone(), summary, it.changes, catalog.speakers_gone(), said)
        };
        let reading = reading(&settings);
        let mut session = Session { previous: None, turns: Vec::new(), changes, speakers_gone, reading };
        if let Some(summary) = summary {
            session.previous = summary_text(&self.environment.log, &views.place, stream, summary)?;
        }
        let mut room = shown_bytes_max(&settings).saturating_sub(session.previous.as_ref().map_or(0, String::len));
        for doc in said.into_iter().rev().take(SESSION_TURNS_MAX) {
            let Some((_, turn)) = self.turn(views, doc)? else { continue };
            let Some(left) = room.checked_sub(turn.text.len()) else { break };
            room = left;
            session.turns.push(turn);
        }
        session.turns.reverse();
        Ok(Some(session).filter(|session| !session.turns.is_empty()))
    }

    /// Valid records nearest to the turns, by words.
    /// Those of other owners are left out: a search from the thread does not find them, so what they say is news there.
    fn known(&self, views: &ProfileViews, id: JobId, assignment: &mut Assignment) -> Result<(), Unprepared> {
        let now = self.environment.now();
        let mut seen = BTreeSet::new();
        for turn in &assignment.work.turns {
            let state = views.read();
            let catalog = &state.catalog;
            let thread = catalog.job(id).and_then(|job| catalog.thread(job.thread)).ok_or(Unprepared::Moot)?;
            let valid = |doc: u32| {
                let it = catalog.visible(doc, now).filter(|it| it.item.is_record());
                it.is_some_and(|it| catalog.is_of_owners(it, thread)) && catalog.is_valid(doc, now)
            };
            let terms = state.keyword.prepare(&turn.text);
            seen.extend(state.keyword.best(&terms, KNOWN_EACH, &valid).into_iter().map(|(doc, _)| doc));
            if seen.len() >= KNOWN_MAX {
                break;
            }
        }
        let mut room = CONTEXT_BYTES_MAX;
        for doc in seen.into_iter().take(KNOWN_MAX) {
            let state = views.read();
            let Some(it) = state.catalog.doc(doc) else { continue };
            // What is damaged is known to nobody, and keeps no conversation from being read.
            let known = undamaged_of(&self.environment.log, &views.place, &state.catalog, &[it]).map_err(unreadable)?;
            let content = known.into_iter().next().flatten();
            let Some(saved) = content.as_ref().and_then(saved) else { continue };
            let Some(left) = room.checked_sub(saved.content.len()) else { break };
            room = left;
            let by = it.speaker.filter(|id| *id != SpeakerId::ME).and_then(|id| state.catalog.speaker_name(id));
            assignment.work.known_by.push(by.map(str::to_owned));
            assignment.work.known.push(saved.content.clone());
            assignment.known.push(RecordId(it.id));
        }
        Ok(())
    }

    fn content(&self, views: &ProfileViews, state: &Views, it: &Doc) -> Result<Option<Content>, Error> {
        content_of(&self.environment.log, &views.place, &state.catalog, it)
    }

    /// None if it was erased meanwhile, or says nothing, as one of images alone.
    fn turn(&self, views: &ProfileViews, doc: u32) -> Result<Option<(MessageId, Turn)>, Error> {
        let state = views.read();
        let Some(it) = state.catalog.doc(doc) else { return Ok(None) };
        let content = self.content(views, &state, it)?;
        let said = content.as_ref().and_then(said).filter(|said| !said.text.trim().is_empty());
        let Some(content) = said else { return Ok(None) };
        let role = match it.role {
            RoleCode::USER => Role::User,
            RoleCode::ASSISTANT => Role::Assistant,
            RoleCode::SYSTEM => Role::System,
            _ => Role::Other,
        };
        let speaker = it.speaker.filter(|id| *id != SpeakerId::ME).and_then(|id| state.catalog.speaker_name(id));
        let said_at = jiff::Timestamp::from_microsecond(it.when().0).unwrap_or_default();
        let speaker = speaker.map(str::to_owned);
        let turn = Turn { role, speaker, said_at, offset_seconds: it.offset_seconds, text: content.text.clone() };
        Ok(Some((MessageId(it.id), turn)))
    }
}

/// Messages before those to extract from: what the thread's window leaves of them.
fn before_max(settings: &Settings, turns: usize) -> usize {
    let window = settings.extraction.as_ref().and_then(|it| it.window);
    match window.and_then(|window| usize::try_from(window).ok()).filter(|window| *window > 0) {
        Some(window) => window.saturating_sub(turns),
        None => BEFORE_DEFAULT,
    }
}

/// How a thread wants to be read by a model.
pub(crate) fn reading(settings: &Settings) -> Reading {
    let positive = |tokens: Option<i64>| tokens.and_then(|it| u64::try_from(it).ok()).filter(|it| *it > 0);
    let extraction = settings.extraction.clone().unwrap_or_default();
    let shortening = settings.message_shortening_input_token_limit.or(Some(SHORTENING_TOKENS_DEFAULT));
    Reading {
        instructions: extraction.custom_instructions.filter(|text| !text.trim().is_empty()),
        input_tokens_max: positive(extraction.token_limit),
        message_tokens_max: positive(settings.max_message_tokens),
        shortening_tokens_max: positive(shortening),
    }
}

/// Bytes of a session that a model is shown: the thread's own bound, of four bytes a token, but what fits into a message of NATS.
fn shown_bytes_max(settings: &Settings) -> usize {
    let tokens = settings.context_card_token_limit.unwrap_or(CARD_TOKENS_DEFAULT);
    let bytes = usize::try_from(tokens).unwrap_or(0).saturating_mul(4);
    if bytes == 0 { CONTEXT_BYTES_MAX } else { bytes.min(CONTEXT_BYTES_MAX) }
}

fn unreadable(error: Error) -> Unprepared {
    tracing::warn!(%error, "a job's messages could not be read");
    Unprepared::Failed(ExtractFailed::transient("log_unreadable"))
}
