//! What the submitter's thread does for a batch before it queues: check its limits, encode, seal, write large bodies
//! away.

use super::{Core, Error, append, blobs::Owner, directory};
use crate::{
    batch::{Batch, Claim, Draft, IdempotencyRow, Listing},
    code::StreamKind,
    codec,
    event::Facts,
    head::Place,
    ids::{EventId, KeyPath, Micros, PARTITIONS, Slot, StreamKey, Version},
    trouble::told,
};

/// A batch in bytes; only places and hashes are missing.
pub(super) struct Prepared {
    pub(super) key: StreamKey,
    pub(super) kind: StreamKind,
    pub(super) expected: Version,
    pub(super) events: Vec<Body>,
    pub(super) claims: Vec<Claim>,
    pub(super) listed: Vec<Listing>,
    pub(super) idempotency: Option<IdempotencyRow>,
    pub(super) bytes: usize,
}

/// One event of it.
pub(super) struct Body {
    pub(super) id: EventId,
    pub(super) time: Micros,
    pub(super) kind: u16,
    pub(super) kind_version: u16,
    pub(super) facts: Vec<u8>,
    pub(super) content: SealedBody,
    pub(super) erases: Vec<Slot>,
    pub(super) expiry: Option<(Micros, Slot)>,
    /// The row of the expiry that this one takes the place of.
    pub(super) expiry_before: Option<(Micros, Slot)>,
}

/// Its sealed half.
#[derive(Default)]
pub(super) struct SealedBody {
    pub(super) keys: KeyPath,
    pub(super) place: Place,
    pub(super) nonce: [u8; 12],
    pub(super) hash: [u8; 32],
    pub(super) bytes: u32,
    /// Empty if it lies in a file.
    pub(super) inline: Vec<u8>,
}

impl Prepared {
    fn owner(&self, index: usize, keys: KeyPath, nonce: [u8; 12]) -> Owner {
        let version = Version(self.expected.0 + index as u64 + 1);
        Owner { key: self.key, version, nonce, keys }
    }

    /// Its files.
    pub(super) fn files(&self) -> impl Iterator<Item = Owner> {
        let large = self.events.iter().enumerate().filter(|(_, event)| event.content.place == Place::Blob);
        large.map(|(index, event)| self.owner(index, event.content.keys, event.content.nonce))
    }

    /// Removes the files of a batch that was refused. A file left behind is swept at the next start.
    pub(super) fn discard(&self, core: &Core) {
        self.files().for_each(|file| drop(core.blobs.remove(&file)));
    }
}

/// Encodes and seals a batch.
pub(super) fn prepare(core: &Core, batch: Batch) -> Result<Prepared, append::Error> {
    at_most("events", batch.events.len(), core.limits.batch_events_max)?;
    if batch.key.partition.0 >= PARTITIONS {
        return Err(append::Error::Invalid("partition out of range"));
    }
    let mut prepared = Prepared {
        key: batch.key,
        kind: batch.kind,
        expected: batch.expected,
        events: Vec::with_capacity(batch.events.len()),
        claims: batch.claims,
        listed: batch.listed,
        idempotency: batch.idempotency,
        bytes: 0,
    };
    for draft in batch.events {
        if let Err(error) = add(core, &mut prepared, draft) {
            prepared.discard(core);
            return Err(known_before(core, &prepared, error));
        }
    }
    Ok(prepared)
}

/// A command sent again after what it made was deleted is still one that was carried out.
fn known_before(core: &Core, batch: &Prepared, error: append::Error) -> append::Error {
    let (append::Error::Gone, Some(row)) = (&error, &batch.idempotency) else {
        return error;
    };
    match directory::remembered(core, row.key, row.time) {
        Ok(Some(remembered)) => append::Error::Replayed(Box::new(remembered)),
        Ok(None) => error,
        Err(unreadable) => failed(unreadable),
    }
}

fn add(core: &Core, to: &mut Prepared, draft: Draft) -> Result<(), append::Error> {
    let facts = codec::encode_facts(&draft.facts);
    let plain = draft.content.map(|(content, keys)| (codec::encode_content(&content), keys));
    to.bytes += facts.len() + plain.as_ref().map_or(0, |(bytes, _)| bytes.len());
    at_most("bytes", to.bytes, core.limits.batch_bytes_max)?;
    known_slots(core, &draft.facts, plain.as_ref().map(|(_, keys)| *keys))?;
    let content = match plain {
        Some((bytes, keys)) => seal(core, to, draft.id, keys, bytes)?,
        None => SealedBody::default(),
    };
    let erases = draft.facts.erases();
    to.events.push(Body {
        id: draft.id,
        time: draft.time,
        kind: draft.facts.kind(),
        kind_version: codec::facts_version(&draft.facts),
        facts,
        content,
        erases: erases.into_iter().filter(|slot| *slot != Slot::NONE).collect(),
        expiry: draft.facts.expiry(),
        expiry_before: draft.facts.expiry_before(),
    });
    Ok(())
}

fn seal(
    core: &Core,
    batch: &Prepared,
    id: EventId,
    keys: KeyPath,
    mut body: Vec<u8>,
) -> Result<SealedBody, append::Error> {
    let sealed = core.vault.seal(keys, id.0, batch.key.stream.0, &mut body);
    let nonce = sealed.map_err(failed)?.ok_or(append::Error::Gone)?;
    let mut out = SealedBody {
        keys,
        place: Place::Inline,
        nonce,
        hash: *blake3::hash(&body).as_bytes(),
        bytes: body.len() as u32,
        inline: body,
    };
    if out.inline.len() > core.limits.inline_bytes_max {
        out.place = Place::Blob;
        let owner = batch.owner(batch.events.len(), keys, nonce);
        let written = core.blobs.write(&owner, &out.inline);
        written.map_err(|error| failed(Error::Disk(told("the disk of the data folder", &error))))?;
        out.inline = Vec::new();
    }
    Ok(out)
}

/// A batch that names a slot nobody was handed would make another's subject die, or its own live by nobody's key.
fn known_slots(core: &Core, facts: &Facts, keys: Option<KeyPath>) -> Result<(), append::Error> {
    let mut named = facts.erases();
    named.extend(keys.iter().flat_map(KeyPath::slots));
    named.extend(facts.expiry().into_iter().chain(facts.expiry_before()).map(|(_, slot)| slot));
    let known = named.iter().all(|slot| *slot == Slot::NONE || core.vault.is_known(*slot));
    match known && keys != Some(KeyPath::default()) {
        true => Ok(()),
        false => Err(append::Error::Invalid("slot was never handed out")),
    }
}

fn at_most(what: &'static str, is: usize, max: usize) -> Result<(), append::Error> {
    match is <= max {
        true => Ok(()),
        false => Err(append::Error::TooLarge { what, is, max }),
    }
}

pub(super) fn failed(error: impl Into<Error>) -> append::Error {
    append::Error::Failed(error.into().to_string())
}
