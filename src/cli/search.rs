//! `memlog search`: memories and messages, best first.

use memlog_actors::api::profile::{Found, Search};

use super::{
    Outcome, Shell,
    fail::Fail,
    filter::Filter,
    screen::{HEADING, Screen},
    tables,
    words::harmless,
};

/// What to look for.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// A question or a few words
    query: String,
    #[command(flatten)]
    filter: Filter,
    /// Follow links from each hit so far, 0 to 5
    #[arg(long)]
    hops: Option<u64>,
    /// Add passages of the sessions around the hits
    #[arg(long)]
    expand: bool,
}

impl Args {
    pub(super) async fn run(self, shell: &Shell) -> Result<Outcome, Fail> {
        let found = shell
            .call(Search {
                profile: shell.profile(),
                query: self.query,
                limit: self.filter.limit,
                types: self.filter.types(),
                include_invalid: self.filter.include_invalid(),
                speaker: self.filter.speaker,
                session_id: self.filter.session,
                metadata_filter: self.filter.metadata,
                num_hops: self.hops,
                expand: self.expand.then_some(true),
                reference_date: self.filter.reference_date,
                as_of: self.filter.as_of,
            })
            .await?;
        shell.screen.reply(&found, people)?;
        Ok(Outcome::Done)
    }
}

fn people(screen: &Screen, found: &Found) -> String {
    if found.memories.is_empty() {
        return "nothing found".to_owned();
    }
    let mut text = tables::records(screen, &found.memories).to_string();
    for passage in found.passages.iter().flatten() {
        text += &format!(
            "\n\n{HEADING}session {}{HEADING:#}\n{}",
            harmless(&passage.session_id),
            harmless(&passage.content)
        );
    }
    text
}
