//! The connection to a NATS server, for the door, the feed and the client alike.

use std::{
    io,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use async_nats::{Client, ConnectOptions, Event, ServerAddr};
use tokio::sync::watch;

/// Older servers ignore in silence what they do not know.
pub const SERVER_VERSION_MIN: (i64, i64, i64) = (2, 12, 0);

/// Where the server is and who we are there.
#[derive(Clone, Default)]
pub struct Options {
    /// `nats://host:4222`; several for a cluster, also separated by commas.
    pub urls: Vec<String>,
    /// The connection's name in the server's monitoring.
    pub name: String,
    /// A `.creds` file.
    pub credentials: Option<PathBuf>,
    /// A token.
    pub token: Option<String>,
    /// A user; the password goes with it.
    pub user: Option<String>,
    /// The user's password.
    pub password: Option<String>,
    /// The first token of the subjects of answers, `_INBOX` when left out: an account that many share fences them by it.
    pub inbox: Option<String>,
    /// A PEM file of the authorities to trust besides the system's; it turns TLS on.
    pub tls_ca: Option<PathBuf>,
    /// PEM files of our own certificate and its key.
    pub tls_identity: Option<(PathBuf, PathBuf)>,
}

impl Options {
    /// One server, without credentials.
    pub fn url(url: impl Into<String>) -> Self {
        Self { urls: vec![url.into()], name: "memlog".to_owned(), ..Self::default() }
    }

    /// The servers as people may see them: without passwords.
    pub fn shown(&self) -> String {
        let shown = |addresses: Vec<ServerAddr>| addresses.iter().map(shown).collect::<Vec<_>>().join(", ");
        addresses(&self.urls).map(shown).unwrap_or_default()
    }
}

/// Why there is no door.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The URL is none.
    #[error("{0} is not a NATS URL; one looks like nats://127.0.0.1:4222")]
    Url(String),
    /// Two ways to prove who we are.
    #[error("give one of credentials file, token, or user with password; not several")]
    Credentials,
    /// The prefix would change the subject.
    #[error("{0} cannot begin the subjects of answers; take letters, digits, _ and -, such as _INBOX_acme")]
    Inbox(String),
    /// The credentials file cannot be used.
    #[error("the credentials file {path} cannot be used: {source}")]
    CredentialsFile {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Nobody there, or they do not let us in.
    #[error(
        "cannot connect to NATS at {servers}: {source}; start a nats-server there, or correct the URL and how to log in \
         (without --nats, memlog serve brings a server of its own along)"
    )]
    Connect {
        /// Host and port of each.
        servers: String,
        /// Why.
        source: async_nats::ConnectError,
    },
    /// An old server.
    #[error("the NATS server at {servers} is version {found}; memlog needs 2.12 or newer")]
    TooOld {
        /// Host and port of each.
        servers: String,
        /// Its version.
        found: String,
    },
    /// The subscriptions did not come to be.
    #[error(
        "no answer from the own subscriptions on the NATS server ({0}); memlog must be allowed to subscribe to \
         memlog.v1.> and $SRV.>, and to publish to >"
    )]
    Subscribe(String),
    /// Calls would be split between two logs.
    #[error("another memlog ({0}) answers on this NATS server; stop it first, or use another server or account")]
    Occupied(String),
}

/// What is known of a connection while it lives.
#[derive(Debug)]
pub struct Link {
    /// The connection.
    pub client: Client,
    /// Whether it stands now.
    pub connected: watch::Receiver<bool>,
    /// How often it broke; the server then counts messages from nought again.
    pub breaks: Arc<AtomicU64>,
}

/// Connects, and counts into `lost` what the client had to drop because it was not read fast enough.
pub async fn connect(options: &Options, lost: Arc<AtomicU64>) -> Result<Link, Error> {
    let addresses = addresses(&options.urls)?;
    let servers = options.shown();
    let (state, connected) = watch::channel(true);
    let breaks = Arc::new(AtomicU64::new(0));
    let (state, broken) = (Arc::new(state), breaks.clone());
    let told = servers.clone();
    let connecting = prepared(options).await?.event_callback(move |event| {
        if matches!(event, Event::Disconnected) {
            broken.fetch_add(1, Ordering::Relaxed);
        }
        heard(&event, &told, &state, &lost);
        async {}
    });
    let client =
        connecting.connect(addresses).await.map_err(|source| Error::Connect { servers: servers.clone(), source })?;
    let (major, minor, patch) = SERVER_VERSION_MIN;
    if !client.is_server_compatible(major, minor, patch) {
        return Err(Error::TooOld { servers, found: client.server_info().version });
    }
    Ok(Link { client, connected, breaks })
}

async fn prepared(options: &Options) -> Result<ConnectOptions, Error> {
    let ways = [options.credentials.is_some(), options.token.is_some(), options.user.is_some()];
    if ways.into_iter().filter(|given| *given).count() > 1 || (options.password.is_some() && options.user.is_none()) {
        return Err(Error::Credentials);
    }
    // A reply may take as long as the call allows; who calls sets a limit of its own.
    let mut connecting = ConnectOptions::new().name(&options.name).request_timeout(None);
    if let Some(inbox) = &options.inbox {
        let part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        if inbox.is_empty() || !inbox.chars().all(part) {
            return Err(Error::Inbox(inbox.clone()));
        }
        connecting = connecting.custom_inbox_prefix(inbox);
    }
    if let Some(path) = &options.credentials {
        let failed = |source| Error::CredentialsFile { path: path.clone(), source };
        connecting = connecting.credentials_file(path).await.map_err(failed)?;
    }
    if let Some(token) = &options.token {
        connecting = connecting.token(token.clone());
    }
    if let Some(user) = &options.user {
        connecting = connecting.user_and_password(user.clone(), options.password.clone().unwrap_or_default());
    }
    if let Some(path) = &options.tls_ca {
        connecting = connecting.add_root_certificates(path.clone()).require_tls(true);
    }
    if let Some((certificate, key)) = &options.tls_identity {
        connecting = connecting.add_client_certificate(certificate.clone(), key.clone()).require_tls(true);
    }
    Ok(connecting)
}

fn addresses(urls: &[String]) -> Result<Vec<ServerAddr>, Error> {
    let given = urls.iter().flat_map(|url| url.split(',')).map(str::trim).filter(|url| !url.is_empty());
    // What cannot be read may hold a password all the same.
    let read = |url: &str| url.parse().map_err(|_| Error::Url(url.rsplit('@').next().unwrap_or_default().to_owned()));
    let addresses = given.map(read).collect::<Result<Vec<_>, _>>()?;
    if addresses.is_empty() { Err(Error::Url("an empty text".to_owned())) } else { Ok(addresses) }
}

/// Without user and password.
fn shown(address: &ServerAddr) -> String {
    format!("{}://{}:{}", address.scheme(), address.host(), address.port())
}

fn heard(event: &Event, servers: &str, state: &watch::Sender<bool>, lost: &AtomicU64) {
    match event {
        Event::Connected => {
            state.send_replace(true);
            tracing::info!(servers, "connected to NATS");
        }
        Event::Disconnected => {
            state.send_replace(false);
            tracing::warn!(servers, "disconnected from NATS; trying again");
        }
        Event::Closed => {
            state.send_replace(false);
            tracing::debug!(servers, "the connection to NATS is closed");
        }
        Event::SlowConsumer(_) => {
            let lost = lost.fetch_add(1, Ordering::Relaxed) + 1;
            // One line for each power of two: a line a message would make a slow process slower.
            if lost.is_power_of_two() {
                tracing::error!(lost, "messages were lost: they came faster than they were read");
            }
        }
        Event::ServerError(error) => tracing::error!(servers, %error, "the NATS server refuses something"),
        Event::ClientError(error) => tracing::error!(servers, %error, "the connection to NATS has a fault"),
        Event::LameDuckMode | Event::Draining => tracing::debug!(servers, %event, "NATS"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Logs and errors are kept; passwords must not be in them.
    #[test]
    fn passwords_are_never_shown() {
        let read = addresses(&["nats://ann:secret@one:4222, nats://two".to_owned()]).unwrap();
        assert_eq!(read.iter().map(shown).collect::<Vec<_>>(), ["nats://one:4222", "nats://two:4222"]);
        let error = addresses(&["nats://ann:secret@one:port".to_owned()]).unwrap_err();
        assert!(!error.to_string().contains("secret"), "{error}");
        assert!(addresses(&[]).is_err());
    }

    #[tokio::test]
    async fn only_one_way_to_prove_who_we_are() {
        let both = Options { token: Some("t".to_owned()), user: Some("u".to_owned()), ..Options::url("nats://one") };
        assert!(matches!(prepared(&both).await, Err(Error::Credentials)));
        let half = Options { password: Some("p".to_owned()), ..Options::url("nats://one") };
        assert!(matches!(prepared(&half).await, Err(Error::Credentials)));
    }
}
