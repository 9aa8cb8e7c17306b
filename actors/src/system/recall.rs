//! `profile.recall`: an answer with its sources.

use std::{collections::HashMap, sync::Arc};

use jiff::civil::Date;
use memlog_events::{code::RoleCode, ids::MessageId};

use super::{
    System,
    find::{Answered, Asked, Filter, Within},
    records::Shown,
    search::of_session,
    summary::role_name,
    validate,
};
use crate::{
    api::{
        Answer, Context, Error, Said, day_at,
        profile::{Candidate, Recall, Recalled, ResponseLength, ThinkingLevel},
        record::{ItemType, Record},
    },
    domain::Place,
    limits::TYPES_MAX,
    port::{PARTS_MAX, Question, RecordType, Sentence, Source},
    recall::{
        Breadth,
        answer::{self, Length},
    },
    view::State,
};

impl System {
    /// `profile.recall`
    pub async fn profile_recall(&self, context: &Context, request: Recall) -> Result<Answer<Recalled>, Error> {
        validate::context(&self.inner, context)?;
        validate::profile(&request.profile)?;
        validate::query(&request.query)?;
        let limit = validate::hits(request.limit)?;
        // Who wants certain types or marks wants no others quoted.
        let quotes = request.types.is_none() && request.metadata_filter.is_none();
        validate::list("types", request.types.as_ref(), TYPES_MAX)?;
        let filter = Filter {
            types: request.types,
            speaker: request.speaker,
            scope: of_session(request.session_id)?,
            metadata: request.metadata_filter,
            include_invalid: request.include_invalid.unwrap_or(false),
            ..Filter::default()
        };
        // Before anybody is asked for the parts of the question.
        filter.check()?;
        let level = request.thinking_level.unwrap_or_default();
        let breadth = match level {
            ThinkingLevel::Low => Breadth::for_page(limit),
            ThinkingLevel::Medium => Breadth::Medium,
            ThinkingLevel::High => Breadth::High,
        };
        let moment = self.moment(request.as_of)?;
        let place = self.inner.profile(context, &request.profile)?;
        let reference = request.reference_date.map(Said::day);
        let quotable = quotes.then(|| filter.clone());
        let parts = match level {
            ThinkingLevel::Low => None,
            ThinkingLevel::Medium | ThinkingLevel::High => self.parts_of(&request.query).await,
        };
        let asked = Asked { query: request.query.clone(), parts, filter, breadth, limit, reference };
        let answered = self.ask(place, asked, moment).await?;
        let mut records = self.hits(&place, &answered)?;
        let length = match request.response_length.unwrap_or_default() {
            ResponseLength::Short => Length::Short,
            ResponseLength::Medium => Length::Medium,
            ResponseLength::Long => Length::Long,
        };
        let narrated = match level {
            // It is promised in milliseconds, which no model keeps.
            ThinkingLevel::Low => None,
            ThinkingLevel::Medium | ThinkingLevel::High => {
                let sources: Vec<_> = records.iter().map(source).collect();
                self.narrated(&request.query, reference, &sources, length).await
            }
        };
        let answer = match narrated {
            Some(answer) => answer,
            None => {
                if let Some(filter) = quotable {
                    self.add_messages(&place, &answered, &filter, &mut records)?;
                }
                let sources: Vec<_> = records.iter().map(source).collect();
                answer::answer(&answered.query, &sources, length)
            }
        };
        let candidates: Vec<_> = records.into_iter().map(|hit| candidate(hit.record)).collect();
        let (count, seq, mode) = (candidates.len() as u64, answered.seq, answered.mode.to_owned());
        Ok(Answer::fresh(Recalled { count, answer, candidates, seq, mode }))
    }

    /// The parts of a question, if there is a narrator who tells; what it says that could not be asked is left out.
    async fn parts_of(&self, query: &str) -> Option<Vec<String>> {
        let narrator = self.inner.narrator.clone()?;
        let text = query.to_owned();
        match crate::blocking::run(move || narrator.parts(&text)).await.ok()? {
            Ok(parts) => Some(parts.into_iter().filter(|part| validate::query(part).is_ok()).take(PARTS_MAX).collect()),
            Err(failed) => {
                tracing::debug!(%failed, "a question is not taken apart by the narrator");
                None
            }
        }
    }

    /// What a narrator answers from the candidates; none if there is no narrator, or if it fails or cites what was not found.
    async fn narrated(
        &self,
        query: &str,
        asked_on: Option<Date>,
        candidates: &[answer::Candidate],
        length: Length,
    ) -> Option<String> {
        let narrator = Arc::clone(self.inner.narrator.as_ref()?);
        let source =
            |it: &answer::Candidate| Source { text: it.text.clone(), speaker: it.speaker.clone(), said_at: it.said_at };
        let sources: Vec<_> = candidates.iter().map(source).collect();
        let (found, text) = (sources.len(), query.to_owned());
        let question = Question { text, asked_on, sources, sentences_max: length.sentences_max() };
        let answering = crate::blocking::run(move || narrator.answer(&question));
        let sentences = match answering.await.ok()? {
            Ok(sentences) => sentences,
            Err(failed) => {
                tracing::debug!(%failed, "a question is answered without the narrator");
                return None;
            }
        };
        let cited = |it: &Sentence| !it.sources.is_empty() && it.sources.iter().all(|at| *at < found);
        let holds = sentences.len() <= length.sentences_max() && sentences.iter().all(cited);
        holds.then(|| answer::told(&sentences))
    }

    /// The records behind the hits; what was erased since the search is left out.
    fn hits(&self, place: &Place, answered: &Answered) -> Result<Vec<Behind>, Error> {
        let now = self.now();
        answered.seen.read(|state| {
            let records = self.behind(place, state, &answered.hits, now)?;
            Ok(records.into_iter().map(|(doc, record)| Behind::of(state, doc, record)).collect())
        })
    }

    /// Adds to each record the message that it was made from, if the search could have found it, too, and the record's speaker sent it.
    /// Of two records of one message the better has it.
    fn add_messages(
        &self,
        place: &Place,
        answered: &Answered,
        filter: &Filter,
        records: &mut [Behind],
    ) -> Result<(), Error> {
        let now = self.now();
        answered.seen.read(|state| {
            let catalog = &state.catalog;
            let within = Within::new(catalog, &filter.scope);
            let mut taken = HashMap::new();
            for (at, record) in records.iter().enumerate() {
                let Some(message) = record.made_from else { continue };
                if !filter.include_invalid && catalog.is_outdated(message, now) {
                    continue;
                }
                let Some(doc) = catalog.by_uuid(message.0) else { continue };
                if catalog.visible(doc, now).is_some_and(|it| within.admits(it)) {
                    taken.entry(doc).or_insert(at);
                }
            }
            let docs: Vec<u32> = taken.keys().copied().collect();
            for (doc, message) in self.records(place, state, &docs, Shown::Undamaged, now)? {
                let record = &mut records[taken[&doc]];
                if message.speaker == record.record.speaker {
                    record.message = Some(Box::new(Behind::of(state, doc, message)));
                }
            }
            Ok(())
        })
    }
}

/// What is behind a hit; of a message who sent it and how far the speaker's clock is from UTC; of a record its message.
struct Behind {
    record: Record,
    said: Option<(RoleCode, i32)>,
    /// The message that a record was made from, if it is one.
    made_from: Option<MessageId>,
    message: Option<Box<Behind>>,
}

impl Behind {
    /// Without its message.
    fn of(state: &State, doc: u32, record: Record) -> Self {
        let it = state.catalog.doc(doc);
        let said = it.map(|it| (it.role, it.offset_seconds));
        let made_from = it.and_then(|it| match it.sources[..] {
            [message] => Some(message),
            _ => None,
        });
        Self { record, said, made_from, message: None }
    }
}

fn candidate(record: Record) -> Candidate {
    Candidate {
        id: record.id,
        item_type: record.item_type,
        summary: record.summary.unwrap_or_default(),
        session_id: record.session_id,
        speaker: record.speaker,
        score: record.score.unwrap_or_default(),
        created_at: record.created_at,
    }
}

fn source(hit: &Behind) -> answer::Candidate {
    let record = &hit.record;
    let role = hit.said.filter(|_| record.item_type == ItemType::Message).map(|(role, _)| role_name(role));
    answer::Candidate {
        id: record.id.clone(),
        text: record.content.clone().flatten().unwrap_or_default(),
        summary: record.summary.clone().unwrap_or_default(),
        speaker: record.speaker.clone().or_else(|| role.map(str::to_owned)),
        said_at: record.timestamp.timestamp(),
        counts_from: counts_from(hit),
        record_type: record_type(record.item_type),
        message: hit.message.as_deref().map(|message| Box::new(source(message))),
    }
}

/// A message was said at its time, on its speaker's calendar. A record made from messages has its days written out; of one
/// that was saved with a time of its own, nobody knows when it was said.
fn counts_from(hit: &Behind) -> Option<Date> {
    let record = &hit.record;
    let message = record.item_type == ItemType::Message;
    let as_saved = record.sources.is_empty() && record.timestamp == record.created_at;
    let offset = hit.said.map_or(0, |(_, offset)| offset);
    (message || as_saved).then(|| day_at(record.timestamp.timestamp(), offset))
}

/// None for a raw message.
pub(crate) fn record_type(item: ItemType) -> Option<RecordType> {
    Some(match item {
        ItemType::Memory => RecordType::Memory,
        ItemType::Fact => RecordType::Fact,
        ItemType::Event => RecordType::Event,
        ItemType::Instruction => RecordType::Instruction,
        ItemType::Task => RecordType::Task,
        ItemType::Guideline => RecordType::Guideline,
        ItemType::Preference => RecordType::Preference,
        ItemType::Message | ItemType::Image => return None,
    })
}
