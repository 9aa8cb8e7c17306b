//! Keys made from slots and from the root secret. Every use has its own context, so no key serves two ends.

use uuid::Uuid;

use super::{Error, Vault, slot::State};
use crate::ids::{Digest, KeyPath, Slot};

const CONTENT: &str = "memlog 2026 content key v1";
const CHAIN: &str = "memlog 2026 stream chain v1";
const COMMITS: &str = "memlog 2026 commit chain v1";
const NAMES: &str = "memlog 2026 name digests v1";
const DIGESTS: &str = "memlog 2026 slot digests v1";

/// A derived key; overwritten in memory when dropped.
pub struct Key(pub(super) [u8; 32]);

impl Drop for Key {
    fn drop(&mut self) {
        self.0.fill(0);
        std::hint::black_box(&self.0);
    }
}

/// Keys that live as long as the vault.
pub(super) struct Roots {
    chain: [u8; 32],
    commits: [u8; 32],
    names: [u8; 32],
}

impl std::fmt::Debug for Roots {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Roots")
    }
}

impl Roots {
    pub(super) fn derive(root: &[u8; 32]) -> Self {
        Self {
            chain: blake3::derive_key(CHAIN, root),
            commits: blake3::derive_key(COMMITS, root),
            names: blake3::derive_key(NAMES, root),
        }
    }
}

impl Vault {
    /// What the chains of streams are keyed with.
    pub(crate) fn chain_key(&self) -> &[u8; 32] {
        &self.roots.chain
    }

    /// What the chain of commits is keyed with.
    pub(crate) fn commit_key(&self) -> &[u8; 32] {
        &self.roots.commits
    }

    /// The key that seals what `id` names (an event, a row): BLAKE3-derive(profile slot, stream slot, subject slot,
    /// id), an absent slot as zeros. `None` if any of the slots was overwritten.
    pub fn key(&self, path: KeyPath, id: Uuid) -> Result<Option<Key>, Error> {
        if path == KeyPath::default() {
            return Err(Error::Unknown(Slot::NONE));
        }
        let mut hasher = blake3::Hasher::new_derive_key(CONTENT);
        for slot in [path.scope, path.stream, path.subject] {
            let key = match slot {
                Slot::NONE => [0; 32],
                slot => match self.state(slot)? {
                    State::Live(key) => key,
                    State::Dead => return Ok(None),
                },
            };
            hasher.update(&key);
        }
        hasher.update(id.as_bytes());
        Ok(Some(Key(*hasher.finalize().as_bytes())))
    }

    /// A fingerprint of names that lives as long as the vault.
    pub fn digest_names(&self, parts: &[&[u8]]) -> Digest {
        digest(&self.roots.names, parts)
    }

    /// A fingerprint that nobody can make again once the slot was overwritten; `None` then.
    pub fn digest_in(&self, slot: Slot, parts: &[&[u8]]) -> Result<Option<Digest>, Error> {
        Ok(match self.state(slot)? {
            State::Live(key) => Some(digest(&blake3::derive_key(DIGESTS, &key), parts)),
            State::Dead => None,
        })
    }
}

/// Each part goes in behind its length, so that ("ab", "c") and ("a", "bc") differ.
fn digest(key: &[u8; 32], parts: &[&[u8]]) -> Digest {
    let mut hasher = blake3::Hasher::new_keyed(key);
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes()).update(part);
    }
    Digest(*hasher.finalize().as_bytes())
}
