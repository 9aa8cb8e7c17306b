//! What links say, and what holds because of them, is what a plain model says, over expiry and restarts.

use std::collections::{BTreeMap, BTreeSet};

use memlog_actors::{
    api::{
        profile::*,
        record::{ItemType, Status},
        thread,
    },
    system::System,
};
use proptest::{
    prelude::*,
    test_runner::{Config, TestRunner},
};

use super::{
    threads::{address, changing, create, linking, memory},
    world::*,
};

/// What one step of the property test does; numbers choose among what is there.
#[derive(Clone, Debug)]
enum Step {
    Add { ttl: bool },
    AddLinked { target: u8, kind: u8 },
    Link { source: u8, target: u8, kind: u8 },
    Relink { link: u8, kind: u8 },
    Unlink { link: u8, by_tuple: bool },
    Set { record: u8, valid: bool },
    Delete(u8),
    Supersede(u8),
    Day,
    Restart,
}

const KINDS: [&str; 6] = ["supersedes", "contradicts", "refines", "supports", "duplicates", "near"];

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => any::<bool>().prop_map(|ttl| Step::Add { ttl }),
        2 => (any::<u8>(), any::<u8>()).prop_map(|(target, kind)| Step::AddLinked { target, kind }),
        6 => (any::<u8>(), any::<u8>(), any::<u8>()).prop_map(|(source, target, kind)| Step::Link { source, target, kind }),
        3 => (any::<u8>(), any::<u8>()).prop_map(|(link, kind)| Step::Relink { link, kind }),
        2 => (any::<u8>(), any::<bool>()).prop_map(|(link, by_tuple)| Step::Unlink { link, by_tuple }),
        3 => (any::<u8>(), any::<bool>()).prop_map(|(record, valid)| Step::Set { record, valid }),
        2 => any::<u8>().prop_map(Step::Delete),
        1 => any::<u8>().prop_map(Step::Supersede),
        1 => Just(Step::Day),
        1 => Just(Step::Restart),
    ];
    prop::collection::vec(step, 8..24)
}

/// The plain model: records with their own status and end, links by id.
#[derive(Default)]
struct Plain {
    records: BTreeMap<String, PlainRecord>,
    links: BTreeMap<String, (String, String, &'static str)>,
    next: usize,
}

struct PlainRecord {
    invalid: bool,
    expires: Option<i64>,
}

impl Plain {
    fn pick(&self, number: u8) -> Option<String> {
        self.records.keys().nth(usize::from(number) % self.records.len().max(1)).cloned()
    }

    fn pick_link(&self, number: u8) -> Option<String> {
        self.links.keys().nth(usize::from(number) % self.links.len().max(1)).cloned()
    }

    fn name(&mut self) -> String {
        self.next += 1;
        format!("r{:03}", self.next)
    }

    fn expire(&mut self, now: i64) {
        let over: Vec<String> = self
            .records
            .iter()
            .filter(|(_, it)| it.expires.is_some_and(|at| at <= now))
            .map(|it| it.0.clone())
            .collect();
        over.iter().for_each(|id| self.delete(id));
    }

    fn delete(&mut self, id: &str) {
        self.records.remove(id);
        self.links.retain(|_, (source, target, _)| source != id && target != id);
    }

    fn is_valid(&self, id: &str) -> bool {
        let says_so = |kind: &str| ["supersedes", "refines", "duplicates"].contains(&kind);
        !self.records[id].invalid && !self.links.values().any(|(_, target, kind)| target == id && says_so(kind))
    }

    /// Whether a link may be made or changed to this.
    fn may(&self, source: &str, target: &str, kind: &str, but: Option<&str>) -> bool {
        let others = self.links.iter().filter(|(id, _)| Some(id.as_str()) != but).map(|(_, link)| link);
        let mut others = others.filter(|(a, b, _)| (a == source && b == target) || (a == target && b == source));
        source != target && others.all(|(a, _, other)| a == source && *other != kind)
    }
}

struct Play {
    world: World,
    system: Option<System>,
    plain: Plain,
}

impl Play {
    fn system(&self) -> &System {
        self.system.as_ref().expect("running")
    }

    async fn play(&mut self, step: &Step) {
        self.plain.expire(self.world.clock.micros());
        let (profile, thread_id) = address();
        match *step {
            Step::Add { ttl } => self.add(ttl, None).await,
            Step::AddLinked { target, kind } => {
                if let Some(target) = self.plain.pick(target) {
                    self.add(false, Some((target, KINDS[usize::from(kind) % 6]))).await;
                }
            }
            Step::Link { source, target, kind } => {
                let (Some(source), Some(target)) = (self.plain.pick(source), self.plain.pick(target)) else { return };
                let kind = KINDS[usize::from(kind) % 6];
                let made = self.system().thread_link_records(&acme(), linking(&source, &target, kind)).await;
                assert_eq!(
                    made.is_ok(),
                    self.plain.may(&source, &target, kind, None),
                    "{source} {kind} {target}: {made:?}"
                );
                if let Ok(made) = made {
                    self.plain.links.insert(made.reply.relation_id, (source, target, kind));
                }
            }
            Step::Relink { link, kind } => self.relink(link, kind).await,
            Step::Unlink { link, by_tuple } => self.unlink(link, by_tuple).await,
            Step::Set { record, valid } => {
                let Some(id) = self.plain.pick(record) else { return };
                let status = Some(if valid { Status::Valid } else { Status::Invalid });
                let changed = thread::UpdateMemory { status, ..changing(&id) };
                self.system().thread_update_memory(&acme(), changed).await.expect("set");
                self.plain.records.get_mut(&id).expect("picked").invalid = !valid;
            }
            Step::Delete(record) => {
                let Some(memory_id) = self.plain.pick(record) else { return };
                self.plain.delete(&memory_id);
                let request = thread::DeleteMemory { profile, thread_id, memory_id };
                let deleted = self.system().thread_delete_memory(&acme(), request).await.expect("deleted");
                assert_eq!(deleted.reply.deleted, 1);
            }
            Step::Supersede(record) => self.supersede(record).await,
            Step::Day => self.world.clock.forward(DAY_MICROS + DAY_MICROS / 2),
            Step::Restart => {
                // Whoever still holds the old one keeps the folder.
                let old = self.system.take().expect("running");
                self.system = Some(self.world.restart(old).await);
            }
        }
    }

    async fn relink(&mut self, link: u8, kind: u8) {
        let Some(relation_id) = self.plain.pick_link(link) else { return };
        let kind = KINDS[usize::from(kind) % 6];
        let (source, target, _) = self.plain.links[&relation_id].clone();
        let (profile, thread_id) = address();
        let request = thread::UpdateRecordLink {
            profile,
            thread_id,
            relation_id: relation_id.clone(),
            relation_type: Some(kind.to_owned()),
            ..Default::default()
        };
        let changed = self.system().thread_update_record_link(&acme(), request).await;
        let may = self.plain.may(&source, &target, kind, Some(&relation_id));
        assert_eq!(changed.is_ok(), may, "{source} {kind} {target}: {changed:?}");
        if may {
            self.plain.links.insert(relation_id, (source, target, kind));
        }
    }

    async fn unlink(&mut self, link: u8, by_tuple: bool) {
        let Some(relation_id) = self.plain.pick_link(link) else { return };
        let (source, target, kind) = self.plain.links.remove(&relation_id).expect("picked");
        let (profile, thread_id) = address();
        let named = thread::DeleteRecordLink { profile, thread_id, ..Default::default() };
        let request = match by_tuple {
            false => thread::DeleteRecordLink { relation_id: Some(relation_id), ..named },
            true => thread::DeleteRecordLink {
                source_record_id: Some(source),
                source_record_type: Some(ItemType::Memory),
                target_record_id: Some(target),
                target_record_type: Some(ItemType::Memory),
                relation_type: Some(kind.to_owned()),
                ..named
            },
        };
        let deleted = self.system().thread_delete_record_link(&acme(), request).await.expect("deleted");
        assert_eq!(deleted.reply.deleted, 1);
    }

    async fn add(&mut self, ttl: bool, link: Option<(String, &'static str)>) {
        let id = self.plain.name();
        let (target, kind) = link.unzip();
        let request = thread::AddMemory {
            ttl_days: ttl.then_some(Some(1.0)),
            memory_id_to_link: target.clone(),
            link_type: kind.map(str::to_owned),
            ..memory(&id, &format!("statement {id}"))
        };
        let added = self.system().thread_add_memory(&acme(), request).await.expect("saved").reply;
        let expires = added.memory.expires_at.map(|at| at.0.0);
        self.plain.records.insert(id.clone(), PlainRecord { invalid: false, expires });
        if let (Some(target), Some(kind), Some(link)) = (target, kind, added.link_id) {
            self.plain.links.insert(link, (id, target, kind));
        }
    }

    /// Through the other door: the old one is set invalid besides being linked, so it stays so when the link goes.
    async fn supersede(&mut self, record: u8) {
        let Some(old) = self.plain.pick(record).filter(|id| self.plain.is_valid(id)) else { return };
        let content = format!("what took the place of {old} {}", self.plain.next);
        self.plain.next += 1;
        let request = Supersede { profile: ALICE.to_owned(), memory_id: old.clone(), content, ..Default::default() };
        let new = self.system().profile_supersede(&acme(), request).await.expect("superseded").reply.memory;
        let expires = new.expires_at.map(|at| at.0.0);
        self.plain.records.insert(new.id.clone(), PlainRecord { invalid: false, expires });
        self.plain.records.get_mut(&old).expect("picked").invalid = true;
        let (profile, thread_id) = address();
        let request = thread::ListRecordLinks { profile, thread_id, record_id: new.id.clone(), as_of: None };
        let links = self.system().thread_list_record_links(&acme(), request).await.expect("listed").reply.links;
        self.plain.links.insert(links[0].relation_id.clone(), (new.id, old, "supersedes"));
    }

    async fn check(&mut self) {
        self.plain.expire(self.world.clock.micros());
        let mut seen = BTreeMap::new();
        for status in [Status::Valid, Status::Invalid] {
            let request = Memories { status: Some(status), limit: Some(500), ..list() };
            let listed = self.system().profile_memories(&acme(), request).await.expect("listed").reply.memories;
            seen.extend(listed.into_iter().map(|it| (it.id, status == Status::Valid)));
        }
        let expected: BTreeMap<String, bool> =
            self.plain.records.keys().map(|id| (id.clone(), self.plain.is_valid(id))).collect();
        assert_eq!(seen, expected);
        for record_id in self.plain.records.keys().cloned().collect::<Vec<_>>() {
            let (profile, thread_id) = address();
            let request = thread::ListRecordLinks { profile, thread_id, record_id: record_id.clone(), as_of: None };
            let links = self.system().thread_list_record_links(&acme(), request).await.expect("listed").reply.links;
            let seen: BTreeSet<_> =
                links.into_iter().map(|it| (it.relation_id, it.source_record_id, it.target_record_id)).collect();
            let theirs = self.plain.links.iter().filter(|(_, (a, b, _))| *a == record_id || *b == record_id);
            let expected: BTreeSet<_> = theirs.map(|(id, (a, b, _))| (id.clone(), a.clone(), b.clone())).collect();
            assert_eq!(seen, expected, "links of {record_id}");
        }
    }
}

#[test]
fn links_and_validity_are_what_a_plain_model_says() {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
    let mut runner = TestRunner::new(Config { cases: 8, ..Config::default() });
    let run = runner.run(&steps(), |steps| {
        runtime.block_on(async {
            let world = World::new();
            let system = world.start().await;
            create(&system).await;
            let mut play = Play { world, system: Some(system), plain: Plain::default() };
            for step in &steps {
                play.play(step).await;
                play.check().await;
            }
            play.system().stop().await;
        });
        Ok(())
    });
    run.expect("as the plain model says");
}
