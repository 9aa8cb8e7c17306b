//! What a command is told besides its own words: flags, then `MEMLOG_*` variables, then the configuration file.

use std::path::PathBuf;

use memlog_actors::{
    api::{Caller, Context},
    limits::Limits,
};

use super::{
    config::{self, File},
    fail::Fail,
    screen::Color,
};
use crate::{door::connect, llm};

/// The flags that every command takes.
#[derive(Debug, Default, clap::Args)]
#[command(next_help_heading = "Everywhere")]
pub(super) struct Globals {
    /// The data folder [default: $XDG_DATA_HOME/memlog or ~/.local/share/memlog]
    #[arg(long, global = true, env = "MEMLOG_DATA", value_name = "DIR", hide_env_values = true)]
    pub(super) data: Option<PathBuf>,
    /// The folder of the key vault [default: in the data folder]
    #[arg(long, global = true, env = "MEMLOG_VAULT", value_name = "DIR", hide_env_values = true)]
    pub(super) vault: Option<PathBuf>,
    /// Call a server instead of opening a data folder
    #[arg(long, global = true, env = "MEMLOG_NATS", value_name = "URL", hide_env_values = true)]
    pub(super) nats: Option<String>,
    /// A credentials file for the NATS server
    #[arg(long, global = true, env = "MEMLOG_NATS_CREDS", value_name = "FILE", hide_env_values = true)]
    pub(super) nats_creds: Option<PathBuf>,
    /// A token for the NATS server; better given as a variable, since others can see a command line
    #[arg(long, global = true, env = "MEMLOG_NATS_TOKEN", value_name = "TOKEN", hide_env_values = true)]
    pub(super) nats_token: Option<String>,
    /// What the subjects of answers begin with, where the NATS server fences them [default: _INBOX]
    #[arg(long, global = true, env = "MEMLOG_NATS_INBOX", value_name = "PREFIX", hide_env_values = true)]
    pub(super) nats_inbox: Option<String>,
    /// A PEM file of authorities to trust for the NATS server
    #[arg(long, global = true, env = "MEMLOG_NATS_CA", value_name = "FILE", hide_env_values = true)]
    pub(super) nats_ca: Option<PathBuf>,
    /// The tenant [default: default]
    #[arg(long, global = true, env = "MEMLOG_NAMESPACE", value_name = "NAME", hide_env_values = true)]
    pub(super) namespace: Option<String>,
    /// The profile: an isolated store of memories [default: default]
    #[arg(long, short, global = true, env = "MEMLOG_PROFILE", value_name = "NAME", hide_env_values = true)]
    pub(super) profile: Option<String>,
    /// The user acted for [default: none, the account itself]
    #[arg(long, global = true, env = "MEMLOG_USER", value_name = "ID", hide_env_values = true)]
    pub(super) user: Option<String>,
    /// The agent that calls
    #[arg(long, global = true, env = "MEMLOG_AGENT", value_name = "ID", hide_env_values = true)]
    pub(super) agent: Option<String>,
    /// The embedding model: minilm (English), multilingual, or the folder of one [default: minilm]
    #[arg(long, global = true, env = "MEMLOG_MODEL_DIR", value_name = "NAME|DIR", hide_env_values = true)]
    pub(super) model: Option<PathBuf>,
    /// The configuration file [default: $XDG_CONFIG_HOME/memlog/config.toml, if it is there]
    #[arg(long, global = true, env = "MEMLOG_CONFIG", value_name = "FILE", hide_env_values = true)]
    pub(super) config: Option<PathBuf>,
    /// Print the API's reply objects, one a line
    #[arg(long, global = true)]
    pub(super) json: bool,
    /// When to use colour
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN")]
    pub(super) color: Color,
    /// Whether `data` is a flag and not a variable; set after parsing.
    #[arg(skip)]
    pub(super) data_by_flag: bool,
    /// The same of `nats`.
    #[arg(skip)]
    pub(super) nats_by_flag: bool,
}

/// The settings that are in force.
#[derive(Clone)]
pub(super) struct Settings {
    /// The data folder.
    pub(super) data: PathBuf,
    /// Whether a flag named it, so that it is meant for this very command.
    pub(super) data_by_flag: bool,
    /// The folder of the key vault, if it is elsewhere.
    pub(super) vault: Option<PathBuf>,
    /// The server to call instead of opening the data folder.
    pub(super) nats: Option<connect::Options>,
    /// The server as given, also where the data folder has precedence; `serve` needs both.
    pub(super) nats_named: Option<connect::Options>,
    /// The tenant.
    pub(super) namespace: String,
    /// The profile, if one was named.
    pub(super) profile_named: Option<String>,
    /// Who calls.
    pub(super) caller: Caller,
    /// The embedding model by its name or its folder, if one was chosen.
    pub(super) model: Option<PathBuf>,
    /// The language model, if one is to be used.
    pub(super) llm: llm::Settings,
    /// Whether its key stands in the configuration file.
    pub(super) llm_key_in_file: bool,
    /// The limits.
    pub(super) limits: Limits,
    /// The configuration file that was read.
    pub(super) config: Option<PathBuf>,
}

impl Settings {
    /// Flags and variables over the configuration file.
    pub(super) fn new(globals: Globals) -> Result<Self, Fail> {
        let (mut file, config) = config::read(globals.config.as_deref())?;
        let llm_key_in_file = file.llm.key.is_some();
        let variable = |name: &str| std::env::var(name).ok();
        file.llm = file.llm.with_variables(variable).map_err(|invalid| Fail::Usage(invalid.to_string()))?;
        Ok(Self { llm_key_in_file, ..Self::merge(globals, file, config)? })
    }

    fn merge(globals: Globals, file: File, config: Option<PathBuf>) -> Result<Self, Fail> {
        // Whoever is named nearer to the user wins: a flag over a variable over the file. On the same level the server
        // does, since the data folder that stands beside it is that server's.
        let level = |by_flag, set, in_file| {
            if by_flag {
                3
            } else if set {
                2
            } else {
                u8::from(in_file)
            }
        };
        let data_level = level(globals.data_by_flag, globals.data.is_some(), file.data.is_some());
        let nats_level = level(globals.nats_by_flag, globals.nats.is_some(), file.nats.is_some());
        let url = globals.nats.or(file.nats).filter(|url| !url.is_empty());
        let nats_named = url.map(|url| connect::Options {
            credentials: globals.nats_creds.or(file.nats_creds),
            token: globals.nats_token,
            inbox: globals.nats_inbox.or(file.nats_inbox),
            tls_ca: globals.nats_ca.or(file.nats_ca),
            ..connect::Options::url(url)
        });
        let data_given = globals.data.or(file.data).filter(|path| !path.as_os_str().is_empty());
        let data = data_given.or_else(config::standard_data).ok_or_else(|| {
            Fail::Usage("cannot tell where the data is: give --data DIR, or set MEMLOG_DATA or HOME".to_owned())
        })?;
        Ok(Self {
            data,
            data_by_flag: globals.data_by_flag,
            vault: globals.vault.or(file.vault),
            nats: nats_named.clone().filter(|_| nats_level >= data_level),
            nats_named,
            namespace: globals.namespace.or(file.namespace).unwrap_or_else(|| "default".to_owned()),
            profile_named: globals.profile.or(file.profile),
            caller: Caller {
                user: globals.user.or(file.user),
                agent: globals.agent.or(file.agent),
                ..Caller::default()
            },
            model: globals.model.or(file.model),
            llm: file.llm,
            llm_key_in_file: false,
            limits: file.limits,
            config,
        })
    }

    /// What goes with every call.
    pub(super) fn context(&self) -> Context {
        Context { namespace: self.namespace.clone(), caller: self.caller.clone(), idempotency: None }
    }

    /// The profile, named or not.
    pub(super) fn profile(&self) -> String {
        self.profile_named.clone().unwrap_or_else(|| "default".to_owned())
    }

    /// The same settings on another data folder of this process, its vault inside, and with nothing that costs money: a demo
    /// or a measurement is the same for everybody.
    pub(super) fn in_folder(&self, data: PathBuf) -> Self {
        let llm = llm::Settings::default();
        Self { data, data_by_flag: true, vault: None, nats: None, nats_named: None, llm, ..self.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file() -> File {
        File { data: Some("/file".into()), profile: Some("file".to_owned()), ..File::default() }
    }

    // The order of the three sources is documented; who relies on it must not be surprised.
    #[test]
    fn flags_and_variables_win_over_the_file() {
        let globals = Globals { profile: Some("flag".to_owned()), ..Globals::default() };
        let settings = Settings::merge(globals, file(), None).unwrap();
        assert_eq!((settings.profile().as_str(), settings.data), ("flag", "/file".into()));
        assert_eq!(settings.namespace, "default");
    }

    // Somebody with MEMLOG_NATS in the environment who types --data means the folder; a server's own environment names
    // both, and there only the server can be called.
    #[test]
    fn the_nearest_of_folder_and_server_wins() {
        let url = || Some("nats://localhost".to_owned());
        let flag = Globals { data: Some("/flag".into()), data_by_flag: true, nats: url(), ..Globals::default() };
        let settings = Settings::merge(flag, File::default(), None).unwrap();
        assert!(settings.nats.is_none() && settings.nats_named.is_some());

        let variables = Globals { data: Some("/variable".into()), nats: url(), ..Globals::default() };
        assert!(Settings::merge(variables, File::default(), None).unwrap().nats.is_some());

        let beside_file = Globals { nats: url(), ..Globals::default() };
        assert!(Settings::merge(beside_file, file(), None).unwrap().nats.is_some());
    }
}
