//! A system's life on a computer that is simulated, on a runtime of its own, until it is stopped or its power goes.

use std::{pin::pin, time::Duration};

use memlog_actors::{
    api::{Context, Error, Verb},
    system::System,
};
use serde_json::Value;

use super::{
    computer::{Computer, Unsynced},
    random::Random,
    world::{World, acme},
};

pub(super) const LOSSES: [Unsynced; 3] = [Unsynced::Lost, Unsynced::Kept, Unsynced::Torn];

/// Looks at a writer that has nothing to do after which a call is taken for hung.
const IDLE_MAX: usize = 3_000;
/// The same where the power is out, and nobody may answer any more.
const IDLE_DEAD_MAX: usize = 50;

/// A system and what it runs on.
pub(super) struct Life<'a> {
    pub(super) system: System,
    pub(super) computer: &'a Computer,
}

/// One life from start to end. None if it did not start, which only a power cut, or want of room, excuses.
pub(super) fn lived<T>(world: &World, computer: &Computer, work: impl AsyncFnOnce(&Life<'_>) -> T) -> Option<T> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    runtime.expect("a runtime").block_on(async {
        let system = match System::start_on(computer.machine(), world.options()).await {
            Ok(system) => system,
            Err(error) => {
                assert!(computer.is_dead() || computer.is_full(), "not started: {error}");
                assert!(error.to_string().len() > 20, "{error}");
                return None;
            }
        };
        let life = Life { system, computer };
        let done = work(&life).await;
        life.until_done(life.system.stop()).await;
        Some(done)
    })
}

/// What is left of it when the power goes at once.
pub(super) fn after_a_cut(computer: &Computer, unsynced: Unsynced, seed: u64) -> Computer {
    computer.dies();
    computer.restarted(unsynced, &mut Random::new(seed))
}

impl Life<'_> {
    /// Gives the writer its turns until something is done; none if the power is out and it is not.
    pub(super) async fn until_done<T>(&self, call: impl Future<Output = T>) -> Option<T> {
        let (mut call, mut looks) = (pin!(call), 0);
        loop {
            tokio::select! {
                biased;
                done = &mut call => return Some(done),
                () = idle(1) => {}
            }
            looks = if self.system.turn() { 0 } else { looks + 1 };
            let dead = self.computer.is_dead();
            if looks > if dead { IDLE_DEAD_MAX } else { IDLE_MAX } {
                assert!(dead, "hung");
                return None;
            }
        }
    }

    /// Nobody calls, and the housekeeping has its time.
    pub(super) async fn rest(&self, millis: u64) {
        for _ in 0..millis / 50 {
            idle(50).await;
            while self.system.turn() {}
        }
    }

    /// Until the log takes what is written again.
    pub(super) async fn recovered(&self) {
        let ready = async {
            while !self.system.health().ready {
                idle(1).await;
            }
        };
        self.until_done(ready).await.expect("powered");
    }

    /// What a request given as JSON is answered; none if the power went.
    pub(super) async fn try_ask<V: Verb>(&self, context: &Context, request: Value) -> Option<Result<Value, Error>> {
        let verb: V = serde_json::from_value(request).expect("a request");
        let answer = self.until_done(verb.run(&self.system, context)).await?;
        Some(answer.map(|answer| serde_json::to_value(answer.reply).expect("JSON")))
    }

    /// The same where it must be answered.
    pub(super) async fn ask<V: Verb>(&self, request: Value) -> Value {
        let answered = self.try_ask::<V>(&acme(), request).await.expect("answered");
        answered.unwrap_or_else(|error| panic!("{}.{}: {error}", V::NOUN, V::VERB))
    }
}

/// Until nobody has anything to do, and then for so long of the runtime's own time, which stands while anybody has.
async fn idle(millis: u64) {
    tokio::time::timeout(Duration::from_millis(millis), std::future::pending::<()>()).await.unwrap_or_default();
}
