//! One commit being made: each batch is checked in full before any of it is written, so a refused one leaves no trace.

use std::collections::{BTreeMap, HashMap, HashSet};

use redb::ReadableTable;

use super::{
    Core, Error, Reason, append, directory,
    limits::HOUR_MICROS,
    lock,
    prepare::{Body, Prepared},
    rows::{self, CommitRow},
    tables::Writing,
    writer::End,
};
use crate::{
    batch::{Claim, Committed, Holder},
    codec,
    head::{self, CHAIN_BYTES, FACTS_AT, Head, Parts},
    ids::{Digest, KeyPath, Position, Scope, Slot, StreamKey, Version},
};

/// The end of a stream.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tip {
    pub(super) version: Version,
    pub(super) chain: [u8; CHAIN_BYTES],
}

pub(super) struct Group<'a> {
    core: &'a Core,
    known: &'a HashMap<StreamKey, Tip>,
    tables: Writing<'a>,
    start: End,
    chains: Vec<[u8; CHAIN_BYTES]>,
    condemned: HashSet<Slot>,
    buffer: Vec<u8>,
    /// The earliest reader that knows every event of this commit.
    needs: u32,
    written: Written,
}

/// What a finished group leaves to be done once it is durable.
pub(super) struct Written {
    pub(super) tips: HashMap<StreamKey, Tip>,
    pub(super) end: End,
    pub(super) erased: Vec<Slot>,
    pub(super) scopes: BTreeMap<Scope, Position>,
    pub(super) partitions: BTreeMap<u16, u64>,
}

impl<'a> Group<'a> {
    pub(super) fn new(core: &'a Core, known: &'a HashMap<StreamKey, Tip>, start: End, tables: Writing<'a>) -> Self {
        let written = Written {
            tips: HashMap::new(),
            end: start,
            erased: Vec::new(),
            scopes: BTreeMap::new(),
            partitions: BTreeMap::new(),
        };
        let (chains, condemned, buffer) = (Vec::new(), HashSet::new(), Vec::new());
        Self { core, known, tables, start, chains, condemned, buffer, needs: 1, written }
    }

    /// Adds a batch or says why not. An outer error spoils the whole commit.
    pub(super) fn add(&mut self, batch: &Prepared) -> Result<Result<Committed, append::Error>, Error> {
        let tip = self.tip(batch.key)?;
        if let Some(refusal) = self.check(batch, tip)? {
            return Ok(Err(refusal));
        }
        let first = Position(self.written.end.head.0 + 1);
        let mut tip = tip;
        for event in &batch.events {
            self.write_event(batch, event, &mut tip)?;
        }
        self.written.tips.insert(batch.key, tip);
        let last = self.written.end.head;
        let committed = Committed { first: first.min(last), last, version: tip.version };
        self.write_rows(batch, &committed)?;
        Ok(Ok(committed))
    }

    fn tip(&self, key: StreamKey) -> Result<Tip, Error> {
        if let Some(tip) = self.written.tips.get(&key).or_else(|| self.known.get(&key)) {
            return Ok(*tip);
        }
        let (from, to) = (rows::event_key(key, Version(0)), rows::event_key(key, Version(u64::MAX)));
        let Some(last) = self.tables.events.range::<&[u8; 42]>(&from..=&to)?.next_back() else {
            return Ok(Tip::default());
        };
        let (last_key, event) = last?;
        let (_, version) = rows::event_key_of(last_key.value());
        let chain = Parts::split(event.value())
            .map_err(|error| Error::Event { key, version, reason: Reason::Head(error) })?
            .chain;
        Ok(Tip { version, chain })
    }

    fn check(&self, batch: &Prepared, tip: Tip) -> Result<Option<append::Error>, Error> {
        // A twin first: it expects a version that its forerunner has moved.
        if let Some(row) = &batch.idempotency {
            let hours = directory::hours_for(self.core, row.time);
            let found = directory::find(&self.tables.idempotency, &hours, row.key, row.time)?;
            if let Some(remembered) = found {
                return Ok(Some(append::Error::Replayed(Box::new(remembered))));
            }
        }
        if tip.version != batch.expected {
            return Ok(Some(append::Error::VersionMoved { actual: tip.version }));
        }
        for event in &batch.events {
            if !self.lives(event.content.keys, &[])? {
                return Ok(Some(append::Error::Gone));
            }
        }
        self.check_claims(batch)
    }

    fn check_claims(&self, batch: &Prepared) -> Result<Option<append::Error>, Error> {
        let condemned: Vec<Slot> = batch.events.iter().flat_map(|event| event.erases.iter().copied()).collect();
        let mut changed: Vec<(Digest, Option<Holder>)> = Vec::new();
        for claim in &batch.claims {
            let (Claim::Take(name, holder) | Claim::Release(name, holder)) = claim;
            let mut now = match changed.iter().rev().find(|(other, _)| other == name) {
                Some((_, holder)) => *holder,
                None => self.holder(*name)?,
            };
            if let Some(other) = now
                && !self.lives(other.keys, &condemned)?
            {
                now = None;
            }
            match (claim, now) {
                (Claim::Take(..), Some(other)) if other != *holder => {
                    return Ok(Some(append::Error::Taken { holder: other }));
                }
                (Claim::Take(..), _) => changed.push((*name, Some(*holder))),
                (Claim::Release(..), Some(other)) if other == *holder => {
                    changed.push((*name, None));
                }
                (Claim::Release(..), _) => {}
            }
        }
        Ok(None)
    }

    fn holder(&self, name: Digest) -> Result<Option<Holder>, Error> {
        Ok(self.tables.claims.get(&name.0)?.map(|row| rows::holder_of(row.value())))
    }

    /// Alive in the vault and condemned neither by an earlier batch of this commit nor by these.
    fn lives(&self, keys: KeyPath, condemned: &[Slot]) -> Result<bool, Error> {
        let doomed = |slot| self.condemned.contains(&slot) || condemned.contains(&slot);
        Ok(!keys.slots().any(doomed) && self.core.vault.alive(keys)?)
    }

    fn write_event(&mut self, batch: &Prepared, event: &Body, tip: &mut Tip) -> Result<(), Error> {
        let end = &mut self.written.end;
        end.head = Position(end.head.0 + 1);
        end.latest = end.latest.max(event.time);
        tip.version = Version(tip.version.0 + 1);
        let (position, version) = (end.head, tip.version);
        let head = head_of(batch, event, position, version).to_bytes(&event.facts);
        tip.chain = head::chain(self.core.vault.chain_key(), &tip.chain, &head, &event.facts);

        self.buffer.clear();
        self.buffer.reserve(FACTS_AT + event.facts.len() + event.content.inline.len());
        for part in [&head[..], &tip.chain, &event.facts, &event.content.inline] {
            self.buffer.extend_from_slice(part);
        }
        let key = rows::event_key(batch.key, version);
        let replaced = self.tables.events.insert(&key, self.buffer.as_slice())?.is_some();
        debug_assert!(!replaced, "the key is the version check");
        self.tables
            .order
            .insert(&rows::order_key(batch.key.partition, position), &rows::order_row(batch.key, version))?;
        self.chains.push(tip.chain);
        self.needs = self.needs.max(codec::reader_of(event.kind, event.kind_version));
        self.written.scopes.insert(batch.key.scope, position);
        self.written.partitions.insert(batch.key.partition.0, position.0);
        for slot in &event.erases {
            self.condemn(batch.key.scope, position, *slot)?;
        }
        if let Some((at, slot)) = event.expiry_before {
            self.tables.expiry.remove(&rows::expiry_key(at, batch.key, slot))?;
        }
        if let Some((at, slot)) = event.expiry {
            // What changes only the time has a content that belongs to the stream; the row dies with its subject all the same.
            let keys = KeyPath { subject: slot, ..event.content.keys };
            let key = rows::expiry_key(at, batch.key, slot);
            self.tables.expiry.insert(&key, &rows::expiry_row(keys))?;
        }
        Ok(())
    }

    /// Writes down that the slot must be overwritten, and drops the vectors it seals in the same commit.
    fn condemn(&mut self, scope: Scope, position: Position, slot: Slot) -> Result<(), Error> {
        self.tables.erasures.insert(&rows::erasure_key(position, slot), ())?;
        let (from, to) = rows::embedding_bounds(scope, slot);
        self.tables.embeddings.retain_in::<&[u8; 38], _>(&from..=&to, |_, _| false)?;
        if self.condemned.insert(slot) {
            self.written.erased.push(slot);
        }
        Ok(())
    }

    fn write_rows(&mut self, batch: &Prepared, committed: &Committed) -> Result<(), Error> {
        for claim in &batch.claims {
            match claim {
                Claim::Take(name, holder) => {
                    self.tables.claims.insert(&name.0, &rows::holder_row(holder))?;
                }
                Claim::Release(name, holder) => {
                    if self.holder(*name)? == Some(*holder) {
                        self.tables.claims.remove(&name.0)?;
                    }
                }
            }
        }
        for listing in &batch.listed {
            let key = rows::listing_key(listing.namespace, listing.kind, listing.id);
            self.tables.listed.insert(&key, &rows::listing_row(listing))?;
        }
        if let Some(row) = &batch.idempotency {
            let hour = row.time.0.div_euclid(HOUR_MICROS);
            let bytes = rows::remembered_row(row, committed);
            let key = rows::idempotency_key(hour, row.key);
            self.tables.idempotency.insert(&key, bytes.as_slice())?;
            lock(&self.core.hours).insert(hour);
        }
        Ok(())
    }

    /// Readers that do not know the events of this commit are kept out from the moment it is durable.
    fn raise_fence(&mut self) -> Result<(), Error> {
        let row = self.tables.meta.get(rows::META_MIN_READER)?;
        let stands = row.and_then(|row| row.value().try_into().ok().map(u32::from_le_bytes));
        if stands.is_none_or(|stands| stands < self.needs) {
            self.tables.meta.insert(rows::META_MIN_READER, self.needs.to_le_bytes().as_slice())?;
        }
        Ok(())
    }

    /// Closes the group with its link in the chain of commits.
    pub(super) fn finish(mut self) -> Result<Written, Error> {
        if !self.chains.is_empty() {
            let first = Position(self.start.head.0 + 1);
            let row = CommitRow {
                last: self.written.end.head,
                count: self.chains.len() as u32,
                latest: self.written.end.latest,
                previous: self.start.hash,
                hash: [0; 32],
            };
            let row = row.chained(self.core.vault.commit_key(), first, &self.chains);
            self.tables.commits.insert(first.0, &row.to_bytes())?;
            self.written.end.hash = row.hash;
        }
        self.raise_fence()?;
        // Read after every batch was sealed, so every slot they use lies below it.
        let state = rows::state_row(self.written.end.head, self.core.vault.next());
        self.tables.meta.insert(rows::META_STATE, state.as_slice())?;
        Ok(self.written)
    }
}

fn head_of(batch: &Prepared, event: &Body, position: Position, version: Version) -> Head {
    Head {
        codec: event.facts[0],
        kind: event.kind,
        kind_version: event.kind_version,
        key: batch.key,
        stream_kind: batch.kind,
        position,
        version,
        id: event.id,
        time: event.time,
        keys: event.content.keys,
        facts_bytes: event.facts.len() as u32,
        content_bytes: event.content.bytes,
        place: event.content.place,
        nonce: event.content.nonce,
        content_hash: event.content.hash,
    }
}
