//! The queue of the embedded default: in this process, fair between profiles, in order within a thread.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use memlog_events::ids::{Scope, StreamId};
use tokio::sync::Notify;

use crate::port::{Eventually, JobQueue, Ticket};

/// Tickets that may wait; past it the outbox waits, and goes on from the log.
const TICKETS_MAX: usize = 10_000;

/// Jobs in this process.
#[derive(Clone, Default)]
pub(crate) struct LocalQueue(Arc<Shared>);

#[derive(Default)]
struct Shared {
    line: Mutex<Line>,
    /// A ticket can be taken, or the queue is closed.
    ready: Notify,
    /// There is room again.
    room: Notify,
}

#[derive(Default)]
struct Line {
    threads: HashMap<StreamId, VecDeque<Ticket>>,
    /// Threads of each profile that have a ticket and nobody at work.
    idle: HashMap<Scope, VecDeque<StreamId>>,
    /// Profiles with such a thread, in turn.
    turns: VecDeque<Scope>,
    busy: HashSet<StreamId>,
    waiting: usize,
    closed: bool,
}

impl Line {
    fn put(&mut self, ticket: Ticket, first: bool) {
        let stream = ticket.place.key.stream;
        let thread = self.threads.entry(stream).or_default();
        if first {
            thread.push_front(ticket)
        } else {
            thread.push_back(ticket)
        }
        self.waiting += 1;
        if thread.len() == 1 && !self.busy.contains(&stream) {
            self.offer(ticket.place.key.scope, stream);
        }
    }

    fn offer(&mut self, scope: Scope, stream: StreamId) {
        let idle = self.idle.entry(scope).or_default();
        if idle.is_empty() {
            self.turns.push_back(scope);
        }
        idle.push_back(stream);
    }

    fn take(&mut self) -> Option<Ticket> {
        let scope = self.turns.pop_front()?;
        let idle = self.idle.get_mut(&scope)?;
        let stream = idle.pop_front()?;
        if idle.is_empty() {
            self.idle.remove(&scope);
        } else {
            self.turns.push_back(scope);
        }
        let ticket = self.threads.get_mut(&stream)?.pop_front()?;
        self.busy.insert(stream);
        self.waiting -= 1;
        Some(ticket)
    }

    fn free(&mut self, ticket: Ticket) {
        let stream = ticket.place.key.stream;
        self.busy.remove(&stream);
        if self.threads.get(&stream).is_some_and(VecDeque::is_empty) {
            self.threads.remove(&stream);
        } else if self.threads.contains_key(&stream) {
            self.offer(ticket.place.key.scope, stream);
        }
    }
}

impl Shared {
    fn line(&self) -> MutexGuard<'_, Line> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn put(&self, ticket: Ticket) {
        loop {
            let room = self.room.notified();
            {
                let mut line = self.line();
                if line.closed {
                    return;
                }
                if line.waiting < TICKETS_MAX {
                    line.put(ticket, false);
                    break;
                }
            }
            room.await;
        }
        self.ready.notify_one();
    }

    async fn take(&self) -> Option<Ticket> {
        loop {
            let ready = self.ready.notified();
            {
                let mut line = self.line();
                if line.closed {
                    return None;
                }
                if let Some(ticket) = line.take() {
                    // Another worker may find the next one.
                    if !line.turns.is_empty() {
                        self.ready.notify_one();
                    }
                    self.room.notify_one();
                    return Some(ticket);
                }
            }
            ready.await;
        }
    }
}

impl JobQueue for LocalQueue {
    fn put(&self, ticket: Ticket) -> Eventually<'_, ()> {
        Box::pin(self.0.put(ticket))
    }

    fn take(&self) -> Eventually<'_, Option<Ticket>> {
        Box::pin(self.0.take())
    }

    fn finish(&self, ticket: Ticket) {
        self.0.line().free(ticket);
        self.0.ready.notify_one();
    }

    fn again(&self, ticket: Ticket, after: Duration) {
        let shared = Arc::clone(&self.0);
        tokio::spawn(async move {
            tokio::time::sleep(after).await;
            let mut line = shared.line();
            line.busy.insert(ticket.place.key.stream);
            line.put(ticket, true);
            line.free(ticket);
            drop(line);
            shared.ready.notify_one();
        });
    }

    fn close(&self) {
        self.0.line().closed = true;
        self.0.ready.notify_waiters();
        self.0.ready.notify_one();
        self.0.room.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use memlog_events::ids::{JobId, Partition, Slot, StreamKey};
    use uuid::Uuid;

    use super::*;
    use crate::domain::Place;

    fn ticket(profile: u128, thread: u128, job: u128) -> Ticket {
        let scope = Scope(Uuid::from_u128(profile));
        let key = StreamKey { partition: Partition(0), scope, stream: StreamId(Uuid::from_u128(thread)) };
        Ticket { job: JobId(Uuid::from_u128(job)), place: Place { key, scope_slot: Slot(1) }, attempts: 0 }
    }

    fn job(ticket: &Ticket) -> u128 {
        ticket.job.0.as_u128()
    }

    // A profile that ingests much must not starve the others: each has its turn.
    #[tokio::test]
    async fn profiles_take_turns() {
        let queue = LocalQueue::default();
        for n in 0..3 {
            queue.put(ticket(1, 10 + n, n)).await;
        }
        queue.put(ticket(2, 20, 9)).await;
        let (one, two) = (queue.take().await.expect("one"), queue.take().await.expect("two"));
        assert_eq!((job(&one), job(&two)), (0, 9));
    }

    // A later job of a thread may correct what an earlier one found, so they never overtake each other.
    #[tokio::test]
    async fn a_thread_is_worked_on_in_order_and_by_one() {
        let queue = LocalQueue::default();
        queue.put(ticket(1, 10, 1)).await;
        queue.put(ticket(1, 10, 2)).await;
        queue.put(ticket(1, 11, 3)).await;
        let first = queue.take().await.expect("first");
        assert_eq!(job(&queue.take().await.expect("another thread")), 3);
        queue.finish(first);
        assert_eq!(job(&queue.take().await.expect("second")), 2);
    }

    #[tokio::test]
    async fn what_is_tried_again_comes_before_what_follows() {
        let queue = LocalQueue::default();
        queue.put(ticket(1, 10, 1)).await;
        queue.put(ticket(1, 10, 2)).await;
        let first = queue.take().await.expect("first");
        queue.again(first, Duration::ZERO);
        assert_eq!(job(&queue.take().await.expect("again")), 1);
    }

    #[tokio::test]
    async fn closing_lets_everyone_go() {
        let queue = LocalQueue::default();
        let waiting = tokio::spawn({
            let queue = queue.clone();
            async move { queue.take().await }
        });
        tokio::task::yield_now().await;
        queue.close();
        assert_eq!(waiting.await.expect("joined"), None);
    }
}
