//! How the process dies, and what dies with it.

use std::{fs, time::Duration};

use fastrand::Rng;
use rustix::process::{Pid, Signal, kill_process};
use tokio::{process::Child, time::timeout};

use crate::world::{Served, World};

/// A short life ends by then, in the middle of whatever it does: opening takes about this long.
const LIFE_MS_MAX: u64 = 400;
/// A backup takes about this long.
const BACKUP_MS_MAX: u64 = 150;

/// Kills a child at a moment of its life that nobody chose; whether it had ended before.
async fn cut_short(mut child: Child, rng: &mut Rng) -> bool {
    let life = Duration::from_millis(rng.u64(1..LIFE_MS_MAX));
    if timeout(life, child.wait()).await.is_ok() {
        return true;
    }
    child.kill().await.unwrap();
    false
}

/// What died with which nobody hears the change feed for a while.
pub(super) const WITH_NATS: &str = "nats-server, then the node";

/// Ends the process under load; what died.
pub(super) async fn end(world: &World, served: Served, rng: &mut Rng) -> &'static str {
    match rng.u32(..20) {
        0..2 => {
            kill_nats(world).await;
            // What a client holds back until it is connected must not reach the next life.
            served.flush().await;
            served.kill().await;
            WITH_NATS
        }
        2 => {
            served.stop().await;
            "SIGTERM"
        }
        3 => {
            let target = world.beside(&format!("backup-{}", rng.u64(..)));
            let target = target.to_string_lossy();
            let mut backup = world.spawn(&["backup", &target]);
            let life = Duration::from_millis(rng.u64(1..BACKUP_MS_MAX));
            let ended = timeout(life, backup.wait()).await.is_ok();
            served.kill().await;
            let succeeded = backup.wait().await.unwrap().success();
            let holds = holds(world, &target).await;
            assert!(holds || !succeeded, "a backup that succeeded holds; it had ended before the kill: {ended}");
            "the node, during a backup"
        }
        _ => {
            served.kill().await;
            "the node"
        }
    }
}

/// What happens between two lives; what died.
pub(super) async fn between(world: &World, rng: &mut Rng) -> Vec<&'static str> {
    let mut died = Vec::new();
    match rng.u32(..12) {
        0..3 => {
            for _ in 0..rng.u32(1..3) {
                died.push("the node, while it starts");
                assert!(!cut_short(world.spawn_serve(), rng).await, "memlog does not end by itself");
            }
        }
        3 => {
            died.push("a rebuild");
            cut_short(world.spawn(&["rebuild"]), rng).await;
        }
        _ => {}
    }
    died
}

/// Whether a copy is whole; one that is not is opened by nobody.
async fn holds(world: &World, target: &str) -> bool {
    if !fs::exists(target).unwrap() {
        return false;
    }
    let (code, told) = world.cli(&["verify", "--data", target]).await;
    assert!(matches!(code, 0..=2), "a broken copy passes for a whole one, {code}: {told:?}");
    fs::remove_dir_all(target).unwrap();
    code == 0
}

/// `kill -9` of the nats-server, which comes back by itself.
async fn kill_nats(world: &World) {
    let mut status = world.nats().server().status();
    let pid = status.borrow_and_update().pid.and_then(|pid| Pid::from_raw(i32::try_from(pid).ok()?));
    let pid = pid.expect("the server runs");
    kill_process(pid, Signal::KILL).unwrap();
    let back = status.wait_for(|status| status.pid.is_some_and(|now| Pid::from_raw(now as i32) != Some(pid)));
    back.await.expect("the server comes back");
}
