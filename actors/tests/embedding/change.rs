//! Another model on the same folder: it is embedded anew from the log while searches and saves go on, whoever uses it or not.

use memlog_actors::{
    api::{
        AsOf,
        thread::{AddMemory, Create, UpdateMemory},
    },
    port::Purpose::{Passage, Query},
};

use crate::world::{Letters, World, acme, ask, mode, question, say, tell, until};

fn harbour() -> memlog_actors::api::profile::Search {
    question("ann", "harbour number 7")
}

// From the first moment to the last every search is answered, knows everything that was stored, and says how it looked.
#[tokio::test(flavor = "multi_thread")]
async fn searches_and_saves_go_on_while_all_is_embedded_anew() {
    let (world, first, second) = (World::new(1), Letters::new(7), Letters::new(8));
    let system = world.start(Some(&first)).await;
    tell(&system, "ann", 0..100).await;
    assert_eq!(mode(&system, harbour()).await, "hybrid");
    system.stop().await;
    drop(system);

    second.shut_for_passages();
    let system = world.start(Some(&second)).await;
    assert_eq!(mode(&system, harbour()).await, "keyword", "at once, while the model has made nothing");
    assert_eq!(second.count(Query), 0, "a question for vectors that are not there is not embedded");
    for number in 0..100 {
        second.allow(Passage);
        if number % 10 == 0 {
            let news = format!("Lighthouse {number} was painted");
            let id = say(&system, "ann", &news).await;
            let found = ask(&system, question("ann", &news)).await.expect("answered");
            assert_eq!((found.memories[0].id.as_str(), found.mode.as_str()), (id.as_str(), "keyword"));
        }
    }
    second.open();
    while mode(&system, harbour()).await != "hybrid" {
        tokio::task::yield_now().await;
    }
    assert_eq!(second.count(Passage), 110, "each text once");
    system.stop().await;
    drop(system);

    // Back again: what the first model had made is still there, and only the news has to be embedded.
    first.shut_for_passages();
    first.open();
    let system = world.start(Some(&first)).await;
    while mode(&system, harbour()).await != "hybrid" {
        tokio::task::yield_now().await;
    }
    until("the rest", || !system.health().catching_up).await;
    assert_eq!(first.count(Passage), 10);
    system.stop().await;
}

// Somebody who comes back after weeks must not find a profile that has to be embedded first.
#[tokio::test(flavor = "multi_thread")]
async fn what_nobody_uses_is_caught_up_with() {
    let (world, first, second) = (World::new(1), Letters::new(7), Letters::new(8));
    let system = world.start(Some(&first)).await;
    for profile in ["ann", "ben", "cem"] {
        tell(&system, profile, 0..20).await;
        assert_eq!(mode(&system, question(profile, "harbour")).await, "hybrid");
    }
    until("the first walk", || !system.health().catching_up).await;
    system.stop().await;
    drop(system);

    let system = world.start(Some(&second)).await;
    until("the walk", || !system.health().catching_up).await;
    assert_eq!((second.count(Passage), system.health().profiles_loaded), (60, 0), "none was loaded for it");
    system.stop().await;
    drop(system);

    second.shut();
    let system = world.start(Some(&second)).await;
    second.allow(Query);
    assert_eq!(mode(&system, harbour()).await, "hybrid", "at the first touch");
    assert_eq!(second.count(Passage), 0);
    system.stop().await;
}

// What was stored while there was no model, or by one that then went away, is no less than the rest.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_stored_without_a_model_is_embedded_when_there_is_one() {
    let (world, model) = (World::new(1), Letters::new(7));
    let system = world.start(None).await;
    tell(&system, "ann", 0..30).await;
    for batch in 0..3 {
        tell(&system, "bulk", batch * 500..batch * 500 + 500).await;
    }
    assert!(!system.health().catching_up);
    system.stop().await;
    drop(system);

    model.shut();
    let system = world.start(Some(&model)).await;
    assert_eq!(mode(&system, question("bulk", "harbour number 7")).await, "keyword", "too many to wait for");
    model.open();
    assert_eq!(mode(&system, harbour()).await, "hybrid", "few enough to wait for");
    until("the walk", || !system.health().catching_up).await;
    assert_eq!(mode(&system, question("bulk", "harbour number 7")).await, "hybrid");
    assert_eq!(model.count(Passage), 1_530);
    system.stop().await;
}

// A past holds words that no later state has; the new model embeds them too, when somebody asks about that past.
#[tokio::test(flavor = "multi_thread")]
async fn searches_of_the_past_go_on_too() {
    let (world, first, second) = (World::new(1), Letters::new(7), Letters::new(8));
    let system = world.start(Some(&first)).await;
    let (profile, thread_id) = ("ann".to_owned(), "t".to_owned());
    let create = Create { profile: profile.clone(), thread_id: Some(thread_id.clone()), ..Create::default() };
    system.thread_create(&acme(), create).await.expect("created");
    let add = AddMemory {
        profile: profile.clone(),
        thread_id: thread_id.clone(),
        content: "The harbour lies in the north".to_owned(),
        memory_id: Some("m".to_owned()),
        ..AddMemory::default()
    };
    system.thread_add_memory(&acme(), add).await.expect("stored");
    assert_eq!(mode(&system, harbour()).await, "hybrid");
    let before = system.health().seq;
    let update = UpdateMemory {
        profile,
        thread_id,
        memory_id: "m".to_owned(),
        content: Some("The airport lies in the south".to_owned()),
        ..UpdateMemory::default()
    };
    system.thread_update_memory(&acme(), update).await.expect("changed");
    let then = || memlog_actors::api::profile::Search { as_of: Some(AsOf::Seq(before)), ..harbour() };
    assert_eq!(mode(&system, then()).await, "hybrid");
    system.stop().await;
    drop(system);

    second.shut();
    let system = world.start(Some(&second)).await;
    let found = ask(&system, then()).await.expect("answered while the model works");
    assert_eq!(found.mode, "keyword");
    assert_eq!(found.memories[0].content.clone().flatten().as_deref(), Some("The harbour lies in the north"));
    second.open();
    while mode(&system, then()).await != "hybrid" {
        tokio::task::yield_now().await;
    }
    system.stop().await;
}
