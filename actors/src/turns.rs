//! Whose turn it is among all that wait: namespaces take turns, and within each its profiles. Pure; every queue in which one
//! caller could stand in front of all others is built around it.
//!
//! What waits of one profile keeps its order. A thousand that wait in one namespace, in however many profiles, hold up another
//! namespace's one by a single turn.

use std::{
    collections::{HashMap, VecDeque},
    hash::Hash,
    mem,
};

/// What waits, by namespace and profile.
#[derive(Debug)]
pub struct Turns<N, P, T> {
    namespaces: Ring<N, Ring<P, VecDeque<T>>>,
    waiting: usize,
}

/// Those that have something waiting, in turn.
#[derive(Debug)]
struct Ring<K, V> {
    order: VecDeque<K>,
    held: HashMap<K, V>,
}

impl<K, V> Default for Ring<K, V> {
    fn default() -> Self {
        Self { order: VecDeque::new(), held: HashMap::new() }
    }
}

impl<K: Clone + Eq + Hash, V: Default> Ring<K, V> {
    fn of(&mut self, key: K) -> &mut V {
        if !self.held.contains_key(&key) {
            self.order.push_back(key.clone());
        }
        self.held.entry(key).or_default()
    }

    fn remove(&mut self, key: &K) {
        self.held.remove(key);
        if let Some(at) = self.order.iter().position(|it| it == key) {
            self.order.remove(at);
        }
    }

    /// The first one, in turn, that gives something; it is the last of all from then on, or gone if it has nothing more.
    fn take<R>(&mut self, mut from: impl FnMut(&K, &mut V) -> Option<R>, is_empty: impl Fn(&V) -> bool) -> Option<R> {
        for at in 0..self.order.len() {
            let key = &self.order[at];
            let Some(held) = self.held.get_mut(key) else { continue };
            let Some(found) = from(key, held) else { continue };
            let empty = is_empty(held);
            if let Some(key) = self.order.remove(at) {
                if empty {
                    self.held.remove(&key);
                } else {
                    self.order.push_back(key);
                }
            }
            return Some(found);
        }
        None
    }
}

impl<N, P, T> Default for Turns<N, P, T> {
    fn default() -> Self {
        Self { namespaces: Ring::default(), waiting: 0 }
    }
}

impl<N: Clone + Eq + Hash, P: Clone + Eq + Hash, T> Turns<N, P, T> {
    /// Waits from now on, behind all else of its profile.
    pub fn push(&mut self, namespace: N, profile: P, it: T) {
        self.namespaces.of(namespace).of(profile).push_back(it);
        self.waiting += 1;
    }

    /// The next that may have its turn. Only the first of each profile is asked about.
    pub fn pop(&mut self, may: impl Fn(&N, &P, &T) -> bool) -> Option<T> {
        self.pop_where(|_| true, may)
    }

    /// The same where a namespace of which nobody may is passed over without a look at its profiles, however many wait.
    pub fn pop_where(&mut self, any: impl Fn(&N) -> bool, may: impl Fn(&N, &P, &T) -> bool) -> Option<T> {
        let found = self.namespaces.take(
            |namespace, profiles| {
                if !any(namespace) {
                    return None;
                }
                let first = |profile: &P, waiting: &mut VecDeque<T>| match waiting.front() {
                    Some(it) if may(namespace, profile, it) => waiting.pop_front(),
                    _ => None,
                };
                profiles.take(first, VecDeque::is_empty)
            },
            |profiles| profiles.held.is_empty(),
        );
        self.waiting -= usize::from(found.is_some());
        found
    }

    /// Takes out what is not to stay. The others keep their turns.
    pub fn retain(&mut self, mut stays: impl FnMut(&T) -> bool) {
        for profiles in self.namespaces.held.values_mut() {
            profiles.held.values_mut().for_each(|waiting| waiting.retain(&mut stays));
            profiles.held.retain(|_, waiting| !waiting.is_empty());
            profiles.order.retain(|profile| profiles.held.contains_key(profile));
        }
        self.namespaces.held.retain(|_, profiles| !profiles.held.is_empty());
        let held = &self.namespaces.held;
        self.namespaces.order.retain(|namespace| held.contains_key(namespace));
        self.waiting = self.iter().count();
    }

    /// The same of one profile; the others are not looked at.
    pub fn retain_of(&mut self, namespace: &N, profile: &P, stays: impl FnMut(&T) -> bool) {
        let Some(profiles) = self.namespaces.held.get_mut(namespace) else { return };
        let Some(waiting) = profiles.held.get_mut(profile) else { return };
        let before = waiting.len();
        waiting.retain(stays);
        self.waiting -= before - waiting.len();
        if !waiting.is_empty() {
            return;
        }
        profiles.remove(profile);
        if profiles.held.is_empty() {
            self.namespaces.remove(namespace);
        }
    }

    /// All that wait, in no order.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.namespaces.held.values().flat_map(|profiles| profiles.held.values()).flatten()
    }

    /// Takes all that wait, in no order.
    pub fn drain(&mut self) -> impl Iterator<Item = T> {
        let all = mem::take(self).namespaces.held.into_values();
        all.flat_map(|profiles| profiles.held.into_values()).flatten()
    }

    /// How many wait.
    pub fn len(&self) -> usize {
        self.waiting
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.waiting == 0
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::Turns;

    fn any(_: &&str, _: &u32, _: &u32) -> bool {
        true
    }

    // However many profiles a namespace floods from, the other one's call is the second.
    #[test]
    fn a_flood_holds_up_others_by_one_turn() {
        let mut turns = Turns::default();
        for n in 0..1_000 {
            turns.push("loud", n % 10, n);
        }
        turns.push("quiet", 7, 5_000);
        assert_eq!(turns.len(), 1_001);
        let first: Vec<_> = (0..5).filter_map(|_| turns.pop(any)).collect();
        assert_eq!(first, [0, 5_000, 1, 2, 3]);
        // Within the loud one its profiles take turns as well, each in its order.
        let rest: Vec<_> = std::iter::from_fn(|| turns.pop(any)).collect();
        assert_eq!(rest, (4..1_000).collect::<Vec<_>>());
        assert!(turns.is_empty());
    }

    // Who may not go yet stands in nobody's way, and keeps its place.
    #[test]
    fn who_may_not_go_is_passed_over() {
        let mut turns = Turns::default();
        turns.push("a", 1, 10);
        turns.push("a", 1, 11);
        turns.push("b", 1, 20);
        assert_eq!(turns.pop(|namespace, _, _| *namespace == "b"), Some(20));
        assert_eq!(turns.pop(|_, _, it| *it == 11), None, "the order of a profile is kept");
        assert_eq!((turns.pop(any), turns.pop(any), turns.pop(any)), (Some(10), Some(11), None));
    }

    // Every end of a call looks for the next one: with thousands that wait in one namespace and may not go, it must not ask each.
    #[test]
    fn a_namespace_that_may_not_go_is_asked_about_once() {
        let (mut turns, asked) = (Turns::default(), Cell::new((0, 0)));
        for n in 0..10_000 {
            turns.push("loud", n, n);
        }
        turns.push("quiet", 0, 20_000);
        let mut pop = |free: &'static [&'static str]| {
            asked.set((0, 0));
            turns.pop_where(
                |namespace| {
                    asked.update(|(namespaces, profiles)| (namespaces + 1, profiles));
                    free.contains(namespace)
                },
                |_, _, _| {
                    asked.update(|(namespaces, profiles)| (namespaces, profiles + 1));
                    true
                },
            )
        };
        assert_eq!((pop(&["quiet"]), asked.get()), (Some(20_000), (2, 1)));
        assert_eq!((pop(&["quiet"]), asked.get()), (None, (1, 0)));
        assert_eq!((pop(&["loud"]), asked.get()), (Some(0), (1, 1)), "its turns are as they were");
    }

    #[test]
    fn what_is_taken_out_leaves_no_turn_behind() {
        let mut turns = Turns::default();
        (0..4).for_each(|n| turns.push("a", n % 2, n));
        turns.push("b", 0, 9);
        turns.retain(|it| *it == 3 || *it == 9);
        assert_eq!(turns.len(), 2);
        let mut left: Vec<_> = turns.iter().copied().collect();
        left.sort_unstable();
        assert_eq!(left, [3, 9]);
        assert_eq!((turns.pop(any), turns.pop(any), turns.pop(any)), (Some(3), Some(9), None));
        (0..4).for_each(|n| turns.push("a", n % 2, n));
        turns.push("b", 0, 9);
        turns.retain_of(&"a", &1, |it| *it == 3);
        turns.retain_of(&"a", &0, |_| false);
        turns.retain_of(&"b", &0, |_| false);
        turns.retain_of(&"c", &0, |_| false);
        assert_eq!((turns.len(), turns.pop(any), turns.pop(any)), (1, Some(3), None));
        turns.push("a", 0, 1);
        assert_eq!(turns.drain().collect::<Vec<_>>(), [1]);
        assert!(turns.is_empty());
    }
}
