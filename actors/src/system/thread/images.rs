//! `thread.add_image`, `thread.list_images`, `thread.update_image`, `thread.delete_image`.

use std::sync::Arc;

use memlog_events::{
    event::{Content, ImageAddedContentV1},
    ids::{ImageId, Micros},
    log::Sealed,
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
            AddImage, DeleteImage, DeletedOne, Image, ImageStored, Images, ListImages, RetentionSettings, Settings,
            TtlAnchor, UpdateImage,
        },
    },
    domain::{Rejection, thread as domain},
    entity::Failure,
    limits::PAGE_MAX,
    system::{
        System,
        command::{Begun, refused},
        filter,
        lookup::{broken, by, gone, panicked},
        validate,
    },
    view::{
        State,
        catalog::{self, Doc},
    },
};

/// All that the views know of an image.
struct Row {
    it: Doc,
    id: String,
    image: catalog::Image,
    message: Option<String>,
}

impl Row {
    fn of(state: &State, it: &Doc) -> Option<Self> {
        let image = **it.image.as_ref()?;
        let (id, message) = (state.catalog.client_id(it.id), image.message.map(|id| state.catalog.message_id(id)));
        Some(Self { it: it.clone(), id, image, message })
    }
}

/// An image as it is now, to be changed.
struct Found {
    image: ImageId,
    row: Row,
    said: ImageAddedContentV1,
}

impl System {
    /// `thread.add_image`
    pub async fn thread_add_image(&self, context: &Context, request: AddImage) -> Result<Answer<ImageStored>, Error> {
        validate::context(&self.inner, context)?;
        validate::profile(&request.profile)?;
        validate::id("thread_id", &request.thread_id)?;
        let given_id = request.image_id.clone();
        let ids = [("image_id", &given_id), ("user_id", &request.user_id), ("agent_id", &request.agent_id)];
        for (field, id) in ids {
            id.as_deref().map_or(Ok(()), |id| validate::id(field, id))?;
        }
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
        let _ids = match self.with_ids(&here.profile, given_id.as_deref()).await? {
            Ok(passes) => passes,
            Err(_) => return Err(Error::taken("image_id", given_id.unwrap_or_default())),
        };
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
        validate::metadata_filter(request.metadata_filter.as_ref())?;
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
        let rows: Vec<Row> = here.seen.read(|state| {
            let named = request.image_id.as_deref().map(|id| state.catalog.find(id));
            let wanted = |(doc, it): &(u32, &Doc)| {
                named.is_none_or(|named| named == Some(*doc))
                    && request.metadata_filter.as_ref().is_none_or(|by| filter::matches(by, it.metadata.as_deref()))
            };
            let found = state.catalog.images_in(here.number, now).filter(wanted).take(limit);
            found.filter_map(|(_, it)| Row::of(state, it)).collect()
        });
        // Read without holding the views, which others wait for.
        let system = self.clone();
        let reading = move || {
            let shown = rows.into_iter().map(|row| system.shown_image(&here, row, bytes));
            shown.filter_map(Result::transpose).collect::<Result<Vec<_>, _>>()
        };
        let images = crate::blocking::run(reading).await.map_err(panicked)??;
        Ok(Answer::fresh(Images { images }))
    }

    /// An image as clients see it; none if it was erased since the views were looked at.
    fn shown_image(&self, here: &Here, row: Row, bytes: bool) -> Result<Option<Image>, Error> {
        let Row { it, id, image, message } = row;
        let Some(said) = self.said_of(here, &it)? else { return Ok(None) };
        let base64 = if bytes { self.inner.image_base64(here.place.key, &it)? } else { None };
        if bytes && base64.is_none() {
            return Ok(None);
        }
        Ok(Some(Image {
            image_id: id,
            mime_type: mime(image.form.mime),
            description: said.description,
            width: image.form.width,
            height: image.form.height,
            size: image.form.bytes,
            metadata: it.metadata.as_deref().cloned().unwrap_or_default(),
            timestamp: it.when().into(),
            message_id: message,
            expires_at: it.expires_at.map(Into::into),
            image: base64,
        }))
    }

    /// What is said about an image, from the log; none if it is erased.
    fn said_of(&self, here: &Here, it: &Doc) -> Result<Option<ImageAddedContentV1>, Error> {
        let log = &self.inner.environment.log;
        let Some(event) = log.at(here.place.key, it.at).map_err(broken)? else { return Ok(None) };
        Ok(match log.open_content(&event).map_err(broken)? {
            Sealed::Open(Content::ImageAdded(said) | Content::ImageUpdated(said)) => Some(said),
            _ => None,
        })
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
        validate::metadata(request.metadata.as_ref())?;
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
        let expires_at = before.moved(&request, ttl, &retention)?;
        let picture = match &request.image {
            Some(_) => Some(self.picture(incoming).await?),
            None => None,
        };
        let said = self.said_now(context, &here, &request, &before, picture.as_ref(), patience).await?;
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
        let row = here.seen.read(|state| {
            let catalog = &state.catalog;
            catalog.by_uuid(image.0).and_then(|doc| catalog.doc(doc)).and_then(|it| Row::of(state, it))
        });
        let Some(row) = row else { return Ok(None) };
        let Some(said) = self.said_of(here, &row.it)? else { return Ok(None) };
        Ok(Some(Found { image, row, said }))
    }

    /// What is to be said about an image, if that changes. Its bytes are read only for a caption that a model is to write anew.
    async fn said_now(
        &self,
        context: &Context,
        here: &Here,
        request: &UpdateImage,
        before: &Found,
        picture: Option<&Picture>,
        patience: Patience,
    ) -> Result<Option<ImageAddedContentV1>, Error> {
        let metadata = request.metadata.as_ref().map(|fields| validate::metadata(Some(fields))).transpose()?;
        let description = match (&request.description, picture) {
            (None, _) => None,
            (Some(Some(text)), _) => Some(Some(text.clone())),
            (Some(None), Some(picture)) => Some(self.caption(picture, patience).await),
            (Some(None), None) => {
                let (inner, stream, it) = (Arc::clone(&self.inner), here.place.key, before.row.it.clone());
                let reading = crate::blocking::run(move || inner.image_bytes(stream, &it));
                let form = before.row.image.form;
                match reading.await.map_err(panicked)?? {
                    Some(bytes) => Some(self.caption(&Picture { form, bytes: Arc::from(bytes) }, patience).await),
                    None => Some(None),
                }
            }
        };
        let said = before.said.clone();
        Ok((description.is_some() || metadata.is_some()).then(|| ImageAddedContentV1 {
            description: description.unwrap_or(said.description),
            metadata: metadata.unwrap_or(said.metadata),
            given_id: said.given_id,
            by: by(context),
        }))
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
        match self.inner.threads.execute(here.place, domain::DeleteImage { image, by: by(context) }, once.key).await {
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

impl Found {
    /// From when on it is to be unreachable, if that changes; a request that does not fit the image is refused.
    fn moved(
        &self,
        request: &UpdateImage,
        ttl: Ttl,
        retention: &RetentionSettings,
    ) -> Result<Option<Option<Micros>>, Error> {
        if self.row.message.is_some() && ttl != Ttl::default() {
            let field = if request.ttl_days.is_some() { "ttl_days" } else { "ttl_anchor" };
            return Err(Error::invalid(field, "an image in a message lives as long as the message; change that"));
        }
        if request.image.is_none() && request.mime_type.is_some_and(|claimed| claimed != mime(self.row.image.form.mime))
        {
            return Err(Error::invalid("mime_type", "mime_type does not fit the bytes, which stay"));
        }
        let timestamp = request.timestamp.map_or(self.row.it.timestamp, |time| time.map(|time| time.0));
        ttl.of_old(retention, Anchors { created_at: self.row.it.created_at, timestamp })
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
