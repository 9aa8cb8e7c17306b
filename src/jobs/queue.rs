//! The node's side of the queue in JetStream. Jobs wait in this process, in turn; only a few at a time go out, so that a
//! profile with one message does not stand behind another's hundred thousand.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use async_nats::jetstream::{self, Context, message::PublishMessage};
use memlog_actors::{
    jobs::Line,
    port::{DeadLetter, JobQueue, Ticket},
};
use memlog_events::ids::JobId;
use serde_json::json;
use tokio::{sync::Notify, task::JoinHandle, time::MissedTickBehavior};

use super::streams::{self, DEAD_SUBJECTS, JOBS_SUBJECT};
use crate::door::{self, connect};

/// Jobs that have gone out and that no worker has begun with. More would only be a line in which no turns are taken.
const AHEAD_MAX: usize = 8;
/// Dead letters that wait for JetStream; past it the oldest are left to the log, which has them all.
const DEAD_WAITING_MAX: usize = 10_000;
/// How often the queue is held against what was handed out.
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// What was handed out is not looked for before so long.
const SETTLE_MAX: Duration = Duration::from_secs(5);
/// How long an answer of JetStream may take.
const ANSWER_MAX: Duration = Duration::from_secs(5);
/// The pause after JetStream failed.
const AGAIN: Duration = Duration::from_millis(500);
/// How often it is told that JetStream does not answer.
const TELL_EVERY: Duration = Duration::from_secs(60);

/// A queue in JetStream. It takes jobs from the start, and hands them out while [`JetQueue::serve`] runs.
#[derive(Clone, Default)]
pub struct JetQueue(Arc<Shared>);

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    /// Something may go out, or the queue is closed.
    changed: Notify,
}

#[derive(Default)]
struct State {
    line: Line,
    out: HashMap<JobId, Out>,
    /// How often the stream has lost a job.
    losses: HashMap<JobId, u32>,
    dead: VecDeque<DeadLetter>,
    closed: bool,
}

/// A job that went out.
#[derive(Clone, Copy)]
struct Out {
    ticket: Ticket,
    since: Instant,
    /// Its place in the stream, once it is there.
    sequence: Option<u64>,
    taken: bool,
}

enum Next {
    Job(Ticket),
    Dead(DeadLetter),
    Closed,
}

impl State {
    fn next(&mut self) -> Option<Next> {
        if self.closed {
            return Some(Next::Closed);
        }
        if let Some(letter) = self.dead.pop_front() {
            return Some(Next::Dead(letter));
        }
        if self.out.values().filter(|out| !out.taken).count() >= AHEAD_MAX {
            return None;
        }
        let ticket = self.line.take()?;
        let out = Out { ticket, since: Instant::now(), sequence: None, taken: false };
        self.out.insert(ticket.job, out);
        Some(Next::Job(ticket))
    }

    fn back(&mut self, job: JobId) {
        if let Some(out) = self.out.remove(&job) {
            self.line.back(out.ticket);
        }
    }
}

impl JobQueue for JetQueue {
    fn put(&self, ticket: Ticket) {
        self.0.change(|state| state.line.put(ticket));
    }

    fn taken(&self, job: JobId) {
        self.0.change(|state| {
            if let Some(out) = state.out.get_mut(&job) {
                out.taken = true;
            }
        });
    }

    fn settled(&self, ticket: Ticket) {
        self.0.change(|state| {
            state.out.remove(&ticket.job);
            state.losses.remove(&ticket.job);
            state.line.settled(ticket);
        });
    }

    fn dead(&self, letter: DeadLetter) {
        self.0.change(|state| {
            if state.dead.len() >= DEAD_WAITING_MAX {
                state.dead.pop_front();
            }
            state.dead.push_back(letter);
        });
    }

    fn close(&self) {
        self.0.change(|state| state.closed = true);
    }
}

impl JetQueue {
    /// Hands out until the queue is closed.
    pub async fn serve(&self, options: connect::Options, replicas: usize) -> Result<JoinHandle<()>, door::Error> {
        let link = connect::connect(&options, Arc::default()).await?;
        let pump = Pump { shared: Arc::clone(&self.0), options, replicas, created: None, told: None };
        Ok(tokio::spawn(pump.run(link)))
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state());
        self.changed.notify_one();
    }

    async fn next(&self) -> Next {
        loop {
            let changed = self.changed.notified();
            if let Some(next) = self.state().next() {
                return next;
            }
            changed.await;
        }
    }

    async fn closed(&self) {
        while !self.state().closed {
            // Closing notifies one; who else waits looks again after a while.
            tokio::select! {
                () = self.changed.notified() => {}
                () = tokio::time::sleep(AGAIN) => {}
            }
        }
    }
}

/// Carries jobs from the line into the stream.
struct Pump {
    shared: Arc<Shared>,
    options: connect::Options,
    replicas: usize,
    /// When the stream was made that the numbers of `out` are of.
    created: Option<String>,
    told: Option<Instant>,
}

impl Pump {
    async fn run(mut self, mut link: connect::Link) {
        loop {
            let context = jetstream::ContextBuilder::new().timeout(ANSWER_MAX).ack_timeout(ANSWER_MAX);
            match self.hand_out(&context.build(link.client.clone())).await {
                Ok(()) => return,
                Err(error) => self.tell(&*error),
            }
            tokio::select! {
                () = self.shared.closed() => return,
                () = tokio::time::sleep(AGAIN) => {}
            }
            // A connection that is merely broken comes back by itself; one that ended for good does not.
            if link.connected.has_changed().is_err() {
                match connect::connect(&self.options, Arc::default()).await {
                    Ok(again) => link = again,
                    Err(error) => self.tell(&error),
                }
            }
        }
    }

    fn tell(&mut self, error: &(dyn std::error::Error + 'static)) {
        if self.told.is_none_or(|told| told.elapsed() >= TELL_EVERY) {
            self.told = Some(Instant::now());
            tracing::warn!(
                error,
                "jobs wait: JetStream does not take them. It must be enabled in the NATS server (deploy/nats.conf)"
            );
        }
    }

    async fn hand_out(&mut self, context: &Context) -> Result<(), async_nats::Error> {
        streams::ensure(context, self.replicas).await?;
        let mut look = tokio::time::interval(LOOK_EVERY);
        look.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                _ = look.tick() => {
                    self.look(context).await?;
                    self.told = None;
                }
                next = self.shared.next() => match next {
                    Next::Closed => return Ok(()),
                    Next::Job(ticket) => self.job(context, ticket).await?,
                    Next::Dead(letter) => self.dead(context, letter).await?,
                },
            }
        }
    }

    async fn job(&self, context: &Context, ticket: Ticket) -> Result<(), async_nats::Error> {
        let body = json!({ "job": ticket.job.to_string() }).to_string();
        // The id of the event that promises it (a retry is another event). What was lost needs another one: the stream may
        // still take the first for a repetition.
        let losses = self.shared.state().losses.get(&ticket.job).map(|losses| format!("-{losses}")).unwrap_or_default();
        let id = format!("{}-{}{losses}", ticket.job, ticket.promised.0);
        match publish(context, JOBS_SUBJECT.to_owned(), &id, body).await {
            Ok(sequence) => {
                if let Some(out) = self.shared.state().out.get_mut(&ticket.job) {
                    out.sequence = Some(sequence);
                }
                Ok(())
            }
            Err(error) => {
                // It may have arrived all the same; then its message id says so when it comes again.
                self.shared.state().back(ticket.job);
                Err(error)
            }
        }
    }

    async fn dead(&self, context: &Context, letter: DeadLetter) -> Result<(), async_nats::Error> {
        let DeadLetter { job, position, code, attempts } = &letter;
        let body = json!({ "job": job.to_string(), "code": code, "attempts": attempts, "seq": position.0 }).to_string();
        let sent = publish(context, format!("{DEAD_SUBJECTS}.{job}"), &format!("{job}-{}", position.0), body).await;
        if sent.is_err() {
            self.shared.state().dead.push_front(letter);
        }
        sent.map(drop)
    }

    /// Hands out again what the stream has lost, and notes what was delivered while this node was not there to be asked for it.
    async fn look(&mut self, context: &Context) -> Result<(), async_nats::Error> {
        let (stream, consumer) = streams::look(context).await?;
        let (info, at) = (stream.cached_info(), consumer.cached_info());
        let created = info.created.to_string();
        // Its numbers begin anew.
        let another = self.created.as_ref().is_some_and(|before| *before != created);
        self.created = Some(created);
        let (last, delivered, acked) =
            (info.state.last_sequence, at.delivered.stream_sequence, at.ack_floor.stream_sequence);
        let mut state = self.shared.state();
        let mut lost = Vec::new();
        for (job, out) in &mut state.out {
            let Some(sequence) = out.sequence else { continue };
            // Acknowledged and not settled: the node answered before it had settled, or another life of the log is meant.
            let gone = sequence > last || sequence <= acked;
            if another || (gone && out.since.elapsed() >= SETTLE_MAX) {
                lost.push(*job);
            } else {
                out.taken |= sequence <= delivered;
            }
        }
        if !lost.is_empty() {
            tracing::warn!(jobs = lost.len(), "JetStream has lost jobs; they are handed out again");
            for job in lost {
                *state.losses.entry(job).or_default() += 1;
                state.back(job);
            }
        }
        drop(state);
        self.shared.changed.notify_one();
        Ok(())
    }
}

/// Returns the message's number in its stream once it is stored there.
async fn publish(context: &Context, subject: String, id: &str, body: String) -> Result<u64, async_nats::Error> {
    let message = PublishMessage::build().payload(body.into()).message_id(id);
    let ack = context.send_publish(subject, message).await?.await?;
    Ok(ack.sequence)
}
