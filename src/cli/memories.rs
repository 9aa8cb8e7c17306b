//! `memlog memories`: what is stored, newest first.

use memlog_actors::{
    api::{AsOf, profile::Memories, record::Status},
    port::RecordType,
};

use super::{Outcome, Shell, fail::Fail, page::Page, tables, words};

/// What to list.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    page: Page,
    /// Only this session's
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Only this type
    #[arg(long = "type", value_name = "TYPE", value_parser = words::name::<RecordType>)]
    record_type: Option<RecordType>,
    /// valid or invalid [default: valid]
    #[arg(long, value_parser = words::name::<Status>)]
    status: Option<Status>,
    /// As the log stood at this position or time
    #[arg(long, value_name = "SEQ|TIME", value_parser = words::as_of)]
    as_of: Option<AsOf>,
}

impl Args {
    pub(super) async fn run(self, shell: &Shell) -> Result<Outcome, Fail> {
        let page = shell
            .call(Memories {
                profile: shell.profile(),
                limit: self.page.limit,
                cursor: self.page.cursor,
                session_id: self.session,
                record_type: self.record_type,
                status: self.status,
                as_of: self.as_of,
            })
            .await?;
        shell.screen.reply(&page, |screen, page| {
            tables::page(tables::records(screen, &page.memories), page.cursor.as_deref(), "no memories")
        })?;
        Ok(Outcome::Done)
    }
}
