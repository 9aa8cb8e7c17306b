//! `memlog remember`: stores one memory.

use std::io::Read as _;

use memlog_actors::{
    api::{
        Time,
        profile::{Remember, Remembered, Stored},
    },
    limits,
    port::RecordType,
};
use serde_json::{Map, Value};

use super::{Outcome, Shell, fail::Fail, input, screen::Screen, tables, words};

/// What to store.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The text, or - to read it from stdin
    content: String,
    /// memory, fact, event, instruction, task, guideline or preference [default: found from the text]
    #[arg(long = "type", value_name = "TYPE", value_parser = words::name::<RecordType>)]
    record_type: Option<RecordType>,
    /// The session that it belongs to
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Who said it: a registered speaker, or `me`
    #[arg(long, value_name = "NAME")]
    speaker: Option<String>,
    /// A JSON object kept with it
    #[arg(long, value_name = "JSON", value_parser = words::object)]
    metadata: Option<Map<String, Value>>,
    /// When it happened or will [default: now]
    #[arg(long, value_name = "TIME", value_parser = words::time)]
    timestamp: Option<Time>,
    /// Forget it by itself after so many days
    #[arg(long, value_name = "DAYS")]
    ttl_days: Option<f64>,
    /// Store it even if a stored one says the same
    #[arg(long)]
    no_dedupe: bool,
}

impl Args {
    pub(super) async fn run(self, shell: &Shell) -> Result<Outcome, Fail> {
        let remembered = shell
            .call(Remember {
                profile: shell.profile(),
                content: content(self.content)?,
                record_type: self.record_type,
                session_id: self.session,
                speaker: self.speaker,
                metadata: self.metadata,
                timestamp: self.timestamp,
                ttl_days: self.ttl_days,
                dedupe: self.no_dedupe.then_some(false),
            })
            .await?;
        shell.screen.reply(&remembered, people)?;
        Ok(Outcome::Done)
    }
}

/// The word of the command line, or stdin. Reads no more than one byte past what the API would refuse.
pub(super) fn content(word: String) -> Result<String, Fail> {
    if word != "-" {
        return Ok(word);
    }
    let mut text = String::new();
    let limit = limits::CONTENT_BYTES_MAX as u64 + 1;
    std::io::stdin().lock().take(limit).read_to_string(&mut text).map_err(input::unread("stdin"))?;
    Ok(text.trim_end().to_owned())
}

fn people(_: &Screen, remembered: &Remembered) -> String {
    let memory = &remembered.memory;
    let what = words::written(&memory.item_type);
    match remembered.status {
        Stored::Stored => format!("stored {what} {}: {}", memory.id, tables::said(memory)),
        Stored::Duplicate => {
            let note = remembered.note.as_deref().unwrap_or("a stored memory says the same");
            format!(
                "not stored: {note}\n{what} {}: {}\n--no-dedupe stores it all the same",
                memory.id,
                tables::said(memory)
            )
        }
    }
}
