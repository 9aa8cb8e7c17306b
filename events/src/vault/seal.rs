//! ChaCha20-Poly1305 (RFC 8439) by `ring`. What is sealed is bound to the event and the stream it belongs to.

use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey};
use uuid::Uuid;

use super::{Error, Key, Vault};
use crate::ids::KeyPath;

/// Bytes that a seal adds.
pub(crate) const TAG_BYTES: usize = 16;

/// The key is alive but the bytes are not what it sealed.
#[derive(Debug)]
pub(crate) struct Unsealable;

impl Vault {
    /// Seals `body` in place, tag appended. `None` if a slot of the path was overwritten.
    pub(crate) fn seal(
        &self,
        path: KeyPath,
        id: Uuid,
        place: Uuid,
        body: &mut Vec<u8>,
    ) -> Result<Option<[u8; 12]>, Error> {
        let Some(key) = self.key(path, id)? else {
            return Ok(None);
        };
        let mut nonce = [0; 12];
        self.random.fill(&mut nonce)?;
        body.reserve_exact(TAG_BYTES);
        cipher(&key)
            .seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), aad(id, place), body)
            .map_err(|_| Error::Random)?;
        Ok(Some(nonce))
    }

    /// Opens what [`Vault::seal`] sealed. `Ok(None)` if a slot of the path was overwritten.
    pub(crate) fn unseal(
        &self,
        path: KeyPath,
        id: Uuid,
        place: Uuid,
        nonce: [u8; 12],
        mut body: Vec<u8>,
    ) -> Result<Option<Result<Vec<u8>, Unsealable>>, Error> {
        let Some(key) = self.key(path, id)? else {
            return Ok(None);
        };
        let nonce = Nonce::assume_unique_for_key(nonce);
        let opened = match cipher(&key).open_in_place(nonce, aad(id, place), &mut body) {
            Ok(plain) => Ok(plain.len()),
            Err(_) => Err(Unsealable),
        };
        Ok(Some(opened.map(|length| {
            body.truncate(length);
            body
        })))
    }
}

fn cipher(key: &Key) -> LessSafeKey {
    // 32 bytes are the one length that this algorithm takes.
    LessSafeKey::new(UnboundKey::new(&CHACHA20_POLY1305, &key.0).expect("a key of 32 bytes"))
}

fn aad(id: Uuid, place: Uuid) -> Aad<[u8; 32]> {
    let mut out = [0; 32];
    out[..16].copy_from_slice(id.as_bytes());
    out[16..].copy_from_slice(place.as_bytes());
    Aad::from(out)
}
