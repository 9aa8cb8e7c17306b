//! The candidate search that `profile.search`, `profile.recall`, `thread.search` and context cards have in common: the question is
//! embedded once, and every filter sits inside the search.

use std::{collections::HashSet, time::Duration};

use jiff::{Timestamp, civil::Date};
use memlog_events::ids::Micros;
use serde_json::{Map, Value};
use tokio::time::{Instant, timeout_at};

use super::{
    System,
    bound::{Bound, Texts},
    lookup::{RETRY_MS, panicked},
    past::{Moment, Seen, not_embedded},
    validate,
};
use crate::{
    api::{Error, record::ItemType},
    domain::Place,
    extract::dates,
    port::PARTS_MAX,
    recall::{Breadth, Corpus, DateSpan, Hit, Question, Relative, among_parts, parts, rank},
    view::{
        State,
        catalog::{Catalog, Doc},
    },
};

/// A search, whoever asks.
pub(crate) struct Asked {
    pub(crate) query: String,
    /// Simpler questions, whose answers together answer it; found as well. Where nobody said which, and more thought is asked for, the
    /// question's own words tell.
    pub(crate) parts: Option<Vec<String>>,
    pub(crate) filter: Filter,
    pub(crate) breadth: Breadth,
    pub(crate) limit: usize,
    /// The day that "yesterday" in the question counts from.
    pub(crate) reference: Option<Date>,
}

/// Documents of a profile that are ranked in some tenths of a millisecond.
const SHORT_DOCS_MAX: usize = 2_000;

/// What narrows a search. The default lets everything through but what does not hold any more.
#[derive(Clone, Debug, Default)]
pub(crate) struct Filter {
    /// Only these types.
    pub(crate) types: Option<Vec<ItemType>>,
    /// Only what was stored under this tag.
    pub(crate) speaker: Option<String>,
    /// Whose.
    pub(crate) scope: Scope,
    /// Messages of this thread only; records of any.
    pub(crate) messages_of: Option<u32>,
    /// Only what matches.
    pub(crate) metadata: Option<Map<String, Value>>,
    /// What does not hold any more, too, and the messages that say so.
    pub(crate) include_invalid: bool,
    /// Not these.
    pub(crate) except: HashSet<u32>,
}

impl Filter {
    /// Refuses a filter over metadata that could not mean anything, or that is larger than any metadata.
    pub(crate) fn check(&self) -> Result<(), Error> {
        validate::metadata_filter(self.metadata.as_ref())
    }
}

/// What one property of a document must be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Must {
    /// Anything.
    #[default]
    BeAnything,
    /// This, or absent.
    Be(Option<String>),
}

/// Owner, agent and thread that a search is about, by their names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Scope {
    pub(crate) user: Must,
    pub(crate) agent: Must,
    pub(crate) thread: Must,
}

/// A scope, looked up in a catalog.
#[derive(Clone)]
pub(crate) struct Within {
    user: Bounds,
    agent: Bounds,
    thread: Bounds,
}

/// What one property of a document must be, by its number.
#[derive(Clone)]
enum Bounds {
    Anything,
    Exactly(Option<u32>),
    /// A name that no document has.
    Nothing,
}

impl Bounds {
    fn new(must: &Must, number: impl Fn(&str) -> Option<u32>) -> Self {
        match must {
            Must::BeAnything => Self::Anything,
            Must::Be(None) => Self::Exactly(None),
            Must::Be(Some(name)) => number(name).map_or(Self::Nothing, |number| Self::Exactly(Some(number))),
        }
    }

    fn admit(&self, found: Option<u32>) -> bool {
        match self {
            Self::Anything => true,
            Self::Exactly(wanted) => *wanted == found,
            Self::Nothing => false,
        }
    }
}

impl Within {
    pub(crate) fn new(catalog: &Catalog, scope: &Scope) -> Self {
        Self {
            user: Bounds::new(&scope.user, |name| catalog.number_of(name)),
            agent: Bounds::new(&scope.agent, |name| catalog.number_of(name)),
            thread: Bounds::new(&scope.thread, |id| catalog.session(id)),
        }
    }

    pub(crate) fn admits(&self, it: &Doc) -> bool {
        self.user.admit(it.user) && self.agent.admit(it.agent) && self.thread.admit(it.thread)
    }
}

/// What a search found, and under which conditions.
pub(crate) struct Answered {
    pub(crate) seen: Seen,
    pub(crate) hits: Vec<Hit>,
    pub(crate) seq: u64,
    pub(crate) mode: &'static str,
    /// What was looked for: the question, or what is left of it without the event that dates it.
    pub(crate) query: String,
}

/// A question that can be put to views as often as need be, with another filter each time.
pub(crate) struct Prepared {
    pub(super) question: Question,
    pub(super) vector: Option<Vec<f32>>,
    /// The model's cosine floor.
    pub(super) floor: f32,
    /// Whether the model has learnt its language.
    pub(super) reads: bool,
    pub(super) now: Micros,
    pub(super) texts: Texts,
}

impl Prepared {
    /// `hybrid`, or `keyword` when there is no model.
    pub(crate) fn mode(&self) -> &'static str {
        if self.vector.is_some() { "hybrid" } else { "keyword" }
    }

    /// The newest that the filter lets through, whether they answer or not; without a score.
    pub(crate) fn newest(&self, state: &State, filter: &Filter, limit: usize) -> Result<Vec<Hit>, Error> {
        let bound = Bound::new(state, self, filter)?;
        let types = |it: &Doc| filter.types.as_ref().is_none_or(|types| types.contains(&it.item));
        let docs = state.catalog.docs().filter(|(doc, it)| types(it) && bound.admits(*doc));
        let mut docs: Vec<_> = docs.map(|(doc, it)| (it.created_at, doc)).collect();
        docs.sort_unstable_by_key(|key| std::cmp::Reverse(*key));
        Ok(docs.into_iter().take(limit).map(|(_, doc)| Hit { doc, score: 0.0 }).collect())
    }

    /// The best that the filter lets through, best first. CPU-bound, but that some of what is found is read: for more thought, and where
    /// a date or a number is wanted.
    pub(crate) fn best(
        &self,
        state: &State,
        filter: &Filter,
        breadth: Breadth,
        limit: usize,
    ) -> Result<Vec<Hit>, Error> {
        self.best_with(&[], state, filter, breadth, limit)
    }

    /// The same, with the best of its parts among them.
    fn best_with(
        &self,
        parts: &[Prepared],
        state: &State,
        filter: &Filter,
        breadth: Breadth,
        limit: usize,
    ) -> Result<Vec<Hit>, Error> {
        let bound = Bound::new(state, self, filter)?;
        let mut hits = rank(&self.question, &bound, breadth);
        if !parts.is_empty() {
            let best = |part: &Prepared| part.best(state, filter, Breadth::for_page(limit), limit);
            let parts = parts.iter().map(best).collect::<Result<Vec<_>, _>>()?;
            hits = among_parts(&bound, &hits, &parts);
        }
        hits.truncate(limit);
        Ok(hits)
    }
}

impl System {
    /// A search of a profile at a moment.
    pub(crate) async fn ask(&self, place: Place, asked: Asked, moment: Moment) -> Result<Answered, Error> {
        asked.filter.check()?;
        // Before the views are read: they have everything up to it, and what comes later is not promised.
        let promised = self.position_of(moment).0;
        let seen = self.views_at(place, moment).await?;
        if matches!(asked.breadth, Breadth::Low | Breadth::Wide) {
            return self.ask_views(seen, asked, promised, Vec::new()).await;
        }
        let (mut asked, around) = self.taken_apart(&seen, asked).await?;
        asked.parts.get_or_insert_with(|| {
            seen.read(|state| {
                let people: Vec<_> = state.catalog.speakers().map(|speaker| speaker.name.clone()).collect();
                parts(&asked.query, &people, PARTS_MAX)
            })
        });
        self.ask_views(seen, asked, promised, around).await
    }

    /// A question that dates what it asks by an event, without that event, and the time on the side of it that is meant: the event's
    /// words are a date, or what answers them best tells when it was.
    async fn taken_apart(&self, seen: &Seen, mut asked: Asked) -> Result<(Asked, Vec<DateSpan>), Error> {
        let Some(relative) = Relative::of(&asked.query) else { return Ok((asked, Vec::new())) };
        let span = match relative.dated(self.reference(asked.reference)) {
            Some(span) => Some(span),
            None => self.time_of(seen, &relative.event, &asked).await?.map(|when| relative.span(when)),
        };
        let Some(span) = span else { return Ok((asked, Vec::new())) };
        asked.query = relative.asked;
        Ok((asked, vec![span]))
    }

    /// When that was of which these words tell, as far as the filter lets it be seen.
    async fn time_of(&self, seen: &Seen, words: &str, asked: &Asked) -> Result<Option<Timestamp>, Error> {
        let prepared = self.prepared(seen, words, asked.reference).await?;
        let (seen, filter) = (seen.clone(), asked.filter.clone());
        let looking = crate::blocking::run(move || {
            seen.read(|state| {
                let hits = prepared.best(state, &filter, Breadth::Low, 1)?;
                let found = hits.first().and_then(|hit| state.catalog.doc(hit.doc));
                Ok(found.and_then(|it| Timestamp::from_microsecond(it.when().0).ok()))
            })
        });
        looking.await.map_err(panicked)?
    }

    /// A search of views that have everything up to `promised`; it asks for these times, too.
    pub(crate) async fn ask_views(
        &self,
        seen: Seen,
        asked: Asked,
        promised: u64,
        times: Vec<DateSpan>,
    ) -> Result<Answered, Error> {
        let deadline = self.embedded_by();
        let mut prepared = self.prepared(&seen, &asked.query, asked.reference).await?;
        prepared.question.dates.extend(&times);
        let mut parts = self.prepared_parts(&seen, &asked, deadline).await;
        parts.iter_mut().for_each(|part| part.question.dates.extend(&times));
        let mode = prepared.mode();
        let is_short = parts.is_empty()
            && matches!(asked.breadth, Breadth::Low | Breadth::Wide)
            && seen.read(|state| state.keyword.len()) <= SHORT_DOCS_MAX;
        let ranked = crate::blocking::here_if(is_short, move || {
            let found = seen.read(|state| {
                let hits = prepared.best_with(&parts, state, &asked.filter, asked.breadth, asked.limit)?;
                Ok::<_, Error>((hits, state.catalog.position.0))
            });
            found.map(|(hits, position)| Answered { seen, hits, seq: position.max(promised), mode, query: asked.query })
        });
        ranked.await.map_err(panicked)?
    }

    /// The parts of a question that can be put to the views. The question has an answer without them, so that one which fails, or is not
    /// embedded by the time the question itself had to be, is left out.
    async fn prepared_parts(&self, seen: &Seen, asked: &Asked, deadline: Instant) -> Vec<Prepared> {
        let mut parts = Vec::new();
        for part in asked.parts.iter().flatten() {
            match timeout_at(deadline, self.prepared(seen, part, asked.reference)).await {
                Ok(Ok(part)) => parts.push(part),
                Ok(Err(error)) => tracing::debug!(%error, "a part of a question is left out"),
                Err(_) => tracing::debug!("a part of a question is left out: its embedding took too long"),
            }
        }
        parts
    }

    /// Until when a question waits for the model.
    fn embedded_by(&self) -> Instant {
        Instant::now() + Duration::from_millis(self.limits().embed_wait_ms_max)
    }

    /// Embeds a question for the views, and finds the dates that it names.
    pub(crate) async fn prepared(&self, seen: &Seen, query: &str, reference: Option<Date>) -> Result<Prepared, Error> {
        let vector = self.embed_query(seen, query).await?;
        let floor = self.inner.registry.embed().filter(|_| vector.is_some());
        let reads = floor.is_none_or(|embed| embed.embedder().reads(query));
        let floor = floor.map_or(f32::INFINITY, |embed| embed.embedder().cosine_floor());
        let question = Question { text: query.to_owned(), dates: self.dates(query, reference) };
        Ok(Prepared { question, vector, floor, reads, now: self.now(), texts: self.texts(seen) })
    }

    /// No question: nothing answers it.
    pub(crate) fn prepared_for_nothing(&self, seen: &Seen) -> Prepared {
        let question = Question { text: String::new(), dates: Vec::new() };
        let (now, texts) = (self.now(), self.texts(seen));
        Prepared { question, vector: None, floor: f32::INFINITY, reads: true, now, texts }
    }

    fn texts(&self, seen: &Seen) -> Texts {
        let (Seen::Present(views) | Seen::Past(views)) = seen;
        Texts::new(self.inner.environment.log.clone(), views.place)
    }

    /// The query's vector, once the views have all the vectors they are waiting for; none without a model, nor while the pool
    /// catches up with what another model had embedded.
    async fn embed_query(&self, seen: &Seen, query: &str) -> Result<Option<Vec<f32>>, Error> {
        let Some(embed) = self.inner.registry.embed() else { return Ok(None) };
        let (Seen::Present(views) | Seen::Past(views)) = seen;
        if seen.read(State::is_behind) {
            return Ok(None);
        }
        let scope = views.place.key.scope;
        // One for both waits: whoever asks waits no longer than the limit says.
        let deadline = self.embedded_by();
        if views.pending() > 0 {
            let hurry = embed.hurry(scope);
            let waited = timeout_at(deadline, views.wait_embedded()).await;
            drop(hurry);
            match (waited, seen) {
                (Ok(true), _) => {}
                // Of the past nothing was promised to be found by meaning, and by words it is.
                (_, Seen::Past(_)) => return Ok(None),
                (Ok(false), Seen::Present(_)) => {
                    return Err(Error::unavailable("the profile's views were dropped meanwhile", RETRY_MS));
                }
                (Err(_), Seen::Present(_)) => {
                    let late = Error::timeout("what was stored last is still being embedded; ask again");
                    return Err(late.with("retry_after_ms", RETRY_MS));
                }
            }
        }
        // Others may stand before it in line, and a model may hang.
        let late = |_| {
            Error::timeout("the question still waits for the embedding model; ask again")
                .with("retry_after_ms", RETRY_MS)
        };
        let asked = timeout_at(deadline, embed.question(views, query, self.now())).await.map_err(late)?;
        asked.map(Some).map_err(not_embedded)
    }

    /// The day that "yesterday" counts from.
    fn reference(&self, given: Option<Date>) -> Date {
        let today = || dates::day_of(Timestamp::from_microsecond(self.now().0).unwrap_or_default());
        given.unwrap_or_else(today)
    }

    /// The dates that a question names, counted from its reference date.
    fn dates(&self, query: &str, reference: Option<Date>) -> Vec<DateSpan> {
        let reference = self.reference(reference);
        dates::find_all(query, reference).iter().filter_map(DateSpan::of).collect()
    }
}
