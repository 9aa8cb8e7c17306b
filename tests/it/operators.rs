//! The port of operators: what the probes say while NATS or the log is away, what is counted, and that nobody's words are in it.

use std::{net::SocketAddr, path::Path, process::Stdio, time::Duration};

use memlog::{
    client::{CallError, Client},
    door::connect,
    nats::server::{self, NatsServer},
    ops::{Ops, WorkerProcess},
};
use memlog_actors::{
    api::{error::Kind, profile},
    limits::Limits,
};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::TcpStream,
    process::Command,
};

use crate::support::{
    Nats,
    served::{Memlog, call, refused, until},
};

/// Status and body of one page.
async fn ask(address: SocketAddr, request: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!("{request} HTTP/1.1\r\nHost: memlog\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
}

async fn get(address: SocketAddr, path: &str) -> (u16, String) {
    ask(address, &format!("GET {path}")).await
}

/// What `/readyz` says: the status, and the codes of the reasons.
async fn ready(address: SocketAddr) -> (u16, Vec<String>) {
    let (status, body) = get(address, "/readyz").await;
    let body: Value = serde_json::from_str(&body).unwrap();
    let reasons = body["reasons"].as_array().unwrap();
    assert_eq!(body["ready"], json!(reasons.is_empty()));
    (status, reasons.iter().map(|reason| reason["code"].as_str().unwrap().to_owned()).collect())
}

/// The value of a figure with these labels.
fn figure(metrics: &str, name: &str) -> f64 {
    let line = metrics.lines().find(|line| line.strip_prefix(name).is_some_and(|rest| rest.starts_with(' ')));
    let line = line.unwrap_or_else(|| panic!("no {name} in\n{metrics}"));
    line.rsplit(' ').next().unwrap().parse().unwrap()
}

async fn opened() -> Ops {
    Ops::open(([127, 0, 0, 1], 0).into()).await.unwrap()
}

fn remember(content: &str) -> profile::Remember {
    profile::Remember { profile: "ann".to_owned(), content: content.to_owned(), ..profile::Remember::default() }
}

/// An orchestrator sends work to who is ready, and restarts who does not live.
#[tokio::test(flavor = "multi_thread")]
async fn readiness_follows_nats_and_the_process_lives_all_the_while() {
    let Some(probe) = Nats::start().await else { return };
    probe.stop().await;
    let folder = tempfile::tempdir().unwrap();
    let first = NatsServer::start(server::Options::new(folder.path())).await.unwrap();
    let url = first.url().to_owned();
    let port = url.rsplit(':').next().unwrap().parse().unwrap();

    let ops = opened().await;
    let at = ops.address();
    assert_eq!(get(at, "/healthz").await, (200, "ok\n".to_owned()));
    assert_eq!(ready(at).await, (503, vec!["starting".to_owned()]));

    let data = tempfile::tempdir().unwrap();
    let memlog = Memlog::open(data.path(), &url, Limits::default()).await;
    ops.watch(memlog.serving.node());
    assert_eq!(ready(at).await, (200, vec![]));

    first.stop().await;
    until("it is not ready without NATS", || async { ready(at).await == (503, vec!["nats_disconnected".to_owned()]) })
        .await;
    assert_eq!(get(at, "/healthz").await.0, 200);
    assert_eq!(figure(&get(at, "/metrics").await.1, "memlog_ready"), 0.0);
    let again = server::Options { port, ..server::Options::new(folder.path()) };
    let again = NatsServer::start(again).await.unwrap();
    until("it is ready when NATS is back", || async { ready(at).await.0 == 200 }).await;
    // Its subscriptions arrive in their own time.
    until("it answers again", || async { memlog.call(remember("Back again.")).await.is_ok() }).await;

    ops.closing();
    assert_eq!(ready(at).await, (503, vec!["closing".to_owned()]));
    memlog.close().await;
    assert_eq!(get(at, "/healthz").await.0, 200);
    ops.close().await;
    assert!(TcpStream::connect(at).await.is_err());
    again.stop().await;
}

/// Parts of all words that the next test stores or asks for.
const WORDS: [&str; 10] =
    ["quizz", "zephyr", "xylogr", "axolotl", "thessal", "sesqui", "umbrella", "wilhelm", "tuxedo", "vanquish"];

/// What an operator draws must be there, and what nobody may see must not.
#[tokio::test(flavor = "multi_thread")]
async fn requests_jobs_and_files_are_counted_without_anybodys_words() {
    let Some(nats) = Nats::start().await else { return };
    let data = tempfile::tempdir().unwrap();
    let memlog = Memlog::open(data.path(), nats.url(), Limits::default()).await;
    let ops = opened().await;
    let at = ops.address();
    ops.watch(memlog.serving.node());
    let metrics = || async { get(at, "/metrics").await.1 };
    let before = metrics().await;

    let named = "Quizzaciously Zephyrine";
    let message =
        json!({"role": "user", "content": "My xylographer keeps axolotls.", "speaker": "Thessalonika"}).to_string();
    let ingest = profile::Ingest {
        profile: named.to_owned(),
        messages: vec![serde_json::from_str(&message).unwrap()],
        session_id: Some("sesquipedal".to_owned()),
        wait: Some(true),
        ..profile::Ingest::default()
    };
    let add = json!({"profile": named, "speaker": "Thessalonika"}).to_string();
    memlog.send("memlog.v1.acme.speaker.add", &[], add).await.unwrap();
    memlog.call(ingest).await.unwrap();
    let body = json!({"profile": named, "query": "axolotls?", "tuxedo": 1}).to_string();
    let headers = [("Memlog-User", "Wilhelmina"), ("Memlog-Request-Id", "trace-1")];
    let error = refused(memlog.send("memlog.v1.umbrellaco.profile.search", &headers, body).await);
    assert_eq!(error.fields["field"], "tuxedo");
    let error = refused(memlog.send("memlog.v1.umbrellaco.profile.vanquish", &[], "{}").await);
    assert_eq!(error.fields["field"], "verb");
    until("views and jobs have reached the head", || async {
        let now = metrics().await;
        let settled = figure(&now, "memlog_worker_jobs_total{outcome=\"settled\"}") == 1.0;
        let done = figure(&now, "memlog_jobs_ended_total{outcome=\"done\"}") == 1.0;
        let behind = ["catalog", "keyword", "links", "jobs", "feed"]
            .map(|view| figure(&now, &format!("memlog_view_lag_positions{{view=\"{view}\"}}")));
        settled && done && behind == [0.0; 5] && figure(&now, "memlog_vector_lag_documents") == 0.0
    })
    .await;
    let now = metrics().await;
    for (name, least) in [
        ("memlog_requests_total{outcome=\"ok\",verb=\"profile.ingest\"}", 1.0),
        ("memlog_requests_total{outcome=\"invalid_request_error\",verb=\"profile.search\"}", 1.0),
        ("memlog_requests_total{outcome=\"invalid_request_error\",verb=\"unknown\"}", 1.0),
        ("memlog_request_seconds_count{verb=\"profile.ingest\"}", 1.0),
        ("memlog_commit_seconds_count", 1.0),
        ("memlog_commit_events_sum", 3.0),
        ("memlog_disk_bytes{file=\"log\"}", 4_096.0),
        ("memlog_disk_bytes{file=\"vault\"}", 4_096.0),
        ("memlog_profiles_loaded", 1.0),
        ("memlog_views_bytes{what=\"profiles\"}", 100.0),
        ("memlog_views_bytes_max{what=\"profiles\"}", Limits::default().memory_budget_bytes as f64),
        ("memlog_actors_awake{kind=\"thread\"}", 1.0),
        ("memlog_actors_woken_total{kind=\"profile\"}", 1.0),
        ("memlog_model_loaded{model=\"words\"}", 1.0),
        ("memlog_nats_connected", 1.0),
        ("memlog_ready", 1.0),
        ("process_resident_memory_bytes", 1_048_576.0),
    ] {
        assert!(figure(&now, name) >= least, "{name}\n{now}");
    }
    assert!(figure(&now, "memlog_log_position") > figure(&before, "memlog_log_position"));
    let told = [now.to_lowercase(), get(at, "/readyz").await.1.to_lowercase()].concat();
    for word in WORDS {
        assert!(!told.contains(word), "{word} is in what operators see:\n{told}");
    }
    ops.close().await;
    memlog.close().await;
}

/// A scanner that walks the port finds three pages and nothing to change.
#[tokio::test(flavor = "multi_thread")]
async fn there_are_three_pages_to_read() {
    let ops = opened().await;
    let mut answers = Vec::new();
    for page in ["GET /", "GET /metrics/x", "POST /metrics", "HEAD /healthz", "GET /healthz?x=1"] {
        answers.push(ask(ops.address(), page).await.0);
    }
    assert_eq!(answers, [404, 404, 405, 200, 200]);
    ops.close().await;
}

/// The id that a client was told of a failure is the one to look for in logs and traces.
#[tokio::test(flavor = "multi_thread")]
async fn failures_carry_the_id_of_their_request() {
    let Some(nats) = Nats::start().await else { return };
    let data = tempfile::tempdir().unwrap();
    let memlog = Memlog::open(data.path(), nats.url(), Limits::default()).await;
    let client = nats.client().await;
    let id = async |subject: &str, given: Option<&str>, body: &str| {
        let mut headers = async_nats::HeaderMap::new();
        if let Some(given) = given {
            headers.insert("Memlog-Request-Id", given);
        }
        let reply = client.request_with_headers(subject.to_owned(), headers, body.to_owned().into()).await.unwrap();
        let headers = reply.headers.unwrap_or_default();
        headers.get("Memlog-Request-Id").map(|id| id.as_str().to_owned())
    };
    let get = "memlog.v1.acme.profile.get";
    assert_eq!(id(get, Some("a.B-3_z"), r#"{"profle":"x"}"#).await.as_deref(), Some("a.B-3_z"));
    assert_eq!(id("memlog.v1.acme.profile.gte", Some("r1"), "{}").await.as_deref(), Some("r1"));
    assert_eq!(id("memlog.v1.acme", Some("r2"), "{}").await.as_deref(), Some("r2"));
    let made = [id(get, None, "{").await.unwrap(), id(get, None, "{").await.unwrap()];
    assert_ne!(made[0], made[1]);
    // Neither is echoed: it may be a text.
    for text in ["two words", &"x".repeat(65)] {
        let told = id(get, Some(text), r#"{"profile":"x"}"#).await.expect("it is refused");
        assert!(told != text && told.len() < 64, "{told}");
    }
    assert_eq!(id(get, Some("fine"), r#"{"profile":"x"}"#).await, None, "what was done needs no id");
    memlog.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_has_a_port_of_its_own() {
    let Some(nats) = Nats::start().await else { return };
    let data = tempfile::tempdir().unwrap();
    let limits = Limits { workers: 0, ..Limits::default() };
    let memlog = Memlog::open(data.path(), nats.url(), limits).await;
    let workers = memlog.workers(2).await;
    let ops = opened().await;
    ops.watch(WorkerProcess(workers.watch()));
    let at = ops.address();
    memlog.extraction.shut();
    let message = profile::Message { role: "user".to_owned(), content: "I sail.".to_owned(), ..Default::default() };
    let ingest = profile::Ingest { profile: "ann".to_owned(), messages: vec![message], ..Default::default() };
    memlog.call(ingest).await.unwrap();
    let now = || async { get(at, "/metrics").await.1 };
    until("it runs", || async { figure(&now().await, "memlog_worker_jobs_running") == 1.0 }).await;
    memlog.extraction.open();
    until("it is settled", || async { figure(&now().await, "memlog_worker_jobs_total{outcome=\"settled\"}") == 1.0 })
        .await;
    let told = now().await;
    assert_eq!(figure(&told, "memlog_worker_jobs_running"), 0.0);
    assert_eq!(figure(&told, "memlog_worker_parallel"), 2.0);
    assert_eq!(figure(&told, "memlog_worker_job_seconds_count"), 1.0);
    assert_eq!(ready(at).await, (200, vec![]));
    ops.close().await;
    workers.close(Duration::from_secs(10)).await;
    memlog.close().await;
}

/// Writes to a log of the binary whose files may not grow past some megabytes, as on a full disk, until it is refused.
#[tokio::test(flavor = "multi_thread")]
async fn after_an_append_that_failed_it_is_not_ready() {
    let Some(nats) = Nats::start().await else { return };
    let data = tempfile::tempdir().unwrap();
    let (mut child, at) = limited(data.path(), nats.url()).await;
    assert_eq!(ready(at).await, (200, vec![]));
    let client = Client::connect(&connect::Options::url(nats.url())).await.unwrap();
    let text = "sediment ".repeat(3_000);
    let mut writes = 0;
    let error = loop {
        let say = |turn| {
            let content = format!("{writes} {turn} {text}");
            profile::Message { role: "user".to_owned(), content, ..Default::default() }
        };
        let messages = (0..100).map(say).collect();
        let request = profile::Ingest { profile: "ann".to_owned(), messages, ..Default::default() };
        match call(&client, request).await {
            Ok(_) => writes += 1,
            Err(CallError::Refused(error)) => break error,
            Err(error) => panic!("neither done nor refused: {error}"),
        }
        assert!(writes < 100, "the limit bites");
    };
    assert_eq!(error.kind, Kind::Unavailable);
    let (status, codes) = ready(at).await;
    assert_eq!((status, codes), (503, vec!["log_failed".to_owned()]));
    assert_eq!(get(at, "/healthz").await.0, 200);
    assert!(!get(at, "/readyz").await.1.contains("sediment"));
    child.kill().await.unwrap();
}

/// The binary with a limit on the size of its files, and where its port of operators is.
async fn limited(data: &Path, url: &str) -> (tokio::process::Child, SocketAddr) {
    // 16 MiB in blocks of 512 bytes; a write past it fails, since the signal for it is ignored.
    let script = "trap '' XFSZ; ulimit -f 32768; exec \"$0\" \"$@\"";
    let mut command = Command::new("sh");
    command.args(["-c", script, env!("CARGO_BIN_EXE_memlog"), "serve", "--ops", "127.0.0.1:0", "--workers", "0"]);
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("MEMLOG_")) {
        command.env_remove(name);
    }
    command.env("HOME", data).env("XDG_CONFIG_HOME", data).env("XDG_CACHE_HOME", data);
    command.arg("--data").arg(data.join("data")).arg("--nats").arg(url);
    command.stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true);
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    while let Some(line) = lines.next_line().await.unwrap() {
        if let Some(at) = line.strip_prefix("health and metrics are at http://") {
            return (child, at.parse().unwrap());
        }
    }
    panic!("it ended before it served");
}
