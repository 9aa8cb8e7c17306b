//! From a document of the catalog to what a client sees: the content is read from the log only here.

use std::collections::HashMap;

use memlog_events::{
    event::Content,
    ids::{Micros, RecordId},
    log,
};
use serde_json::Map;
use uuid::Uuid;

use super::{System, lookup::broken};
use crate::{
    api::{
        Error,
        record::{ItemType, Record, Status},
    },
    domain::Place,
    recall::{Hit, one_line},
    view::{
        State,
        catalog::Doc,
        indexed::{each_of, saved, words_of},
    },
};

/// How much of a record is shown, and what becomes of one whose words are damaged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Shown {
    /// Its summary alone, in lists; a damaged one has none.
    WithoutContent,
    /// All of it; a damaged one is an error to whoever asks for it.
    WithContent,
    /// All that can be read: for lists of whole records, and for what is done to one.
    DespiteDamage,
    /// All of it; a question is answered without the damaged ones.
    Undamaged,
}

/// Characters of a message shown as its summary.
const SUMMARY_CHARS: usize = 120;

impl System {
    /// A document as clients see it; none if it is not there for a reader, or was erased since the views were folded.
    pub(crate) fn record(
        &self,
        place: &Place,
        state: &State,
        doc: u32,
        shown: Shown,
        now: Micros,
    ) -> Result<Option<Record>, Error> {
        Ok(self.records(place, state, &[doc], shown, now)?.pop().map(|(_, record)| record))
    }

    /// Those of the documents that are there for a reader now, each with its record.
    pub(crate) fn records(
        &self,
        place: &Place,
        state: &State,
        docs: &[u32],
        shown: Shown,
        now: Micros,
    ) -> Result<Vec<(u32, Record)>, Error> {
        let seen = docs.iter().filter_map(|doc| Some((*doc, state.catalog.visible(*doc, now)?)));
        let (docs, rows): (Vec<u32>, Vec<&Doc>) = seen.unzip();
        let contents = each_of(&self.inner.environment.log, place, &state.catalog, &rows).map_err(broken)?;
        let record = |((doc, it), content): ((u32, &Doc), Result<Option<Content>, log::Error>)| {
            let mut record = bare(state, doc, it, now);
            let content = match (content, shown) {
                (Ok(content), _) => content?,
                (Err(error), Shown::WithContent) => return Some(Err(broken(error))),
                (Err(_), Shown::Undamaged) => return None,
                (Err(_), Shown::WithoutContent) => return Some(Ok((doc, record))),
                (Err(_), Shown::DespiteDamage) => {
                    record.content = Some(None);
                    return Some(Ok((doc, record)));
                }
            };
            let words = words_of(&content).map(str::to_owned);
            record.summary = match saved(&content) {
                Some(saved) => Some(saved.summary.clone()),
                None => words.as_deref().map(|words| one_line(words, SUMMARY_CHARS)),
            };
            if shown != Shown::WithoutContent {
                record.content = Some(words);
            }
            Some(Ok((doc, record)))
        };
        docs.into_iter().zip(rows).zip(contents).filter_map(record).collect()
    }

    /// The records behind hits, each with its score.
    pub(super) fn behind(
        &self,
        place: &Place,
        state: &State,
        hits: &[Hit],
        now: Micros,
    ) -> Result<Vec<(u32, Record)>, Error> {
        let docs: Vec<u32> = hits.iter().map(|hit| hit.doc).collect();
        let scores: HashMap<u32, f32> = hits.iter().map(|hit| (hit.doc, hit.score)).collect();
        let mut records = self.records(place, state, &docs, Shown::Undamaged, now)?;
        records.iter_mut().for_each(|(doc, record)| record.score = scores.get(doc).copied());
        Ok(records)
    }

    /// The same for a replayed reply: what was erased since is shown without words.
    pub(crate) fn record_as_replied(
        &self,
        place: &Place,
        state: &State,
        doc: u32,
        now: Micros,
    ) -> Result<Option<Record>, Error> {
        if let Some(record) = self.record(place, state, doc, Shown::DespiteDamage, now)? {
            return Ok(Some(record));
        }
        let wordless = |it| Record {
            content: Some(None),
            speaker: None,
            // Its time may be over without it being erased yet: its fields are not shown any more all the same.
            metadata: Map::new(),
            ..bare(state, doc, it, now)
        };
        Ok(state.catalog.doc(doc).map(wordless))
    }
}

/// The id by which a repeat names a record that it asked for: the client's own was sealed with the rest, so it is the asked one,
/// unless that is a spelling of the record's UUID.
pub(crate) fn as_asked(asked: &str, id: RecordId) -> String {
    if Uuid::parse_str(asked) == Ok(id.0) { id.to_string() } else { asked.to_owned() }
}

/// What a replayed reply says of a record that is gone without a trace.
pub(crate) fn erased_record(id: RecordId, profile: &str, time: Micros) -> Record {
    Record {
        id: id.to_string(),
        item_type: ItemType::Memory,
        summary: None,
        content: Some(None),
        profile: profile.to_owned(),
        session_id: None,
        user_id: None,
        agent_id: None,
        speaker: None,
        metadata: Map::new(),
        status: Status::Invalid,
        timestamp: time.into(),
        expires_at: None,
        version: 1,
        sources: Vec::new(),
        superseded_by: None,
        created_at: time.into(),
        updated_at: time.into(),
        score: None,
        linked: None,
    }
}

pub(super) fn status_of(holds: bool) -> Status {
    if holds { Status::Valid } else { Status::Invalid }
}

/// All that the catalog knows of it.
fn bare(state: &State, doc: u32, it: &Doc, now: Micros) -> Record {
    let catalog = &state.catalog;
    let thread = it.thread.and_then(|thread| catalog.thread(thread)).filter(|thread| !thread.thread_id.is_empty());
    let living = |id: &memlog_events::ids::MessageId| {
        let doc = catalog.by_uuid(id.0)?;
        catalog.visible(doc, now).map(|_| catalog.message_id(*id))
    };
    Record {
        id: catalog.client_id(it.id),
        item_type: it.item,
        summary: None,
        content: None,
        profile: catalog.name.clone(),
        session_id: thread.map(|thread| thread.thread_id.clone()),
        user_id: it.user.and_then(|number| catalog.name_of(number)).map(str::to_owned),
        agent_id: it.agent.and_then(|number| catalog.name_of(number)).map(str::to_owned),
        speaker: it.speaker.and_then(|id| catalog.speaker_name(id)).map(str::to_owned),
        metadata: it.metadata.as_deref().cloned().unwrap_or_else(Map::new),
        status: status_of(catalog.is_valid(doc, now)),
        timestamp: it.when().into(),
        expires_at: it.expires_at.map(Into::into),
        version: it.version,
        sources: it.sources.iter().filter_map(living).collect(),
        superseded_by: catalog.successor(doc, now).map(|id| catalog.client_id(id.0)),
        created_at: it.created_at.into(),
        updated_at: it.updated_at.into(),
        score: None,
        linked: None,
    }
}

/// Whether a document is a record, and neither a raw message nor an image.
pub(crate) fn is_record(it: &Doc) -> bool {
    it.item.is_record()
}
