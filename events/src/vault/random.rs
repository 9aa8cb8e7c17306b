//! Where keys and nonces come from.

use std::fmt;

use ring::rand::{SecureRandom, SystemRandom};

use super::Error;

/// Fills a buffer with what nobody can foresee; a simulation alone fills it with what its seed says.
pub type Fill = Box<dyn Fn(&mut [u8]) + Send + Sync>;

/// A source of bytes.
pub enum Random {
    /// The operating system's.
    System(SystemRandom),
    /// Told by whoever simulates: worthless as keys, and the same in every run.
    Told(Fill),
}

impl Random {
    /// The operating system's.
    pub fn system() -> Self {
        Self::System(SystemRandom::new())
    }

    pub(super) fn fill(&self, bytes: &mut [u8]) -> Result<(), Error> {
        match self {
            Self::System(random) => random.fill(bytes).map_err(|_| Error::Random),
            Self::Told(fill) => {
                fill(bytes);
                Ok(())
            }
        }
    }
}

impl fmt::Debug for Random {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Random")
    }
}
