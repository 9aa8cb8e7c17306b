//! What the outside world does to a running system: a disk that fills up and is emptied again, power that goes, a clock that goes
//! astray.

mod clock;
#[path = "../sim/disk.rs"]
#[allow(dead_code, reason = "shared with the simulation, which uses the rest")]
mod computer;
mod disk;
mod filled;
mod life;
#[path = "../../../events/src/log/tests/platter.rs"]
mod platter;
#[path = "../sim/random.rs"]
#[allow(dead_code, reason = "shared with the simulation, which uses the rest")]
mod random;
mod rebuild;
mod snapshots;
#[path = "../proofs/world.rs"]
#[allow(dead_code, unreachable_pub, reason = "shared with the other proofs, which use the rest")]
mod world;

use std::time::Duration;

/// Waits until something holds; a test that waits for it in vain fails.
async fn until<F: Future<Output = bool>>(what: &str, holds: impl Fn() -> F) {
    let waiting = async {
        while !holds().await {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), waiting).await.unwrap_or_else(|_| panic!("in vain: {what}"));
}
