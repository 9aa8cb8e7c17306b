//! `memlog ingest`: conversations from a file, in batches, and the wait for what is made from them.

use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

use memlog_actors::api::{
    Context, Done,
    error::Kind,
    job::State,
    profile::{Ingest, Ingested, Wait},
    speaker,
};

use super::{
    Outcome, Shell,
    backend::Backend,
    fail::Fail,
    input::{self, Conversation, Format},
};

/// What to read, and where it belongs.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// A file, or - for stdin. JSON Lines: {"role","content","timestamp?","speaker?","id?","session_id?"}
    file: PathBuf,
    /// What the file is
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// The session of messages that name none
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Wait until memories are made; on a data folder that is the default
    #[arg(long, conflicts_with = "no_wait")]
    wait: bool,
    /// Return when the messages are stored; on a data folder the next command goes on with the memories
    #[arg(long)]
    no_wait: bool,
    /// Wait at most so long; what is stored stays, and the memories come later
    #[arg(long, value_name = "SECONDS", default_value_t = 600.0)]
    timeout: f64,
}

impl Args {
    pub(super) async fn run(self, shell: &Shell) -> Result<Outcome, Fail> {
        let (text, file) = input::text(&self.file)?;
        let mut conversations = input::conversations(&text, &file, self.format)?;
        drop(text);
        for session in conversations.iter_mut().flat_map(|conversation| &mut conversation.sessions) {
            session.id = session.id.take().or_else(|| self.session.clone());
        }
        let bar = shell.screen.progress(conversations.iter().map(Conversation::len).sum(), "ingesting");
        let mut replies = Vec::new();
        for conversation in &conversations {
            let profile = conversation.profile.clone().unwrap_or_else(|| shell.profile());
            let sent =
                send(&shell.backend, &shell.context, conversation, &profile, &mut |count| bar.inc(count)).await?;
            replies.push((profile, sent));
        }
        bar.finish_and_clear();
        let mut waited = Ok(());
        if self.wait || (!self.no_wait && matches!(shell.backend, Backend::Embedded(_))) {
            let bar = shell.screen.progress(replies.len() as u64, "remembering");
            for (profile, _) in &replies {
                waited = wait(&shell.backend, &shell.context, profile, self.timeout).await;
                if waited.is_err() {
                    break;
                }
                bar.inc(1);
            }
            bar.finish_and_clear();
        }
        // The messages are stored, whatever became of the wait.
        for (profile, sent) in &replies {
            report(shell, profile, sent)?;
        }
        match waited {
            Err(Fail::Refused(error)) if error.kind == Kind::Timeout => {
                shell.screen.note("the messages are stored; their memories are still being made: `memlog jobs wait`");
                Ok(Outcome::Done)
            }
            other => other.map(|()| Outcome::Done),
        }
    }
}

/// Registers the speakers, then sends the sessions in batches; `progress` hears how many messages were sent.
pub(super) async fn send(
    backend: &Backend,
    context: &Context,
    conversation: &Conversation,
    profile: &str,
    progress: &mut impl FnMut(u64),
) -> Result<Vec<Ingested>, Fail> {
    for name in &conversation.speakers {
        let request = speaker::Add { profile: profile.to_owned(), speaker: name.clone() };
        backend.call(context, request).await?;
    }
    let mut replies: Vec<Ingested> = Vec::new();
    for session in &conversation.sessions {
        let mut session_id = session.id.clone();
        for (messages, place) in session.batches() {
            let request = Ingest {
                profile: profile.to_owned(),
                messages: messages.to_vec(),
                session_id: session_id.clone(),
                ..Ingest::default()
            };
            let reply = backend.call(context, request).await.map_err(|fail| match fail {
                Fail::Refused(error) => Fail::Batch { place, error },
                other => other,
            })?;
            // The batches after a session's first belong to the session that the first one opened.
            session_id = Some(reply.session_id.clone());
            progress(messages.len() as u64);
            replies.push(reply);
        }
    }
    Ok(replies)
}

/// Waits until the profile's extraction is done. One call waits for seconds only, so it asks until its own time is up.
pub(super) async fn wait(backend: &Backend, context: &Context, profile: &str, timeout_s: f64) -> Result<(), Fail> {
    let until = Instant::now() + Duration::try_from_secs_f64(timeout_s).unwrap_or(Duration::MAX / 4);
    loop {
        let left = until.saturating_duration_since(Instant::now()).as_secs_f64().min(30.0);
        let request = Wait { profile: profile.to_owned(), job_id: None, timeout_s: Some(left.max(0.001)) };
        match backend.call(context, request).await {
            Ok(Done {}) => return Ok(()),
            Err(Fail::Refused(error)) if error.kind == Kind::Timeout && Instant::now() < until => {}
            Err(fail) => return Err(fail),
        }
    }
}

fn report(shell: &Shell, profile: &str, sent: &[Ingested]) -> Result<(), Fail> {
    if shell.screen.is_json() {
        return sent.iter().try_for_each(|reply| shell.screen.reply(reply, |_, _| String::new()));
    }
    let accepted: u64 = sent.iter().map(|reply| reply.accepted).sum();
    let duplicates: u64 = sent.iter().map(|reply| reply.duplicates).sum();
    let failed = sent.iter().filter(|reply| reply.job_state == Some(State::Failed)).count();
    let mut text = format!("profile {profile}: {accepted} messages stored, {duplicates} were there already");
    if failed > 0 {
        text += &format!("; {failed} extractions failed, see `memlog jobs list --state failed`");
    }
    if let [only] = sent {
        text += &format!("; session {}", only.session_id);
    }
    shell.screen.line(&text);
    Ok(())
}
