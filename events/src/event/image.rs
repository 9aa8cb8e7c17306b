//! What happens to images, which belong to a thread, alone or as parts of a message.
//!
//! An image's bytes are an event apart from what is said about it, so that whoever folds a thread need not read them.

use serde::{Deserialize, Serialize};

use super::ByV1;
use crate::{
    code::MimeCode,
    ids::{Digest, ImageId, MessageId, Micros, Slot},
};

/// `image_added`: an image exists; its bytes follow in `image_stored`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ImageAddedV1 {
    /// The image.
    pub image: ImageId,
    /// Its slot.
    pub slot: Slot,
    /// The message that it is a part of.
    pub message: Option<MessageId>,
    /// What it looks like.
    pub form: ImageFormV1,
    /// When it was taken, if the client told.
    pub timestamp: Option<Micros>,
    /// From when on it is unreachable.
    pub expires_at: Option<Micros>,
    /// Of the id that the client gave, if it gave one. Keyed by the profile's slot.
    pub id_digest: Option<Digest>,
}

/// What an image's bytes are.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ImageFormV1 {
    /// Its format.
    pub mime: MimeCode,
    /// Pixels.
    pub width: u32,
    /// Pixels.
    pub height: u32,
    /// How many bytes.
    pub bytes: u64,
}

/// What is said about an image.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ImageAddedContentV1 {
    /// What it shows.
    pub description: Option<String>,
    /// A JSON object as text.
    pub metadata: String,
    /// The id that the client gave.
    pub given_id: Option<String>,
    /// Who added it.
    pub by: ByV1,
}

/// `image_stored`: the bytes of an image, from here on.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ImageStoredV1 {
    /// The image.
    pub image: ImageId,
    /// Its slot.
    pub slot: Slot,
}

/// The bytes.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ImageStoredContentV1 {
    /// As they came.
    pub bytes: Vec<u8>,
    /// Who sent them.
    pub by: ByV1,
}

/// `image_updated`: what is said about an image (then that comes with the event), or only the rest, is another one from here on.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ImageUpdatedV1 {
    /// The image.
    pub image: ImageId,
    /// Its slot.
    pub slot: Slot,
    /// What it looks like.
    pub form: ImageFormV1,
    /// When it was taken, if the client told.
    pub timestamp: Option<Micros>,
    /// From when on it is unreachable.
    pub expires_at: Option<Micros>,
    /// What that was before.
    pub expires_before: Option<Micros>,
}

/// `image_deleted`: deleted, expired, or gone with its message; erases each slot.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ImageDeletedV1 {
    /// The images and their slots.
    pub images: Vec<(ImageId, Slot)>,
}
