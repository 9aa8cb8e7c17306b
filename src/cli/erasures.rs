//! `memlog erasures`: what was forgotten since a backup, and forgetting it again in the backup before it is served.

use std::path::PathBuf;

use memlog_actors::{api::audit::Head, system::backup};
use serde_json::json;

use super::{
    Outcome,
    backup::{asked, on_log, on_this_host, unanswered},
    fail::Fail,
    screen::{GOOD, Screen},
    settings::Settings,
    words,
};
use crate::control::{Answer, Request};

const EXAMPLES: &str = "\
memlog erasures --since SEQ:HASH > forgotten.jsonl     the head that backup printed; also while a server runs
memlog erasures --apply forgotten.jsonl --data COPY    in the restored copy, before it is served
The list holds ids and numbers, no word of what was forgotten. Take it as often as you can: what is forgotten after it comes back
with a restore.";

/// List, or apply.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
#[group(required = true, multiple = false)]
pub(super) struct Args {
    /// Print what was forgotten after the head of a backup
    #[arg(long, value_name = "SEQ:HASH", value_parser = words::head)]
    since: Option<Head>,
    /// Forget again what such a list says, in a restored backup that nothing was written to yet
    #[arg(long, value_name = "FILE")]
    apply: Option<PathBuf>,
}

impl Args {
    pub(super) async fn run(self, settings: Settings, screen: Screen) -> Result<Outcome, Fail> {
        on_this_host(&settings, "erasures")?;
        if let Some(after) = self.since {
            let lines = match asked(&settings, &Request::Erasures { after: after.clone() }).await? {
                Some(Answer::Erasures(lines)) => lines,
                Some(other) => return Err(unanswered(other)),
                None => on_log(&settings, move |log| backup::list(log, &after)).await?,
            };
            screen.line(lines.trim_end());
        }
        if let Some(file) = self.apply {
            let lines = std::fs::read_to_string(&file).map_err(Fail::file(&file))?;
            let again = on_log(&settings, move |log| backup::apply(log, &lines)).await?;
            let reply = json!({ "applied": again.applied, "passed": again.passed });
            screen.reply(&reply, |_, _| {
                format!(
                    "{GOOD}ok{GOOD:#}: {} forgotten again, {} passed over that this backup never had or that was applied before",
                    again.applied, again.passed
                )
            })?;
        }
        Ok(Outcome::Done)
    }
}
