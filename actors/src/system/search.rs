//! `profile.search`: filters inside the candidate search, both legs fused, raw messages beside records.

use std::collections::{BTreeMap, HashMap, HashSet};

use memlog_events::ids::Micros;

use super::{
    System,
    find::{Asked, Filter, Must, Scope, Within},
    records::{Shown, is_record},
    validate,
};
use crate::{
    api::{
        Answer, Context, Error,
        profile::{Found, Passage, Search},
        record::{ItemType, Linked, Record},
    },
    domain::Place,
    limits::{HOPS_MAX, LINKED_DEFAULT, TYPES_MAX},
    recall::{Breadth, Hit},
    view::State,
};

/// Which links are followed from a hit.
pub(super) struct Follow {
    /// How far.
    pub(super) hops: u32,
    /// How many records at most, the nearest first.
    pub(super) limit: usize,
    /// Whose.
    pub(super) within: Within,
}

impl System {
    /// `profile.search`
    pub async fn profile_search(&self, context: &Context, request: Search) -> Result<Answer<Found>, Error> {
        validate::context(&self.inner, context)?;
        validate::profile(&request.profile)?;
        validate::query(&request.query)?;
        let limit = validate::hits(request.limit)?;
        validate::list("types", request.types.as_ref(), TYPES_MAX)?;
        let hops = validate::within("num_hops", request.num_hops.unwrap_or(0), 0, HOPS_MAX)?;
        let filter = Filter {
            types: request.types,
            speaker: request.speaker,
            scope: of_session(request.session_id)?,
            metadata: request.metadata_filter,
            include_invalid: request.include_invalid.unwrap_or(false),
            ..Filter::default()
        };
        let moment = self.moment(request.as_of)?;
        let place = self.inner.profile(context, &request.profile)?;
        let asked = Asked {
            parts: None,
            query: request.query,
            filter,
            breadth: Breadth::for_page(limit),
            limit,
            reference: request.reference_date.map(crate::api::Said::day),
        };
        let of_one_speaker = asked.filter.speaker.is_some();
        let answered = self.ask(place, asked, moment).await?;
        let now = self.now();
        let expand = request.expand.unwrap_or(false);
        answered.seen.read(|state| {
            let within = Within::new(&state.catalog, &Scope::default());
            let follow = Follow { hops: hops as u32, limit: LINKED_DEFAULT as usize, within };
            let mut memories = Vec::with_capacity(answered.hits.len());
            for (doc, mut record) in self.behind(&place, state, &answered.hits, now)? {
                record.linked = (hops > 0).then(|| self.linked(&place, state, doc, &follow, now)).transpose()?;
                memories.push(record);
            }
            // A passage is made of what several people said and has no tag: asked for one person there is none.
            let around = if of_one_speaker { &[] } else { answered.hits.as_slice() };
            let passages = expand.then(|| self.passages(&place, state, around, now)).transpose()?;
            let mode = answered.mode.to_owned();
            Ok(Answer::fresh(Found { memories, passages, seq: answered.seq, mode }))
        })
    }

    /// The records that links lead to from a hit, nearest first.
    pub(super) fn linked(
        &self,
        place: &Place,
        state: &State,
        doc: u32,
        follow: &Follow,
        now: Micros,
    ) -> Result<Vec<Linked>, Error> {
        let mut linked = Vec::new();
        let reached = state.catalog.reach(doc, follow.hops, follow.limit, now, &|it| follow.within.admits(it));
        let docs: Vec<u32> = reached.iter().map(|reached| reached.doc).collect();
        let mut reached: HashMap<u32, _> = reached.into_iter().map(|it| (it.doc, (it.label, it.hops))).collect();
        for (doc, record) in self.records(place, state, &docs, Shown::Undamaged, now)? {
            let Some((relation_type, hops)) = reached.remove(&doc) else { continue };
            let Record { id, item_type, content, speaker, .. } = record;
            let content = content.flatten().unwrap_or_default();
            linked.push(Linked { id, record_type: item_type, content, speaker, relation_type, hops });
        }
        Ok(linked)
    }

    /// Stretches of the sessions around the hits, in the order of the first hit in each.
    fn passages(&self, place: &Place, state: &State, hits: &[Hit], now: Micros) -> Result<Vec<Passage>, Error> {
        let catalog = &state.catalog;
        let mut around: BTreeMap<u32, HashSet<u32>> = BTreeMap::new();
        let mut order = Vec::new();
        for doc in hits.iter().flat_map(|hit| messages_behind(state, hit.doc)) {
            let Some((thread, ordinal)) = catalog.doc(doc).and_then(|it| Some((it.thread?, it.ordinal))) else {
                continue;
            };
            if !around.contains_key(&thread) {
                order.push(thread);
            }
            let near = ordinal.saturating_sub(PASSAGE_TURNS)..=ordinal + PASSAGE_TURNS;
            around.entry(thread).or_default().extend(near);
        }
        let mut passages = Vec::new();
        for number in order {
            let Some(thread) = catalog.thread(number) else { continue };
            let mut ordinals: Vec<u32> = around.remove(&number).unwrap_or_default().into_iter().collect();
            ordinals.sort_unstable();
            for run in ordinals.chunk_by(|one, next| one + 1 == *next) {
                let docs = run.iter().filter_map(|at| thread.messages.get(*at as usize).copied().flatten());
                let docs: Vec<u32> = docs.collect();
                let (mut message_ids, mut lines) = (Vec::new(), Vec::new());
                for (_, message) in self.records(place, state, &docs, Shown::Undamaged, now)? {
                    message_ids.push(message.id);
                    lines.push(message.content.flatten().unwrap_or_default());
                }
                if !message_ids.is_empty() {
                    let session_id = thread.thread_id.clone();
                    passages.push(Passage { session_id, message_ids, content: lines.join("\n") });
                }
            }
        }
        Ok(passages)
    }
}

/// Turns shown before and after a hit.
const PASSAGE_TURNS: u32 = 2;

/// Everybody's of one session, or of all.
pub(super) fn of_session(session_id: Option<String>) -> Result<Scope, Error> {
    let Some(id) = session_id else { return Ok(Scope::default()) };
    validate::id("session_id", &id)?;
    Ok(Scope { thread: Must::Be(Some(id)), ..Scope::default() })
}

/// A message hit itself, the messages that a record was made from, or the one that an image is a part of.
pub(super) fn messages_behind(state: &State, doc: u32) -> Vec<u32> {
    match state.catalog.doc(doc) {
        Some(it) if is_record(it) => it.sources.iter().filter_map(|id| state.catalog.by_uuid(id.0)).collect(),
        Some(it) if it.item == ItemType::Message => vec![doc],
        Some(it) => {
            let message = it.image.as_ref().and_then(|image| image.message);
            message.and_then(|id| state.catalog.by_uuid(id.0)).into_iter().collect()
        }
        None => Vec::new(),
    }
}
