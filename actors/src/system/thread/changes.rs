//! `thread.update_message`, `thread.delete_message`.

use memlog_events::ids::{MessageId, RecordId};

use super::{
    Here,
    answer::Under,
    content,
    messages::{content_before, rewritten},
    no_thread,
    pictures::Patience,
    settings::{extraction_of, is_inline, retention},
    ttl::{Anchors, Ttl, checked, warnings},
};
use crate::{
    api::{
        Answer, Context, Error,
        thread::{DeleteMessage, MessageDeleted, MessageUpdated, UpdateMessage},
    },
    domain::{
        Rejection,
        thread::{self, Extraction, NewMessage},
    },
    entity::Failure,
    system::{
        System,
        command::{Before, Begun, Note, refused},
        lookup::{broken, by},
        validate,
    },
    view::indexed::content_of,
};

impl System {
    /// `thread.update_message`
    pub async fn thread_update_message(
        &self,
        context: &Context,
        request: UpdateMessage,
    ) -> Result<Answer<MessageUpdated>, Error> {
        validate::context(&self.inner, context)?;
        validate::profile(&request.profile)?;
        validate::id("thread_id", &request.thread_id)?;
        validate::id("message_id", &request.message_id)?;
        request.content.as_ref().map_or(Ok(()), |said| content::check("content", said, true))?;
        validate::metadata(request.metadata.as_ref())?;
        let ttl = Ttl { days: request.ttl_days, anchor: request.ttl_anchor };
        ttl.days.flatten().map(checked).transpose()?;
        let message_id = request.message_id.clone();
        let shown = |updated: &Under<thread::MessageUpdated>| MessageUpdated {
            message_id: message_id.clone(),
            job_id: updated.inner.job.map(|job| job.to_string()),
            warnings: warnings(ttl.days.flatten(), updated.longest),
        };
        let once = match self.begin::<Under<thread::MessageUpdated>>(context).await? {
            Begun::Before(Before { answer, .. }) => return Ok(Answer { reply: shown(&answer), replayed: true }),
            Begun::Now(once) => once,
        };
        let missing = || Error::not_found("message_id", &request.message_id);
        let found = self.in_thread(context, &request.profile, &request.thread_id).await?;
        let id = self.message_id(&found, &request.message_id).ok_or_else(missing)?;
        let _edit = self.inner.edits.enter(id.0).await;
        let here = self.here(found.profile, &request.thread_id, found.moment).await?;
        let settings = here.read(|_, thread| thread.settings.clone()).ok_or_else(|| no_thread(&request.thread_id))?;
        let retention = retention(&settings);
        let (before, kept) = self.message_before(&here, &request.message_id)?.ok_or_else(missing)?;
        let from = Anchors { created_at: before.created_at, timestamp: before.timestamp };
        let expires_at = ttl.of_old(&retention, from)?.unwrap_or(before.expires_at);
        let is_rewritten = request.content.is_some();
        let mut images = Vec::new();
        let mut now = kept;
        if let Some(content) = request.content {
            let said = self.said(context, "content", content, Patience::begin()).await?;
            (now.text, now.parts, images) = (said.text, said.parts, said.images);
        }
        if let Some(fields) = &request.metadata {
            now.metadata = validate::metadata(Some(fields))?;
        }
        now.by = by(context);
        let said = (is_rewritten || request.metadata.is_some()).then(|| NewMessage {
            images,
            expires_at,
            ..rewritten(&before, now)
        });
        let command = thread::UpdateMessage {
            message: id,
            said,
            rewritten: is_rewritten,
            expires_at,
            extract: extraction_of(&settings) != Extraction::Off,
            namespace_digest: self.inner.namespace(context),
            by: by(context),
        };
        let command = Under { inner: command, longest: retention.max_ttl_days };
        let updated = match self.inner.threads.execute(here.place, command, once.key).await {
            Ok(outcome) => outcome.answer,
            Err(Failure::Rejected(Rejection::NoMessage | Rejection::Gone)) => return Err(missing()),
            Err(failure) => return Err(refused(failure)),
        };
        self.wait_if_inline(&here.profile, is_inline(&settings), updated.inner.job).await;
        Ok(Answer::fresh(shown(&updated)))
    }

    fn message_id(&self, here: &Here, id: &str) -> Option<MessageId> {
        let doc = self.message_of(here, id)?;
        here.seen.read(|state| state.catalog.doc(doc).map(|it| MessageId(it.id)))
    }

    fn message_before(
        &self,
        here: &Here,
        id: &str,
    ) -> Result<Option<(crate::view::catalog::Doc, memlog_events::event::MessageAppendedContentV2)>, Error> {
        let Some(doc) = self.message_of(here, id) else { return Ok(None) };
        here.seen.read(|state| {
            let Some(it) = state.catalog.doc(doc) else { return Ok(None) };
            let log = &self.inner.environment.log;
            let content = content_of(log, &here.profile, &state.catalog, it).map_err(broken)?;
            Ok(content.as_ref().and_then(content_before).map(|said| (it.clone(), said)))
        })
    }

    /// `thread.delete_message`
    pub async fn thread_delete_message(
        &self,
        context: &Context,
        request: DeleteMessage,
    ) -> Result<Answer<MessageDeleted>, Error> {
        validate::context(&self.inner, context)?;
        validate::profile(&request.profile)?;
        validate::id("thread_id", &request.thread_id)?;
        validate::id("message_id", &request.message_id)?;
        let cascade = request.cascade.unwrap_or(true);
        if request.preview == Some(true) {
            let here = self.in_thread(context, &request.profile, &request.thread_id).await?;
            let memories_forgotten = self.would_go(&here, &request.message_id, cascade);
            return Ok(Answer::fresh(MessageDeleted { deleted: 0, memories_forgotten }));
        }
        // What goes with a message was made by an extraction, and has no id but its UUID.
        let shown = |gone: &thread::MessageDeleted| MessageDeleted {
            deleted: u64::from(gone.message.is_some()),
            memories_forgotten: gone.records.iter().map(RecordId::to_string).collect(),
        };
        let once = match self.begin::<thread::MessageDeleted>(context).await? {
            Begun::Before(Before { answer, .. }) => return Ok(Answer { reply: shown(&answer), replayed: true }),
            Begun::Now(once) => once,
        };
        let here = self.in_thread(context, &request.profile, &request.thread_id).await?;
        self.extracted_before_deleting(&here).await?;
        let nothing = thread::MessageDeleted { message: None, records: Vec::new() };
        let outcome = match self.message_id(&here, &request.message_id) {
            Some(message) => {
                let command = thread::DeleteMessage { message, cascade, by: by(context) };
                self.inner.threads.execute(here.place, command, once.key).await
            }
            None => self.inner.threads.execute(here.place, Note(nothing.clone()), once.key).await,
        };
        let gone = match outcome {
            Ok(outcome) => outcome.answer,
            Err(Failure::Rejected(Rejection::NoMessage)) => nothing,
            Err(Failure::Rejected(Rejection::Gone)) => return Err(no_thread(&request.thread_id)),
            Err(failure) => return Err(refused(failure)),
        };
        // It leaves the views before the reply does.
        self.views(here.profile).await?;
        Ok(Answer::fresh(shown(&gone)))
    }

    fn would_go(&self, here: &Here, id: &str, cascade: bool) -> Vec<String> {
        let Some(message) = self.message_id(here, id).filter(|_| cascade) else { return Vec::new() };
        let now = self.now();
        here.seen.read(|state| {
            let mut docs = state.catalog.made_from_alone(message, now);
            docs.sort_unstable();
            docs.iter().filter_map(|doc| Some(state.catalog.client_id(state.catalog.doc(*doc)?.id))).collect()
        })
    }
}
