//! `memlog verify` on a folder that somebody laid hands on: it names the place, and its exit code says so to scripts.

use std::{fs, path::Path};

use memlog_events::head::{FACTS_AT, HEAD_BYTES, Head};
use serde_json::Value;

use crate::world::{World, copy};

/// The exit code of a log that does not hold.
const BROKEN: i32 = 3;

async fn remember(world: &World, contents: &[&str]) {
    for content in contents {
        world.done(&["remember", content]).await;
    }
}

/// How far into an event a byte lies.
type Within = fn(&Head) -> usize;

/// `seq:hash`, as `verify --expect` takes it.
fn noted(verified: &Value) -> String {
    format!("{}:{}", verified["head"]["seq"], verified["head"]["hash"].as_str().unwrap())
}

/// Where this event's copies lie in the file: the living one, and those in pages that are free by now.
fn places(file: &[u8], stream: &str, version: u64) -> Vec<(usize, Head)> {
    let heads = file.windows(HEAD_BYTES).enumerate().filter(|(_, bytes)| bytes.starts_with(b"MLEV"));
    let parsed = heads.filter_map(|(at, bytes)| Some((at, Head::parse(bytes).ok()?)));
    parsed.filter(|(_, head)| head.key.stream.0.to_string() == stream && head.version.0 == version).collect()
}

/// Changes one bit of every copy of an event, `within` bytes from its start.
fn flip(log: &Path, stream: &str, version: u64, within: Within) {
    let mut file = fs::read(log).unwrap();
    let places = places(&file, stream, version);
    assert!(!places.is_empty(), "the event is in the file");
    for (at, head) in places {
        file[at + within(&head)] ^= 1;
    }
    fs::write(log, file).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flipped_bit_is_named_by_stream_and_version() {
    let world = World::on_no_server();
    remember(&world, &["The ferns need water.", "The kettle is from Ottilie.", "The dentist is on 14 June."]).await;
    let whole = world.done(&["verify"]).await;
    assert_eq!(whole["ok"], true);
    let (_, events) = world.cli(&["log"]).await;
    let saved: Vec<_> = events.iter().filter(|event| event["type"] == "saved").collect();
    let (stream, version) = (saved[1]["stream"].as_str().unwrap(), saved[1]["version"].as_u64().unwrap());

    let log = world.data().join("log.redb");
    let parts: [(&str, Within); 4] = [
        ("the time in the head", |_| 33),
        ("the chain", |_| HEAD_BYTES + 3),
        ("the facts", |_| FACTS_AT + 2),
        ("the sealed content", |head| FACTS_AT + head.facts_bytes as usize + 5),
    ];
    for (part, within) in parts {
        flip(&log, stream, version, within);
        let (code, verified) = world.cli(&["verify"]).await;
        assert_eq!((code, verified.len()), (BROKEN, 1), "{part}: {verified:?}");
        let at = &verified[0]["first_break"];
        assert_eq!(verified[0]["ok"], false, "{part}");
        assert_eq!((at["stream"].as_str(), at["version"].as_u64()), (Some(stream), Some(version)), "{part}: {at}");
        flip(&log, stream, version, within);
        assert_eq!(world.done(&["verify"]).await, whole, "{part}: put back, it holds again");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_older_folder_put_back_is_not_what_was_expected() {
    let world = World::on_no_server();
    remember(&world, &["The ferns need water."]).await;
    let older = noted(&world.done(&["verify"]).await);
    let backup = world.data().with_file_name("backup");
    copy(&world.data(), &backup);
    remember(&world, &["The kettle is from Ottilie."]).await;
    let newer = noted(&world.done(&["verify"]).await);
    for head in [&older, &newer] {
        assert_eq!(world.done(&["verify", "--expect", head]).await["ok"], true, "the log has grown from {head}");
    }

    // The log alone, beside its newer vault; then the whole folder. Each is in itself a log that holds.
    for whole in [false, true] {
        if whole {
            fs::remove_dir_all(world.data()).unwrap();
            copy(&backup, &world.data());
        } else {
            fs::copy(backup.join("log.redb"), world.data().join("log.redb")).unwrap();
        }
        let (code, verified) = world.cli(&["verify", "--expect", &newer]).await;
        assert_eq!((code, verified.len()), (BROKEN, 1), "whole folder: {whole}");
        assert_eq!(verified[0]["ok"], false);
        assert_eq!(world.done(&["verify", "--expect", &older]).await["ok"], true, "whole folder: {whole}");
    }
}
