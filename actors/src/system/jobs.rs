//! `job.get`, `job.list`, `job.retry`, `profile.wait`.

use std::time::Duration;

use memlog_events::{batch::ListKind, ids::JobId};
use uuid::Uuid;

use super::{
    System,
    command::{Before, Begun, refused},
    cursor::Cursor,
    lookup::{RETRY_MS, broken, by, uuid},
    past::Moment,
    validate,
};
use crate::{
    api::{
        Answer, Context, Done, Error,
        error::Kind,
        job::{Get, Job, List, Listed, OneJob, Retry, State},
        profile::Wait,
    },
    domain::{Place, Rejection, thread},
    entity::Failure,
    view::catalog,
};

impl System {
    fn job(&self, state: &crate::view::State, job: &catalog::Job, moment: Moment) -> Job {
        let tries = self.inner.promises.tries(job.id).filter(|_| moment == Moment::Now);
        let (shown, attempts) = match (job.state, tries) {
            (State::Queued, Some(tries)) => (if tries.running { State::Running } else { State::Queued }, tries.begun),
            (state, _) => (state, job.attempts),
        };
        let thread = state.catalog.thread(job.thread);
        let session = thread.filter(|thread| !thread.deleted && !thread.thread_id.is_empty());
        let living = |id: &memlog_events::ids::RecordId| {
            let doc = state.catalog.by_uuid(id.0)?;
            state.catalog.doc(doc).filter(|it| !it.erased).map(|_| state.catalog.client_id(id.0))
        };
        Job {
            job_id: job.id.to_string(),
            profile: state.catalog.name.clone(),
            session_id: session.map(|thread| thread.thread_id.clone()),
            state: shown,
            attempts,
            error: job.error.clone(),
            records: job.records.iter().filter_map(living).collect(),
            created_at: job.created_at.into(),
        }
    }

    /// Where a job of this namespace lies.
    fn find_job(&self, context: &Context, job_id: &str) -> Result<(JobId, Place), Error> {
        validate::id("job_id", job_id)?;
        let missing = || Error::not_found("job_id", job_id);
        let id = uuid(job_id).ok_or_else(missing)?;
        let namespace = self.inner.namespace(context);
        // Rows are in the order of ids, so the newest one before the next id is the one asked for, if it is there.
        let next = Uuid::from_u128(id.as_u128().saturating_add(1));
        let rows = self.inner.environment.log.listed(namespace, ListKind::Jobs, Some(next), 1).map_err(broken)?;
        let row = rows.into_iter().find(|row| row.id == id).ok_or_else(missing)?;
        Ok((JobId(id), Place { key: row.stream, scope_slot: row.keys.scope }))
    }

    async fn one_job(&self, place: Place, id: JobId, moment: Moment) -> Result<Option<Job>, Error> {
        let seen = self.views_at(place, moment).await?;
        Ok(seen.read(|state| state.catalog.job(id).map(|job| self.job(state, job, moment))))
    }

    /// `job.get`
    pub async fn job_get(&self, context: &Context, request: Get) -> Result<Answer<OneJob>, Error> {
        validate::context(&self.inner, context)?;
        let moment = self.moment(request.as_of)?;
        let (id, place) = self.find_job(context, &request.job_id)?;
        let job = self.one_job(place, id, moment).await?;
        Ok(Answer::fresh(OneJob { job: job.ok_or_else(|| Error::not_found("job_id", &request.job_id))? }))
    }

    /// `job.list`
    pub async fn job_list(&self, context: &Context, request: List) -> Result<Answer<Listed>, Error> {
        validate::context(&self.inner, context)?;
        let limit = validate::page(request.limit)?;
        let cursor = request.cursor.as_deref().map(Cursor::parse).transpose()?;
        let moment = self.moment_of(cursor.as_ref(), request.as_of)?;
        let before = cursor.as_ref().and_then(|cursor| uuid(&cursor.id));
        let jobs = match &request.profile {
            Some(profile) => {
                validate::profile(profile)?;
                let place = self.inner.profile(context, profile)?;
                self.jobs_of(place, request.state, before, limit + 1, moment).await?
            }
            None => self.jobs_of_all(context, request.state, before, limit + 1, moment).await?,
        };
        let more = jobs.len() > limit;
        let jobs: Vec<Job> = jobs.into_iter().take(limit).collect();
        let last = jobs.last().filter(|_| more);
        let cursor = last.map(|job| Cursor { seq: moment.pinned(), micros: 0, id: job.job_id.clone() }.to_string());
        Ok(Answer::fresh(Listed { jobs, cursor }))
    }

    async fn jobs_of(
        &self,
        place: Place,
        state: Option<State>,
        before: Option<Uuid>,
        limit: usize,
        moment: Moment,
    ) -> Result<Vec<Job>, Error> {
        let seen = self.views_at(place, moment).await?;
        Ok(seen.read(|views| {
            let older = views.catalog.jobs().rev().filter(|(id, _)| before.is_none_or(|before| id.0 < before));
            let shown = older.map(|(_, job)| self.job(views, job, moment));
            shown.filter(|job| state.is_none_or(|state| job.state == state)).take(limit).collect()
        }))
    }

    async fn jobs_of_all(
        &self,
        context: &Context,
        state: Option<State>,
        mut before: Option<Uuid>,
        limit: usize,
        moment: Moment,
    ) -> Result<Vec<Job>, Error> {
        let namespace = self.inner.namespace(context);
        let only_open = moment == Moment::Now && matches!(state, Some(State::Queued | State::Running));
        if only_open {
            self.inner.promises.noted(self.inner.environment.log.head()).await;
        }
        let mut jobs = Vec::new();
        loop {
            let rows = self.inner.environment.log.listed(namespace, ListKind::Jobs, before, limit).map_err(broken)?;
            let Some(oldest) = rows.last() else { return Ok(jobs) };
            before = Some(oldest.id);
            for row in rows {
                // Most have ended, and to look at each would load the views of every profile there is.
                if only_open && self.inner.promises.open(JobId(row.id)).is_none() {
                    continue;
                }
                let place = Place { key: row.stream, scope_slot: row.keys.scope };
                let job = self.one_job(place, JobId(row.id), moment).await?;
                jobs.extend(job.filter(|job| state.is_none_or(|state| job.state == state)));
                if jobs.len() == limit {
                    return Ok(jobs);
                }
            }
        }
    }

    /// `job.retry`
    pub async fn job_retry(&self, context: &Context, request: Retry) -> Result<Answer<OneJob>, Error> {
        validate::context(&self.inner, context)?;
        validate::id("job_id", &request.job_id)?;
        let once = match self.begin::<()>(context).await? {
            Begun::Before(before) => {
                let reply = OneJob { job: self.job_before(context, request.job_id, &before).await? };
                return Ok(Answer { reply, replayed: true });
            }
            Begun::Now(once) => once,
        };
        let (id, place) = self.find_job(context, &request.job_id)?;
        let command = thread::RetryExtraction { job: id, by: by(context) };
        match self.inner.threads.execute(place, command, once.key).await {
            Ok(_) => {}
            Err(Failure::Rejected(Rejection::NoJob | Rejection::Gone)) => {
                return Err(Error::not_found("job_id", &request.job_id));
            }
            Err(failure) => return Err(refused(failure)),
        }
        let job = self.one_job(place, id, Moment::Now).await?;
        let job = job.ok_or_else(|| Error::not_found("job_id", &request.job_id))?;
        Ok(Answer::fresh(OneJob { job }))
    }

    /// The job of a replayed reply: as it was then, or what can still be said of one that is gone.
    async fn job_before(&self, context: &Context, job_id: String, before: &Before<()>) -> Result<Job, Error> {
        let moment = Moment::Past(before.at);
        match self.find_job(context, &job_id) {
            Ok((id, place)) => {
                if let Some(job) = self.one_job(place, id, moment).await? {
                    return Ok(job);
                }
            }
            Err(error) if error.kind == Kind::NotFound => {}
            Err(error) => return Err(error),
        }
        Ok(Job {
            job_id,
            profile: String::new(),
            session_id: None,
            state: State::Queued,
            attempts: 0,
            error: None,
            records: Vec::new(),
            created_at: before.time.into(),
        })
    }

    /// `profile.wait`
    pub async fn profile_wait(&self, context: &Context, request: Wait) -> Result<Answer<Done>, Error> {
        validate::context(&self.inner, context)?;
        validate::profile(&request.profile)?;
        let timeout = validate::timeout(request.timeout_s)?;
        let place = self.inner.profile(context, &request.profile)?;
        let views = self.views(place).await?;
        let open = |job: &catalog::Job| job.state == State::Queued;
        let jobs: Vec<JobId> = match &request.job_id {
            Some(job_id) => {
                validate::id("job_id", job_id)?;
                let missing = || Error::not_found("job_id", job_id);
                let id = uuid(job_id).map(JobId).ok_or_else(missing)?;
                views.read().catalog.job(id).map(|_| vec![id]).ok_or_else(missing)?
            }
            None => views.read().catalog.jobs().filter(|(_, job)| open(job)).map(|(id, _)| *id).collect(),
        };
        self.wait_for(&place, &jobs, timeout).await?;
        Ok(Answer::fresh(Done {}))
    }

    /// Until each job is done, failed or gone; 504 when the time is over.
    pub(crate) async fn wait_for(&self, place: &Place, jobs: &[JobId], timeout: Duration) -> Result<(), Error> {
        let mut stopping = self.inner.stopping.subscribe();
        let late = |_| Error::timeout("the extraction is not done yet; it goes on").with("field", "timeout_s");
        tokio::select! {
            biased;
            settled = tokio::time::timeout(timeout, self.settled(place, jobs)) => settled.map_err(late)?,
            // No job is done any more before the next start.
            _ = stopping.wait_for(|stopping| *stopping) => Err(Error::unavailable("memlog is shutting down", RETRY_MS)),
        }
    }

    async fn settled(&self, place: &Place, jobs: &[JobId]) -> Result<(), Error> {
        loop {
            let views = self.views(*place).await?;
            let mut changes = views.changes();
            // Views that are dropped say so, and never change again: go on with those that are loaded then.
            loop {
                changes.mark_unchanged();
                if views.is_released() {
                    break;
                }
                let open = |id: &JobId| views.read().catalog.job(*id).is_some_and(|job| job.state == State::Queued);
                if !jobs.iter().any(open) || changes.changed().await.is_err() {
                    return Ok(());
                }
            }
        }
    }

    /// How far a job is now; none if it is gone.
    pub(crate) async fn job_state(&self, place: &Place, id: JobId) -> Result<Option<State>, Error> {
        Ok(self.one_job(*place, id, Moment::Now).await?.map(|job| job.state))
    }
}
