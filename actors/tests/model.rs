//! The system against a plain model in memory: random sequences of commands, clock moves and restarts, compared after each.

#[path = "proofs/world.rs"]
#[allow(dead_code, unreachable_pub, reason = "shared with the other proofs, which use the rest")]
mod world;

#[path = "model/plain.rs"]
mod plain;
#[path = "model/speakers.rs"]
mod speakers;

use std::collections::BTreeMap;

use memlog_actors::{
    api::{
        AsOf,
        error::Kind,
        profile::*,
        record::{Record, Status},
        speaker,
    },
    system::System,
};
use plain::{Line, Plain, Sent};
use proptest::{
    prelude::*,
    test_runner::{Config, TestRunner},
};
use world::*;

/// One step; the numbers choose among what there is at that moment.
#[derive(Clone, Debug)]
enum Step {
    Remember { session: Option<u8>, speaker: u8, ttl: bool, again: Option<u8> },
    Ingest { session: u8, news: u8, how: How, speaker: u8, ids: bool },
    AddTurn { session: u8, again: bool },
    Supersede(u8),
    Forget(u8),
    DeleteSession(u8),
    DeleteProfile,
    AddSpeaker(u8),
    RemoveSpeaker(u8),
    Clock(u8),
    Restart,
}

#[derive(Clone, Copy, Debug)]
enum How {
    Fresh,
    Whole,
    WholeWithoutSession,
    Window,
    ById,
}

fn step() -> impl Strategy<Value = Step> {
    let how = prop_oneof![
        Just(How::Fresh),
        Just(How::Whole),
        Just(How::WholeWithoutSession),
        Just(How::Window),
        Just(How::ById)
    ];
    prop_oneof![
        6 => (any::<Option<u8>>(), 0..6_u8, any::<bool>(), proptest::option::weighted(0.3, any::<u8>()))
            .prop_map(|(session, speaker, ttl, again)| Step::Remember { session, speaker, ttl, again }),
        6 => (any::<u8>(), 0..4_u8, how, 0..6_u8, any::<bool>())
            .prop_map(|(session, news, how, speaker, ids)| Step::Ingest { session, news, how, speaker, ids }),
        2 => (any::<u8>(), any::<bool>()).prop_map(|(session, again)| Step::AddTurn { session, again }),
        3 => any::<u8>().prop_map(Step::Supersede),
        4 => any::<u8>().prop_map(Step::Forget),
        1 => any::<u8>().prop_map(Step::DeleteSession),
        1 => Just(Step::DeleteProfile),
        3 => (0..4_u8).prop_map(Step::AddSpeaker),
        1 => (0..4_u8).prop_map(Step::RemoveSpeaker),
        2 => (0..4_u8).prop_map(Step::Clock),
        1 => Just(Step::Restart),
    ]
}

const NAMES: [&str; 4] = ["Bob", "bob", "さくら", "Иван"];
const SESSIONS: [&str; 3] = ["trip", "Trip", "work"];

struct Run {
    world: World,
    /// None only while it starts again.
    system: Option<System>,
    plain: Plain,
    words: u32,
    /// Where the log stood after earlier steps, and what and who was there then.
    moments: Vec<(u64, Vec<Line>, BTreeMap<String, u32>)>,
}

impl Run {
    fn word(&mut self) -> String {
        self.words += 1;
        format!("tells of zq{}x", self.words)
    }

    fn system(&self) -> &System {
        self.system.as_ref().expect("started")
    }

    /// A registered speaker, none, or the assistant.
    fn tag(&self, pick: u8) -> Option<String> {
        match pick {
            0..4 => Some(NAMES[pick as usize].to_owned()).filter(|name| self.plain.is_registered(name)),
            4 => Some("me".to_owned()),
            _ => None,
        }
    }

    async fn take(&mut self, step: Step) {
        match step {
            Step::Remember { session, speaker, ttl, again } => self.remember(session, speaker, ttl, again).await,
            Step::Ingest { session, news, how, speaker, ids } => self.ingest(session, news, how, speaker, ids).await,
            Step::AddTurn { session, again } => self.add_turn(session, again).await,
            Step::Supersede(pick) => self.supersede(pick).await,
            Step::Forget(pick) => self.forget(pick).await,
            Step::DeleteSession(pick) => {
                let session = SESSIONS[pick as usize % SESSIONS.len()];
                self.system().profile_delete_session(&acme(), delete_session(session)).await.expect("deleted");
                self.plain.delete_session(session);
            }
            Step::DeleteProfile => {
                self.system().profile_delete(&acme(), delete()).await.expect("deleted");
                self.plain = Plain::default();
                self.moments.clear();
            }
            Step::AddSpeaker(pick) => {
                let name = NAMES[pick as usize];
                let add = speaker::Add { profile: ALICE.to_owned(), speaker: name.to_owned() };
                self.system().speaker_add(&acme(), add).await.expect("added");
                self.plain.add_speaker(name);
            }
            Step::RemoveSpeaker(pick) => {
                let name = NAMES[pick as usize];
                let remove = speaker::Remove { profile: ALICE.to_owned(), speaker: name.to_owned() };
                let removed = self.system().speaker_remove(&acme(), remove).await;
                assert_eq!(removed.is_ok(), self.plain.remove_speaker(name), "{removed:?}");
            }
            Step::Clock(pick) => {
                self.world.clock.forward([1_000, 3_600_000_000, DAY_MICROS, 3 * DAY_MICROS][pick as usize])
            }
            Step::Restart => {
                let system = self.system.take().expect("started");
                self.system = Some(self.world.restart(system).await);
            }
        }
    }

    async fn remember(&mut self, session: Option<u8>, speaker: u8, ttl: bool, again: Option<u8>) {
        let known = again.and_then(|pick| self.plain.pick(pick, self.now())).map(|line| line.text.clone());
        let content = known.unwrap_or_else(|| self.word());
        let session = session.map(|pick| SESSIONS[pick as usize % SESSIONS.len()]);
        let request = Remember {
            session_id: session.map(str::to_owned),
            speaker: self.tag(speaker),
            ttl_days: ttl.then_some(2.0),
            ..world::remember(&content)
        };
        let now = self.now();
        let expected = self.plain.saying(&content, request.speaker.as_deref(), now);
        let tag = request.speaker.clone();
        let stored = self.system().profile_remember(&acme(), request).await.expect("remembered").reply;
        assert_eq!(stored.duplicate_of, expected.clone(), "{content}");
        if expected.is_none() {
            // The clock ticks while the command runs, so the model takes the moment that the record shows.
            let expires = stored.memory.expires_at.map(|at| at.0.0);
            self.plain.save(stored.memory.id, &content, session, tag.as_deref(), expires, Vec::new());
        }
    }

    async fn ingest(&mut self, session: u8, news: u8, how: How, speaker: u8, ids: bool) {
        let named = SESSIONS[session as usize % SESSIONS.len()];
        let (session_id, mut sent) = match how {
            How::Fresh => (Some(named.to_owned()), Vec::new()),
            How::Whole => (Some(named.to_owned()), self.plain.held(named)),
            How::Window => (Some(named.to_owned()), self.plain.window(named)),
            How::ById => (Some(named.to_owned()), self.plain.one_with_id(named)),
            How::WholeWithoutSession => {
                let sessions = self.plain.sessions();
                let some = sessions.get(session as usize % sessions.len().max(1)).cloned().unwrap_or_default();
                (None, self.plain.whole(&some))
            }
        };
        if !self.plain.can_be_sent_again(&sent) {
            return;
        }
        let again = sent.len();
        for _ in 0..news {
            let text = self.word();
            let id = ids.then(|| format!("m-{}", self.words));
            sent.push(Sent { id, text, speaker: self.tag(speaker), known: None });
        }
        if sent.is_empty() {
            return;
        }
        let messages = sent.iter().map(|it| Message {
            speaker: it.speaker.clone(),
            id: it.id.clone(),
            ..message("user", &it.text)
        });
        let request = world::ingest(session_id.as_deref(), messages.collect());
        let reply = self.system().profile_ingest(&acme(), request).await.expect("ingested").reply;
        assert_eq!((reply.accepted as usize, reply.duplicates as usize), (sent.len() - again, again), "{sent:?}");
        for (it, id) in sent.iter().zip(&reply.message_ids) {
            if let Some(known) = &it.known {
                assert_eq!(known, id, "a known message keeps its id");
            }
        }
        if let Some(asked) = session_id {
            assert_eq!(asked, reply.session_id);
        }
        self.plain.open(&reply.session_id);
        for (it, id) in sent.iter().zip(reply.message_ids).skip(again) {
            self.plain.append(&reply.session_id, id, it);
        }
        self.extracted(reply.job_id, sent[again..].iter().map(|it| it.text.clone()).collect(), &reply.session_id).await;
    }

    /// The facts of new messages, as the job that made them tells.
    async fn extracted(&mut self, job_id: Option<String>, texts: Vec<String>, session: &str) {
        let Some(job_id) = job_id else {
            assert!(texts.is_empty());
            return;
        };
        let get = memlog_actors::api::job::Get { job_id, as_of: None };
        let job = self.system().job_get(&acme(), get).await.expect("a job").reply.job;
        let mut made = job.records.into_iter();
        for text in texts {
            let (message, tag) = self.plain.message(session, &text).expect("appended");
            let fact = fact_of(&text);
            if self.plain.saying(&fact, tag.as_deref(), self.now()).is_none() {
                let id = made.next().expect("one fact a message");
                self.plain.save(id, &fact, Some(session), tag.as_deref(), None, vec![message]);
            }
        }
        assert_eq!(made.next(), None, "no fact twice");
    }

    async fn add_turn(&mut self, session: u8, again: bool) {
        let session = SESSIONS[session as usize % SESSIONS.len()];
        let held = self.plain.held(session);
        let known = held.first().filter(|_| again).map(|it| it.text.clone());
        let (user, assistant) = (known.unwrap_or_else(|| self.word()), self.word());
        let turn = AddTurn {
            profile: ALICE.to_owned(),
            user: user.clone(),
            assistant: assistant.clone(),
            session_id: Some(session.to_owned()),
        };
        let reply = self.system().profile_add_turn(&acme(), turn).await.expect("added").reply;
        assert_eq!((reply.accepted, reply.duplicates), (2, 0), "a turn is always appended");
        let wait = Wait { profile: ALICE.to_owned(), job_id: reply.job_id.clone(), timeout_s: None };
        self.system().profile_wait(&acme(), wait).await.expect("done");
        self.plain.open(session);
        for (text, id) in [&user, &assistant].into_iter().zip(reply.message_ids) {
            let role = if text == &user { "user" } else { "assistant" };
            self.plain.append_as(role, session, id, &Sent { id: None, text: text.clone(), speaker: None, known: None });
        }
        self.extracted(reply.job_id, vec![user, assistant], session).await;
    }

    async fn supersede(&mut self, pick: u8) {
        let Some(old) = self.plain.pick(pick, self.now()).cloned() else { return };
        let content = self.word();
        let request = Supersede {
            profile: ALICE.to_owned(),
            memory_id: old.id.clone(),
            content: content.clone(),
            ..Supersede::default()
        };
        match self.system().profile_supersede(&acme(), request).await {
            Ok(new) => {
                let expires = new.reply.memory.expires_at.map(|at| at.0.0);
                self.plain.supersede(&old, new.reply.memory.id, &content, expires);
            }
            Err(error) => {
                assert_eq!(error.kind, Kind::Conflict, "{error}");
                let named = error.fields.get("superseded_by").and_then(|id| id.as_str()).map(str::to_owned);
                assert_eq!((old.invalid, named), (true, self.plain.successor(&old, self.now())));
            }
        }
    }

    async fn forget(&mut self, pick: u8) {
        let Some(line) = self.plain.pick(pick, self.now()).cloned() else { return };
        let gone =
            self.system().profile_forget(&acme(), world::forget(&line.id)).await.expect("forgotten").reply.memory;
        assert_eq!(gone.content, Some(Some(line.text.clone())));
        self.plain.forget(&line);
    }

    fn now(&self) -> i64 {
        self.world.clock.micros()
    }

    /// Everything that can be read, against the model.
    async fn compare(&mut self, pick: u8) {
        let now = self.now();
        self.compare_list(&self.plain.lines.clone(), None).await;
        let get = |as_of| Get { profile: ALICE.to_owned(), as_of };
        if self.plain.exists() {
            let profile = self.system().profile_get(&acme(), get(None)).await.expect("a profile").reply.profile;
            let counts = (profile.memories, profile.messages, profile.sessions, profile.speakers);
            assert_eq!(counts, self.plain.counts(now));
            let (seq, speakers) = (self.system().health().seq, self.plain.speakers().clone());
            self.moments.push((seq, self.plain.lines.clone(), speakers));
        }
        self.compare_search(pick).await;
        self.compare_speakers(pick).await;
        self.compare_summary().await;
        if let Some((seq, lines, _)) = self.moments.get(pick as usize % self.moments.len().max(1)).cloned() {
            let lines = self.plain.without_what_is_gone(lines);
            self.compare_list(&lines, Some(AsOf::Seq(seq))).await;
        }
    }

    async fn compare_list(&self, lines: &[Line], as_of: Option<AsOf>) {
        let now = self.now();
        for status in [Status::Valid, Status::Invalid] {
            let mut listed = Vec::new();
            let mut cursor = None;
            loop {
                let page = Memories { status: Some(status), limit: Some(3), cursor, as_of, ..list() };
                let page = match self.system().profile_memories(&acme(), page).await {
                    Ok(page) => page.reply,
                    Err(error) => {
                        assert!(error.kind == Kind::NotFound && !self.plain.exists(), "{error}");
                        return;
                    }
                };
                listed.extend(page.memories);
                cursor = page.cursor;
                if cursor.is_none() {
                    break;
                }
            }
            let wanted =
                lines.iter().rev().filter(|line| line.is_alive(now) && line.invalid == (status == Status::Invalid));
            let wanted: Vec<_> = wanted.collect();
            let ids = |records: &[Record]| records.iter().map(|record| record.id.clone()).collect::<Vec<_>>();
            let expected: Vec<_> = wanted.iter().map(|line| line.id.clone()).collect();
            assert_eq!(ids(&listed), expected, "{status:?} {as_of:?}");
            for (record, line) in listed.iter().zip(wanted) {
                self.compare_one(record, line, lines);
                let read = Memory { profile: ALICE.to_owned(), memory_id: line.id.clone(), as_of };
                let read = self.system().profile_memory(&acme(), read).await.expect("listed").reply.memory;
                self.compare_one(&read, line, lines);
                assert_eq!(read.content, Some(Some(line.text.clone())));
            }
        }
    }

    fn compare_one(&self, record: &Record, line: &Line, lines: &[Line]) {
        let seen = (&record.session_id, &record.speaker, &record.sources, &record.superseded_by, record.status);
        let status = if line.invalid { Status::Invalid } else { Status::Valid };
        let successor = self.plain.successor_in(lines, line, self.now());
        assert_eq!(
            seen,
            (&line.session, &self.plain.shown(line), &self.plain.living(&line.sources), &successor, status),
            "{line:?}"
        );
    }

    /// By a word that one statement has: it is found if it is there, and nothing is found that is not.
    async fn compare_search(&self, pick: u8) {
        if self.words == 0 {
            return;
        }
        let word = format!("zq{}x", u32::from(pick) % self.words + 1);
        let found = match self.system().profile_search(&acme(), search(&word)).await {
            Ok(found) => found.reply.memories,
            Err(error) => {
                assert!(error.kind == Kind::NotFound && !self.plain.exists(), "{error}");
                return;
            }
        };
        let now = self.now();
        let texts = self.plain.texts(now);
        for hit in &found {
            let text = hit.content.clone().flatten().expect("content");
            assert!(texts.get(&hit.id) == Some(&text), "a hit that is not there: {hit:?}");
        }
        for any in self.plain.matching(&word, now) {
            let told = found.iter().any(|hit| any.contains(&hit.id));
            assert!(told, "{word} is not found: {any:?} in {found:#?} of {:#?}", self.plain);
        }
        for hit in &found {
            let beside = found.iter().any(|other| other.sources.contains(&hit.id));
            assert!(!beside, "a message is listed beside the record made from it: {hit:?}");
        }
    }
}

fn run_cases(cases: u32) {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
    let mut runner =
        TestRunner::new(Config { cases, failure_persistence: None, max_shrink_iters: 200, ..Config::default() });
    let steps = proptest::collection::vec((step(), any::<u8>()), 10..40);
    let outcome = runner.run(&steps, |steps| {
        runtime.block_on(async {
            let world = World::new();
            let system = world.start().await;
            let mut run = Run { world, system: Some(system), plain: Plain::default(), words: 0, moments: Vec::new() };
            for (step, pick) in steps {
                run.take(step).await;
                run.compare(pick).await;
            }
            let verified = run.system().audit_verify(&acme(), Default::default()).await.expect("verified").reply;
            assert!(verified.ok, "{verified:?}");
            run.system().stop().await;
        });
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{error}");
    }
}

// The rules of api.md taken together: whatever the order of commands, every read is what a plain list would say.
#[test]
fn whatever_the_order_every_read_is_what_a_plain_list_says() {
    run_cases(std::env::var("MEMLOG_MODEL_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(32));
}
