//! `memlog show`: one memory with all its fields.

use memlog_actors::api::{
    AsOf,
    profile::Memory,
    record::{Record, Status},
};

use super::{
    Outcome, Shell,
    fail::Fail,
    tables::{moment, or_dash, pairs},
    words,
};

/// Which one.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Its id
    id: String,
    /// As the log stood at this position or time
    #[arg(long, value_name = "SEQ|TIME", value_parser = words::as_of)]
    as_of: Option<AsOf>,
}

impl Args {
    pub(super) async fn run(self, shell: &Shell) -> Result<Outcome, Fail> {
        let one = shell.call(Memory { profile: shell.profile(), memory_id: self.id, as_of: self.as_of }).await?;
        shell.screen.reply(&one, |_, one| people(&one.memory))?;
        Ok(Outcome::Done)
    }
}

/// All fields that say something.
pub(super) fn people(record: &Record) -> String {
    let content = record.content.as_ref().and_then(Option::as_deref);
    let mut fields = vec![
        ("id", record.id.clone()),
        ("type", words::written(&record.item_type)),
        ("summary", or_dash(record.summary.as_deref()).to_owned()),
        ("content", or_dash(content).to_owned()),
        ("who", or_dash(record.speaker.as_deref()).to_owned()),
        ("session", or_dash(record.session_id.as_deref()).to_owned()),
        ("when (UTC)", moment(record.timestamp)),
        ("stored (UTC)", moment(record.created_at)),
        ("changed (UTC)", moment(record.updated_at)),
        ("version", record.version.to_string()),
        ("sources", if record.sources.is_empty() { "-".to_owned() } else { record.sources.join(" ") }),
    ];
    if record.status == Status::Invalid {
        fields.push(("status", format!("invalid, superseded by {}", or_dash(record.superseded_by.as_deref()))));
    }
    if let Some(expires) = record.expires_at {
        fields.push(("expires (UTC)", moment(expires)));
    }
    if !record.metadata.is_empty() {
        fields.push(("metadata", serde_json::Value::Object(record.metadata.clone()).to_string()));
    }
    pairs(&fields)
}
