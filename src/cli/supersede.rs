//! `memlog supersede`: a newer statement takes a memory's place.

use memlog_actors::{
    api::{Time, profile::Supersede},
    port::RecordType,
};
use serde_json::{Map, Value};

use super::{Outcome, Shell, fail::Fail, remember, tables, words};

/// What by what.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The memory that no longer holds
    id: String,
    /// What holds now, or - to read it from stdin
    content: String,
    /// Its type [default: kept]
    #[arg(long = "type", value_name = "TYPE", value_parser = words::name::<RecordType>)]
    record_type: Option<RecordType>,
    /// A JSON object kept with it [default: kept]
    #[arg(long, value_name = "JSON", value_parser = words::object)]
    metadata: Option<Map<String, Value>>,
    /// When it happened or will [default: kept]
    #[arg(long, value_name = "TIME", value_parser = words::time)]
    timestamp: Option<Time>,
}

impl Args {
    pub(super) async fn run(self, shell: &Shell) -> Result<Outcome, Fail> {
        let one = shell
            .call(Supersede {
                profile: shell.profile(),
                memory_id: self.id.clone(),
                content: remember::content(self.content)?,
                record_type: self.record_type,
                metadata: self.metadata,
                timestamp: self.timestamp,
            })
            .await?;
        shell.screen.reply(&one, |_, one| {
            format!("stored {}: {}\nit supersedes {}", one.memory.id, tables::said(&one.memory), self.id)
        })?;
        Ok(Outcome::Done)
    }
}
