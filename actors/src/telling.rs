//! Which of several languages the words of a text tell of, by lists of small words: each word is looked up once, however many lists
//! there are.

use std::{borrow::Borrow, collections::HashMap, hash::Hash};

/// Languages that can be told apart at once.
const MOST: usize = 8;

/// What each word, or letter, tells of: a bit for each list.
#[derive(Debug)]
pub(crate) struct Telling<K>(HashMap<K, u8>);

/// How many words told of each list.
#[derive(Debug, Default)]
pub(crate) struct Votes([usize; MOST]);

impl<K: Hash + Eq> Telling<K> {
    /// One list each; what stands in one twice tells of it once.
    pub(crate) fn new<L: IntoIterator<Item = K>>(lists: impl IntoIterator<Item = L>) -> Self {
        let mut told = HashMap::<K, u8>::new();
        for (at, list) in lists.into_iter().enumerate() {
            assert!(at < MOST, "more lists than bits");
            list.into_iter().for_each(|word| *told.entry(word).or_default() |= 1 << at);
        }
        Self(told)
    }

    /// Whether a word tells of the list at that place.
    pub(crate) fn tells<Q: Hash + Eq + ?Sized>(&self, word: &Q, at: usize) -> bool
    where
        K: Borrow<Q>,
    {
        self.0.get(word).is_some_and(|told| told >> at & 1 == 1)
    }

    /// Counts a word.
    pub(crate) fn vote<Q: Hash + Eq + ?Sized>(&self, word: &Q, votes: &mut Votes)
    where
        K: Borrow<Q>,
    {
        let told = self.0.get(word).copied().unwrap_or_default();
        votes.0.iter_mut().enumerate().for_each(|(at, votes)| *votes += usize::from(told >> at & 1));
    }
}

impl Votes {
    /// The list with most, the first of several; none if nothing told of any.
    pub(crate) fn most(&self) -> Option<usize> {
        let most = self.0.iter().copied().max().filter(|most| *most > 0)?;
        self.0.iter().position(|votes| *votes == most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_those_with_most_is_meant() {
        let telling = Telling::new([vec!["a", "in", "in"], vec!["in", "le"], vec!["le", "un"]]);
        let most = |words: &[&str]| {
            let mut votes = Votes::default();
            words.iter().for_each(|word| telling.vote(*word, &mut votes));
            votes.most()
        };
        assert_eq!(
            [most(&["in"]), most(&["in", "le"]), most(&["le", "un"]), most(&["x"])],
            [Some(0), Some(1), Some(2), None]
        );
        assert!(telling.tells("in", 1) && !telling.tells("in", 2) && !telling.tells("x", 0));
    }
}
