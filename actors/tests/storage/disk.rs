//! A full disk, for real: a process of its own whose files may not grow any more. It refuses what would be stored, with 503 and a
//! sentence that names the disk, answers what is read, and goes on without a restart once there is room.

use std::process::Command;

use memlog_actors::{
    api::{
        audit,
        error::Kind,
        profile::{Memories, Memory, Remember},
    },
    system::System,
};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::{until, world::*};

/// Set for the process whose disk is full.
const CHILD: &str = "MEMLOG_TEST_FULL_DISK";

#[test]
fn a_disk_fills_up_and_is_emptied_without_a_restart() {
    let program = std::env::current_exe().expect("a program");
    // Without the signal that such a process gets, its writes fail as on a full disk.
    let child = Command::new("sh")
        .args(["-c", "trap '' XFSZ; exec \"$0\" --exact disk::in_a_process_of_its_own --ignored --nocapture"])
        .arg(program)
        .env(CHILD, "1")
        .output()
        .expect("ran");
    let said = String::from_utf8_lossy(&child.stderr);
    assert!(child.status.success() && !String::from_utf8_lossy(&child.stdout).contains("0 passed"), "{said}");
}

fn files_may_grow_to(bytes: Option<u64>) {
    let maximum = getrlimit(Resource::Fsize).maximum;
    setrlimit(Resource::Fsize, Rlimit { current: bytes, maximum }).expect("set");
}

fn one(id: &str) -> Memory {
    Memory { profile: ALICE.to_owned(), memory_id: id.to_owned(), as_of: None }
}

async fn count(system: &System) -> usize {
    let all = Memories { limit: Some(500), ..list() };
    system.profile_memories(&acme(), all).await.expect("reads go on").reply.memories.len()
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "run by the other test, in a process whose files may not grow"]
async fn in_a_process_of_its_own() {
    assert!(std::env::var_os(CHILD).is_some(), "it would stop other tests from writing");
    let world = World::new();
    let system = world.start().await;
    let mut kept = Vec::new();
    for n in 0..5 {
        kept.push(
            system.profile_remember(&acme(), remember(&format!("Kept {n}"))).await.expect("stored").reply.memory.id,
        );
    }
    for full in 0..2 {
        let log = std::fs::metadata(world.folder.path().join("log.redb")).expect("a log").len();
        files_may_grow_to(Some(log));
        // Metadata makes it grow soon.
        let padding = serde_json::json!({"padding": "x".repeat(15_000)});
        let refused = loop {
            let content = format!("Kept {full}-{}", kept.len());
            let metadata = padding.as_object().cloned();
            let more = Remember { metadata, dedupe: Some(false), ..remember(&content) };
            match system.profile_remember(&acme(), more).await {
                Ok(stored) => kept.push(stored.reply.memory.id),
                Err(refused) => break refused,
            }
            assert!(kept.len() < 2_000, "it never fills up");
        };
        assert_eq!(refused.kind, Kind::Unavailable, "{refused}");
        assert!(refused.message.contains("the disk of the log is full"), "{refused}");
        assert!(refused.fields.contains_key("retry_after_ms"));
        let health = system.health();
        assert!(!health.ready && health.reason.expect("told").contains("is full"));
        for id in &kept {
            system.profile_memory(&acme(), one(id)).await.expect("reads go on");
        }
        assert_eq!(count(&system).await, kept.len());
        let found = system.profile_search(&acme(), search("Kept 3")).await.expect("searched").reply.memories;
        assert!(!found.is_empty());
        let refused =
            system.profile_forget(&acme(), forget(&kept[0])).await.expect_err("nothing is written, a forget neither");
        assert_eq!(refused.kind, Kind::Unavailable);
        files_may_grow_to(None);
        until("it goes on", || async { system.health().ready }).await;
        let gone = kept.remove(0);
        system.profile_forget(&acme(), forget(&gone)).await.expect("forgotten");
        kept.push(
            system
                .profile_remember(&acme(), remember(&format!("Kept after {full}")))
                .await
                .expect("stored")
                .reply
                .memory
                .id,
        );
        assert_eq!(count(&system).await, kept.len(), "nothing that was refused has come up");
        let verified = system.audit_verify(&acme(), audit::Verify::default()).await.expect("verified").reply;
        assert!(verified.ok, "{verified:?}");
    }
    let system = world.restart(system).await;
    assert_eq!(count(&system).await, kept.len());
    system.stop().await;
}
