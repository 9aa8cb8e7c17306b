//! Statements on their way into a profile: who says what another is just saying waits for the other, and everybody else goes on.
//!
//! A gate for a whole profile would let its commands through one by one, each with a commit of its own.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use memlog_events::ids::{Scope, SpeakerId};
use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};

use crate::same::Statement;

/// The statements on their way, by profile.
#[derive(Default)]
pub(crate) struct Sayings(Mutex<HashMap<Scope, Vec<Saying>>>);

struct Saying {
    speaker: Option<SpeakerId>,
    statement: Arc<Statement>,
    /// Locked until it is said.
    done: Arc<AsyncMutex<()>>,
}

/// Held while something is said.
pub(crate) struct Said<'a> {
    sayings: &'a Sayings,
    scope: Scope,
    done: Arc<AsyncMutex<()>>,
    held: Option<OwnedMutexGuard<()>>,
}

impl Sayings {
    /// Waits for whoever says the same under the same tag.
    pub(crate) async fn enter(&self, scope: Scope, speaker: Option<SpeakerId>, statement: Arc<Statement>) -> Said<'_> {
        loop {
            let earlier = {
                let mut profiles = self.0.lock().unwrap_or_else(PoisonError::into_inner);
                let saying = profiles.entry(scope).or_default();
                let same = |it: &&Saying| it.speaker == speaker && it.statement.says_the_same(&statement);
                match saying.iter().find(same) {
                    Some(earlier) => Arc::clone(&earlier.done),
                    None => {
                        let done = Arc::new(AsyncMutex::new(()));
                        // Nobody else has seen it yet.
                        let held = Arc::clone(&done).try_lock_owned().ok();
                        saying.push(Saying { speaker, statement, done: Arc::clone(&done) });
                        return Said { sayings: self, scope, done, held };
                    }
                }
            };
            drop(earlier.lock_owned().await);
        }
    }
}

impl Drop for Said<'_> {
    fn drop(&mut self) {
        let mut profiles = self.sayings.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(saying) = profiles.get_mut(&self.scope) {
            saying.retain(|it| !Arc::ptr_eq(&it.done, &self.done));
            if saying.is_empty() {
                profiles.remove(&self.scope);
            }
        }
        // Only now may who waited look again, and find it gone.
        drop(self.held.take());
    }
}

#[cfg(test)]
mod tests {
    use std::task::{Context, Poll, Waker};

    use memlog_events::ids::Scope;

    use super::*;
    use crate::same::Author;

    fn statement(text: &str) -> Arc<Statement> {
        Arc::new(Statement::new(text, Author::Anyone))
    }

    fn is_ready<F: Future>(future: std::pin::Pin<&mut F>) -> bool {
        matches!(future.poll(&mut Context::from_waker(Waker::noop())), Poll::Ready(_))
    }

    // Two that say the same at once must not both look before either is stored; all others must not wait for them.
    #[tokio::test]
    async fn only_the_same_statement_waits() {
        let sayings = Sayings::default();
        let scope = Scope(uuid::Uuid::from_u128(1));
        let first = sayings.enter(scope, None, statement("I don't eat pork")).await;
        let twin = sayings.enter(scope, None, statement("I do not eat pork"));
        tokio::pin!(twin);
        assert!(!is_ready(twin.as_mut()));
        let other = sayings.enter(scope, None, statement("I don't eat beef"));
        tokio::pin!(other);
        assert!(is_ready(other.as_mut()));
        let speaker = sayings.enter(scope, Some(SpeakerId::ME), statement("I don't eat pork"));
        tokio::pin!(speaker);
        assert!(is_ready(speaker.as_mut()));
        drop(first);
        drop(twin.await);
        assert!(sayings.0.lock().unwrap().is_empty(), "nothing stays behind");
    }
}
