//! Messages: conversations sent once and again, turns, messages with images, edits, deletions, and jobs that failed.

use memlog_actors::api::error::Kind;
use serde_json::{Value, json};

use super::{
    super::{
        hand::{Command, Hand, MARK},
        tree::fields,
    },
    command, images, metadata, profile_of, session_of,
};

/// Messages of one client in one thread.
const MESSAGES: usize = 8;
/// Sessions of one client in one profile.
const SESSIONS: usize = 2;
/// The language model of the rounds that have one cannot bear this word.
pub(in super::super) const POISON: &str = "arsenic";

/// A session to write to: one that is there, or a new one.
pub(super) fn session(hand: &mut Hand, profile: &str) -> String {
    let all = fields(&hand.tree["profiles"][profile]["threads"]).map(|(id, _)| id.clone());
    let all: Vec<String> = all.filter(|id| id.starts_with("s-")).collect();
    if all.len() < SESSIONS {
        return format!("s-{}", hand.word('t'));
    }
    hand.one(all).expect("there are some")
}

fn text(hand: &mut Hand, role: &str) -> String {
    let word = hand.word('m');
    let poison = if hand.rarely(12) { format!(" They were wet with {POISON}.") } else { String::new() };
    match role {
        "user" => format!("My neighbour {word} collects stamps from Norway.{poison}"),
        _ => format!("I will remember that {word} sold them in Oslo."),
    }
}

/// A message as it is stored; its id is untold.
fn stored(role: &str, content: impl Into<Value>, speaker: Value) -> Value {
    json!({ "id": "?", "role": role, "content": content.into(), "metadata": {}, "speaker": speaker })
}

/// What was said is remembered for a re-send, in a way that no word of it is found in: it may be forgotten meanwhile.
fn mirrored(text: &str) -> String {
    text.chars().rev().collect()
}

/// New messages at the end of a session, with the last ids of the reply.
fn append(tree: &mut Value, profile: &str, id: &str, new: &[Value], reply: &Value) {
    let thread = session_of(tree, profile, id);
    let ids = reply["message_ids"].as_array().cloned().unwrap_or_default();
    let first = ids.len().saturating_sub(new.len());
    for (at, message) in new.iter().enumerate() {
        let mut message = message.clone();
        if message["id"] == "?" {
            message["id"] = ids.get(first + at).cloned().unwrap_or(json!("?"));
        }
        if let (Some(said), Some(text)) = (thread["_said"].as_array_mut(), message["content"].as_str()) {
            said.push(json!([message["role"], mirrored(text), message["speaker"]]));
        }
        thread["messages"].as_array_mut().expect("a list").push(message);
    }
    if let Some(job) = reply["job_id"].as_str() {
        let poisoned = new.iter().any(|message| message["content"].to_string().contains(POISON));
        thread["_jobs"][job] = json!(poisoned);
    }
}

fn is_full(hand: &Hand, profile: &str, thread: &str) -> bool {
    hand.thread(profile, thread)["messages"].as_array().is_some_and(|all| all.len() >= MESSAGES)
}

/// What a request says of a message.
fn of_request(message: &Value) -> Value {
    let mut said = json!({ "role": message["role"], "content": message["content"] });
    if !message["speaker"].is_null() {
        said["speaker"] = message["speaker"].clone();
    }
    said
}

pub(super) fn ingest(hand: &mut Hand) -> Option<Command> {
    let profile = hand.profile();
    let id = session(hand, &profile);
    if is_full(hand, &profile, &id) {
        return None;
    }
    let count = hand.rng.usize(1..=3);
    let mut new = Vec::new();
    for at in 0..count {
        let role = ["user", "assistant"][at % 2];
        let speaker = if role == "user" { hand.speaker(&profile) } else { Value::Null };
        let content = text(hand, role);
        new.push(stored(role, content, speaker));
    }
    // All of it again, what was forgotten meanwhile too. An edited message or a removed speaker is another conversation.
    let thread = hand.thread(&profile, &id);
    let said = thread["_said"].as_array().cloned().unwrap_or_default();
    let known = |it: &Value| it[2].is_null();
    let again = thread["_edited"] != true && said.iter().all(known) && hand.rng.bool();
    let before: Vec<Value> = if again { said } else { Vec::new() };
    let before = before.iter().map(|it| json!({ "role": it[0], "content": mirrored(it[1].as_str().unwrap()) }));
    let before: Vec<Value> = before.collect();
    let duplicates = before.len();
    let messages: Vec<Value> = before.into_iter().chain(new.iter().map(of_request)).collect();
    let body = json!({ "profile": profile, "session_id": id, "messages": messages });
    let made = command("profile.ingest", vec![], body, move |tree, reply| append(tree, &profile, &id, &new, reply));
    Some(made.replying(json!({ "accepted": count, "duplicates": duplicates })))
}

pub(super) fn add_turn(hand: &mut Hand) -> Option<Command> {
    let profile = hand.profile();
    let id = session(hand, &profile);
    if is_full(hand, &profile, &id) {
        return None;
    }
    let (user, assistant) = (text(hand, "user"), text(hand, "assistant"));
    let new = [stored("user", user.as_str(), Value::Null), stored("assistant", assistant.as_str(), Value::Null)];
    let body = json!({ "profile": profile, "session_id": id, "user": user, "assistant": assistant });
    let made = command("profile.add_turn", vec![], body, move |tree, reply| append(tree, &profile, &id, &new, reply));
    Some(made.replying(json!({ "accepted": 2, "duplicates": 0 })))
}

/// Messages with ids, metadata and images of their own.
pub(super) fn add(hand: &mut Hand) -> Option<Command> {
    let (profile, thread) = hand.one(hand.threads())?;
    if is_full(hand, &profile, &thread) {
        return None;
    }
    let (mut new, mut requests) = (Vec::new(), Vec::new());
    for at in 0..hand.rng.usize(1..=3) {
        let role = ["user", "assistant", "narrator"][at];
        let said = text(hand, role);
        let mut message = stored(role, said, Value::Null);
        message["metadata"] = metadata(hand);
        if hand.rng.bool() {
            message["id"] = json!(format!("m-{}", hand.word('m')));
        }
        let mut request = message.clone();
        for name in ["id", "speaker"] {
            if request[name] == "?" || request[name].is_null() {
                super::tree::take(&mut request, name);
            }
        }
        if hand.rarely(4) {
            let (bytes, word) = (images::picture(hand), hand.word('m'));
            request["content"] = json!([{ "type": "text", "text": message["content"] },
                { "type": "image", "bytes": bytes, "mime_type": "image/png", "description": word }]);
            message["content"] = request["content"].clone();
        }
        new.push(message);
        requests.push(request);
    }
    let body = json!({ "profile": profile, "thread_id": thread, "messages": requests });
    Some(command("thread.add_messages", vec![], body, move |tree, reply| {
        append(tree, &profile, &thread, &new, reply);
        profile_of(tree, &profile)["threads"][&thread]["_edited"] = json!(true);
    }))
}

/// Messages whose content is a text, each with its profile and its thread. Those of sessions seldom: what changes them waits for
/// extraction, which after a kill may be half a minute away.
fn some(hand: &mut Hand) -> Option<(String, String, Value)> {
    let sessions = hand.rarely(8);
    let mut all = Vec::new();
    for (profile, thread) in hand.threads() {
        if thread.starts_with("s-") == sessions {
            let messages = hand.thread(&profile, &thread)["messages"].as_array().into_iter().flatten();
            all.extend(messages.map(|message| (profile.clone(), thread.clone(), message.clone())));
        }
    }
    hand.one(all)
}

pub(super) fn update(hand: &mut Hand) -> Option<Command> {
    let (profile, thread, old) = some(hand)?;
    let was = old["content"].as_str()?;
    let first = was.match_indices(MARK).next()?.0;
    let word = was[first..].split(' ').next()?.to_owned();
    let other = hand.word('v');
    let (mut new, mut body) =
        (old.clone(), json!({ "profile": profile, "thread_id": thread, "message_id": old["id"] }));
    new["content"] = json!(format!("My neighbour {word} collects coins, says {other}."));
    body["content"] = new["content"].clone();
    if hand.rarely(3) {
        new["metadata"] = metadata(hand);
        body["metadata"] = new["metadata"].clone();
    }
    new["_was"] = json!(format!("{}{was}{}", old["_was"], old["metadata"]));
    hand.extracted.retain(|it| it.thread != thread);
    Some(command("thread.update_message", vec![], body, move |tree, reply| {
        let thread = &mut profile_of(tree, &profile)["threads"][&thread];
        thread["_edited"] = json!(true);
        let place = thread["messages"].as_array_mut().into_iter().flatten().find(|it| it["id"] == new["id"]);
        place.into_iter().for_each(|place| *place = new.clone());
        if let Some(job) = reply["job_id"].as_str() {
            thread["_jobs"][job] = Value::Null;
        }
    }))
}

pub(super) fn delete(hand: &mut Hand) -> Option<Command> {
    let (profile, thread, message) = some(hand)?;
    hand.extracted.retain(|it| it.thread != thread);
    let body = json!({ "profile": profile, "thread_id": thread, "message_id": message["id"] });
    let made = command("thread.delete_message", vec![], body, move |tree, _| {
        let thread = &mut profile_of(tree, &profile)["threads"][&thread];
        thread["messages"].as_array_mut().into_iter().for_each(|all| all.retain(|it| it["id"] != message["id"]));
    });
    Some(made.replying(json!({ "deleted": 1 })))
}

/// A job that is known to have failed; one that is done cannot be tried again.
pub(super) fn retry(hand: &mut Hand) -> Option<Command> {
    let mut all = Vec::new();
    for (profile, thread) in hand.threads() {
        let jobs = fields(&hand.thread(&profile, &thread)["_jobs"]);
        all.extend(jobs.filter_map(|(job, _)| Some((job.clone(), *hand.settled.get(job)?))));
    }
    all.sort_by_key(|(_, failed)| !failed);
    let (job, failed) = all.into_iter().next()?;
    hand.settled.remove(&job);
    let made = command("job.retry", vec![], json!({ "job_id": job }), |_, _| {});
    Some(if failed { made } else { made.refused(Kind::Conflict) })
}
