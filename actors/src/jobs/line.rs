//! Who is next: fair between namespaces and within each between profiles, one at a time and in order within a thread. Pure; every
//! queue is built around it.

use std::collections::{HashMap, VecDeque, hash_map::Entry};

use memlog_events::ids::{JobId, Scope, StreamId};

use crate::{port::Ticket, turns::Turns};

/// Jobs that wait, and who may go. Each costs some hundred bytes until it is settled; the outbox, which has read them from the
/// log, could not forget them either.
#[derive(Debug, Default)]
pub struct Line {
    threads: HashMap<StreamId, VecDeque<Ticket>>,
    /// Threads that have a job and none out.
    idle: Turns<[u8; 16], Scope, StreamId>,
    /// The job of each thread that is out.
    out: HashMap<StreamId, JobId>,
}

impl Line {
    /// A job joins behind the others of its thread.
    pub fn put(&mut self, ticket: Ticket) {
        let stream = ticket.place.key.stream;
        let thread = self.threads.entry(stream).or_default();
        thread.push_back(ticket);
        if thread.len() == 1 && !self.out.contains_key(&stream) {
            self.offer(ticket);
        }
    }

    /// The next job may go out; its thread waits until it is settled.
    pub fn take(&mut self) -> Option<Ticket> {
        loop {
            let stream = self.idle.pop(|_, _, _| true)?;
            // A turn is left over where a job was settled under another namespace than it was put under.
            let Some(thread) = self.threads.get_mut(&stream).filter(|_| !self.out.contains_key(&stream)) else {
                continue;
            };
            let Some(ticket) = thread.pop_front() else { continue };
            if thread.is_empty() {
                self.threads.remove(&stream);
            }
            self.out.insert(stream, ticket.job);
            return Some(ticket);
        }
    }

    /// A job that went out did not arrive: it is the first of its thread again.
    pub fn back(&mut self, ticket: Ticket) {
        let stream = ticket.place.key.stream;
        if self.out.get(&stream) != Some(&ticket.job) {
            return;
        }
        self.out.remove(&stream);
        self.threads.entry(stream).or_default().push_front(ticket);
        self.offer(ticket);
    }

    /// A job needs no more work, whether it is out or waits.
    pub fn settled(&mut self, ticket: Ticket) {
        let stream = ticket.place.key.stream;
        if self.out.get(&stream) == Some(&ticket.job) {
            self.out.remove(&stream);
            if self.threads.contains_key(&stream) {
                self.offer(ticket);
            }
            return;
        }
        let Entry::Occupied(mut thread) = self.threads.entry(stream) else { return };
        thread.get_mut().retain(|waiting| waiting.job != ticket.job);
        if thread.get().is_empty() {
            thread.remove();
            self.idle.retain_of(&ticket.namespace, &ticket.place.key.scope, |waiting| *waiting != stream);
        }
    }

    /// Whether a job could be taken now.
    pub fn is_ready(&self) -> bool {
        !self.idle.is_empty()
    }

    /// The ticket's thread may go out.
    fn offer(&mut self, ticket: Ticket) {
        self.idle.push(ticket.namespace, ticket.place.key.scope, ticket.place.key.stream);
    }
}

#[cfg(test)]
pub(super) mod tests {
    use memlog_events::ids::{Partition, Position, Slot, StreamKey};
    use uuid::Uuid;

    use super::*;
    use crate::domain::Place;

    pub(in crate::jobs) fn ticket(profile: u128, thread: u128, job: u128) -> Ticket {
        let scope = Scope(Uuid::from_u128(profile));
        let key = StreamKey { partition: Partition(0), scope, stream: StreamId(Uuid::from_u128(thread)) };
        let place = Place { key, scope_slot: Slot(1) };
        Ticket { job: JobId(Uuid::from_u128(job)), place, namespace: [0; 16], promised: Position(job as u64) }
    }

    fn taken(line: &mut Line) -> Option<u128> {
        line.take().map(|ticket| ticket.job.0.as_u128())
    }

    // One profile's year of conversations must not hold up another's one message.
    #[test]
    fn profiles_take_turns() {
        let mut line = Line::default();
        (0..3).for_each(|n| line.put(ticket(1, 10 + n, n)));
        line.put(ticket(2, 20, 9));
        assert_eq!((taken(&mut line), taken(&mut line)), (Some(0), Some(9)));
    }

    // Nor a tenant's thousand profiles another tenant's one.
    #[test]
    fn namespaces_take_turns() {
        let mut line = Line::default();
        (0..10).for_each(|n| line.put(ticket(n, 10 + n, n)));
        line.put(Ticket { namespace: [1; 16], ..ticket(20, 20, 99) });
        assert_eq!((taken(&mut line), taken(&mut line), taken(&mut line)), (Some(0), Some(99), Some(1)));
    }

    // A later job of a thread may correct what an earlier one found, so they never overtake each other.
    #[test]
    fn a_thread_is_worked_on_in_order_and_by_one() {
        let mut line = Line::default();
        let first = ticket(1, 10, 1);
        [first, ticket(1, 10, 2), ticket(1, 11, 3)].into_iter().for_each(|ticket| line.put(ticket));
        assert_eq!((taken(&mut line), taken(&mut line), taken(&mut line)), (Some(1), Some(3), None));
        line.settled(first);
        assert_eq!(taken(&mut line), Some(2));
    }

    #[test]
    fn what_comes_back_comes_before_what_follows() {
        let mut line = Line::default();
        let first = ticket(1, 10, 1);
        line.put(first);
        line.put(ticket(1, 10, 2));
        assert_eq!(taken(&mut line), Some(1));
        line.back(first);
        assert_eq!((taken(&mut line), taken(&mut line)), (Some(1), None));
    }

    // A session deleted while its jobs wait takes them along, and its profile's turn if it was the last.
    #[test]
    fn what_is_settled_while_it_waits_never_goes_out() {
        let mut line = Line::default();
        line.put(ticket(1, 10, 1));
        line.put(ticket(2, 20, 2));
        line.settled(ticket(1, 10, 1));
        line.settled(ticket(1, 10, 1));
        assert_eq!((taken(&mut line), taken(&mut line)), (Some(2), None));
        line.put(ticket(1, 10, 3));
        assert!(line.is_ready());
        assert_eq!(taken(&mut line), Some(3));
    }

    // A namespace that could not be read when a job was put may be known when it is settled.
    #[test]
    fn a_turn_that_is_left_over_holds_nobody_up() {
        let mut line = Line::default();
        let first = ticket(1, 10, 1);
        line.put(first);
        line.settled(Ticket { namespace: [1; 16], ..first });
        line.put(ticket(1, 10, 2));
        line.put(ticket(1, 10, 3));
        line.put(ticket(2, 20, 4));
        assert_eq!((taken(&mut line), taken(&mut line), taken(&mut line)), (Some(2), Some(4), None));
    }

    // The log and the queue are told of the same end by different ways; the second telling must free nothing.
    #[test]
    fn an_old_job_settled_late_does_not_free_the_thread() {
        let mut line = Line::default();
        let (old, new) = (ticket(1, 10, 1), ticket(1, 10, 2));
        line.put(old);
        assert_eq!(taken(&mut line), Some(1));
        line.settled(old);
        line.put(new);
        assert_eq!(taken(&mut line), Some(2));
        line.put(ticket(1, 10, 3));
        line.settled(old);
        line.back(old);
        assert_eq!(taken(&mut line), None);
    }
}
