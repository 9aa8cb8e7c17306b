//! Backup and restore as an operator does them, with the binary beside a server that goes on: everything acknowledged before is in
//! the copy, nothing later is, and what was forgotten since is forgotten again before anybody reads.

use std::{
    collections::BTreeSet,
    path::Path,
    process::{Command, Output},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
};

use memlog::{client::Client, control::Control};
use memlog_actors::{api::profile, limits::Limits};
use serde_json::{Value, json};

use crate::support::{
    Nats,
    served::{Memlog, call, refused, until},
};

/// The binary, without anything of the environment that it would read; it blocks as a shell would.
fn run(words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_memlog"));
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("MEMLOG_")) {
        command.env_remove(name);
    }
    command.env("HOME", "/nonexistent").env_remove("XDG_CONFIG_HOME").env_remove("XDG_CACHE_HOME");
    tokio::task::block_in_place(|| command.args(words).output().unwrap())
}

fn ok(words: &[&str]) -> String {
    let output = run(words);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "memlog {words:?}: {:?}\n{errors}", output.status);
    String::from_utf8(output.stdout).unwrap()
}

fn json_of(words: &[&str]) -> Value {
    serde_json::from_str(&ok(&[words, &["--json"]].concat())).unwrap()
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn head_of(reply: &Value) -> String {
    format!("{}:{}", reply["head"]["seq"], reply["head"]["hash"].as_str().unwrap())
}

async fn ask(memlog: &Memlog, verb: &str, request: Value) -> Value {
    let told = format!("{verb} {request}");
    let admin = [("Memlog-Role", "admin")];
    let reply = memlog.send(&format!("memlog.v1.acme.{verb}"), &admin, request.to_string()).await;
    serde_json::from_slice(&reply.unwrap_or_else(|error| panic!("{told}: {error:?}"))).unwrap()
}

/// Saves until told to stop; ids of what was acknowledged.
async fn write(client: Client, writer: usize, stop: Arc<AtomicBool>, acknowledged: Arc<Mutex<Vec<String>>>) {
    for turn in 0.. {
        if stop.load(Ordering::SeqCst) {
            return;
        }
        let content = format!("note {turn} of writer {writer}");
        let request =
            profile::Remember { profile: "load".to_owned(), content, dedupe: Some(false), ..Default::default() };
        let id = call(&client, request).await.unwrap().memory.id;
        acknowledged.lock().unwrap().push(id);
    }
}

/// Every memory of the load, page by page.
fn ids(on: &[&str]) -> BTreeSet<String> {
    let (mut found, mut cursor) = (BTreeSet::new(), None::<String>);
    loop {
        let next: Vec<&str> = cursor.iter().flat_map(|cursor| ["--cursor", cursor.as_str()]).collect();
        let page =
            json_of(&[&["memories", "--namespace", "acme", "-p", "load", "--limit", "500"][..], &next, on].concat());
        let memories = page["memories"].as_array().unwrap().iter();
        found.extend(memories.map(|memory| memory["id"].as_str().unwrap().to_owned()));
        match page["cursor"].as_str() {
            Some(more) => cursor = Some(more.to_owned()),
            None => return found,
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_copy_made_under_load_is_restored_with_all_that_was_acknowledged() {
    let Some(nats) = Nats::start().await else { return };
    let folder = tempfile::tempdir().unwrap();
    let [data, copy, keys] = ["data", "copy", "keys"].map(|name| folder.path().join(name));
    let memlog = Memlog::open(&data, nats.url(), Limits::default()).await;
    let control = Control::open(&data, memlog.serving.system().clone()).unwrap();
    let (stop, acknowledged) = (Arc::new(AtomicBool::new(false)), Arc::new(Mutex::new(Vec::new())));
    let writers: Vec<_> = (0..8)
        .map(|writer| tokio::spawn(write(memlog.client.clone(), writer, Arc::clone(&stop), Arc::clone(&acknowledged))))
        .collect();
    let count = || acknowledged.lock().unwrap().len();
    until("the load is on", || async { count() > 100 }).await;
    let before = acknowledged.lock().unwrap().clone();
    let backup = ["backup", text(&copy), "--vault-to", text(&keys), "--data", text(&data)];
    let copied = json_of(&backup);
    let at_end = count();
    until("the load goes on", || async { count() > at_end + 50 }).await;
    stop.store(true, Ordering::SeqCst);
    for writer in writers {
        writer.await.unwrap();
    }
    // A second one would take the place of the first.
    assert!(!run(&backup).status.success());
    let later = ask(&memlog, "profile.remember", json!({"profile": "load", "content": "said after the backup"})).await;
    control.close().await;
    assert!(!data.join("control.sock").exists());
    memlog.close().await;

    let on_copy = ["--data", text(&copy), "--vault", text(&keys)];
    let verified = json_of(&[&["verify", "--expect", &head_of(&copied)][..], &on_copy].concat());
    assert_eq!((&verified["ok"], head_of(&verified)), (&json!(true), head_of(&copied)));
    assert_eq!(verified["events"], copied["events"]);
    let listed = ids(&on_copy);
    assert!(before.iter().all(|id| listed.contains(id)), "all that was acknowledged before is there");
    assert!(!listed.contains(later["memory"]["id"].as_str().unwrap()), "and nothing later");
    // Without a server the command does it by itself, on the copy of a copy as well.
    let again = folder.path().join("again");
    let copied_again = json_of(&[&["backup", text(&again)][..], &on_copy].concat());
    assert_eq!(head_of(&copied_again), head_of(&copied));
    assert_eq!(json_of(&["verify", "--data", text(&again)])["ok"], true);
}

/// What people had: one thing of each kind that can be forgotten.
struct Had {
    memory: String,
    message: String,
    notebook: String,
    purged: String,
    note: Value,
}

async fn fill(memlog: &Memlog) -> Had {
    let kept = json!({"profile": "ann", "content": "Ann keeps bees."});
    ask(memlog, "profile.remember", kept).await;
    let secret = json!({"profile": "ann", "content": "The safe opens with 4711."});
    let memory = ask(memlog, "profile.remember", secret).await["memory"]["id"].as_str().unwrap().to_owned();
    for (profile, session) in [("ann", "kept"), ("ann", "lost"), ("gone", "any")] {
        let messages =
            json!([{"role": "user", "content": format!("We met in {session}ville."), "id": format!("m-{session}")}]);
        let ingest = json!({"profile": profile, "session_id": session, "messages": messages, "wait": true});
        ask(memlog, "profile.ingest", ingest).await;
    }
    let more = json!([{"role": "user", "content": "Forget this line."}]);
    ask(memlog, "profile.ingest", json!({"profile": "ann", "session_id": "kept", "messages": more, "wait": true}))
        .await;
    let messages = ask(memlog, "thread.get_messages", json!({"profile": "ann", "thread_id": "kept"})).await;
    let message = messages["messages"].as_array().unwrap().last().unwrap()["id"].as_str().unwrap().to_owned();
    let mut notebooks = Vec::new();
    for name in ["company", "purged"] {
        let made = ask(memlog, "memory.create", json!({"name": name})).await;
        let id = made["memory"]["id"].as_str().unwrap().to_owned();
        for entry in ["kept", "lost"] {
            let save = json!({"id": id, "entry": entry, "content": format!("{name} {entry}"), "description": entry});
            ask(memlog, "memory.save", save).await;
        }
        notebooks.push(id);
    }
    let note = json!({"name": "prices", "body": "<p>Never.</p>", "kind_key": "kDefault", "level": "all"});
    let note = ask(memlog, "note.admin_save", note).await["note"]["id"].clone();
    let [notebook, purged] = <[String; 2]>::try_from(notebooks).unwrap();
    Had { memory, message, notebook, purged, note }
}

async fn forget(memlog: &Memlog, had: &Had) {
    for (verb, request) in [
        ("profile.forget", json!({"profile": "ann", "memory_id": had.memory})),
        ("profile.delete_session", json!({"profile": "ann", "session_id": "lost"})),
        ("thread.delete_message", json!({"profile": "ann", "thread_id": "kept", "message_id": had.message})),
        ("profile.delete", json!({"profile": "gone"})),
        ("memory.forget", json!({"id": had.notebook, "entry": "lost"})),
        ("memory.delete", json!({"id": had.purged})),
        ("trash.purge", json!({"id": had.purged})),
        ("note.admin_remove", json!({"id": had.note})),
    ] {
        ask(memlog, verb, request).await;
    }
}

/// All that can be read of it now, and as of a position.
async fn readable(memlog: &Memlog, had: &Had, as_of: Option<u64>) -> String {
    let as_of = as_of.map_or(Value::Null, |seq| json!({"seq": seq}));
    let mut told = Vec::new();
    for (verb, request) in [
        ("profile.list", json!({})),
        ("profile.memories", json!({"profile": "ann"})),
        ("profile.memories", json!({"profile": "gone"})),
        ("profile.search", json!({"profile": "ann", "query": "safe met line bees"})),
        ("profile.summary", json!({"profile": "ann"})),
        ("thread.list", json!({"profile": "ann"})),
        ("thread.get_messages", json!({"profile": "ann", "thread_id": "kept"})),
        ("thread.get_messages", json!({"profile": "ann", "thread_id": "lost"})),
        ("memory.list", json!({})),
        ("memory.entries", json!({"id": had.notebook})),
        ("memory.entries", json!({"id": had.purged})),
        ("trash.list", json!({})),
        ("note.admin_list", json!({})),
    ] {
        let mut request = request;
        let timeless = verb == "trash.list" || verb.starts_with("note.");
        if !as_of.is_null() && !timeless {
            request["as_of"] = as_of.clone();
        }
        let admin = [("Memlog-Role", "admin")];
        let subject = format!("memlog.v1.acme.{verb}");
        match memlog.send(&subject, &admin, request.to_string()).await {
            Ok(body) => told.push(format!("{verb} {}", String::from_utf8(body).unwrap())),
            other => assert_eq!(refused(other).kind.code(), 404, "{verb} {request}"),
        }
    }
    told.join("\n")
}

/// A restored backup has the keys of all that was forgotten after it. The list takes them again, by the events themselves, so
/// that every view knows of it as if it had happened there.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_forgotten_since_the_backup_is_forgotten_again() {
    let Some(nats) = Nats::start().await else { return };
    let folder = tempfile::tempdir().unwrap();
    let [data, copy] = ["data", "copy"].map(|name| folder.path().join(name));
    let memlog = Memlog::open(&data, nats.url(), Limits::default()).await;
    let control = Control::open(&data, memlog.serving.system().clone()).unwrap();
    let had = fill(&memlog).await;
    let whole = readable(&memlog, &had, None).await;
    let lost = ["4711", "lostville", "m-lost", "Forget this line", "anyville", "\"lost\"", "\"purged\"", "prices"];
    for word in lost {
        assert!(whole.contains(word), "{word} was there:\n{whole}");
    }
    let copied = json_of(&["backup", text(&copy), "--data", text(&data)]);
    forget(&memlog, &had).await;
    // Said and forgotten after the backup: the copy knows nothing of it.
    let late = ask(&memlog, "profile.remember", json!({"profile": "ann", "content": "Only in between."})).await;
    let late = json!({"profile": "ann", "memory_id": late["memory"]["id"]});
    ask(&memlog, "profile.forget", late).await;
    let list = folder.path().join("forgotten.jsonl");
    let lines = ok(&["erasures", "--since", &head_of(&copied), "--data", text(&data)]);
    for word in lost.iter().filter(|word| !word.starts_with('"')).chain(&["Only in between"]) {
        assert!(!lines.contains(word), "{word} in the list");
    }
    std::fs::write(&list, &lines).unwrap();
    let expected = readable(&memlog, &had, None).await;
    control.close().await;
    memlog.close().await;

    // Half a list is none, and the list of another log is refused.
    let half = folder.path().join("half.jsonl");
    std::fs::write(&half, lines.rsplit_once('\n').unwrap().0.rsplit_once('\n').unwrap().0).unwrap();
    assert!(!run(&["erasures", "--apply", text(&half), "--data", text(&copy)]).status.success());
    let other = folder.path().join("other");
    ok(&["remember", "Of another log.", "--data", text(&other)]);
    assert!(!run(&["erasures", "--apply", text(&list), "--data", text(&other)]).status.success());

    let applied = json_of(&["erasures", "--apply", text(&list), "--data", text(&copy)]);
    assert_eq!(applied["passed"], 1, "{applied}: what the copy never had");
    let again = json_of(&["erasures", "--apply", text(&list), "--data", text(&copy)]);
    assert_eq!(again["applied"], 0, "a second time changes nothing");
    let verified = json_of(&["verify", "--expect", &head_of(&copied), "--data", text(&copy)]);
    assert_eq!(verified["ok"], true);

    let restored = Memlog::open(&copy, nats.url(), Limits::default()).await;
    let now = readable(&restored, &had, None).await;
    let then = readable(&restored, &had, copied["head"]["seq"].as_u64()).await;
    for word in lost {
        assert!(!now.contains(word), "{word} is back:\n{now}");
        assert!(!then.contains(word), "{word} is back in the past:\n{then}");
    }
    assert!(then.contains("Ann keeps bees.") && then.contains("keptville"), "the rest of the past is there:\n{then}");
    assert!(now.contains("Ann keeps bees.") && now.contains("keptville") && now.contains("company"));
    assert_eq!(now.lines().count(), expected.lines().count(), "as many reads are answered:\n{now}\n\n{expected}");
    // The names are free again.
    ask(&restored, "memory.create", json!({"name": "purged"})).await;
    let profiles = ask(&restored, "profile.list", json!({})).await.to_string();
    assert!(profiles.contains("ann") && !profiles.contains("gone"), "{profiles}");
    restored.close().await;
    assert!(!run(&["erasures", "--apply", text(&list), "--data", text(&copy)]).status.success(), "it was written to");
    assert_eq!(json_of(&["verify", "--data", text(&copy)])["ok"], true);
}
