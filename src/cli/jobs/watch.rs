//! `memlog jobs watch`: a line for each change of a job, as it happens.

use std::{
    collections::{HashMap, VecDeque},
    time::Duration,
};

use memlog_actors::api::job::{Get, Job, List, State};

use crate::{
    cli::{
        Outcome, Shell,
        fail::Fail,
        screen::{BAD, DIM, GOOD, WARNING},
        words::{self, written},
    },
    signals::Signals,
};

/// How often is looked.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// Jobs of each open state, and newest ones, that a look asks for.
const PAGE: u64 = 500;
/// Jobs that left the list unseen and are asked for one by one, in a look.
const ASKED_MAX: usize = 50;
/// Open jobs that are followed to their end; of more than so many only the lists tell.
const OPEN_MAX: usize = 2 * PAGE as usize;
/// Ended jobs that are remembered as shown; more than a page, so that none is shown twice.
const ENDED_MAX: usize = 4 * PAGE as usize;

/// How.
#[derive(Debug, Default, clap::Args)]
pub(super) struct Args {
    /// End when no job is queued or running any more
    #[arg(long)]
    until_idle: bool,
}

/// What has been shown.
#[derive(Default)]
struct Shown {
    open: HashMap<String, (State, u32)>,
    ended: VecDeque<String>,
}

impl Shown {
    /// Whether this is news.
    fn note(&mut self, job: &Job) -> bool {
        if is_open(job) {
            let now = (job.state, job.attempts);
            // A retry brings one back.
            self.ended.retain(|id| *id != job.job_id);
            if self.open.len() >= OPEN_MAX && !self.open.contains_key(&job.job_id) {
                return false;
            }
            return self.open.insert(job.job_id.clone(), now) != Some(now);
        }
        self.open.remove(&job.job_id);
        if self.ended.contains(&job.job_id) {
            return false;
        }
        self.ended.push_back(job.job_id.clone());
        if self.ended.len() > ENDED_MAX {
            self.ended.pop_front();
        }
        true
    }
}

fn is_open(job: &Job) -> bool {
    matches!(job.state, State::Queued | State::Running)
}

impl Args {
    pub(super) async fn run(self, shell: &Shell) -> Result<Outcome, Fail> {
        let mut signals =
            Signals::listen().map_err(|error| Fail::Usage(format!("signals cannot be heard: {error}")))?;
        let mut shown = Shown::default();
        // What ended before is no news.
        for job in list(shell, None).await? {
            if is_open(&job) && tell(shell, &job).is_err() {
                return Ok(Outcome::Done);
            }
            shown.note(&job);
        }
        loop {
            let mut jobs = Vec::new();
            for state in [Some(State::Running), Some(State::Queued), None] {
                jobs.extend(list(shell, state).await?);
            }
            // One that ended and is no longer among the newest.
            let listed = |id: &String| jobs.iter().any(|job| job.job_id == *id);
            let missing: Vec<String> = shown.open.keys().filter(|id| !listed(id)).take(ASKED_MAX).cloned().collect();
            for job_id in missing {
                match shell.call(Get { job_id: job_id.clone(), as_of: None }).await {
                    Ok(one) => jobs.push(one.job),
                    // Its session or profile was deleted.
                    Err(Fail::Refused(_)) => drop(shown.open.remove(&job_id)),
                    Err(other) => return Err(other),
                }
            }
            jobs.sort_by(|one, other| (one.created_at, &one.job_id).cmp(&(other.created_at, &other.job_id)));
            for job in &jobs {
                if shown.note(job) && tell(shell, job).is_err() {
                    return Ok(Outcome::Done);
                }
            }
            if self.until_idle && shown.open.is_empty() {
                return Ok(Outcome::Done);
            }
            tokio::select! {
                () = signals.next() => return Ok(Outcome::Done),
                () = tokio::time::sleep(LOOK_EVERY) => {}
            }
        }
    }
}

/// The newest first.
async fn list(shell: &Shell, state: Option<State>) -> Result<Vec<Job>, Fail> {
    let profile = shell.settings.profile_named.clone();
    let request = List { profile, state, limit: Some(PAGE), ..List::default() };
    match shell.call(request).await {
        Ok(listed) => Ok(listed.jobs),
        // It may come to be while one watches.
        Err(Fail::Refused(error)) if error.kind == memlog_actors::api::error::Kind::NotFound => Ok(Vec::new()),
        Err(other) => Err(other),
    }
}

/// Fails when nobody reads any more.
fn tell(shell: &Shell, job: &Job) -> std::io::Result<()> {
    if shell.screen.is_json() {
        return shell.screen.written(&serde_json::to_string(job)?);
    }
    shell.screen.written(&line(job))
}

fn line(job: &Job) -> String {
    let style = match job.state {
        State::Queued => DIM,
        State::Running => WARNING,
        State::Done => GOOD,
        State::Failed => BAD,
    };
    let session = job.session_id.as_deref().map(|session| format!("/{}", words::harmless(session))).unwrap_or_default();
    let more = match (job.state, &job.error) {
        (State::Done, _) => format!("{} memories", job.records.len()),
        (State::Failed, Some(code)) => format!("{code}, after {} tries", job.attempts),
        (_, _) if job.attempts > 1 => format!("try {}", job.attempts),
        _ => String::new(),
    };
    let (state, profile) = (written(&job.state), words::harmless(&job.profile));
    format!("{DIM}{}{DIM:#}  {style}{state:<7}{style:#}  {profile}{session}  {more}", job.job_id)
}

#[cfg(test)]
mod tests {
    use memlog_actors::api::Time;

    use super::*;

    fn job(id: &str, state: State, attempts: u32) -> Job {
        Job {
            job_id: id.to_owned(),
            profile: "ann".to_owned(),
            session_id: None,
            state,
            attempts,
            error: None,
            records: Vec::new(),
            created_at: Time::parse("2026-05-04T09:00:00Z").unwrap(),
        }
    }

    /// Each change is told once, another try and a retry of a failed job included.
    #[test]
    fn a_change_is_told_once() {
        let mut shown = Shown::default();
        let told = [
            (job("a", State::Queued, 0), true),
            (job("a", State::Queued, 0), false),
            (job("a", State::Running, 1), true),
            (job("a", State::Running, 2), true),
            (job("a", State::Failed, 2), true),
            (job("a", State::Failed, 2), false),
            (job("a", State::Queued, 0), true),
            (job("a", State::Done, 1), true),
            (job("a", State::Done, 1), false),
        ];
        for (job, news) in told {
            assert_eq!(shown.note(&job), news, "{:?} {}", job.state, job.attempts);
        }
        assert!(shown.open.is_empty());
    }
}
