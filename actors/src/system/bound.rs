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
        indexed::{undamaged_of, words_of},
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

    /// Those of some documents. What cannot be read leads nowhere; whether the question fails is for whoever shows the hits.
    fn of(&self, state: &State, docs: &[&catalog::Doc]) -> Vec<String> {
        let contents = undamaged_of(&self.log, &self.place, &state.catalog, docs).unwrap_or_default();
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

#[cfg(test)]
mod tests {
    use std::{fs::OpenOptions, os::unix::fs::FileExt, path::Path, sync::Arc};

    use memlog_events::{event::Facts, ids::Position, log::Log};

    use super::Texts;
    use crate::{
        api::{
            audit::Events,
            error::Kind,
            profile::{Forget, Memories, Memory, Recall, Remember, Search, ThinkingLevel},
            record::Record,
            thread::{AddMessages, Content, Create, ExtractionSettings, NewMessage, Settings},
        },
        bench::{Clusters, PROFILE, context, options},
        limits::INGEST_MESSAGES_MAX,
        system::System,
    };

    /// More keys than are kept in mind.
    const KEYS: usize = 5_000;

    async fn saved(system: &System, content: &str) -> Record {
        let (profile, content) = (PROFILE.to_owned(), content.to_owned());
        let request = Remember { profile, content, dedupe: Some(false), ..Remember::default() };
        system.profile_remember(&context(), request).await.expect("saved").reply.memory
    }

    /// What is said elsewhere.
    async fn much_else(system: &System) {
        let (profile, thread_id) = ("elsewhere".to_owned(), "talk".to_owned());
        let off = ExtractionSettings { enabled: Some(false), ..ExtractionSettings::default() };
        let settings = Some(Settings { extraction: Some(off), ..Settings::default() });
        let create =
            Create { profile: profile.clone(), thread_id: Some(thread_id.clone()), settings, ..Create::default() };
        system.thread_create(&context(), create).await.expect("created");
        let message = |n: usize| NewMessage {
            role: "user".to_owned(),
            content: Content::Text(format!("Nothing of note, {n}")),
            ..NewMessage::default()
        };
        for n in (0..KEYS).step_by(INGEST_MESSAGES_MAX) {
            let (profile, thread_id) = (profile.clone(), thread_id.clone());
            let messages = (n..n + INGEST_MESSAGES_MAX).map(message).collect();
            let said = AddMessages { profile, thread_id, messages, ..AddMessages::default() };
            let added = system.thread_add_messages(&context(), said).await.expect("said").reply;
            assert_eq!(added.message_ids.len(), INGEST_MESSAGES_MAX);
        }
    }

    /// Keys of others are kept in mind from here on, and those before are read from the file again.
    fn read_from(log: &Log, mut at: Position) {
        loop {
            let page = log.tail(at, KEYS).expect("read");
            let Some(last) = page.last() else { return };
            at = last.head.position;
            assert!(page.iter().all(|event| log.open_content(event).is_ok()));
        }
    }

    const BAD: &str = "Miso the cat saw the vet on 3 May 2026";
    const GOOD: &str = "Miso the cat saw the vet in June, 4 times";

    async fn start(folder: &Path) -> System {
        System::start(options(folder, Some(Arc::new(Clusters::new(1))))).await.expect("started")
    }

    fn vet() -> Search {
        let query = "When did Miso the cat see the vet?".to_owned();
        Search { profile: PROFILE.to_owned(), query, ..Search::default() }
    }

    /// Two memories; the key of the first is damaged and will be read from the file.
    async fn damaged(folder: &Path) -> (System, Record, Record) {
        let system = start(folder).await;
        let (bad, good) = (saved(&system, BAD).await, saved(&system, GOOD).await);
        much_else(&system).await;
        // It waits for the vectors, which are damaged with their key.
        system.profile_search(&context(), vet()).await.expect("found");
        let log = &system.inner.environment.log;
        let events = log.tail(Position(0), 10).expect("read");
        let of_bad = events.iter().find(|event| matches!(event.facts, Facts::Saved(_))).expect("saved");
        let vault = OpenOptions::new().write(true).open(folder.join("vault")).expect("a vault");
        vault.write_all_at(&[0xff; 32], of_bad.head.keys.subject.0 * 64).expect("damaged");
        read_from(log, events[9].head.position);
        assert!(log.open_content(of_bad).expect_err("damaged").is_of_one());
        (system, bad, good)
    }

    // One sector gone bad must not take the answers along that lie elsewhere, whether the text would have been a hit or only been read
    // for one.
    #[tokio::test(flavor = "multi_thread")]
    async fn a_damaged_text_hides_no_other() {
        let folder = tempfile::tempdir().expect("a folder");
        let (system, bad, good) = damaged(folder.path()).await;
        for query in ["When did Miso the cat see the vet?", "How many times did Miso the cat see the vet?"] {
            let (profile, query) = (PROFILE.to_owned(), query.to_owned());
            let search = Search { profile, query, expand: Some(true), ..Search::default() };
            let found = system.profile_search(&context(), search.clone()).await.expect("found").reply.memories;
            assert_eq!(found.iter().map(|hit| &hit.id).collect::<Vec<_>>(), [&good.id]);
            assert!(found[0].score.is_some_and(|score| score > 0.0));
            for level in [ThinkingLevel::Low, ThinkingLevel::High] {
                let (profile, query) = (search.profile.clone(), search.query.clone());
                let recall = Recall { profile, query, thinking_level: Some(level), ..Recall::default() };
                let told = system.profile_recall(&context(), recall).await.expect("told").reply;
                assert!(told.answer.contains("in June") && told.count == 1, "{told:?}");
            }
        }
        let place = system.inner.profile(&context(), PROFILE).expect("there");
        let views = system.views(place).await.expect("loaded");
        let read = {
            let state = views.read();
            let docs =
                [&bad.id, &good.id].map(|id| state.catalog.doc(state.catalog.find(id).expect("there")).expect("there"));
            Texts::new(system.inner.environment.log.clone(), place).of(&state, &docs)
        };
        assert_eq!(read, [GOOD]);
        system.stop().await;
    }

    // Nor may it keep its profile from being opened again, or anybody from what is in it.
    #[tokio::test(flavor = "multi_thread")]
    async fn a_damaged_text_keeps_no_profile_closed() {
        let folder = tempfile::tempdir().expect("a folder");
        let (system, bad, good) = damaged(folder.path()).await;
        system.stop().await;
        drop(system);
        let system = start(folder.path()).await;
        let found = system.profile_search(&context(), vet()).await.expect("found").reply;
        assert_eq!(found.memories.iter().map(|hit| &hit.id).collect::<Vec<_>>(), [&good.id]);
        assert_eq!(found.mode, "hybrid");
        // A list shows that it is there, and whoever asks for its words hears what became of them.
        let list = Memories { profile: PROFILE.to_owned(), ..Memories::default() };
        let listed = system.profile_memories(&context(), list).await.expect("listed").reply.memories;
        let shown: Vec<_> = listed.iter().map(|it| (&it.id, it.summary.is_some())).collect();
        assert_eq!(shown, [(&good.id, true), (&bad.id, false)]);
        let read = |id: &str| Memory { profile: PROFILE.to_owned(), memory_id: id.to_owned(), as_of: None };
        let refused = system.profile_memory(&context(), read(&bad.id)).await.expect_err("damaged");
        assert!(refused.kind == Kind::Unavailable && refused.message.contains("slot"), "{refused:?}");
        assert_eq!(system.profile_memory(&context(), read(&good.id)).await.expect("read").reply.memory.id, good.id);
        let events = Events { profile: Some(PROFILE.to_owned()), ..Events::default() };
        let told = system.audit_events(&context(), events).await.expect("told").reply.events;
        assert_eq!(told.iter().filter(|event| event.event_type == "saved").count(), 2);
        // Saved again it is kept, and it can be forgotten.
        let request = Remember { profile: PROFILE.to_owned(), content: BAD.to_owned(), ..Remember::default() };
        let again = system.profile_remember(&context(), request).await.expect("saved").reply.memory;
        assert_ne!(again.id, bad.id);
        let found = system.profile_search(&context(), vet()).await.expect("found").reply.memories;
        assert!(found.iter().any(|hit| hit.id == again.id), "{found:?}");
        let forget = Forget { profile: PROFILE.to_owned(), memory_id: bad.id.clone() };
        system.profile_forget(&context(), forget).await.expect("forgotten");
        let refused = system.profile_memory(&context(), read(&bad.id)).await.expect_err("gone");
        assert_eq!(refused.kind, Kind::NotFound);
        system.stop().await;
    }
}
