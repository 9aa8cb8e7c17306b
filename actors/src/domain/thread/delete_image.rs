//! Delete an image that stands alone: what is said about it and its bytes are gone for real, what they were before included.

use memlog_events::{batch::Outcome, event::ByV1, ids::ImageId};

use super::{Thread, image};
use crate::domain::{Answered, Command, Decision, Fact, Inputs, Place, Rejection, by_alone};

/// Deletes one image.
#[derive(Clone, PartialEq, Debug)]
pub struct DeleteImage {
    /// The image.
    pub image: ImageId,
    /// Who asks.
    pub by: ByV1,
}

/// Whether an image was there to be deleted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ImageDeleted(pub bool);

impl Answered for ImageDeleted {
    fn outcome(&self) -> Outcome {
        Outcome { ids: Vec::new(), numbers: vec![11, u64::from(self.0)] }
    }

    fn from_outcome(outcome: &Outcome) -> Option<Self> {
        match outcome.numbers.as_slice() {
            [11, deleted @ (0 | 1)] => Some(Self(*deleted == 1)),
            _ => None,
        }
    }
}

impl Command<Thread> for DeleteImage {
    type Answer = ImageDeleted;

    fn decide(
        &self,
        state: &Thread,
        place: &Place,
        inputs: &mut dyn Inputs,
    ) -> Result<Decision<ImageDeleted>, Rejection> {
        let stream_slot = state.slot.filter(|_| !state.deleted).ok_or(Rejection::Gone)?;
        let Some(image) = state.living_image(self.image, inputs.now()) else {
            return Ok(Decision::nothing(ImageDeleted(false)));
        };
        if let Some(message) = image.message {
            return Err(Rejection::Attached(message));
        }
        let gone = image::deleted(vec![(self.image, image.slot)]);
        let events = gone.map(|fact| Fact { content: by_alone(&self.by, place, stream_slot), ..fact });
        Ok(Decision::of(events.into_iter().collect(), ImageDeleted(true)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{
        record::{Forget, NewRecord, Remember},
        testing::*,
        thread::DeleteMessage,
    };

    #[test]
    fn deleted_once_and_not_twice() {
        let mut given = Story::<Thread>::new();
        given.do_(ingest("trip", &["hello"]));
        let image = given.do_(add_image(7)).0;
        assert_eq!(given.do_(DeleteImage { image, by: ByV1::default() }), ImageDeleted(true));
        assert_eq!(given.last().facts.erases().len(), 1);
        assert_eq!(given.do_(DeleteImage { image, by: ByV1::default() }), ImageDeleted(false));
        assert_eq!(ImageDeleted::from_outcome(&ImageDeleted(true).outcome()), Some(ImageDeleted(true)));
    }

    #[test]
    fn a_part_of_a_message_goes_with_the_message_alone() {
        let mut given = Story::<Thread>::new();
        let (message, image) = given_message_with_image(&mut given);
        assert_eq!(
            given.try_(DeleteImage { image, by: ByV1::default() }).expect_err("refused"),
            Rejection::Attached(message)
        );
        given.do_(DeleteMessage { message, cascade: true, by: ByV1::default() });
        assert!(given.state.images.is_empty());
    }

    // Forgetting a record takes the messages it was made from, and a message takes its images.
    #[test]
    fn what_is_forgotten_takes_the_images_of_its_messages() {
        let mut given = Story::<Thread>::new();
        let (message, _) = given_message_with_image(&mut given);
        let alone = given.do_(add_image(8)).0;
        let from = NewRecord { sources: vec![message], ..record("Has a cat") };
        let record = given.do_(Remember { open: None, record: from }).record;
        given.do_(Forget { record, holds: true, by: ByV1::default() });
        assert!(given.names().contains(&"image_deleted"));
        assert_eq!(given.state.images.keys().collect::<Vec<_>>(), [&alone]);
    }
}
