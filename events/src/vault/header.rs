//! The vault's first slots: 0 names the file and the installation, 1 and 2 take turns to hold `erased_through`, 3 is
//! the root secret, the rest up to `FIRST_SLOT` are room.

use redb::StorageBackend;
use uuid::Uuid;

use super::{
    Error, FIRST_SLOT, Random,
    slot::{self, SLOT_BYTES, State},
};
use crate::ids::{Position, Slot};

const MAGIC: [u8; 8] = *b"MLVAULT\0";
const FORMAT: u32 = 1;
const NAME: Slot = Slot(0);
const ROOT: Slot = Slot(3);

/// What changes in the header.
#[derive(Debug)]
pub(super) struct Header {
    pub(super) installation: Uuid,
    pub(super) erased_through: Position,
    /// Counts marks; odd ones go to slot 1 and even ones to slot 2, so that a torn write leaves the one before.
    turn: u64,
}

/// Reads the header and the root secret.
pub(super) fn read(disk: &dyn StorageBackend) -> Result<(Header, [u8; 32]), Error> {
    let name = checked(disk, NAME)?.ok_or(Error::Header)?;
    if name[..8] != MAGIC {
        return Err(Error::Header);
    }
    let format = u32::from_le_bytes(field(&name, 8));
    if format != FORMAT {
        return Err(Error::Format(format));
    }
    let State::Live(root) = slot::read(disk, ROOT).map_err(|_| Error::Header)? else {
        return Err(Error::Header);
    };
    let mark = |slot| -> Result<_, Error> {
        let bytes = checked(disk, slot)?;
        Ok(bytes.map(|b| (u64::from_le_bytes(field(&b, 0)), u64::from_le_bytes(field(&b, 8)))))
    };
    let (turn, through) = mark(Slot(1))?.max(mark(Slot(2))?).ok_or(Error::Header)?;
    let installation = Uuid::from_bytes(field(&name, 16));
    Ok((Header { installation, erased_through: Position(through), turn }, root))
}

/// Makes a new vault and syncs it.
pub(super) fn create(disk: &dyn StorageBackend, random: &Random) -> Result<(Header, [u8; 32]), Error> {
    let mut secret = [0; 48];
    random.fill(&mut secret)?;
    let root: [u8; 32] = field(&secret, 0);
    let installation = uuid::Builder::from_random_bytes(field(&secret, 32)).into_uuid();
    disk.set_len(FIRST_SLOT * SLOT_BYTES as u64)?;
    let mut name = [0; SLOT_BYTES];
    name[..8].copy_from_slice(&MAGIC);
    name[8..12].copy_from_slice(&FORMAT.to_le_bytes());
    name[16..32].copy_from_slice(installation.as_bytes());
    write(disk, NAME, name)?;
    disk.write(ROOT.0 * SLOT_BYTES as u64, &slot::live(ROOT, &root))?;
    let mut header = Header { installation, erased_through: Position(0), turn: 0 };
    write_mark(disk, &mut header, Position(0))?;
    disk.sync_data()?;
    Ok((header, root))
}

/// Writes `erased_through` into the older of its two slots. What could not be written does not count: the next try goes to the same
/// slot, since the other one holds the last mark that is whole.
pub(super) fn write_mark(disk: &dyn StorageBackend, header: &mut Header, through: Position) -> Result<(), Error> {
    let turn = header.turn + 1;
    let mut mark = [0; SLOT_BYTES];
    mark[..8].copy_from_slice(&turn.to_le_bytes());
    mark[8..16].copy_from_slice(&through.0.to_le_bytes());
    write(disk, Slot(2 - turn % 2), mark)?;
    (header.turn, header.erased_through) = (turn, through);
    Ok(())
}

fn write(disk: &dyn StorageBackend, slot: Slot, mut bytes: [u8; SLOT_BYTES]) -> Result<(), Error> {
    let check = slot::check(&bytes);
    bytes[SLOT_BYTES - 16..].copy_from_slice(&check);
    Ok(disk.write(slot.0 * SLOT_BYTES as u64, &bytes)?)
}

fn checked(disk: &dyn StorageBackend, slot: Slot) -> Result<Option<[u8; SLOT_BYTES]>, Error> {
    let bytes = slot::raw(disk, slot)?;
    Ok(bytes.filter(|bytes| bytes[SLOT_BYTES - 16..] == slot::check(bytes)))
}

fn field<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let mut out = [0; N];
    out.copy_from_slice(&bytes[at..at + N]);
    out
}
