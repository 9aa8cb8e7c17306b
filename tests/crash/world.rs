//! A memlog that can die: the binary as a child process on a data folder that outlives it.

use std::{
    fs::{self, File},
    future::Future,
    hash::{BuildHasher, Hasher, RandomState},
    path::{Path, PathBuf},
    process::{Output, Stdio},
    time::Duration,
};

use memlog::{client::Client, door::connect, embed::ModelFolder, nats::server};
use memlog_actors::api::{Answer, Context, Idempotency, Verb};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt, BufReader, Lines},
    process::{Child, ChildStdout, Command},
    sync::watch,
    time::timeout,
};

use crate::support::{
    Nats,
    llm::{MODEL, StandIn},
    served::until,
};

/// Every test's tenant.
pub(crate) const NAMESPACE: &str = "acme";
/// Connections of one load: as many clients as a small installation has, each with many calls under way.
const CLIENTS: usize = 8;
/// Nothing may hang; a test fails by name before its runner gives up on all.
const PATIENCE: Duration = Duration::from_secs(90);
/// One question of the discovery; a server may still hold the subscription of a process that was killed.
const PING_MAX: Duration = Duration::from_millis(500);
/// Set to `required` by `deploy/test` when it has the model, so that a proof can then not be skipped unseen.
const MODEL_VARIABLE: &str = "MEMLOG_TEST_MODEL";
/// The same of the multilingual one.
const MULTILINGUAL_VARIABLE: &str = "MEMLOG_TEST_MULTILINGUAL";

/// Where memlog's NATS server comes from.
enum Transport {
    /// One of the test's own that survives memlog.
    Given(Nats),
    /// The one that memlog brings along.
    Own(PathBuf),
}

/// What outlives every process of a test.
pub(crate) struct World {
    transport: Transport,
    folder: TempDir,
    model: Option<PathBuf>,
}

impl World {
    /// Memlog is to use a server that survives it. None where no nats-server is, which is said.
    pub(crate) async fn on_given_server() -> Option<Self> {
        let transport = Transport::Given(Nats::start().await?);
        Some(Self { transport, folder: tempfile::tempdir().unwrap(), model: None })
    }

    /// Memlog brings its server along, JetStream's files in the data folder.
    pub(crate) async fn on_own_server() -> Option<Self> {
        // Started and ended, so that a machine without one is reported, or refused, in the one place that does it.
        Nats::start().await?.stop().await;
        let binary = server::find(None).await.expect("a nats-server was just started");
        Some(Self { transport: Transport::Own(binary), folder: tempfile::tempdir().unwrap(), model: None })
    }

    /// No server at all: for the command line on the folder.
    pub(crate) fn on_no_server() -> Self {
        let transport = Transport::Own(PathBuf::from("nats-server"));
        Self { transport, folder: tempfile::tempdir().unwrap(), model: None }
    }

    /// From now on processes find the embedding model, if this machine has it; whether it does.
    pub(crate) fn bring_model(&mut self) -> bool {
        self.bring("minilm", MODEL_VARIABLE)
    }

    /// The same of the multilingual one, in its place.
    pub(crate) fn bring_multilingual(&mut self) -> bool {
        self.bring("multilingual", MULTILINGUAL_VARIABLE)
    }

    fn bring(&mut self, name: &str, variable: &str) -> bool {
        self.model = None;
        match ModelFolder::find(Some(Path::new(name))) {
            Ok(folder) => self.model = Some(folder.path().to_owned()),
            Err(error) => {
                let required = std::env::var(variable).is_ok_and(|value| value == "required");
                assert!(!required, "{variable} says that there is a model: {error}");
                eprintln!("SKIPPED, nothing was tested with vectors: {error}");
            }
        }
        self.model.is_some()
    }

    /// From now on processes look for the model in an empty folder.
    pub(crate) fn take_model_away(&mut self) {
        self.model = None;
    }

    /// The data folder.
    pub(crate) fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// Everything that may keep bytes: the data folder and the JetStream store, wherever that is.
    pub(crate) fn stores(&self) -> Vec<PathBuf> {
        match &self.transport {
            Transport::Given(nats) => vec![self.data(), nats.store()],
            Transport::Own(_) => vec![self.data()],
        }
    }

    /// What every process of this world wrote to its log.
    pub(crate) fn log(&self) -> PathBuf {
        self.folder.path().join("memlog.log")
    }

    /// The binary, without anything of the environment that it would read.
    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_memlog"));
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("MEMLOG_")) {
            command.env_remove(name);
        }
        let nowhere = self.folder.path().join("home");
        let model = self.model.clone().unwrap_or_else(|| nowhere.join("models"));
        command.env("HOME", &nowhere).env("XDG_CONFIG_HOME", &nowhere).env("XDG_CACHE_HOME", &nowhere);
        command.env("MEMLOG_DATA", self.data()).env("MEMLOG_MODEL_DIR", model).env("MEMLOG_NAMESPACE", NAMESPACE);
        command.args(words).stdin(Stdio::null()).kill_on_drop(true);
        command
    }

    /// Runs a command on the data folder; how it ended and what it said.
    pub(crate) async fn output(&self, words: &[&str]) -> Output {
        timeout(PATIENCE, self.command(words).output()).await.expect("the command ends").unwrap()
    }

    /// Runs a command on the data folder; its exit code, and what it printed to stdout as one object a line.
    pub(crate) async fn cli(&self, words: &[&str]) -> (i32, Vec<Value>) {
        let output = self.output(&[words, &["--json"]].concat()).await;
        let printed = String::from_utf8(output.stdout).unwrap();
        let lines = printed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let code = output.status.code();
        (code.unwrap_or_else(|| panic!("{words:?}: {}", String::from_utf8_lossy(&output.stderr))), lines)
    }

    /// The same for one that must succeed and print one object.
    pub(crate) async fn done(&self, words: &[&str]) -> Value {
        let (code, mut lines) = self.cli(words).await;
        assert_eq!((code, lines.len()), (0, 1), "memlog {words:?}: {lines:?}");
        lines.remove(0)
    }

    /// The server that survives memlog.
    pub(crate) fn nats(&self) -> &Nats {
        match &self.transport {
            Transport::Given(nats) => nats,
            Transport::Own(_) => panic!("this world's memlog brings its server along"),
        }
    }

    /// Starts `memlog worker`, which takes jobs when it is there.
    pub(crate) fn worker(&self, parallel: usize, llm: Option<&StandIn>) -> Child {
        let parallel = parallel.to_string();
        let mut command = self.command(&["worker", "--nats", self.nats().url(), "--parallel", &parallel]);
        if let Some(llm) = llm {
            command.env("MEMLOG_LLM_URL", llm.url()).env("MEMLOG_LLM_MODEL", MODEL);
        }
        let log = File::options().create(true).append(true).open(self.log()).unwrap();
        command.stdout(Stdio::null()).stderr(log).spawn().unwrap()
    }

    /// A place beside the data folder.
    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Starts `memlog serve` and waits until it answers.
    pub(crate) async fn serve(&self) -> Served {
        self.serve_with(&[]).await
    }

    /// The same with more words.
    pub(crate) async fn serve_with(&self, words: &[&str]) -> Served {
        let mut command = self.command(&["serve"]);
        command.args(words);
        match &self.transport {
            Transport::Given(nats) => command.args(["--nats", nats.url()]),
            Transport::Own(binary) => command.args(["--port", "0"]).env("MEMLOG_NATS_SERVER", binary),
        };
        let log = File::options().create(true).append(true).open(self.log()).unwrap();
        let mut child = command.stdout(Stdio::piped()).stderr(log).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let url = match &self.transport {
            Transport::Given(nats) => nats.url().to_owned(),
            Transport::Own(_) => self.told_url(&mut lines).await,
        };
        let options = connect::Options::url(url);
        let mut clients = Vec::new();
        for _ in 0..CLIENTS {
            clients.push(Client::connect(&options).await.expect("the NATS server takes clients"));
        }
        let (nats, child) = (clients[0].nats().clone(), tokio::sync::Mutex::new(child));
        until("memlog answers a ping", || async {
            if let Some(status) = child.lock().await.try_wait().unwrap() {
                panic!("memlog did not start: {status}\n{}", self.last_words());
            }
            let ping = nats.request("$SRV.PING.memlog", "".into());
            matches!(timeout(PING_MAX, ping).await, Ok(Ok(_)))
        })
        .await;
        Served { child: child.into_inner(), clients, dead: watch::Sender::new(false), _lines: lines }
    }

    /// Where the server is that memlog brought along: it says so when it serves.
    async fn told_url(&self, lines: &mut Lines<BufReader<ChildStdout>>) -> String {
        let line = timeout(PATIENCE, lines.next_line()).await.expect("memlog serves").unwrap();
        let line = line.unwrap_or_else(|| panic!("memlog did not start\n{}", self.last_words()));
        let url = line.split(' ').find(|word| word.starts_with("nats://"));
        url.unwrap_or_else(|| panic!("no address in: {line}")).to_owned()
    }

    fn last_words(&self) -> String {
        let text = fs::read_to_string(self.log()).unwrap_or_default();
        let lines: Vec<_> = text.lines().rev().take(20).collect();
        lines.into_iter().rev().collect::<Vec<_>>().join("\n")
    }
}

impl Drop for World {
    /// A failed test leaves a memlog killed, and that memlog its nats-server.
    fn drop(&mut self) {
        let pid = fs::read_to_string(self.data().join("nats/nats.pid")).unwrap_or_default();
        let Some(pid) = pid.trim().parse().ok().and_then(Pid::from_raw) else { return };
        let command = fs::read(format!("/proc/{}/cmdline", pid.as_raw_pid())).unwrap_or_default();
        if String::from_utf8_lossy(&command).contains(&*self.folder.path().to_string_lossy()) {
            // It may have ended since.
            kill_process(pid, Signal::KILL).unwrap_or_default();
        }
    }
}

/// A running `memlog serve`.
pub(crate) struct Served {
    child: Child,
    clients: Vec<Client>,
    dead: watch::Sender<bool>,
    // Read no further, but open: a process that cannot write to its stdout would fail for another reason.
    _lines: Lines<BufReader<ChildStdout>>,
}

impl Served {
    /// One of the connections; calls spread over them.
    pub(crate) fn client(&self, number: usize) -> Client {
        self.clients[number % self.clients.len()].clone()
    }

    /// Turns true when the process is gone: no answer comes any more to what is under way.
    pub(crate) fn death(&self) -> watch::Receiver<bool> {
        self.dead.subscribe()
    }

    /// Calls a verb that must succeed.
    pub(crate) async fn call<V: Verb>(&self, request: V) -> V::Reply {
        match self.ask(request).await {
            Ok(reply) => reply,
            Err(error) => panic!("{}.{}: {error}", V::NOUN, V::VERB),
        }
    }

    /// Calls a verb.
    pub(crate) async fn ask<V: Verb>(&self, request: V) -> Result<V::Reply, memlog::client::CallError> {
        call(&self.clients[0], None, &request).await.map(|answer| answer.reply)
    }

    /// `kill -9`, and waits until the process is gone. Its connections end with it.
    pub(crate) async fn kill(mut self) {
        self.child.start_kill().unwrap();
        self.child.wait().await.unwrap();
        self.dead.send_replace(true);
    }

    /// Asks the process to end.
    pub(crate) fn terminate(&self) {
        let pid = self.child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        kill_process(pid.expect("the process runs"), Signal::TERM).unwrap();
    }

    /// Waits until it has ended by itself, without an error.
    pub(crate) async fn ended(mut self) {
        let status = timeout(PATIENCE, self.child.wait()).await.expect("memlog ends when asked").unwrap();
        assert_eq!(status.code(), Some(0), "memlog ends without an error");
    }

    /// Asks it to end and waits for it.
    pub(crate) async fn stop(self) {
        self.terminate();
        self.ended().await;
    }
}

/// Calls a verb in the tests' namespace, under an idempotency key if there is one.
pub(crate) async fn call<V: Verb>(
    client: &Client,
    key: Option<&str>,
    request: &V,
) -> Result<Answer<V::Reply>, memlog::client::CallError> {
    let idempotency = key.map(|key| Idempotency { key: key.to_owned(), request: Vec::new() });
    let context = Context { namespace: NAMESPACE.to_owned(), idempotency, ..Context::default() };
    client.call(&context, request).await
}

/// The answer, or none if the process died first.
pub(crate) async fn unless_dead<T>(death: &mut watch::Receiver<bool>, answer: impl Future<Output = T>) -> Option<T> {
    tokio::select! {
        biased;
        answer = answer => Some(answer),
        _ = death.wait_for(|dead| *dead) => None,
    }
}

/// A number that differs from run to run and is printed, since it decides when a process dies.
pub(crate) fn random(what: &str, from: usize, below: usize) -> usize {
    let drawn = RandomState::new().build_hasher().finish() as usize;
    let number = from + drawn % (below - from);
    eprintln!("{what}: {number}");
    number
}

/// Copies a folder as a backup would.
pub(crate) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}
