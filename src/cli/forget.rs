//! `memlog forget`: gone from every read, from the past, and from disk.

use std::io::{self, IsTerminal as _};

use memlog_actors::api::profile::{Delete, DeleteSession, Forget};

use super::{Outcome, Shell, fail::Fail, tables, words::harmless};

/// What there is to forget; clap's own line would hide which flags go together.
const USAGE: &str = "memlog forget ID...
       memlog forget --session ID [--yes]
       memlog forget --whole-profile --profile NAME [--yes]";

/// What to forget: memories, one session, or the whole profile. Nothing brings it back.
#[derive(Debug, clap::Args)]
#[command(override_usage = USAGE)]
pub(super) struct Args {
    #[command(flatten)]
    what: What,
    /// Do not ask before a session or a profile is forgotten; needed where no terminal can be asked
    #[arg(long, short)]
    yes: bool,
}

#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
struct What {
    /// Ids of memories; their source messages go, too
    #[arg(value_name = "ID")]
    ids: Vec<String>,
    /// A whole session: its messages and what was made from them
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// The profile that --profile names, with everything in it
    #[arg(long)]
    whole_profile: bool,
}

impl Args {
    pub(super) async fn run(self, shell: &Shell) -> Result<Outcome, Fail> {
        let profile = shell.profile();
        if let Some(session_id) = self.what.session {
            if !self.yes && !agreed(&format!("session {session_id} of profile {profile}"))? {
                return Ok(kept(shell));
            }
            let done = shell.call(DeleteSession { profile, session_id: session_id.clone() }).await?;
            shell.screen.reply(&done, |_, _| format!("forgot session {session_id}"))?;
        } else if self.what.whole_profile {
            if shell.settings.profile_named.is_none() {
                return Err(Fail::Usage("name the profile that is to be forgotten: --profile NAME".to_owned()));
            }
            if !self.yes && !agreed(&format!("profile {profile} with everything in it"))? {
                return Ok(kept(shell));
            }
            let done = shell.call(Delete { profile: profile.clone() }).await?;
            shell.screen.reply(&done, |_, _| format!("forgot profile {profile}"))?;
        }
        for memory_id in self.what.ids {
            let one = shell.call(Forget { profile: shell.profile(), memory_id }).await?;
            shell.screen.reply(&one, |_, one| {
                let sources = match one.memory.sources.len() {
                    0 => String::new(),
                    1 => " and the message that it was made from".to_owned(),
                    count => format!(" and the {count} messages that it was made from"),
                };
                format!("forgot {}: {}{sources}", one.memory.id, tables::said(&one.memory))
            })?;
        }
        Ok(Outcome::Done)
    }
}

/// Asks the one at the terminal. Where there is none nobody can agree, and a script has to say `--yes`.
pub(super) fn agreed(what: &str) -> Result<bool, Fail> {
    let stdin = io::stdin();
    if !stdin.is_terminal() || !io::stderr().is_terminal() {
        return Err(Fail::Usage(format!("this forgets {}: say --yes, since nobody can be asked here", harmless(what))));
    }
    anstream::eprint!("Forget {}? Nothing brings it back. [y/N] ", harmless(what));
    let mut answer = String::new();
    stdin.read_line(&mut answer).map_err(Fail::file("the terminal"))?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}

pub(super) fn kept(shell: &Shell) -> Outcome {
    shell.screen.note("nothing was forgotten");
    Outcome::Unwell(1)
}
