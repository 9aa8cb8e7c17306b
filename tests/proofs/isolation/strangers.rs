//! What is another's is seen by nobody, and whether it is there is told by nothing.
//!
//! Two properties of the same random worlds. *No mark*: no reply, no error, no event of the feed and no job has a mark of somebody
//! whom the reader may not see. *No difference*: a stranger who has learnt every name, text and id of an owner plays the owner's whole
//! script with them, and is answered word for word as another stranger who plays it with names, texts and ids that never were.

use std::{
    collections::{BTreeMap, BTreeSet},
    env,
    hash::{BuildHasher, Hasher, RandomState},
    sync::Mutex,
    time::Duration,
};

use futures::{FutureExt, StreamExt};
use memlog::door::table::{Kind, TABLE};
use memlog_actors::limits::Limits;
use serde_json::Value;
use uuid::Uuid;

use super::{
    script::{self, By, Sees, Step},
    world::{Actor, Dice, Reply, World, backwards, kept, marks, plain},
};

/// Random worlds tried; `MEMLOG_ISOLATION_WORLDS` says otherwise, and `MEMLOG_ISOLATION_SEED` plays one again.
const WORLDS: u64 = 3;
/// How long the feed may be silent before it has told of the last event.
const SILENCE_MAX: Duration = Duration::from_secs(60);
/// Every so many steps of an owner somebody else reads something.
const READ_EVERY: usize = 3;

#[tokio::test(flavor = "multi_thread")]
async fn nothing_of_one_reaches_another() {
    let Some(world) = World::start(Limits::default()).await else { return };
    let played = Mutex::new(BTreeSet::new());
    let told = |name: &str| env::var(name).ok().map(|text| text.parse::<u64>().expect("a number"));
    let first = told("MEMLOG_ISOLATION_SEED");
    let worlds = if first.is_some() { 1 } else { told("MEMLOG_ISOLATION_WORLDS").unwrap_or(WORLDS) };
    for _ in 0..worlds {
        let seed = first.unwrap_or_else(|| RandomState::new().build_hasher().finish());
        // What a failing world is played again with.
        eprintln!("MEMLOG_ISOLATION_SEED={seed}");
        tried(&world, seed, &played).await;
    }
    let table: BTreeSet<_> = TABLE.rows().iter().map(|row| format!("{row:?}")).collect();
    let played = played.into_inner().unwrap();
    let unplayed: Vec<_> = table.difference(&played).collect();
    assert!(unplayed.is_empty(), "verbs without a step in the script: {unplayed:?}");
    world.memlog.close().await;
}

/// One world: its owners write and read in turns, strangers try what they can, then everything is taken away.
async fn tried(world: &World, seed: u64, played: &Mutex<BTreeSet<String>>) {
    let mut dice = Dice::new(seed);
    let mut owners = Vec::new();
    for _ in 0..2 + dice.below(2) {
        let count = 1 + dice.below(3);
        let first = Actor::apart(&mut dice, 0);
        owners.extend((1..count).map(|number| Actor::new(&mut dice, &first.namespace, number)).collect::<Vec<_>>());
        owners.push(first);
    }
    let nats = world.nats.client().await;
    let mut told = nats.subscribe("memlog.>").await.unwrap();
    nats.flush().await.unwrap();

    let count = owners.len();
    let mut played_by = Played { world, owners, verbs: played };
    let scripts = (0..count).map(|_| shuffled(&mut dice)).collect();
    played_by.interleaved(&mut dice, scripts).await;
    for _ in 0..2 {
        let victim = dice.below(count);
        played_by.strangers_of(&mut dice, victim, Reach::OtherNamespace).await;
        played_by.strangers_of(&mut dice, victim, Reach::SameNamespace).await;
    }
    for step in script::editor() {
        played_by.play(count - 1, &step).await;
    }
    // What was an owner's is there still, whatever strangers did.
    played_by.interleaved(&mut dice, (0..count).map(|_| script::end()).collect()).await;

    // The feed is behind the replies: when it has told of the last event, it has told of all.
    let last = world.memlog.serving.system().health().seq;
    let mut events = 0;
    while let Some(message) = tokio::time::timeout(SILENCE_MAX, told.next()).await.expect("the feed tells of all") {
        let told = format!("{} {}", message.subject, String::from_utf8_lossy(&message.payload));
        let mut parts = message.subject.split('.').skip(2);
        let (namespace, noun) = (parts.next().unwrap_or_default().to_owned(), parts.next().unwrap_or_default());
        if noun != "events" {
            continue;
        }
        events += 1;
        let seen = played_by.names_of(&namespace);
        let leaked: Vec<_> = marks(&told).into_iter().filter(|mark| !seen.contains(mark)).collect();
        assert!(!seen.is_empty() && leaked.is_empty(), "{leaked:?} in the feed: {told}");
        let change: Value = serde_json::from_slice(&message.payload).unwrap();
        if change["seq"].as_u64() >= Some(last) {
            break;
        }
    }
    assert!(events > 100, "the feed told of {events} events");
    while let Some(Some(message)) = told.next().now_or_never() {
        let queue = message.subject.starts_with("memlog.jobs.") || message.subject.starts_with("memlog.dead.");
        assert!(!queue || marks(&String::from_utf8_lossy(&message.payload)).is_empty(), "{message:?}");
    }
}

/// The parts of the script in an order of their own.
fn shuffled(dice: &mut Dice) -> Vec<Step> {
    let mut parts = script::parts();
    let mut steps = Vec::new();
    while !parts.is_empty() {
        steps.extend(parts.remove(dice.below(parts.len())));
    }
    steps
}

struct Played<'a> {
    world: &'a World,
    owners: Vec<Actor>,
    verbs: &'a Mutex<BTreeSet<String>>,
}

/// Where a stranger stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    /// In a namespace of its own, where it calls everything as the owner does.
    OtherNamespace,
    /// In the owner's namespace, with a login, a group and a profile of its own.
    SameNamespace,
}

impl Reach {
    /// What a stranger does not try, since there is nothing to hide: the account sees what is in its namespace, and jobs are not
    /// scoped by who calls.
    fn passes_over(self, step: &Step) -> bool {
        let openly = matches!(step.by, By::Account | By::Admin) || step.verb.starts_with("job.");
        self == Self::SameNamespace && (openly && step.body.get("profile").is_none())
    }

    /// What is the stranger's own: its address, and what anybody can count or be told of anyway. That a key or a session of the
    /// namespace is another's is told by the API's own rules (409, 403).
    fn own(self) -> &'static [&'static str] {
        match self {
            Self::OtherNamespace => &[],
            Self::SameNamespace => &["login", "group", "profile", "key"],
        }
    }

    /// What it keeps of its own replies: notes are numbered from one in every namespace.
    fn keeps(self) -> &'static [&'static str] {
        match self {
            Self::OtherNamespace => &["all_note", "group_note", "own_note"],
            Self::SameNamespace => &["session"],
        }
    }

    /// What everybody of the namespace may read.
    fn shared(self) -> &'static [&'static str] {
        match self {
            Self::OtherNamespace => &[],
            Self::SameNamespace => {
                &["namespace_mark", "firm", "firm_id", "firm_entry", "firm_page", "all_html", "all_note", "kind"]
            }
        }
    }
}

impl Played<'_> {
    /// Steps of all owners in random turns; now and then somebody reads, with what was read before.
    async fn interleaved(&mut self, dice: &mut Dice, scripts: Vec<Vec<Step>>) {
        let mut left: Vec<_> = scripts.into_iter().map(Vec::into_iter).collect();
        let mut read: Vec<Vec<Step>> = vec![Vec::new(); left.len()];
        let mut steps = 0;
        while left.iter().any(|steps| steps.len() > 0) {
            let owner = dice.below(left.len());
            let Some(step) = left[owner].next() else { continue };
            self.play(owner, &step).await;
            let row = TABLE.place(step.verb).map(|place| &TABLE.rows()[place]).expect("a verb");
            // What waits for a job is done soon; read again, it would only take time.
            if row.kind == Kind::Read && step.code == 200 {
                read[owner].push(step);
            }
            steps += 1;
            let reader = dice.below(read.len());
            if steps % READ_EVERY == 0 && !read[reader].is_empty() {
                let again = read[reader][dice.below(read[reader].len())].clone();
                let (_, reply) = self.world.play(&self.owners[reader], &again).await;
                self.look(reader, &again, &reply);
            }
        }
    }

    /// A step that must be answered as the script says, and what it gives.
    async fn play(&mut self, owner: usize, step: &Step) {
        let (asked, reply) = self.world.play(&self.owners[owner], step).await;
        assert_eq!(reply.code, step.code, "{} {asked}: {}", step.verb, reply.raw);
        self.verbs.lock().unwrap().insert(step.verb.to_owned());
        self.look(owner, step, &reply);
        if step.verb == "profile.remember" {
            assert_eq!(reply.body["status"], "stored", "another's words made it a duplicate: {}", reply.raw);
        }
        self.owners[owner].env.extend(kept(step, &reply));
    }

    /// No mark of anybody whom the owner may not see.
    fn look(&self, owner: usize, step: &Step, reply: &Reply) {
        let seen = self.seen(owner, step.sees);
        let leaked: Vec<_> = marks(&reply.raw).into_iter().filter(|mark| !seen.contains(mark)).collect();
        let of: Vec<_> = self
            .owners
            .iter()
            .filter(|it| leaked.iter().any(|mark| format!("{:?}", it.marks).contains(mark)))
            .collect();
        assert!(
            leaked.is_empty(),
            "{leaked:?} of {of:?} in the reply to {step:?} of {:?}: {}",
            self.owners[owner].marks,
            reply.raw
        );
    }

    fn seen(&self, owner: usize, sees: Sees) -> BTreeSet<String> {
        let me = &self.owners[owner];
        let own = &me.marks;
        let mut seen = BTreeSet::from([own.namespace.clone(), own.name.clone()]);
        match sees {
            Sees::Own => seen.extend([own.text.clone(), own.kin.clone()]),
            Sees::Self_ => seen.extend([own.text.clone()]),
            Sees::OwnNames => {}
            Sees::Names => seen.extend(self.names_of(&me.namespace)),
            Sees::All => {
                seen.extend(self.names_of(&me.namespace));
                seen.extend(self.of(&me.namespace).flat_map(|it| marks(it.env["value"].as_str().unwrap_or_default())));
            }
        }
        seen
    }

    fn of(&self, namespace: &str) -> impl Iterator<Item = &Actor> {
        self.owners.iter().filter(move |it| it.namespace == namespace)
    }

    fn names_of(&self, namespace: &str) -> BTreeSet<String> {
        let called = |it: &Actor| ["login", "message"].map(|name| it.env[name].as_str().unwrap_or_default().to_owned());
        let names = self.of(namespace).flat_map(called).flat_map(|name| marks(&name));
        names.chain(marks(namespace)).collect()
    }

    /// Two strangers: one who knows all of the victim's, and one whose names never were.
    async fn strangers_of(&mut self, dice: &mut Dice, victim: usize, reach: Reach) {
        let known = self.owners[victim].env.clone();
        let never: BTreeMap<_, _> = known
            .iter()
            .map(|(name, value)| {
                let value = if reach.shared().contains(&name.as_str()) { value.clone() } else { unknown(name, value) };
                (name.clone(), value)
            })
            .collect();
        let knowing = self.stranger(dice, victim, reach, known);
        let unknowing = self.stranger(dice, victim, reach, never);
        let mut script = shuffled(dice);
        script.extend(script::end());
        script.retain(|step| !reach.passes_over(step));
        let first = self.intruded(knowing, reach, &script).await;
        let second = self.intruded(unknowing, reach, &script).await;
        let gone = &self.owners[victim].marks;
        for ((step, (asked, one)), (_, two)) in script.iter().zip(&first).zip(&second) {
            assert_eq!(one.0, two.0, "{reach:?}: {} {asked} tells that it is there:\n{}\n{}", step.verb, one.1, two.1);
            let leaked: Vec<_> =
                marks(&two.1).into_iter().filter(|mark| [&gone.name, &gone.text, &gone.kin].contains(&mark)).collect();
            assert!(leaked.is_empty(), "{reach:?}: {leaked:?} in the reply to {step:?}: {}", two.1);
        }
        // What it tried must have been more than refused: half of the script is about what is its own.
        let done = first.iter().filter(|(_, told)| told.0["code"] == 200).count();
        assert!(done * 2 > script.len(), "only {done} of {} steps were done", script.len());
    }

    fn stranger(&mut self, dice: &mut Dice, victim: usize, reach: Reach, env: BTreeMap<String, Value>) -> Actor {
        let mut own = match reach {
            Reach::OtherNamespace => Actor::apart(dice, 0),
            Reach::SameNamespace => Actor::new(dice, &self.owners[victim].namespace, 0),
        };
        let mine = reach.own().iter().map(|name| ((*name).to_owned(), own.env[*name].clone())).collect::<Vec<_>>();
        own.env = env;
        own.env.extend(mine);
        own
    }

    /// What a stranger was asked and told, each as it would be under other names.
    async fn intruded(&mut self, mut stranger: Actor, reach: Reach, script: &[Step]) -> Vec<(Value, (Value, String))> {
        let mut told = Vec::new();
        for step in script {
            let (asked, reply) = self.world.play(&stranger, step).await;
            let own = step.keep.iter().any(|(name, _)| reach.keeps().contains(name));
            if own && reply.code == 200 {
                stranger.env.extend(kept(step, &reply));
            }
            told.push((asked, (plain(&reply, &stranger.env), reply.raw)));
        }
        // It stays among those whose marks are known: it has written, and lists of the namespace show its name.
        self.owners.push(stranger);
        told
    }
}

/// A name, text, id or number of the same kind that nothing has.
fn unknown(name: &str, value: &Value) -> Value {
    match value {
        Value::String(text) if Uuid::try_parse(text).is_ok() => another(text).into(),
        Value::String(text) if name == "cursor" => {
            let (before, id) = text.rsplit_once('.').expect("a cursor ends in an id");
            format!("{before}.{}", another(id)).into()
        }
        Value::String(text) => backwards(text).into(),
        // The log's positions are everybody's.
        Value::Number(number) if name != "seq" => (number.as_u64().expect("a count") + 1_000_000).into(),
        other => other.clone(),
    }
}

/// An id that was never given out.
fn another(id: &str) -> String {
    let given = Uuid::try_parse(id).expect("an id").as_u128();
    Uuid::from_u128(given ^ 0xa5a5_a5a5).to_string()
}
