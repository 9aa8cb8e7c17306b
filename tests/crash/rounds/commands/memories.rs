//! Memories of a thread: added, perhaps with a link, changed, deleted.

use serde_json::{Value, json};

use super::{
    super::{
        hand::{Command, Hand},
        tree::{fields, told},
    },
    command, links, metadata, profile_of, records, remove_records, sentence,
};

/// A memory that was expired when it was written: by its timestamp, and long ago.
const LONG_AGO: &str = "2020-02-02T02:02:02Z";

pub(super) fn add(hand: &mut Hand) -> Option<Command> {
    let (profile, thread) = hand.one(hand.threads())?;
    if records::is_full(hand, &profile) {
        return None;
    }
    let word = hand.word('r');
    let (id, content, metadata) = (format!("r-{word}"), sentence(hand, &word), metadata(hand));
    let (kind, speaker) = (records::TYPES[hand.rng.usize(..7)], hand.speaker(&profile));
    let (invalid, expired) = (hand.rarely(6), hand.rarely(8));
    let mut body = json!({ "profile": profile, "thread_id": thread, "memory_id": id, "content": content,
        "memory_type": kind, "metadata": metadata, "status": if invalid { "invalid" } else { "valid" } });
    if !speaker.is_null() {
        body["speaker"] = speaker.clone();
    }
    if expired {
        body["timestamp"] = json!(LONG_AGO);
        body["ttl_days"] = json!(3);
        body["ttl_anchor"] = json!("timestamp");
        return Some(command("thread.add_memory", vec![], body, |_, _| {}));
    }
    let in_thread = |record: &Value| record["session_id"] == *thread;
    let mut link = None;
    if let Some(target) = hand.one(targets(hand, &profile, in_thread)).filter(|_| hand.rng.bool()) {
        let (word, kind) = (hand.word('l'), links::TYPES[hand.rng.usize(..links::TYPES.len())]);
        let link_id = format!("l-{word}");
        body["memory_id_to_link"] = target.clone();
        body["link_type"] = json!(kind);
        body["link_id"] = json!(link_id);
        let words = json!({ "why": word });
        body["link_metadata"] = words.clone();
        link = Some((link_id, json!({ "source": id, "target": target, "type": kind, "metadata": words })));
    }
    Some(command("thread.add_memory", vec![], body, move |tree, reply| {
        let profile = profile_of(tree, &profile);
        // The thread's retention gives it an end; a session has none.
        let expires = if reply.is_null() { json!("?") } else { json!(!reply["memory"]["expires_at"].is_null()) };
        profile["records"][&word] = json!({ "id": id, "type": kind, "content": content, "metadata": metadata,
            "speaker": speaker, "session_id": thread, "expires": expires, "version": told(reply, "/memory/version"), "_key": word,
            "_invalid": invalid });
        if let Some((link_id, link)) = &link {
            profile["threads"][&thread]["links"][link_id] = link.clone();
        }
    }))
}

fn targets(hand: &Hand, profile: &str, so: impl Fn(&Value) -> bool) -> Vec<Value> {
    let all = fields(&hand.tree["profiles"][profile]["records"]).filter(|(_, record)| so(record));
    all.map(|(_, record)| record["id"].clone()).collect()
}

pub(super) fn update(hand: &mut Hand) -> Option<Command> {
    let (profile, old) = hand.one(hand.records(|record| !record["session_id"].is_null()))?;
    let key = old["_key"].as_str()?.to_owned();
    let mut new = old.clone();
    let mut body = json!({ "profile": profile, "thread_id": old["session_id"], "memory_id": old["id"] });
    if hand.rng.bool() {
        // The key stays the first word of it, by which it is known.
        let word = hand.word('v');
        new["content"] = json!(format!("{} So says {word}.", sentence(hand, &key)));
        body["content"] = new["content"].clone();
    }
    if hand.rarely(3) {
        new["metadata"] = metadata(hand);
        body["metadata"] = new["metadata"].clone();
    }
    if hand.rarely(3) || body["content"].is_null() && body["metadata"].is_null() {
        let invalid = hand.rng.bool();
        new["_invalid"] = json!(invalid);
        body["status"] = json!(if invalid { "invalid" } else { "valid" });
    }
    // What it said before may be read as of then.
    let before = [old["_was"].as_str().unwrap_or_default(), &old["content"].to_string(), &old["metadata"].to_string()];
    new["_was"] = json!(before.join(" "));
    Some(command("thread.update_memory", vec![], body, move |tree, reply| {
        let record = &mut profile_of(tree, &profile)["records"][&key];
        *record = new.clone();
        record["version"] = told(reply, "/memory/version");
    }))
}

pub(super) fn delete(hand: &mut Hand) -> Option<Command> {
    let (profile, record) = hand.one(hand.records(|record| !record["session_id"].is_null()))?;
    let thread = &record["session_id"];
    // It waits for extraction, which after a kill may be half a minute away.
    if thread.as_str()?.starts_with("s-") && !hand.rarely(8) {
        return None;
    }
    let body = json!({ "profile": profile, "thread_id": thread, "memory_id": record["id"] });
    let made = command("thread.delete_memory", vec![], body, move |tree, _| {
        remove_records(profile_of(tree, &profile), |other| other["id"] == record["id"]);
    });
    Some(made.replying(json!({ "deleted": 1 })))
}
