//! A step of a run: some calls at once, in an order that the seed decides, perhaps with a cut in their midst.

use std::sync::Arc;

use memlog_actors::{api::error::Kind, system::System};
use memlog_events::ids::JobId;
use tokio::task::JoinSet;

use super::{
    calls::{self, Answered, Kept, Worked},
    command::{Asked, Command, Ids, Word},
    orders::{self, Made},
    plain::World,
    plan::{Call, How, Plan},
    ports::HOUR,
    run::{End, IDLE_MAX, Run, idle},
    trace,
};

/// Idle looks where the power is out, and nobody may answer any more.
const IDLE_DEAD_MAX: usize = 50;

impl Run {
    /// Some calls at once, and perhaps a cut in their midst.
    pub(crate) async fn calls(&mut self, system: &System) -> Option<End> {
        let calls = self.planned();
        let cut = self.random.weighted(&[16, 2, 1, 1]);
        match cut {
            1 => self.computer.dies_at_sync(1 + self.random.below(5) as i64),
            3 => self.computer.is_full_at(1 + self.random.below(30) as i64),
            _ => {}
        }
        let turns_max = if cut == 2 { self.random.below(12) } else { usize::MAX };
        let now = self.clock.micros();
        let answers = self.made(system, &calls, turns_max).await;
        let dead = self.computer.is_dead();
        if !dead {
            self.computer.lives_on();
        }
        let full = self.computer.is_full();
        self.computer.has_room();
        if full && !dead {
            self.until(system, || system.health().ready).await;
        }
        let mut made = Vec::new();
        for (call, answered) in calls.into_iter().zip(answers) {
            self.heard(&call, answered.as_ref());
            let words = self.words_of(&call);
            self.trace.say(format_args!("{}", trace::line(&call, answered.as_ref())));
            self.trace.count_call(&call, answered.as_ref());
            made.push(Made { call, answered, words });
        }
        let after = orders::explained(&self.worlds, &made, now, dead || full);
        let told =
            || made.iter().map(|one| format!("{:?}: {:?}", one.call, one.answered)).collect::<Vec<_>>().join("\n");
        if full {
            self.trace.say(format_args!("there was no room"));
            self.trace.count("a full disk");
        }
        assert!(!after.is_empty(), "no order explains it:\n{}\n{}\n{:#?}", self.trace.tail(), told(), self.worlds);
        self.worlds = after;
        if dead || cut == 2 {
            return Some(End::Cut);
        }
        self.ask_again(system, &made).await;
        self.judge(system, &made).await;
        None
    }

    /// Who was refused for want of room, of time or of what was going away just then asks again under the same key, and now is told.
    async fn ask_again(&mut self, system: &System, made: &[Made]) {
        for one in made {
            let (Call::Client(Asked { key: Some(_), .. }), Some(Answered::Client(Err(error)))) =
                (&one.call, &one.answered)
            else {
                continue;
            };
            if !matches!(error.kind, Kind::Unavailable | Kind::Timeout) {
                continue;
            }
            let now = self.clock.micros();
            let answered = self.made(system, std::slice::from_ref(&one.call), usize::MAX).await.pop().flatten();
            self.heard(&one.call, answered.as_ref());
            self.trace.say(format_args!("again, {}", trace::line(&one.call, answered.as_ref())));
            self.trace.count("asked again");
            let again = [Made { call: one.call.clone(), answered, words: None }];
            let after = orders::explained(&self.worlds, &again, now, false);
            let told = || format!("{:?}\n{:#?}", again[0].answered, self.worlds);
            assert!(!after.is_empty(), "asked again, and not explained:\n{}\n{}", self.trace.tail(), told());
            self.worlds = after;
        }
    }

    fn planned(&mut self) -> Vec<Call> {
        self.tickets.extend(self.queue.put().into_iter().filter(|job| !self.tickets.contains(job)).collect::<Vec<_>>());
        let count = 1 + self.random.weighted(&[5, 3, 2]);
        let world = self.worlds[0].clone();
        let mut calls: Vec<Call> = Vec::new();
        while calls.len() < count {
            let kind = self.random.weighted(&[14, 5, 1, 2]);
            let twin = calls.last().cloned().filter(|_| self.random.once_in(4));
            let (random, ids, next_word) = (&mut self.random, &self.ids, &mut self.next_word);
            let mut plan = Plan { random, world: &world, ids, next_word, now: self.clock.micros() };
            let call = match (twin, kind) {
                (Some(twin), _) => twin,
                (None, 1) => {
                    let how = plan.how();
                    let open = self.queue.open();
                    let old = self.random.once_in(4) || open.is_empty();
                    let job = self.random.pick(if old { &self.tickets } else { &open }).copied();
                    let Some(job) = job else { continue };
                    Call::Worker { job, how }
                }
                (None, 2) if !self.kept.is_empty() => Call::Late(self.random.below(self.kept.len())),
                (None, 3) if !self.sent.is_empty() => {
                    let (mut asked, at) = self.sent[plan.one(self.sent.len())].clone();
                    // In another session it is another caller's.
                    if plan.one(8) == 0 {
                        asked.session = plan.session(&asked.command);
                    }
                    if !self.may_repeat(&asked, at) {
                        continue;
                    }
                    Call::Client(asked)
                }
                _ => {
                    let Some(command) = plan.command() else { continue };
                    let session = plan.session(&command);
                    let reads = matches!(command, Command::Load { .. });
                    let key = (!self.random.once_in(4) && !reads).then_some(self.next_key);
                    self.next_key += 1;
                    Call::Client(Asked { command, key, session })
                }
            };
            if let Call::Client(asked @ Asked { command, key, .. }) = &call {
                // What says the same twice is two things without a key.
                if (key.is_none() && calls.contains(&call)) || disturbs(&world, &calls, command) {
                    continue;
                }
                let new = key.is_some() && self.sent.iter().all(|(other, _)| other.key != *key);
                self.sent.extend(new.then(|| (asked.clone(), self.clock.micros())));
                let deletes = matches!(
                    command,
                    Command::DeleteProfile { .. } | Command::DeleteSession { .. } | Command::DeleteThread { .. }
                );
                self.deleted.extend(deletes.then(|| (self.steps, command.clone())));
            }
            calls.push(call);
        }
        calls
    }

    /// A key is known for a day; after that the same words would be said anew, which only some commands make sense of.
    fn may_repeat(&self, Asked { command, key, .. }: &Asked, at: i64) -> bool {
        let known = |world: &World| key.is_some_and(|key| world.keys.contains_key(&(command.namespace(), key)));
        let always =
            matches!(command, Command::AddSpeaker { .. } | Command::DeleteSession { .. } | Command::Open { .. });
        let fresh =
            self.clock.micros() - at < 20 * HOUR && !self.worlds.iter().any(|world| is_delicate(world, command));
        always || fresh || self.worlds.iter().all(known)
    }

    async fn made(&mut self, system: &System, calls: &[Call], turns_max: usize) -> Vec<Option<Answered>> {
        let mut answers: Vec<Option<Answered>> = calls.iter().map(|_| None).collect();
        let ids = Arc::new(self.ids.clone());
        let mut set = JoinSet::new();
        for (at, call) in calls.iter().cloned().enumerate() {
            let (system, ids) = (system.clone(), self.ids_of(&call, &ids));
            let kept = if let Call::Late(kept) = &call { Some(self.kept[*kept].clone()) } else { None };
            let late = self.random.below(12);
            set.spawn(async move {
                for _ in 0..late {
                    tokio::task::yield_now().await;
                }
                (at, calls::make(system, call, &ids, kept).await)
            });
        }
        let (mut looks, mut turns) = (0, 0);
        while !set.is_empty() && turns < turns_max {
            if self.random.once_in(3) {
                idle(1).await;
            } else {
                for _ in 0..self.random.below(10) {
                    tokio::task::yield_now().await;
                }
            }
            turns += 1;
            looks = if system.turn() { 0 } else { looks + 1 };
            while let Some(done) = set.try_join_next() {
                let (at, answer) = done.expect("a call panicked");
                answers[at] = Some(answer);
            }
            let dead = self.computer.is_dead();
            if looks > if dead { IDLE_DEAD_MAX } else { IDLE_MAX } {
                assert!(dead, "hung:\n{}\n{calls:#?}", self.trace.tail());
                break;
            }
        }
        set.shutdown().await;
        answers
    }

    /// What is sent again is sent to the letter, whatever the words name by now; only the session may be another.
    fn ids_of(&mut self, call: &Call, now: &Arc<Ids>) -> Arc<Ids> {
        let Call::Client(Asked { key: Some(key), .. }) = call else { return Arc::clone(now) };
        let first = self.sent_with.entry(*key).or_insert_with(|| Arc::clone(now));
        Arc::new(Ids { sessions: now.sessions.clone(), ..Ids::clone(first) })
    }

    /// What is learnt of ids and jobs.
    fn heard(&mut self, call: &Call, answered: Option<&Answered>) {
        match (call, answered) {
            (Call::Client(asked), Some(Answered::Client(Ok((reply, replayed))))) => {
                self.learn(&asked.command, reply);
                self.same_as_before(asked, reply, *replayed);
            }
            (Call::Worker { job, .. }, Some(Answered::Worker(worked))) => {
                if let Worked::Did(words) | Worked::Closed(Some(words)) | Worked::Holds(_, _, words) = worked
                    && !words.is_empty()
                {
                    self.jobs.insert(*job, words.clone());
                    self.ids.jobs.insert(words[0], job.to_string());
                }
                if let Worked::Holds(job, finding, words) = worked {
                    self.kept.push(Kept { job: *job, finding: finding.clone(), words: words.clone() });
                }
            }
            _ => {}
        }
    }

    /// The messages of a job that no worker was ever told of: what its client was told, and the model.
    fn promised(&self, job: &JobId) -> Option<Vec<Word>> {
        let id = job.to_string();
        let (word, _) = self.ids.jobs.iter().find(|(_, told)| **told == id)?;
        let profiles = self.worlds.iter().flat_map(|world| &world.profiles);
        let mut known = profiles.filter_map(|it| it.job_of(&[*word]).map(|at| it.jobs[at].words.clone()));
        known.next()
    }

    fn words_of(&self, call: &Call) -> Option<Vec<Word>> {
        match call {
            Call::Worker { job, .. } => self.jobs.get(job).cloned().or_else(|| self.promised(job)),
            Call::Late(kept) => Some(self.kept[*kept].words.clone()),
            Call::Client(_) => None,
        }
    }
}

/// Whether it says what was said before, and so must be understood as it was then.
fn is_delicate(world: &World, command: &Command) -> bool {
    match command {
        Command::Remember { p, word, .. } => world.profiles[*p].records.contains_key(word),
        Command::Ingest { p, said, .. } => {
            let held = |word: Word| world.profiles[*p].places.values().flatten().any(|it| it.word == word);
            said.iter().any(|(word, _)| held(*word))
        }
        _ => false,
    }
}

/// Whether one of them would say again what the other takes away: then the same words would be of two things, which the model
/// could not tell apart.
fn disturbs(world: &World, calls: &[Call], command: &Command) -> bool {
    let takes_away = |it: &Command| {
        matches!(
            it,
            Command::AddSpeaker { .. }
                | Command::RemoveSpeaker { .. }
                | Command::DeleteSession { .. }
                | Command::DeleteProfile { .. }
                | Command::Supersede { .. }
        )
    };
    let others =
        calls.iter().filter_map(|call| if let Call::Client(asked) = call { Some(&asked.command) } else { None });
    let of_both = |other: &Command| {
        let both =
            (takes_away(other) && is_delicate(world, command)) || (takes_away(command) && is_delicate(world, other));
        both && other.profile() == command.profile()
    };
    others.into_iter().any(of_both)
}

/// A worker that only takes a job away changes nothing that anybody sees.
pub(crate) fn is_seen(call: &Call) -> bool {
    !matches!(call, Call::Worker { how: How::Hold | How::Lost | How::Transient, .. })
}
