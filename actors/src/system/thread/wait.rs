//! `thread.wait_for_memory_extraction`, and the deletions that wait for it.

use std::time::Duration;

use memlog_events::ids::JobId;

use super::Here;
use crate::{
    api::{Answer, Context, Done, Error, job::State, thread::WaitForMemoryExtraction},
    limits::{EXTRACTION_WAIT_S_DEFAULT, WAIT_S_MAX},
    system::System,
};

/// Null waits on: as long as a client may be thought to be there.
const WAIT_ON: Duration = Duration::from_secs(366 * 86_400);

impl System {
    /// `thread.wait_for_memory_extraction`
    pub async fn thread_wait(
        &self,
        context: &Context,
        request: WaitForMemoryExtraction,
    ) -> Result<Answer<Done>, Error> {
        let timeout = match request.timeout {
            None => Duration::from_secs_f64(EXTRACTION_WAIT_S_DEFAULT),
            Some(None) => WAIT_ON,
            Some(Some(seconds)) if seconds.is_finite() && (0.0..=WAIT_S_MAX).contains(&seconds) => {
                Duration::from_secs_f64(seconds)
            }
            Some(Some(_)) => {
                let message = format!("timeout must be 0 to {WAIT_S_MAX} seconds, or null");
                return Err(Error::invalid("timeout", message).with("limit", WAIT_S_MAX));
            }
        };
        let here = self.in_thread(context, &request.profile, &request.thread_id).await?;
        self.extracted(&here, timeout).await.map_err(|error| error.with("field", "timeout"))?;
        Ok(Answer::fresh(Done {}))
    }

    /// Until extraction accepted in the thread before now is done, or failed; then it has to be looked up anew.
    pub(super) async fn extracted_before_deleting(&self, here: &Here) -> Result<(), Error> {
        self.extracted(here, Duration::from_millis(self.limits().delete_wait_ms_max)).await
    }

    async fn extracted(&self, here: &Here, timeout: Duration) -> Result<(), Error> {
        let jobs: Vec<JobId> = here.seen.read(|state| {
            let open = state.catalog.jobs().filter(|(_, job)| job.thread == here.number && job.state == State::Queued);
            open.map(|(id, _)| *id).collect()
        });
        if jobs.is_empty() { Ok(()) } else { self.wait_for(&here.profile, &jobs, timeout).await }
    }
}
