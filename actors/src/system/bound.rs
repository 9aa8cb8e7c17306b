//! One question and one filter, bound into a profile's views: what the ranking sees.

use std::{cell::RefCell, collections::HashMap, sync::Arc};

use jiff::Timestamp;
use memlog_events::{
    code::RoleCode,
    ids::{MessageId, Micros, SpeakerId},
    log::Log,
};
use serde_json::{Map, Value};

use super::{
    filter,
    find::{Filter, Prepared, Within},
    records::is_record,
    search::messages_behind,
    speakers::filtered,
};
use crate::{
    api::{Error, record::ItemType},
    domain::Place,
    limits::LINKED_DEFAULT,
    recall::{Corpus, Doc as RankedDoc, Hit, Offers, matter},
    view::{
        State,
        catalog::{self, Fields},
        indexed::{contents_of, words_of},
        keyword::Terms,
        vector::PreparedQuery,
    },
};

/// Reads what documents of a profile say.
#[derive(Clone)]
pub(crate) struct Texts {
    log: Log,
    place: Place,
}

impl Texts {
    pub(super) fn new(log: Log, place: Place) -> Self {
        Self { log, place }
    }

    /// Those of some documents. One that cannot be read now leads nowhere; the question is answered without it.
    fn of(&self, state: &State, docs: &[&catalog::Doc]) -> Vec<String> {
        let read = |docs: &[&catalog::Doc]| contents_of(&self.log, &self.place, &state.catalog, docs);
        // Together that is faster; each by itself, the others are read though one is damaged.
        let contents =
            read(docs).unwrap_or_else(|_| docs.iter().flat_map(|it| read(&[*it]).unwrap_or_default()).collect());
        contents.iter().flatten().filter_map(|content| words_of(content).map(str::to_owned)).collect()
    }
}

/// A profile's views with one question and one filter bound in.
#[derive(Clone)]
pub(super) struct Bound<'a> {
    state: &'a State,
    now: Micros,
    terms: Terms,
    vector: Option<PreparedQuery>,
    /// The model's cosine floor.
    floor: f32,
    /// Whether the model has learnt the question's language.
    reads: bool,
    speaker: Option<SpeakerId>,
    within: Within,
    filter: &'a Filter,
    texts: &'a Texts,
    speakers: HashMap<SpeakerId, u32>,
    /// Objects of metadata, by where they lie, that the filter was tried on already: many documents have the same.
    tried: RefCell<HashMap<usize, bool>>,
}

impl<'a> Bound<'a> {
    pub(super) fn new(state: &'a State, asked: &'a Prepared, filter: &'a Filter) -> Result<Self, Error> {
        let speaker = filter.speaker.as_deref().map(|name| filtered(state, name)).transpose()?;
        let vector = asked.vector.as_deref();
        let registered = state.catalog.speakers().enumerate().map(|(at, speaker)| (speaker.id, at as u32));
        Ok(Self {
            state,
            now: asked.now,
            terms: state.keyword.prepare(&matter(&asked.question.text)),
            vector: vector.zip(state.vectors.as_ref()).map(|(query, vectors)| vectors.prepare(query)),
            floor: asked.floor,
            reads: asked.reads,
            speaker,
            within: Within::new(&state.catalog, &filter.scope),
            filter,
            texts: &asked.texts,
            speakers: registered.collect(),
            tried: RefCell::default(),
        })
    }

    fn keeps(&self, doc: u32, it: &catalog::Doc) -> bool {
        let filter = self.filter;
        filter.types.as_ref().is_none_or(|types| types.contains(&it.item))
            && self.speaker.is_none_or(|id| it.speaker == Some(id))
            && self.within.admits(it)
            && (it.item != ItemType::Message || filter.messages_of.is_none_or(|thread| it.thread == Some(thread)))
            && !filter.except.contains(&doc)
            && filter.metadata.as_ref().is_none_or(|wanted| self.matches(wanted, it.metadata.as_ref()))
            && (filter.include_invalid || self.holds(doc, it))
    }

    fn matches(&self, wanted: &Map<String, Value>, fields: Option<&Fields>) -> bool {
        let Some(fields) = fields else { return filter::matches(wanted, None) };
        let at = Arc::as_ptr(fields).addr();
        *self.tried.borrow_mut().entry(at).or_insert_with(|| filter::matches(wanted, Some(&**fields)))
    }

    /// A record that was superseded does not, nor the message behind it: else the old words would outrank the new.
    fn holds(&self, doc: u32, it: &catalog::Doc) -> bool {
        let catalog = &self.state.catalog;
        if is_record(it) { catalog.is_valid(doc, self.now) } else { !catalog.is_outdated(MessageId(it.id), self.now) }
    }
}

impl Corpus for Bound<'_> {
    fn doc(&self, doc: u32) -> Option<RankedDoc> {
        let it = self.state.catalog.visible(doc, self.now)?;
        Some(RankedDoc {
            thread: it.thread,
            is_message: it.item == ItemType::Message,
            from_assistant: it.speaker == Some(SpeakerId::ME)
                || (it.speaker.is_none() && it.role == RoleCode::ASSISTANT),
            speaker: it.speaker.and_then(|id| self.speakers.get(&id)).copied(),
            at: Timestamp::from_microsecond(it.when().0).unwrap_or_default(),
            asks: it.asks,
            terms: self.state.keyword.length(doc),
            // What an image shows stands beside what its message says, not in its place.
            sources: if is_record(it) { messages_behind(self.state, doc) } else { Vec::new() },
        })
    }

    fn admits(&self, doc: u32) -> bool {
        self.state.catalog.visible(doc, self.now).is_some_and(|it| self.keeps(doc, it))
    }

    fn beside(&self, doc: u32, offset: i32) -> Option<u32> {
        self.state.catalog.beside(doc, offset)
    }

    fn linked(&self, doc: u32) -> Vec<u32> {
        let within = |it: &catalog::Doc| self.within.admits(it);
        let reached = self.state.catalog.reach(doc, 1, LINKED_DEFAULT as usize, self.now, &within);
        reached.into_iter().map(|reached| reached.doc).filter(|doc| self.admits(*doc)).collect()
    }

    fn speakers(&self) -> Vec<(u32, String)> {
        let named = self.state.catalog.speakers().enumerate();
        named.map(|(at, speaker)| (at as u32, speaker.name.clone())).collect()
    }

    fn texts(&self, docs: &[u32]) -> Vec<String> {
        let visible = docs.iter().filter_map(|doc| self.state.catalog.visible(*doc, self.now));
        self.texts.of(self.state, &visible.collect::<Vec<_>>())
    }

    fn offers(&self, doc: u32) -> Offers {
        let it = self.state.catalog.visible(doc, self.now);
        it.map(|it| it.offers(|| self.texts.of(self.state, &[it]).pop())).unwrap_or_default()
    }

    fn rarity(&self, word: &str) -> f32 {
        self.state.keyword.rarity(word)
    }

    fn with_words(&self, words: &str) -> Self {
        Self { terms: self.state.keyword.prepare(words), ..self.clone() }
    }

    fn keyword_best(&self, limit: usize) -> Vec<Hit> {
        let best = self.state.keyword.best(&self.terms, limit, &|doc| self.admits(doc));
        best.into_iter().map(|(doc, score)| Hit { doc, score }).collect()
    }

    fn keyword_score(&self, doc: u32) -> f32 {
        self.state.keyword.score(&self.terms, doc)
    }

    fn vector_best(&self, limit: usize) -> Option<Vec<Hit>> {
        let (query, vectors) = (self.vector.as_ref()?, self.state.vectors.as_ref()?);
        let best = vectors.nearest_to(query, limit, &|doc| self.admits(doc));
        Some(best.into_iter().map(|(doc, score)| Hit { doc, score }).collect())
    }

    fn reads_question(&self) -> bool {
        self.reads
    }

    fn cosine_floor(&self) -> f32 {
        self.floor
    }

    fn vector_score(&self, doc: u32) -> Option<f32> {
        self.state.vectors.as_ref()?.similarity(self.vector.as_ref()?, doc)
    }
}
