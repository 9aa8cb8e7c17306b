//! Streams that fall asleep leave snapshots and wake from them: wherever the power goes, and whenever the disk is full, they wake as
//! what their events say.

use std::collections::BTreeSet;

use memlog_actors::{
    api::{Error, Verb, audit, error::Kind, memory, note, speaker, thread},
    limits::Limits,
};
use memlog_events::{
    ids::{Position, StreamKey},
    log::{Log, Options, Snapshot},
};
use serde_json::{Value, json};

use super::{
    computer::{Computer, Unsynced},
    filled::{Filled, filled},
    life::{LOSSES, Life, after_a_cut, lived},
    random::Random,
    world::acme,
};

const TURNS: u64 = 2;
/// One of each kind of stream does something in a turn.
const KINDS: usize = 5;

/// Streams that leave a snapshot whenever they fall asleep, which is soon.
fn folder() -> Filled {
    let mut folder = filled();
    folder.world.limits = Limits { snapshot_every_events: 1, entity_idle_ms_max: 1_000, ..folder.world.limits.clone() };
    folder.computer = after_a_cut(&folder.computer, Unsynced::Kept, 0);
    folder
}

/// What each kind of stream is told in a turn, and whether it is known to have done it.
async fn turn(life: &Life<'_>, turn: u64) -> [bool; KINDS] {
    let speaker = json!({"profile": "alice", "speaker": format!("Speaker {turn}")});
    let message = json!({"role": "user", "content": format!("Turn {turn}"), "id": format!("t{turn}")});
    let messages = json!({"profile": "alice", "thread_id": "desk-alice", "messages": [message]});
    let entry = json!({"name": "company", "entry": "turns", "content": format!("Turn {turn}"), "description": "How"});
    let note = json!({"name": format!("Turn {turn}"), "body": "<p>Turn</p>"});
    [
        is_done::<speaker::Add>(life, speaker).await,
        is_done::<thread::AddMessages>(life, messages).await,
        is_done::<memory::Create>(life, json!({"name": format!("turn-{turn}")})).await,
        is_done::<memory::Save>(life, entry).await,
        is_done::<note::MemorySave>(life, note).await,
    ]
}

async fn is_done<V: Verb>(life: &Life<'_>, request: Value) -> bool {
    match life.try_ask::<V>(&acme(), request).await {
        None => false,
        Some(Ok(_)) => true,
        Some(Err(error)) => {
            assert!(error.kind == Kind::Unavailable && (life.computer.is_dead() || life.computer.is_full()), "{error}");
            false
        }
    }
}

/// Some turns, and sleep after each. What was acknowledged, by turn.
async fn turns(folder: &Filled, life: &Life<'_>) -> Vec<[bool; KINDS]> {
    let mut done = Vec::new();
    for at in 0..TURNS {
        done.push(turn(life, at).await);
        folder.world.clock.forward(2_000_000);
        life.rest(1_200).await;
        if !life.computer.is_dead() {
            let awake: u64 = life.system.load().actors.iter().map(|kind| kind.awake).sum();
            assert_eq!(awake, 0, "they sleep");
        }
    }
    done
}

/// Numbers of the turns that left something, for each kind of stream.
async fn left(life: &Life<'_>) -> [Vec<u64>; KINDS] {
    let numbers = |answer: Value, list: &str, at: &str, before: &str| -> Vec<u64> {
        let all = answer[list].as_array().expect("a list").iter();
        let mut numbers: Vec<u64> =
            all.filter_map(|it| it.pointer(at)?.as_str()?.strip_prefix(before)?.parse().ok()).collect();
        numbers.sort_unstable();
        numbers
    };
    let desk = json!({"profile": "alice", "thread_id": "desk-alice", "start": 0});
    let entry = json!({"name": "company", "entry": "turns"});
    let versions = match life.try_ask::<memory::History>(&acme(), entry).await.expect("answered") {
        Ok(versions) => numbers(versions, "versions", "/content", "Turn "),
        Err(_) => Vec::new(),
    };
    [
        numbers(life.ask::<speaker::List>(json!({"profile": "alice"})).await, "speakers", "/speaker", "Speaker "),
        numbers(life.ask::<thread::GetMessages>(desk).await, "messages", "/id", "t"),
        numbers(life.ask::<memory::List>(json!({})).await, "memories", "/name", "turn-"),
        versions,
        numbers(life.ask::<note::MemoryList>(json!({})).await, "notes", "/name", "Turn "),
    ]
}

/// Every turn again, by streams that wake for it: what is refused, what counts on.
async fn again(life: &Life<'_>) -> Vec<String> {
    let mut told = Vec::new();
    let mut hear = |answer: Option<Result<Value, Error>>, at: &str| {
        let answer = answer.expect("answered");
        told.push(match answer {
            Ok(reply) => format!("{at}: {:?}", reply.pointer(at)),
            Err(error) => format!("{at}: {:?}", error.kind),
        });
    };
    let ask = &acme();
    for at in 0..TURNS {
        let speaker = json!({"profile": "alice", "speaker": format!("Speaker {at}")});
        hear(life.try_ask::<speaker::Remove>(ask, speaker).await, "/removed");
        let message = json!({"role": "user", "content": format!("Turn {at}"), "id": format!("t{at}")});
        let messages = json!({"profile": "alice", "thread_id": "desk-alice", "messages": [message]});
        hear(life.try_ask::<thread::AddMessages>(ask, messages).await, "/message_ids");
        hear(life.try_ask::<memory::Create>(ask, json!({"name": format!("turn-{at}")})).await, "/memory/name");
        let entry = json!({"name": "company", "entry": "turns", "content": "Again", "version": at + 1});
        hear(life.try_ask::<memory::Save>(ask, entry).await, "/entry/version");
        hear(life.try_ask::<note::MemorySave>(ask, json!({"name": "n", "body": "<p>n</p>"})).await, "/note/id");
    }
    told
}

fn copy(computer: &Computer) -> Computer {
    computer.restarted(Unsynced::Kept, &mut Random::new(0))
}

fn streams(log: &Log) -> BTreeSet<StreamKey> {
    log.tail(Position(0), 1_000).expect("read").iter().map(|event| event.head.key).collect()
}

/// The same folder without a snapshot that anybody could read, and how many there were.
fn folded_in_full(folder: &Filled, computer: &Computer) -> (Computer, usize) {
    let computer = copy(computer);
    let log = Log::open_on(computer.machine(), Options::new(folder.world.folder.path())).expect("opened");
    let streams = streams(&log);
    let had = streams.iter().filter(|key| log.snapshot(**key).expect("read").is_some()).count();
    for key in streams {
        log.put_snapshot(key, &Snapshot { layout: u16::MAX, bytes: Vec::new() }).expect("put");
    }
    log.sync().expect("synced");
    drop(log);
    (copy(&computer), had)
}

/// Everything that was acknowledged is there, each once, and streams that wake from what is left of their snapshots decide as those that
/// fold all of their events.
fn judge(folder: &Filled, computer: &Computer, done: &[[bool; KINDS]], at: &str) -> usize {
    let look = async |life: &Life<'_>| {
        let (left, answers) = (left(life).await, folder.answers(life).await);
        let told = again(life).await;
        let verified = life.ask::<audit::Verify>(json!({})).await;
        assert_eq!(verified["ok"], true, "{verified}");
        (left, answers, told)
    };
    let (in_full, snapshots) = folded_in_full(folder, computer);
    let (left, answers, told) = lived(&folder.world, &copy(computer), look).expect("started");
    let (left_in_full, answers_in_full, told_in_full) = lived(&folder.world, &in_full, look).expect("started");
    assert_eq!((&left, &told), (&left_in_full, &told_in_full), "{at}");
    assert_eq!(answers, answers_in_full, "{at}");
    for (kind, left) in left.iter().enumerate() {
        let acknowledged = (0..TURNS).filter(|turn| done.get(*turn as usize).is_some_and(|done| done[kind]));
        assert!(acknowledged.clone().all(|turn| left.contains(&turn)), "{at}, kind {kind}: {done:?}, left {left:?}");
        assert!(left.windows(2).all(|pair| pair[0] < pair[1]), "{at}, kind {kind}: twice, {left:?}");
    }
    snapshots
}

#[test]
fn power_may_go_at_any_sync_of_streams_that_leave_snapshots() {
    let folder = folder();
    for unsynced in LOSSES {
        for sync in 1.. {
            let at = format!("{unsynced:?}, sync {sync}");
            let computer = copy(&folder.computer);
            computer.dies_at_sync(sync);
            let done = lived(&folder.world, &computer, async |life| turns(&folder, life).await).unwrap_or_default();
            let survived = !computer.is_dead();
            let computer = after_a_cut(&computer, unsynced, sync as u64);
            let snapshots = judge(&folder, &computer, &done, &at);
            if survived {
                assert!(sync > 15 && snapshots >= KINDS, "{at}: it was not busy, {snapshots}");
                break;
            }
        }
    }
}

/// A snapshot that there is no room for is not missed.
#[test]
fn a_disk_may_be_full_at_any_write_of_streams_that_leave_snapshots() {
    let folder = folder();
    for change in 1.. {
        let at = format!("full at change {change}");
        let computer = copy(&folder.computer);
        let (done, refused) = lived(&folder.world, &computer, async |life| {
            computer.is_full_at(change);
            let mut done = turns(&folder, life).await;
            let refused = computer.is_full();
            computer.has_room();
            life.recovered().await;
            // What was refused is told again.
            for at in 0..TURNS {
                if refused && done[at as usize] == [false; KINDS] {
                    done[at as usize] = turn(life, at).await;
                }
            }
            (done, refused)
        })
        .expect("started");
        judge(&folder, &after_a_cut(&computer, Unsynced::Lost, change as u64), &done, &at);
        if !refused {
            assert!(change > 50, "{at}: it was not busy");
            break;
        }
    }
}
