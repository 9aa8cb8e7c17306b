//! `memlog backup`: a copy of the data folder as of one commit, also while a server runs on it.

use std::path::{Path, PathBuf};

use memlog_actors::system::{Copied, backup};
use memlog_events::log::{Log, Options, open};

use super::{
    Outcome,
    backend::needed,
    fail::Fail,
    screen::{GOOD, Screen},
    settings::Settings,
};
use crate::control::{self, Answer, Request};

const EXAMPLES: &str = "\
memlog backup /backup/monday                        log and vault together, on the host of the data folder
memlog backup /backup/monday --vault-to /keys/monday   the vault apart, to be kept for days and not for months
memlog verify --data /backup/monday --expect SEQ:HASH  the head that backup printed
A restore is a server on the copy. Before that, what was forgotten since is forgotten again: memlog erasures --help";

/// To where. A server that runs on the data folder makes the copy, as the user that it runs as.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// A new or empty folder
    #[arg(value_name = "DIR")]
    to: PathBuf,
    /// A folder of its own for the copy of the key vault [default: DIR]
    #[arg(long, value_name = "DIR")]
    vault_to: Option<PathBuf>,
}

impl Args {
    pub(super) async fn run(self, settings: Settings, screen: Screen) -> Result<Outcome, Fail> {
        on_this_host(&settings, "backup")?;
        let dir = absolute(&self.to)?;
        let vault = self.vault_to.as_deref().map(absolute).transpose()?.unwrap_or_else(|| dir.clone());
        let request = Request::Backup { dir: dir.clone(), vault: vault.clone() };
        let copied: Copied = match asked(&settings, &request).await? {
            Some(Answer::Backup(copied)) => copied,
            Some(other) => return Err(unanswered(other)),
            None => on_log(&settings, move |log| backup::copy(log, &dir, &vault)).await?,
        };
        screen.reply(&copied, |_, Copied { head, events, bytes }| {
            let (seq, hash) = (head.seq, &head.hash);
            format!(
                "{GOOD}ok{GOOD:#}: {events} events, {} on disk\nhead {seq}:{hash}\nkeep it elsewhere: memlog verify --data {} --expect {seq}:{hash}",
                indicatif::HumanBytes(*bytes),
                self.to.display(),
            )
        })?;
        Ok(Outcome::Done)
    }
}

/// Refuses to do through NATS what is for who has the data folder.
pub(super) fn on_this_host(settings: &Settings, what: &str) -> Result<(), Fail> {
    if settings.nats.is_some() && !settings.data_by_flag {
        return Err(Fail::Usage(format!(
            "{what} works on the data folder, also while a server runs on it: name it with --data DIR on that server's host"
        )));
    }
    needed(&settings.data)
}

/// The path as a server in another working directory has it.
fn absolute(path: &Path) -> Result<PathBuf, Fail> {
    std::path::absolute(path).map_err(Fail::file(path))
}

/// What the server on the data folder says, if one runs there.
pub(super) async fn asked(settings: &Settings, request: &Request) -> Result<Option<Answer>, Fail> {
    control::ask(&settings.data, request).await.map_err(Fail::file(&settings.data))
}

/// Why there is no answer.
pub(super) fn unanswered(answer: Answer) -> Fail {
    match answer {
        Answer::Refused(reason) => Fail::Unserved(reason),
        _ => Fail::Unserved("command and server are of different versions".to_owned()),
    }
}

/// Does it on the log itself: nobody else has it.
pub(super) async fn on_log<T: Send + 'static>(
    settings: &Settings,
    work: impl FnOnce(&Log) -> Result<T, String> + Send + 'static,
) -> Result<T, Fail> {
    let options = Options { vault_dir: settings.vault.clone(), ..Options::new(&settings.data) };
    let data = settings.data.clone();
    let done = tokio::task::spawn_blocking(move || {
        let log = Log::open(options).map_err(|error| match error {
            open::Error::InUse(_) => Fail::Unserved(format!(
                "the data folder {} is in use by another process: ask it with --nats, or stop it first",
                data.display()
            )),
            other => Fail::Unserved(other.to_string()),
        })?;
        work(&log).map_err(Fail::Unserved)
    });
    done.await.map_err(|error| Fail::Unserved(error.to_string()))?
}
