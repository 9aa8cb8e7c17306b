//! A disk that forgets what was not synced: what the power cuts of this package's tests and of the simulation (`actors/tests/sim`) have
//! in common.

/// A write, or a new length, which comes without bytes.
pub(crate) type Change = (u64, Option<Vec<u8>>);

/// What one disk holds.
#[derive(Debug, Default)]
pub(crate) struct Platter {
    /// What is read from it.
    pub(crate) now: Vec<u8>,
    /// As it was at the last sync.
    pub(crate) durable: Vec<u8>,
    /// What came since.
    pub(crate) pending: Vec<Change>,
}

impl Platter {
    /// A disk whose every byte is durable.
    pub(crate) fn of(bytes: Vec<u8>) -> Self {
        Self { now: bytes.clone(), durable: bytes, pending: Vec::new() }
    }

    pub(crate) fn change(&mut self, change: Change) {
        apply(&mut self.now, &change);
        self.pending.push(change);
    }

    /// As systems do: what a refused sync did not bring to the disk no later one does, though it can still be read.
    pub(crate) fn sync(&mut self, taken: bool) {
        for change in std::mem::take(&mut self.pending) {
            if taken {
                apply(&mut self.durable, &change);
            }
        }
    }
}

pub(crate) fn apply(bytes: &mut Vec<u8>, (offset, data): &Change) {
    let at = *offset as usize;
    match data {
        None => bytes.resize(at, 0),
        Some(data) => {
            bytes.resize(bytes.len().max(at + data.len()), 0);
            bytes[at..at + data.len()].copy_from_slice(data);
        }
    }
}
