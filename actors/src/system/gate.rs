//! A lock a key: whoever does the same thing at the same time waits for the first.

use std::{
    collections::HashMap,
    hash::Hash,
    sync::{Arc, Mutex, PoisonError},
};

use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};

/// The keys in use.
pub(crate) struct Gate<K>(Mutex<HashMap<K, Arc<AsyncMutex<()>>>>);

/// Held while the thing is done.
pub(crate) struct Pass<'a, K: Eq + Hash + Clone> {
    gate: &'a Gate<K>,
    key: K,
    held: Option<OwnedMutexGuard<()>>,
}

impl<K> Default for Gate<K> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Eq + Hash + Clone> Gate<K> {
    /// Waits for whoever has the key.
    pub(crate) async fn enter(&self, key: K) -> Pass<'_, K> {
        let lock = {
            let mut keys = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(keys.entry(key.clone()).or_default())
        };
        // Made before the wait: a caller that gives up waiting must leave no key behind.
        let mut pass = Pass { gate: self, key, held: None };
        pass.held = Some(lock.lock_owned().await);
        pass
    }

    /// Enters by several keys, always in the same order, so that two never wait for each other.
    pub(crate) async fn enter_all(&self, mut keys: Vec<K>) -> Vec<Pass<'_, K>>
    where
        K: Ord,
    {
        keys.sort_unstable();
        keys.dedup();
        let mut passes = Vec::with_capacity(keys.len());
        for key in keys {
            passes.push(self.enter(key).await);
        }
        passes
    }
}

impl<K: Eq + Hash + Clone> Drop for Pass<'_, K> {
    fn drop(&mut self) {
        drop(self.held.take());
        let mut keys = self.gate.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Only the map holds it: nobody waits.
        if keys.get(&self.key).is_some_and(|lock| Arc::strong_count(lock) == 1) {
            keys.remove(&self.key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Gate;

    #[tokio::test]
    async fn one_at_a_time_and_nothing_stays() {
        let gate = Gate::default();
        let first = gate.enter(1).await;
        let second = gate.enter(1);
        tokio::pin!(second);
        assert!(futures_lite_poll(second.as_mut()).is_none());
        drop(first);
        drop(second.await);
        assert!(gate.0.lock().expect("whole").is_empty());
    }

    fn futures_lite_poll<F: Future>(future: std::pin::Pin<&mut F>) -> Option<F::Output> {
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        match future.poll(&mut context) {
            std::task::Poll::Ready(out) => Some(out),
            std::task::Poll::Pending => None,
        }
    }
}
