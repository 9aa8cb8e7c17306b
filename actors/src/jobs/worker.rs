//! A worker takes a job, fetches its messages, has them extracted, and sends the result back as a command, keyed by the job.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use memlog_events::{
    code::RoleCode,
    event::{ByV1, Content},
    ids::{Digest, JobId, MessageId, RecordId, SpeakerId, StreamId},
};

use crate::{
    api::{job::State, record::ItemType},
    domain::{
        Place, Rejection,
        record::Invalidate,
        text::normalised,
        thread::{ApplyExtraction, FailExtraction, Found},
    },
    entity::Failure,
    port::{ExtractFailed, Extracted, Role, Ticket, Turn, Work},
    system::{Inner, Tried, lookup::lock, remember::type_code},
    view::{ProfileViews, State as Views, catalog::Doc, indexed::content_of},
};

/// Messages before the ones to extract that are given for context.
const BEFORE_MAX: usize = 10;
/// Records given as known, for each message; together at most `KNOWN_MAX`.
const KNOWN_EACH: usize = 5;
/// Records given as known in all.
const KNOWN_MAX: usize = 50;
/// The first wait before a failed try is repeated; it doubles with each try.
const BACK_OFF: Duration = Duration::from_millis(200);
/// The longest such wait.
const BACK_OFF_MAX: Duration = Duration::from_secs(60);

/// One worker of this process.
pub(crate) struct Worker {
    inner: Arc<Inner>,
}

/// What is to be extracted, and what its answer refers to.
struct Prepared {
    work: Work,
    messages: Vec<(MessageId, Option<SpeakerId>)>,
    known: Vec<(RecordId, StreamId)>,
}

/// Why a try came to nothing.
enum Unfinished {
    /// Nothing is left to do: the thread is gone, or the job was done before.
    Moot,
    /// The extraction failed.
    Failed(ExtractFailed),
}

impl Worker {
    pub(crate) fn new(inner: Arc<Inner>) -> Self {
        Self { inner }
    }

    /// Until the queue closes.
    pub(crate) async fn run(self) {
        while let Some(ticket) = self.inner.queue.take().await {
            self.tells(ticket, true);
            match self.work(ticket).await {
                Ok(()) | Err(Unfinished::Moot) => self.finish(ticket),
                Err(Unfinished::Failed(failed)) => self.give_up_or_repeat(ticket, &failed).await,
            }
        }
    }

    fn tells(&self, ticket: Ticket, running: bool) {
        lock(&self.inner.tried).insert(ticket.job, Tried { attempts: ticket.attempts + 1, running });
    }

    fn finish(&self, ticket: Ticket) {
        lock(&self.inner.tried).remove(&ticket.job);
        self.inner.queue.finish(ticket);
    }

    fn again(&self, ticket: Ticket, next: Ticket, wait: Duration) {
        self.tells(ticket, false);
        self.inner.queue.again(next, wait);
    }

    async fn give_up_or_repeat(&self, ticket: Ticket, failed: &ExtractFailed) {
        let attempts = ticket.attempts + 1;
        if failed.transient && attempts < self.inner.environment.limits.job_attempts_max {
            let wait = BACK_OFF.saturating_mul(1 << ticket.attempts.min(16)).min(BACK_OFF_MAX);
            self.again(ticket, Ticket { attempts, ..ticket }, wait);
            return;
        }
        let command = FailExtraction { job: ticket.job, code: failed.code, attempts };
        match self.inner.threads.execute(ticket.place, command, None).await {
            Ok(_) | Err(Failure::Rejected(_)) => self.finish(ticket),
            Err(failure) => {
                tracing::warn!(%failure, job = %ticket.job, "a failed job could not be marked; it is tried again");
                self.again(ticket, ticket, BACK_OFF_MAX);
            }
        }
    }

    async fn work(&self, ticket: Ticket) -> Result<(), Unfinished> {
        let views = self.views(ticket.place).await?;
        let (worker, read) = (Self::new(Arc::clone(&self.inner)), Arc::clone(&views));
        let tried = tokio::task::spawn_blocking(move || {
            let prepared = worker.prepare(&read, ticket.job)?;
            let extracted = worker.inner.extractor.extract(&prepared.work).map_err(Unfinished::Failed)?;
            Ok((extracted, prepared.messages, prepared.known))
        });
        // A panic in an extractor is a failure of this job alone.
        let panicked = |_| Unfinished::Failed(ExtractFailed { code: "extractor_panicked", transient: false });
        let (extracted, messages, known) = tried.await.map_err(panicked)??;
        self.apply(ticket, &views, extracted, &messages, &known).await
    }

    async fn views(&self, place: Place) -> Result<Arc<ProfileViews>, Unfinished> {
        let views = self.inner.registry.present(place, self.inner.environment.now()).await;
        views.map_err(|error| {
            tracing::warn!(%error, "a job waits for the profile's views");
            Unfinished::Failed(ExtractFailed { code: "views_unavailable", transient: true })
        })
    }

    /// What the extractor gets. The views are looked at a document at a time: who holds them for long holds up every reader
    /// that waits for its own write.
    fn prepare(&self, views: &ProfileViews, id: JobId) -> Result<Prepared, Unfinished> {
        let now = self.inner.environment.now();
        let (turns, before) = {
            let state = views.read();
            let catalog = &state.catalog;
            let job = catalog.job(id).filter(|job| job.state == State::Queued).ok_or(Unfinished::Moot)?;
            let living = |doc: &u32| catalog.visible(*doc, now).is_some();
            let turns: Vec<u32> = job.messages.iter().filter_map(|id| catalog.by_uuid(id.0)).filter(living).collect();
            let back =
                turns.first().map(|first| (1..=BEFORE_MAX as i32).rev().map(|back| catalog.beside(*first, -back)));
            let before: Vec<u32> = back.into_iter().flatten().flatten().filter(living).collect();
            (turns, before)
        };
        let mut prepared = Prepared { work: Work::default(), messages: Vec::new(), known: Vec::new() };
        for doc in turns {
            if let Some((message, speaker, turn)) = self.turn(views, doc)? {
                prepared.work.turns.push(turn);
                prepared.messages.push((message, speaker));
            }
        }
        for doc in before {
            prepared.work.before.extend(self.turn(views, doc)?.map(|(_, _, turn)| turn));
        }
        self.known(views, &mut prepared)?;
        Ok(prepared)
    }

    /// Valid records nearest to the turns, by words.
    fn known(&self, views: &ProfileViews, prepared: &mut Prepared) -> Result<(), Unfinished> {
        let now = self.inner.environment.now();
        let mut seen = BTreeSet::new();
        for turn in &prepared.work.turns {
            let state = views.read();
            let valid = |doc: u32| {
                let it = state.catalog.visible(doc, now);
                it.is_some_and(|it| it.item != ItemType::Message) && state.catalog.is_valid(doc, now)
            };
            let terms = state.keyword.prepare(&turn.text);
            seen.extend(state.keyword.best(&terms, KNOWN_EACH, &valid).into_iter().map(|(doc, _)| doc));
            if seen.len() >= KNOWN_MAX {
                break;
            }
        }
        for doc in seen.into_iter().take(KNOWN_MAX) {
            let state = views.read();
            let Some(it) = state.catalog.doc(doc) else { continue };
            if let Some(Content::Saved(saved)) = self.content(views, &state, it)? {
                prepared.work.known.push(saved.content);
                let stream = state.catalog.stream_of(it, views.place.key.scope.own_stream());
                prepared.known.push((RecordId(it.id), stream));
            }
        }
        Ok(())
    }

    fn content(&self, views: &ProfileViews, state: &Views, it: &Doc) -> Result<Option<Content>, Unfinished> {
        content_of(&self.inner.environment.log, &views.place, &state.catalog, it).map_err(|error| {
            tracing::warn!(%error, "a job could not read its messages");
            Unfinished::Failed(ExtractFailed { code: "log_unreadable", transient: true })
        })
    }

    /// None if it was erased meanwhile.
    fn turn(&self, views: &ProfileViews, doc: u32) -> Result<Option<(MessageId, Option<SpeakerId>, Turn)>, Unfinished> {
        let state = views.read();
        let Some(it) = state.catalog.doc(doc) else { return Ok(None) };
        let Some(Content::MessageAppended(content)) = self.content(views, &state, it)? else { return Ok(None) };
        let role = match it.role {
            RoleCode::USER => Role::User,
            RoleCode::ASSISTANT => Role::Assistant,
            RoleCode::SYSTEM => Role::System,
            _ => Role::Other,
        };
        let speaker = it.speaker.filter(|id| *id != SpeakerId::ME).and_then(|id| state.catalog.speaker_name(id));
        let said_at = jiff::Timestamp::from_microsecond(it.when().0).unwrap_or_default();
        let turn = Turn { role, speaker: speaker.map(str::to_owned), said_at, text: content.text };
        Ok(Some((MessageId(it.id), it.speaker, turn)))
    }

    async fn apply(
        &self,
        ticket: Ticket,
        views: &ProfileViews,
        extracted: Vec<Extracted>,
        messages: &[(MessageId, Option<SpeakerId>)],
        known: &[(RecordId, StreamId)],
    ) -> Result<(), Unfinished> {
        let prints = self.fingerprints(ticket.place, &extracted)?;
        // The gate of `remember`, so that the same statement is not saved from two sides at once.
        let _passes = self.inner.statements.enter_all(prints.clone()).await;
        let said = self.said(ticket.place, views, &extracted, &prints, messages).await?;
        let own = ticket.place.key.stream;
        let found: Vec<Found> = extracted.iter().map(|it| found(it, messages, known, own)).collect();
        let command = ApplyExtraction { job: ticket.job, attempts: ticket.attempts + 1, found, known: said };
        let applied = match self.inner.threads.execute(ticket.place, command, None).await {
            Ok(outcome) => outcome.answer,
            Err(Failure::Rejected(Rejection::Gone | Rejection::NoJob)) => return Err(Unfinished::Moot),
            Err(failure) => {
                tracing::warn!(%failure, job = %ticket.job, "a result was not stored; the job is tried again");
                return Err(Unfinished::Failed(ExtractFailed { code: "not_stored", transient: true }));
            }
        };
        for (it, new) in extracted.iter().zip(applied.0) {
            let old = it.corrects.and_then(|at| known.get(at)).filter(|(_, stream)| *stream != own);
            if let (Some((old, stream)), Some(new)) = (old, new) {
                self.invalidate(ticket.place, *stream, Invalidate { old: *old, new, by: ByV1::default() }).await;
            }
        }
        Ok(())
    }

    fn fingerprints(&self, place: Place, extracted: &[Extracted]) -> Result<Vec<Digest>, Unfinished> {
        let print = |it: &Extracted| {
            let said = normalised(&it.content);
            let parts: [&[u8]; 2] = [b"statement", said.as_bytes()];
            self.inner.environment.log.digest_in(place.scope_slot, &parts).ok().flatten()
        };
        extracted.iter().map(print).collect::<Option<_>>().ok_or(Unfinished::Moot)
    }

    /// Of what was found, the statements that the profile's records make already.
    async fn said(
        &self,
        place: Place,
        views: &ProfileViews,
        extracted: &[Extracted],
        prints: &[Digest],
        messages: &[(MessageId, Option<SpeakerId>)],
    ) -> Result<crate::domain::thread::Said, Unfinished> {
        let current = self.views(place).await?;
        let state = if std::ptr::eq(Arc::as_ptr(&current), views) { views.read() } else { current.read() };
        let now = self.inner.environment.now();
        let mut said = crate::domain::thread::Said::new();
        for (it, print) in extracted.iter().zip(prints) {
            let stored = it.sources.first().and_then(|at| messages.get(*at)).and_then(|message| message.1);
            // A tag that was removed is shown nowhere, and compares like none.
            let shown = stored.filter(|id| state.catalog.speaker_name(*id).is_some());
            if state.catalog.saying(*print, shown, now).is_some() {
                said.insert((stored, *print));
            }
        }
        Ok(said)
    }

    /// The second half of a correction across threads. If it is lost, both records stay valid, which loses nothing.
    async fn invalidate(&self, place: Place, stream: StreamId, command: Invalidate) {
        let done = if stream == place.key.scope.own_stream() {
            let profile = Place { key: memlog_events::ids::StreamKey { stream, ..place.key }, ..place };
            self.inner.profiles.execute(profile, command, None).await.map(drop)
        } else {
            self.inner.threads.execute(self.inner.thread_place(&place, stream), command, None).await.map(drop)
        };
        match done {
            Ok(()) | Err(Failure::Rejected(_)) => {}
            Err(failure) => tracing::warn!(%failure, "a corrected record of another session stays valid"),
        }
    }
}

fn found(
    it: &Extracted,
    messages: &[(MessageId, Option<SpeakerId>)],
    known: &[(RecordId, StreamId)],
    own: StreamId,
) -> Found {
    let corrects = it.corrects.and_then(|at| known.get(at)).filter(|(_, stream)| *stream == own);
    Found {
        record_type: type_code(it.record_type),
        content: it.content.clone(),
        summary: it.summary.clone(),
        timestamp: it.timestamp.map(|at| memlog_events::ids::Micros(at.as_microsecond())),
        sources: it.sources.iter().filter_map(|at| messages.get(*at)).map(|message| message.0).collect(),
        corrects: corrects.map(|known| known.0),
    }
}
