//! The change feed over restarts: whatever was committed is told, and after an orderly end nothing is told twice.

use std::time::Duration;

use memlog_actors::{
    api::profile::{Delete, Remember},
    system::{Change, Feed},
};

use memlog_events::{
    ids::Position,
    log::{Log, Options},
};

use crate::world::{World, acme, remember};

/// A feed that has more to tell does so long before this.
const EVER: Duration = Duration::from_secs(30);

async fn next(feed: &mut Feed) -> Change {
    let next = tokio::time::timeout(EVER, feed.next()).await;
    next.expect("it tells what was committed").expect("the system runs")
}

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
        told.push(next(&mut feed).await.seq);
    }
    assert_eq!((told.len() as u64, told.first()), (head, Some(&1)));
    drop(feed);
    system.stop().await;
}

/// Its namespace is sealed by the profile, but others of it live.
#[tokio::test(flavor = "multi_thread")]
async fn a_profile_that_was_deleted_right_before_a_crash_is_told_as_well() {
    let world = World::new();
    let system = world.start().await;
    drop(system.feed());
    system.profile_remember(&acme(), remember("The ferns need water.")).await.expect("stored");
    let bob = Remember { profile: "bob".to_owned(), ..remember("The dentist is on 14 June.") };
    system.profile_remember(&acme(), bob).await.expect("stored");
    system.profile_delete(&acme(), Delete { profile: "bob".to_owned() }).await.expect("deleted");
    let head = system.health().seq;
    let system = world.restart(system).await;
    let mut feed = system.feed();
    let mut told = Vec::new();
    while told.last().is_none_or(|(seq, _)| *seq < head) {
        let change = next(&mut feed).await;
        told.push((change.seq, change.event_type));
    }
    assert!(told.iter().any(|(_, event_type)| *event_type == "profile_deleted"), "{told:?}");
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
    while next(&mut feed).await.seq < head {}
    feed.note().await;
    drop(feed);
    let system = world.restart(system).await;
    let mut feed = system.feed();
    system.profile_remember(&acme(), remember("The dentist is on 14 June.")).await.expect("stored");
    assert!(next(&mut feed).await.seq > head);
    drop(feed);
    system.stop().await;
}

/// A folder of a version that kept a checkpoint and noted no beginning goes on where that feed stood.
#[tokio::test(flavor = "multi_thread")]
async fn a_checkpoint_of_an_earlier_version_is_gone_on_from() {
    let world = World::new();
    let system = world.start().await;
    for text in ["The ferns need water.", "The kiln is on.", "The boat is red."] {
        system.profile_remember(&acme(), remember(text)).await.expect("stored");
    }
    let head = system.health().seq;
    let system = {
        system.stop().await;
        drop(system);
        let log = Log::open(Options::new(world.folder.path())).expect("opened");
        log.set_checkpoint("feed", Position(head - 1)).expect("set");
        log.close();
        drop(log);
        world.start().await
    };
    let mut feed = system.feed();
    assert_eq!(next(&mut feed).await.seq, head);
    drop(feed);
    system.stop().await;
}
