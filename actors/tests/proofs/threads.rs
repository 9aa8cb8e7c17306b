//! Threads under a clock that a test holds: what has expired is nowhere, and what links say is what a plain model says.

use std::collections::{BTreeMap, BTreeSet};

use memlog_actors::{
    api::{
        AsOf, Time,
        error::Kind,
        profile::*,
        record::{ItemType, Status},
        speaker, thread,
    },
    system::System,
};
use memlog_events::ids::Micros;
use proptest::{
    prelude::*,
    test_runner::{Config, TestRunner},
};

use super::{erasure::assert_nowhere, world::*};

const THREAD: &str = "trip";

fn address() -> (String, String) {
    (ALICE.to_owned(), THREAD.to_owned())
}

async fn create(system: &System) {
    let (profile, thread_id) = address();
    let off = thread::ExtractionSettings { enabled: Some(false), ..Default::default() };
    let settings = Some(thread::Settings { extraction: Some(off), ..Default::default() });
    let request = thread::Create { profile, thread_id: Some(thread_id), settings, ..Default::default() };
    system.thread_create(&acme(), request).await.expect("created");
}

fn memory(id: &str, content: &str) -> thread::AddMemory {
    let (profile, thread_id) = address();
    let memory_id = Some(id.to_owned());
    thread::AddMemory { profile, thread_id, content: content.to_owned(), memory_id, ..Default::default() }
}

fn changing(id: &str) -> thread::UpdateMemory {
    let (profile, thread_id) = address();
    thread::UpdateMemory { profile, thread_id, memory_id: id.to_owned(), ..Default::default() }
}

fn linking(source: &str, target: &str, relation_type: &str) -> thread::LinkRecords {
    let (profile, thread_id) = address();
    thread::LinkRecords {
        profile,
        thread_id,
        source_record_id: source.to_owned(),
        source_record_type: ItemType::Memory,
        target_record_id: target.to_owned(),
        target_record_type: ItemType::Memory,
        relation_type: relation_type.to_owned(),
        opposite_relation_type: None,
        relation_id: None,
        timestamp: None,
        metadata: None,
    }
}

/// Everything that any read shows, at that moment, as one text.
async fn shown(system: &System, as_of: Option<AsOf>) -> String {
    let (profile, thread_id) = address();
    let mut all = String::new();
    let mut add = |what: &str, told: String| all += &format!("{what}: {told}\n");
    let request =
        thread::GetMessages { profile: profile.clone(), thread_id: thread_id.clone(), as_of, ..Default::default() };
    match system.thread_get_messages(&acme(), request).await {
        Ok(told) => add("messages", format!("{:?}", told.reply)),
        Err(error) => assert_eq!(error.kind, Kind::NotFound, "{error}"),
    }
    for status in [Status::Valid, Status::Invalid] {
        let request = Memories { status: Some(status), as_of, limit: Some(500), ..list() };
        add("list", format!("{:?}", system.profile_memories(&acme(), request).await.expect("listed").reply));
    }
    for query in ["velvet", "marmalade", "quince"] {
        let request =
            Search { as_of, include_invalid: Some(true), num_hops: Some(5), expand: Some(true), ..search(query) };
        add("search", format!("{:?}", system.profile_search(&acme(), request).await.expect("found").reply));
        let request = Recall { profile: profile.clone(), query: query.to_owned(), as_of, ..Default::default() };
        add("recall", format!("{:?}", system.profile_recall(&acme(), request).await.expect("recalled").reply));
        let request = thread::Search {
            profile: profile.clone(),
            thread_id: thread_id.clone(),
            query: query.to_owned(),
            num_hops: Some(5),
            as_of,
            ..Default::default()
        };
        match system.thread_search(&acme(), request).await {
            Ok(told) => add("thread.search", format!("{:?}", told.reply)),
            Err(error) => assert_eq!(error.kind, Kind::NotFound, "{error}"),
        }
    }
    let (p, t) = (profile.clone(), thread_id.clone());
    let request =
        thread::GetMessage { profile: p, thread_id: t, message_id: "m".to_owned(), as_of, ..Default::default() };
    if let Ok(told) = system.thread_get_message(&acme(), request).await {
        add("message", format!("{:?}", told.reply));
    }
    let (p, t) = (profile.clone(), thread_id.clone());
    let request =
        thread::GetContextCard { profile: p, thread_id: t, max_recent_messages: Some(9), as_of, ..Default::default() };
    if let Ok(told) = system.thread_get_context_card(&acme(), request).await {
        add("card", format!("{:?}", told.reply));
    }
    let (p, t) = (profile.clone(), thread_id.clone());
    if let Ok(told) = system
        .thread_get_summary(&acme(), thread::GetSummary { profile: p, thread_id: t, as_of, ..Default::default() })
        .await
    {
        add("thread.summary", format!("{:?}", told.reply));
    }
    for id in ["short", "long"] {
        let request = thread::ListRecordLinks {
            profile: profile.clone(),
            thread_id: thread_id.clone(),
            record_id: id.to_owned(),
            as_of,
        };
        if let Ok(told) = system.thread_list_record_links(&acme(), request).await {
            add("links", format!("{:?}", told.reply));
        }
        let request = Memory { profile: profile.clone(), memory_id: id.to_owned(), as_of };
        if let Ok(told) = system.profile_memory(&acme(), request).await {
            add("memory", format!("{:?}", told.reply));
        }
    }
    let request =
        speaker::Memories { profile: profile.clone(), speaker: "Ann".to_owned(), as_of, ..Default::default() };
    match system.speaker_memories(&acme(), request).await {
        Ok(told) => add("speaker", format!("{:?}", told.reply)),
        Err(error) => assert_eq!(error.kind, Kind::NotFound, "{error}"),
    }
    let request = Summary { profile, session_id: Some(thread_id), as_of };
    add("summary", format!("{:?}", system.profile_summary(&acme(), request).await.expect("told").reply));
    all
}

async fn filled(system: &System) {
    let add = speaker::Add { profile: ALICE.to_owned(), speaker: "Ann".to_owned() };
    system.speaker_add(&acme(), add).await.expect("added");
    create(system).await;
    let (profile, thread_id) = address();
    let message = thread::NewMessage {
        role: "user".to_owned(),
        content: thread::Content::Text("marmalade, said Ann".to_owned()),
        id: Some("m".to_owned()),
        ..Default::default()
    };
    let ttl_days = Some(memlog_actors::api::given::OneOrEach::One(Some(2.0)));
    let request = thread::AddMessages { profile, thread_id, messages: vec![message], ttl_days, ..Default::default() };
    system.thread_add_messages(&acme(), request).await.expect("added");
    let said_by = Some("Ann".to_owned());
    let long = thread::AddMemory { speaker: said_by.clone(), ..memory("long", "quince is kept") };
    system.thread_add_memory(&acme(), long).await.expect("saved");
    let short = thread::AddMemory {
        ttl_days: Some(Some(2.0)),
        speaker: said_by,
        memory_id_to_link: Some("long".to_owned()),
        link_type: Some("refines".to_owned()),
        ..memory("short", "velvet is for two days")
    };
    system.thread_add_memory(&acme(), short).await.expect("saved");
}

// On every path and at any moment of the past, by the clock at once; and later on no disk.
#[tokio::test(flavor = "multi_thread")]
async fn what_has_expired_is_nowhere() {
    let world = World::new();
    let system = world.start().await;
    filled(&system).await;
    let moments: Vec<u64> = (1..=system.health().seq).collect();
    let then = Time(Micros(world.clock.micros()));
    for secret in ["velvet is", "marmalade, said", "quince is"] {
        assert!(shown(&system, None).await.contains(secret), "{secret} is there to begin with");
    }
    assert!(shown(&system, None).await.contains("status: Invalid"));
    world.clock.forward(2 * DAY_MICROS);
    let mut asked: Vec<Option<AsOf>> = moments.iter().map(|seq| Some(AsOf::Seq(*seq))).collect();
    asked.extend([None, Some(AsOf::Time(then))]);
    for as_of in asked {
        let told = shown(&system, as_of).await;
        for secret in ["velvet is", "marmalade, said"] {
            assert!(!told.contains(secret), "{as_of:?}: {secret} in {told}");
        }
    }
    // What it said of another one is taken back with it.
    let now = shown(&system, None).await;
    assert!(now.contains("quince is") && !now.contains("status: Invalid"), "{now}");
    // It cannot be refreshed, linked or deleted any more.
    let refresh = thread::UpdateMemory { ttl_days: Some(None), ..changing("short") };
    assert_eq!(system.thread_update_memory(&acme(), refresh).await.expect_err("refused").kind, Kind::NotFound);
    let (profile, thread_id) = address();
    let refresh = thread::UpdateMessage {
        profile,
        thread_id,
        message_id: "m".to_owned(),
        ttl_days: Some(None),
        ..Default::default()
    };
    assert_eq!(system.thread_update_message(&acme(), refresh).await.expect_err("refused").kind, Kind::NotFound);
    let linked = system.thread_link_records(&acme(), linking("long", "short", "supports")).await;
    assert_eq!(linked.expect_err("refused").kind, Kind::NotFound);
    let system = world.restart(system).await;
    assert!(!shown(&system, None).await.contains("velvet is"));
    assert_nowhere(world.folder.path(), &[b"velvet is".to_vec(), b"marmalade, said".to_vec()]);
    system.stop().await;
}

// The past shows what was said then, for as long as it may be shown now: a life made shorter hides it there as well, and one made
// longer hides nothing.
#[tokio::test(flavor = "multi_thread")]
async fn a_life_made_longer_or_shorter_is_so_in_the_past_as_well() {
    let world = World::new();
    let system = world.start().await;
    filled(&system).await;
    let before = Some(AsOf::Seq(system.health().seq));
    assert!(shown(&system, before).await.contains("velvet is"));
    let longer = thread::UpdateMemory { ttl_days: Some(Some(9.0)), ..changing("short") };
    system.thread_update_memory(&acme(), longer).await.expect("refreshed");
    let shorter = thread::UpdateMemory { ttl_days: Some(Some(1.0)), ..changing("long") };
    system.thread_update_memory(&acme(), shorter).await.expect("shortened");
    for _ in 0..2 {
        world.clock.forward(DAY_MICROS);
        for as_of in [None, before] {
            let told = shown(&system, as_of).await;
            assert!(told.contains("velvet is") && !told.contains("quince is"), "{as_of:?}: {told}");
        }
    }
    world.clock.forward(8 * DAY_MICROS);
    assert!(!shown(&system, before).await.contains("velvet is"));
    // The housekeeping finds what is due by its new time: erased, it has no name any more by which it could be asked for.
    let erased = async {
        for id in ["short", "long"] {
            let history = || History { profile: ALICE.to_owned(), memory_id: id.to_owned(), as_of: None };
            while system.profile_history(&acme(), history()).await.is_ok() {
                tokio::task::yield_now().await;
            }
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(60), erased).await.expect("erased");
    system.stop().await;
}

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
    prop::collection::vec(step, 10..30)
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
    system: System,
    plain: Plain,
}

impl Play {
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
                let made = self.system.thread_link_records(&acme(), linking(&source, &target, kind)).await;
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
                self.system.thread_update_memory(&acme(), changed).await.expect("set");
                self.plain.records.get_mut(&id).expect("picked").invalid = !valid;
            }
            Step::Delete(record) => {
                let Some(memory_id) = self.plain.pick(record) else { return };
                self.plain.delete(&memory_id);
                let request = thread::DeleteMemory { profile, thread_id, memory_id };
                let deleted = self.system.thread_delete_memory(&acme(), request).await.expect("deleted");
                assert_eq!(deleted.reply.deleted, 1);
            }
            Step::Supersede(record) => self.supersede(record).await,
            Step::Day => self.world.clock.forward(DAY_MICROS + DAY_MICROS / 2),
            Step::Restart => self.system = self.world.restart(self.system.clone()).await,
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
        let changed = self.system.thread_update_record_link(&acme(), request).await;
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
        let deleted = self.system.thread_delete_record_link(&acme(), request).await.expect("deleted");
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
        let added = self.system.thread_add_memory(&acme(), request).await.expect("saved").reply;
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
        let new = self.system.profile_supersede(&acme(), request).await.expect("superseded").reply.memory;
        let expires = new.expires_at.map(|at| at.0.0);
        self.plain.records.insert(new.id.clone(), PlainRecord { invalid: false, expires });
        self.plain.records.get_mut(&old).expect("picked").invalid = true;
        let (profile, thread_id) = address();
        let request = thread::ListRecordLinks { profile, thread_id, record_id: new.id.clone(), as_of: None };
        let links = self.system.thread_list_record_links(&acme(), request).await.expect("listed").reply.links;
        self.plain.links.insert(links[0].relation_id.clone(), (new.id, old, "supersedes"));
    }

    async fn check(&mut self) {
        self.plain.expire(self.world.clock.micros());
        let mut seen = BTreeMap::new();
        for status in [Status::Valid, Status::Invalid] {
            let request = Memories { status: Some(status), limit: Some(500), ..list() };
            let listed = self.system.profile_memories(&acme(), request).await.expect("listed").reply.memories;
            seen.extend(listed.into_iter().map(|it| (it.id, status == Status::Valid)));
        }
        let expected: BTreeMap<String, bool> =
            self.plain.records.keys().map(|id| (id.clone(), self.plain.is_valid(id))).collect();
        assert_eq!(seen, expected);
        for record_id in self.plain.records.keys().cloned().collect::<Vec<_>>() {
            let (profile, thread_id) = address();
            let request = thread::ListRecordLinks { profile, thread_id, record_id: record_id.clone(), as_of: None };
            let links = self.system.thread_list_record_links(&acme(), request).await.expect("listed").reply.links;
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
    let mut runner = TestRunner::new(Config { cases: 12, ..Config::default() });
    let run = runner.run(&steps(), |steps| {
        runtime.block_on(async {
            let world = World::new();
            let system = world.start().await;
            create(&system).await;
            let mut play = Play { world, system, plain: Plain::default() };
            for step in &steps {
                play.play(step).await;
                play.check().await;
            }
            play.system.stop().await;
        });
        Ok(())
    });
    run.expect("as the plain model says");
}
