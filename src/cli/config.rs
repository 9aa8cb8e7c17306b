//! The configuration file: TOML, every key optional, an unknown one refused by its name.

use std::path::{Path, PathBuf};

use memlog_actors::limits::Limits;
use serde::Deserialize;

use super::fail::Fail;
use crate::llm;

/// What a configuration file may say. Paths are relative to the working directory, as on the command line.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct File {
    /// The data folder.
    pub(super) data: Option<PathBuf>,
    /// The folder of the key vault.
    pub(super) vault: Option<PathBuf>,
    /// A server's address.
    pub(super) nats: Option<String>,
    /// A credentials file for it.
    pub(super) nats_creds: Option<PathBuf>,
    /// What the subjects of answers begin with.
    pub(super) nats_inbox: Option<String>,
    /// A PEM file of authorities to trust for it.
    pub(super) nats_ca: Option<PathBuf>,
    /// The namespace.
    pub(super) namespace: Option<String>,
    /// The profile.
    pub(super) profile: Option<String>,
    /// The user acted for.
    pub(super) user: Option<String>,
    /// The agent that calls.
    pub(super) agent: Option<String>,
    /// The embedding model, by its name or its folder.
    pub(super) model: Option<PathBuf>,
    /// The language model, if one is to be used.
    pub(super) llm: llm::Settings,
    /// What an operator may set.
    pub(super) limits: Limits,
}

/// Where the file is when nothing says so.
pub(super) fn standard_path() -> Option<PathBuf> {
    let base = variable("XDG_CONFIG_HOME").or_else(|| variable("HOME").map(|home| home.join(".config")))?;
    Some(base.join("memlog").join("config.toml"))
}

/// Where the data is when nothing says so.
pub(super) fn standard_data() -> Option<PathBuf> {
    let base = variable("XDG_DATA_HOME").or_else(|| variable("HOME").map(|home| home.join(".local").join("share")))?;
    Some(base.join("memlog"))
}

fn variable(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// The file that was named, which must be there, or the standard one if it is there.
pub(super) fn read(named: Option<&Path>) -> Result<(File, Option<PathBuf>), Fail> {
    let Some(path) = named.map(Path::to_path_buf).or_else(|| standard_path().filter(|path| path.is_file())) else {
        return Ok((File::default(), None));
    };
    let text = std::fs::read_to_string(&path).map_err(|error| Fail::Usage(format!("{}: {error}", path.display())))?;
    let file = parse(&text).map_err(|reason| Fail::Usage(format!("{}: {reason}", path.display())))?;
    Ok((file, Some(path)))
}

fn parse(text: &str) -> Result<File, String> {
    toml::from_str(text).map_err(|error| error.to_string().trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    // A misspelt key that is silently ignored is a limit that an operator believes to be set.
    #[test]
    fn an_unknown_key_is_refused_by_its_name() {
        assert!(parse("dtaa = '/srv/memlog'").is_err_and(|error| error.contains("`dtaa`")));
        assert!(parse("[limits]\nspeaker_max = 3").is_err_and(|error| error.contains("`speaker_max`")));
        assert!(parse("[llm]\nurl = 'http://h/v1'\nmodle = 'm'").is_err_and(|error| error.contains("`modle`")));
    }

    #[test]
    fn limits_left_out_keep_their_defaults() {
        let file = parse("data = '/srv/memlog'\n[limits]\nspeakers_max = 3\n").unwrap();
        assert_eq!(file.data, Some(PathBuf::from("/srv/memlog")));
        assert_eq!(file.limits, Limits { speakers_max: 3, ..Limits::default() });
    }
}
