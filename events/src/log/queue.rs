//! The bounded queue between submitters and the writer.

use std::{
    collections::VecDeque,
    sync::{
        Arc, Condvar, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use super::{Done, Limits, append, lock, prepare::Prepared};

/// A batch that waits, and whom to answer.
pub(super) struct Waiting {
    pub(super) batch: Prepared,
    pub(super) done: Done,
}

#[derive(Default)]
pub(super) struct Queue {
    state: Mutex<State>,
    changed: Condvar,
    closed: AtomicBool,
    /// Whether the writer is to look, though nothing waits.
    called: AtomicBool,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Waiting>,
    /// Batches being sealed, which have a place already.
    sealing: usize,
    bytes: usize,
}

impl State {
    fn group(&mut self, limits: &Limits) -> Vec<Waiting> {
        let (mut events, mut bytes) = (0, 0);
        let mut group = Vec::new();
        while let Some(next) = self.waiting.front() {
            events += next.batch.events.len();
            bytes += next.batch.bytes;
            let full = events > limits.group_events_max || bytes > limits.group_bytes_max;
            if full && !group.is_empty() {
                break;
            }
            self.bytes -= next.batch.bytes;
            group.extend(self.waiting.pop_front());
        }
        group
    }
}

/// What the writer is to do.
pub(super) enum Task {
    /// Carry these out: what waits, up to one group.
    Group(Vec<Waiting>),
    /// Look after the log: it was called, or nothing came for as long as it wanted to wait.
    Look,
    /// Nothing more: closed and drained.
    End,
}

/// Whether there is room.
pub(super) enum Entry {
    Place(Place),
    Full,
    Closed,
}

/// Room for one batch; given back if it is dropped unfilled.
pub(super) struct Place(Option<Arc<Queue>>);

impl Queue {
    /// Takes a place before the work of sealing, so that a batch handed back is untouched.
    pub(super) fn reserve(self: &Arc<Self>, limits: &Limits) -> Entry {
        let mut state = lock(&self.state);
        if self.is_closed() {
            return Entry::Closed;
        }
        if state.waiting.len() + state.sealing >= limits.queue_batches_max || state.bytes >= limits.queue_bytes_max {
            return Entry::Full;
        }
        state.sealing += 1;
        Entry::Place(Place(Some(Arc::clone(self))))
    }

    /// The writer's next task. With `patience` it waits no longer than that.
    pub(super) fn take(&self, limits: &Limits, patience: Option<Duration>) -> Task {
        let late = patience.map(|patience| Instant::now() + patience);
        let mut state = lock(&self.state);
        while state.waiting.is_empty() {
            if self.is_closed() && state.sealing == 0 {
                return Task::End;
            }
            let left = late.map(|late| late.saturating_duration_since(Instant::now()));
            if self.called.swap(false, Ordering::SeqCst) || left == Some(Duration::ZERO) {
                return Task::Look;
            }
            state = match left {
                Some(left) => self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0,
                None => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
        }
        Task::Group(state.group(limits))
    }

    /// What waits now, up to one group.
    pub(super) fn waiting(&self, limits: &Limits) -> Vec<Waiting> {
        lock(&self.state).group(limits)
    }

    /// Has the writer look after the log.
    pub(super) fn call(&self) {
        let _state = lock(&self.state);
        self.called.store(true, Ordering::SeqCst);
        self.changed.notify_all();
    }

    /// Batches and bytes that wait.
    pub(super) fn load(&self) -> (u64, u64) {
        let state = lock(&self.state);
        ((state.waiting.len() + state.sealing) as u64, state.bytes as u64)
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::SeqCst)
    }

    /// Takes no more; what has a place is still taken.
    pub(super) fn close(&self) {
        let _state = lock(&self.state);
        self.closed.store(true, Ordering::SeqCst);
        self.changed.notify_all();
    }

    /// Closes and refuses what waits: the writer is gone.
    pub(super) fn abandon(&self) {
        self.close();
        let left: Vec<_> = lock(&self.state).waiting.drain(..).collect();
        for waiting in left {
            (waiting.done)(Err(append::Error::Closed));
        }
    }
}

impl Place {
    pub(super) fn fill(mut self, batch: Prepared, done: Done) {
        if let Some(queue) = self.0.take() {
            let mut state = lock(&queue.state);
            state.sealing -= 1;
            state.bytes += batch.bytes;
            state.waiting.push_back(Waiting { batch, done });
            queue.changed.notify_all();
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(queue) = self.0.take() {
            lock(&queue.state).sealing -= 1;
            queue.changed.notify_all();
        }
    }
}
