//! The ports, filled by a model.

use std::{collections::BTreeSet, time::Duration};

use memlog_actors::{
    domain::text::normalised,
    extract,
    port::{
        ExtractFailed, Extracted, Extractor, NarrationFailed, Narrator, Question, RecordType, Sentence, Session, Work,
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
    fn once(&self, seconds: u64) -> Budget {
        Budget::new(Duration::from_secs(seconds), self.settings.job_tokens_max, 1)
    }

    fn memories(&self, work: &Work) -> Result<Vec<Extracted>, CallFailed> {
        let asked = prompt::extract();
        let parts = parts(work, self.settings.input_tokens_max);
        let mut budget = self.job();
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

    fn kind(&self, content: &str) -> Result<RecordType, CallFailed> {
        let mut budget = self.once(self.settings.classify_s_max);
        let answer = self.client.ask(&prompt::classify(), &json!({ "text": content }), &mut budget)?;
        Ok(decode::kind(&answer)?)
    }

    fn sentences(&self, question: &Question) -> Result<Vec<Sentence>, CallFailed> {
        let data = prompt::question(question, self.settings.input_tokens_max);
        let sources = data["sources"].as_array().map_or(0, Vec::len);
        let mut budget = self.once(self.settings.answer_s_max);
        let answer = self.client.ask(&prompt::answer(), &data, &mut budget)?;
        Ok(decode::sentences(&answer, sources, question.sentences_max)?)
    }

    fn summary(&self, session: &Session) -> Result<String, CallFailed> {
        let asked: Asked = prompt::summarise();
        let data = prompt::session(session, self.settings.input_tokens_max);
        let answer = self.client.ask(&asked, &data, &mut self.summary_of_job())?;
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

    fn answer(&self, question: &Question) -> Result<Vec<Sentence>, NarrationFailed> {
        if question.sources.is_empty() {
            return Ok(Vec::new());
        }
        Ok(self.sentences(question)?)
    }
}
