//! A promise that a batch becomes durable, which any number of answers may rest on.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use memlog_events::{
    batch::Committed,
    log::{Done, append},
};
use tokio::sync::watch;

type Told = Option<Result<Committed, append::Error>>;

/// Resolves once the batch is durable or refused.
#[derive(Clone)]
pub struct Durable(watch::Receiver<Told>);

impl Durable {
    /// The promise, and the callback that keeps it. A refusal raises `failed` before anybody hears of it.
    pub(super) fn new(failed: Arc<AtomicBool>) -> (Self, Done) {
        let (tell, told) = watch::channel(None);
        let done = Box::new(move |result: Result<Committed, append::Error>| {
            if result.is_err() {
                failed.store(true, Ordering::SeqCst);
            }
            tell.send_replace(Some(result));
        });
        (Self(told), done)
    }

    /// Where the batch went, or why it went nowhere.
    pub async fn wait(mut self) -> Result<Committed, append::Error> {
        match self.0.wait_for(Option::is_some).await {
            Ok(told) => told.clone().unwrap_or(Err(append::Error::Closed)),
            // The writer went away without a word: the log is closed.
            Err(_) => Err(append::Error::Closed),
        }
    }
}
