//! What meaning decides beyond a search: which statement is a duplicate, and what happens when the model is changed.

use std::sync::{
    Arc, Condvar, Mutex,
    atomic::{AtomicI64, Ordering},
};

use jiff::Timestamp;
use memlog_actors::{
    api::{Context, Idempotency, profile::*, speaker},
    extract::Local,
    limits::Limits,
    port::{Clock, EmbedFailed, Embedder, Purpose},
    system::{Options, System},
};
use tempfile::TempDir;

/// A clock that ticks a microsecond a look.
#[derive(Default)]
struct Ticking(AtomicI64);

impl Clock for Ticking {
    fn now(&self) -> Timestamp {
        let tick = self.0.fetch_add(1, Ordering::SeqCst);
        Timestamp::from_microsecond(1_780_000_000_000_000 + tick).expect("in range")
    }
}

/// Vectors of letters, made only while the gate is open.
struct Letters {
    fingerprint: u32,
    open: Mutex<bool>,
    opened: Condvar,
}

impl Letters {
    fn new(fingerprint: u32, open: bool) -> Arc<Self> {
        Arc::new(Self { fingerprint, open: Mutex::new(open), opened: Condvar::new() })
    }

    fn open(&self) {
        *self.open.lock().expect("whole") = true;
        self.opened.notify_all();
    }
}

impl Embedder for Letters {
    fn name(&self) -> &str {
        "letters"
    }

    fn fingerprint(&self) -> u32 {
        self.fingerprint
    }

    fn dimensions(&self) -> usize {
        32
    }

    fn embed(&self, text: &str, _: Purpose) -> Result<Vec<f32>, EmbedFailed> {
        let open = self.open.lock().expect("whole");
        drop(self.opened.wait_while(open, |open| !*open).expect("whole"));
        let mut vector = [0.01_f32; 32];
        for c in text.chars() {
            vector[(c as usize + self.fingerprint as usize) % 32] += 1.0;
        }
        let length = vector.iter().map(|v| v * v).sum::<f32>().sqrt();
        Ok(vector.iter().map(|v| v / length).collect())
    }
}

async fn start(folder: &TempDir, embedder: Option<Arc<Letters>>) -> System {
    let options = Options {
        data_dir: folder.path().to_owned(),
        vault_dir: None,
        limits: Limits::default(),
        embedder: embedder.map(|embedder| embedder as Arc<dyn Embedder>),
        extractor: Arc::new(Local),
        narrator: None,
        queue: None,
        clock: Arc::<Ticking>::default(),
    };
    System::start(options).await.expect("started")
}

fn acme() -> Context {
    Context { namespace: "acme".to_owned(), ..Context::default() }
}

fn statement(content: &str) -> Remember {
    Remember { profile: "alice".to_owned(), content: content.to_owned(), ..Remember::default() }
}

async fn say(system: &System, request: Remember) -> Remembered {
    system.profile_remember(&acme(), request).await.expect("answered").reply
}

async fn count(system: &System) -> usize {
    let list = Memories { profile: "alice".to_owned(), limit: Some(500), ..Memories::default() };
    system.profile_memories(&acme(), list).await.expect("listed").reply.memories.len()
}

// A rule that goes by nearness swallows each of these, and somebody eats shellfish.
#[tokio::test(flavor = "multi_thread")]
async fn news_is_stored_and_what_is_said_again_is_not() {
    for embedder in [None, Some(Letters::new(7, true))] {
        let folder = TempDir::new().expect("a folder");
        let system = start(&folder, embedder).await;
        let first = say(&system, statement("I am allergic to peanuts")).await;
        for news in [
            "I am allergic to shellfish",
            "I moved to Porto",
            "I moved to Lisbon",
            "I drink coffee",
            "I no longer drink coffee",
            "My sister is allergic to peanuts",
        ] {
            assert_eq!(say(&system, statement(news)).await.status, Stored::Stored, "{news}");
        }
        let before = count(&system).await;
        for again in ["I'm allergic to peanuts!", "The user is allergic to peanuts", "I have an allergy to peanuts"] {
            let reply = say(&system, statement(again)).await;
            assert_eq!(reply.status, Stored::Duplicate, "{again}");
            assert_eq!(reply.duplicate_of.as_ref(), Some(&first.memory.id));
            assert_eq!(reply.memory.id, first.memory.id, "the one that is stored is shown");
            let similarity = reply.similarity.expect("said");
            assert!(similarity > 0.3 && similarity <= 1.0, "{again}: {similarity}");
            assert!(reply.note.expect("said").contains(&first.memory.id));
        }
        assert_eq!(count(&system).await, before, "nothing was stored");
        let wanted = Remember { dedupe: Some(false), ..statement("I'm allergic to peanuts!") };
        assert_eq!(say(&system, wanted).await.status, Stored::Stored);
        system.stop().await;
    }
}

// What a conversation repeats in other words is no second memory, and what it adds is one.
#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_adds_only_what_is_not_said_yet() {
    let folder = TempDir::new().expect("a folder");
    let system = start(&folder, None).await;
    for known in ["I am allergic to peanuts", "My mum is a physician"] {
        say(&system, statement(known)).await;
    }
    let tell = async |session: &str, content: &str| {
        let message = Message { role: "user".to_owned(), content: content.to_owned(), ..Message::default() };
        let (session_id, wait) = (Some(session.to_owned()), Some(true));
        let told = Ingest { profile: "alice".to_owned(), messages: vec![message], session_id, wait, timeout_s: None };
        system.profile_ingest(&acme(), told).await.expect("ingested");
        count(&system).await
    };
    assert_eq!(tell("again", "I have an allergy to peanuts. My mother is a doctor.").await, 2);
    assert_eq!(tell("news", "I have an allergy to shellfish.").await, 3);
    assert_eq!(tell("there", "I moved from Oslo to Bergen.").await, 4);
    assert_eq!(tell("back", "I moved from Bergen to Oslo.").await, 5);
    system.stop().await;
}

// Who said it is a part of what was said: under another tag the same words are news, and a tag that was removed is none.
#[tokio::test(flavor = "multi_thread")]
async fn each_speaker_has_statements_of_his_own() {
    let folder = TempDir::new().expect("a folder");
    let system = start(&folder, None).await;
    for name in ["Bob", "Eve"] {
        let add = speaker::Add { profile: "alice".to_owned(), speaker: name.to_owned() };
        system.speaker_add(&acme(), add).await.expect("registered");
    }
    let by = |name: &str, text: &str| Remember { speaker: Some(name.to_owned()), ..statement(text) };
    for speaker in ["Bob", "Eve", "me"] {
        assert_eq!(say(&system, by(speaker, "I don't eat pork")).await.status, Stored::Stored, "{speaker}");
        assert_eq!(say(&system, by(speaker, "I do not eat pork")).await.status, Stored::Duplicate, "{speaker}");
    }
    // "The user" may be somebody else than Bob.
    assert_eq!(say(&system, by("Bob", "The user does not eat pork")).await.status, Stored::Stored);
    let remove = speaker::Remove { profile: "alice".to_owned(), speaker: "Eve".to_owned() };
    system.speaker_remove(&acme(), remove).await.expect("removed");
    assert_eq!(say(&system, statement("I do not eat pork")).await.status, Stored::Duplicate, "Eve's is nobody's now");
}

// What does not hold any more is no reason to refuse what holds again, and a correction is never refused.
#[tokio::test(flavor = "multi_thread")]
async fn only_what_is_valid_and_of_the_same_day_is_said_already() {
    let folder = TempDir::new().expect("a folder");
    let system = start(&folder, None).await;
    let old = say(&system, statement("I live with my sister")).await.memory;
    let change = |id: &str, content: &str| Supersede {
        profile: "alice".to_owned(),
        memory_id: id.to_owned(),
        content: content.to_owned(),
        ..Supersede::default()
    };
    let same = system.profile_supersede(&acme(), change(&old.id, "The user lives with my sister")).await;
    let new = same.expect("a correction is stored, whatever it says").reply.memory;
    system.profile_supersede(&acme(), change(&new.id, "I live alone")).await.expect("superseded");
    assert_eq!(say(&system, statement("I live with my sister")).await.status, Stored::Stored);

    let on = |day: &str| Remember {
        timestamp: Some(serde_json::from_value(day.into()).expect("a time")),
        ..statement("I ran five kilometres")
    };
    assert_eq!(say(&system, on("2026-05-04T09:00:00Z")).await.status, Stored::Stored);
    assert_eq!(say(&system, on("2026-05-05T09:00:00Z")).await.status, Stored::Stored, "another day is another run");
    let again = Remember { content: "I ran 5 kilometres".to_owned(), ..on("2026-05-04T18:00:00Z") };
    assert_eq!(say(&system, again).await.status, Stored::Duplicate);
}

// A command that is repeated after a lost reply must hear the very same.
#[tokio::test(flavor = "multi_thread")]
async fn a_repeated_command_hears_the_same_similarity() {
    let folder = TempDir::new().expect("a folder");
    let system = start(&folder, Some(Letters::new(7, true))).await;
    say(&system, statement("I do not eat pork")).await;
    let request = statement("I don't eat pork");
    let idempotency = Idempotency { key: "k".to_owned(), request: b"don't".to_vec() };
    let keyed = Context { idempotency: Some(idempotency), ..acme() };
    let first = system.profile_remember(&keyed, request.clone()).await.expect("answered");
    let second = system.profile_remember(&keyed, request).await.expect("answered");
    assert!(!first.replayed && second.replayed);
    assert_eq!(first.reply.similarity, second.reply.similarity);
    assert_eq!(first.reply.status, second.reply.status);
}

// Agents write from several threads; of two that say the same at once each would find nothing and store it.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_many_that_say_the_same_at_once_one_is_stored() {
    let folder = TempDir::new().expect("a folder");
    let system = start(&folder, None).await;
    let ways = [
        "I have three children",
        "I have 3 children",
        "I've got three kids",
        "The user has three children",
        "the user has 3 kids!",
        "I have got 3 children.",
    ];
    let mut tasks = tokio::task::JoinSet::new();
    for (number, way) in ways.iter().cycle().take(30).enumerate() {
        let (system, mut request) = (system.clone(), statement(way));
        // Streams of their own: no actor brings them into an order.
        request.session_id = Some(format!("session-{}", number % 5));
        tasks.spawn(async move { say(&system, request).await });
    }
    let replies = tasks.join_all().await;
    assert_eq!(replies.iter().filter(|reply| reply.status == Stored::Stored).count(), 1);
    assert_eq!(count(&system).await, 1);
}

// A model that hangs must hold up no write: the duplicate is told without its help.
#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_hangs_holds_up_no_duplicate() {
    let folder = TempDir::new().expect("a folder");
    let stuck = Letters::new(7, false);
    let system = start(&folder, Some(Arc::clone(&stuck))).await;
    say(&system, statement("I do not eat pork")).await;
    let reply = say(&system, statement("I don't eat pork")).await;
    assert_eq!(reply.status, Stored::Duplicate);
    assert!(reply.similarity.is_some());
    stuck.open();
    system.stop().await;
}

// Whoever changes the model keeps a folder of old vectors: search must go on while they are made anew, and say how.
#[tokio::test(flavor = "multi_thread")]
async fn search_goes_on_while_another_model_embeds_everything_anew() {
    let folder = TempDir::new().expect("a folder");
    let search = || Search { profile: "alice".to_owned(), query: "harbour number 7".to_owned(), ..Search::default() };
    let system = start(&folder, Some(Letters::new(7, true))).await;
    // More than are embedded in one turn.
    for number in 0..40 {
        say(&system, statement(&format!("The harbour number {number} lies in the north"))).await;
    }
    assert_eq!(system.profile_search(&acme(), search()).await.expect("found").reply.mode, "hybrid");
    system.stop().await;
    drop(system);

    let other = Letters::new(8, false);
    let system = start(&folder, Some(Arc::clone(&other))).await;
    let found = system.profile_search(&acme(), search()).await.expect("no error while the model works").reply;
    assert_eq!(found.mode, "keyword", "half of the vectors would hide half of the memory");
    assert_eq!(found.memories[0].content.clone().flatten().as_deref(), Some("The harbour number 7 lies in the north"));
    other.open();
    // Each search lets the model go on; the last few documents it waits for.
    while system.profile_search(&acme(), search()).await.expect("found").reply.mode != "hybrid" {
        tokio::task::yield_now().await;
    }
    system.stop().await;
    drop(system);

    let system = start(&folder, Some(other)).await;
    assert_eq!(system.profile_search(&acme(), search()).await.expect("found").reply.mode, "hybrid", "it was kept");
    system.stop().await;
}
