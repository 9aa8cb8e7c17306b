//! The permissions of `deploy/nats.conf`, on a real server: each of its users can do its work, and sees nothing of the others.

use std::{sync::Arc, time::Duration};

use futures::StreamExt;
use memlog::{client::Client, door::connect, jobs::Workers};
use memlog_actors::{
    api::{job, profile},
    extract,
    limits::Limits,
};

use crate::support::served::{Memlog, SmallNats, call, until};

const CONFIG: &str = include_str!("../../deploy/nats.conf");
const PASSWORD: &str = "secret";

/// The users as the file shows them, with passwords that a test can type.
fn users() -> String {
    let lines = CONFIG.lines().skip_while(|line| !line.starts_with("# authorization {")).map(|line| &line[1..]);
    let mut block = String::new();
    for line in lines {
        block.push_str(line);
        block.push('\n');
        if line == " }" {
            break;
        }
    }
    block.replace("$2a$11$...", PASSWORD)
}

fn user(url: &str, name: &str) -> connect::Options {
    connect::Options {
        user: Some(name.to_owned()),
        password: Some(PASSWORD.to_owned()),
        inbox: (name != "memlog").then(|| format!("_INBOX_{name}")),
        ..connect::Options::url(url)
    }
}

/// What the server tells this user when it reaches for a subject.
async fn is_refused(url: &str, name: &str, subject: &str) -> bool {
    let (told, mut hear) = tokio::sync::mpsc::channel(8);
    let options = async_nats::ConnectOptions::with_user_and_password(name.to_owned(), PASSWORD.to_owned());
    let options = options.event_callback(move |event| {
        let told = told.clone();
        async move { told.try_send(event.to_string()).unwrap_or_default() }
    });
    let client = options.connect(url).await.unwrap();
    let mut heard = client.subscribe(subject.to_owned()).await.unwrap();
    client.flush().await.unwrap();
    loop {
        tokio::select! {
            event = hear.recv() => {
                if event.expect("events come").to_lowercase().contains("permissions violation") {
                    return true;
                }
            }
            _ = heard.next() => return false,
        }
    }
}

/// A tenant fenced by a line that does not work would be read by its neighbours; a worker by too narrow a one would idle.
#[tokio::test(flavor = "multi_thread")]
async fn the_users_of_the_configuration_can_do_their_work_and_no_more() {
    let store = tempfile::tempdir().unwrap();
    let settings = format!("jetstream {{ store_dir: \"{}\" }}\n{}", store.path().display(), users());
    let Some(nats) = SmallNats::configured(&settings).await else { return };
    let data = tempfile::tempdir().unwrap();
    let limits = Limits { workers: 0, ..Limits::default() };
    let memlog = Memlog::open_as(data.path(), user(&nats.url, "memlog"), limits).await;
    let worker = user(&nats.url, "worker");
    let workers = Workers::start(&worker, 2, Arc::new(extract::Local), None).await.unwrap();

    let acme = Client::connect(&user(&nats.url, "acme")).await.unwrap();
    let content = "I moved to Lisbon last week.".to_owned();
    let message = profile::Message { role: "user".to_owned(), content, ..profile::Message::default() };
    let ingest = profile::Ingest { profile: "ann".to_owned(), messages: vec![message], ..profile::Ingest::default() };
    let job_id = call(&acme, ingest).await.unwrap().job_id.expect("a job");
    until("the worker has done it", || async {
        let get = job::Get { job_id: job_id.clone(), as_of: None };
        call(&acme, get).await.unwrap().job.state == job::State::Done
    })
    .await;

    for (name, subject) in [
        ("acme", "memlog.v1.>"),
        ("acme", "memlog.v1.other.profile.ingest"),
        ("acme", "memlog.worker.v1.fetch"),
        ("acme", "_INBOX.>"),
        ("acme", "_INBOX_worker.>"),
        ("worker", "memlog.v1.>"),
        ("worker", "memlog.worker.v1.>"),
        ("worker", "_INBOX_acme.>"),
    ] {
        assert!(is_refused(&nats.url, name, subject).await, "{name} hears {subject}");
    }
    workers.close(Duration::from_secs(10)).await;
    memlog.close().await;
}
