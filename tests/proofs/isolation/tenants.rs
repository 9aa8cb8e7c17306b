//! The permissions that `deploy` hands out, on a real nats-server with those very files: node and workers can do their work, a tenant
//! publishes and hears its own and nothing else, and memlog answers on no subject of its own or of the server, where an answer would be an
//! order. On any other it answers: another's inbox is fenced by its name alone, which cannot be guessed.

use std::{path::Path, process::Stdio, sync::Arc, time::Duration};

use async_nats::{Client as Nats, ConnectOptions};
use futures::{FutureExt, StreamExt};
use memlog::{client::Client, door::connect, jobs::Workers};
use memlog_actors::{
    api::{Answer, Context, Verb, audit, job, profile},
    extract,
    limits::Limits,
};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::world::World;
use crate::support::served::{Memlog, until};

const NATS: &str = include_str!("../../../deploy/nats.conf");
const TENANTS: &str = include_str!("../../../deploy/tenants.conf");
/// The line that an operator takes out of its comment.
const INCLUDE: &str = "include \"tenants.conf\"";
const PASSWORDS: [(&str, &str); 4] = [
    ("MEMLOG_NATS_PASSWORD", "12 of the node"),
    ("MEMLOG_NATS_WORKER_PASSWORD", "workers-secret"),
    ("MEMLOG_NATS_ACME_PASSWORD", "acmes-secret"),
    ("MEMLOG_NATS_GLOBEX_PASSWORD", "globexs-secret"),
];

/// A nats-server with the shipped configuration; only its ports and its store are elsewhere.
struct Shipped {
    url: String,
    _child: tokio::process::Child,
    _folder: tempfile::TempDir,
}

impl Shipped {
    async fn start() -> Option<Self> {
        // Whether there is one is told, or demanded, where every test tells it.
        crate::support::Nats::start().await?.stop().await;
        let binary = memlog::nats::server::find(None).await.ok()?;
        let folder = tempfile::tempdir().unwrap();
        assert!(NATS.contains(&format!("\n# {INCLUDE}\n")), "nats.conf names tenants.conf");
        let settings = NATS.replace(&format!("# {INCLUDE}"), INCLUDE).replace("/var/lib/nats", "store");
        std::fs::write(folder.path().join("nats.conf"), settings).unwrap();
        std::fs::write(folder.path().join("tenants.conf"), TENANTS).unwrap();
        let child = tokio::process::Command::new(binary)
            .args(["--config", "nats.conf", "--port", "-1", "--http_port", "-1", "--ports_file_dir", "."])
            .current_dir(folder.path())
            .envs(PASSWORDS.map(|(name, password)| (name, format!("\"{password}\""))))
            .kill_on_drop(true)
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let file = folder.path().join(format!("nats-server_{}.ports", child.id().unwrap()));
        until("the server tells its port", || async { announced(&file).is_some() }).await;
        Some(Self { url: announced(&file).unwrap(), _child: child, _folder: folder })
    }

    /// As memlog connects.
    fn options(&self, name: &str) -> connect::Options {
        connect::Options {
            user: Some(name.to_owned()),
            password: Some(password(name).to_owned()),
            inbox: (name != "memlog").then(|| format!("_INBOX_{name}")),
            ..connect::Options::url(&self.url)
        }
    }

    /// As anybody connects, and what the server complains of.
    async fn somebody(&self, name: &str) -> (Nats, mpsc::Receiver<String>) {
        let (told, complaints) = mpsc::channel(1_000);
        let options = ConnectOptions::with_user_and_password(name.to_owned(), password(name).to_owned());
        let options = options.custom_inbox_prefix(format!("_INBOX_{name}")).event_callback(move |event| {
            let told = told.clone();
            async move { drop(told.try_send(event.to_string().to_lowercase())) }
        });
        (options.connect(&self.url).await.unwrap(), complaints)
    }
}

fn announced(file: &Path) -> Option<String> {
    let told: Value = serde_json::from_slice(&std::fs::read(file).ok()?).ok()?;
    Some(told["nats"][0].as_str()?.to_owned())
}

fn password(name: &str) -> &'static str {
    let variable = if name == "memlog" {
        "MEMLOG_NATS_PASSWORD".to_owned()
    } else {
        format!("MEMLOG_NATS_{}_PASSWORD", name.to_uppercase())
    };
    PASSWORDS.into_iter().find(|(it, _)| *it == variable).expect("a user of the file").1
}

/// Waits until the server refuses to let this one publish or subscribe there.
async fn refused(complaints: &mut mpsc::Receiver<String>, what: &str, subject: &str) {
    let hearing = async {
        while let Some(told) = complaints.recv().await {
            if told.contains("permissions violation")
                && told.contains(what)
                && told.contains(&format!("\"{}\"", subject.to_lowercase()))
            {
                return true;
            }
        }
        false
    };
    let heard = tokio::time::timeout(Duration::from_secs(60), hearing).await;
    assert_eq!(heard, Ok(true), "{what} {subject} is not refused");
}

async fn call<V: Verb>(client: &Client, namespace: &str, request: V) -> V::Reply {
    let context = Context { namespace: namespace.to_owned(), ..Context::default() };
    let answer: Answer<V::Reply> = client.call(&context, &request).await.unwrap();
    answer.reply
}

fn ingest(content: &str) -> profile::Ingest {
    let message =
        profile::Message { role: "user".to_owned(), content: content.to_owned(), ..profile::Message::default() };
    profile::Ingest { profile: "ann".to_owned(), messages: vec![message], ..profile::Ingest::default() }
}

/// What must be out of a tenant's reach, to publish on.
const TENANT_NEVER_TELLS: [&str; 17] = [
    "memlog.v1.globex.profile.get",
    "memlog.v1.globex.events.profile.saved",
    "memlog.v1.acme.events.profile.saved",
    "memlog.worker.v1.fetch",
    "memlog.jobs.v1.extract",
    "memlog.dead.v1.x",
    "$JS.API.INFO",
    "$JS.API.STREAM.NAMES",
    "$JS.API.STREAM.DELETE.memlog-jobs",
    "$JS.API.CONSUMER.MSG.NEXT.memlog-jobs.workers",
    "$JS.ACK.memlog-jobs.workers.1.1.1.1.1",
    "$SRV.STATS",
    "$SRV.STATS.memlog",
    "$SYS.REQ.SERVER.PING",
    "_INBOX.somebody",
    "_INBOX_globex.somebody",
    "_INBOX_worker.somebody",
];
/// And to hear.
const TENANT_NEVER_HEARS: [&str; 16] = [
    ">",
    "*.>",
    "memlog.v1.>",
    "memlog.v1.acme.>",
    "memlog.v1.acme.*.*",
    "memlog.v1.globex.>",
    "memlog.v1.globex.events.>",
    "memlog.v1.*.events.>",
    "memlog.worker.v1.>",
    "memlog.jobs.>",
    "memlog.dead.>",
    "_INBOX.>",
    "_INBOX_globex.>",
    "_INBOX_worker.>",
    "$JS.EVENT.>",
    "$SRV.>",
];

/// A fence with a hole would show one tenant another's memories; one too narrow would leave it without answers.
#[tokio::test(flavor = "multi_thread")]
async fn a_tenant_publishes_and_hears_its_own_and_nothing_else() {
    let Some(nats) = Shipped::start().await else { return };
    let data = tempfile::tempdir().unwrap();
    let memlog = Memlog::open_as(data.path(), nats.options("memlog"), Limits { workers: 0, ..Limits::default() }).await;
    let workers = Workers::start(&nats.options("worker"), 2, Arc::new(extract::Local), None).await.unwrap();

    let (acme, mut acmes) = nats.somebody("acme").await;
    let mut feeds = acme.subscribe("memlog.v1.acme.events.>").await.unwrap();
    acme.flush().await.unwrap();
    for tenant in ["globex", "acme"] {
        let client = Client::connect(&nats.options(tenant)).await.unwrap();
        let job_id = call(&client, tenant, ingest("I moved to Lisbon last week.")).await.job_id.expect("a job");
        until("the worker has done it", || async {
            let get = job::Get { job_id: job_id.clone(), as_of: None };
            call(&client, tenant, get).await.job.state == job::State::Done
        })
        .await;
    }
    // Its own feed, from the first event on; the other one's, which came before, is not in it.
    let first = feeds.next().await.unwrap();
    assert!(first.subject.starts_with("memlog.v1.acme.events.profile."), "{}", first.subject);
    for service in ["$SRV.PING.memlog", "$SRV.INFO.memlog"] {
        let told = acme.request(service, "".into()).await.unwrap();
        assert_eq!(serde_json::from_slice::<Value>(&told.payload).unwrap()["name"], "memlog");
    }

    for subject in TENANT_NEVER_TELLS {
        acme.publish(subject, "{}".into()).await.unwrap();
        refused(&mut acmes, "publish", subject).await;
    }
    for subject in TENANT_NEVER_HEARS {
        let _heard = acme.subscribe(subject).await.unwrap();
        refused(&mut acmes, "subscription", subject).await;
    }
    let (worker, mut complaints) = nats.somebody("worker").await;
    for subject in [
        "memlog.v1.acme.profile.list",
        "memlog.v1.acme.events.profile.saved",
        "$SRV.PING.memlog",
        "$JS.API.STREAM.DELETE.memlog-jobs",
    ] {
        worker.publish(subject, "{}".into()).await.unwrap();
        refused(&mut complaints, "publish", subject).await;
    }
    for subject in ["memlog.v1.>", "memlog.worker.v1.>", "memlog.jobs.>", "_INBOX_acme.>", "$JS.>"] {
        let _heard = worker.subscribe(subject).await.unwrap();
        refused(&mut complaints, "subscription", subject).await;
    }
    let (node, mut complaints) = nats.somebody("memlog").await;
    for subject in ["$JS.API.STREAM.DELETE.memlog-jobs", "$JS.API.STREAM.PURGE.memlog-jobs", "$SYS.REQ.SERVER.PING"] {
        node.publish(subject, "{}".into()).await.unwrap();
        refused(&mut complaints, "publish", subject).await;
    }
    workers.close(Duration::from_secs(10)).await;
    memlog.close().await;
}

/// memlog may publish where a tenant may not, and answers where it is told to: it must not be told to answer on another's verbs, on
/// another's feed, or with the empty object that orders JetStream to delete a stream.
#[tokio::test(flavor = "multi_thread")]
async fn no_answer_is_an_order_in_memlogs_name() {
    let Some(world) = World::start(Limits::default()).await else { return };
    let nats = world.nats.client().await;
    let (memlog, jets) = (&world.memlog, async_nats::jetstream::new(nats.clone()));
    let of = |namespace: &str| Context { namespace: namespace.to_owned(), ..Context::default() };
    memlog.client.call(&of("globex"), &profile::Get { profile: "bob".to_owned(), as_of: None }).await.unwrap();
    // The queue is there once a job has gone through it.
    let wait = profile::Ingest { wait: Some(true), ..ingest("I moved to Lisbon last week.") };
    memlog.client.call(&of("acme"), &wait).await.unwrap();
    let made = async || jets.get_stream("memlog-jobs").await.unwrap().cached_info().created;
    let before = made().await;
    let mut feed = nats.subscribe("memlog.v1.globex.>").await.unwrap();
    nats.flush().await.unwrap();

    let told = json!({"profile": "ann", "content": "forged", "dedupe": false}).to_string();
    for (verb, body) in [
        ("profile.delete_session", r#"{"profile":"ann","session_id":"s"}"#),
        ("profile.remember", told.as_str()),
        ("no.verb", ""),
    ] {
        for to in [
            "$JS.API.STREAM.DELETE.memlog-jobs",
            "$JS.API.STREAM.PURGE.memlog-jobs",
            "memlog.v1.globex.note.session_connect",
            "memlog.v1.globex.events.profile.saved",
            "memlog.worker.v1.fail",
        ] {
            nats.publish_with_reply(format!("memlog.v1.acme.{verb}"), to, body.to_owned().into()).await.unwrap();
        }
    }
    for question in ["$SRV.PING.memlog", "$SRV.INFO", "memlog.v1.acme.profile", "memlog.v1.acme.profile.get.it"] {
        nats.publish_with_reply(question, "memlog.v1.globex.events.profile.saved", "".into()).await.unwrap();
        nats.publish_with_reply(question, "$JS.API.STREAM.CREATE.memlog", "".into()).await.unwrap();
    }
    // The door takes requests in their order, and whatever it might have published for them reaches the server before this answer
    // to a call that came after them.
    let question =
        profile::Search { profile: "ann".to_owned(), query: "forged".to_owned(), ..profile::Search::default() };
    memlog.client.call(&of("acme"), &wait).await.unwrap();
    let found = memlog.client.call(&of("acme"), &question).await.unwrap().reply;
    assert!(
        found.memories.iter().all(|it| it.content != Some(Some("forged".to_owned()))),
        "a refused request was done"
    );
    let events = memlog.client.call(&of("globex"), &audit::Stats::default()).await.unwrap().reply;
    assert_eq!(events.by_type.keys().collect::<Vec<_>>(), ["profile_created"], "another's verb was called");
    assert_eq!(made().await, before, "the queue was deleted");
    assert!(jets.get_stream("memlog").await.is_err(), "a stream was made");
    while let Some(Some(heard)) = feed.next().now_or_never() {
        assert_eq!(heard.subject.as_str(), "memlog.v1.globex.audit.stats", "{heard:?}");
    }
    world.memlog.close().await;
}
