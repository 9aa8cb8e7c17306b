//! A slot's 64 bytes: key 32, number 8, state 1, zeros 7, check 16. One aligned write changes all of it, inside one
//! disk sector.

use redb::StorageBackend;

use super::Error;
use crate::ids::Slot;

/// Bytes of a slot; its offset in the file is its number times this.
pub(crate) const SLOT_BYTES: usize = 64;
const CHECKED: usize = 48;
const LIVE: u8 = 1;
const DEAD: u8 = 2;

/// What a slot is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// It holds a key.
    Live([u8; 32]),
    /// It was overwritten.
    Dead,
}

/// A live slot's bytes.
pub(super) fn live(slot: Slot, key: &[u8; 32]) -> [u8; SLOT_BYTES] {
    layout(slot, key, LIVE)
}

/// What a slot is overwritten with.
pub(super) fn dead(slot: Slot) -> [u8; SLOT_BYTES] {
    layout(slot, &[0; 32], DEAD)
}

fn layout(slot: Slot, key: &[u8; 32], state: u8) -> [u8; SLOT_BYTES] {
    let mut out = [0; SLOT_BYTES];
    out[..32].copy_from_slice(key);
    out[32..40].copy_from_slice(&slot.0.to_le_bytes());
    out[40] = state;
    let check = check(&out);
    out[CHECKED..].copy_from_slice(&check);
    out
}

/// The last 16 bytes of the vault's every slot, its header's too.
pub(super) fn check(slot: &[u8; SLOT_BYTES]) -> [u8; 16] {
    let mut out = [0; 16];
    out.copy_from_slice(&blake3::hash(&slot[..CHECKED]).as_bytes()[..16]);
    out
}

/// Bytes of one slot, whatever it is; `None` past the end of the file.
pub(super) fn raw(disk: &dyn StorageBackend, slot: Slot) -> Result<Option<[u8; SLOT_BYTES]>, Error> {
    let at = slot.0.saturating_mul(SLOT_BYTES as u64);
    let mut bytes = [0; SLOT_BYTES];
    // The length is asked for only when the read fails: reads are many and short files rare.
    match disk.read(at, &mut bytes) {
        Ok(()) => Ok(Some(bytes)),
        Err(_) if at.saturating_add(SLOT_BYTES as u64) > disk.len()? => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Reads and checks a slot.
pub(super) fn read(disk: &dyn StorageBackend, slot: Slot) -> Result<State, Error> {
    parse(slot, &raw(disk, slot)?.ok_or(Error::Missing(slot))?)
}

/// Checks a slot's bytes.
pub(super) fn parse(slot: Slot, bytes: &[u8; SLOT_BYTES]) -> Result<State, Error> {
    if *bytes == [0; SLOT_BYTES] {
        return Err(Error::Missing(slot));
    }
    if bytes[32..40] != slot.0.to_le_bytes() || bytes[CHECKED..] != check(bytes) {
        return Err(Error::Damaged(slot));
    }
    let mut key = [0; 32];
    key.copy_from_slice(&bytes[..32]);
    match (bytes[40], key) {
        (LIVE, key) => Ok(State::Live(key)),
        (DEAD, key) if key == [0; 32] => Ok(State::Dead),
        _ => Err(Error::Damaged(slot)),
    }
}
