//! One seed: the lives of a system on one computer, from start to stop, kill or power cut, until its steps are done.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use memlog_actors::{
    api::audit,
    limits::Limits,
    port::Embedder,
    system::{Options, System},
};
use memlog_events::ids::JobId;
use tempfile::TempDir;

use super::{
    calls::Kept,
    command::{ACCOUNT, Asked, Command, Ids, Word, context},
    disk::{Computer, Unsynced},
    judge::{Moment, Shelved},
    plain::World,
    ports::{DAY, HOUR, Queue, only_classifies},
    random::Random,
    trace::Trace,
    world::{Letters, Moved},
};

/// Steps of a history, unless `MEMLOG_SIM_STEPS` says how many.
const STEPS: usize = 120;
/// Idle looks of the driver, a millisecond of simulated time each, after which a call is taken for hung.
pub(crate) const IDLE_MAX: usize = 3_000;

pub(crate) struct Run {
    pub(crate) random: Random,
    pub(crate) computer: Computer,
    pub(crate) clock: Arc<Moved>,
    pub(crate) folder: TempDir,
    pub(crate) embedder: Option<Arc<dyn Embedder>>,
    pub(crate) worlds: Vec<World>,
    pub(crate) ids: Ids,
    pub(crate) words: BTreeMap<String, Word>,
    /// What was sent under a key, and when first.
    pub(crate) sent: Vec<(Asked, i64)>,
    /// The ids that were known when it was.
    pub(crate) sent_with: BTreeMap<u64, Arc<Ids>>,
    pub(crate) next_word: Word,
    pub(crate) next_key: u64,
    pub(crate) kept: Vec<Kept>,
    /// The messages of each job that a worker was told.
    pub(crate) jobs: BTreeMap<JobId, Vec<Word>>,
    /// The system's side of the queue in this life, and all jobs that were handed out in any.
    pub(crate) queue: Arc<Queue>,
    pub(crate) tickets: Vec<JobId>,
    /// The last answer under each key, and how many steps were left then.
    pub(crate) answers: BTreeMap<(usize, u64), (serde_json::Value, usize)>,
    /// What was to be deleted, whatever came of it, and how many steps were left then.
    pub(crate) deleted: Vec<(usize, Command)>,
    pub(crate) moments: Vec<Moment>,
    pub(crate) shelved: Vec<Shelved>,
    pub(crate) trace: Trace,
    pub(crate) steps: usize,
    /// Whether the life before ended with its power.
    died: bool,
}

/// How a life ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Stopped,
    Cut,
}

impl End {
    fn name(self) -> &'static str {
        match self {
            Self::Stopped => "a stop",
            Self::Cut => "a power cut",
        }
    }
}

/// All that a seed does.
pub(crate) fn history(seed: u64) -> Trace {
    let mut random = Random::new(seed);
    let embedder = random.once_in(2).then(|| Arc::new(Letters) as Arc<dyn Embedder>);
    let mut run = Run {
        computer: Computer::new(random.next()),
        random,
        clock: Arc::default(),
        folder: TempDir::new().expect("a folder"),
        embedder,
        worlds: vec![World::default()],
        ids: Ids::default(),
        words: BTreeMap::new(),
        sent: Vec::new(),
        sent_with: BTreeMap::new(),
        next_word: 0,
        next_key: 0,
        kept: Vec::new(),
        jobs: BTreeMap::new(),
        queue: Arc::default(),
        tickets: Vec::new(),
        answers: BTreeMap::new(),
        deleted: Vec::new(),
        moments: Vec::new(),
        shelved: Vec::new(),
        trace: Trace::default(),
        steps: super::number("MEMLOG_SIM_STEPS").map_or(STEPS, |steps| steps as usize),
        died: false,
    };
    while run.steps > 0 {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
        let runtime = runtime.expect("a runtime");
        let end = runtime.block_on(run.life());
        // Whatever was under way is gone with its process.
        drop(runtime);
        run.between_lives(end);
    }
    run.trace
}

impl Run {
    fn between_lives(&mut self, end: End) {
        let unsynced = [Unsynced::Lost, Unsynced::Kept, Unsynced::Torn][self.random.below(3)];
        let erased = (!self.died).then(|| self.computer.erased_for_good());
        self.trace.say(format_args!("{end:?}, {unsynced:?}, dead {}", self.died));
        self.trace.count(if self.died { "a power cut at a sync" } else { end.name() });
        assert!(!self.computer.holds(b"tells of zq"), "a text lies on a disk in plain");
        self.computer = self.computer.restarted(unsynced, &mut self.random);
        if let Some(erased) = erased {
            let left = self.computer.erased_for_good();
            assert!(erased.iter().all(|slot| left.contains(slot)), "what was overwritten and synced came back");
            self.trace.say(format_args!("{} slots are overwritten", erased.len()));
        }
        self.forward(1_000_000, 1_000_000);
    }

    async fn life(&mut self) -> End {
        if self.random.once_in(8) {
            self.computer.dies_at_sync(1 + self.random.below(4) as i64);
        }
        self.queue = Arc::new(self.queue.in_next_life());
        let before = self.computer.erased_for_good();
        let options = Options {
            data_dir: self.folder.path().to_owned(),
            vault_dir: None,
            limits: Limits {
                entity_idle_ms_max: 2_000,
                views_idle_ms_max: 600_000,
                clock_jump_wait_ms: 0,
                ..Limits::default()
            },
            embedder: self.embedder.clone(),
            extractor: Arc::new(only_classifies()),
            narrator: None,
            queue: Some(Arc::<Queue>::clone(&self.queue)),
            clock: Arc::<Moved>::clone(&self.clock),
        };
        let system = match System::start_on(self.computer.machine(), options).await {
            Ok(system) => system,
            Err(error) => {
                assert!(self.computer.is_dead(), "not started: {error}");
                self.died = true;
                return End::Cut;
            }
        };
        self.erased_at_start(&before);
        self.computer.lives_on();
        self.judge_all(&system).await;
        loop {
            if self.steps == 0 {
                self.last_look(&system).await;
                return self.stop(system).await;
            }
            self.steps -= 1;
            if let Some(end) = self.step(&system).await {
                return if end == End::Stopped { self.stop(system).await } else { self.cut(system).await };
            }
        }
    }

    /// Everything that was forgotten and acknowledged was overwritten on the disk then, and is not only now.
    fn erased_at_start(&mut self, before: &[usize]) {
        let after = self.computer.erased_for_good();
        assert!(self.died || before == after, "forgotten, acknowledged, and still on the disk at the next start");
    }

    async fn step(&mut self, system: &System) -> Option<End> {
        match self.random.weighted(&[60, 6, 8, 2, 2, 3, 3]) {
            0 => return self.calls(system).await,
            1 => {
                let days = [HOUR, 2 * HOUR, 25 * HOUR, 2 * DAY, 31 * DAY][self.random.below(5)];
                self.pass(days);
                self.judge_all(system).await;
            }
            2 => {
                let millis = [700, 3_000, 61_000][self.random.weighted(&[6, 3, 1])];
                self.rest(system, millis).await;
                self.judge_all(system).await;
            }
            3 => self.verify(system).await,
            4 => {
                self.rebuild(system).await;
                self.judge_all(system).await;
            }
            5 => return Some(End::Stopped),
            _ => return Some(End::Cut),
        }
        None
    }

    async fn stop(&mut self, system: System) -> End {
        let stopping = tokio::spawn({
            let system = system.clone();
            async move { system.stop().await }
        });
        self.until(&system, || stopping.is_finished()).await;
        self.died = self.computer.is_dead();
        End::Stopped
    }

    /// Whatever it still does reaches no disk: it is only told to stop so that its memory is free again.
    async fn cut(&mut self, system: System) -> End {
        let died = self.computer.is_dead();
        self.computer.dies();
        self.stop(system).await;
        self.died = died;
        End::Cut
    }

    /// The clock goes on; never to where something is just ending, since a call takes some moments itself.
    fn pass(&mut self, micros: i64) {
        let micros = micros + self.random.below(HOUR as usize) as i64;
        self.forward(micros, HOUR / 20);
        self.trace.say(format_args!("the clock stands at {}", self.clock.micros() / HOUR));
    }

    /// By so much, and by a step more as long as something ends within less than that.
    fn forward(&mut self, micros: i64, step: i64) {
        self.clock.forward(micros);
        let close = |now: i64, ends: &[i64]| ends.iter().any(|at| (at - now).abs() < step * 2 / 3);
        let ends: Vec<i64> = self.worlds.iter().flat_map(World::ends).collect();
        while close(self.clock.micros(), &ends) {
            self.clock.forward(step);
        }
        let now = self.clock.micros();
        self.worlds.iter_mut().for_each(|world| world.tick(now));
    }

    /// Nobody calls, and the housekeeping has its time.
    async fn rest(&mut self, system: &System, millis: u64) {
        for _ in 0..millis / 50 {
            idle(50).await;
            while system.turn() {}
        }
        self.trace.say(format_args!("{millis} ms of rest"));
    }

    async fn rebuild(&mut self, system: &System) {
        let rebuilding = tokio::spawn({
            let system = system.clone();
            async move { system.rebuild(|_, _| {}).await }
        });
        self.until(system, || rebuilding.is_finished()).await;
        let rebuilt = rebuilding.await.expect("joined").expect("rebuilt");
        self.trace.say(format_args!("rebuilt: {} records, {} messages", rebuilt.records, rebuilt.messages));
    }

    pub(crate) async fn verify(&mut self, system: &System) {
        let verified =
            system.audit_verify(&context(0, ACCOUNT, None), audit::Verify::default()).await.expect("verified");
        assert!(verified.reply.ok, "{:?}", verified.reply);
        self.trace.say(format_args!("{} events verified", verified.reply.events));
    }

    /// Gives the writer its turns, and everybody else theirs, until it is so.
    pub(crate) async fn until(&mut self, system: &System, done: impl Fn() -> bool) {
        let mut looks = 0;
        while !done() && looks < IDLE_MAX {
            idle(1).await;
            looks = if system.turn() { 0 } else { looks + 1 };
        }
        assert!(done() || self.computer.is_dead(), "nothing happens any more");
    }
}

/// Until nobody has anything to do, and then for so long of the runtime's own time, which stands while anybody has.
pub(crate) async fn idle(millis: u64) {
    tokio::time::timeout(Duration::from_millis(millis), std::future::pending::<()>()).await.unwrap_or_default();
}
