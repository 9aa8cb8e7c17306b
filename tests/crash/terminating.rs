//! SIGTERM under load: the orderly end of the same process. Whoever calls is answered or refused, nobody is left to guess.

use std::fs;

use tokio::sync::mpsc;

use crate::{
    load::{self, End, WRITERS, Written},
    world::{World, random},
};

#[tokio::test(flavor = "multi_thread")]
async fn whoever_calls_during_the_end_is_answered_or_refused() {
    let Some(world) = World::on_given_server().await else { return };
    let served = world.serve().await;
    let replies = random("replies before SIGTERM", WRITERS / 4, WRITERS * 2);
    let (acknowledged, mut count) = mpsc::channel(replies);
    let mut writers = load::write(&served, 0, acknowledged).await;
    for _ in 0..replies {
        count.recv().await.expect("the writers go on");
    }
    served.terminate();
    // No writer was told of an end: each hears of it by its last call.
    let mut all: Vec<Written> = Vec::new();
    while let Some(ended) = writers.join_next().await {
        let (written, end) = ended.unwrap();
        assert!(matches!(end, End::Refused | End::Unheard), "{end:?}");
        all.extend(written);
    }
    served.ended().await;
    // Quickly, as a condition: nothing had to be cut off at the deadline.
    let log = fs::read_to_string(world.log()).unwrap();
    assert!(log.contains("closed") && !log.contains("WARN"), "{log}");

    let again = world.serve().await;
    load::check(&again, &all).await;
    load::check_profiles(&again, &all).await;
    again.stop().await;
}
