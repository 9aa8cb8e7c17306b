//! Many callers at once, with entities and views that go to sleep under them.

use std::{sync::Arc, time::Duration};

use memlog_actors::{
    api::{Caller, Context, audit, error::Kind, note, profile::*},
    system::System,
};
use tokio::task::JoinSet;

use super::world::*;

/// Generous: it is only there so that a call that never ends fails the test instead of hanging it.
const EVER: Duration = Duration::from_secs(60);

async fn ended<T>(what: &str, call: impl Future<Output = T>) -> T {
    tokio::time::timeout(EVER, call).await.unwrap_or_else(|_| panic!("{what} never ended"))
}

fn restless() -> World {
    let mut world = World::new();
    world.limits.entities_awake_max = 2;
    world.limits.entity_idle_ms_max = 0;
    world.limits.views_idle_ms_max = 0;
    world.limits.past_views_max = 1;
    world
}

fn in_profile(profile: &str, content: &str) -> Remember {
    Remember { profile: profile.to_owned(), ..remember(content) }
}

async fn has(system: &System, profile: &str, id: &str) -> bool {
    let read = Memory { profile: profile.to_owned(), memory_id: id.to_owned(), as_of: None };
    system.profile_memory(&acme(), read).await.is_ok()
}

// Each writer reads what it wrote, by id, list and search, at once: whoever else writes, whatever is dropped meanwhile.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_hundred_writers_read_what_they_wrote() {
    let mut world = restless();
    world.embedder = Some(Arc::new(Letters));
    let system = world.start().await;
    let mut writers = JoinSet::new();
    for writer in 0..200 {
        let system = system.clone();
        writers.spawn(async move {
            let profile = format!("p{}", writer % 7);
            let session_id = (writer % 3 == 0).then(|| format!("s{}", writer % 5));
            let word = format!("zq{writer}x");
            let request = Remember { session_id, ..in_profile(&profile, &format!("tells of {word}")) };
            let stored = system.profile_remember(&acme(), request).await.expect("stored").reply.memory;
            assert!(has(&system, &profile, &stored.id).await, "{profile} {word} by id");
            let page = Memories { profile: profile.clone(), limit: Some(500), ..list() };
            let listed = system.profile_memories(&acme(), page).await.expect("listed").reply.memories;
            assert!(listed.iter().any(|it| it.id == stored.id), "{profile} {word} in the list");
            let found = Search { profile: profile.clone(), ..search(&word) };
            let found = system.profile_search(&acme(), found).await.expect("found").reply;
            assert!(found.memories.iter().any(|it| it.id == stored.id), "{profile} {word} by search");
            (profile, stored.id)
        });
    }
    let stored = ended("a writer", writers.join_all()).await;
    let system = ended("the restart", world.restart(system)).await;
    for (profile, id) in stored {
        assert!(has(&system, &profile, &id).await, "{profile} {id} after a restart");
    }
    ended("the stop", system.stop()).await;
}

// It creates what is not there, so nobody is told that there is none: who loses to a deletion may ask again.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_profile_that_is_asked_for_while_it_is_deleted_is_never_missing() {
    let world = World::new();
    let system = world.start().await;
    let mut callers = JoinSet::new();
    for caller in 0..4 {
        let system = system.clone();
        callers.spawn(async move {
            for turn in 0..100 {
                if caller == 0 {
                    system.profile_delete(&acme(), delete()).await.expect("deleted");
                    continue;
                }
                let context = keyed(&format!("{caller} {turn}"));
                let asked = Get { profile: ALICE.to_owned(), as_of: None };
                if let Err(error) = system.profile_get(&context, asked).await {
                    assert_eq!(error.kind, Kind::Unavailable, "{error}");
                }
            }
        });
    }
    ended("the callers", callers.join_all()).await;
    ended("the stop", system.stop()).await;
}

// Views that are dropped and loaded while events are committed to several streams of one profile must not miss any.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn views_loaded_while_others_write_miss_nothing() {
    let world = restless();
    let system = world.start().await;
    system.profile_remember(&acme(), remember("The first")).await.expect("stored");
    let mut writers = JoinSet::new();
    for writer in 0..6 {
        let system = system.clone();
        writers.spawn(async move {
            for n in 0..20 {
                let request =
                    Remember { session_id: Some(format!("s{writer}")), ..remember(&format!("w{writer} n{n}")) };
                let id = system.profile_remember(&acme(), request).await.expect("stored").reply.memory.id;
                assert!(has(&system, ALICE, &id).await, "writer {writer} misses {n}");
            }
        });
    }
    // Drops the views under everybody's feet, again and again.
    let dropper = tokio::spawn({
        let system = system.clone();
        async move {
            for _ in 0..40 {
                system.rebuild(|_, _| ()).await.expect("rebuilt");
            }
        }
    });
    ended("a writer", writers.join_all()).await;
    ended("the dropper", dropper).await.expect("joined");
    let get = Get { profile: ALICE.to_owned(), as_of: None };
    let profile = system.profile_get(&acme(), get).await.expect("there").reply.profile;
    assert_eq!((profile.memories, profile.sessions), (121, 6));
    ended("the stop", system.stop()).await;
}

// A budget that holds a profile or two: reads are served or refused by name, and none waits for ever.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_tiny_budget_serves_or_refuses_and_loses_nothing() {
    let mut world = restless();
    world.limits.memory_budget_bytes = 24 << 10;
    let system = world.start().await;
    let mut callers = JoinSet::new();
    for caller in 0..60 {
        let system = system.clone();
        callers.spawn(async move {
            let request = in_profile(&format!("p{}", caller % 6), &format!("says {caller}"));
            match system.profile_remember(&acme(), request.clone()).await {
                Ok(_) => 1,
                Err(error) => {
                    assert_eq!(error.fields.get("field"), Some(&"memory_budget_bytes".into()), "{error}");
                    // A failed command has stored nothing: later, when there is room, it is not there.
                    0
                }
            }
        });
    }
    let stored: u64 = ended("a caller", callers.join_all()).await.into_iter().sum();
    let mut there = 0;
    for number in 0..6 {
        let get = Get { profile: format!("p{number}"), as_of: None };
        there += system.profile_get(&acme(), get).await.expect("there").reply.profile.memories;
    }
    assert_eq!(there, stored, "refused and yet stored");
    ended("the stop", system.stop()).await;
}

// The same name created by many at once is one profile and one session.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn created_by_many_at_once_it_is_one() {
    let world = World::new();
    let system = world.start().await;
    let mut callers = JoinSet::new();
    for caller in 0..40 {
        let system = system.clone();
        callers.spawn(async move {
            let request = Remember { session_id: Some("trip".to_owned()), ..remember(&format!("says {caller}")) };
            system.profile_remember(&acme(), request).await.expect("stored");
            let messages = vec![message("user", &format!("hello from {caller}"))];
            let request = Ingest { wait: None, ..ingest(Some("trip"), messages) };
            assert_eq!(system.profile_ingest(&acme(), request).await.expect("ingested").reply.accepted, 1);
        });
    }
    ended("a caller", callers.join_all()).await;
    let listed = system.profile_list(&acme(), List::default()).await.expect("listed").reply.profiles;
    assert_eq!(listed.len(), 1);
    assert_eq!((listed[0].messages, listed[0].sessions), (40, 1));
    ended("the stop", system.stop()).await;
}

// Twins under one idempotency key: one is carried out, the others hear the same.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn twins_under_one_key_are_one() {
    let world = restless();
    let system = world.start().await;
    let mut twins = JoinSet::new();
    for _ in 0..30 {
        let system = system.clone();
        twins.spawn(async move {
            let request = Remember { dedupe: Some(false), ..remember("Said once") };
            let answer = system.profile_remember(&keyed("once"), request).await.expect("answered");
            (answer.replayed, answer.reply.memory.id)
        });
    }
    let answers = ended("a twin", twins.join_all()).await;
    assert_eq!(answers.iter().filter(|(replayed, _)| !replayed).count(), 1);
    assert!(answers.iter().all(|(_, id)| *id == answers[0].1));
    let memories = system.profile_memories(&acme(), list()).await.expect("listed").reply.memories;
    assert_eq!(memories.len(), 1);
    ended("the stop", system.stop()).await;
}

// The same of what is taken away: nobody hears that there is no such note, since it is the twin that removed it.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn twins_that_remove_are_one() {
    let world = restless();
    let system = world.start().await;
    let ann =
        |context: Context| Context { caller: Caller { user: Some("ann".to_owned()), ..Caller::default() }, ..context };
    let (name, body) = (Some("A note".to_owned()), Some("<p>Said once</p>".to_owned()));
    let save = note::MemorySave { name, body, ..Default::default() };
    let id = system.note_memory_save(&ann(acme()), save).await.expect("saved").reply.note.note.id;
    let mut twins = JoinSet::new();
    for _ in 0..30 {
        let (system, context) = (system.clone(), ann(keyed("once")));
        twins.spawn(async move {
            system.note_memory_remove(&context, note::MemoryRemove { id }).await.map(|answer| answer.replayed)
        });
    }
    let answers = ended("a twin", twins.join_all()).await;
    let first = answers.iter().filter(|answer| matches!(answer, Ok(false))).count();
    assert!(first == 1 && answers.iter().all(Result::is_ok), "{answers:?}");
    ended("the stop", system.stop()).await;
}

// Deleting a session or the profile against everything else: every call ends, and what is acknowledged later than the
// deletion is there.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn deletion_against_everything_ends() {
    let world = restless();
    let system = world.start().await;
    let mut callers = JoinSet::new();
    for caller in 0..8 {
        let system = system.clone();
        callers.spawn(async move {
            for n in 0..15 {
                let passing = |error: memlog_actors::api::Error| {
                    let expected = matches!(error.kind, Kind::Unavailable | Kind::NotFound);
                    assert!(expected, "{error}");
                };
                let text = format!("c{caller} n{n}");
                match (caller + n) % 8 {
                    0 => drop(system.profile_delete(&acme(), delete()).await.map_err(passing)),
                    1 | 2 => {
                        drop(system.profile_delete_session(&acme(), delete_session("trip")).await.map_err(passing))
                    }
                    3 | 4 => {
                        let request =
                            Ingest { timeout_s: Some(20.0), ..ingest(Some("trip"), vec![message("user", &text)]) };
                        drop(system.profile_ingest(&acme(), request).await.map_err(passing));
                    }
                    5 => drop(system.profile_search(&acme(), search(&text)).await.map_err(passing)),
                    6 => {
                        let wait = Wait { profile: ALICE.to_owned(), job_id: None, timeout_s: Some(20.0) };
                        drop(system.profile_wait(&acme(), wait).await.map_err(passing));
                    }
                    _ => drop(system.profile_remember(&acme(), remember(&text)).await.map_err(passing)),
                }
            }
        });
    }
    ended("a caller", callers.join_all()).await;
    system.profile_delete(&acme(), delete()).await.expect("deleted");
    let id = system.profile_remember(&acme(), remember("Afterwards")).await.expect("stored").reply.memory.id;
    let listed = system.profile_memories(&acme(), list()).await.expect("listed").reply.memories;
    assert_eq!(listed.iter().map(|it| &it.id).collect::<Vec<_>>(), [&id]);
    let verified = system.audit_verify(&acme(), audit::Verify::default()).await.expect("verified").reply;
    assert!(verified.ok, "{verified:?}");
    ended("the stop", system.stop()).await;
}

// Stopped while many write: what was acknowledged is there after a start on the same folder, every call ends, and nobody
// who still holds on keeps the folder locked.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn stopped_under_load_it_keeps_what_it_acknowledged() {
    let mut world = restless();
    world.embedder = Some(Arc::new(Letters));
    for round in 0..3 {
        let system = ended("the start", world.start()).await;
        let mut writers = JoinSet::new();
        for writer in 0..30 {
            let system = system.clone();
            writers.spawn(async move {
                let mut kept = Vec::new();
                for n in 0.. {
                    let profile = format!("p{}", (writer + n) % 9);
                    let text = format!("r{round} w{writer} n{n}");
                    // A search that finds no profile never waits, and would keep the others from their turn.
                    tokio::task::yield_now().await;
                    let stored = match writer % 3 {
                        0 => {
                            let ingest =
                                Ingest { profile: profile.clone(), ..ingest(Some("s"), vec![message("user", &text)]) };
                            system.profile_ingest(&acme(), ingest).await.map(|_| None)
                        }
                        1 => {
                            let found = Search { profile: profile.clone(), ..search(&text) };
                            let found = system.profile_search(&acme(), found).await.map(|_| None);
                            found.or_else(|error| if error.kind == Kind::NotFound { Ok(None) } else { Err(error) })
                        }
                        _ => {
                            let stored = system.profile_remember(&acme(), in_profile(&profile, &text)).await;
                            stored.map(|answer| Some(answer.reply.memory.id))
                        }
                    };
                    match stored {
                        Ok(id) => kept.extend(id.map(|id| (profile, id))),
                        Err(error) => {
                            assert!(
                                system.health().reason.is_some_and(|why| why == "shutting down"),
                                "refused too early: {error}"
                            );
                            return kept;
                        }
                    }
                }
                kept
            });
        }
        // Stops once something has been written.
        let begun = system.health().seq;
        while system.health().seq < begun + 200 && !writers.is_empty() {
            if let Some(early) = writers.try_join_next() {
                early.expect("a writer failed");
            }
            tokio::task::yield_now().await;
        }
        ended("the stop", system.stop()).await;
        let kept = ended("a writer", writers.join_all()).await;
        drop(system);
        let system = ended("the next start", world.start()).await;
        for (profile, id) in kept.into_iter().flatten() {
            assert!(has(&system, &profile, &id).await, "{profile} {id} was acknowledged");
        }
        ended("the second stop", system.stop()).await;
    }
}
