//! Signals that ask the process to end: SIGTERM and SIGINT.

use std::{
    io,
    time::{Duration, Instant},
};

/// Signals this close together are one wish: `timeout` and terminals send them to a process and to its group.
const SAME_SIGNAL_MAX: Duration = Duration::from_secs(1);

/// Returns at a signal that is another one than the first.
pub(crate) async fn another(first: Instant, mut next: impl AsyncFnMut()) {
    loop {
        next().await;
        if first.elapsed() >= SAME_SIGNAL_MAX {
            return;
        }
    }
}

/// What asks this process to end.
#[cfg(unix)]
pub(crate) struct Signals {
    terminate: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    /// From now on they do not end it at once.
    pub(crate) fn listen() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())? })
    }

    /// Returns at the next one.
    pub(crate) async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `timeout` signals its child and then the whole group; that must not cut off replies under way.
    #[tokio::test]
    async fn a_doubled_signal_is_one() {
        let mut doubled = 3;
        let then_silence = async || match doubled {
            0 => std::future::pending().await,
            _ => doubled -= 1,
        };
        assert!(futures::FutureExt::now_or_never(another(Instant::now(), then_silence)).is_none());
        let earlier = Instant::now().checked_sub(SAME_SIGNAL_MAX).unwrap();
        another(earlier, async || {}).await;
    }
}
