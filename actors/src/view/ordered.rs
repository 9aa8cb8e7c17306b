//! A profile's events in the order of their positions, without all of them in memory at once.
//!
//! The log keeps a profile stream by stream. Of a small one the events are read once and sorted; of a large one only where each lies,
//! and the events are read again one by one as they are folded.

use std::vec::IntoIter;

use memlog_events::{
    ids::{Position, StreamId, StreamKey, Version},
    log::{Error, Log, Stored},
};

use super::reading::BESIDE_FROM;
use crate::domain::Place;

/// An event in memory besides its content.
const EVENT_BYTES: usize = size_of::<Stored>() + 64;

/// Where an event lies: in which order, and under which key of the profile.
type Address = (Position, StreamId, Version);

pub(super) struct Ordered<'a> {
    log: &'a Log,
    place: Place,
    held: IntoIter<Stored>,
    addresses: IntoIter<Address>,
    bytes: usize,
    content_bytes: usize,
}

impl<'a> Ordered<'a> {
    /// Reads a profile and keeps its events while they take at most so many bytes. Calls `on_many` as soon as it has read so many that
    /// threads help.
    pub(super) fn read(
        log: &'a Log,
        place: Place,
        held_bytes_max: usize,
        on_many: &mut dyn FnMut(),
    ) -> Result<Self, Error> {
        let (mut held, mut addresses, mut bytes) = (Vec::new(), Vec::<Address>::new(), 0);
        let mut content_bytes = 0;
        for event in log.scope(place.key.partition, place.key.scope) {
            let event = event?;
            content_bytes += event.head.content_bytes as usize;
            bytes += EVENT_BYTES + event.head.content_bytes as usize;
            addresses.push((event.head.position, event.head.key.stream, event.head.version));
            if addresses.len() == BESIDE_FROM {
                on_many();
            }
            if bytes <= held_bytes_max {
                held.push(event);
            } else {
                held = Vec::new();
            }
        }
        if bytes <= held_bytes_max {
            // By keys of their own: an event is too large to be moved about while they are sorted.
            held.sort_by_cached_key(|event| event.head.position);
            addresses = Vec::new();
        } else {
            addresses.sort_unstable();
            bytes = addresses.capacity() * size_of::<Address>();
        }
        Ok(Self { log, place, held: held.into_iter(), addresses: addresses.into_iter(), bytes, content_bytes })
    }

    /// How many there are; of those that were purged meanwhile fewer come.
    pub(super) fn len(&self) -> usize {
        self.held.len() + self.addresses.len()
    }

    /// What all their contents take together.
    pub(super) fn content_bytes(&self) -> usize {
        self.content_bytes
    }

    /// The memory that it holds until it is dropped.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Iterator for Ordered<'_> {
    type Item = Result<Stored, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(event) = self.held.next() {
            return Some(Ok(event));
        }
        loop {
            let (_, stream, version) = self.addresses.next()?;
            match self.log.at(StreamKey { stream, ..self.place.key }, version) {
                Ok(Some(event)) => return Some(Ok(event)),
                // Purged since it was seen: it was erased before, and whoever erased it has told.
                Ok(None) => {}
                Err(error) => return Some(Err(error)),
            }
        }
    }
}
