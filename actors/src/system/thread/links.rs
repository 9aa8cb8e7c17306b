//! `thread.link_records`, `thread.update_record_link`, `thread.delete_record_link`, `thread.list_record_links`.

use memlog_events::{
    code::LinkCode,
    event::{Content, LinkedContentV1},
    ids::{RecordId, RelationId, StreamKey},
    log::Sealed,
};
use serde_json::{Map, Value};
use uuid::Uuid;

use super::{
    Here,
    answer::{Count, Counted},
    no_thread,
};
use crate::{
    api::{
        Answer, Context, Error,
        record::ItemType,
        thread::{
            DeleteRecordLink, DeletedOne, Direction, LinkRecords, LinkUpdated, LinkedRecords, ListRecordLinks,
            RecordLink, RecordLinks, UpdateRecordLink,
        },
    },
    domain::{
        Rejection,
        record::{self, NewLink},
    },
    entity::Failure,
    limits::LABEL_CHARS_MAX,
    system::{
        System,
        command::{Before, Begun, Note, refused},
        lookup::{broken, by},
        past::Moment,
        validate,
    },
    view::catalog::{BUILT_IN, Relation},
};

/// What a label means, and the words that are kept of it.
pub(super) fn words(
    context: &Context,
    field: &str,
    label: &str,
    opposite: Option<&str>,
    given_id: &Option<String>,
    metadata: &Option<Map<String, Value>>,
) -> Result<(LinkCode, LinkedContentV1), Error> {
    validate::name(field, label, LABEL_CHARS_MAX)?;
    let built_in = BUILT_IN.iter().find(|(_, name, _)| *name == label).map(|(link, ..)| *link);
    if let Some(opposite) = opposite {
        refuse_on_built_in(built_in)?;
        validate::name("opposite_relation_type", opposite, LABEL_CHARS_MAX)?;
    }
    let words = LinkedContentV1 {
        label: built_in.is_none().then(|| label.to_owned()),
        opposite: opposite.map(str::to_owned),
        metadata: validate::metadata(metadata.as_ref())?,
        given_id: given_id.clone(),
        by: by(context),
    };
    Ok((built_in.unwrap_or(LinkCode::CUSTOM), words))
}

fn refuse_on_built_in(built_in: Option<LinkCode>) -> Result<(), Error> {
    match built_in {
        Some(_) => {
            let message = "a built-in relation_type has an opposite label of its own";
            Err(Error::invalid("opposite_relation_type", message))
        }
        None => Ok(()),
    }
}

impl System {
    /// `thread.link_records`
    pub async fn thread_link_records(
        &self,
        context: &Context,
        request: LinkRecords,
    ) -> Result<Answer<LinkedRecords>, Error> {
        validate::context(&self.inner, context)?;
        validate::profile(&request.profile)?;
        validate::id("thread_id", &request.thread_id)?;
        for (field, id) in [
            ("source_record_id", Some(&request.source_record_id)),
            ("target_record_id", Some(&request.target_record_id)),
            ("relation_id", request.relation_id.as_ref()),
        ] {
            id.map_or(Ok(()), |id| validate::id(field, id))?;
        }
        let timestamp = validate::time("timestamp", request.timestamp)?;
        let opposite = request.opposite_relation_type.as_deref();
        let label = &request.relation_type;
        let (link, words) = words(context, "relation_type", label, opposite, &request.relation_id, &request.metadata)?;
        let shown = |id: RelationId| {
            let relation_id = request.relation_id.clone().unwrap_or_else(|| id.to_string());
            LinkedRecords { relation_id }
        };
        let once = match self.begin::<RelationId>(context).await? {
            Begun::Before(Before { answer, .. }) => return Ok(Answer { reply: shown(answer), replayed: true }),
            Begun::Now(once) => once,
        };
        let here = self.in_thread(context, &request.profile, &request.thread_id).await?;
        let source = self.end_of(&here, "source", &request.source_record_id, request.source_record_type)?;
        let target = self.end_of(&here, "target", &request.target_record_id, request.target_record_type)?;
        let asked = [request.relation_id.as_deref()];
        let _ids = match self.with_ids(&here.profile, asked.into_iter().flatten()).await? {
            Ok(passes) => passes,
            Err(holder) => return Err(self.taken(&here, holder, &asked).await?),
        };
        let command = record::Link { source, link: NewLink { target, link, timestamp, words } };
        match self.inner.threads.execute(here.place, command, once.key).await {
            Ok(outcome) => Ok(Answer::fresh(shown(outcome.answer))),
            Err(Failure::Rejected(Rejection::AlreadyLinked(id))) => Err(self.already_linked(&here, id).await?),
            Err(Failure::Rejected(Rejection::Gone)) => Err(no_thread(&request.thread_id)),
            Err(Failure::Rejected(Rejection::NoRecord)) => {
                Err(Error::not_found("source_record_id", &request.source_record_id))
            }
            Err(Failure::Taken(holder)) => Err(self.taken(&here, holder.id, &asked).await?),
            Err(failure) => Err(refused(failure)),
        }
    }

    /// An end of a link: a record of this very thread, of the type that the client takes it for.
    fn end_of(&self, here: &Here, end: &str, id: &str, record_type: ItemType) -> Result<RecordId, Error> {
        let (id_field, type_field) = (format!("{end}_record_id"), format!("{end}_record_type"));
        let missing = || Error::not_found(&id_field, id);
        let doc = self.record_of(here, id).ok_or_else(missing)?;
        let (found, item) =
            here.seen.read(|state| state.catalog.doc(doc).map(|it| (RecordId(it.id), it.item))).ok_or_else(missing)?;
        if item != record_type {
            return Err(Error::invalid(&type_field, format!("{type_field} is not what {id_field} is")));
        }
        Ok(found)
    }

    async fn already_linked(&self, here: &Here, id: RelationId) -> Result<Error, Error> {
        let views = self.views(here.profile).await?;
        let known = views.read().catalog.relation_id(id);
        Ok(Error::new(crate::api::error::Kind::Conflict, "the records are linked already, this way or the other")
            .with("existing_id", known))
    }

    /// 409 with the id as clients know it, of whatever holds it.
    pub(super) async fn taken(&self, here: &Here, id: Uuid, asked: &[Option<&str>]) -> Result<Error, Error> {
        let views = self.views(here.profile).await?;
        let state = views.read();
        if state.catalog.by_uuid(id).is_some() {
            return Ok(Error::taken("id", state.catalog.client_id(id)));
        }
        if state.catalog.relation(RelationId(id)).is_some() {
            return Ok(Error::taken("relation_id", state.catalog.relation_id(RelationId(id))));
        }
        // Nobody's that is stored: the request names one id twice.
        let twice = asked.iter().flatten().next();
        Ok(Error::taken("id", twice.map_or_else(|| id.to_string(), |id| (*id).to_owned())))
    }

    /// `thread.update_record_link`
    pub async fn thread_update_record_link(
        &self,
        context: &Context,
        request: UpdateRecordLink,
    ) -> Result<Answer<LinkUpdated>, Error> {
        validate::context(&self.inner, context)?;
        validate::profile(&request.profile)?;
        validate::id("thread_id", &request.thread_id)?;
        validate::id("relation_id", &request.relation_id)?;
        for (field, label) in
            [("relation_type", &request.relation_type), ("opposite_relation_type", &request.opposite_relation_type)]
        {
            label.as_deref().map_or(Ok(()), |label| validate::name(field, label, LABEL_CHARS_MAX))?;
        }
        validate::metadata(request.metadata.as_ref())?;
        validate::time("timestamp", request.timestamp.flatten())?;
        let shown = |count: Count| LinkUpdated { updated: count.0 };
        let once = match self.begin::<Count>(context).await? {
            Begun::Before(Before { answer, .. }) => return Ok(Answer { reply: shown(answer), replayed: true }),
            Begun::Now(once) => once,
        };
        let found = self.in_thread(context, &request.profile, &request.thread_id).await?;
        let outcome = match self.link_of(&found, &request.relation_id) {
            None => self.inner.threads.execute(found.place, Note(Count(0)), once.key).await,
            Some((id, _)) => {
                let _edit = self.inner.edits.enter(id.0).await;
                let here = self.here(found.profile, &request.thread_id, Moment::Now).await?;
                match self.link_of(&here, &request.relation_id) {
                    None => self.inner.threads.execute(here.place, Note(Count(0)), once.key).await,
                    Some((id, link)) => {
                        let command = Counted(self.relink(context, &request, id, &link, &here)?);
                        self.inner.threads.execute(here.place, command, once.key).await
                    }
                }
            }
        };
        match outcome {
            Ok(outcome) => Ok(Answer::fresh(shown(outcome.answer))),
            Err(Failure::Rejected(Rejection::AlreadyLinked(id))) => Err(self.already_linked(&found, id).await?),
            Err(Failure::Taken(holder)) => Err(self.already_linked(&found, RelationId(holder.id)).await?),
            Err(failure) => Err(refused(failure)),
        }
    }

    /// What the link is to say: what is left out stays, and a built-in type brings its own opposite along.
    fn relink(
        &self,
        context: &Context,
        request: &UpdateRecordLink,
        id: RelationId,
        link: &Relation,
        here: &Here,
    ) -> Result<record::Relink, Error> {
        let words_before = self.words_of_link(here, link)?.unwrap_or_else(|| LinkedContentV1 {
            label: None,
            opposite: None,
            metadata: "{}".to_owned(),
            given_id: None,
            by: by(context),
        });
        let label = request.relation_type.clone().unwrap_or_else(|| link.label_from(link.source).to_owned());
        let built_in = BUILT_IN.iter().find(|(_, name, _)| *name == label).map(|(code, ..)| *code);
        let opposite = match &request.opposite_relation_type {
            Some(given) => {
                refuse_on_built_in(built_in)?;
                Some(given.clone())
            }
            None => built_in.is_none().then(|| link.label_from(link.target).to_owned()),
        };
        let metadata = match &request.metadata {
            Some(fields) => validate::metadata(Some(fields))?,
            None => words_before.metadata.clone(),
        };
        let words = LinkedContentV1 {
            label: built_in.is_none().then_some(label),
            opposite,
            metadata,
            given_id: words_before.given_id.clone(),
            by: by(context),
        };
        let timestamp = request.timestamp.map_or(link.timestamp, |given| given.map(|time| time.0));
        let link = built_in.unwrap_or(LinkCode::CUSTOM);
        Ok(record::Relink { relation: id, link, timestamp, words_before, words })
    }

    /// A link of this very thread by the id that clients use.
    fn link_of(&self, here: &Here, id: &str) -> Option<(RelationId, Relation)> {
        let now = self.now();
        here.seen.read(|state| {
            let (id, link) = state.catalog.find_relation(id)?;
            // One end of which has expired is gone, too, whether or not it is erased yet.
            let there = |end: RecordId| {
                state.catalog.by_uuid(end.0).is_some_and(|doc| state.catalog.visible(doc, now).is_some())
            };
            (link.stream == here.place.key.stream && there(link.source) && there(link.target))
                .then(|| (id, link.clone()))
        })
    }

    fn words_of_link(&self, here: &Here, link: &Relation) -> Result<Option<LinkedContentV1>, Error> {
        let log = &self.inner.environment.log;
        let key = StreamKey { stream: link.stream, ..here.profile.key };
        let Some(event) = log.at(key, link.at).map_err(broken)? else { return Ok(None) };
        Ok(match log.open_content(&event).map_err(broken)? {
            Sealed::Open(Content::Linked(words) | Content::Relinked(words)) => Some(words),
            _ => None,
        })
    }

    /// `thread.delete_record_link`
    pub async fn thread_delete_record_link(
        &self,
        context: &Context,
        request: DeleteRecordLink,
    ) -> Result<Answer<DeletedOne>, Error> {
        validate::context(&self.inner, context)?;
        validate::profile(&request.profile)?;
        validate::id("thread_id", &request.thread_id)?;
        check_selector(&request)?;
        let shown = |count: Count| DeletedOne { deleted: count.0 };
        let once = match self.begin::<Count>(context).await? {
            Begun::Before(Before { answer, .. }) => return Ok(Answer { reply: shown(answer), replayed: true }),
            Begun::Now(once) => once,
        };
        let here = self.in_thread(context, &request.profile, &request.thread_id).await?;
        let found = match &request.relation_id {
            Some(id) => self.link_of(&here, id).map(|(id, _)| id),
            None => self.link_between(&here, &request),
        };
        let outcome = match found {
            Some(relation) => {
                let command = Counted(record::Unlink { relation, by: by(context) });
                self.inner.threads.execute(here.place, command, once.key).await
            }
            None => self.inner.threads.execute(here.place, Note(Count(0)), once.key).await,
        };
        let count = match outcome {
            Ok(outcome) => outcome.answer,
            Err(Failure::Rejected(Rejection::Gone)) => return Err(no_thread(&request.thread_id)),
            Err(failure) => return Err(refused(failure)),
        };
        self.views(here.profile).await?;
        Ok(Answer::fresh(shown(count)))
    }

    /// The link that has all five of what the request names, as it is stored.
    fn link_between(&self, here: &Here, request: &DeleteRecordLink) -> Option<RelationId> {
        let source = self.record_of(here, request.source_record_id.as_deref()?)?;
        let target = self.record_of(here, request.target_record_id.as_deref()?)?;
        let now = self.now();
        here.seen.read(|state| {
            let (source, target) = (state.catalog.doc(source)?, state.catalog.doc(target)?);
            if (Some(source.item), Some(target.item)) != (request.source_record_type, request.target_record_type) {
                return None;
            }
            let links = state.catalog.links_at(RecordId(source.id), now).into_iter();
            let wanted = |link: &Relation| {
                let ends = (link.source.0, link.target.0) == (source.id, target.id);
                ends && request.relation_type.as_deref() == Some(link.label_from(link.source))
            };
            links.filter(|(_, link)| wanted(link)).map(|(id, _)| id).next()
        })
    }

    /// `thread.list_record_links`
    pub async fn thread_list_record_links(
        &self,
        context: &Context,
        request: ListRecordLinks,
    ) -> Result<Answer<RecordLinks>, Error> {
        validate::id("record_id", &request.record_id)?;
        let here = self.in_thread_at(context, &request.profile, &request.thread_id, request.as_of).await?;
        let missing = || Error::not_found("record_id", &request.record_id);
        let doc = self.record_of(&here, &request.record_id).ok_or_else(missing)?;
        let now = self.now();
        let found = here.seen.read(|state| {
            let record = RecordId(state.catalog.doc(doc)?.id);
            let links = state.catalog.links_at(record, now).into_iter();
            let shown = |(id, link): (RelationId, &Relation)| {
                let end = |id: RecordId| {
                    let it = state.catalog.doc(state.catalog.by_uuid(id.0)?)?;
                    Some((state.catalog.client_id(id.0), it.item))
                };
                let (source, target) = (end(link.source)?, end(link.target)?);
                let outgoing = link.source == record;
                let shown = RecordLink {
                    relation_id: state.catalog.relation_id(id),
                    relation_type: link.label_from(record).to_owned(),
                    direction: if outgoing { Direction::Outgoing } else { Direction::Incoming },
                    source_record_id: source.0,
                    source_record_type: source.1,
                    target_record_id: target.0,
                    target_record_type: target.1,
                    metadata: Map::new(),
                    timestamp: link.timestamp.map(Into::into),
                };
                Some((shown, link.clone()))
            };
            Some(links.filter_map(shown).collect::<Vec<_>>())
        });
        let mut links = Vec::new();
        for (mut shown, link) in found.ok_or_else(missing)? {
            // Unlinked meanwhile: its words are gone, and so is it.
            let Some(words) = self.words_of_link(&here, &link)? else { continue };
            shown.metadata = serde_json::from_str(&words.metadata).unwrap_or_default();
            links.push(shown);
        }
        Ok(Answer::fresh(RecordLinks { links }))
    }
}

fn check_selector(request: &DeleteRecordLink) -> Result<(), Error> {
    let ids = [
        ("relation_id", &request.relation_id),
        ("source_record_id", &request.source_record_id),
        ("target_record_id", &request.target_record_id),
    ];
    for (field, id) in ids {
        id.as_deref().map_or(Ok(()), |id| validate::id(field, id))?;
    }
    let label = request.relation_type.as_deref();
    label.map_or(Ok(()), |label| validate::name("relation_type", label, LABEL_CHARS_MAX))?;
    let tuple = [
        ("source_record_id", request.source_record_id.is_some()),
        ("source_record_type", request.source_record_type.is_some()),
        ("target_record_id", request.target_record_id.is_some()),
        ("target_record_type", request.target_record_type.is_some()),
        ("relation_type", request.relation_type.is_some()),
    ];
    let alone = request.relation_id.is_some();
    match tuple.iter().find(|(_, given)| *given == alone) {
        Some((field, true)) => Err(Error::invalid(field, format!("{field} and relation_id exclude each other"))),
        Some((field, false)) => Err(Error::invalid(
            field,
            format!("{field} is missing: name relation_id, or both ends, their types and relation_type"),
        )),
        None => Ok(()),
    }
}
