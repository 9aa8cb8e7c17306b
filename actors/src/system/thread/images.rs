//! `thread.add_image`, `thread.list_images`, `thread.update_image`, `thread.delete_image`.

use std::sync::Arc;

use memlog_events::{
    event::{Content, ImageAddedContentV1},
    ids::{ImageId, MessageId, Micros},
};

use super::{
    Here,
    answer::Under,
    no_thread,
    pictures::{Besides, Incoming, Patience, Picture, mime},
    settings::retention,
    ttl::{Anchors, Ttl, checked, warnings},
};
use crate::{
    api::{
        Answer, Context, Error,
        error::Kind,
        record::ItemType,
        thread::{
            AddImage, DeleteImage, DeletedOne, Image, ImageStored, Images, ListImages, Settings, TtlAnchor, UpdateImage,
        },
    },
    domain::{Rejection, thread as domain},
    entity::Failure,
    limits::PAGE_MAX,
    system::{
        System,
        command::{Begun, refused},
        filter,
        lookup::{broken, by, gone},
        validate,
    },
    view::{State, catalog::Doc, indexed::content_of},
};

/// An image as it is now, to be changed.
struct Found {
    image: ImageId,
    message: Option<MessageId>,
    picture: Picture,
    said: ImageAddedContentV1,
    timestamp: Option<Micros>,
    created_at: Micros,
}

impl System {
    /// `thread.add_image`
    pub async fn thread_add_image(&self, context: &Context, request: AddImage) -> Result<Answer<ImageStored>, Error> {
        validate::context(&self.inner, context)?;
        validate::profile(&request.profile)?;
        validate::id("thread_id", &request.thread_id)?;
        let given_id = request.image_id.clone();
        given_id.as_deref().map_or(Ok(()), |id| validate::id("image_id", id))?;
        let metadata = validate::metadata(request.metadata.as_ref())?;
        let timestamp = validate::time("timestamp", request.timestamp)?;
        let patience = Patience::begin();
        let incoming = Incoming {
            at: "",
            field: "image",
            base64: &request.image,
            mime: request.mime_type,
            description: request.description.as_deref(),
            patience,
        };
        incoming.check()?;
        let ttl = ttl_of(request.ttl_days, request.ttl_anchor)?;
        let given = given_id.clone();
        let shown = |kept: &Under<domain::ImageKept>| stored(given.clone(), kept, ttl);
        let once = match self.begin::<Under<domain::ImageKept>>(context).await? {
            Begun::Before(before) => return Ok(Answer { reply: shown(&before.answer), replayed: true }),
            Begun::Now(once) => once,
        };
        let here = self.in_thread(context, &request.profile, &request.thread_id).await?;
        let settings = settings_of(&here, &request.thread_id)?;
        assert_scope(&here, &request)?;
        let retention = retention(&settings);
        let expires_at = ttl.of_new(&retention, Anchors { created_at: self.now(), timestamp })?;
        let image = ImageId(self.inner.environment.uuid());
        let image = self.new_image(context, image, incoming, Besides { metadata, given_id, timestamp }).await?;
        let command = Under { inner: domain::AddImage { image, expires_at }, longest: retention.max_ttl_days };
        match self.inner.threads.execute(here.place, command, once.key).await {
            Ok(outcome) => Ok(Answer::fresh(shown(&outcome.answer))),
            Err(Failure::Taken(_)) => {
                self.inner.profile_alive(&here.profile)?;
                Err(Error::taken("image_id", given.clone().unwrap_or_default()))
            }
            Err(Failure::Rejected(Rejection::Gone)) => Err(no_thread(&request.thread_id)),
            Err(failure) => Err(refused(failure)),
        }
    }

    /// `thread.list_images`
    pub async fn thread_list_images(&self, context: &Context, request: ListImages) -> Result<Answer<Images>, Error> {
        request.image_id.as_deref().map_or(Ok(()), |id| validate::id("image_id", id))?;
        request.metadata_filter.as_ref().map_or(Ok(()), filter::check)?;
        let bytes = request.include_bytes.unwrap_or(false);
        if bytes && request.image_id.is_none() {
            return Err(Error::invalid("include_bytes", "include_bytes needs image_id: bytes are given one at a time"));
        }
        let limit = match request.limit {
            Some(None) => usize::MAX,
            Some(Some(limit)) => validate::within("limit", limit, 1, PAGE_MAX)?,
            None => validate::page(None)?,
        };
        let here = self.in_thread_at(context, &request.profile, &request.thread_id, request.as_of).await?;
        let now = self.now();
        here.seen.read(|state| {
            let named = request.image_id.as_deref().map(|id| state.catalog.find(id));
            let wanted = |(doc, it): &(u32, &Doc)| {
                named.is_none_or(|named| named == Some(*doc))
                    && request.metadata_filter.as_ref().is_none_or(|by| filter::matches(by, it.metadata.as_deref()))
            };
            let mut images = Vec::new();
            for (_, it) in state.catalog.images_in(here.number, now).filter(wanted) {
                if images.len() == limit {
                    break;
                }
                images.extend(self.shown_image(&here, state, it, bytes)?);
            }
            Ok(Answer::fresh(Images { images }))
        })
    }

    /// An image as clients see it; none if it was erased since the views were folded.
    fn shown_image(&self, here: &Here, state: &State, it: &Doc, bytes: bool) -> Result<Option<Image>, Error> {
        let Some(image) = &it.image else { return Ok(None) };
        let catalog = &state.catalog;
        let content = content_of(&self.inner.environment.log, &here.profile, catalog, it).map_err(broken)?;
        let Some(said) = content.and_then(said) else { return Ok(None) };
        let base64 = if bytes { self.inner.image_base64(here.place.key, it)? } else { None };
        if bytes && base64.is_none() {
            return Ok(None);
        }
        Ok(Some(Image {
            image_id: catalog.client_id(it.id),
            mime_type: mime(image.form.mime),
            description: said.description,
            width: image.form.width,
            height: image.form.height,
            size: image.form.bytes,
            metadata: it.metadata.as_deref().cloned().unwrap_or_default(),
            timestamp: it.when().into(),
            message_id: image.message.map(|message| catalog.message_id(message)),
            expires_at: it.expires_at.map(Into::into),
            image: base64,
        }))
    }

    /// `thread.update_image`
    pub async fn thread_update_image(
        &self,
        context: &Context,
        request: UpdateImage,
    ) -> Result<Answer<ImageStored>, Error> {
        validate::context(&self.inner, context)?;
        validate::profile(&request.profile)?;
        validate::id("thread_id", &request.thread_id)?;
        validate::id("image_id", &request.image_id)?;
        let metadata = request.metadata.as_ref().map(|fields| validate::metadata(Some(fields))).transpose()?;
        validate::time("timestamp", request.timestamp.flatten())?;
        let patience = Patience::begin();
        let incoming = Incoming {
            at: "",
            field: "image",
            base64: request.image.as_deref().unwrap_or_default(),
            mime: request.mime_type,
            description: request.description.as_ref().and_then(Option::as_deref),
            patience,
        };
        incoming.check()?;
        if request.image.is_some() && request.mime_type.is_none() {
            return Err(Error::invalid("mime_type", "mime_type must be given with other bytes"));
        }
        let ttl = ttl_of(request.ttl_days, request.ttl_anchor)?;
        let shown = |kept: &Under<domain::ImageKept>| stored(Some(request.image_id.clone()), kept, ttl);
        let once = match self.begin::<Under<domain::ImageKept>>(context).await? {
            Begun::Before(before) => return Ok(Answer { reply: shown(&before.answer), replayed: true }),
            Begun::Now(once) => once,
        };
        let missing = || Error::not_found("image_id", &request.image_id);
        let here = self.in_thread(context, &request.profile, &request.thread_id).await?;
        let image = self.image_here(&here, &request.image_id).ok_or_else(missing)?;
        // What it is now is read once nobody else is changing it.
        let _pass = self.inner.edits.enter(image.0).await;
        let here = self.in_thread(context, &request.profile, &request.thread_id).await?;
        let before = self.found_image(&here, &request.image_id)?.ok_or_else(missing)?;
        let retention = retention(&settings_of(&here, &request.thread_id)?);
        if before.message.is_some() && ttl != Ttl::default() {
            let field = if request.ttl_days.is_some() { "ttl_days" } else { "ttl_anchor" };
            return Err(Error::invalid(field, "an image in a message lives as long as the message; change that"));
        }
        let timestamp = request.timestamp.map_or(before.timestamp, |time| time.map(|time| time.0));
        let expires_at = ttl.of_old(&retention, Anchors { created_at: before.created_at, timestamp })?;
        if request.image.is_none() && request.mime_type.is_some_and(|claimed| claimed != mime(before.picture.form.mime))
        {
            return Err(Error::invalid("mime_type", "mime_type does not fit the bytes, which stay"));
        }
        let picture = match &request.image {
            Some(_) => Some(self.picture(incoming).await?),
            None => None,
        };
        let description = match &request.description {
            None => None,
            Some(Some(text)) => Some(Some(text.clone())),
            Some(None) => Some(self.caption(picture.as_ref().unwrap_or(&before.picture), patience).await),
        };
        let said = (description.is_some() || metadata.is_some()).then(|| ImageAddedContentV1 {
            description: description.unwrap_or(before.said.description),
            metadata: metadata.unwrap_or(before.said.metadata),
            given_id: before.said.given_id,
            by: by(context),
        });
        let command = domain::UpdateImage {
            image: before.image,
            stored: picture.map(|picture| (picture.form, picture.bytes)),
            said,
            timestamp: request.timestamp.map(|time| time.map(|time| time.0)),
            expires_at,
            by: by(context),
        };
        let command = Under { inner: command, longest: retention.max_ttl_days };
        match self.inner.threads.execute(here.place, command, once.key).await {
            Ok(outcome) => Ok(Answer::fresh(shown(&outcome.answer))),
            Err(Failure::Rejected(Rejection::NoImage)) => Err(missing()),
            Err(Failure::Rejected(Rejection::Gone)) => Err(no_thread(&request.thread_id)),
            Err(failure) => Err(refused(failure)),
        }
    }

    /// An image of this thread.
    fn image_here(&self, here: &Here, id: &str) -> Option<ImageId> {
        let now = self.now();
        here.seen.read(|state| {
            let it = state.catalog.visible(state.catalog.find(id)?, now)?;
            (it.item == ItemType::Image && it.thread == Some(here.number)).then_some(ImageId(it.id))
        })
    }

    fn found_image(&self, here: &Here, id: &str) -> Result<Option<Found>, Error> {
        let Some(image) = self.image_here(here, id) else { return Ok(None) };
        here.seen.read(|state| {
            let catalog = &state.catalog;
            let Some(it) = catalog.by_uuid(image.0).and_then(|doc| catalog.doc(doc)) else { return Ok(None) };
            let Some(kept) = it.image.as_deref().copied() else { return Ok(None) };
            let content = content_of(&self.inner.environment.log, &here.profile, catalog, it).map_err(broken)?;
            let Some(said) = content.and_then(said) else { return Ok(None) };
            let Some(bytes) = self.inner.image_bytes(here.place.key, it)? else { return Ok(None) };
            let picture = Picture { form: kept.form, bytes: Arc::from(bytes) };
            let (timestamp, created_at) = (it.timestamp, it.created_at);
            Ok(Some(Found { image, message: kept.message, picture, said, timestamp, created_at }))
        })
    }

    /// `thread.delete_image`
    pub async fn thread_delete_image(
        &self,
        context: &Context,
        request: DeleteImage,
    ) -> Result<Answer<DeletedOne>, Error> {
        validate::context(&self.inner, context)?;
        validate::profile(&request.profile)?;
        validate::id("thread_id", &request.thread_id)?;
        validate::id("image_id", &request.image_id)?;
        let reply = |domain::ImageDeleted(deleted)| DeletedOne { deleted: deleted.into() };
        let once = match self.begin::<domain::ImageDeleted>(context).await? {
            Begun::Before(before) => return Ok(Answer { reply: reply(before.answer), replayed: true }),
            Begun::Now(once) => once,
        };
        let here = self.in_thread(context, &request.profile, &request.thread_id).await?;
        // One that is not there is deleted by nobody, and a repeat of the command hears so again.
        let image = self.image_here(&here, &request.image_id).unwrap_or(ImageId(uuid::Uuid::nil()));
        let _pass = self.inner.edits.enter(image.0).await;
        match self.inner.threads.execute(here.place, domain::DeleteImage { image }, once.key).await {
            Ok(outcome) => {
                // It leaves the views before the reply does.
                self.views(here.profile).await?;
                Ok(Answer::fresh(reply(outcome.answer)))
            }
            Err(Failure::Rejected(Rejection::Attached(message))) => {
                let message = here.seen.read(|state| state.catalog.message_id(message));
                let told = "the image is part of a message; change or delete that";
                Err(Error::new(Kind::Conflict, told).with("attached_to", message))
            }
            Err(Failure::Rejected(Rejection::Gone)) => Err(no_thread(&request.thread_id)),
            Err(failure) => Err(refused(failure)),
        }
    }
}

/// What a content says about an image.
fn said(content: Content) -> Option<ImageAddedContentV1> {
    match content {
        Content::ImageAdded(said) | Content::ImageUpdated(said) => Some(said),
        _ => None,
    }
}

fn settings_of(here: &Here, thread_id: &str) -> Result<Settings, Error> {
    here.read(|_, thread| thread.settings.clone()).ok_or_else(|| no_thread(thread_id))
}

/// Owners that are named must be the thread's.
fn assert_scope(here: &Here, request: &AddImage) -> Result<(), Error> {
    let owners = here.read(|_, thread| (thread.user_id.clone(), thread.agent_id.clone())).ok_or_else(gone)?;
    for (field, asserted, owner) in [("user_id", &request.user_id, owners.0), ("agent_id", &request.agent_id, owners.1)]
    {
        if asserted.is_some() && *asserted != owner {
            return Err(Error::invalid(field, format!("{field} is not the thread's")));
        }
    }
    Ok(())
}

fn ttl_of(days: Option<Option<f64>>, anchor: Option<TtlAnchor>) -> Result<Ttl, Error> {
    days.flatten().map(checked).transpose()?;
    Ok(Ttl { days, anchor })
}

/// What the client hears, now or when the command is repeated.
fn stored(given: Option<String>, kept: &Under<domain::ImageKept>, ttl: Ttl) -> ImageStored {
    let image_id = given.unwrap_or_else(|| kept.inner.0.to_string());
    ImageStored { image_id, warnings: warnings(ttl.days.flatten(), kept.longest) }
}
