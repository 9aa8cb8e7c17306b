//! Who still has the log open when nobody waits for them any more: what loads a view whose reader has gone, what reads on in a thread
//! apart after its task was ended, an entity that has stopped and is about to be dropped. Whoever stops waits for them, so that the
//! folder is free for the next.

use memlog_events::log::Log;
use tokio::{sync::watch, task::JoinHandle};

use crate::blocking;

/// The log is in use. Clones are of the same log.
#[derive(Clone, Default)]
pub struct InUse(watch::Sender<State>);

#[derive(Default)]
struct State {
    holds: usize,
    ending: bool,
}

/// One use of it; it ends when this is dropped.
pub struct Hold(InUse);

impl InUse {
    /// Somebody uses it. Whatever holds the log must be dropped before what this gives.
    pub fn hold(&self) -> Hold {
        self.0.send_modify(|state| state.holds += 1);
        Hold(self.clone())
    }

    /// Reads the log on a thread apart, where it goes on though nobody waits for it.
    pub fn read<T: Send + 'static>(&self, log: &Log, work: impl FnOnce(&Log) -> T + Send + 'static) -> JoinHandle<T> {
        let using = Using { log: log.clone(), _hold: self.hold() };
        blocking::run(move || {
            let using = using;
            work(&using.log)
        })
    }

    /// Whether what takes long had better be given up.
    pub fn is_ending(&self) -> bool {
        self.0.borrow().ending
    }

    /// Returns when nobody uses it any more.
    pub async fn ended(&self) {
        self.0.send_modify(|state| state.ending = true);
        // It is closed when there is no sender left; here is one.
        drop(self.0.subscribe().wait_for(|state| state.holds == 0).await);
    }
}

/// Dropped in this order.
struct Using {
    log: Log,
    _hold: Hold,
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.0.0.send_modify(|state| state.holds -= 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn it_has_ended_when_the_last_hold_is_dropped() {
        let in_use = InUse::default();
        let (one, other) = (in_use.hold(), in_use.clone().hold());
        assert!(!in_use.is_ending());
        let ended = tokio::spawn({
            let in_use = in_use.clone();
            async move { in_use.ended().await }
        });
        for hold in [one, other] {
            tokio::task::yield_now().await;
            assert!(in_use.is_ending() && !ended.is_finished());
            drop(hold);
        }
        ended.await.expect("ended");
    }
}
