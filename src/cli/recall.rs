//! `memlog recall`: an answer, and what it rests on.

use comfy_table::Cell;
use memlog_actors::{
    api::profile::{Recall, Recalled, ResponseLength, ThinkingLevel},
    recall::one_line,
};

use super::{
    Outcome, Shell,
    fail::Fail,
    filter::Filter,
    screen::{HEADING, Screen},
    tables,
    words::{self, harmless},
};

/// What to ask.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The question
    query: String,
    #[command(flatten)]
    filter: Filter,
    /// How hard to think: low, medium or high [default: low]
    #[arg(long, value_name = "LEVEL", value_parser = words::name::<ThinkingLevel>)]
    thinking: Option<ThinkingLevel>,
    /// How much to say: short, medium or long [default: medium]
    #[arg(long, value_name = "LENGTH", value_parser = words::name::<ResponseLength>)]
    length: Option<ResponseLength>,
}

impl Args {
    pub(super) async fn run(self, shell: &Shell) -> Result<Outcome, Fail> {
        let recalled = shell
            .call(Recall {
                profile: shell.profile(),
                query: self.query,
                thinking_level: self.thinking,
                response_length: self.length,
                limit: self.filter.limit,
                types: self.filter.types(),
                include_invalid: self.filter.include_invalid(),
                speaker: self.filter.speaker,
                session_id: self.filter.session,
                metadata_filter: self.filter.metadata,
                reference_date: self.filter.reference_date,
                as_of: self.filter.as_of,
            })
            .await?;
        shell.screen.reply(&recalled, people)?;
        Ok(Outcome::Done)
    }
}

/// The answer, then its sources.
pub(super) fn people(screen: &Screen, recalled: &Recalled) -> String {
    if recalled.count == 0 {
        return "nothing is known about that".to_owned();
    }
    let columns =
        [("id", 0), ("score", 100), ("type", 0), ("memory", 0), ("who", 90), ("session", 130), ("stored (UTC)", 110)];
    let mut grid = screen.grid(&columns);
    for candidate in &recalled.candidates {
        grid.add([
            Cell::new(&candidate.id),
            Cell::new(format!("{:.2}", candidate.score)),
            Cell::new(words::written(&candidate.item_type)),
            Cell::new(one_line(&candidate.summary, 160)),
            Cell::new(tables::or_dash(candidate.speaker.as_deref())),
            Cell::new(tables::or_dash(candidate.session_id.as_deref())),
            Cell::new(tables::moment(candidate.created_at)),
        ]);
    }
    let table = grid.into_table();
    format!(
        "{}\n\n{HEADING}rests on{HEADING:#} (search {}, seq {})\n{table}",
        harmless(&recalled.answer),
        recalled.mode,
        recalled.seq
    )
}
