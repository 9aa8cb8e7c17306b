//! Whether what is read is what one of the worlds says; those that say otherwise are ruled out.

use std::collections::BTreeSet;

use memlog_actors::{
    api::{
        AsOf, Verb, audit, profile,
        record::{ItemType, Status},
    },
    system::System,
};
use serde_json::Value;

use super::{
    command::{ACCOUNT, Asked, Command, FACT, NAMESPACES, PROFILES, Word, context, text, word_of},
    look::{Reader, board_of, books_of, found, shelf_of, shown},
    orders::Made,
    plain::{Job, JobState, Place, Shelf, World},
    plan::Call,
    run::{Run, idle},
    step::is_seen,
};

/// What a profile listed at a position.
pub(crate) struct Moment {
    p: usize,
    seq: u64,
    ids: BTreeSet<String>,
}

/// What stood on a shelf at a position.
pub(crate) struct Shelved {
    ns: usize,
    seq: u64,
    shelf: Shelf,
}

/// Moments that are looked back at.
const MOMENTS_MAX: usize = 12;

/// Places in an answer that must be the same when it is given again.
const SAME: [&str; 17] = [
    "/memory/id",
    "/memory/type",
    "/memory/session_id",
    "/message_ids",
    "/accepted",
    "/duplicates",
    "/job_id",
    "/memory_id",
    "/entry/version",
    "/agent/id",
    "/agent/memory_id",
    "/note/id",
    "/note/level",
    "/note/kind_key",
    "/kind/title",
    "/session",
    "/image_id",
];

/// Whether what was said there went with what was deleted: of a record whose profile is gone only the id can still be said, of a place
/// that is gone no name.
fn takes(gone: &Command, at: &str) -> bool {
    match gone {
        Command::DeleteProfile { .. } => ["/memory/type", "/memory/session_id"].contains(&at),
        Command::DeleteSession { .. } | Command::DeleteThread { .. } => at == "/memory/session_id",
        _ => false,
    }
}

impl Run {
    /// What an answer tells of ids.
    pub(crate) fn learn(&mut self, command: &Command, reply: &Value) {
        let id = |at: &str| reply.pointer(at).and_then(Value::as_str).map(str::to_owned);
        match command {
            Command::Remember { word, .. } | Command::Supersede { word, .. } | Command::Keep { word, .. } => {
                if let Some(id) = id("/memory/id") {
                    self.words.insert(id.clone(), *word);
                    self.ids.records.insert(*word, id);
                }
            }
            Command::Ingest { said, .. } => {
                let accepted = reply.pointer("/accepted").and_then(Value::as_u64).unwrap_or_default() as usize;
                if let (Some(job), Some((word, _))) = (id("/job_id"), said.iter().rev().nth(accepted.max(1) - 1)) {
                    self.ids.jobs.insert(*word, job);
                }
            }
            Command::AddTurn { words, .. } => {
                self.ids.jobs.extend(id("/job_id").map(|job| (words[0], job)));
            }
            Command::Create { book, .. } | Command::Adopt { book, .. } => {
                self.ids.books.extend(id("/memory/id").map(|id| (*book, id)))
            }
            Command::Hire { agent, .. } | Command::Engage { agent, .. } => {
                self.ids.agents.extend(id("/agent/id").map(|id| (*agent, id)));
                self.ids.books.extend(id("/agent/memory_id").map(|id| (*agent, id)));
            }
            Command::Hang { image, .. } => self.ids.images.extend(id("/image_id").map(|id| (*image, id))),
            Command::Connect { session, .. } => self.ids.sessions.extend(id("/session").map(|id| (*session, id))),
            Command::Pin { note, .. } | Command::Post { note, .. } => {
                self.ids.notes.extend(reply.pointer("/note/id").and_then(Value::as_u64).map(|id| (*note, id)));
            }
            _ => {}
        }
    }

    /// A repeat is answered as the first was.
    pub(crate) fn same_as_before(&mut self, asked: &Asked, reply: &Value, replayed: bool) {
        let command = &asked.command;
        let Some(key) = asked.key.map(|key| (command.namespace(), key)) else { return };
        if let Some((before, then)) = self.answers.get(&key).filter(|_| replayed) {
            let since = self.deleted.iter().filter(|(left, gone)| left <= then && gone.profile() == command.profile());
            // Of what was saved the repeat tells how it stands now, if it was erased since; what is forgotten has no later.
            let status = matches!(command, Command::Forget { .. }).then_some("/memory/status");
            for at in SAME.into_iter().chain(status).filter(|at| !since.clone().any(|(_, gone)| takes(gone, at))) {
                assert_eq!(
                    before.pointer(at),
                    reply.pointer(at),
                    "{command:?} is answered otherwise at {at}\n{}",
                    self.trace.tail()
                );
            }
        }
        self.answers.insert(key, (reply.clone(), self.steps));
    }

    /// After calls: what they were about, and something else.
    pub(crate) async fn judge(&mut self, system: &System, made: &[Made]) {
        let mut profiles = BTreeSet::from([self.random.below(PROFILES.len())]);
        let mut spaces = BTreeSet::new();
        for one in made.iter().filter(|one| is_seen(&one.call)) {
            match &one.call {
                Call::Client(Asked { command, .. }) => {
                    profiles.extend(command.profile());
                    spaces.extend(command.profile().is_none().then(|| command.namespace()));
                }
                _ => profiles.extend(0..PROFILES.len()),
            }
        }
        self.look(system, profiles, spaces).await;
    }

    pub(crate) async fn judge_all(&mut self, system: &System) {
        self.look(system, (0..PROFILES.len()).collect(), (0..NAMESPACES.len()).collect()).await;
    }

    async fn look(&mut self, system: &System, profiles: BTreeSet<usize>, spaces: BTreeSet<usize>) {
        for p in profiles {
            let mut reader = Reader { system, ids: &mut self.ids, words: &mut self.words };
            let seen =
                reader.profile(p).await.unwrap_or_else(|error| panic!("not read: {error}\n{}", self.trace.tail()));
            self.rule_out(
                |world| shown(&world.profiles[p]) == seen,
                |world| format!("read {seen:#?}\nmodel {:#?}", shown(&world.profiles[p])),
            );
            self.search(system, p).await;
            self.look_back(system, p).await;
        }
        for ns in spaces {
            let mut reader = Reader { system, ids: &mut self.ids, words: &mut self.words };
            let known = self.worlds[0].shelves[ns].clone();
            let shelf = reader.shelf(ns, &known).await.expect("the shelf is read");
            let connected = self.worlds[0].notes[ns].sessions.iter().map(|(session, (login, _))| (*session, *login));
            let connected = connected.filter(|(session, _)| reader.ids.sessions.contains_key(session)).collect();
            let notes = reader.board(ns, &connected).await.expect("the notes are read");
            self.rule_out(
                |world| shelf_of(&world.shelves[ns]) == shelf && board_of(&world.notes[ns], &connected) == notes,
                |world| format!("read {shelf:#?} {notes:?}\nmodel {:#?} {:?}", world.shelves[ns], world.notes[ns]),
            );
            self.look_back_at_the_shelf(system, ns).await;
        }
        self.queued().await;
        self.trace.say(format_args!("head {}, {} worlds", system.health().seq, self.worlds.len()));
    }

    fn rule_out(&mut self, agrees: impl Fn(&World) -> bool, told: impl Fn(&World) -> String) {
        let before = std::mem::take(&mut self.worlds);
        let (agree, other): (Vec<World>, Vec<World>) = before.into_iter().partition(agrees);
        let why = || other.iter().map(&told).collect::<Vec<_>>().join("\nor ");
        assert!(!agree.is_empty(), "no world is like this:\n{}\n{}", self.trace.tail(), why());
        self.worlds = agree;
    }

    /// Whatever the log has promised, the queue was given, and nothing else is open there; what failed lies with its dead letters.
    async fn queued(&mut self) {
        idle(1).await;
        let open = self.queue.open().len();
        let jobs = |world: &World| -> usize {
            let open = |job: &&Job| job.state == JobState::Open;
            world.profiles.iter().map(|it| it.jobs.iter().filter(open).count()).sum()
        };
        self.rule_out(|world| jobs(world) == open, |world| format!("{open} jobs queued, {} promised", jobs(world)));
        let (dead, ids) = (self.queue.dead(), self.ids.jobs.clone());
        let lies = |job: &Job| job.words.iter().find_map(|word| ids.get(word)).map(|id| dead.contains(id));
        let is_right = |job: &Job| match (job.state, lies(job)) {
            (JobState::Open, Some(lies)) => !lies,
            (JobState::Failed, Some(lies)) => lies,
            // Its letter stays if it was done before anybody was asked again.
            (JobState::Done, _) | (_, None) => true,
        };
        self.rule_out(
            |world| world.profiles.iter().flat_map(|it| &it.jobs).all(is_right),
            |world| format!("dead letters {dead:?} of {ids:?}, {:?}", world.profiles.each_ref().map(|it| &it.jobs)),
        );
    }

    /// A word that is there is found, and nothing is found that is not there.
    async fn search(&mut self, system: &System, p: usize) {
        if self.next_word == 0 || self.worlds.len() > 1 {
            return;
        }
        let profile = self.worlds[0].profiles[p].clone();
        let living: Vec<Word> = profile.records.values().map(|record| record.says).collect();
        let holds = |word: Word| profile.saying(word).is_some_and(|record| profile.is_valid(record));
        let any = 1 + self.random.below(self.next_word as usize) as Word;
        let word = if self.random.once_in(2) { any } else { self.random.pick(&living).copied().unwrap_or(any) };
        let (ns, name) = PROFILES[p];
        let query = format!("zq{}x", word % FACT);
        let asked = profile::Search { profile: name.to_owned(), query, limit: Some(100), ..Default::default() };
        let hits = found(asked.run(system, &context(ns, ACCOUNT, None)).await).expect("searched");
        let hits = hits.map(|it| it.memories).unwrap_or_default();
        let said = |word: Word| profile.places.values().flatten().any(|said| said.says == word && !said.gone);
        let mut told = BTreeSet::new();
        for hit in &hits {
            let content = hit.content.clone().flatten().unwrap_or_default();
            let word = word_of(&content).unwrap_or_else(|| panic!("found {content:?}"));
            let there = match hit.item_type {
                ItemType::Message => said(word),
                ItemType::Image => profile.images.iter().any(|image| image.says == word),
                _ => holds(word),
            };
            assert!(there, "found, and not there: {hit:?}\n{}", self.trace.tail());
            told.insert((word, hit.item_type == ItemType::Message));
        }
        if holds(word) {
            let source = word.checked_sub(FACT).is_some_and(|source| told.contains(&(source, true)));
            assert!(source || told.contains(&(word, false)), "{} is not found\n{}", text(word), self.trace.tail());
        }
        let quiet = profile.places.iter().filter(|(place, _)| matches!(place, Place::Thread(_)));
        let mut quiet = quiet.flat_map(|(_, held)| held);
        if quiet.any(|said| said.says == word && !said.gone) {
            assert!(told.contains(&(word, true)), "{} was said and is not found\n{}", text(word), self.trace.tail());
        }
    }

    /// The past shows what was there then and is not gone.
    async fn look_back(&mut self, system: &System, p: usize) {
        if self.worlds.len() > 1 {
            return;
        }
        let now = self.listed(system, p, None).await;
        let then: Vec<usize> = (0..self.moments.len()).filter(|at| self.moments[*at].p == p).collect();
        if let Some(at) = self.random.pick(&then).copied() {
            let listed = self.listed(system, p, Some(AsOf::Seq(self.moments[at].seq))).await;
            let expected: BTreeSet<String> = self.moments[at].ids.intersection(&now).cloned().collect();
            let seq = self.moments[at].seq;
            assert_eq!(listed, expected, "as of {seq}, {p}\n{}", self.trace.tail());
        }
        if self.worlds[0].profiles[p].exists {
            self.moments.push(Moment { p, seq: system.health().seq, ids: now });
            if self.moments.len() > MOMENTS_MAX {
                let drop = self.random.below(MOMENTS_MAX);
                self.moments.remove(drop);
            }
        } else {
            self.moments.retain(|moment| moment.p != p);
        }
    }

    /// The same of notebooks: those that are there still show what they said then, but for what is forgotten.
    async fn look_back_at_the_shelf(&mut self, system: &System, ns: usize) {
        if self.worlds.len() > 1 {
            return;
        }
        let now = &self.worlds[0].shelves[ns];
        let then: Vec<&Shelved> = self.shelved.iter().filter(|it| it.ns == ns).collect();
        if let Some(Shelved { seq, shelf: then, .. }) = self.random.pick(&then) {
            let there = |shelf: &Shelf, book: &Word| shelf.books.get(book).is_some_and(|book| book.trashed.is_none());
            let books = then.books.keys().filter(|book| there(then, book) && there(now, book));
            let books: Vec<Word> = books.filter(|book| self.ids.books.contains_key(book)).copied().collect();
            let reader = Reader { system, ids: &mut self.ids, words: &mut self.words };
            let read = reader.past_books(ns, *seq, &books).await.expect("the past is read");
            assert_eq!(read, books_of(then, now, &books), "as of {seq}, namespace {ns}\n{}", self.trace.tail());
            if !books.is_empty() {
                self.trace.count("a notebook's past");
            }
        }
        self.shelved.push(Shelved { ns, seq: system.health().seq, shelf: now.clone() });
        if self.shelved.len() > MOMENTS_MAX {
            let drop = self.random.below(MOMENTS_MAX);
            self.shelved.remove(drop);
        }
    }

    async fn listed(&mut self, system: &System, p: usize, as_of: Option<AsOf>) -> BTreeSet<String> {
        let reader = Reader { system, ids: &mut self.ids, words: &mut self.words };
        let mut all = BTreeSet::new();
        for status in [Status::Valid, Status::Invalid] {
            let listed = reader.records(p, status, as_of).await.expect("listed").unwrap_or_default();
            all.extend(listed.into_iter().map(|record| record.id));
        }
        all
    }

    /// At the end: the log holds, in order, no job's result twice, and no text in plain.
    pub(crate) async fn last_look(&mut self, system: &System) {
        self.judge_all(system).await;
        self.verify(system).await;
        assert!(!self.computer.holds(b"tells of zq"), "a text lies on a disk in plain");
        for ns in 0..NAMESPACES.len() {
            let (mut from, mut seen) = (0, BTreeSet::new());
            loop {
                let page = audit::Events { from_seq: Some(from), limit: Some(500), ..Default::default() };
                let page = page.run(system, &context(ns, ACCOUNT, None)).await.expect("told").reply.events;
                let Some(last) = page.last() else { break };
                let next = last.seq + 1;
                for event in page {
                    assert!(event.seq >= from, "in order");
                    from = event.seq + 1;
                    let once = event.event_type != "extraction_completed" || seen.insert(event.record_id.clone());
                    assert!(once, "a job was done twice: {event:?}");
                    self.trace.say(format_args!("{} {}", event.seq, event.event_type));
                }
                from = next;
            }
        }
    }
}
