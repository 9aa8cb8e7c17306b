//! Add an image that stands alone in its thread.

use memlog_events::{
    batch::Outcome,
    ids::{ImageId, Micros},
};

use super::{NewImage, Thread};
use crate::domain::{Answered, Command, Decision, Inputs, Place, Rejection};

/// Stores one image.
#[derive(Clone, PartialEq, Debug)]
pub struct AddImage {
    /// The image.
    pub image: NewImage,
    /// From when on it is unreachable.
    pub expires_at: Option<Micros>,
}

/// The image that was stored or changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ImageKept(pub ImageId);

impl Answered for ImageKept {
    fn outcome(&self) -> Outcome {
        Outcome { ids: vec![self.0.0], numbers: vec![10] }
    }

    fn from_outcome(outcome: &Outcome) -> Option<Self> {
        match (outcome.ids.as_slice(), outcome.numbers.as_slice()) {
            ([id], [10]) => Some(Self(ImageId(*id))),
            _ => None,
        }
    }
}

impl Command<Thread> for AddImage {
    type Answer = ImageKept;

    fn decide(&self, state: &Thread, place: &Place, inputs: &mut dyn Inputs) -> Result<Decision<ImageKept>, Rejection> {
        let stream_slot = state.slot.filter(|_| !state.deleted).ok_or(Rejection::Gone)?;
        let mut decision = Decision::nothing(());
        self.image.added(None, self.expires_at, stream_slot, place, inputs, &mut decision);
        let answer = ImageKept(self.image.image);
        let Decision { events, claims, listed, .. } = decision;
        Ok(Decision { events, claims, listed, answer })
    }
}

#[cfg(test)]
mod tests {
    use memlog_events::event::Facts;

    use super::*;
    use crate::domain::{record::Expire, testing::*, thread::Delete};

    #[test]
    fn it_is_said_and_stored_under_one_slot() {
        let mut given = Story::<Thread>::new();
        given.do_(ingest("trip", &["hello"]));
        let kept = given.do_(add_image(7));
        assert_eq!(given.names()[3..], ["image_added", "image_stored"]);
        let slots: Vec<_> = given
            .facts()
            .filter_map(|facts| match facts {
                Facts::ImageAdded(e) => Some(e.slot),
                Facts::ImageStored(e) => Some(e.slot),
                _ => None,
            })
            .collect();
        assert_eq!((slots.len(), slots[0]), (2, slots[1]));
        assert_eq!(given.state.images[&kept.0].message, None);
        assert_eq!(ImageKept::from_outcome(&kept.outcome()), Some(kept));
    }

    #[test]
    fn no_thread_no_image() {
        let mut given = Story::<Thread>::new();
        assert_eq!(given.try_(add_image(7)).expect_err("refused"), Rejection::Gone);
        given.do_(ingest("trip", &["hello"]));
        given.do_(Delete);
        assert_eq!(given.try_(add_image(7)).expect_err("refused"), Rejection::Gone);
    }

    #[test]
    fn when_its_time_is_over_its_slot_goes() {
        let mut given = Story::<Thread>::new();
        given.do_(ingest("trip", &["hello"]));
        let expires_at = Some(Micros(given.now().0 + 10));
        given.do_(AddImage { expires_at, ..add_image(7) });
        given.advance(10);
        given.do_(Expire(given.now()));
        assert_eq!((given.last().facts.name(), given.last().facts.erases().len()), ("image_deleted", 1));
        assert!(given.state.images.is_empty());
    }
}
