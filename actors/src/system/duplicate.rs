//! Whether a profile's records say something already: shared words find them, [`crate::same`] decides.
//!
//! Words, not vectors: what the rule can tell to be the same shares words once its synonyms are asked for as well, a record is
//! found by them the moment it is stored, with or without a model, and no write waits for one.

use std::{sync::Arc, time::Duration};

use memlog_events::{
    event::Content,
    ids::{Digest, Micros, RecordId, SpeakerId},
    log::Log,
};

use super::{
    System,
    lookup::{broken, panicked},
};
use crate::{
    api::Error,
    domain::{
        Place,
        record::{LETTER_BY_LETTER, Stored},
    },
    same::{Author, Statement},
    view::{
        ProfileViews, State,
        indexed::{undamaged_of, words_of},
        keyword::analyse::terms,
    },
};

/// Records that are read to see whether they say the same: those that share most words with the statement, or with what else
/// could stand for its words. Of the labelled duplicates that the rule knows each was among the first few of all statements.
const CANDIDATES_MAX: usize = 16;
/// How long a reply waits for the model to tell how near a duplicate lies. A busy model must not hold up what is decided.
const SIMILARITY_WAIT_MAX: Duration = Duration::from_secs(1);
/// Whom a statement is from, as far as its "I" is concerned.
pub(crate) fn author(speaker: Option<SpeakerId>) -> Author {
    if speaker.is_some() { Author::Speaker } else { Author::Anyone }
}

/// A statement about to be stored.
#[derive(Clone)]
pub(crate) struct Saying {
    pub(crate) statement: Arc<Statement>,
    /// Of its words, to the letter.
    pub(crate) fingerprint: Digest,
    /// Its tag.
    pub(crate) speaker: Option<SpeakerId>,
    /// The time it was given: what is said of another day is news.
    pub(crate) timestamp: Option<Micros>,
    /// Where only what a thread's own owners said counts, that thread.
    pub(crate) thread: Option<u32>,
}

impl Saying {
    /// Whether a record that says the same is of the same day, if this has a day of its own.
    fn is_of_day(&self, state: &State, doc: u32) -> bool {
        let day = |at: Micros| at.0.div_euclid(DAY_MICROS);
        let same = |at| state.catalog.doc(doc).is_some_and(|it| day(it.when()) == day(at));
        self.timestamp.is_none_or(same)
    }

    fn is_of_owners(&self, state: &State, doc: u32) -> bool {
        let thread = self.thread.and_then(|thread| state.catalog.thread(thread));
        thread.is_none_or(|thread| state.catalog.doc(doc).is_some_and(|it| state.catalog.is_of_owners(it, thread)))
    }
}

const DAY_MICROS: i64 = 86_400_000_000;

/// A valid record under this tag that says what a statement says, and its text. Blocking.
pub(crate) fn same_record(
    log: &Log,
    place: &Place,
    state: &State,
    saying: &Saying,
    now: Micros,
) -> Result<Option<(u32, String)>, memlog_events::log::Error> {
    let Saying { statement, speaker, .. } = saying;
    let asked = state.keyword.prepare(&statement.in_other_words());
    let may = |doc: u32| {
        let holds = state.catalog.holds_under(doc, *speaker, now).is_some() && saying.is_of_day(state, doc);
        holds && saying.is_of_owners(state, doc)
    };
    for (doc, _) in state.keyword.best(&asked, CANDIDATES_MAX, &may) {
        let (shared, terms) = state.keyword.overlap(&asked, doc);
        if !statement.may_be_said_in(shared, terms) {
            continue;
        }
        let Some(it) = state.catalog.doc(doc) else { continue };
        let content: Option<Content> = undamaged_of(log, place, &state.catalog, &[it])?.pop().flatten();
        let Some(words) = content.as_ref().and_then(words_of) else { continue };
        if Statement::new(words, author(*speaker)).says_the_same(statement) {
            return Ok(Some((doc, words.to_owned())));
        }
    }
    Ok(None)
}

impl System {
    /// The record that says a statement already: to the letter, or in other words.
    pub(crate) async fn said_before(
        &self,
        place: &Place,
        text: &str,
        saying: &Saying,
    ) -> Result<Option<Stored>, Error> {
        let views = self.views(*place).await?;
        let now = self.now();
        let known = |id: uuid::Uuid, similarity| Stored { record: RecordId(id), duplicate: Some(similarity) };
        {
            let state = views.read();
            let mut docs = state.catalog.all_saying(saying.fingerprint, saying.speaker, now);
            let doc = docs.find(|doc| saying.is_of_day(&state, *doc));
            if let Some(it) = doc.and_then(|doc| state.catalog.doc(doc)) {
                return Ok(Some(known(it.id, LETTER_BY_LETTER)));
            }
        }
        let (log, place, saying) = (self.inner.environment.log.clone(), *place, saying.clone());
        let looked_at = Arc::clone(&views);
        let found = crate::blocking::run(move || {
            let state = looked_at.read();
            let found = same_record(&log, &place, &state, &saying, now)?;
            Ok(found.and_then(|(doc, words)| Some((state.catalog.doc(doc)?.id, words))))
        });
        let found = found.await.map_err(panicked)?.map_err(|error: memlog_events::log::Error| broken(error))?;
        let Some((id, words)) = found else { return Ok(None) };
        let similarity = self.similarity(&views, text, &words).await;
        Ok(Some(known(id, (similarity.clamp(0.0, 1.0) * LETTER_BY_LETTER as f32) as u32)))
    }

    /// How alike two texts are: the cosine of their vectors; without a model that answers in time, the share of words.
    async fn similarity(&self, of: &ProfileViews, one: &str, two: &str) -> f32 {
        if let Some(embed) = self.inner.registry.embed() {
            let embedded = async { tokio::try_join!(embed.passage(of, one), embed.passage(of, two)) };
            if let Ok(Ok((one, two))) = tokio::time::timeout(SIMILARITY_WAIT_MAX, embedded).await {
                return one.iter().zip(&two).map(|(one, two)| one * two).sum();
            }
        }
        let (ones, twos) = (terms(one), terms(two));
        let shared = ones.iter().filter(|term| twos.contains(term)).count();
        2.0 * shared as f32 / (ones.len() + twos.len()).max(1) as f32
    }
}
