//! What narrows a search or a recall, the same flags for both.

use memlog_actors::api::{AsOf, Said, record::ItemType};
use serde_json::{Map, Value};

use super::words;

/// The flags.
#[derive(Debug, Default, clap::Args)]
pub(super) struct Filter {
    /// At most so many hits, 1 to 100 [default: 10]
    #[arg(long, short = 'n')]
    pub(super) limit: Option<u64>,
    /// Only these types: memory fact event instruction task guideline preference message
    #[arg(long = "type", value_name = "TYPE", value_delimiter = ',', value_parser = words::name::<ItemType>)]
    types: Vec<ItemType>,
    /// Only what this registered speaker said
    #[arg(long, value_name = "NAME")]
    pub(super) speaker: Option<String>,
    /// Only from this session
    #[arg(long, value_name = "ID")]
    pub(super) session: Option<String>,
    /// Only records whose metadata match this JSON object
    #[arg(long, value_name = "JSON", value_parser = words::object)]
    pub(super) metadata: Option<Map<String, Value>>,
    /// Superseded and invalid records, too
    #[arg(long)]
    include_invalid: bool,
    /// What "today" is in the question [default: now]
    #[arg(long, value_name = "TIME", value_parser = words::said)]
    pub(super) reference_date: Option<Said>,
    /// Answer as the log stood at this position or time
    #[arg(long, value_name = "SEQ|TIME", value_parser = words::as_of)]
    pub(super) as_of: Option<AsOf>,
}

impl Filter {
    /// The types, if any were named.
    pub(super) fn types(&self) -> Option<Vec<ItemType>> {
        (!self.types.is_empty()).then(|| self.types.clone())
    }

    /// Whether invalid records count; the API's default when not said.
    pub(super) fn include_invalid(&self) -> Option<bool> {
        self.include_invalid.then_some(true)
    }
}
