//! `memlog forget`: gone from every read, from the past, and from disk.

use memlog_actors::api::profile::{Delete, DeleteSession, Forget};

use super::{Outcome, Shell, fail::Fail, tables};

/// What to forget: memories, one session, or the whole profile.
#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
pub(super) struct Args {
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
        if let Some(session_id) = self.session {
            let done = shell.call(DeleteSession { profile, session_id: session_id.clone() }).await?;
            shell.screen.reply(&done, |_, _| format!("forgot session {session_id}"))?;
        } else if self.whole_profile {
            if shell.settings.profile_named.is_none() {
                return Err(Fail::Usage("name the profile that is to be forgotten: --profile NAME".to_owned()));
            }
            let done = shell.call(Delete { profile: profile.clone() }).await?;
            shell.screen.reply(&done, |_, _| format!("forgot profile {profile}"))?;
        }
        for memory_id in self.ids {
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
