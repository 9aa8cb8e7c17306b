//! Images of a thread as decisions see them, and how one comes to be.

use std::collections::BTreeMap;

use memlog_events::{
    batch::{Claim, Holder},
    event::{
        ByV1, Content, Facts, ImageAddedContentV1, ImageAddedV1, ImageDeletedV1, ImageFormV1, ImageStoredContentV1,
        ImageStoredV1,
    },
    ids::{ImageId, KeyPath, MessageId, Micros, Slot},
};
use serde::{Deserialize, Serialize};

use crate::domain::{Decision, Fact, Inputs, Place, record::id_digest};

/// An image as decisions see it.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct ImageState {
    /// Its slot.
    pub slot: Slot,
    /// The message that it is a part of.
    pub message: Option<MessageId>,
    /// What it looks like.
    pub form: ImageFormV1,
    /// When it was taken.
    pub timestamp: Option<Micros>,
    /// Unreachable from here on.
    pub expires_at: Option<Micros>,
}

/// Folds one event in; those of other families change nothing.
pub(super) fn evolve(images: &mut BTreeMap<ImageId, ImageState>, facts: &Facts) {
    match facts {
        Facts::ImageAdded(e) => {
            let ImageAddedV1 { slot, message, form, timestamp, expires_at, .. } = *e;
            images.insert(e.image, ImageState { slot, message, form, timestamp, expires_at });
        }
        Facts::ImageUpdated(e) => {
            if let Some(image) = images.get_mut(&e.image) {
                (image.form, image.timestamp, image.expires_at) = (e.form, e.timestamp, e.expires_at);
            }
        }
        Facts::ImageDeleted(e) => {
            for (image, _) in &e.images {
                images.remove(image);
            }
        }
        _ => {}
    }
}

/// An image that comes in, its bytes looked at already.
#[derive(Clone, PartialEq, Debug)]
pub struct NewImage {
    /// Its id, which a part of a message names.
    pub image: ImageId,
    /// What its bytes are.
    pub form: ImageFormV1,
    /// The bytes as they came.
    pub bytes: std::sync::Arc<[u8]>,
    /// What is said about it.
    pub content: ImageAddedContentV1,
    /// When it was taken.
    pub timestamp: Option<Micros>,
}

impl NewImage {
    /// The two events by which it comes to be, and the claim on its id if the client gave one.
    pub(crate) fn added(
        &self,
        message: Option<MessageId>,
        expires_at: Option<Micros>,
        stream_slot: Slot,
        place: &Place,
        inputs: &mut dyn Inputs,
        decision: &mut Decision<()>,
    ) {
        let (image, slot) = (self.image, inputs.slot());
        let keys = KeyPath { scope: place.scope_slot, stream: stream_slot, subject: slot };
        let id_digest = self.content.given_id.as_deref().map(|id| id_digest(place.scope_slot, id, inputs));
        if let Some(digest) = id_digest {
            decision.claims.push(Claim::Take(digest, Holder { stream: place.key, id: image.0, keys }));
        }
        let (form, timestamp) = (self.form, self.timestamp);
        let facts = ImageAddedV1 { image, slot, message, form, timestamp, expires_at, id_digest };
        let content = Some((Content::ImageAdded(self.content.clone()), keys));
        decision.events.push(Fact { facts: Facts::ImageAdded(facts), content });
        decision.events.push(stored(image, slot, &self.bytes, &self.content.by, keys));
    }
}

/// The event that holds an image's bytes.
pub(crate) fn stored(image: ImageId, slot: Slot, bytes: &[u8], by: &ByV1, keys: KeyPath) -> Fact {
    let content = Content::ImageStored(ImageStoredContentV1 { bytes: bytes.to_vec(), by: by.clone() });
    Fact { facts: Facts::ImageStored(ImageStoredV1 { image, slot }), content: Some((content, keys)) }
}

/// The event with which images go; none for none.
pub(crate) fn deleted(images: Vec<(ImageId, Slot)>) -> Option<Fact> {
    let fact = |images| Fact { facts: Facts::ImageDeleted(ImageDeletedV1 { images }), content: None };
    (!images.is_empty()).then(|| fact(images))
}
