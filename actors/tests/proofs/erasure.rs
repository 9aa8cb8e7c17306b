//! After forgetting, nothing of it is in any file, in any answer about the past, or in a copy taken at the worst moment.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use memlog_actors::{
    api::{AsOf, Context, audit, profile::*, speaker},
    port::{Embedder, Purpose},
    system::System,
};

use super::world::*;

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found
}

pub(super) fn copy(from: &Path, to: &Path) {
    for file in files(from) {
        let target = to.join(file.strip_prefix(from).expect("inside"));
        std::fs::create_dir_all(target.parent().expect("a parent")).expect("made");
        std::fs::copy(&file, &target).expect("copied");
    }
}

/// No file has any of these bytes. That they are in none before the deletion either is the stronger promise: all is sealed.
pub(crate) fn assert_nowhere(folder: &Path, secrets: &[Vec<u8>]) {
    for file in files(folder) {
        let bytes = std::fs::read(&file).expect("read");
        for secret in secrets {
            let there = bytes.windows(secret.len()).any(|window| window == secret);
            assert!(!there, "{:?} is in {}", String::from_utf8_lossy(secret), file.display());
        }
    }
}

const TEXT: &str = "Velvet marmalade is the code";
const WORDS: [&str; 9] = [
    "marmalade",
    "Zebulon",
    "msg-quokka",
    "session-ocelot",
    "meta-narwhal",
    "user-axolotl",
    "agent-okapi",
    "alice",
    "acme",
];

fn caller() -> Context {
    let mut context = acme();
    (context.caller.user, context.caller.agent) = (Some("user-axolotl".to_owned()), Some("agent-okapi".to_owned()));
    context
}

/// A profile in which every kind of content says something of its own; the ids of a record and of the record of a message.
async fn filled(system: &System) -> (String, String) {
    let add = speaker::Add { profile: ALICE.to_owned(), speaker: "Zebulon".to_owned() };
    system.speaker_add(&caller(), add).await.expect("added");
    let said = Message {
        id: Some("msg-quokka".to_owned()),
        speaker: Some("Zebulon".to_owned()),
        ..message("user", "Marmalade, marmalade for ever")
    };
    let request = ingest(Some("session-ocelot"), vec![said]);
    system.profile_ingest(&caller(), request).await.expect("ingested");
    let metadata = serde_json::json!({"meta-narwhal": "meta-narwhal"}).as_object().cloned();
    let kept = Remember { metadata, ttl_days: Some(2.0), ..remember(TEXT) };
    let kept = system.profile_remember(&caller(), kept).await.expect("stored").reply.memory.id;
    // Waits until everything is embedded, so that the vectors are in the files.
    system.profile_search(&caller(), search("marmalade")).await.expect("found");
    let listed = system.profile_memories(&caller(), list()).await.expect("listed").reply.memories;
    let extracted = listed.into_iter().find(|it| it.id != kept).expect("extracted").id;
    (kept, extracted)
}

fn secrets() -> Vec<Vec<u8>> {
    let vector = |text: &str| {
        let vector = Letters.embed(text, Purpose::Passage).expect("embedded");
        vector[..4].iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>()
    };
    let dated = "(28 May 2026): ";
    let words = WORDS.iter().map(|word| word.as_bytes().to_vec());
    words.chain([vector(&format!("{dated}{TEXT}")), vector(TEXT)]).collect()
}

fn embedding() -> World {
    let mut world = World::new();
    world.embedder = Some(Arc::new(Letters));
    world
}

async fn assert_gone(system: &System, moments: &[u64], words: &str, secret: &str) {
    for as_of in moments.iter().map(|seq| Some(AsOf::Seq(*seq))).chain([None]) {
        let found = system.profile_search(&acme(), Search { as_of, ..search(words) }).await;
        let hits = found.map(|found| found.reply.memories).unwrap_or_default();
        let left: Vec<_> =
            hits.iter().filter(|hit| hit.content.clone().flatten().is_some_and(|it| it.contains(secret))).collect();
        assert!(left.is_empty(), "{as_of:?}: {left:?}");
    }
}

// Text, names, ids, metadata and vectors are sealed from the first byte on; and after each kind of deletion no answer
// about any moment says them, and the log still verifies.
#[tokio::test(flavor = "multi_thread")]
async fn nothing_readable_is_ever_in_a_file() {
    for kind in ["forget", "delete_session", "delete", "expire"] {
        let world = embedding();
        let system = world.start().await;
        let (kept, extracted) = filled(&system).await;
        let moments: Vec<u64> = (1..=system.health().seq).collect();
        assert_nowhere(world.folder.path(), &secrets());
        match kind {
            "forget" => {
                for id in [&kept, &extracted] {
                    system.profile_forget(&caller(), forget(id)).await.expect("forgotten");
                }
            }
            "delete_session" => drop(system.profile_delete_session(&caller(), delete_session("session-ocelot")).await),
            "delete" => drop(system.profile_delete(&caller(), delete()).await.expect("deleted")),
            _ => world.clock.forward(3 * DAY_MICROS),
        }
        let secret = if kind == "delete_session" { "for ever" } else { "Velvet" };
        assert_gone(&system, &moments, "velvet marmalade", secret).await;
        let verified = system.audit_verify(&acme(), audit::Verify::default()).await.expect("verified").reply;
        assert!(verified.ok, "{kind}: {verified:?}");
        assert_nowhere(world.folder.path(), &secrets());
        let system = world.restart(system).await;
        assert_gone(&system, &moments, "velvet marmalade", secret).await;
        assert_nowhere(world.folder.path(), &secrets());
        system.stop().await;
    }
}

// The process dies between the commit and the overwriting: the log knows of the deletion, the vault does not yet. The
// next start overwrites before it answers anything.
#[tokio::test(flavor = "multi_thread")]
async fn killed_between_commit_and_overwriting_it_is_erased_at_the_next_start() {
    for kind in ["forget", "delete"] {
        let world = embedding();
        let system = world.start().await;
        let (kept, _) = filled(&system).await;
        let seq = system.health().seq;
        let before = tempfile::tempdir().expect("a folder");
        copy(world.folder.path(), before.path());
        if kind == "forget" {
            system.profile_forget(&caller(), forget(&kept)).await.expect("forgotten");
        } else {
            system.profile_delete(&caller(), delete()).await.expect("deleted");
        }
        system.stop().await;
        drop(system);
        put_vault_back(before.path(), world.folder.path());
        let system = world.start().await;
        assert_gone(&system, &[seq], "velvet", "Velvet").await;
        let verified = system.audit_verify(&acme(), audit::Verify::default()).await.expect("verified").reply;
        assert!(verified.ok, "{kind}: {verified:?}");
        system.stop().await;
    }
}

/// Puts the vault of a copy back beside a newer log.
pub(super) fn put_vault_back(copy: &Path, folder: &Path) {
    let vaults: Vec<_> = files(copy).into_iter().filter(|file| is_vault(file)).collect();
    assert!(!vaults.is_empty(), "{:?}", files(copy));
    for file in vaults {
        let target = folder.join(file.strip_prefix(copy).expect("inside"));
        std::fs::copy(&file, target).expect("put back");
    }
}

fn is_vault(file: &Path) -> bool {
    file.file_name().is_some_and(|name| name.to_string_lossy().contains("vault"))
}

// Reads of the past that race with the forgetting may still see it; once it is acknowledged, none does, whatever was
// folded or cached meanwhile.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_search_of_the_past_that_races_with_forgetting_caches_nothing() {
    let world = World::new();
    let system = world.start().await;
    for round in 0..20 {
        let stored = system.profile_remember(&acme(), remember(&format!("Velvet zq{round}x"))).await.expect("stored");
        let seq = system.health().seq;
        system.profile_remember(&acme(), remember(&format!("Later {round}"))).await.expect("stored");
        let mut readers = tokio::task::JoinSet::new();
        for _ in 0..4 {
            let system = system.clone();
            readers.spawn(async move {
                for _ in 0..5 {
                    let request = Search { as_of: Some(AsOf::Seq(seq)), ..search(&format!("zq{round}x")) };
                    system.profile_search(&acme(), request).await.expect("searched");
                }
            });
        }
        system.profile_forget(&acme(), forget(&stored.reply.memory.id)).await.expect("forgotten");
        assert_gone(&system, &[seq], &format!("velvet zq{round}x"), &format!("Velvet zq{round}x")).await;
        readers.join_all().await;
        assert_gone(&system, &[seq], &format!("velvet zq{round}x"), &format!("Velvet zq{round}x")).await;
    }
    system.stop().await;
}
