//! One data folder: its rounds, and the look at all of it after each.

use std::{path::PathBuf, thread::panicking};

use fastrand::Rng;
use memlog_actors::api::{job, profile};
use serde_json::json;
use tokio::{sync::mpsc, task::JoinSet};

use super::{
    Tally,
    commands::{POISON, admin},
    dying, fading,
    hand::{End, Hand, SHARED},
    look::{Reader, Seen},
    proof, races,
    story::Story,
    tree::fields,
    wire::{Said, send},
};
use crate::{
    support::llm::{Reply, StandIn, right},
    world::{Served, World},
};

/// Clients with things of their own.
const HANDS: usize = 8;
/// Replies before a death.
const REPLIES_MAX: usize = 400;
/// Whoever draws what is searched for; clients are small letters.
const SEEKING: char = 'S';
/// Whoever saves what ends.
const FADING: char = 'F';
/// How long extraction may take once nobody dies any more. A job whose worker died waits half a minute.
const QUIET_S: f64 = 100.0;

/// Rounds of one folder: a longer life makes slower rounds and no new states. Embedding takes most of a round, in a test's build.
pub(super) fn rounds(seed: u64) -> usize {
    if embeds(seed) { 6 } else { 20 }
}

/// Every third folder has the embedding model.
fn embeds(seed: u64) -> bool {
    seed % 3 == 1
}

/// Some rounds on a folder of its own; false if there is no nats-server on this machine.
pub(super) async fn live(seed: u64, rounds: usize, tally: &mut Tally) -> bool {
    let Some(mut world) = World::on_given_server().await else { return false };
    let rng = Rng::with_seed(seed);
    // Every other folder has a language model, whose jobs may fail for good.
    let llm = seed.is_multiple_of(2).then(StandIn::start);
    if let Some(llm) = &llm {
        llm.play(|call| match call.body.to_string().contains(POISON) && call.asked() == "memories" {
            true => Reply::Status(400, None),
            false => right(call),
        });
        world.ask(llm);
    }
    let embeds = embeds(seed) && world.bring_model();
    let with = [(llm.is_some(), ", with a language model"), (embeds, ", with the embedding model")];
    let with: String = with.into_iter().filter(|(is, _)| *is).map(|(_, what)| what).collect();
    eprintln!("folder: MEMLOG_CRASH_SEED={seed}{with}");
    // Listens before there is anything to tell: what was told before a first round that ends in order is not told again.
    let story = Story::new(world.nats().client().await).await;
    let mut served = world.serve().await;
    races::open(&served).await;
    fading::open(&served).await;
    send(&served.client(0), &Said::new("profile.get", vec![], json!({ "profile": SHARED }))).await.unwrap();
    let hands = (0..HANDS).map(Hand::new).collect();
    let places: Vec<PathBuf> = [world.stores(), vec![world.log()]].concat();
    let mut folder = Folder {
        seed,
        round: 0,
        deaths: Vec::new(),
        world: &world,
        rng,
        hands,
        fading: Vec::new(),
        story,
        places,
        has_model: llm.is_some(),
    };
    for round in 0..rounds {
        folder.round = round;
        served = folder.round(served, tally).await;
    }
    folder.quiet(&served, tally).await;
    folder.story.check(&served, true).await;
    served.stop().await;
    tally.events += folder.story.len();
    true
}

struct Folder<'w> {
    seed: u64,
    round: usize,
    /// What died in which round.
    deaths: Vec<(usize, &'static str)>,
    world: &'w World,
    rng: Rng,
    hands: Vec<Hand>,
    /// All that ends, the newest last.
    fading: Vec<fading::Thing>,
    story: Story,
    places: Vec<PathBuf>,
    has_model: bool,
}

impl Drop for Folder<'_> {
    /// Says which round it was that failed.
    fn drop(&mut self) {
        if panicking() {
            let Self { seed, round, deaths, .. } = self;
            eprintln!("FAILED in round {round} of the folder of MEMLOG_CRASH_SEED={seed}; deaths by round: {deaths:?}");
        }
    }
}

/// What a round's load left.
struct Left {
    tries: Vec<races::Try>,
    ends: Vec<End>,
    died: &'static str,
}

impl Folder<'_> {
    /// What somebody draws by in this round, however far the rounds before it came.
    fn drawing(&self, whose: char) -> Rng {
        let [round, whose] = [self.round as u64, u64::from(whose)];
        Rng::with_seed(self.seed.wrapping_mul(0x9e37_79b9) ^ round << 40 ^ whose << 56)
    }

    /// Load, death, a new life, and the look at what is there.
    async fn round(&mut self, served: Served, tally: &mut Tally) -> Served {
        let Left { tries, ends, died } = self.load(served, tally).await;
        let heard = died != dying::WITH_NATS;
        if !heard {
            self.story.listen(self.world.nats().client().await).await;
        }
        for died in [vec![died], dying::between(self.world, &mut self.rng).await].concat() {
            *tally.kills.entry(died).or_default() += 1;
            self.deaths.push((self.round, died));
        }
        let served = self.world.serve().await;
        // Free the notes: whose editor is open cannot be known by whoever it keeps out.
        send(&served.client(0), &Said::new("note.editor_close", admin("root"), json!({}))).await.unwrap();
        let reader = Reader::new(&served, None);
        let seen = reader.look(&self.hands).await;
        let mut done = Vec::new();
        for hand in &mut self.hands {
            done.push(hand.compare(&seen.trees[&hand.letter]));
        }
        tally.rounds += 1;
        tally.unknown += ends.iter().filter(|end| **end == End::Unknown).count();
        tally.done += done.iter().filter(|done| **done).count();
        once(&seen);
        fading::check(&served, &self.fading, &mut self.drawing(FADING), tally).await;
        races::check(&served, &tries).await;
        self.story.check(&served, heard).await;
        proof::other_reads(&reader, &self.hands).await;
        fading::reads(&reader).await;
        proof::all_living(&reader, &self.hands);
        fading::none_is_read(&reader, &self.fading);
        reader.count(tally);
        if self.rng.bool() {
            self.then(&served, tally).await;
        }
        proof::is_found(&served, &self.hands, Some(self.drawing(SEEKING))).await;
        proof::files_are_sealed(&self.places);
        // The first opens the editor of the notes, so it comes last: nobody else is to be kept out.
        for (hand, done) in self.hands.iter_mut().zip(done).rev() {
            hand.extracted = seen.extracted.get(&hand.letter).cloned().unwrap_or_default();
            hand.repeat(&served.client(0), done).await;
        }
        self.settled(&served).await;
        served
    }

    /// All clients send until the death.
    async fn load(&mut self, served: Served, tally: &mut Tally) -> Left {
        let replies = self.rng.usize(1..REPLIES_MAX);
        let (heard, mut count) = mpsc::channel(replies);
        let (mut working, mut racing) = (JoinSet::new(), JoinSet::new());
        let rng = self.drawing(FADING);
        let fading = fading::fade(served.client(HANDS), served.death(), self.round, rng, heard.clone());
        let fading = tokio::spawn(fading);
        for (at, mut hand) in std::mem::take(&mut self.hands).into_iter().enumerate() {
            hand.rng = self.drawing(hand.letter);
            working.spawn(hand.work(served.client(at), served.death(), heard.clone()));
        }
        for racer in 0..races::RACERS {
            racing.spawn(races::race(served.client(racer), served.death(), (self.round, racer), heard.clone()));
        }
        for _ in 0..replies {
            tokio::select! {
                Some(()) = count.recv() => {}
                // Nobody ends before the process does: this one failed.
                Some(ended) = working.join_next() => panic!("{:?}", ended.map(|(hand, end)| (hand.told(), end))),
            }
        }
        drop(heard);
        let died = dying::end(self.world, served, &mut self.rng).await;
        let mut ends = Vec::new();
        while let Some(ended) = working.join_next().await {
            let (mut hand, end) = ended.unwrap();
            for verb in hand.acknowledged.drain(..) {
                *tally.acknowledged.entry(verb).or_default() += 1;
            }
            ends.push(end);
            self.hands.push(hand);
        }
        self.hands.sort_by_key(|hand| hand.letter);
        let mut tries = Vec::new();
        while let Some(ended) = racing.join_next().await {
            tries.extend(ended.unwrap());
        }
        self.fading.extend(fading.await.unwrap());
        Left { tries, ends, died }
    }

    /// The same reads, as the log stood at the end of some earlier round.
    async fn then(&mut self, served: &Served, tally: &mut Tally) {
        let heads = self.story.heads.len();
        let head = &self.story.heads[self.rng.usize(..heads)];
        let reader = Reader::new(served, head["seq"].as_u64());
        reader.look(&self.hands).await;
        proof::other_reads(&reader, &self.hands).await;
        fading::reads(&reader).await;
        proof::all_living(&reader, &self.hands);
        fading::none_is_read(&reader, &self.fading);
        reader.count(tally);
    }

    /// Which of the jobs that clients know are done, and which failed.
    async fn settled(&mut self, served: &Served) {
        let jobs = served.call(job::List { limit: Some(500), ..Default::default() }).await.jobs;
        let ended = jobs.iter().filter(|job| matches!(job.state, job::State::Done | job::State::Failed));
        let ended = ended.map(|job| (job.job_id.clone(), job.state == job::State::Failed));
        let ended: std::collections::BTreeMap<String, bool> = ended.collect();
        for hand in &mut self.hands {
            hand.settled.clone_from(&ended);
        }
    }

    /// When nobody dies any more, every job comes to an end, what is counted is what is listed, and all of it is found.
    async fn quiet(&mut self, served: &Served, tally: &mut Tally) {
        let names: Vec<String> = served
            .call(profile::List { limit: Some(500), ..Default::default() })
            .await
            .profiles
            .into_iter()
            .map(|it| it.name)
            .collect();
        let reader = Reader::new(served, None);
        for profile in names {
            let waited = reader.get("profile.wait", &[], json!({ "profile": profile, "timeout_s": QUIET_S })).await;
            assert!(waited.is_object(), "{profile} is there");
        }
        self.one_by_one(&reader).await;
        let jobs = served.call(job::List { limit: Some(500), ..Default::default() }).await.jobs;
        for job in &jobs {
            let ended = job.state == job::State::Done || self.has_model && job.state == job::State::Failed;
            assert!(ended, "{job:?}");
            let one = reader.get("job.get", &[], json!({ "job_id": job.job_id })).await;
            assert_eq!(one["job"], json!(job));
        }
        let seen = reader.look(&self.hands).await;
        for hand in &mut self.hands {
            assert!(!hand.compare(&seen.trees[&hand.letter]), "nothing was under way");
        }
        once(&seen);
        for (profile, counted, there) in &seen.counts {
            assert_eq!(counted, there, "{profile}: what is counted is there");
        }
        proof::other_reads(&reader, &self.hands).await;
        fading::reads(&reader).await;
        proof::whole_log(&reader).await;
        proof::all_living(&reader, &self.hands);
        fading::none_is_read(&reader, &self.fading);
        reader.count(tally);
        proof::is_found(served, &self.hands, None).await;
        fading::check(served, &self.fading, &mut self.drawing(FADING), tally).await;
    }

    /// Each thread's own wait.
    async fn one_by_one(&self, reader: &Reader<'_>) {
        for hand in &self.hands {
            for (profile, it) in fields(&hand.tree["profiles"]) {
                for (thread, _) in fields(&it["threads"]) {
                    let body = json!({ "profile": profile, "thread_id": thread, "timeout": QUIET_S });
                    let waited = reader.get("thread.wait_for_memory_extraction", &[], body).await;
                    assert!(waited.is_object(), "{thread} is there");
                }
            }
        }
    }
}

/// Nothing was made twice of the same messages.
fn once(seen: &Seen) {
    let mut texts = std::collections::BTreeSet::new();
    for text in &seen.texts {
        // Two messages may say the same; one message does not make the same twice.
        assert!(text.2 == "[]" || texts.insert(text), "made twice: {text:?}");
    }
}
