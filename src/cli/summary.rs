//! `memlog summary`: everything stored, in Markdown.

use memlog_actors::api::{AsOf, profile::Summary};

use super::{
    Outcome, Shell,
    fail::Fail,
    words::{self, harmless},
};

/// Of what.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Only this session
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// As the log stood at this position or time
    #[arg(long, value_name = "SEQ|TIME", value_parser = words::as_of)]
    as_of: Option<AsOf>,
}

impl Args {
    pub(super) async fn run(self, shell: &Shell) -> Result<Outcome, Fail> {
        let request = Summary { profile: shell.profile(), session_id: self.session, as_of: self.as_of };
        let summarised = shell.call(request).await?;
        shell.screen.reply(&summarised, |_, summarised| harmless(&summarised.summary))?;
        Ok(Outcome::Done)
    }
}
