//! The memory that the configuration names is kept to, by counting: whatever is asked at once is answered, or refused by that name.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
};

use memlog_actors::{
    api::{Context, Error, error::Kind, profile},
    limits::Limits,
    system::System,
};
use tokio::task::JoinSet;

use super::world::World;

/// Of every profile of the test a few fit.
const BUDGET: u64 = 64 << 10;
const PROFILES: usize = 2_000;
/// Readers and writers at once.
const AT_ONCE: usize = 64;

fn acme() -> Context {
    Context { namespace: "acme".to_owned(), ..Context::default() }
}

fn limits() -> Limits {
    Limits { memory_budget_bytes: BUDGET, ..Limits::default() }
}

fn remember(number: usize, content: String) -> profile::Remember {
    profile::Remember { profile: format!("profile-{number}"), content, ..profile::Remember::default() }
}

fn search(number: usize) -> profile::Search {
    profile::Search {
        profile: format!("profile-{number}"),
        query: "where is the key".to_owned(),
        ..profile::Search::default()
    }
}

/// Whether it was refused, which must be by the budget's name.
fn refused<T>(result: Result<T, Error>) -> bool {
    let Err(error) = result else { return false };
    assert_eq!((error.kind, &error.fields["field"]), (Kind::Unavailable, &"memory_budget_bytes".into()), "{error:?}");
    assert_eq!(error.fields["limit"], BUDGET);
    assert!(error.fields["retry_after_ms"].as_u64().unwrap() > 0);
    true
}

/// Looks at the counted bytes all the time; the most that it has seen.
struct Watch {
    over: Arc<AtomicBool>,
    most: Arc<AtomicU64>,
    thread: thread::JoinHandle<()>,
}

impl Watch {
    fn start(system: &System) -> Self {
        let (over, most, system) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)), system.clone());
        let (end, seen) = (Arc::clone(&over), Arc::clone(&most));
        let thread = thread::spawn(move || {
            while !end.load(Ordering::SeqCst) {
                seen.fetch_max(system.load().views.bytes, Ordering::SeqCst);
                thread::yield_now();
            }
        });
        Self { over, most, thread }
    }

    fn end(self) -> u64 {
        self.over.store(true, Ordering::SeqCst);
        self.thread.join().unwrap();
        self.most.load(Ordering::SeqCst)
    }
}

/// Calls for every profile, so many at once; how many were refused.
async fn all<F: Future<Output = bool> + Send + 'static>(call: impl Fn(usize) -> F) -> usize {
    let (mut tasks, mut refused) = (JoinSet::new(), 0);
    for number in 0..PROFILES {
        if tasks.len() >= AT_ONCE {
            refused += usize::from(tasks.join_next().await.unwrap().unwrap());
        }
        tasks.spawn(call(number));
    }
    while let Some(done) = tasks.join_next().await {
        refused += usize::from(done.unwrap());
    }
    refused
}

/// A host with more profiles than memory must turn over what it holds, and must not die of it.
#[tokio::test(flavor = "multi_thread")]
async fn two_thousand_profiles_live_in_the_room_of_a_few() {
    let Some(world) = World::start(limits()).await else { return };
    let system = world.memlog.serving.system().clone();
    let watch = Watch::start(&system);
    let saving = system.clone();
    let unsaved = all(move |number| {
        let system = saving.clone();
        async move {
            let told = remember(number, format!("The key number {number} hangs behind the door."));
            refused(system.profile_remember(&acme(), told).await)
        }
    })
    .await;
    let reading = system.clone();
    let unread = all(move |number| {
        let system = reading.clone();
        async move { refused(system.profile_search(&acme(), search(number)).await) }
    })
    .await;
    let most = watch.end();
    assert!(most <= BUDGET, "{most} of {BUDGET} bytes");
    assert!(most > BUDGET / 4, "nothing was held: {most} bytes");
    // One at a time there is room for each, and each has what was saved in it.
    let mut found = 0;
    for number in 0..PROFILES {
        let reply = match system.profile_search(&acme(), search(number)).await {
            Ok(answer) => answer.reply,
            Err(error) if number > 0 && error.kind == Kind::NotFound => continue,
            Err(error) => panic!("profile {number}: {error:?}"),
        };
        found += reply.memories.len();
        assert!(
            reply
                .memories
                .iter()
                .all(|it| it.content == Some(Some(format!("The key number {number} hangs behind the door."))))
        );
    }
    println!("{unsaved} of {PROFILES} saves and {unread} searches refused, at most {most} bytes of {BUDGET}");
    // How many is the machine's: the slower it folds, the longer each holds its room.
    assert!(unsaved < PROFILES, "every save was refused");
    assert!(unread < PROFILES, "every search was refused");
    assert_eq!(found, PROFILES - unsaved, "a save was acknowledged and is not there, or refused and is");
    world.memlog.close().await;
}

/// One profile that outgrows the budget is refused by name, its saves before are kept, and the others go on.
#[tokio::test(flavor = "multi_thread")]
async fn a_profile_that_outgrows_the_budget_takes_nobody_along() {
    let Some(world) = World::start(limits()).await else { return };
    let system = world.memlog.serving.system().clone();
    system.profile_remember(&acme(), remember(1, "The key number 1 hangs behind the door.".to_owned())).await.unwrap();
    let watch = Watch::start(&system);
    let mut saved = 0;
    loop {
        // In use all the while: what was found there last is to be found.
        let told = remember(0, format!("The number {saved} of the list is the word w{saved}x{saved}."));
        if refused(system.profile_remember(&acme(), told).await) {
            break;
        }
        saved += 1;
        if refused(system.profile_search(&acme(), search(0)).await) {
            break;
        }
        assert!(saved < 5_000, "it never outgrew {BUDGET} bytes");
    }
    assert!(saved > 3, "{saved} saved");
    assert!(refused(system.profile_search(&acme(), search(0)).await), "it is as large as it was");
    assert!(!refused(system.profile_search(&acme(), search(1)).await));
    let most = watch.end();
    assert!(most <= BUDGET, "{most} of {BUDGET} bytes");
    // With more room, everything is there.
    drop(system);
    let World { memlog, nats, data } = world;
    memlog.close().await;
    let world = World::open(nats, data, Limits::default()).await;
    let get = profile::Get { profile: "profile-0".to_owned(), as_of: None };
    let got = world.memlog.serving.system().profile_get(&acme(), get).await.unwrap().reply.profile;
    assert!(got.memories >= saved, "{} of {saved}", got.memories);
    world.memlog.close().await;
}
