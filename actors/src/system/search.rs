//! `profile.search`: filters inside the candidate search, both legs fused, raw messages beside records.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::Arc,
    time::Duration,
};

use jiff::{Timestamp, civil::Date};
use memlog_events::{
    code::RoleCode,
    ids::{MessageId, Micros, SpeakerId},
};

use super::{
    System, filter,
    lookup::{RETRY_MS, panicked},
    past::{Moment, Seen},
    records::{Shown, is_record},
    speakers::filtered,
    validate,
};
use crate::{
    api::{
        Answer, Context, Error,
        profile::{Filters, Found, Passage, Search},
        record::{ItemType, Linked, Record},
    },
    domain::Place,
    extract::dates,
    limits::{HOPS_MAX, LINKED_DEFAULT},
    port::Purpose,
    recall::{Breadth, Corpus, DateSpan, Doc as RankedDoc, Hit, Question, Scored, matter, rank},
    view::{State, catalog, keyword::Terms, vector::PreparedQuery},
};

/// A search, whoever asks.
pub(crate) struct Asked {
    pub(crate) query: String,
    pub(crate) filters: Filters,
    pub(crate) breadth: Breadth,
    pub(crate) limit: usize,
    /// The day that "yesterday" in the question counts from.
    pub(crate) reference: Option<Date>,
}

/// What it found, and under which conditions.
pub(crate) struct Answered {
    pub(crate) seen: Seen,
    pub(crate) hits: Vec<Hit>,
    pub(crate) seq: u64,
    pub(crate) mode: &'static str,
}

impl System {
    /// `profile.search`
    pub async fn profile_search(&self, context: &Context, request: Search) -> Result<Answer<Found>, Error> {
        validate::context(&self.inner, context)?;
        validate::profile(&request.profile)?;
        validate::query(&request.query)?;
        let limit = validate::hits(request.limit)?;
        let hops = validate::within("num_hops", request.num_hops.unwrap_or(0), 0, HOPS_MAX)?;
        let filters = Filters {
            types: request.types,
            speaker: request.speaker,
            session_id: request.session_id,
            metadata_filter: request.metadata_filter,
            include_invalid: request.include_invalid.unwrap_or(false),
        };
        let moment = self.moment(request.as_of)?;
        let place = self.inner.profile(context, &request.profile)?;
        let asked = Asked {
            query: request.query,
            filters,
            breadth: Breadth::for_page(limit),
            limit,
            reference: request.reference_date.map(crate::api::Said::day),
        };
        let of_one_speaker = asked.filters.speaker.is_some();
        let answered = self.ask(place, asked, moment).await?;
        let (now, hops) = (self.now(), hops as u32);
        let expand = request.expand.unwrap_or(false);
        answered.seen.read(|state| {
            let mut memories = Vec::with_capacity(answered.hits.len());
            for hit in &answered.hits {
                let Some(mut record) = self.record(&place, state, hit.doc, Shown::WithContent, now)? else { continue };
                record.score = Some(hit.score);
                record.linked = (hops > 0).then(|| self.linked(&place, state, hit.doc, hops, now)).transpose()?;
                memories.push(record);
            }
            // A passage is made of what several people said and has no tag: asked for one person there is none.
            let around = if of_one_speaker { &[] } else { answered.hits.as_slice() };
            let passages = expand.then(|| self.passages(&place, state, around, now)).transpose()?;
            let mode = answered.mode.to_owned();
            Ok(Answer::fresh(Found { memories, passages, seq: answered.seq, mode }))
        })
    }

    /// The search itself.
    pub(crate) async fn ask(&self, place: Place, asked: Asked, moment: Moment) -> Result<Answered, Error> {
        if let Some(fields) = &asked.filters.metadata_filter {
            filter::check(fields)?;
        }
        asked.filters.session_id.as_deref().map_or(Ok(()), |id| validate::id("session_id", id))?;
        // Before the views are read: they have everything up to it, and what comes later is not promised.
        let promised = self.position_of(moment);
        let seen = self.views_at(place, moment).await?;
        let vector = self.embed_query(&seen, &asked.query).await?;
        let mode = if vector.is_some() { "hybrid" } else { "keyword" };
        let now = self.now();
        let floor = self.inner.registry.embed().map(|embed| embed.embedder().cosine_floor());
        let system = self.clone();
        let ranked = tokio::task::spawn_blocking(move || {
            let found = seen.read(|state| {
                let corpus = Bound::new(state, &asked, vector.as_deref().zip(floor), now)?;
                let dates = system.dates(&asked);
                let question = Question { text: asked.query.clone(), dates };
                let mut hits = rank(&question, &corpus, asked.breadth);
                hits.truncate(asked.limit);
                Ok::<_, Error>((hits, state.catalog.position.0))
            });
            found.map(|(hits, position)| Answered { seen, hits, seq: position, mode })
        });
        let mut answered = ranked.await.map_err(panicked)??;
        answered.seq = answered.seq.max(promised.0);
        Ok(answered)
    }

    /// The query's vector, once the views have all the vectors they are waiting for; none without a model, nor while what
    /// another model had embedded is embedded anew.
    async fn embed_query(&self, seen: &Seen, query: &str) -> Result<Option<Vec<f32>>, Error> {
        let Some(embed) = self.inner.registry.embed() else { return Ok(None) };
        if seen.read(State::is_reembedding) {
            return Ok(None);
        }
        if let Seen::Present(views) = seen
            && views.pending() > 0
        {
            let scope = views.place.key.scope;
            let hurry = embed.hurry(scope);
            let wait = Duration::from_millis(self.limits().embed_wait_ms_max);
            let waited = tokio::time::timeout(wait, views.wait_embedded()).await;
            drop(hurry);
            let late = |_| {
                Error::timeout("what was stored last is still being embedded; ask again")
                    .with("retry_after_ms", RETRY_MS)
            };
            if !waited.map_err(late)? {
                return Err(Error::unavailable("the profile's views were dropped meanwhile", RETRY_MS));
            }
        }
        let (embedder, query) = (Arc::clone(embed.embedder()), query.to_owned());
        let embedded = tokio::task::spawn_blocking(move || embedder.embed(&query, Purpose::Query)).await;
        let embedded = embedded.map_err(panicked)?;
        embedded.map(Some).map_err(|error| Error::unavailable(error.to_string(), RETRY_MS))
    }

    /// The dates that a question names, counted from its reference date.
    fn dates(&self, asked: &Asked) -> Vec<DateSpan> {
        let today = || dates::day_of(Timestamp::from_microsecond(self.now().0).unwrap_or_default());
        let reference = asked.reference.unwrap_or_else(today);
        let span = |found: dates::Found| DateSpan::days(found.start, found.end, found.precision);
        dates::find_all(&asked.query, reference).into_iter().filter_map(span).collect()
    }

    fn linked(&self, place: &Place, state: &State, doc: u32, hops: u32, now: Micros) -> Result<Vec<Linked>, Error> {
        let mut linked = Vec::new();
        for reached in state.catalog.reach(doc, hops, LINKED_DEFAULT as usize, now) {
            let Some(record) = self.record(place, state, reached.doc, Shown::WithContent, now)? else { continue };
            let Record { id, item_type, content, speaker, .. } = record;
            let content = content.flatten().unwrap_or_default();
            let (relation_type, hops) = (reached.label, reached.hops);
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
                let (mut message_ids, mut lines) = (Vec::new(), Vec::new());
                for doc in docs {
                    let Some(message) = self.record(place, state, doc, Shown::WithContent, now)? else { continue };
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

/// A message hit itself, or the messages that a record was made from.
fn messages_behind(state: &State, doc: u32) -> Vec<u32> {
    match state.catalog.doc(doc) {
        Some(it) if is_record(it) => it.sources.iter().filter_map(|id| state.catalog.by_uuid(id.0)).collect(),
        Some(_) => vec![doc],
        None => Vec::new(),
    }
}

/// A profile's views with one question and one filter bound in.
struct Bound<'a> {
    state: &'a State,
    now: Micros,
    terms: Terms,
    vector: Option<PreparedQuery>,
    /// The model's cosine floor.
    floor: f32,
    types: Option<Vec<ItemType>>,
    speaker: Option<SpeakerId>,
    /// `Some(None)` is a session that is not there: nothing matches.
    thread: Option<Option<u32>>,
    asked: &'a Asked,
    speakers: HashMap<SpeakerId, u32>,
}

impl<'a> Bound<'a> {
    fn new(state: &'a State, asked: &'a Asked, vector: Option<(&[f32], f32)>, now: Micros) -> Result<Self, Error> {
        let filters = &asked.filters;
        let speaker = filters.speaker.as_deref().map(|name| filtered(state, name)).transpose()?;
        let floor = vector.map_or(f32::INFINITY, |(_, floor)| floor);
        let vector = vector.zip(state.vectors.as_ref()).map(|((query, _), vectors)| vectors.prepare(query));
        let registered = state.catalog.speakers().enumerate().map(|(at, speaker)| (speaker.id, at as u32));
        Ok(Self {
            state,
            now,
            terms: state.keyword.prepare(&matter(&asked.query)),
            vector,
            floor,
            types: filters.types.clone(),
            speaker,
            thread: filters.session_id.as_deref().map(|id| state.catalog.session(id)),
            asked,
            speakers: registered.collect(),
        })
    }

    fn keeps(&self, doc: u32, it: &catalog::Doc) -> bool {
        let filters = &self.asked.filters;
        self.types.as_ref().is_none_or(|types| types.contains(&it.item))
            && self.speaker.is_none_or(|id| it.speaker == Some(id))
            && self.thread.is_none_or(|thread| thread.is_some() && it.thread == thread)
            && (filters.include_invalid || self.holds(doc, it))
            && filters.metadata_filter.as_ref().is_none_or(|wanted| filter::matches(wanted, it.metadata.as_deref()))
    }
}

impl Bound<'_> {
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
            is_message: !is_record(it),
            from_assistant: it.speaker == Some(SpeakerId::ME)
                || (it.speaker.is_none() && it.role == RoleCode::ASSISTANT),
            speaker: it.speaker.and_then(|id| self.speakers.get(&id)).copied(),
            at: Timestamp::from_microsecond(it.when().0).unwrap_or_default(),
            asks: it.asks,
            sources: messages_behind(self.state, doc).into_iter().filter(|message| *message != doc).collect(),
        })
    }

    fn admits(&self, doc: u32) -> bool {
        self.state.catalog.visible(doc, self.now).is_some_and(|it| self.keeps(doc, it))
    }

    fn beside(&self, doc: u32, offset: i32) -> Option<u32> {
        self.state.catalog.beside(doc, offset)
    }

    fn speakers(&self) -> Vec<(u32, String)> {
        let named = self.state.catalog.speakers().enumerate();
        named.map(|(at, speaker)| (at as u32, speaker.name.clone())).collect()
    }

    fn keyword_best(&self, limit: usize) -> Vec<Scored> {
        let best = self.state.keyword.best(&self.terms, limit, &|doc| self.admits(doc));
        best.into_iter().map(|(doc, score)| Scored { doc, score }).collect()
    }

    fn keyword_score(&self, doc: u32) -> f32 {
        self.state.keyword.score(&self.terms, doc)
    }

    fn vector_best(&self, limit: usize) -> Option<Vec<Scored>> {
        let (query, vectors) = (self.vector.as_ref()?, self.state.vectors.as_ref()?);
        let best = vectors.nearest_to(query, limit, &|doc| self.admits(doc));
        Some(best.into_iter().map(|(doc, score)| Scored { doc, score }).collect())
    }

    fn cosine_floor(&self) -> f32 {
        self.floor
    }

    fn vector_score(&self, doc: u32) -> Option<f32> {
        self.state.vectors.as_ref()?.similarity(self.vector.as_ref()?, doc)
    }
}
