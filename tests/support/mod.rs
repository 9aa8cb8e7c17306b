//! What the whole-system tests share: a real nats-server of their own. Include it with
//! `#[path = "../support/mod.rs"] mod support;`.

#![allow(dead_code, unreachable_pub, reason = "every test binary includes this module and uses a part of it")]

use std::path::PathBuf;

use memlog::nats::server::{Error, NatsServer, Options};

/// Set to `required` by `deploy/test` when it has a nats-server, so that a test can then not be skipped unseen.
const NATS_VARIABLE: &str = "MEMLOG_TEST_NATS";

/// A nats-server with JetStream on a free loopback port; its files go when it is dropped.
pub struct Nats {
    // Declared first, so that the server is told to end before its folder goes.
    server: NatsServer,
    folder: tempfile::TempDir,
}

impl Nats {
    /// Starts one. Without a binary on this machine there is none and the test has nothing to say, which it says.
    pub async fn start() -> Option<Self> {
        let folder = tempfile::tempdir().expect("a temporary folder");
        match NatsServer::start(Options::new(folder.path())).await {
            Ok(server) => Some(Self { server, folder }),
            Err(error @ (Error::NotFound | Error::TooOld { .. })) => {
                let required = std::env::var(NATS_VARIABLE).is_ok_and(|value| value == "required");
                assert!(!required, "{NATS_VARIABLE} says that there is a nats-server: {error}");
                eprintln!("SKIPPED, nothing was tested: {error}");
                None
            }
            Err(error) => panic!("nats-server did not start: {error}"),
        }
    }

    /// Where clients connect.
    pub fn url(&self) -> &str {
        self.server.url()
    }

    /// The supervised server, to watch it die and come back.
    pub fn server(&self) -> &NatsServer {
        &self.server
    }

    /// A new connection.
    pub async fn client(&self) -> async_nats::Client {
        async_nats::connect(self.url()).await.expect("the server accepts connections")
    }

    /// Where JetStream keeps its files: what must hold no word of a forgotten text.
    pub fn store(&self) -> PathBuf {
        self.folder.path().join("nats/jetstream")
    }

    /// Ends the server and waits until it is gone.
    pub async fn stop(self) {
        self.server.stop().await;
    }
}

pub mod images;
pub mod llm;
pub mod served;
