//! Memories, agents and the trash against a plain model: random users, agents, layers, versions, clock moves and restarts. Every
//! command must be accepted or refused as the model says, and after each everyone must see what the model sees, now and as of
//! before.

#[path = "proofs/world.rs"]
#[allow(dead_code, unreachable_pub, reason = "shared with the other proofs, which use the rest")]
mod world;

#[path = "notebooks/plain.rs"]
mod plain;

use std::collections::BTreeMap;

use memlog_actors::{
    api::{AsOf, Caller, Context, Error, agent, memory, trash},
    system::System,
};
use plain::{Code, Plain, User, Who};
use proptest::{
    prelude::*,
    test_runner::{Config, TestRunner},
};
use world::*;

/// One step; the numbers choose among what there is at that moment.
#[derive(Clone, Debug)]
enum Step {
    Create(Call, u8),
    Save(Call, u8, u8, Option<u8>),
    Forget(Call, u8, u8, Option<u8>),
    Delete(Call, u8),
    Restore(Call, u8),
    Purge(Call, u8),
    CreateAgent(Call, u8, Vec<(u8, bool)>),
    Attach(Call, u8, Vec<(u8, bool)>),
    DeleteAgent(Call, u8),
    Clock(u8),
    Restart,
}

/// A user, and sometimes an agent.
#[derive(Clone, Copy, Debug)]
struct Call(u8, Option<u8>);

fn step() -> impl Strategy<Value = Step> {
    let call =
        (0..3_u8, proptest::option::weighted(0.25, any::<u8>())).prop_map(|(user, agent)| Call(user, agent)).boxed();
    let seen = proptest::option::weighted(0.4, 0..4_u8);
    let some = proptest::collection::vec((any::<u8>(), any::<bool>()), 0..4);
    let (pick, entry) = (any::<u8>(), 0..3_u8);
    prop_oneof![
        4 => (call.clone(), 0..3_u8).prop_map(|(call, name)| Step::Create(call, name)),
        10 => (call.clone(), pick, entry.clone(), seen.clone()).prop_map(|(call, at, name, seen)| Step::Save(call, at, name, seen)),
        4 => (call.clone(), pick, entry, seen).prop_map(|(call, at, name, seen)| Step::Forget(call, at, name, seen)),
        3 => (call.clone(), pick).prop_map(|(call, at)| Step::Delete(call, at)),
        3 => (call.clone(), pick).prop_map(|(call, at)| Step::Restore(call, at)),
        1 => (call.clone(), pick).prop_map(|(call, at)| Step::Purge(call, at)),
        3 => (call.clone(), 0..3_u8, some.clone()).prop_map(|(call, name, some)| Step::CreateAgent(call, name, some)),
        3 => (call.clone(), pick, some).prop_map(|(call, at, some)| Step::Attach(call, at, some)),
        1 => (call, pick).prop_map(|(call, at)| Step::DeleteAgent(call, at)),
        1 => (0..3_u8).prop_map(Step::Clock),
        1 => Just(Step::Restart),
    ]
}

const USERS: [User; 3] = [None, Some(0), Some(1)];
const NAMES: [&str; 3] = ["company", "diary", "Company"];
const ENTRIES: [&str; 3] = ["tone", "猫", "Tone"];

/// What a user could read at a moment: by memory and name.
type Read = BTreeMap<usize, BTreeMap<usize, Vec<(User, String, u64)>>>;

struct Run {
    world: World,
    /// None only while it starts again.
    system: Option<System>,
    plain: Plain,
    /// Of the model's memories and agents, in their order.
    memories: Vec<String>,
    agents: Vec<String>,
    words: u32,
    moments: Vec<(u64, Vec<Read>)>,
}

fn name_of(user: User) -> Option<String> {
    user.map(|user| ["ann", "bob"][user].to_owned())
}

fn code<T>(result: Result<T, Error>) -> Result<T, u16> {
    result.map_err(|error| error.kind.code())
}

fn as_user(user: User) -> Context {
    Context { caller: Caller { user: name_of(user), ..Caller::default() }, ..acme() }
}

impl Run {
    fn system(&self) -> &System {
        self.system.as_ref().expect("started")
    }

    fn who(&self, call: Call) -> (Who, Context) {
        let user = USERS[call.0 as usize];
        let agent = call.1.filter(|_| !self.agents.is_empty()).map(|pick| pick as usize % self.agents.len());
        let mut context = as_user(user);
        context.caller.agent = agent.map(|agent| self.agents[agent].clone());
        (Who { user, agent }, context)
    }

    /// A memory, or none while there is none.
    fn pick(&self, pick: u8) -> Option<(usize, String)> {
        let at = (pick as usize).checked_rem(self.memories.len())?;
        Some((at, self.memories[at].clone()))
    }

    fn some(&self, picks: &[(u8, bool)]) -> (Vec<(usize, bool)>, Vec<agent::Attachment>) {
        let mut chosen: Vec<(usize, bool)> = Vec::new();
        for (pick, writes) in picks {
            let Some((at, _)) = self.pick(*pick) else { continue };
            if chosen.iter().all(|(other, _)| *other != at) {
                chosen.push((at, *writes));
            }
        }
        let attachment =
            |(at, writes): &(usize, bool)| agent::Attachment { memory: self.memories[*at].clone(), writes: *writes };
        let asked = chosen.iter().map(attachment).collect();
        (chosen, asked)
    }

    async fn take(&mut self, step: Step) {
        let expected = match step.clone() {
            Step::Create(call, name) => self.create(call, name as usize).await,
            Step::Save(call, at, name, seen) => self.save(call, at, name as usize, seen.map(u64::from)).await,
            Step::Forget(call, at, name, seen) => self.forget(call, at, name as usize, seen.map(u64::from)).await,
            Step::Delete(..) | Step::Restore(..) | Step::Purge(..) => self.trash(&step).await,
            Step::CreateAgent(call, name, some) => self.create_agent(call, name as usize, &some).await,
            Step::Attach(call, at, some) => self.attach(call, at, &some).await,
            Step::DeleteAgent(call, at) => self.delete_agent(call, at).await,
            Step::Clock(days) => {
                self.world.clock.forward([1, 16, 31][days as usize] * DAY_MICROS);
                None
            }
            Step::Restart => {
                let system = self.system.take().expect("started");
                self.system = Some(self.world.restart(system).await);
                None
            }
        };
        if let Some((found, expected)) = expected {
            assert_eq!(found, expected, "{step:?}");
        }
        self.plain.tick(self.world.clock.micros());
    }

    fn until(&self) -> i64 {
        self.world.clock.micros() + 30 * DAY_MICROS
    }

    async fn create(&mut self, call: Call, name: usize) -> Option<(Code, Code)> {
        let (who, context) = self.who(call);
        let request = memory::Create { name: NAMES[name].to_owned(), description: None };
        let made = code(self.system().memory_create(&context, request).await);
        let expected = self.plain.create(who, name);
        Some((made.map(|made| self.memories.push(made.reply.memory.id)), expected))
    }

    async fn save(&mut self, call: Call, at: u8, name: usize, version: Option<u64>) -> Option<(Code, Code)> {
        let ((who, context), (at, id)) = (self.who(call), self.pick(at)?);
        self.words += 1;
        let content = format!("tells of zq{}x", self.words);
        let expected = self.plain.save(who, at, name, &content, version);
        let (entry, description) = (ENTRIES[name].to_owned(), Some(format!("of {name}")));
        let request = memory::Save { id: Some(id), entry, content, description, version, name: None };
        let saved = code(self.system().memory_save(&context, request).await);
        let layer = self.plain.acting(who).ok().and_then(|user| self.plain.memories[at].layers.get(&(user, name)));
        if let Ok(saved) = &saved {
            assert_eq!(Some(saved.reply.entry.version), layer.map(|entry| entry.version));
        }
        Some((saved.map(drop), expected))
    }

    async fn forget(&mut self, call: Call, at: u8, name: usize, version: Option<u64>) -> Option<(Code, Code)> {
        let ((who, context), (at, id)) = (self.who(call), self.pick(at)?);
        let expected = self.plain.forget(who, at, name, version);
        let request = memory::Forget { id: Some(id), entry: ENTRIES[name].to_owned(), version, name: None };
        Some((code(self.system().memory_forget(&context, request).await).map(drop), expected))
    }

    async fn trash(&mut self, step: &Step) -> Option<(Code, Code)> {
        let (Step::Delete(call, at) | Step::Restore(call, at) | Step::Purge(call, at)) = step else { return None };
        let ((who, context), (at, id)) = (self.who(*call), self.pick(*at)?);
        Some(match step {
            Step::Delete(..) => {
                let deleted = code(self.system().memory_delete(&context, memory::Delete { id }).await);
                (deleted.map(drop), self.plain.delete(who, at, self.until()))
            }
            Step::Restore(..) => {
                let restored = code(self.system().trash_restore(&context, trash::Restore { id }).await);
                (restored.map(drop), self.plain.restore(who, at))
            }
            _ => {
                let purged = code(self.system().trash_purge(&context, trash::Purge { id }).await);
                (purged.map(drop), self.plain.purge(who, at))
            }
        })
    }

    async fn create_agent(&mut self, call: Call, name: usize, some: &[(u8, bool)]) -> Option<(Code, Code)> {
        let ((who, context), (chosen, asked)) = (self.who(call), self.some(some));
        let expected = self.plain.create_agent(who, name, &chosen);
        let request = agent::Create { name: NAMES[name].to_owned(), memories: Some(asked), instructions: None };
        let made = code(self.system().agent_create(&context, request).await);
        let made = made.map(|made| {
            self.memories.push(made.reply.agent.memory_id);
            self.agents.push(made.reply.agent.id);
        });
        Some((made, expected))
    }

    async fn attach(&mut self, call: Call, at: u8, some: &[(u8, bool)]) -> Option<(Code, Code)> {
        let at = (at as usize).checked_rem(self.agents.len())?;
        let ((who, context), (chosen, asked)) = (self.who(call), self.some(some));
        let expected = self.plain.attach(who, at, &chosen);
        let request = agent::Update { id: self.agents[at].clone(), memories: Some(asked), ..agent::Update::default() };
        Some((code(self.system().agent_update(&context, request).await).map(drop), expected))
    }

    async fn delete_agent(&mut self, call: Call, at: u8) -> Option<(Code, Code)> {
        let at = (at as usize).checked_rem(self.agents.len())?;
        let (who, context) = self.who(call);
        let request = agent::Delete { id: self.agents[at].clone() };
        let deleted = code(self.system().agent_delete(&context, request).await);
        Some((deleted.map(drop), self.plain.delete_agent(who, at, self.until())))
    }
}

impl Run {
    /// Everyone sees what the model sees.
    async fn compare(&mut self) {
        let mut now = Vec::new();
        for user in USERS {
            let mut read = Read::new();
            for at in 0..self.memories.len() {
                if self.compare_memory(user, at).await {
                    read.insert(at, self.plain.readable(user, at));
                }
            }
            self.compare_lists(user).await;
            now.push(read);
        }
        for at in 0..self.agents.len() {
            self.compare_brief(at).await;
        }
        let moments = std::mem::take(&mut self.moments);
        for (seq, then) in &moments {
            for (user, read) in USERS.iter().zip(then) {
                self.compare_past(*user, *seq, read).await;
            }
        }
        self.moments = moments;
        self.moments.push((self.system().health().seq, now));
        // Two moments are enough to look at again and again, and old ones catch most.
        if self.moments.len() > 2 {
            self.moments.remove(1);
        }
    }

    async fn compare_memory(&self, user: User, at: usize) -> bool {
        let (context, id) = (as_user(user), Some(self.memories[at].clone()));
        let who = Who { user, agent: None };
        let listed = self
            .system()
            .memory_entries(&context, memory::Entries { id: id.clone(), ..memory::Entries::default() })
            .await;
        let readable = self.plain.reads(who, at);
        assert_eq!(listed.as_ref().map(drop).map_err(|error| error.kind.code()), readable, "{user:?} {at}");
        let Ok(listed) = listed else { return false };
        let mut expected: Vec<(&str, u64)> = Vec::new();
        for ((of, name), entry) in &self.plain.memories[at].layers {
            if *of == user && entry.living.is_some() {
                expected.push((ENTRIES[*name], entry.version));
            }
        }
        expected.sort_unstable();
        let shown: Vec<(&str, u64)> = listed.reply.entries.iter().map(|it| (it.name.as_str(), it.version)).collect();
        assert_eq!(shown, expected, "{user:?} {at}");
        for (name, texts) in self.plain.readable(user, at) {
            let entry = ENTRIES[name].to_owned();
            let request = memory::Read { id: id.clone(), entry: entry.clone(), ..memory::Read::default() };
            let one = self.system().memory_read(&context, request).await.expect("read").reply.entry;
            assert_eq!((one.content.as_deref(), one.user_id), (Some(texts[0].1.as_str()), name_of(texts[0].0)));
            let query = texts[0].1.clone();
            let request = memory::Search { id: id.clone(), query, limit: Some(100), ..memory::Search::default() };
            let found = self.system().memory_search(&context, request).await.expect("found").reply.entries;
            assert_eq!(found[0].content.as_deref(), Some(texts[0].1.as_str()), "the one with all the words is best");
            self.compare_history(&context, at, entry, &self.plain.memories[at].layers[&(texts[0].0, name)]).await;
        }
        true
    }

    async fn compare_history(&self, context: &Context, at: usize, entry: String, model: &plain::Entry) {
        let id = Some(self.memories[at].clone());
        let request = memory::History { id, entry, ..memory::History::default() };
        let told = self.system().memory_history(context, request).await.expect("told").reply.versions;
        let living = model.living.as_ref().map(|(_, id)| *id);
        let text = |(text, id): &(String, u64)| Some(text.clone()).filter(|_| Some(*id) == living);
        let expected: Vec<_> = (1..).zip(model.versions.iter().map(text)).collect();
        let shown: Vec<_> = told.into_iter().map(|version| (version.version, version.content)).collect();
        assert_eq!(shown, expected);
    }

    async fn compare_lists(&self, user: User) {
        let context = as_user(user);
        let list = memory::List { limit: Some(500), ..memory::List::default() };
        let listed = self.system().memory_list(&context, list).await.expect("listed").reply.memories;
        let mut shown: Vec<(String, u64)> = listed.into_iter().map(|it| (it.id, it.entry_count)).collect();
        let all = self.plain.memories.iter().enumerate();
        let there = all.clone().filter(|(_, it)| it.trashed.is_none() && !it.purged && it.own_of.is_none());
        let seen = there.filter(|(_, it)| it.owner.is_none() || it.owner == user);
        let count = |it: &plain::Memory| it.layers.values().filter(|entry| entry.living.is_some()).count() as u64;
        let mut expected: Vec<_> = seen.map(|(at, it)| (self.memories[at].clone(), count(it))).collect();
        shown.sort_unstable();
        expected.sort_unstable();
        assert_eq!(shown, expected, "{user:?}");
        let list = trash::List { limit: Some(500), ..trash::List::default() };
        let items = self.system().trash_list(&context, list).await.expect("listed").reply.items;
        let mut shown: Vec<String> = items.into_iter().map(|item| item.id).collect();
        let lying = all.filter(|(_, it)| it.trashed.is_some() && !it.purged && it.owner == user);
        let mut expected: Vec<String> = lying.map(|(at, _)| self.memories[at].clone()).collect();
        shown.sort_unstable();
        expected.sort_unstable();
        assert_eq!(shown, expected, "{user:?}");
    }

    async fn compare_brief(&self, at: usize) {
        let model = &self.plain.agents[at];
        for user in USERS {
            let request = agent::Brief { agent: self.agents[at].clone(), ..agent::Brief::default() };
            let brief = self.system().agent_brief(&as_user(user), request).await;
            let refused = match model.owner {
                _ if model.deleted => Some(404),
                Some(_) if user.is_none() => Some(403),
                owner if owner.is_some() && owner != user => Some(404),
                _ => None,
            };
            assert_eq!(brief.as_ref().err().map(|error| error.kind.code()), refused, "{user:?} {at}");
            let Ok(brief) = brief else { continue };
            let mut expected = Vec::new();
            for memory in std::iter::once(model.own).chain(model.attached.iter().map(|(memory, _)| *memory)) {
                let mut names: Vec<_> = self.plain.readable(user, memory).into_iter().collect();
                names.sort_by_key(|(name, _)| ENTRIES[*name]);
                for (name, texts) in names {
                    let line = |text: &(User, String, u64)| {
                        (self.memories[memory].clone(), ENTRIES[name].to_owned(), name_of(text.0))
                    };
                    expected.extend(texts.iter().map(line));
                }
            }
            let shown: Vec<_> = brief.reply.entries.into_iter().map(|it| (it.memory, it.name, it.user_id)).collect();
            assert_eq!(shown, expected, "{user:?} {at}");
        }
    }

    /// A read of the past says what was there then, but for what was forgotten or thrown away since.
    async fn compare_past(&self, user: User, seq: u64, then: &Read) {
        for (at, names) in then {
            for (name, texts) in names {
                let request = memory::Read {
                    id: Some(self.memories[*at].clone()),
                    entry: ENTRIES[*name].to_owned(),
                    as_of: Some(AsOf::Seq(seq)),
                    name: None,
                };
                let found = code(self.system().memory_read(&as_user(user), request).await);
                let expected = texts.iter().find(|(_, _, entry)| self.plain.lives(*at, *entry));
                let expected = expected.map(|(_, text, _)| Some(text.clone())).ok_or(404);
                assert_eq!(found.map(|found| found.reply.entry.content), expected, "{user:?} at {seq}");
            }
        }
    }
}

#[test]
fn everyone_sees_what_the_model_sees() {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
    let config = Config { cases: 24, failure_persistence: None, max_shrink_iters: 200, ..Config::default() };
    let mut runner = TestRunner::new(config);
    let steps = proptest::collection::vec(step(), 1..60);
    let outcome = runner.run(&steps, |steps| {
        runtime.block_on(async {
            let world = World::new();
            let system = Some(world.start().await);
            let (memories, agents, moments) = (Vec::new(), Vec::new(), Vec::new());
            let mut run = Run { world, system, plain: Plain::default(), memories, agents, words: 0, moments };
            for step in steps {
                run.take(step).await;
                run.compare().await;
            }
            run.system.take().expect("started").stop().await;
        });
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
}
