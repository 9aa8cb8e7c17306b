//! From what a request brings to an image that is kept: base64, the bytes looked at, a caption if nobody said what it shows. And
//! back: the bytes of a stored image.

use std::sync::Arc;

use base64::{Engine, engine::general_purpose::STANDARD};
use memlog_events::{
    code::MimeCode,
    event::{Content, ImageAddedContentV1, ImageFormV1},
    ids::{ImageId, Micros, StreamKey},
    log::Sealed,
};
use tokio::time::Instant;

use super::{Here, messages::Bytes};
use crate::{
    api::{
        Context, Error,
        thread::{Mime, NewPart, Part, PartType},
    },
    domain::thread::NewImage,
    image::{self, Bounds, Fault},
    limits::{CAPTION_CHARS_MAX, CAPTIONS_WAIT_MAX, Limits},
    recall::one_line,
    system::{
        Inner, System,
        lookup::{broken, by, panicked},
        validate,
    },
    view::{catalog::Doc, indexed::words_of},
};

/// Pixels of one permit to decode.
const PERMIT_PIXELS: u64 = 1_024;

/// Permits for as many pixels as the largest image has: however many images come at once, they are not decoded at once.
pub(in crate::system) fn permits(limits: &Limits) -> tokio::sync::Semaphore {
    let most = usize::try_from(limits.image_pixels_max / PERMIT_PIXELS).unwrap_or(usize::MAX).saturating_add(1);
    tokio::sync::Semaphore::new(most.min(u32::MAX as usize).min(tokio::sync::Semaphore::MAX_PERMITS))
}

/// Until when the captions of one request are waited for; what has none by then is stored without.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience(Instant);

impl Patience {
    /// From now on.
    pub(super) fn begin() -> Self {
        Self(Instant::now() + CAPTIONS_WAIT_MAX)
    }
}

/// An image as a request brings it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Incoming<'a> {
    /// What stands before its fields in the request: nothing, or `messages[2].content[1].`.
    pub(super) at: &'a str,
    /// The field of its bytes: `image` or `bytes`.
    pub(super) field: &'a str,
    /// Its bytes.
    pub(super) base64: &'a str,
    /// What they are said to be.
    pub(super) mime: Option<Mime>,
    /// What it shows, if somebody said; a model is asked otherwise.
    pub(super) description: Option<&'a str>,
    /// How long the model is waited for.
    pub(super) patience: Patience,
}

/// What is said about an image besides.
#[derive(Clone, Debug, Default)]
pub(super) struct Besides {
    /// A JSON object as text; empty is none.
    pub(super) metadata: String,
    /// The id that the client gave.
    pub(super) given_id: Option<String>,
    /// When it was taken.
    pub(super) timestamp: Option<Micros>,
}

/// An image looked at.
#[derive(Clone, Debug)]
pub(super) struct Picture {
    /// What the bytes are.
    pub(super) form: ImageFormV1,
    /// The bytes.
    pub(super) bytes: Arc<[u8]>,
}

/// The wire's name for a code, and back.
pub(super) fn mime(code: MimeCode) -> Mime {
    match code {
        MimeCode::JPEG => Mime::Jpeg,
        MimeCode::WEBP => Mime::Webp,
        _ => Mime::Png,
    }
}

fn code(mime: Mime) -> MimeCode {
    match mime {
        Mime::Png => MimeCode::PNG,
        Mime::Jpeg => MimeCode::JPEG,
        Mime::Webp => MimeCode::WEBP,
    }
}

impl Incoming<'_> {
    fn refused(&self, fault: Fault) -> Error {
        let field = match fault {
            Fault::Mismatch(_) => format!("{}mime_type", self.at),
            _ => format!("{}{}", self.at, self.field),
        };
        match fault {
            Fault::Bytes(limit) => Error::past_limit(&field, limit, "bytes"),
            Fault::Pixels(limit) => Error::past_limit(&field, limit, "pixels, width times height"),
            fault => Error::invalid(&field, format!("{field} {fault}")),
        }
    }

    /// The description may be left out, but not empty.
    pub(super) fn check(&self) -> Result<(), Error> {
        let field = format!("{}description", self.at);
        self.description.map_or(Ok(()), |text| validate::content(&field, text))
    }
}

/// Decodes strictly: one text is one image, to the last bit. More than the bound is refused before it is decoded.
fn unpacked(base64: &str, bounds: Bounds) -> Result<Vec<u8>, Option<Fault>> {
    if (base64.len() as u64 / 4).saturating_mul(3) > bounds.bytes_max.saturating_add(2) {
        return Err(Some(Fault::Bytes(bounds.bytes_max)));
    }
    STANDARD.decode(base64).map_err(|_| None)
}

impl System {
    /// An image that is to be kept; its given id is claimed by whoever stores it.
    pub(super) async fn new_image(
        &self,
        context: &Context,
        image: ImageId,
        incoming: Incoming<'_>,
        besides: Besides,
    ) -> Result<NewImage, Error> {
        incoming.check()?;
        let picture = self.picture(incoming).await?;
        let description = match incoming.description {
            Some(text) => Some(text.to_owned()),
            None => self.caption(&picture, incoming.patience).await,
        };
        let metadata = if besides.metadata.is_empty() { "{}".to_owned() } else { besides.metadata };
        Ok(NewImage {
            image,
            form: picture.form,
            bytes: picture.bytes,
            content: ImageAddedContentV1 { description, metadata, given_id: besides.given_id, by: by(context) },
            timestamp: besides.timestamp,
        })
    }

    /// The image of a message's part; `field` is the part: `messages[2].content[1]`.
    pub(super) async fn image_part(
        &self,
        context: &Context,
        field: &str,
        id: ImageId,
        part: &NewPart,
        patience: Patience,
    ) -> Result<NewImage, Error> {
        let at = format!("{field}.");
        let incoming = Incoming {
            at: &at,
            field: "bytes",
            base64: part.bytes.as_deref().unwrap_or_default(),
            mime: part.mime_type,
            description: part.description.as_deref(),
            patience,
        };
        self.new_image(context, id, incoming, Besides::default()).await
    }

    /// An image among the parts of a message; none if it was erased meanwhile.
    pub(super) fn shown_image_part(&self, here: &Here, id: ImageId, bytes: &Bytes) -> Result<Option<Part>, Error> {
        let now = self.now();
        let found = here.seen.read(|state| {
            let doc = state.catalog.by_uuid(id.0)?;
            Some((state.catalog.visible(doc, now)?.clone(), state.catalog.client_id(id.0)))
        });
        let Some((it, shown_id)) = found else { return Ok(None) };
        let Some(form) = it.image.as_ref().map(|image| image.form) else { return Ok(None) };
        let wanted = match bytes {
            Bytes::None => false,
            Bytes::All => true,
            Bytes::Of(ids) => ids.contains(&shown_id),
        };
        let log = &self.inner.environment.log;
        let Some(event) = log.at(here.place.key, it.at).map_err(broken)? else { return Ok(None) };
        let Sealed::Open(content) = log.open_content(&event).map_err(broken)? else { return Ok(None) };
        let base64 = if wanted { self.inner.image_base64(here.place.key, &it)? } else { None };
        Ok(Some(Part {
            id: shown_id,
            part_type: PartType::Image,
            text: None,
            mime_type: Some(mime(form.mime)),
            description: Some(words_of(&content).map(str::to_owned)),
            bytes: base64,
        }))
    }

    /// Looks at the bytes, off the threads that answer.
    pub(super) async fn picture(&self, incoming: Incoming<'_>) -> Result<Picture, Error> {
        let limits = self.limits();
        let bounds = Bounds { bytes_max: limits.image_bytes_max, pixels_max: limits.image_pixels_max };
        let (text, claimed) = (incoming.base64.to_owned(), incoming.mime.map(code));
        let found = crate::blocking::run(move || {
            let bytes: Arc<[u8]> = unpacked(&text, bounds)?.into();
            let form = image::header(&bytes, claimed, bounds)?;
            Ok::<_, Option<Fault>>(Picture { form, bytes })
        });
        let refused = |fault: Option<Fault>| match fault {
            Some(fault) => incoming.refused(fault),
            None => {
                let field = format!("{}{}", incoming.at, incoming.field);
                Error::invalid(&field, format!("{field} is not base64 (RFC 4648, with padding)"))
            }
        };
        let picture = found.await.map_err(panicked)?.map_err(refused)?;
        let pixels = u64::from(picture.form.width) * u64::from(picture.form.height);
        let wanted = u32::try_from(pixels / PERMIT_PIXELS + 1).unwrap_or(u32::MAX);
        let _permit = self.inner.decoding.acquire_many(wanted).await.map_err(broken)?;
        let (bytes, form) = (Arc::clone(&picture.bytes), picture.form);
        let checked = crate::blocking::run(move || image::check(&bytes, form));
        checked.await.map_err(panicked)?.map_err(|fault| refused(Some(fault)))?;
        Ok(picture)
    }

    /// What a model sees in an image; none if there is no model, it fails, or it takes too long.
    pub(super) async fn caption(&self, picture: &Picture, patience: Patience) -> Option<String> {
        let narrator = Arc::clone(self.inner.narrator.as_ref()?);
        let (bytes, mime) = (Arc::clone(&picture.bytes), image::name(picture.form.mime));
        let left = patience.0.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())?;
        let asking = crate::blocking::run(move || narrator.caption(&bytes, mime, left));
        let told = match tokio::time::timeout_at(patience.0, asking).await.ok()?.ok()? {
            Ok(told) => told,
            Err(failed) => {
                tracing::debug!(%failed, "an image is stored without a caption");
                return None;
            }
        };
        let told = one_line(&told, CAPTION_CHARS_MAX);
        validate::content("description", &told).ok().map(|()| told)
    }
}

impl Inner {
    /// A stored image's bytes in base64; none if they are erased.
    pub(super) fn image_base64(&self, stream: StreamKey, it: &Doc) -> Result<Option<String>, Error> {
        Ok(self.image_bytes(stream, it)?.map(|bytes| STANDARD.encode(bytes)))
    }

    /// A stored image's bytes; none if they are erased.
    pub(super) fn image_bytes(&self, stream: StreamKey, it: &Doc) -> Result<Option<Vec<u8>>, Error> {
        let Some(image) = &it.image else { return Ok(None) };
        let log = &self.environment.log;
        let Some(event) = log.at(stream, image.stored_at).map_err(broken)? else { return Ok(None) };
        match log.open_content(&event).map_err(broken)? {
            Sealed::Open(Content::ImageStored(stored)) => Ok(Some(stored.bytes)),
            _ => Ok(None),
        }
    }
}
