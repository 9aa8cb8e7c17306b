//! Update an image: its bytes, what is said about it, or how long it lives, is another from here on. It stays the same image, and
//! what it was lies under the same slot, so that deleting it takes all of it.

use std::sync::Arc;

use memlog_events::{
    event::{ByV1, Content, Facts, ImageAddedContentV1, ImageFormV1, ImageUpdatedV1},
    ids::{ImageId, KeyPath, Micros},
};

use super::{ImageKept, Thread, image};
use crate::domain::{Command, Decision, Fact, Inputs, Place, Rejection, by_alone};

/// Changes one image; what is none stays.
#[derive(Clone, PartialEq, Debug)]
pub struct UpdateImage {
    /// The image.
    pub image: ImageId,
    /// Other bytes, looked at already.
    pub stored: Option<(ImageFormV1, Arc<[u8]>)>,
    /// All that is said about it now.
    pub said: Option<ImageAddedContentV1>,
    /// When it was taken; none within clears it.
    pub timestamp: Option<Option<Micros>>,
    /// From when on it is unreachable. Not of an image in a message, which lives as long as the message.
    pub expires_at: Option<Option<Micros>>,
    /// Who changes it.
    pub by: ByV1,
}

impl Command<Thread> for UpdateImage {
    type Answer = ImageKept;

    fn decide(&self, state: &Thread, place: &Place, inputs: &mut dyn Inputs) -> Result<Decision<ImageKept>, Rejection> {
        let stream_slot = state.slot.filter(|_| !state.deleted).ok_or(Rejection::Gone)?;
        let image = state.living_image(self.image, inputs.now()).ok_or(Rejection::NoImage)?;
        if let (Some(message), Some(_)) = (image.message, self.expires_at) {
            return Err(Rejection::Attached(message));
        }
        let keys = KeyPath { scope: place.scope_slot, stream: stream_slot, subject: image.slot };
        let answer = ImageKept(self.image);
        let nothing =
            self.stored.is_none() && self.said.is_none() && self.timestamp.is_none() && self.expires_at.is_none();
        if nothing {
            return Ok(Decision::nothing(answer));
        }
        let facts = ImageUpdatedV1 {
            image: self.image,
            slot: image.slot,
            form: self.stored.as_ref().map_or(image.form, |stored| stored.0),
            timestamp: self.timestamp.unwrap_or(image.timestamp),
            expires_at: self.expires_at.unwrap_or(image.expires_at),
            expires_before: image.expires_at,
        };
        let content = match &self.said {
            Some(said) => Some((Content::ImageUpdated(said.clone()), keys)),
            None => by_alone(&self.by, place, stream_slot),
        };
        let mut events = vec![Fact { facts: Facts::ImageUpdated(facts), content }];
        if let Some((_, bytes)) = &self.stored {
            events.push(image::stored(self.image, image.slot, bytes, &self.by, keys));
        }
        Ok(Decision::of(events, answer))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::testing::*;

    fn update(image: ImageId) -> UpdateImage {
        let by = ByV1::default();
        UpdateImage { image, stored: None, said: None, timestamp: None, expires_at: None, by }
    }

    #[test]
    fn only_what_is_named_changes() {
        let mut given = Story::<Thread>::new();
        given.do_(ingest("trip", &["hello"]));
        let image = given.do_(add_image(7)).0;
        let before = given.state.images[&image];
        given.do_(UpdateImage { timestamp: Some(Some(Micros(5))), ..update(image) });
        assert_eq!(given.state.images[&image], super::super::ImageState { timestamp: Some(Micros(5)), ..before });
        assert_eq!(given.last().facts.name(), "image_updated");
        let form = ImageFormV1 { width: 9, ..before.form };
        given.do_(UpdateImage { stored: Some((form, Arc::from([1_u8, 2]))), ..update(image) });
        assert_eq!((given.last().facts.name(), given.state.images[&image].form), ("image_stored", form));
        let events = given.names().len();
        given.do_(update(image));
        assert_eq!(given.names().len(), events);
    }

    // It would outlive its message, or the message would show a part that is gone.
    #[test]
    fn the_time_of_an_image_in_a_message_is_the_messages() {
        let mut given = Story::<Thread>::new();
        let (message, image) = given_message_with_image(&mut given);
        let moved = UpdateImage { expires_at: Some(None), ..update(image) };
        assert_eq!(given.try_(moved).expect_err("refused"), Rejection::Attached(message));
        given.do_(UpdateImage { timestamp: Some(None), ..update(image) });
    }

    #[test]
    fn what_has_expired_or_never_was_cannot_be_changed() {
        let mut given = Story::<Thread>::new();
        given.do_(ingest("trip", &["hello"]));
        let expires_at = Some(Micros(given.now().0 + 10));
        let image = given.do_(super::super::AddImage { expires_at, ..add_image(7) }).0;
        given.advance(10);
        let refused = given.try_(UpdateImage { expires_at: Some(None), ..update(image) });
        assert_eq!(refused.expect_err("refused"), Rejection::NoImage);
        assert_eq!(given.try_(update(ImageId(uuid::Uuid::nil()))).expect_err("refused"), Rejection::NoImage);
    }
}
