//! One question: what is found for it, how long that takes, and what recall answers.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use memlog_actors::api::{
    Context,
    profile::{Candidate, Memory, Recall, Search, ThinkingLevel},
    record::{ItemType, Record},
};

use super::{
    answers::LENGTHS,
    course::Options,
    run::{Line, Retrieved},
};
use crate::cli::{
    backend::Backend,
    fail::Fail,
    input::sample::{Question, Sample, turn},
};

/// Asks about one sample.
pub(super) struct Asker<'a> {
    backend: &'a Backend,
    context: &'a Context,
    sample: &'a Sample,
    limit: u64,
    thinking: Option<ThinkingLevel>,
    types: Option<Vec<ItemType>>,
    /// What the messages say, by their ids.
    messages: HashMap<&'a str, &'a str>,
    /// What was looked up already, by record.
    records: HashMap<String, Retrieved>,
}

impl<'a> Asker<'a> {
    pub(super) fn new(backend: &'a Backend, context: &'a Context, options: &Options, sample: &'a Sample) -> Self {
        let messages = sample.conversation.sessions.iter().flat_map(|session| &session.messages);
        let messages = messages.filter_map(|message| Some((message.id.as_deref()?, message.content.as_str())));
        Self {
            backend,
            context,
            sample,
            limit: options.limit,
            thinking: options.thinking,
            types: options.types(),
            messages: messages.collect(),
            records: HashMap::new(),
        }
    }

    /// The question's line of the run, and the time of the one call that found it.
    pub(super) async fn ask(&mut self, question: &Question) -> Result<(Line, Duration), Fail> {
        let (retrieved, time) = match self.thinking {
            None => self.searched(question).await?,
            Some(level) => self.recalled(question, level).await?,
        };
        let line = Line {
            question_id: question.id.clone(),
            retrieved,
            answers: Some(self.answers(question).await?),
            latency_ms: Some(time.as_secs_f64() * 1000.0),
        };
        Ok((line, time))
    }

    async fn searched(&self, question: &Question) -> Result<(Vec<Retrieved>, Duration), Fail> {
        let request = Search {
            profile: self.sample.id.clone(),
            query: question.text.clone(),
            limit: Some(self.limit),
            types: self.types.clone(),
            ..Search::default()
        };
        let begin = Instant::now();
        let found = self.backend.call(self.context, request).await?;
        let time = begin.elapsed();
        Ok((found.memories.into_iter().map(|hit| self.retrieved(hit)).collect(), time))
    }

    /// Recall's candidates carry neither their sources nor their text. A message's are known here; a record's are looked up
    /// once the clock has stopped.
    async fn recalled(
        &mut self,
        question: &Question,
        level: ThinkingLevel,
    ) -> Result<(Vec<Retrieved>, Duration), Fail> {
        let request = Recall { limit: Some(self.limit), thinking_level: Some(level), ..self.recall(question) };
        let begin = Instant::now();
        let recalled = self.backend.call(self.context, request).await?;
        let time = begin.elapsed();
        let mut retrieved = Vec::with_capacity(recalled.candidates.len());
        for candidate in recalled.candidates {
            retrieved.push(self.behind(candidate).await?);
        }
        Ok((retrieved, time))
    }

    fn recall(&self, question: &Question) -> Recall {
        Recall {
            profile: self.sample.id.clone(),
            query: question.text.clone(),
            types: self.types.clone(),
            thinking_level: self.thinking,
            ..Recall::default()
        }
    }

    async fn behind(&mut self, candidate: Candidate) -> Result<Retrieved, Fail> {
        if !candidate.item_type.is_record() {
            let text = self.messages.get(candidate.id.as_str()).map_or(candidate.summary, |text| (*text).to_owned());
            return Ok(Retrieved { source_ids: vec![turn(&self.sample.id, &candidate.id)], text });
        }
        if let Some(known) = self.records.get(&candidate.id) {
            return Ok(known.clone());
        }
        let request = Memory { profile: self.sample.id.clone(), memory_id: candidate.id.clone(), ..Memory::default() };
        let reply = self.backend.call(self.context, request).await?;
        let retrieved = self.retrieved(reply.memory);
        self.records.insert(candidate.id, retrieved.clone());
        Ok(retrieved)
    }

    /// A hit and the turns that it stands for: a message for itself, a record for those that it was made from.
    fn retrieved(&self, hit: Record) -> Retrieved {
        let turns = if hit.item_type.is_record() { hit.sources } else { vec![hit.id] };
        let source_ids = turns.iter().map(|id| turn(&self.sample.id, id)).collect();
        Retrieved { source_ids, text: hit.content.flatten().or(hit.summary).unwrap_or_default() }
    }

    /// What recall says at each length, with its own number of candidates.
    async fn answers(&self, question: &Question) -> Result<[String; LENGTHS.len()], Fail> {
        let mut answers: [String; LENGTHS.len()] = Default::default();
        for (answer, length) in answers.iter_mut().zip(LENGTHS) {
            let request = Recall { response_length: Some(length), ..self.recall(question) };
            *answer = self.backend.call(self.context, request).await?.answer;
        }
        Ok(answers)
    }
}
