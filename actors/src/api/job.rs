//! `job.*`: extraction jobs.

use serde::{Deserialize, Serialize};

use super::{AsOf, Time, verb};

/// How far a job is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Accepted; durable.
    Queued,
    /// A worker has it.
    Running,
    /// Its records are stored.
    Done,
    /// Given up; the raw messages stay.
    Failed,
}

/// A job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// Its id.
    pub job_id: String,
    /// The profile it works for.
    pub profile: String,
    /// The session it works on.
    pub session_id: Option<String>,
    /// How far it is.
    pub state: State,
    /// How often it was tried.
    pub attempts: u32,
    /// A code, if it failed.
    pub error: Option<String>,
    /// Ids of the records it made.
    pub records: Vec<String>,
    /// When it was accepted.
    pub created_at: Time,
}

/// `job.get`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Get {
    /// The job.
    pub job_id: String,
    /// As the log stood then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_of: Option<AsOf>,
}

/// A reply that is one job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OneJob {
    /// The job.
    pub job: Job,
}
verb!(Get, "job", "get", OneJob, job_get);

/// `job.list`: newest first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct List {
    /// Only this profile's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// Only in this state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<State>,
    /// 1 to 500, 20 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// Of the page before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// As the log stood then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_of: Option<AsOf>,
}

/// Reply of `job.list`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Listed {
    /// A page of them.
    pub jobs: Vec<Job>,
    /// Absent on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}
verb!(List, "job", "list", Listed, job_list);

/// `job.retry`: a failed job is queued again.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Retry {
    /// The job.
    pub job_id: String,
}
verb!(Retry, "job", "retry", OneJob, job_retry);
