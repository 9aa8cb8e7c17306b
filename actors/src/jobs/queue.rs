//! The queue of the embedded default: both sides in this process.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use memlog_events::ids::JobId;
use tokio::{sync::Notify, time::Instant};

use super::Line;
use crate::port::{DeadLetter, Delivery, Eventually, JobQueue, JobSource, Ticket};

/// Jobs in this process.
#[derive(Clone, Default)]
pub(crate) struct LocalQueue(Arc<Shared>);

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    /// A job may be taken, or the queue is closed.
    ready: Notify,
}

#[derive(Default)]
struct State {
    line: Line,
    /// Jobs to be tried again, by when; the number keeps those of one instant apart.
    later: BTreeMap<(Instant, u64), Ticket>,
    put_off: u64,
    closed: bool,
}

/// What a worker finds.
enum Next {
    Job(Ticket),
    /// Nothing before then.
    At(Option<Instant>),
    Closed,
}

impl State {
    fn next(&mut self, now: Instant) -> Next {
        if self.closed {
            return Next::Closed;
        }
        let due = self.later.first_entry().filter(|first| first.key().0 <= now);
        match due.map(|first| first.remove()).or_else(|| self.line.take()) {
            Some(ticket) => Next::Job(ticket),
            None => Next::At(self.later.first_key_value().map(|(at, _)| at.0)),
        }
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn take(&self) -> Option<Ticket> {
        loop {
            let ready = self.ready.notified();
            let next = self.state().next(Instant::now());
            match next {
                Next::Job(ticket) => {
                    // Another worker may find the next one.
                    self.ready.notify_one();
                    return Some(ticket);
                }
                Next::Closed => return None,
                Next::At(None) => ready.await,
                Next::At(Some(at)) => tokio::select! {
                    () = ready => {}
                    () = tokio::time::sleep_until(at) => {}
                },
            }
        }
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state());
        self.ready.notify_one();
    }
}

impl JobQueue for LocalQueue {
    fn put(&self, ticket: Ticket) {
        self.0.change(|state| state.line.put(ticket));
    }

    fn taken(&self, _: JobId) {}

    fn settled(&self, ticket: Ticket) {
        self.0.change(|state| {
            state.later.retain(|_, later| later.job != ticket.job);
            state.line.settled(ticket);
        });
    }

    // The log lists them, and no operator looks into this process.
    fn dead(&self, _: DeadLetter) {}

    fn close(&self) {
        self.0.state().closed = true;
        self.0.ready.notify_waiters();
        self.0.ready.notify_one();
    }
}

impl JobSource for LocalQueue {
    fn take(&self) -> Eventually<'_, Option<Box<dyn Delivery>>> {
        Box::pin(async move {
            let ticket = self.0.take().await?;
            Some(Box::new(Taken { ticket, shared: Arc::clone(&self.0), answered: false }) as Box<dyn Delivery>)
        })
    }

    fn is_closed(&self) -> bool {
        self.0.state().closed
    }
}

/// A job in a worker's hands.
struct Taken {
    ticket: Ticket,
    shared: Arc<Shared>,
    answered: bool,
}

impl Delivery for Taken {
    fn job(&self) -> JobId {
        self.ticket.job
    }

    fn working(&self) -> Eventually<'_, ()> {
        Box::pin(std::future::ready(()))
    }

    // The log says when a job is settled, so there is nothing to do here.
    fn done(mut self: Box<Self>) -> Eventually<'static, ()> {
        self.answered = true;
        Box::pin(std::future::ready(()))
    }

    fn again(mut self: Box<Self>, after: Duration) -> Eventually<'static, ()> {
        self.answered = true;
        self.shared.change(|state| {
            state.put_off += 1;
            let place = (Instant::now() + after, state.put_off);
            state.later.insert(place, self.ticket);
        });
        Box::pin(std::future::ready(()))
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        if !self.answered {
            self.shared.change(|state| state.line.back(self.ticket));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{super::line::tests::ticket, *};

    async fn taken(queue: &LocalQueue) -> Option<(u128, Box<dyn Delivery>)> {
        queue.take().await.map(|delivery| (delivery.job().0.as_u128(), delivery))
    }

    // The wait of a job that failed must not hold up other threads, nor let a later job of its own pass.
    #[tokio::test]
    async fn what_is_put_off_holds_up_its_own_thread_alone() {
        let queue = LocalQueue::default();
        [ticket(1, 10, 1), ticket(1, 10, 2), ticket(2, 20, 3)].into_iter().for_each(|ticket| queue.put(ticket));
        let (job, first) = taken(&queue).await.expect("first");
        assert_eq!(job, 1);
        first.again(Duration::from_secs(3_600)).await;
        let (job, other) = taken(&queue).await.expect("of another thread");
        assert_eq!(job, 3);
        other.done().await;
        assert!(queue.0.state().line.take().is_none(), "the second job of the first thread waits for the first");
    }

    #[tokio::test]
    async fn what_is_tried_again_comes_before_what_follows() {
        let queue = LocalQueue::default();
        [ticket(1, 10, 1), ticket(1, 10, 2)].into_iter().for_each(|ticket| queue.put(ticket));
        let (_, first) = taken(&queue).await.expect("first");
        first.again(Duration::from_millis(1)).await;
        assert_eq!(taken(&queue).await.expect("again").0, 1);
    }

    #[tokio::test]
    async fn what_a_worker_drops_is_delivered_again() {
        let queue = LocalQueue::default();
        queue.put(ticket(1, 10, 1));
        drop(taken(&queue).await.expect("first"));
        assert_eq!(taken(&queue).await.expect("again").0, 1);
    }

    #[tokio::test]
    async fn what_is_settled_while_it_waits_to_be_tried_again_is_not() {
        let queue = LocalQueue::default();
        queue.put(ticket(1, 10, 1));
        let (_, first) = taken(&queue).await.expect("first");
        first.again(Duration::from_secs(3_600)).await;
        queue.settled(ticket(1, 10, 1));
        queue.put(ticket(1, 10, 2));
        assert_eq!(taken(&queue).await.expect("the next").0, 2);
    }

    #[tokio::test]
    async fn closing_lets_everyone_go() {
        let queue = LocalQueue::default();
        let waiting = tokio::spawn({
            let queue = queue.clone();
            async move { queue.take().await.is_none() }
        });
        tokio::task::yield_now().await;
        queue.close();
        assert!(waiting.await.expect("joined"));
        assert!(queue.take().await.is_none());
    }
}
