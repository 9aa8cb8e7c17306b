//! `memlog jobs`: extraction jobs, failed ones included; without a word more, live.

mod watch;

use memlog_actors::api::{
    AsOf,
    job::{Get, List, OneJob, Retry, State},
    profile::Wait,
};

use super::{Outcome, Shell, fail::Fail, page::Page, screen::Screen, tables, words};

/// What to do.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Show what happens to jobs as it happens, until Ctrl-C; the default
    Watch(watch::Args),
    /// List jobs, newest first; of all profiles unless --profile names one
    List {
        /// Only in this state: queued, running, done or failed
        #[arg(long, value_parser = words::name::<State>)]
        state: Option<State>,
        #[command(flatten)]
        page: Page,
        /// As the log stood at this position or time
        #[arg(long, value_name = "SEQ|TIME", value_parser = words::as_of)]
        as_of: Option<AsOf>,
    },
    /// Show one job
    Get {
        /// Its id
        id: String,
        /// As the log stood at this position or time
        #[arg(long, value_name = "SEQ|TIME", value_parser = words::as_of)]
        as_of: Option<AsOf>,
    },
    /// Queue a failed job again
    Retry {
        /// Its id
        id: String,
    },
    /// Wait until the profile's jobs, or one of them, are done
    Wait {
        /// Only this one
        id: Option<String>,
        /// At most so long [default: 30]
        #[arg(long, value_name = "SECONDS")]
        timeout: Option<f64>,
    },
}

impl Args {
    pub(super) async fn run(self, shell: &Shell) -> Result<Outcome, Fail> {
        match self.action.unwrap_or_else(|| Action::Watch(watch::Args::default())) {
            Action::Watch(args) => return args.run(shell).await,
            Action::List { state, page: Page { limit, cursor }, as_of } => {
                let profile = shell.settings.profile_named.clone();
                let listed = shell.call(List { profile, state, limit, cursor, as_of }).await?;
                shell.screen.reply(&listed, |screen, listed| {
                    tables::page(tables::jobs(screen, &listed.jobs), listed.cursor.as_deref(), "no jobs")
                })?;
            }
            Action::Get { id, as_of } => shell.screen.reply(&shell.call(Get { job_id: id, as_of }).await?, one)?,
            Action::Retry { id } => shell.screen.reply(&shell.call(Retry { job_id: id }).await?, one)?,
            Action::Wait { id, timeout } => {
                let request = Wait { profile: shell.profile(), job_id: id, timeout_s: timeout };
                shell.screen.reply(&shell.call(request).await?, |_, _| "done".to_owned())?;
            }
        }
        Ok(Outcome::Done)
    }
}

fn one(screen: &Screen, one: &OneJob) -> String {
    tables::jobs(screen, std::slice::from_ref(&one.job)).to_string()
}
