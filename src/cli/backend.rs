//! Where a command's requests go: a data folder opened in this process, or a server. Both take the same verbs.
//!
//! Here alone the command line meets the other doors: the models, the client of NATS, the clock.

use std::{path::Path, sync::Arc};

use jiff::Timestamp;
use memlog_actors::{
    api::{Context, Verb},
    port::{Clock, Embedder},
    system::{Options, System},
};

use super::{fail::Fail, screen::Screen, settings::Settings};
use crate::{
    client::{CallError, Client},
    embed::{Encoder, LoadError, ModelFolder},
    llm,
};

/// The system in this process, or the way to one in another.
pub(super) enum Backend {
    /// A data folder.
    Embedded(System),
    /// A server.
    Remote(Client),
}

/// Whether a command embeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Model {
    /// It stores or searches.
    Used,
    /// It does neither; what waits to be embedded goes on waiting.
    Unused,
}

/// Whether a command may begin a data folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Folder {
    /// It writes: a folder that is not there is made.
    Made,
    /// It looks at what is there: a mistyped name is an error and leaves nothing behind.
    Needed,
}

impl Backend {
    /// What the settings name.
    pub(super) async fn open(settings: &Settings, screen: &Screen, model: Model, folder: Folder) -> Result<Self, Fail> {
        if folder == Folder::Needed && settings.nats.is_none() {
            needed(&settings.data)?;
        }
        match &settings.nats {
            Some(server) => {
                Client::connect(server).await.map(Self::Remote).map_err(|error| Fail::Unreachable(error.to_string()))
            }
            None => Ok(Self::Embedded(System::start(options(settings, screen, model)?).await?)),
        }
    }

    /// Calls a verb.
    pub(super) async fn call<V: Verb>(&self, context: &Context, request: V) -> Result<V::Reply, Fail> {
        match self {
            Self::Embedded(system) => Ok(request.run(system, context).await?.reply),
            Self::Remote(client) => match client.call(context, &request).await {
                Ok(answer) => Ok(answer.reply),
                Err(CallError::Refused(error)) => Err(Fail::Refused(error)),
                Err(error @ CallError::TooLarge(_)) => Err(Fail::TooLarge(error.to_string())),
                Err(other) => Err(Fail::Unreachable(other.to_string())),
            },
        }
    }

    /// Finishes what was accepted.
    pub(super) async fn close(&self) {
        if let Self::Embedded(system) = self {
            system.stop().await;
        }
    }
}

/// What a system on the data folder is started with; without a model a note says how to get it.
pub(super) fn options(settings: &Settings, screen: &Screen, used: Model) -> Result<Options, Fail> {
    let embedder = match used {
        Model::Used => match model(settings.model.as_deref()) {
            Ok(model) => Some(Arc::new(model) as Arc<dyn Embedder>),
            Err(error) => {
                screen.note(&format!("no embedding, search is by keyword alone: {error}"));
                None
            }
        },
        Model::Unused => None,
    };
    let (extractor, narrator) = llm::build(&settings.llm).map_err(|invalid| Fail::Usage(invalid.to_string()))?;
    make_private(&settings.data)?;
    Ok(Options {
        data_dir: settings.data.clone(),
        vault_dir: settings.vault.clone(),
        limits: settings.limits.clone(),
        embedder,
        extractor,
        narrator,
        queue: None,
        clock: Arc::new(WallClock),
    })
}

/// The embedding model.
pub(super) fn model(folder: Option<&Path>) -> Result<Encoder, LoadError> {
    Encoder::load(&ModelFolder::find(folder)?)
}

/// Whether there is a log in the folder; a folder that cannot be looked into is left to the log's own error.
pub(super) fn needed(folder: &Path) -> Result<(), Fail> {
    no_file(folder)?;
    match std::fs::metadata(folder.join("log.redb")) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Err(Fail::NoData(folder.to_owned())),
        _ => Ok(()),
    }
}

fn no_file(folder: &Path) -> Result<(), Fail> {
    if folder.is_file() {
        return Err(Fail::Usage(format!("{} is a file, not a folder: --data names a folder", folder.display())));
    }
    Ok(())
}

/// Makes the data folder, for its owner alone; one that is there stays as it is.
fn make_private(folder: &Path) -> Result<(), Fail> {
    no_file(folder)?;
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder).map_err(Fail::file(folder))
}

/// The system's clock.
struct WallClock;

impl Clock for WallClock {
    #[allow(clippy::disallowed_methods, reason = "the one place where the clock comes in")]
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }
}
