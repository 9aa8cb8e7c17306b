//! Images: documents that are found by what is said about them.

use memlog_events::{
    event::{Content, ImageAddedContentV1, ImageAddedV1, ImageStoredV1, ImageUpdatedV1},
    ids::Version,
    log::Stored,
};

use super::{Catalog, Doc, Image, fold::Effect};
use crate::api::record::ItemType;

impl Catalog {
    pub(super) fn image_added(
        &mut self,
        event: &Stored,
        e: &ImageAddedV1,
        content: Option<Content>,
        thread: Option<u32>,
    ) -> Vec<Effect> {
        let Some(number) = thread else { return Vec::new() };
        let (erased, text, given, metadata) = match content {
            Some(Content::ImageAdded(ImageAddedContentV1 { description, metadata, given_id, .. })) => {
                (false, description, given_id, self.fields.get(&metadata))
            }
            _ => (true, None, None, None),
        };
        let (user, agent) = self.owners(thread, None, None);
        let ordinal = self.thread(number).map_or(0, |thread| thread.images.len() as u32);
        let doc = self.insert(Doc {
            id: e.image.0,
            given: given.map(Into::into),
            item: ItemType::Image,
            thread,
            ordinal,
            slot: e.slot,
            timestamp: e.timestamp,
            expires_at: e.expires_at,
            image: Some(Box::new(Image { form: e.form, message: e.message, stored_at: Version(0) })),
            user,
            agent,
            metadata,
            erased,
            ..Doc::at(event)
        });
        self.change_thread(thread, |thread| thread.images.push(Some(doc)));
        text.map(|text| Effect::Index(doc, text)).into_iter().collect()
    }

    pub(super) fn image_stored(&mut self, event: &Stored, e: &ImageStoredV1) {
        if let Some(image) = self.doc_mut(e.image.0).and_then(|(_, it)| it.image.as_mut()) {
            image.stored_at = event.head.version;
        }
    }

    pub(super) fn image_updated(
        &mut self,
        event: &Stored,
        e: &ImageUpdatedV1,
        content: Option<Content>,
    ) -> Vec<Effect> {
        let metadata = match &content {
            Some(Content::ImageUpdated(said)) => self.fields.get(&said.metadata),
            _ => None,
        };
        let Some((doc, it)) = self.doc_mut(e.image.0) else { return Vec::new() };
        (it.timestamp, it.expires_at) = (e.timestamp, e.expires_at);
        if let Some(image) = &mut it.image {
            image.form = e.form;
        }
        if let Some(Content::ImageUpdated(said)) = content {
            (it.at, it.damaged, it.metadata) = (event.head.version, false, metadata);
            return vec![Effect::Replace(doc, said.description)];
        }
        Vec::new()
    }

    /// The living images of a thread, in the order in which they were added.
    pub fn images_in(&self, thread: u32, now: memlog_events::ids::Micros) -> impl Iterator<Item = (u32, &Doc)> {
        let images = self.thread(thread).into_iter().flat_map(|thread| thread.images.iter().flatten().copied());
        images.filter_map(move |doc| Some((doc, self.visible(doc, now)?)))
    }
}
