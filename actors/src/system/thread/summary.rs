//! `thread.get_summary`: what a model wrote about a thread, renewed when more was said since; without one, the telling sentences.

use std::{collections::HashSet, sync::Arc, time::Duration};

use memlog_events::ids::MessageId;

use super::{Here, messages::Bytes, settings};
use crate::{
    api::{
        Answer, Context, Error,
        thread::{Content, GetSummary, Message, Part, Summary},
    },
    domain::thread::{NewSummary, Summarise},
    jobs::desk::is_summary,
    limits::{NARRATION_S_MAX, THREAD_SUMMARY_CHARS_MAX, THREAD_SUMMARY_MESSAGES_MAX},
    port::Narrator,
    recall::{
        card,
        transcript::{self, Line},
    },
    system::{
        System,
        lookup::{broken, panicked},
        past::Seen,
    },
    view::{ProfileViews, catalog::ThreadSummary, indexed::summary_text},
};

/// The messages that a summary is about, and what is kept of them.
pub(super) struct Span {
    /// Those that are there, in order.
    pub(super) docs: Vec<u32>,
    /// The ordinal and the id of the last.
    pub(super) last: Option<(u32, MessageId)>,
    /// The newest summary that covers nothing else.
    pub(super) kept: Option<ThreadSummary>,
    /// Those that say what was corrected since.
    outdated: HashSet<u32>,
}

impl Span {
    /// Those after what the kept summary covers.
    fn told_since(&self, here: &Here) -> Vec<u32> {
        let Some(kept) = self.kept else { return self.docs.clone() };
        let later = |state: &crate::view::State| {
            let after = |doc: &&u32| state.catalog.doc(**doc).is_some_and(|it| it.ordinal > kept.through);
            self.docs.iter().rev().take_while(after).copied().collect::<Vec<u32>>()
        };
        let mut later = here.seen.read(later);
        later.reverse();
        later
    }

    fn is_covered(&self) -> bool {
        self.kept.zip(self.last).is_some_and(|(kept, (last, _))| kept.through >= last)
    }
}

impl System {
    /// `thread.get_summary`
    pub async fn thread_get_summary(&self, context: &Context, request: GetSummary) -> Result<Answer<Summary>, Error> {
        let except = usize::try_from(request.except_last.unwrap_or(0)).unwrap_or(usize::MAX);
        let here = self.in_thread_at(context, &request.profile, &request.thread_id, request.as_of).await?;
        // A read of the past, even of this very moment, asks nobody.
        let narrator = self.inner.narrator.as_ref().filter(|_| request.as_of.is_none());
        let content = self.summary_but(&here, except, narrator).await?;
        let budget = request.token_budget.and_then(|budget| u64::try_from(budget).ok()).filter(|budget| *budget > 0);
        let content = budget.map_or_else(|| content.clone(), |budget| card::cut(&content, budget));
        Ok(Answer::fresh(Summary { content }))
    }

    async fn summary_but(
        &self,
        here: &Here,
        except: usize,
        narrator: Option<&Arc<dyn Narrator>>,
    ) -> Result<String, Error> {
        let span = self.span(here, except, THREAD_SUMMARY_MESSAGES_MAX);
        if span.docs.is_empty() {
            return Ok(String::new());
        }
        if let Some(narrator) = narrator.filter(|_| !span.is_covered()) {
            let keeps = here.read(|_, thread| settings::keeps_summary(&thread.settings)).unwrap_or(false);
            let narrating = async {
                match keeps && except == 0 {
                    true => self.renewed(here, narrator).await,
                    false => Ok(self.narrated_span(here, narrator, &span).await?.map(|told| told.text)),
                }
            };
            // Waiting for others who ask the same counts, too.
            let narrated = tokio::time::timeout(Duration::from_secs(NARRATION_S_MAX), narrating).await;
            let narrated = narrated.unwrap_or(Ok(None))?;
            if let Some(text) = narrated {
                return Ok(text);
            }
        }
        self.kept_and_since(here, &span).await
    }

    /// So many of the newest messages of a thread, but the very newest.
    pub(super) fn span(&self, here: &Here, except: usize, messages_max: usize) -> Span {
        let now = self.now();
        let span = here.read(|state, thread| {
            let catalog = &state.catalog;
            let newest = || catalog.messages_in(here.number, now).rev().skip(except);
            let last = newest().next().map(|(_, it)| (it.ordinal, MessageId(it.id)));
            let mut docs: Vec<(u32, MessageId)> =
                newest().take(messages_max).map(|(doc, it)| (doc, MessageId(it.id))).collect();
            docs.reverse();
            let kept = catalog.summary_of(here.number, now).filter(|_| settings::keeps_summary(&thread.settings));
            // One that covers a message which is left out tells of it; what stood behind the last one is gone.
            let kept = kept.filter(|kept| except == 0 || last.is_some_and(|(last, _)| kept.through <= last));
            let outdated = docs.iter().filter(|(_, id)| catalog.is_outdated(*id, now)).map(|(doc, _)| *doc);
            Span { outdated: outdated.collect(), docs: docs.into_iter().map(|(doc, _)| doc).collect(), last, kept }
        });
        span.unwrap_or(Span { docs: Vec::new(), last: None, kept: None, outdated: HashSet::new() })
    }

    /// What is kept, and what was said since. No model is called.
    pub(super) async fn kept_and_since(&self, here: &Here, span: &Span) -> Result<String, Error> {
        let kept = match span.kept {
            Some(kept) => summary_text(&self.inner.environment.log, &here.profile, here.place.key.stream, kept),
            None => Ok(None),
        };
        let kept = kept.map_err(broken)?;
        // Its text may be gone since: then nothing is covered.
        let since = if kept.is_some() { span.told_since(here) } else { span.docs.clone() };
        let lines = self.lines(here, span, since).await?;
        let summarising = move || transcript::summary(&lines, THREAD_SUMMARY_CHARS_MAX);
        let told = crate::blocking::run(summarising).await.map_err(panicked)?;
        let parts = kept.into_iter().chain(Some(told));
        Ok(parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n"))
    }

    /// Standing orders are nothing that was talked about, and what was corrected would be told as if it still held; where there is
    /// nothing else, they are told.
    async fn lines(&self, here: &Here, span: &Span, docs: Vec<u32>) -> Result<Vec<Line>, Error> {
        let (outdated, told): (Vec<u32>, Vec<u32>) = docs.into_iter().partition(|doc| span.outdated.contains(doc));
        let all = if told.is_empty() { outdated } else { told };
        let messages = self.messages(here.clone(), all, Bytes::None).await?;
        let orders = messages.iter().all(|message| message.role == "system");
        let shown = messages.into_iter().filter(|message| orders || message.role != "system");
        Ok(shown.map(|it| Line { text: text_of(&it), who: it.speaker.unwrap_or(it.role) }).collect())
    }

    /// The kept summary once it covers every message, written anew if need be; none if no model writes it.
    async fn renewed(&self, here: &Here, narrator: &Arc<dyn Narrator>) -> Result<Option<String>, Error> {
        let stream = here.place.key.stream;
        // Who asks for the same at once waits for the first, and finds what that had written.
        let _pass = self.inner.edits.enter(stream.0).await;
        let here = Here { seen: Seen::Present(self.views(here.profile).await?), ..here.clone() };
        let span = self.span(&here, 0, THREAD_SUMMARY_MESSAGES_MAX);
        if let Some(kept) = span.kept.filter(|_| span.is_covered()) {
            return summary_text(&self.inner.environment.log, &here.profile, stream, kept).map_err(broken);
        }
        let Some(summary) = self.narrated_span(&here, narrator, &span).await? else { return Ok(None) };
        let Some((_, through)) = span.last else { return Ok(None) };
        let text = summary.text.clone();
        // What came between is a reason not to keep it, and none not to show it: it was true of what was read.
        if let Err(failure) = self.inner.threads.execute(here.place, Summarise { summary, through }, None).await {
            tracing::debug!(%failure, "a summary that was asked for is not kept");
        }
        Ok(Some(text))
    }

    /// What a narrator writes about the messages; none if it fails, or what it read may not be told any more.
    async fn narrated_span(
        &self,
        here: &Here,
        narrator: &Arc<dyn Narrator>,
        span: &Span,
    ) -> Result<Option<NewSummary>, Error> {
        let (Seen::Present(views), Some((last, _))) = (&here.seen, span.last) else { return Ok(None) };
        let (views, number, system) = (Arc::clone(views), here.number, self.clone());
        let reading = {
            let views = Arc::clone(&views);
            crate::blocking::run(move || system.inner.session_through(&views, number, last))
        };
        let Some(session) = reading.await.map_err(panicked)?.map_err(broken)? else { return Ok(None) };
        let (changes, speakers_gone, narrator) = (session.changes, session.speakers_gone, Arc::clone(narrator));
        let writing = crate::blocking::run(move || narrator.summarise(&session));
        let text = match writing.await.map_err(panicked)? {
            Ok(text) if is_summary(&text) => text,
            Ok(_) => return Ok(None),
            Err(failed) => {
                tracing::debug!(%failed, "a thread is summarised without the narrator");
                return Ok(None);
            }
        };
        let same = |views: &ProfileViews| {
            let state = views.read();
            let unchanged = state.catalog.thread(number).is_some_and(|it| !it.deleted && it.changes == changes);
            unchanged && state.catalog.speakers_gone() == speakers_gone
        };
        Ok(same(&views).then_some(NewSummary { text, changes }))
    }
}

/// The words of a message, its pictures among them.
pub(super) fn text_of(message: &Message) -> String {
    let part = |part: &Part| match (&part.text, part.description.as_ref().and_then(Option::as_deref)) {
        (Some(text), _) => text.clone(),
        (None, Some(description)) => format!("[image: {description}]"),
        (None, None) => "[image]".to_owned(),
    };
    match &message.content {
        Content::Text(text) => text.clone(),
        Content::Parts(parts) => parts.iter().map(part).collect::<Vec<_>>().join("\n"),
    }
}
