//! The desk of this node: what workers get and leave. A result becomes a command, keyed by its job, so that a second delivery
//! changes nothing.

use std::{borrow::Cow, sync::Arc, time::Duration};

use memlog_events::{
    event::ByV1,
    ids::{Digest, JobId, MessageId, Micros, RecordId, SpeakerId, StreamId, StreamKey},
};

use crate::{
    domain::{
        Place, Rejection,
        record::Invalidate,
        text::normalised,
        thread::{ApplyExtraction, FailExtraction, Found, NewSummary, Said},
    },
    entity::Failure,
    limits::CONTENT_BYTES_MAX,
    port::{Assignment, Desk, DeskClosed, Eventually, ExtractFailed, Extracted, Finding, Session, Summary, Ticket},
    same::Statement,
    system::{
        Inner, System,
        duplicate::{Saying, author, same_record},
        inherits,
        remember::type_code,
    },
    view::{ProfileViews, State},
};

/// The first wait before a failed try is repeated; it doubles with each try.
const BACK_OFF: Duration = Duration::from_millis(250);
/// The longest such wait.
const BACK_OFF_MAX: Duration = Duration::from_secs(60);
/// Tries that ended with their worker, without a word, after which the job itself is taken for the cause.
const LOST_TRIES_MAX: u32 = 20;
/// Memories in one result: more than 500 messages of full length can say.
const FOUND_MAX: usize = 100_000;
/// Memories stored at once, each an event and perhaps two more for what it supersedes: a batch of the log has its bounds.
const PART_MAX: usize = 500;
/// Their texts: a part has at most so many bytes and one memory.
const PART_BYTES_MAX: usize = 4 << 20;
/// A summary is one line.
const SUMMARY_BYTES_MAX: usize = 1_024;
/// The summary of a session: what a narrator may write.
const SESSION_SUMMARY_BYTES_MAX: usize = 8_192;
/// A stable code.
const CODE_BYTES_MAX: usize = 64;

/// Why there is no assignment.
pub(super) enum Unprepared {
    /// Nothing is left to do: the thread is gone, or the job was done before.
    Moot,
    /// The try failed.
    Failed(ExtractFailed),
    /// The node cannot say now.
    Closed(DeskClosed),
}

impl Desk for System {
    fn fetch(&self, job: JobId) -> Eventually<'_, Result<Option<Assignment>, DeskClosed>> {
        Box::pin(self.inner.fetch(job))
    }

    fn session(&self, job: JobId) -> Eventually<'_, Result<Option<Session>, DeskClosed>> {
        Box::pin(self.inner.session_of(job))
    }

    fn complete(&self, job: JobId, finding: Finding) -> Eventually<'_, Result<(), DeskClosed>> {
        Box::pin(self.inner.complete(job, finding))
    }

    fn fail(&self, job: JobId, failed: ExtractFailed) -> Eventually<'_, Result<Option<Duration>, DeskClosed>> {
        Box::pin(self.inner.fail(job, failed))
    }
}

impl Inner {
    /// The open job; none if all that is in the log now says that it needs no work.
    async fn open_job(&self, job: JobId) -> Option<Ticket> {
        let mut stopping = self.stopping.subscribe();
        tokio::select! {
            biased;
            () = self.promises.noted(self.environment.log.head()) => {}
            // Nothing is noted any more, and what a worker has in its hands was noted before.
            _ = stopping.wait_for(|stopping| *stopping) => {}
        }
        self.promises.open(job)
    }

    async fn fetch(self: &Arc<Self>, job: JobId) -> Result<Option<Assignment>, DeskClosed> {
        let open = self.open_job(job).await;
        if *self.stopping.borrow() {
            // Whether it is open can no longer be said, and nothing new is begun.
            return Err(DeskClosed("the node is shutting down".to_owned()));
        }
        let Some(ticket) = open else { return Ok(None) };
        let begun = self.promises.tried(job, |tries| {
            tries.begun += 1;
            tries.running = true;
        });
        let Some(tries) = begun else { return Ok(None) };
        if tries.begun.saturating_sub(tries.failed) > LOST_TRIES_MAX {
            return self.give_up(ticket, Cow::Borrowed("workers_lost"), tries.begun).await.map(|()| None);
        }
        self.queue.taken(job);
        match self.prepared(ticket).await {
            Ok(assignment) => Ok(Some(assignment)),
            Err(Unprepared::Moot) => Ok(None),
            Err(Unprepared::Failed(failed)) => {
                // The job is still in the worker's hands: closed to it, it comes back.
                let reason = failed.to_string();
                self.fail(job, failed).await?;
                Err(DeskClosed(reason))
            }
            Err(Unprepared::Closed(closed)) => {
                self.promises.tried(job, |tries| {
                    // Of a retry of the same job, none has begun.
                    tries.begun = tries.begun.saturating_sub(1);
                    tries.running = false;
                });
                Err(closed)
            }
        }
    }

    async fn prepared(self: &Arc<Self>, ticket: Ticket) -> Result<Assignment, Unprepared> {
        let views = self.job_views(ticket.place).await.map_err(Unprepared::Closed)?;
        let inner = Arc::clone(self);
        let preparing = crate::blocking::run(move || inner.prepare(&views, ticket.job));
        preparing.await.unwrap_or(Err(Unprepared::Failed(ExtractFailed::lasting("preparation_panicked"))))
    }

    async fn session_of(self: &Arc<Self>, job: JobId) -> Result<Option<Session>, DeskClosed> {
        let Some(ticket) = self.open_job(job).await else { return Ok(None) };
        let views = self.job_views(ticket.place).await?;
        let inner = Arc::clone(self);
        let preparing = crate::blocking::run(move || inner.session_for(&views, job));
        match preparing.await {
            Ok(Ok(session)) => Ok(session),
            Ok(Err(Unprepared::Closed(closed))) => Err(closed),
            Ok(Err(Unprepared::Moot | Unprepared::Failed(_))) | Err(_) => Ok(None),
        }
    }

    async fn job_views(&self, place: Place) -> Result<Arc<ProfileViews>, DeskClosed> {
        let views = self.registry.present(place, self.environment.now()).await;
        views.map_err(|error| DeskClosed(format!("the profile's views are not there: {error}")))
    }

    async fn fail(&self, job: JobId, failed: ExtractFailed) -> Result<Option<Duration>, DeskClosed> {
        let Some(ticket) = self.open_job(job).await else { return Ok(None) };
        let failing = self.promises.tried(job, |tries| {
            tries.failed += 1;
            // A worker of a node that was restarted since has begun in another life.
            tries.begun = tries.begun.max(tries.failed);
            tries.running = false;
        });
        let Some(tries) = failing else { return Ok(None) };
        if failed.transient && tries.failed < self.environment.limits.job_attempts_max {
            return Ok(Some(BACK_OFF.saturating_mul(1 << (tries.failed - 1).min(16)).min(BACK_OFF_MAX)));
        }
        self.give_up(ticket, failed.code, tries.begun).await.map(|()| None)
    }

    async fn give_up(&self, ticket: Ticket, code: Cow<'static, str>, attempts: u32) -> Result<(), DeskClosed> {
        let well_formed = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'_';
        let plain = !code.is_empty() && code.len() <= CODE_BYTES_MAX && code.bytes().all(well_formed);
        // It is stored in plain, and a worker might put a text there.
        let code = if plain { code } else { Cow::Borrowed("unknown") };
        match self.threads.execute(ticket.place, FailExtraction { job: ticket.job, code, attempts }, None).await {
            Ok(_) | Err(Failure::Rejected(_)) => Ok(()),
            Err(failure) => Err(DeskClosed(format!("the job could not be marked as failed: {failure}"))),
        }
    }

    async fn complete(self: &Arc<Self>, job: JobId, finding: Finding) -> Result<(), DeskClosed> {
        let Some(ticket) = self.open_job(job).await else { return Ok(()) };
        if !well_formed(&finding) {
            return self.fail(job, ExtractFailed::lasting("malformed_result")).await.map(drop);
        }
        let Some(prints) = self.fingerprints(ticket.place, &finding.extracted)? else { return Ok(()) };
        // The gate of `remember`, so that the same words are not saved from two sides at once. What says the same in other words may
        // be, and is then there twice.
        let _passes = self.statements.enter_all(prints.clone()).await;
        let views = self.job_views(ticket.place).await?;
        let (finding, inner, place) = (Arc::new(finding), Arc::clone(self), ticket.place);
        let comparing = {
            let finding = Arc::clone(&finding);
            let views = Arc::clone(&views);
            crate::blocking::run(move || inner.against_views(place, job, &views, &finding, &prints))
        };
        let Ok((said, known)) = comparing.await else {
            // It would panic the next time, too.
            return self.fail(job, ExtractFailed::lasting("comparison_panicked")).await.map(drop);
        };
        let own = ticket.place.key.stream;
        let inherited = inherited(&views.read(), job, &finding);
        let found = finding
            .extracted
            .iter()
            .zip(inherited)
            .map(|(it, metadata)| Found { metadata, ..found(it, &finding.messages, &known, own) });
        let found: Vec<Found> = found.collect();
        // A node that was restarted since the worker began knows of no try.
        let attempts = self.promises.tries(job).map_or(1, |tries| tries.begun);
        let new = |it: &Summary| NewSummary { text: it.text.clone(), changes: it.changes };
        let speakers_gone = views.read().catalog.speakers_gone();
        let summary = finding.summary.as_ref().filter(|it| it.speakers_gone == speakers_gone).map(new);
        let mut applied: Vec<Option<RecordId>> = Vec::new();
        let mut parts = parts(found).into_iter().peekable();
        while let Some(found) = parts.next() {
            let more = parts.peek().is_some();
            let (known, summary, earlier) = (said.clone(), summary.clone(), std::mem::take(&mut applied));
            let command = ApplyExtraction { job, attempts, found, known, summary, earlier, more };
            applied = match self.threads.execute(ticket.place, command, None).await {
                Ok(outcome) => outcome.answer.0,
                Err(Failure::Rejected(Rejection::Gone | Rejection::NoJob)) => return Ok(()),
                Err(failure) => return Err(DeskClosed(format!("the result was not stored: {failure}"))),
            };
        }
        for (it, new) in finding.extracted.iter().zip(applied) {
            let old = it.corrects.and_then(|at| known.get(at).copied().flatten()).filter(|(_, stream)| *stream != own);
            if let (Some((old, stream)), Some(new)) = (old, new) {
                self.invalidate(ticket.place, stream, Invalidate { old, new, by: ByV1::default() }).await;
            }
        }
        Ok(())
    }

    /// None once the profile is gone.
    fn fingerprints(&self, place: Place, extracted: &[Extracted]) -> Result<Option<Vec<Digest>>, DeskClosed> {
        let print = |it: &Extracted| {
            let said = normalised(&it.content);
            let parts: [&[u8]; 2] = [b"statement", said.as_bytes()];
            let digest = self.environment.log.digest_in(place.scope_slot, &parts);
            digest.map_err(|error| DeskClosed(format!("the log could not be read: {error}")))
        };
        extracted.iter().map(print).collect()
    }

    /// Of what was found, the statements that the profile's records make already, in these words or in others; and where the
    /// known records lie. Blocking. The views are looked at a statement at a time: a writer waits for no more than that.
    fn against_views(
        &self,
        place: Place,
        job: JobId,
        views: &ProfileViews,
        finding: &Finding,
        prints: &[Digest],
    ) -> (Said, Vec<Option<(RecordId, StreamId)>>) {
        let now = self.environment.now();
        let mut said = Said::new();
        for (it, print) in finding.extracted.iter().zip(prints) {
            let state = views.read();
            let catalog = &state.catalog;
            let doc = |id| catalog.by_uuid(id).and_then(|doc| catalog.doc(doc));
            let message = it.sources.first().and_then(|at| finding.messages.get(*at)).and_then(|id| doc(id.0));
            let stored: Option<SpeakerId> = message.and_then(|message| message.speaker);
            // A tag that was removed is shown nowhere, and compares like none.
            let shown = stored.filter(|id| catalog.speaker_name(*id).is_some());
            let thread = catalog.job(job).map(|job| job.thread);
            let owners = thread.and_then(|thread| catalog.thread(thread));
            let theirs = |doc: &u32| {
                let it = catalog.doc(*doc);
                owners.is_none_or(|thread| it.is_some_and(|it| catalog.is_of_owners(it, thread)))
            };
            let letter = catalog.all_saying(*print, shown, now).any(|doc| theirs(&doc));
            // What corrects a record is near to it by its nature.
            if letter || (it.corrects.is_none() && self.says(place, &state, it, *print, shown, thread)) {
                said.insert((stored, *print));
            }
        }
        let (state, own) = (views.read(), place.key.scope.own_stream());
        let catalog = &state.catalog;
        let doc = |id| catalog.by_uuid(id).and_then(|doc| catalog.doc(doc));
        let lies = |id: &RecordId| doc(id.0).map(|doc| (*id, catalog.stream_of(doc, own)));
        (said, finding.known.iter().map(lies).collect())
    }

    /// Whether a record says the same in other words.
    fn says(
        &self,
        place: Place,
        state: &State,
        it: &Extracted,
        fingerprint: Digest,
        speaker: Option<SpeakerId>,
        thread: Option<u32>,
    ) -> bool {
        let statement = Arc::new(Statement::new(&it.content, author(speaker)));
        let timestamp = it.timestamp.map(|at| Micros(at.as_microsecond()));
        let saying = Saying { statement, fingerprint, speaker, timestamp, thread };
        let found = same_record(&self.environment.log, &place, state, &saying, self.environment.now());
        match found {
            Ok(found) => found.is_some(),
            Err(error) => {
                tracing::warn!(%error, "a statement is stored without a look at what says the same");
                false
            }
        }
    }

    /// The second half of a correction across threads. If it is lost, both records stay valid, which loses nothing.
    async fn invalidate(&self, place: Place, stream: StreamId, command: Invalidate) {
        let done = if stream == place.key.scope.own_stream() {
            let profile = Place { key: StreamKey { stream, ..place.key }, ..place };
            self.profiles.execute(profile, command, None).await.map(drop)
        } else {
            self.threads.execute(self.thread_place(&place, stream), command, None).await.map(drop)
        };
        match done {
            Ok(()) | Err(Failure::Rejected(_)) => {}
            Err(failure) => tracing::warn!(%failure, "a corrected record of another session stays valid"),
        }
    }
}

/// What fits into a batch each; one part, an empty one, if nothing was found.
fn parts(found: Vec<Found>) -> Vec<Vec<Found>> {
    let (mut parts, mut bytes) = (vec![Vec::new()], 0);
    for it in found {
        bytes += it.content.len();
        let last = parts.last().map_or(0, Vec::len);
        if last >= PART_MAX || (last > 0 && bytes > PART_BYTES_MAX) {
            bytes = it.content.len();
            parts.push(Vec::new());
        }
        if let Some(part) = parts.last_mut() {
            part.push(it);
        }
    }
    parts
}

/// Whether a text may be kept as a session's summary.
pub(crate) fn is_summary(text: &str) -> bool {
    let fits = text.len() <= SESSION_SUMMARY_BYTES_MAX && !text.contains(char::is_control);
    fits && !text.trim().is_empty()
}

/// Workers are trusted with texts, but one of another version, or a model behind it, may send what does not fit.
fn well_formed(finding: &Finding) -> bool {
    let fits = |(place, it): (usize, &Extracted)| {
        let one_line = it.summary.len() <= SUMMARY_BYTES_MAX && !it.summary.contains(['\n', '\r']);
        let inside = it.sources.iter().all(|at| *at < finding.messages.len()) && !it.sources.is_empty();
        let known = it.corrects.is_none_or(|at| at < finding.known.len() + place);
        !it.content.trim().is_empty() && it.content.len() <= CONTENT_BYTES_MAX && one_line && inside && known
    };
    let summary = finding.summary.as_ref().is_none_or(|it| is_summary(&it.text));
    summary && finding.extracted.len() <= FOUND_MAX && finding.extracted.iter().enumerate().all(fits)
}

/// What each memory takes over from its messages, as JSON.
fn inherited(state: &State, job: JobId, finding: &Finding) -> Vec<String> {
    let catalog = &state.catalog;
    let settings = catalog.job(job).and_then(|job| catalog.thread(job.thread)).map(|thread| &thread.settings);
    let of = |it: &Extracted| {
        let Some(settings) = settings else { return "{}".to_owned() };
        let doc = |at: &usize| catalog.doc(catalog.by_uuid(finding.messages.get(*at)?.0)?);
        let sources: Vec<_> = it.sources.iter().filter_map(doc).map(|it| it.metadata.as_deref()).collect();
        serde_json::Value::Object(inherits(settings, &sources)).to_string()
    };
    finding.extracted.iter().map(of).collect()
}

fn found(it: &Extracted, messages: &[MessageId], known: &[Option<(RecordId, StreamId)>], own: StreamId) -> Found {
    let corrects = it.corrects.and_then(|at| known.get(at).copied().flatten()).filter(|(_, stream)| *stream == own);
    Found {
        record_type: type_code(it.record_type),
        content: it.content.clone(),
        summary: it.summary.clone(),
        timestamp: it.timestamp.map(|at| Micros(at.as_microsecond())),
        metadata: "{}".to_owned(),
        sources: it.sources.iter().filter_map(|at| messages.get(*at)).copied().collect(),
        corrects: corrects.map(|known| known.0),
        revises: it.corrects.and_then(|at| at.checked_sub(known.len())),
    }
}
