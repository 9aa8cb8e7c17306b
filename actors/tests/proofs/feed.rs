//! The change feed over restarts: whatever was committed is told, and after an orderly end nothing is told twice.

use crate::world::{World, acme, remember};

/// A process may die before the feed's first checkpoint, and with it what it had not told.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_crash_kept_from_being_told_is_told_by_the_next_process() {
    let world = World::new();
    let system = world.start().await;
    // It began, and told nothing before the end.
    drop(system.feed());
    system.profile_remember(&acme(), remember("The ferns need water.")).await.expect("stored");
    let head = system.health().seq;
    let system = world.restart(system).await;
    let mut feed = system.feed();
    let mut told = Vec::new();
    while told.last() != Some(&head) {
        told.push(feed.next().await.expect("there is more").seq);
    }
    assert_eq!((told.len() as u64, told.first()), (head, Some(&1)));
    drop(feed);
    system.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn after_an_orderly_end_nothing_is_told_twice() {
    let world = World::new();
    let system = world.start().await;
    let mut feed = system.feed();
    system.profile_remember(&acme(), remember("The ferns need water.")).await.expect("stored");
    let head = system.health().seq;
    while feed.next().await.expect("there is more").seq < head {}
    feed.note().await;
    drop(feed);
    let system = world.restart(system).await;
    let mut feed = system.feed();
    system.profile_remember(&acme(), remember("The dentist is on 14 June.")).await.expect("stored");
    assert!(feed.next().await.expect("there is more").seq > head);
    drop(feed);
    system.stop().await;
}
