//! A log without files and without a thread of its own, for who simulates the machine below it: what its disks keep when the
//! power goes, what its random bytes are, and when its writer has a turn.
//!
//! A simulation alone comes in here. Contents above 64 KB lie in the data folder all the same, beside the disks.

use std::{fmt::Debug, io, sync::Arc};

use redb::StorageBackend;

use super::{
    Log,
    hand::Hand,
    open::{self, Disks, Options, VAULT_FILE},
};
use crate::vault::{Fill, Random};

/// A disk that holds one file.
pub trait Disk: Debug + Send + Sync + 'static {
    /// How many it holds.
    fn bytes(&self) -> io::Result<u64>;
    /// Reads all of `out`, or fails.
    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()>;
    /// Cuts it, or adds zeros.
    fn set_len(&self, len: u64) -> io::Result<()>;
    /// What was written before survives whatever comes.
    fn sync(&self) -> io::Result<()>;
    /// Writes, and grows it if need be.
    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()>;
}

/// What a log runs on.
pub struct Machine {
    /// Holds the log.
    pub log: Arc<dyn Disk>,
    /// Holds the vault.
    pub vault: Arc<dyn Disk>,
    /// In place of the system's randomness.
    pub random: Fill,
}

#[derive(Debug)]
struct Backend(Arc<dyn Disk>);

impl StorageBackend for Backend {
    fn len(&self) -> io::Result<u64> {
        self.0.bytes()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.0.read(offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.set_len(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.0.sync()
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.0.write(offset, data)
    }
}

impl Log {
    /// Opens the log of a machine, or makes a new one. Nothing is written before somebody gives the writer its [`Log::turn`].
    ///
    /// # Errors
    /// Those of [`Log::open`].
    pub fn open_on(machine: Machine, options: Options) -> Result<Self, open::Error> {
        let vault_path = options.vault_dir.as_ref().unwrap_or(&options.dir).join(VAULT_FILE);
        let disks = Disks { log: Backend(machine.log), vault: Box::new(Backend(machine.vault)), vault_path };
        Self::open_with(disks, options, Random::Told(machine.random), |writer| Ok(Hand::by_caller(writer)))
    }

    /// Makes one group of what waits durable and answers it; false if nothing waits, if the log has a thread for it, or
    /// if a turn is under way: what a turn calls can have none of its own.
    pub fn turn(&self) -> bool {
        self.0.hand.turn()
    }
}
