//! `memlog demo`: a conversation goes in, memories come out, answers name their sources, a secret is forgotten for real,
//! and the log shows how. Nothing here is staged: every line on the screen is a reply of the API or a finding in the files.

mod proof;
mod script;

use memlog_actors::api::{
    AsOf, Context, Verb,
    audit::{Events, Stats, Verify},
    profile::{Memories, Memory, Recall, Recalled},
    record::{ItemType, Record},
};
use serde_json::json;

use super::{
    Outcome,
    backend::{Backend, Folder, Model},
    fail::Fail,
    ingest,
    input::{Conversation, jsonl},
    screen::{DIM, HEADING, Screen},
    settings::Settings,
    tables, verify,
};

/// The conversation that ships with memlog.
const CONVERSATION: &str = include_str!("conversation.jsonl");
/// Extraction of a few turns takes milliseconds; a machine that needs longer is stuck.
const EXTRACTION_S_MAX: f64 = 60.0;

/// Nothing to say: --data keeps the folder, otherwise a temporary one is used.
#[derive(Debug, clap::Args)]
pub(super) struct Args {}

/// The stage.
struct Demo {
    backend: Backend,
    context: Context,
    profile: String,
    settings: Settings,
    screen: Screen,
}

impl Args {
    pub(super) async fn run(self, settings: Settings, screen: Screen) -> Result<Outcome, Fail> {
        let temporary = if settings.data_by_flag { None } else { Some(tempfile::tempdir().map_err(Fail::file("."))?) };
        let folder = temporary.as_ref().map_or_else(|| settings.data.clone(), |folder| folder.path().to_owned());
        let vault = settings.vault.clone().filter(|_| temporary.is_none());
        let settings = Settings { vault, ..settings.in_folder(folder) };
        let backend = Backend::open(&settings, &screen, Model::Used, Folder::Made).await?;
        let profile = settings.profile_named.clone().unwrap_or_else(|| "demo".to_owned());
        let demo = Demo { backend, context: settings.context(), profile, settings, screen };
        let outcome = demo.play(temporary.is_none()).await;
        demo.backend.close().await;
        outcome
    }
}

impl Demo {
    async fn play(&self, kept: bool) -> Result<Outcome, Fail> {
        let conversation = jsonl::conversation(CONVERSATION, "conversation.jsonl")?;
        let after_first = self.converse(&conversation).await?;
        self.memories().await?;
        for question in script::QUESTIONS {
            self.heading("asked", question);
            self.ask(question, None).await?;
        }
        self.heading("the past", &format!("{} - as of seq {after_first}, after the first session", script::CHANGED));
        self.ask(script::CHANGED, Some(AsOf::Seq(after_first))).await?;
        let well = self.forget().await?;
        self.events().await?;
        self.close_with(kept);
        Ok(if well { Outcome::Done } else { Outcome::Unwell(1) })
    }

    async fn call<V: Verb>(&self, request: V) -> Result<V::Reply, Fail> {
        self.backend.call(&self.context, request).await
    }

    fn heading(&self, what: &str, about: &str) {
        if !self.screen.is_json() {
            self.screen.line(&format!("\n{HEADING}== {what}{HEADING:#}  {about}"));
        }
    }

    /// A step's reply: for machines with the step's name beside it.
    fn step<T: serde::Serialize>(&self, name: &str, reply: &T, people: impl FnOnce(&T) -> String) -> Result<(), Fail> {
        self.screen.reply(&json!({ "step": name, "reply": reply }), |_, _| people(reply))
    }

    /// Plays the sessions in and returns the log's position after the first one.
    async fn converse(&self, conversation: &Conversation) -> Result<u64, Fail> {
        let mut after_first = None;
        for session in &conversation.sessions {
            self.heading("session", session.id.as_deref().unwrap_or_default());
            let one = Conversation { sessions: vec![session.clone()], ..conversation.clone() };
            if !self.screen.is_json() {
                self.screen.line(&script::told(&session.messages));
            }
            let sent = ingest::send(&self.backend, &self.context, &one, &self.profile, &mut |_| {}).await?;
            ingest::wait(&self.backend, &self.context, &self.profile, EXTRACTION_S_MAX).await?;
            for reply in &sent {
                let (new, old) = (reply.accepted, reply.duplicates);
                self.step("ingest", reply, |_| format!("{DIM}{new} messages stored, {old} were there already{DIM:#}"))?;
            }
            if after_first.is_none() {
                after_first = Some(self.call(Stats {}).await?.head.seq);
            }
        }
        Ok(after_first.unwrap_or_default())
    }

    async fn memories(&self) -> Result<(), Fail> {
        self.heading("memories", "what came out of it");
        let request = Memories { profile: self.profile.clone(), limit: Some(100), ..Memories::default() };
        let page = self.call(request).await?;
        self.step("memories", &page, |page| tables::records(&self.screen, &page.memories).to_string())
    }

    /// Asks, and shows what the answer rests on: the record, who said it, when, and in which messages.
    async fn ask(&self, question: &str, as_of: Option<AsOf>) -> Result<(), Fail> {
        let request = Recall {
            profile: self.profile.clone(),
            query: question.to_owned(),
            limit: Some(3),
            as_of,
            ..Recall::default()
        };
        let recalled = self.call(request).await?;
        let sources = self.sources(&recalled, as_of).await?;
        self.step("recall", &recalled, |recalled| {
            if recalled.count == 0 { "nothing is known about that".to_owned() } else { recalled.answer.clone() }
        })?;
        self.step("sources", &sources, |sources| script::sources(&self.screen, sources))
    }

    async fn sources(&self, recalled: &Recalled, as_of: Option<AsOf>) -> Result<Vec<script::Source>, Fail> {
        let mut sources = Vec::new();
        for candidate in &recalled.candidates {
            let record: Option<Record> = if candidate.item_type == ItemType::Message {
                None
            } else {
                let (profile, memory_id) = (self.profile.clone(), candidate.id.clone());
                Some(self.call(Memory { profile, memory_id, as_of }).await?.memory)
            };
            sources.push(script::Source::of(candidate, record.as_ref()));
        }
        Ok(sources)
    }

    async fn events(&self) -> Result<(), Fail> {
        self.heading("the log", "the last of the events behind all this; facts alone, never a word of content");
        let request = Events { profile: Some(self.profile.clone()), limit: Some(500), ..Events::default() };
        let mut page = self.call(request).await?;
        page.events.drain(..page.events.len().saturating_sub(12));
        self.step("events", &page, |page| tables::events(&self.screen, &page.events).to_string())?;
        let verified = self.call(Verify::default()).await?;
        self.step("verify", &verified, |verified| verify::people(&self.screen, verified))
    }

    fn close_with(&self, kept: bool) {
        let folder = self.settings.data.display();
        let next = if kept {
            format!("all of it is in {folder}: try `memlog --data {folder} --profile {} search honey`", self.profile)
        } else {
            "the temporary folder is gone now; `memlog demo --data DIR` keeps it".to_owned()
        };
        self.heading("next", &next);
    }
}
