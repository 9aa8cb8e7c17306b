//! Jobs a second with 1, 2, 4 and 8 `memlog worker` processes, each with one job at a time, against a language model that takes
//! 300 ms: `cargo bench --bench workers`. Everything is real but the model: the node, nats-server, the processes. A worker waits
//! for the model almost all the time, so that twice as many should do twice as much; the ratio shows how nearly.

#[path = "../support/mod.rs"]
mod support;

use std::{
    path::Path,
    process::Stdio,
    time::{Duration, Instant},
};

use anyhow::Context as _;
use memlog_actors::{api::profile, limits::Limits};
use support::{
    Nats,
    llm::{MODEL, StandIn},
    served::Memlog,
};
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::{Child, Command},
};

/// What one answer of the model takes.
const LATENCY: Duration = Duration::from_millis(300);
/// Jobs for each worker, in sessions of their own.
const JOBS_EACH: usize = 20;
const PROFILES: usize = 4;

fn main() -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        println!("{:>7} {:>6} {:>9} {:>10} {:>13}", "workers", "jobs", "seconds", "jobs/s", "ratio to one");
        let mut one = None;
        for workers in [1, 2, 4, 8] {
            let Some(seconds) = measure(workers).await? else { return Ok(()) };
            let jobs = workers * JOBS_EACH;
            let rate = jobs as f64 / seconds;
            let ratio = rate / *one.get_or_insert(rate);
            println!("{workers:>7} {jobs:>6} {seconds:>9.2} {rate:>10.2} {ratio:>13.2}");
        }
        Ok(())
    })
}

async fn measure(workers: usize) -> anyhow::Result<Option<f64>> {
    let Some(nats) = Nats::start().await else { return Ok(None) };
    let llm = StandIn::start();
    llm.latency(LATENCY);
    let data = tempfile::tempdir()?;
    let memlog = Memlog::open(data.path(), nats.url(), Limits { workers: 0, ..Limits::default() }).await;
    let mut processes = Vec::new();
    for _ in 0..workers {
        processes.push(worker(nats.url(), &llm, data.path()).await?);
    }
    let begin = Instant::now();
    for job in 0..workers * JOBS_EACH {
        let content = format!("I keep the key number {job} in the drawer.");
        let message = profile::Message { role: "user".to_owned(), content, ..profile::Message::default() };
        let ingest = profile::Ingest {
            profile: format!("profile-{}", job % PROFILES),
            messages: vec![message],
            session_id: Some(format!("session-{job}")),
            ..profile::Ingest::default()
        };
        memlog.call(ingest).await?;
    }
    for profile in 0..PROFILES {
        let profile = format!("profile-{profile}");
        memlog.call(profile::Wait { profile, job_id: None, timeout_s: Some(600.0) }).await?;
    }
    let seconds = begin.elapsed().as_secs_f64();
    for mut process in processes {
        process.kill().await?;
    }
    memlog.close().await;
    Ok(Some(seconds))
}

/// One that takes jobs already.
async fn worker(url: &str, llm: &StandIn, nowhere: &Path) -> anyhow::Result<Child> {
    let mut process = Command::new(env!("CARGO_BIN_EXE_memlog"))
        .args(["worker", "--nats", url, "--parallel", "1"])
        .env("MEMLOG_LLM_URL", llm.url())
        .env("MEMLOG_LLM_MODEL", MODEL)
        .env("XDG_CONFIG_HOME", nowhere)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()?;
    let mut lines = BufReader::new(process.stdout.take().context("its words")?).lines();
    lines.next_line().await?.context("the worker says that it takes jobs")?;
    Ok(process)
}
