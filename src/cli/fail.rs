//! Why a command failed: for people with what to do next, for machines as the API's error body.

use std::{io, path::PathBuf};

use memlog_actors::{
    api::{self, error::Kind},
    system::StartError,
};
use serde_json::{Value, json};

/// A failed command.
#[derive(Debug, thiserror::Error)]
pub(super) enum Fail {
    /// The API refused or failed.
    #[error("{0}")]
    Refused(#[from] api::Error),
    /// One of the batches of a file was refused.
    #[error("{place}: {error}")]
    Batch {
        /// The lines or turns that it held.
        place: String,
        /// Why.
        error: api::Error,
    },
    /// The data folder cannot be opened.
    #[error("{0}")]
    Start(#[from] StartError),
    /// The server cannot be reached.
    #[error("{0}")]
    Unreachable(String),
    /// The server does not let a request of that size pass.
    #[error("{0}")]
    TooLarge(String),
    /// Nothing was ever stored there.
    #[error("there is no memlog data in {}", .0.display())]
    NoData(PathBuf),
    /// A measurement came to nothing.
    #[error("not measured: {0}")]
    Unmeasured(String),
    /// There is no way to serve.
    #[error("{0}")]
    Unserved(String),
    /// The command line or the configuration is wrong in a way that clap cannot see.
    #[error("{0}")]
    Usage(String),
    /// An input file is wrong.
    #[error("{file}, {place}: {reason}")]
    Input {
        /// Its name.
        file: String,
        /// A line, or a place in the document.
        place: String,
        /// What is wrong.
        reason: String,
    },
    /// A file or folder cannot be used.
    #[error("{}: {source}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
}

impl Fail {
    /// An input/output error of `path`.
    pub(super) fn file(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { path, source }
    }

    /// The exit code; `--help` lists them.
    pub(super) fn exit_code(&self) -> u8 {
        match self {
            Self::Refused(_) | Self::Batch { .. } | Self::Start(_) => 1,
            Self::Unreachable(_) | Self::TooLarge(_) | Self::Unserved(_) | Self::Unmeasured(_) | Self::File { .. } => 1,
            Self::Usage(_) | Self::Input { .. } | Self::NoData(_) => 2,
        }
    }

    /// What the API would have said: what came from it as it came, the rest in its words.
    pub(super) fn as_api(&self) -> api::Error {
        match self {
            Self::Refused(error) | Self::Batch { error, .. } => error.clone(),
            Self::Start(_) | Self::Unreachable(_) | Self::Unserved(_) | Self::Unmeasured(_) => {
                api::Error::new(Kind::Unavailable, self.to_string())
            }
            Self::Usage(_) | Self::Input { .. } | Self::File { .. } | Self::TooLarge(_) | Self::NoData(_) => {
                api::Error::new(Kind::InvalidRequest, self.to_string())
            }
        }
    }

    /// The API's error body.
    pub(super) fn body(&self) -> Value {
        let error = self.as_api();
        let mut fields = error.fields;
        fields.insert("type".to_owned(), error.kind.name().into());
        fields.insert("message".to_owned(), error.message.into());
        json!({ "type": "error", "error": fields })
    }

    /// What to do next, where that is known.
    pub(super) fn hint(&self) -> Option<String> {
        match self {
            Self::Refused(error) | Self::Batch { error, .. } => hint_of(error),
            Self::Unreachable(_) => {
                Some("start one with `memlog serve`, or leave --nats out to work on the data folder itself".to_owned())
            }
            Self::NoData(_) => Some(
                "name the folder with --data DIR or MEMLOG_DATA; `memlog remember` and `memlog ingest` begin a new one"
                    .to_owned(),
            ),
            Self::TooLarge(_) => Some(
                "raise max_payload of that NATS server to 32 MB, as deploy/nats.conf does, or send less at once"
                    .to_owned(),
            ),
            Self::Start(StartError::Log { .. }) => Some("`memlog doctor` looks for the cause".to_owned()),
            Self::Start(_) | Self::Unserved(_) | Self::Unmeasured(_) => None,
            Self::Usage(_) | Self::Input { .. } | Self::File { .. } => None,
        }
    }
}

fn hint_of(error: &api::Error) -> Option<String> {
    let named = |field: &str| error.fields.get(field).map(|value| value.as_str().unwrap_or_default());
    let hint = match error.kind {
        Kind::InvalidRequest if named("speaker_limit").is_some() => {
            "remove one with `memlog speaker remove NAME`, or raise speakers_max under [limits]".to_owned()
        }
        // The assistant needs no registration, and the message says so.
        Kind::InvalidRequest if named("speaker").is_some_and(|name| name.eq_ignore_ascii_case("me")) => return None,
        Kind::InvalidRequest => format!("register the speaker first: memlog speaker add '{}'", named("speaker")?),
        Kind::NotFound if named("speaker").is_some() => "`memlog speaker list` shows who is registered".to_owned(),
        Kind::NotFound if named("profile").is_some() => {
            "`memlog profiles` lists what is there; the first write to a profile creates it".to_owned()
        }
        Kind::NotFound if named("memory_id").is_some() => "`memlog memories` lists the ids".to_owned(),
        Kind::NotFound if named("name").is_some() => {
            "`memlog notebook list` and `memlog agent list` list the names".to_owned()
        }
        Kind::NotFound if named("entry").is_some() => "`memlog notebook show NOTEBOOK` lists the entries".to_owned(),
        Kind::Conflict if error.fields.contains_key("version") => {
            let version = error.fields.get("version").and_then(Value::as_u64)?;
            format!("somebody saved version {version} meanwhile: read it, and save again")
        }
        Kind::Conflict if error.fields.contains_key("attached_to") => {
            "`memlog notebook detach NOTEBOOK AGENT` takes it out of an agent's reach".to_owned()
        }
        Kind::NotFound if named("job_id").is_some() => "`memlog jobs list` lists the ids".to_owned(),
        Kind::Conflict => format!("the current one is {}", named("superseded_by").or(named("existing_id"))?),
        Kind::Unavailable => {
            format!("try again in {} ms", error.fields.get("retry_after_ms").and_then(Value::as_u64)?)
        }
        Kind::Timeout => "nothing is lost and the work goes on: ask again, or `memlog jobs wait`".to_owned(),
        _ => return None,
    };
    Some(hint)
}
