//! A rebuild whose power goes at any sync, or whose disk is full from any write on: the folder answers as before, and another
//! rebuild does it all.

use std::sync::Arc;

use memlog_actors::{api::error::Kind, system::Rebuilt};
use serde_json::Value;

use super::{
    computer::{Computer, Unsynced},
    filled::{Filled, filled},
    life::{LOSSES, Life, after_a_cut, lived},
    world::Letters,
};

/// The folder, and what it answers before a rebuild with a model and after one.
struct Story {
    folder: Filled,
    by_words: Vec<Value>,
    by_meaning: Vec<Value>,
    whole: Rebuilt,
}

async fn rebuilt(life: &Life<'_>) -> Option<Result<Rebuilt, memlog_actors::api::Error>> {
    life.until_done(life.system.rebuild(|_, _| {})).await
}

impl Story {
    fn new() -> Self {
        let mut folder = filled();
        let by_words = lived(&folder.world, &folder.computer, async |life| folder.answers(life).await);
        // As the folder lies, for every cut.
        folder.computer = after_a_cut(&folder.computer, Unsynced::Kept, 0);
        folder.world.embedder = Some(Arc::new(Letters));
        let computer = after_a_cut(&folder.computer, Unsynced::Kept, 0);
        let work = async |life: &Life<'_>| {
            let rebuilt = rebuilt(life).await.expect("powered").expect("rebuilt");
            (rebuilt, folder.answers(life).await)
        };
        let (whole, by_meaning) = lived(&folder.world, &computer, work).expect("started");
        assert!(whole.documents_embedded > 20 && whole.documents_pending == 0, "{whole:?}");
        Self { by_words: by_words.expect("started"), by_meaning, whole, folder }
    }

    fn computer(&self) -> Computer {
        after_a_cut(&self.folder.computer, Unsynced::Kept, 0)
    }

    /// What it is again after whatever came. `kept` if a rebuild said that it was done.
    fn judge(&mut self, computer: &Computer, kept: bool, at: &str) {
        let model = self.folder.world.embedder.take();
        let answers = lived(&self.folder.world, computer, async |life| self.folder.answers(life).await);
        assert_eq!(answers.expect("started"), self.by_words, "{at}");
        self.folder.world.embedder = model;
        let work = async |life: &Life<'_>| {
            let again = rebuilt(life).await.expect("powered").expect("rebuilt");
            (again, self.folder.answers(life).await)
        };
        let (again, answers) = lived(&self.folder.world, computer, work).expect("started");
        assert_eq!(answers, self.by_meaning, "{at}");
        let of_cache = again.documents_from_cache;
        assert_eq!(
            Rebuilt { documents_embedded: again.documents_embedded + of_cache, documents_from_cache: 0, ..again },
            self.whole,
            "{at}"
        );
        assert!(!kept || again.documents_embedded == 0, "{at}: what a rebuild has made is kept: {again:?}");
    }
}

#[test]
fn power_may_go_at_any_sync_of_a_rebuild() {
    let mut story = Story::new();
    for unsynced in LOSSES {
        for sync in 1.. {
            let at = format!("{unsynced:?}, sync {sync}");
            let computer = story.computer();
            computer.dies_at_sync(sync);
            let done = lived(&story.folder.world, &computer, async |life| {
                let done = rebuilt(life).await;
                if !life.computer.is_dead() {
                    // The housekeeping writes, too, and a rebuild may find all of it done.
                    life.rest(1_200).await;
                    rebuilt(life).await;
                }
                done.is_some_and(|done| done.is_ok())
            });
            let survived = !computer.is_dead();
            let computer = after_a_cut(&computer, unsynced, sync as u64);
            story.judge(&computer, done == Some(true), &at);
            if survived {
                assert!(sync > 8 && done == Some(true), "{at}: it was not busy");
                break;
            }
        }
    }
}

/// What a rebuild says is done is done, however soon the power goes.
#[test]
fn what_is_rebuilt_is_kept() {
    let mut story = Story::new();
    let computer = story.computer();
    let left = lived(&story.folder.world, &computer, async |life| {
        rebuilt(life).await.expect("powered").expect("rebuilt");
        after_a_cut(&computer, Unsynced::Lost, 0)
    });
    story.judge(&left.expect("started"), true, "cut behind it");
}

/// Whoever rebuilds on a full disk is told, reads go on, and so does the same process once there is room. One that does not even start
/// says why, and starts when there is.
#[test]
fn a_disk_may_be_full_at_any_write_of_a_rebuild() {
    let mut story = Story::new();
    for from_the_start in [false, true] {
        for change in 1.. {
            let at = format!("full at change {change}, from the start {from_the_start}");
            let computer = story.computer();
            if from_the_start {
                computer.is_full_at(change);
            }
            let refused = lived(&story.folder.world, &computer, async |life| {
                if !from_the_start {
                    computer.is_full_at(change);
                }
                on_a_full_disk(&story, life, &at).await
            });
            story.judge(&after_a_cut(&computer, Unsynced::Lost, 0), refused.is_some(), &at);
            if refused == Some(false) {
                assert!(change > 10, "{at}: it was not busy");
                break;
            }
        }
    }
}

/// Whether there was no room for something.
async fn on_a_full_disk(story: &Story, life: &Life<'_>, at: &str) -> bool {
    let done = rebuilt(life).await.expect("powered");
    let refused = life.computer.is_full();
    if let Err(error) = &done {
        assert!(refused && error.kind == Kind::Unavailable && error.message.contains("is full"), "{at}: {error}");
    }
    assert!(done.is_err() || !refused, "{at}: it was told that all is kept: {done:?}");
    assert_eq!(story.folder.answers(life).await, story.by_meaning, "{at}");
    life.computer.has_room();
    life.recovered().await;
    let again = rebuilt(life).await.expect("powered").expect("rebuilt");
    assert_eq!(again.documents_pending, 0, "{at}");
    assert_eq!(story.folder.answers(life).await, story.by_meaning, "{at}");
    refused
}
