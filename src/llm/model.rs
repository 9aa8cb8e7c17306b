//! The ports, filled by a model.

use std::{collections::BTreeSet, time::Duration};

use base64::{Engine, engine::general_purpose::STANDARD};
use memlog_actors::{
    domain::text::normalised,
    extract,
    port::{
        ExtractFailed, Extracted, Extractor, NarrationFailed, Narrator, PARTS_MAX, Question, Reading, RecordType,
        Relation, Sentence, Session, Turn, Work,
    },
};
use serde_json::json;

use super::{
    client::{Budget, Client, UNAVAILABLE, tokens},
    decode::{self, Malformed, Shown},
    endpoint::CallFailed,
    prompt::{self, Asked},
    settings::{Fallback, Settings},
    split::{Part, parts},
};

/// Bytes that count as one token.
const TOKEN_BYTES: u64 = 4;

/// The part of an answer's time that taking its question apart may have, as a divisor; the rest is for the answer itself.
const PARTS_SHARE: u32 = 3;

/// A language model that fills the ports.
pub(super) struct Model {
    client: Client,
    fallback: Fallback,
    settings: Settings,
}

impl From<Malformed> for CallFailed {
    fn from(_: Malformed) -> Self {
        Self::lasting("malformed_answer")
    }
}

impl From<CallFailed> for ExtractFailed {
    fn from(failed: CallFailed) -> Self {
        Self { code: failed.code.into(), transient: failed.transient }
    }
}

impl From<CallFailed> for NarrationFailed {
    fn from(failed: CallFailed) -> Self {
        Self { code: failed.code }
    }
}

impl Model {
    pub(super) fn new(client: Client, settings: &Settings) -> Self {
        Self { client, fallback: settings.fallback, settings: settings.clone() }
    }

    /// For one try of a job.
    fn job(&self) -> Budget {
        let set = &self.settings;
        Budget::new(Duration::from_secs(set.job_s_max), set.job_tokens_max, set.tries_max)
    }

    /// For the summary that comes with a job: one more call, whose failure costs nothing.
    fn summary_of_job(&self) -> Budget {
        let set = &self.settings;
        let one = set.input_tokens_max.saturating_mul(2).saturating_add(set.output_tokens_max);
        Budget::new(Duration::from_secs(set.call_s_max), one.saturating_mul(set.tries_max), set.tries_max)
    }

    /// For somebody who waits and has a local text to fall back on: one try.
    fn once(&self, within: Duration) -> Budget {
        Budget::new(within, self.settings.job_tokens_max, 1)
    }

    fn memories(&self, work: &Work) -> Result<Vec<Extracted>, CallFailed> {
        let reading = &work.reading;
        let asked = prompt::extract(reading.instructions.as_deref());
        let mut budget = self.job();
        let shortened = Work { turns: self.shortened(&work.turns, reading, &mut budget), ..work.clone() };
        let parts = parts(&shortened, self.input_tokens_max(reading));
        let sent = |part: &Part| tokens(part.data.to_string().len() + asked.system.len());
        if !budget.holds(parts.iter().map(sent).sum()) {
            return Err(CallFailed::lasting("token_budget"));
        }
        let mut said: BTreeSet<String> = work.known.iter().map(|content| normalised(content)).collect();
        let mut found = Vec::new();
        for part in &parts {
            let answer = self.client.ask(&asked, &part.data, &mut budget)?;
            let told = decode::memories(&answer, &Shown { messages: &part.messages, known: part.known })?;
            let news = told.into_iter().filter(|told| said.insert(normalised(&told.content)));
            found.extend(news.map(|told| Extracted {
                record_type: told.record_type,
                summary: self.line(&told.content),
                content: told.content,
                timestamp: told.timestamp,
                sources: told.sources,
                corrects: told.corrects,
            }));
        }
        Ok(found)
    }

    /// Tokens of one call: the thread may want fewer than the operator allows.
    fn input_tokens_max(&self, reading: &Reading) -> u64 {
        reading.input_tokens_max.map_or(self.settings.input_tokens_max, |most| most.min(self.settings.input_tokens_max))
    }

    /// Messages as the model is to see them. One past the thread's bound is told in fewer words, or cut where that fails; what is
    /// stored stays as it is.
    fn shortened(&self, turns: &[Turn], reading: &Reading, budget: &mut Budget) -> Vec<Turn> {
        let Some(tokens_max) = reading.message_tokens_max else { return turns.to_vec() };
        let bytes_max = usize::try_from(tokens_max.saturating_mul(TOKEN_BYTES)).unwrap_or(usize::MAX);
        let short = |turn: &Turn| {
            if turn.text.len() <= bytes_max {
                return turn.clone();
            }
            let told = self.in_fewer_words(&turn.text, tokens_max, reading, budget);
            let text = told.unwrap_or_else(|failed| {
                tracing::debug!(code = failed.code, "a long message was cut for the language model");
                turn.text.clone()
            });
            Turn { text: prompt::cut_bytes(&text, bytes_max).to_owned(), ..turn.clone() }
        };
        turns.iter().map(short).collect()
    }

    fn in_fewer_words(
        &self,
        text: &str,
        tokens_max: u64,
        reading: &Reading,
        budget: &mut Budget,
    ) -> Result<String, CallFailed> {
        let most = reading.shortening_tokens_max.unwrap_or(u64::MAX).saturating_mul(TOKEN_BYTES);
        let shown = prompt::cut_bytes(text, usize::try_from(most).unwrap_or(usize::MAX));
        // A token is some three quarters of a word.
        let data = json!({ "text": shown, "words_max": (tokens_max * 3 / 4).max(1) });
        let answer = self.client.ask(&prompt::shorten(), &data, budget)?;
        Ok(decode::shortened(&answer, text.len())?)
    }

    fn links(&self, new: &str, known: &[String]) -> Result<Vec<(usize, Relation)>, CallFailed> {
        let data = prompt::relating(new, known, self.settings.input_tokens_max);
        let shown = data["known"].as_array().map_or(0, Vec::len);
        let mut budget = self.once(Duration::from_secs(self.settings.answer_s_max));
        let answer = self.client.ask(&prompt::relate(), &data, &mut budget)?;
        Ok(decode::links(&answer, shown)?)
    }

    fn kind(&self, content: &str) -> Result<RecordType, CallFailed> {
        let mut budget = self.once(Duration::from_secs(self.settings.classify_s_max));
        let answer = self.client.ask(&prompt::classify(), &json!({ "text": content }), &mut budget)?;
        Ok(decode::kind(&answer)?)
    }

    fn sentences(&self, question: &Question) -> Result<Vec<Sentence>, CallFailed> {
        let data = prompt::question(question, self.settings.input_tokens_max);
        let sources = data["sources"].as_array().map_or(0, Vec::len);
        let mut budget = self.once(self.answer_time() - self.parts_time());
        let answer = self.client.ask(&prompt::answer(), &data, &mut budget)?;
        Ok(decode::sentences(&answer, sources, question.sentences_max)?)
    }

    fn answer_time(&self) -> Duration {
        Duration::from_secs(self.settings.answer_s_max)
    }

    fn parts_time(&self) -> Duration {
        self.answer_time() / PARTS_SHARE
    }

    fn questions(&self, question: &str) -> Result<Vec<String>, CallFailed> {
        let mut budget = self.once(self.parts_time());
        let data = json!({ "question": question, "questions_max": PARTS_MAX });
        let answer = self.client.ask(&prompt::take_apart(), &data, &mut budget)?;
        Ok(decode::parts(&answer, question)?)
    }

    /// The image counts for nothing in the budget of tokens: what it costs is by its pixels, and only the model knows.
    fn description(&self, image: &[u8], mime: &str, within: Duration) -> Result<String, CallFailed> {
        let url = format!("data:{mime};base64,{}", STANDARD.encode(image));
        let tokens_max = self.settings.job_tokens_max.saturating_add(tokens(url.len()));
        let within = within.min(Duration::from_secs(self.settings.caption_s_max));
        let mut budget = Budget::new(within, tokens_max, 1);
        let answer = self.client.ask_about(&prompt::caption(), &json!({ "mime_type": mime }), &url, &mut budget)?;
        Ok(decode::caption(&answer)?)
    }

    fn summary(&self, session: &Session) -> Result<String, CallFailed> {
        let asked: Asked = prompt::summarise();
        let mut budget = self.summary_of_job();
        let turns = self.shortened(&session.turns, &session.reading, &mut budget);
        let shortened = Session { turns, ..session.clone() };
        let data = prompt::session(&shortened, self.input_tokens_max(&session.reading));
        let answer = self.client.ask(&asked, &data, &mut budget)?;
        Ok(decode::summary(&answer)?)
    }
}

impl Extractor for Model {
    fn extract(&self, work: &Work) -> Result<Vec<Extracted>, ExtractFailed> {
        match self.memories(work) {
            Err(failed) if failed.code == UNAVAILABLE && self.fallback == Fallback::Local => {
                extract::Local.extract(work)
            }
            other => other.map_err(ExtractFailed::from),
        }
    }

    fn classify(&self, content: &str) -> (RecordType, String) {
        let (local, line) = extract::Local.classify(content);
        let told = self.kind(content).inspect_err(|failed| {
            tracing::debug!(code = failed.code, "a type was found without the language model");
        });
        (told.unwrap_or(local), line)
    }

    fn line(&self, content: &str) -> String {
        extract::Local.line(content)
    }
}

impl Narrator for Model {
    fn summarise(&self, session: &Session) -> Result<String, NarrationFailed> {
        Ok(self.summary(session)?)
    }

    fn parts(&self, question: &str) -> Result<Vec<String>, NarrationFailed> {
        Ok(self.questions(question)?)
    }

    fn relate(&self, new: &str, known: &[String]) -> Result<Vec<(usize, Relation)>, NarrationFailed> {
        if known.is_empty() {
            return Ok(Vec::new());
        }
        Ok(self.links(new, known)?)
    }

    fn answer(&self, question: &Question) -> Result<Vec<Sentence>, NarrationFailed> {
        if question.sources.is_empty() {
            return Ok(Vec::new());
        }
        Ok(self.sentences(question)?)
    }

    fn caption(&self, image: &[u8], mime: &str, within: Duration) -> Result<String, NarrationFailed> {
        Ok(self.description(image, mime, within)?)
    }
}
