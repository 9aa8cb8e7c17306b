//! Work that blocks, and who does it: a thread apart, so that no async thread is held up.
//!
//! On a runtime of one thread it is done there, a task like any other. That is where a simulation runs: with nobody else at
//! work, the order of all that happens is the order in which the runtime has its tasks, and one seed is one history. Whatever
//! blocks for long, and every loop that would be a thread, asks here, or a simulation cannot see it.

use std::panic::{AssertUnwindSafe, catch_unwind};

use tokio::{
    runtime::{Handle, RuntimeFlavor},
    task::JoinHandle,
};

/// Whether this runtime has one thread, which does everything.
pub(crate) fn is_alone() -> bool {
    Handle::try_current().is_ok_and(|runtime| runtime.runtime_flavor() == RuntimeFlavor::CurrentThread)
}

/// Work that panicked. What it said may hold content, so it stays with the process's own hook.
#[derive(Debug)]
pub(crate) struct Panicked;

/// Does what `is_short` here, since a thread apart takes longer to wake than that to do, and all else apart.
pub(crate) async fn here_if<T: Send + 'static>(
    is_short: bool,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Panicked> {
    match is_short {
        true => catch_unwind(AssertUnwindSafe(work)).map_err(|_| Panicked),
        false => run(work).await.map_err(|_| Panicked),
    }
}

/// Does it, and tells what came of it; a panic of its own is an error to whoever waits.
pub(crate) fn run<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
    if is_alone() { tokio::spawn(async move { work() }) } else { tokio::task::spawn_blocking(work) }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Whoever asks must not be able to tell where the work was done, least of all by a panic that takes its own task along.
    async fn told() {
        for is_short in [true, false] {
            assert_eq!(here_if(is_short, || 7).await.map_err(|_| "panicked"), Ok(7));
            let panicked =
                here_if(is_short, || -> u32 { std::panic::panic_any("what it says may hold content") }).await;
            assert_eq!(format!("{panicked:?}"), "Err(Panicked)", "short: {is_short}");
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_panic_is_told_the_same_here_and_apart() {
        told().await;
    }

    #[tokio::test]
    async fn and_on_a_runtime_of_one_thread() {
        told().await;
    }
}
