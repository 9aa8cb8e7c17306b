//! What a message says, from the wire to what is kept of it: one text, or texts and images in order.

use memlog_events::{
    event::PartV1,
    ids::{ImageId, PartId},
};

use super::pictures::Patience;
use crate::{
    api::{
        Context, Error,
        thread::{Content, NewPart, PartType},
    },
    domain::thread::NewImage,
    limits::{CONTENT_BYTES_MAX, PARTS_MAX},
    system::{System, validate},
};

/// What is kept of a message's content.
#[derive(Clone, Debug, Default)]
pub(super) struct Said {
    /// The text; of parts, the text parts, a line each.
    pub(super) text: String,
    /// None if it is one text.
    pub(super) parts: Vec<PartV1>,
    /// The images among the parts.
    pub(super) images: Vec<NewImage>,
}

/// Refuses what is no content, before anything is looked up. `may_be_empty` is for a message that is emptied.
pub(super) fn check(field: &str, content: &Content<NewPart>, may_be_empty: bool) -> Result<(), Error> {
    let parts = match content {
        Content::Text(text) if may_be_empty && text.is_empty() => return Ok(()),
        Content::Text(text) => return validate::content(field, text),
        Content::Parts(parts) => parts,
    };
    if parts.is_empty() || parts.len() > PARTS_MAX {
        let message = format!("{field} must hold 1 to {PARTS_MAX} parts");
        return Err(Error::invalid(field, message).with("limit", PARTS_MAX));
    }
    let mut bytes = 0;
    for (at, part) in parts.iter().enumerate() {
        check_part(&format!("{field}[{at}]"), part)?;
        bytes += part.text.as_ref().map_or(0, String::len);
    }
    if bytes > CONTENT_BYTES_MAX { Err(Error::past_limit(field, CONTENT_BYTES_MAX as u64, "bytes")) } else { Ok(()) }
}

fn check_part(field: &str, part: &NewPart) -> Result<(), Error> {
    let named = |name: &str| format!("{field}.{name}");
    let missing = |name: &str| Error::invalid(&named(name), format!("{} is missing", named(name)));
    let foreign = |name: &str| {
        let kind = if part.part_type == PartType::Text { "a text" } else { "an image" };
        Error::invalid(&named(name), format!("{} does not belong to {kind}", named(name)))
    };
    match part.part_type {
        PartType::Text => {
            for (name, given) in [
                ("bytes", part.bytes.is_some()),
                ("mime_type", part.mime_type.is_some()),
                ("description", part.description.is_some()),
            ] {
                if given {
                    return Err(foreign(name));
                }
            }
            validate::content(&named("text"), part.text.as_deref().ok_or_else(|| missing("text"))?)
        }
        PartType::Image => {
            if part.text.is_some() {
                return Err(foreign("text"));
            }
            part.description.as_deref().map_or(Ok(()), |text| validate::content(&named("description"), text))?;
            part.bytes.as_ref().map(drop).ok_or_else(|| missing("bytes"))
        }
    }
}

impl System {
    /// Takes a content apart that was checked before.
    pub(super) async fn said(
        &self,
        context: &Context,
        field: &str,
        content: Content<NewPart>,
        patience: Patience,
    ) -> Result<Said, Error> {
        let parts = match content {
            Content::Text(text) => return Ok(Said { text, ..Said::default() }),
            Content::Parts(parts) => parts,
        };
        let (mut said, mut texts) = (Said::default(), Vec::new());
        for (at, part) in parts.into_iter().enumerate() {
            let id = self.inner.environment.uuid();
            let mut kept = PartV1 { part: PartId(id), text: None, image: None };
            match part.part_type {
                PartType::Text => {
                    texts.push(part.text.clone().unwrap_or_default());
                    kept.text = part.text;
                }
                PartType::Image => {
                    let field = format!("{field}[{at}]");
                    said.images.push(self.image_part(context, &field, ImageId(id), &part, patience).await?);
                    kept.image = Some(ImageId(id));
                }
            }
            said.parts.push(kept);
        }
        said.text = texts.join("\n");
        Ok(said)
    }
}
