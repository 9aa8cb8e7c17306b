//! `job.get`, `job.list`, `job.retry`, `profile.wait`.

use std::time::Duration;

use memlog_events::{batch::ListKind, ids::JobId};
use uuid::Uuid;

use super::{
    System,
    command::{Begun, refused},
    cursor::Cursor,
    lookup::{broken, by, lock, uuid},
    past::Moment,
    validate,
};
use crate::{
    api::{
        Answer, Context, Done, Error,
        job::{Get, Job, List, Listed, OneJob, Retry, State},
        profile::Wait,
    },
    domain::{Place, Rejection, thread},
    entity::Failure,
    view::catalog,
};

impl System {
    fn job(&self, state: &crate::view::State, job: &catalog::Job, moment: Moment) -> Job {
        let running = lock(&self.inner.running).get(&job.id).copied().filter(|_| moment == Moment::Now);
        let (shown, attempts) = match (job.state, running) {
            (State::Queued, Some(attempts)) => (State::Running, attempts),
            (state, _) => (state, job.attempts),
        };
        let thread = state.catalog.thread(job.thread);
        let session = thread.filter(|thread| !thread.deleted && !thread.thread_id.is_empty());
        let living =
            |id: &memlog_events::ids::RecordId| state.catalog.by_uuid(id.0).map(|_| state.catalog.client_id(id.0));
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
        let moment = self.moment(request.as_of)?;
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
        let cursor = last.map(|job| Cursor { seq: 0, micros: 0, id: job.job_id.clone() }.to_string());
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
        let mut jobs = Vec::new();
        loop {
            let rows = self.inner.environment.log.listed(namespace, ListKind::Jobs, before, limit).map_err(broken)?;
            let Some(oldest) = rows.last() else { return Ok(jobs) };
            before = Some(oldest.id);
            for row in rows {
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
        let (id, place) = self.find_job(context, &request.job_id)?;
        let replayed = match self.begin::<()>(context).await? {
            Begun::Before(_) => true,
            Begun::Now(once) => {
                let command = thread::RetryExtraction { job: id, by: by(context) };
                match self.inner.threads.execute(place, command, once.key).await {
                    Ok(_) => false,
                    Err(Failure::Rejected(Rejection::NoJob | Rejection::Gone)) => {
                        return Err(Error::not_found("job_id", &request.job_id));
                    }
                    Err(failure) => return Err(refused(failure)),
                }
            }
        };
        let job = self.one_job(place, id, Moment::Now).await?;
        let reply = OneJob { job: job.ok_or_else(|| Error::not_found("job_id", &request.job_id))? };
        Ok(Answer { reply, replayed })
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
        let views = self.views(*place).await?;
        let mut changes = views.changes();
        let settled = async {
            loop {
                changes.mark_unchanged();
                let open = |id: &JobId| views.read().catalog.job(*id).is_some_and(|job| job.state == State::Queued);
                if !jobs.iter().any(open) || changes.changed().await.is_err() {
                    return;
                }
            }
        };
        let late = |_| Error::timeout("the extraction is not done yet; it goes on").with("field", "timeout_s");
        tokio::time::timeout(timeout, settled).await.map_err(late)
    }

    /// How far a job is now; none if it is gone.
    pub(crate) async fn job_state(&self, place: &Place, id: JobId) -> Result<Option<State>, Error> {
        Ok(self.one_job(*place, id, Moment::Now).await?.map(|job| job.state))
    }
}
