//! Clients that fight for the same thing: a name, a thread's id, an idempotency key, the next version of an entry. Whoever wins is
//! the only one, is told so once, and is who is there after the kill; of who heard nothing any outcome is possible.

use std::collections::BTreeMap;

use memlog::client::{CallError, Client};
use memlog_actors::api::error::Kind;
use serde_json::{Value, json};
use tokio::sync::{mpsc, watch};

use super::{
    hand::MARK,
    wire::{Said, read, send},
};
use crate::world::{Served, unless_dead};

/// Clients of a race.
pub(super) const RACERS: usize = 4;
/// Where they race: a profile and a notebook.
const ARENA: &str = "arena";

/// What was tried, and the reply, or the refusal's kind and fields.
pub(super) struct Try {
    said: Said,
    heard: Option<Result<Value, (Kind, Value)>>,
}

/// A word of a race, which is never forgotten.
fn word(round: usize, number: usize, racer: usize) -> String {
    let letters: String = format!("{round:04}{number:04}{racer}").bytes().map(|digit| char::from(digit + 49)).collect();
    format!("{MARK}z{letters}x")
}

fn tries(round: usize, number: usize, racer: usize) -> Said {
    let all = word(round, number, 0);
    match number % 4 {
        0 => Said::new("memory.create", vec![], json!({ "name": format!("race-{all}") })),
        1 => {
            let body = json!({ "profile": ARENA, "thread_id": format!("race-{all}") });
            Said::new("thread.create", vec![], body)
        }
        2 => {
            let body =
                json!({ "profile": ARENA, "content": format!("{all} won the cup of the year."), "type": "fact" });
            Said { key: Some(format!("twin-{all}")), ..Said::new("profile.remember", vec![], body) }
        }
        _ => {
            let content = format!("{} was here.", word(round, number, racer));
            let body = json!({ "name": ARENA, "entry": "line", "content": content, "description": "who was here" });
            Said::new("memory.save", vec![], body)
        }
    }
}

/// Makes what the races need.
pub(super) async fn open(served: &Served) {
    let said = Said::new("memory.create", vec![], json!({ "name": ARENA }));
    send(&served.client(0), &said).await.expect("the arena is new");
}

/// One racer, until the process dies.
pub(super) async fn race(
    client: Client,
    mut death: watch::Receiver<bool>,
    (round, racer): (usize, usize),
    heard: mpsc::Sender<()>,
) -> Vec<Try> {
    let mut all = Vec::new();
    for number in 0.. {
        let said = tries(round, number, racer);
        let answer = unless_dead(&mut death, send(&client, &said)).await;
        let answer = match answer {
            Some(Ok((reply, _))) => Some(Ok(reply)),
            Some(Err(CallError::Refused(error))) if error.kind == Kind::Unavailable => return all,
            Some(Err(CallError::Refused(error))) => Some(Err((error.kind, Value::Object(error.fields)))),
            Some(Err(CallError::NobodyAnswers)) => return all,
            None | Some(Err(CallError::Transport(_) | CallError::Silence(_))) => None,
            Some(Err(error)) => panic!("{said:?}: {error}"),
        };
        let over = answer.is_none();
        all.push(Try { said, heard: answer });
        if over {
            return all;
        }
        heard.try_send(()).unwrap_or_default();
    }
    unreachable!("the numbers do not end")
}

/// Who won is there, alone.
pub(super) async fn check(served: &Served, all: &[Try]) {
    let client = served.client(0);
    let mut by_thing: BTreeMap<String, Vec<&Try>> = BTreeMap::new();
    let mut saves = Vec::new();
    for one in all {
        if one.said.verb == "memory.save" {
            saves.push(one);
        } else {
            by_thing.entry(format!("{} {}", one.said.verb, one.said.body)).or_default().push(one);
        }
    }
    for (thing, tries) in by_thing {
        check_one(&client, &thing, &tries).await;
    }
    check_board(&client, &saves).await;
}

async fn check_one(client: &Client, thing: &str, tries: &[&Try]) {
    let said = &tries[0].said;
    let is_twin = said.verb == "profile.remember";
    let (id_at, shown) = match said.verb {
        "memory.create" => ("/memory/id", read(client, "memory.get", &[], said.body.clone(), None).await),
        "thread.create" => ("/thread/thread_id", read(client, "thread.get", &[], said.body.clone(), None).await),
        _ => ("/memory/id", twin(client, &said.body).await),
    };
    let there = shown.pointer(id_at).cloned();
    let mut won = 0;
    for it in tries {
        let told = match &it.heard {
            Some(Ok(reply)) => {
                won += 1;
                reply.pointer(id_at).cloned()
            }
            Some(Err((Kind::Conflict, fields))) if !is_twin => Some(fields["existing_id"].clone()),
            Some(Err(refused)) => panic!("{thing}: {refused:?}"),
            None => continue,
        };
        assert_eq!(told, there, "{thing}: who is told of is who is there");
    }
    assert!(won <= 1 || is_twin, "{thing}: won {won} times");
    let unheard = tries.iter().any(|it| it.heard.is_none());
    assert!(there.is_none() || won > 0 || unheard, "{thing}: {there:?} is there, and nobody can have won");
}

/// The one memory that the twins saved, if it is there.
async fn twin(client: &Client, body: &Value) -> Value {
    let word = body["content"].as_str().unwrap().split(' ').next().unwrap();
    let search = json!({ "profile": ARENA, "query": word, "include_invalid": true, "limit": 100 });
    let found = read(client, "profile.search", &[], search, None).await;
    let all: Vec<&Value> = found["memories"].as_array().into_iter().flatten().collect();
    let all: Vec<&Value> = all.into_iter().filter(|it| it["content"] == body["content"]).collect();
    assert!(all.len() <= 1, "stored {} times: {body}", all.len());
    json!({ "memory": all.first() })
}

async fn check_board(client: &Client, saves: &[&Try]) {
    let history = read(client, "memory.history", &[], json!({ "name": ARENA, "entry": "line" }), None).await;
    let versions: Vec<&Value> = history["versions"].as_array().into_iter().flatten().collect();
    let mut contents: BTreeMap<&str, u64> = BTreeMap::new();
    for (at, version) in versions.iter().enumerate() {
        assert_eq!(version["version"], at as u64 + 1, "versions have no gap");
        let content = version["content"].as_str().expect("nothing was forgotten");
        assert!(contents.insert(content, at as u64 + 1).is_none(), "{content} was saved twice");
    }
    for save in saves {
        let content = save.said.body["content"].as_str().unwrap();
        if let Some(Ok(reply)) = &save.heard {
            let version = reply["entry"]["version"].as_u64();
            assert_eq!(contents.get(content).copied(), version, "{content} was acknowledged as this version");
        }
    }
}
