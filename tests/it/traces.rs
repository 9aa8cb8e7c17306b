//! Spans as a collector gets them, from the binary built with the feature `otlp`.

use std::process::Stdio;

use memlog::{client::Client, door::connect};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
    process::Command,
};

use crate::support::Nats;

/// One post to a collector: its first line and its body. Answered as taken in whole.
async fn taken(stream: &mut TcpStream) -> Option<(String, Vec<u8>)> {
    let mut stream = BufReader::new(stream);
    let (mut first, mut bytes) = (String::new(), 0);
    stream.read_line(&mut first).await.ok()?;
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).await.ok()? == 0 {
            return None;
        }
        if let Some(length) = line.to_lowercase().strip_prefix("content-length:") {
            bytes = length.trim().parse().unwrap();
        }
        if line == "\r\n" {
            break;
        }
    }
    let mut body = vec![0; bytes];
    stream.read_exact(&mut body).await.ok()?;
    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await.ok()?;
    Some((first, body))
}

fn holds(bytes: &[u8], word: &str) -> bool {
    bytes.windows(word.len()).any(|window| window == word.as_bytes())
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_and_jobs_are_spans_with_their_ids_and_without_their_words() {
    let Some(nats) = Nats::start().await else { return };
    let data = tempfile::tempdir().unwrap();
    let collector = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}", collector.local_addr().unwrap());
    let mut command = Command::new(env!("CARGO_BIN_EXE_memlog"));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("MEMLOG_") || name.to_string_lossy().starts_with("OTEL_") {
            command.env_remove(name);
        }
    }
    command.env("HOME", data.path()).env("XDG_CONFIG_HOME", data.path()).env("XDG_CACHE_HOME", data.path());
    command.env("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint).env("OTEL_BSP_SCHEDULE_DELAY", "100");
    command.args(["serve", "--nats", nats.url(), "--data"]).arg(data.path().join("data"));
    command.stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true);
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.next_line().await.unwrap().unwrap().starts_with("memlog serves"));

    let client = Client::connect(&connect::Options::url(nats.url())).await.unwrap();
    let mut headers = async_nats::HeaderMap::new();
    headers.insert("Memlog-Request-Id", "trace-4711");
    headers.insert("Memlog-User", "wilhelmina");
    let body = r#"{"profile":"zephyrine","content":"My axolotl is ill."}"#;
    client.send("memlog.v1.umbrellaco.profile.remember".to_owned(), headers, body.into()).await.unwrap();
    let body = r#"{"profile":"zephyrine","messages":[{"role":"user","content":"My axolotl is well."}],"wait":true}"#;
    let subject = "memlog.v1.umbrellaco.profile.ingest".to_owned();
    let (ingested, _) = client.send(subject, async_nats::HeaderMap::new(), body.into()).await.unwrap();
    let ingested: serde_json::Value = serde_json::from_slice(&ingested).unwrap();
    let job = ingested["job_id"].as_str().unwrap().to_owned();

    let exported = async {
        let mut all = Vec::new();
        loop {
            let (mut stream, _) = collector.accept().await.unwrap();
            while let Some((first, body)) = taken(&mut stream).await {
                assert!(first.starts_with("POST /v1/traces "), "{first}");
                all.extend(body);
                if holds(&all, "trace-4711") && holds(&all, &job) && holds(&all, "ended") {
                    return all;
                }
            }
        }
    };
    let all = tokio::time::timeout(std::time::Duration::from_secs(60), exported).await.expect("spans come");
    for word in ["memlog", "request", "profile", "remember", "trace-4711", "outcome", "ok", "took_us", "job"] {
        assert!(holds(&all, word), "no {word}");
    }
    for word in ["zephyrine", "axolotl", "wilhelmina", "umbrellaco"] {
        assert!(!holds(&all, word), "{word} went to the collector");
    }
    child.kill().await.unwrap();
}
