//! When a message that comes in is one that the thread already holds.
//!
//! A re-send is a common prefix with the thread (of any length), a run of at least two messages of it, or a known id.
//! A single message that only repeats a text is news: people say "ok" more than once.

use std::collections::HashMap;

use memlog_events::ids::{Digest, MessageId};

use super::MessageState;

/// What a message that comes in is known by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Match {
    /// Of role, text, speaker and given timestamp.
    pub digest: Digest,
    /// Of the id that the client gave.
    pub id_digest: Option<Digest>,
}

/// For each incoming message, the one it repeats, if it repeats one.
pub fn matched(held: &[MessageState], incoming: &[Match]) -> Vec<Option<MessageId>> {
    let mut known: Vec<Option<MessageId>> = vec![None; incoming.len()];
    let prefix = held.iter().zip(incoming).take_while(|(have, new)| have.digest == new.digest).count();
    for (slot, have) in known.iter_mut().zip(held).take(prefix) {
        *slot = Some(have.id);
    }
    let pairs = pairs(held);
    let mut at = prefix;
    while at < incoming.len() {
        let (length, from) = longest_run(held, incoming, at, &pairs);
        for offset in 0..length {
            known[at + offset] = Some(held[from + offset].id);
        }
        at += length.max(1);
    }
    by_id(held, incoming, &mut known);
    known
}

type Pairs = HashMap<(Digest, Digest), Vec<usize>>;

/// Where each two neighbours stand: a run of two or more begins with such a pair.
fn pairs(held: &[MessageState]) -> Pairs {
    let mut pairs = Pairs::new();
    for (at, two) in held.windows(2).enumerate() {
        pairs.entry((two[0].digest, two[1].digest)).or_default().push(at);
    }
    pairs
}

/// Places of one pair that are tried: a thread of a thousand "ok"s must not cost a million comparisons.
const PLACES_MAX: usize = 64;

/// The longest run of at least two that begins at `at`: its length (0 if none) and where it stands.
fn longest_run(held: &[MessageState], incoming: &[Match], at: usize, pairs: &Pairs) -> (usize, usize) {
    let Some(two) = incoming.get(at..at + 2) else {
        return (0, 0);
    };
    let Some(places) = pairs.get(&(two[0].digest, two[1].digest)) else {
        return (0, 0);
    };
    let run = |from: &usize| {
        let same = held[*from..].iter().zip(&incoming[at..]).take_while(|(have, new)| have.digest == new.digest);
        (same.count(), *from)
    };
    places.iter().rev().take(PLACES_MAX).map(run).max_by_key(|(length, _)| *length).unwrap_or((0, 0))
}

fn by_id(held: &[MessageState], incoming: &[Match], known: &mut [Option<MessageId>]) {
    if incoming.iter().all(|new| new.id_digest.is_none()) {
        return;
    }
    let ids: HashMap<Digest, MessageId> = held.iter().filter_map(|have| Some((have.id_digest?, have.id))).collect();
    for (slot, new) in known.iter_mut().zip(incoming) {
        if let Some(id) = new.id_digest.and_then(|digest| ids.get(&digest)) {
            *slot = Some(*id);
        } else if new.id_digest.is_some() {
            // Another id is another message, whatever its text.
            *slot = slot.filter(|id| held.iter().any(|have| have.id == *id && have.id_digest.is_none()));
        }
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn digest(c: char) -> Digest {
        Digest([c as u8; 32])
    }

    fn held(text: &str) -> Vec<MessageState> {
        let message = |(at, c)| MessageState {
            id: MessageId(Uuid::from_u128(at as u128)),
            slot: None,
            digest: digest(c),
            id_digest: None,
            speaker: None,
            timestamp: None,
            expires_at: None,
        };
        text.chars().enumerate().map(message).collect()
    }

    // Letters stand for messages. What is expected is where each incoming message was found, '.' for news.
    fn found(held_text: &str, incoming: &str) -> String {
        let incoming: Vec<_> = incoming.chars().map(|c| Match { digest: digest(c), id_digest: None }).collect();
        let places = matched(&held(held_text), &incoming);
        places
            .iter()
            .map(|id| id.map_or('.', |id| char::from_digit(id.0.as_u128() as u32, 36).expect("short")))
            .collect()
    }

    #[test]
    fn what_is_a_resend() {
        for (have, sent, expected) in [
            ("", "abc", "..."),
            ("abc", "abc", "012"),
            ("abc", "abcd", "012."),
            ("abc", "abdc", "01.."),
            ("abc", "a", "0"),
            ("abc", "ax", "0."),
            ("abc", "c", "."),
            ("abc", "cd", ".."),
            ("abcd", "cde", "23."),
            ("abcd", "xbcy", ".12."),
            ("abab", "ababab", "0123" /* then a run of the thread again */),
            ("oooo", "o", "0"),
        ] {
            assert!(found(have, sent).starts_with(expected), "{have} <- {sent}: {}", found(have, sent));
        }
    }

    #[test]
    fn a_known_id_is_the_message_and_another_id_is_not() {
        let mut have = held("ab");
        have[0].id_digest = Some(digest('1'));
        let one = |c, id| Match { digest: digest(c), id_digest: Some(digest(id)) };
        assert_eq!(matched(&have, &[one('z', '1')]), [Some(have[0].id)]);
        assert_eq!(matched(&have, &[one('a', '2')]), [None]);
    }
}
