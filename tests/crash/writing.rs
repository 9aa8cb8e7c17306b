//! `kill -9` under two hundred writers, again and again on the same folder: an acknowledgement is a promise, and a
//! promise is kept once.

use memlog_actors::api::audit;
use tokio::sync::mpsc;

use crate::{
    load::{self, End, WRITERS, Written},
    world::{Served, World, random},
};

/// Deaths of one folder.
const ROUNDS: usize = 3;

/// Lets all write until so many replies came, then kills; what was said.
async fn write_and_kill(served: Served, round: usize, replies: usize) -> Vec<Written> {
    let (acknowledged, mut count) = mpsc::channel(replies);
    let mut writers = load::write(&served, round, acknowledged).await;
    for _ in 0..replies {
        count.recv().await.expect("the writers go on");
    }
    served.kill().await;
    let mut all = Vec::new();
    while let Some(ended) = writers.join_next().await {
        let (written, end) = ended.unwrap();
        // A writer whose call came after the kill finds nobody there.
        assert!(matches!(end, End::Died | End::Unheard), "{end:?}: nothing but the kill ends a writer");
        all.extend(written);
    }
    all
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_acknowledged_is_there_once_after_every_kill() {
    let Some(world) = World::on_given_server().await else { return };
    let mut all: Vec<Written> = Vec::new();
    for round in 0..ROUNDS {
        // From when each writer has hardly begun to when all are in the middle of it.
        let replies = random("replies before the kill", WRITERS / 4, WRITERS * 2);
        let served = world.serve().await;
        let mut written = write_and_kill(served, round, replies).await;
        let (acknowledged, open) = load::count(&written);
        eprintln!("round {round}: {acknowledged} acknowledged, {open} under way");
        assert!(acknowledged >= replies && open > 0, "the kill came amid the writing");

        let served = world.serve().await;
        load::check(&served, &written).await;
        load::repeat(&served, &mut written).await;
        load::check(&served, &written).await;
        all.extend(written);
        let verified = served.call(audit::Verify::default()).await;
        assert!(verified.ok, "{:?}", verified.first_break);
        // The last look is after a clean end, so that the kill of the next round meets a log that was never closed.
        served.kill().await;
    }
    let served = world.serve().await;
    load::check(&served, &all).await;
    load::check_profiles(&served, &all).await;
    let verified = served.call(audit::Verify::default()).await;
    assert!(verified.ok, "{:?}", verified.first_break);
    served.stop().await;
}
