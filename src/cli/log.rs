//! `memlog log`: the events, never their content.

use std::time::Duration;

use memlog_actors::{
    api::audit::{Event, Events},
    limits,
};

use super::{Outcome, Shell, fail::Fail, tables};

/// How often `--follow` asks. Followers in a hurry subscribe to the change feed.
const FOLLOW_PAUSE: Duration = Duration::from_secs(1);

/// Which events. Of the whole namespace unless --profile names one.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Only this record's, message's or job's
    #[arg(long, value_name = "ID")]
    record: Option<String>,
    /// Only these types, e.g. saved,forgot
    #[arg(long = "type", value_name = "TYPE", value_delimiter = ',')]
    types: Vec<String>,
    /// From this position on
    #[arg(long, value_name = "SEQ")]
    from: Option<u64>,
    /// At most so many [default: 20]
    #[arg(long, short = 'n', conflicts_with_all = ["all", "follow"])]
    limit: Option<u64>,
    /// All of them, page by page
    #[arg(long)]
    all: bool,
    /// All of them, then each as it comes; ends with Ctrl-C
    #[arg(long, short)]
    follow: bool,
}

impl Args {
    pub(super) async fn run(self, shell: &Shell) -> Result<Outcome, Fail> {
        let whole = self.all || self.follow;
        let mut request = Events {
            profile: shell.settings.profile_named.clone(),
            record_id: self.record,
            types: (!self.types.is_empty()).then_some(self.types),
            from_seq: self.from,
            limit: if whole { Some(limits::PAGE_MAX) } else { self.limit },
        };
        let mut last = None;
        loop {
            let mut page = shell.call(request.clone()).await?;
            let full = page.events.len() as u64 == limits::PAGE_MAX;
            // The next page starts where this one ended: positions have gaps, so nobody counts them on.
            page.events.retain(|event| Some(event.seq) > last);
            print(shell, &page.events, last.is_none() && !self.follow)?;
            last = page.events.last().map(|event| event.seq).or(last);
            request.from_seq = last.or(request.from_seq);
            if !whole || (!full && !self.follow) {
                return Ok(Outcome::Done);
            }
            if !full && interrupted(FOLLOW_PAUSE).await {
                return Ok(Outcome::Done);
            }
        }
    }
}

fn print(shell: &Shell, events: &[Event], even_if_empty: bool) -> Result<(), Fail> {
    if shell.screen.is_json() {
        return events.iter().try_for_each(|event| shell.screen.reply(event, |_, _| String::new()));
    }
    if !events.is_empty() || even_if_empty {
        shell.screen.line(&tables::page(tables::events(&shell.screen, events), None, "no events"));
    }
    Ok(())
}

/// Waits for the pause to pass or for Ctrl-C.
async fn interrupted(pause: Duration) -> bool {
    tokio::select! {
        signal = tokio::signal::ctrl_c() => signal.is_ok(),
        () = tokio::time::sleep(pause) => false,
    }
}
